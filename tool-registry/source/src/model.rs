//! The typed result of a scan: files, kernels, launches, patterns and what the tree is built on.

use std::sync::Arc;

mod patterns;
mod usage;

pub use patterns::{Occurrence, Pattern, PatternId, PatternSeverity};
pub use usage::{CodeFeatures, Framework, Library, Usage};

/// A place in a scanned file. Line and column are 1-based; the column counts characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Path relative to the scanned folder, with `/` between components.
    pub file: Arc<str>,
    /// 1-based line; lines end at LF or CRLF.
    pub line: u32,
    /// 1-based column in characters.
    pub column: u32,
}

impl std::fmt::Display for Site {
    /// Writes `file:line`, the form used as a target and in location lists.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The GPU programming model a kernel or launch belongs to.
///
/// The order is the order of precedence when two models have the same number of definitions and launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProgrammingModel {
    /// HIP C++.
    Hip,
    /// CUDA C++.
    Cuda,
    /// OpenCL C and its host API.
    OpenCl,
    /// Triton in Python.
    Triton,
    /// Numba in Python.
    Numba,
}

impl ProgrammingModel {
    /// All models in order of precedence.
    pub const ALL: [Self; 5] = [Self::Hip, Self::Cuda, Self::OpenCl, Self::Triton, Self::Numba];

    /// Name as shown and as written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hip => "HIP",
            Self::Cuda => "CUDA",
            Self::OpenCl => "OpenCL",
            Self::Triton => "Triton",
            Self::Numba => "Numba",
        }
    }
}

/// The language construct that made a row a kernel or a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaunchType {
    /// A function with `__global__` among its specifiers.
    GlobalKernelDef,
    /// `name<<<grid, block>>>(…)`.
    TripleAngleLaunch,
    /// `hipLaunchKernelGGL`, `hipLaunchKernel`, `cudaLaunchKernel` and kin.
    HipKernelLaunch,
    /// `hipModuleLaunchKernel`, `cuLaunchKernel`: the kernel is a run-time handle.
    ModuleLaunch,
    /// `hipGraphLaunch`, `cudaGraphLaunch`: a whole graph is launched.
    GraphLaunch,
    /// A `__kernel` or `kernel` function in an OpenCL file.
    OpenClKernelDef,
    /// `clEnqueueNDRangeKernel`.
    OpenClLaunch,
    /// A Python function decorated with Triton's `jit`.
    TritonKernelDef,
    /// A Python function decorated with Numba's `cuda.jit` or `roc.jit`.
    NumbaKernelDef,
    /// `name[grid](…)` of a Triton or Numba kernel.
    TritonLaunch,
}

impl LaunchType {
    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::GlobalKernelDef => "GLOBAL_KERNEL_DEF",
            Self::TripleAngleLaunch => "TRIPLE_ANGLE_LAUNCH",
            Self::HipKernelLaunch => "HIP_KERNEL_LAUNCH",
            Self::ModuleLaunch => "MODULE_LAUNCH",
            Self::GraphLaunch => "GRAPH_LAUNCH",
            Self::OpenClKernelDef => "OPENCL_KERNEL_DEF",
            Self::OpenClLaunch => "OPENCL_LAUNCH",
            Self::TritonKernelDef => "TRITON_KERNEL_DEF",
            Self::NumbaKernelDef => "NUMBA_KERNEL_DEF",
            Self::TritonLaunch => "TRITON_LAUNCH",
        }
    }
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    /// A kernel with a body.
    Definition,
    /// A kernel without a body.
    Declaration,
    /// A place that launches a kernel.
    Launch,
}

impl RowKind {
    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Declaration => "declaration",
            Self::Launch => "launch",
        }
    }
}

/// Whether a place runs once per iteration of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopContext {
    /// Inside the body of a loop of the same function (C++ lambdas belong to the function around them).
    Direct,
    /// Its function is called, by name, from a loop in the same file.
    Caller,
    /// Neither.
    None,
}

impl LoopContext {
    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Caller => "caller",
            Self::None => "none",
        }
    }

    /// True when the place runs once per iteration of some loop.
    pub fn is_loop(self) -> bool {
        self != Self::None
    }
}

/// The stream a launch names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamUse {
    /// Absent, `0`, `nullptr`, `NULL` or `hipStreamDefault`: the default stream, which orders against the others.
    Default,
    /// Another expression.
    Explicit,
    /// The construct does not show its stream (Triton uses the framework's current one).
    Unknown,
}

impl StreamUse {
    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Explicit => "explicit",
            Self::Unknown => "unknown",
        }
    }
}

/// One argument of `__launch_bounds__`: a number, or the text when it is not a literal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Bound {
    /// A literal.
    Value(u64),
    /// The expression as written, white space collapsed, at most [`crate::limits::MAX_EXPRESSION_CHARS`] characters.
    Expression(Box<str>),
}

/// `__launch_bounds__(max_threads[, min_waves_per_simd])`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LaunchBounds {
    /// Most threads of a workgroup the kernel is compiled for.
    pub max_threads: Bound,
    /// Least wavefronts per SIMD asked of the compiler; absent when only one argument is written.
    pub min_waves_per_simd: Option<Bound>,
}

/// A loop in a kernel body, for loop hints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLoop {
    /// Line of the loop keyword.
    pub line: u32,
    /// Column of the loop keyword.
    pub column: u32,
    /// Nesting within the kernel: 0 is an outermost loop.
    pub depth: u32,
    /// Iterations, when start, bound and step are literals; unknown otherwise.
    pub trip_count: Option<u64>,
    /// Operators, calls and subscripts in the body: an estimate of its size in instructions, nested loops counted once.
    pub body_operations: u32,
    /// The loop's first source line, trimmed.
    pub text: Box<str>,
    /// True when the line above the loop already is an unroll pragma.
    pub has_unroll_pragma: bool,
}

/// A kernel definition or declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Base name: the declarator, without namespaces or template arguments.
    pub name: Arc<str>,
    /// Name with namespaces and classes, without template arguments.
    pub qualified_name: Arc<str>,
    /// Place of the name token.
    pub site: Site,
    /// The construct.
    pub launch_type: LaunchType,
    /// Definition (with a body) or declaration.
    pub kind: RowKind,
    /// Model this row counts for.
    pub model: ProgrammingModel,
    /// True for a template or a specialisation of one.
    pub template: bool,
    /// Launch bounds, when written.
    pub launch_bounds: Option<LaunchBounds>,
    /// Loops of the body in order of appearance, at most [`crate::limits::MAX_LOOPS_PER_KERNEL`]; empty in Python.
    pub loops: Vec<KernelLoop>,
    /// The source line of the name, trimmed.
    pub text: Box<str>,
}

/// A place that launches a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Base name of the kernel, or the handle expression when `name_known` is false.
    pub name: Arc<str>,
    /// Name as qualified at the launch, without template arguments; equals `name` when unknown.
    pub qualified_name: Arc<str>,
    /// False when the kernel is a run-time value (module handle, graph, function pointer).
    pub name_known: bool,
    /// Place of the name token, or of the API's name for API launches.
    pub site: Site,
    /// The construct.
    pub launch_type: LaunchType,
    /// Model this row counts for.
    pub model: ProgrammingModel,
    /// True when template arguments are written at the launch.
    pub template: bool,
    /// Stream named by the launch.
    pub stream: StreamUse,
    /// Loop around the launch.
    pub loop_context: LoopContext,
    /// Base name of the function around the launch; absent at file scope.
    pub in_function: Option<Arc<str>>,
    /// The source line, trimmed.
    pub text: Box<str>,
}

/// Why a file with a scanned extension was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// Larger than the limit for one file, or past the limit for all files together.
    TooLarge,
    /// Past the limit on the number of files.
    TooMany,
    /// Holds a NUL byte near its start.
    Binary,
    /// The file or a folder could not be opened or read.
    Unreadable,
    /// Parsing took longer than the limit.
    ParseTimeout,
}

impl SkipReason {
    /// All reasons in report order.
    pub const ALL: [Self; 5] =
        [Self::TooLarge, Self::TooMany, Self::Binary, Self::Unreadable, Self::ParseTimeout];

    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::TooMany => "too_many",
            Self::Binary => "binary",
            Self::Unreadable => "unreadable",
            Self::ParseTimeout => "parse_timeout",
        }
    }
}

/// A file or folder that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Path relative to the scanned folder.
    pub file: Arc<str>,
    /// Why.
    pub reason: SkipReason,
}

/// How a kernel name of a trace fits a place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// Equal qualified names.
    Exact,
    /// Equal last components, and only one definition has it.
    BaseName,
    /// Equal last components of several definitions.
    Ambiguous,
}

impl MatchKind {
    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::BaseName => "base_name",
            Self::Ambiguous => "ambiguous",
        }
    }
}

/// A place in the source that belongs to a kernel of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Place of the name.
    pub site: Site,
    /// Definition or launch.
    pub kind: RowKind,
    /// The construct.
    pub launch_type: LaunchType,
    /// How the names fit.
    pub matched: MatchKind,
}
