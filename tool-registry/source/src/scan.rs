//! The result of a scan and the counts that follow from its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::locate::LocationIndex;
use crate::model::{
    CodeFeatures, Framework, Kernel, Launch, Library, Location, Pattern, ProgrammingModel, SkipReason,
    Skipped, Usage,
};

/// What a source tree holds, in an order that depends on nothing but the tree.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// Files read, in bytewise order of their relative paths.
    pub files: Vec<Arc<str>>,
    /// Files and folders that were not read, bounded by [`crate::limits::MAX_SKIPPED_LISTED`].
    pub skipped: Vec<Skipped>,
    /// All of them counted by reason; reasons without a file are absent.
    pub skipped_by_reason: BTreeMap<SkipReason, u64>,
    /// Symbolic links that were not followed.
    pub links_ignored: u64,
    /// Kernel definitions, then declarations, each by file, line and column.
    pub kernels: Vec<Kernel>,
    /// Launches by file, line and column.
    pub launches: Vec<Launch>,
    /// Exact counts, also where the lists above are cut.
    pub counts: Counts,
    /// Patterns found, in the order of [`crate::PatternId::ALL`].
    pub patterns: Vec<Pattern>,
    /// Definitions plus launches per programming model, most first; empty when nothing was found.
    pub models: Vec<(ProgrammingModel, u64)>,
    /// Python frameworks imported.
    pub frameworks: Vec<Usage<Framework>>,
    /// Libraries included, imported or enabled by a pragma.
    pub libraries: Vec<Usage<Library>>,
    /// Constructs counted over the tree.
    pub features: CodeFeatures,
    pub(crate) index: LocationIndex,
}

/// Counts over the whole tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Distinct kernels by qualified name: defined, or launched without a definition in the tree.
    pub kernels: u64,
    /// Definitions.
    pub definitions: u64,
    /// Declarations.
    pub declarations: u64,
    /// Launches.
    pub launches: u64,
    /// Asynchronous copies.
    pub async_copies: u64,
    /// Streams created.
    pub stream_creates: u64,
    /// Calls of the roctx and nvtx range and mark functions.
    pub markers: u64,
}

impl Scan {
    /// Model with most definitions and launches; absent when there are none.
    pub fn programming_model(&self) -> Option<ProgrammingModel> {
        self.models.first().map(|(model, _)| *model)
    }

    /// Files and folders that were not read.
    pub fn skipped_total(&self) -> u64 {
        self.skipped_by_reason.values().sum()
    }

    /// Places that belong to a kernel of a trace: definitions before launches, then by file and line, at most
    /// [`crate::limits::MAX_LOCATIONS`]. Empty when nothing fits.
    pub fn locate(&self, kernel_name: &str) -> Vec<Location> {
        self.index.locate(kernel_name, &self.kernels, &self.launches)
    }

    /// The definition that fits a kernel of a trace exactly, when there is exactly one.
    pub fn definition(&self, kernel_name: &str) -> Option<&Kernel> {
        self.index.definition(kernel_name, &self.kernels)
    }

    /// True when the library is used anywhere in the tree.
    pub fn uses(&self, library: Library) -> bool {
        self.libraries.iter().any(|usage| usage.what == library)
    }

    /// What decides how the tree should be profiled.
    pub fn plan_inputs(&self) -> PlanInputs {
        let names: BTreeSet<&str> = self
            .kernels
            .iter()
            .map(|kernel| &*kernel.name)
            .chain(self.launches.iter().filter(|launch| launch.name_known).map(|launch| &*launch.name))
            .collect();
        let matrix_library = [
            Library::RocBlas,
            Library::HipBlas,
            Library::HipBlasLt,
            Library::ComposableKernel,
            Library::RocWmma,
        ];
        let native =
            |model: ProgrammingModel| !matches!(model, ProgrammingModel::Triton | ProgrammingModel::Numba);
        PlanInputs {
            any_kernel: self.counts.kernels > 0 || self.counts.launches > 0,
            native_kernel: self.models.iter().any(|(model, _)| native(*model)),
            python_framework: !self.frameworks.is_empty(),
            lds: self.features.lds_arrays > 0,
            matrix: self.features.mfma_builtins > 0
                || matrix_library.iter().any(|library| self.uses(*library))
                || names.iter().any(|name| is_gemm_like(name)),
            atomics: self.features.atomics > 0,
            rccl: self.uses(Library::Rccl),
            mpi: self.uses(Library::Mpi),
        }
    }
}

/// Facts about the tree that choose the first command and the counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanInputs {
    /// A kernel is defined or launched.
    pub any_kernel: bool,
    /// A HIP, CUDA or OpenCL kernel is defined or launched.
    pub native_kernel: bool,
    /// A Python GPU framework is imported.
    pub python_framework: bool,
    /// LDS is declared.
    pub lds: bool,
    /// Matrix builtins, a BLAS or matrix library, or a kernel named like a matrix product.
    pub matrix: bool,
    /// Atomic operations on memory.
    pub atomics: bool,
    /// Collectives of RCCL.
    pub rccl: bool,
    /// MPI.
    pub mpi: bool,
}

fn is_gemm_like(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["gemm", "matmul", "mfma", "wmma"].iter().any(|word| lower.contains(word))
}
