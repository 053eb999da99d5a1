//! Kernels: durations, shapes and identity.

use perfxpert_knowledge::kernels::Category;
use perfxpert_trace::{AgentIdx, KernelIdx, ProcessIdx, ShapeIdx, SymbolIdx};

use super::Text;
use crate::units::Nanos;

/// What a kernel is to the person who optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KernelKind {
    /// The application's own.
    User,
    /// The runtime's fill and init kernels, barriers.
    Runtime,
    /// The runtime's copy kernels: their time counts as copies.
    RuntimeCopy,
    /// Collective communication.
    Collective,
}

impl KernelKind {
    /// The word used on every surface; copy kernels of the runtime are `runtime` there.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Runtime | Self::RuntimeCopy => "runtime",
            Self::Collective => "collective",
        }
    }
}

/// Durations of many things.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: Nanos,
    /// Shortest; zero without any.
    pub min: Nanos,
    /// Longest; zero without any.
    pub max: Nanos,
    /// Median, ns: the mean of the two middle values when their number is even; zero without any.
    pub median: f64,
    /// Nearest-rank median.
    pub p50: Nanos,
    /// Nearest-rank 95th percentile.
    pub p95: Nanos,
    /// Sample standard deviation, ns; `None` below two.
    pub stddev: Option<f64>,
    /// Whether median and percentile are exact; else their rank is off by at most 1 %.
    pub exact: bool,
}

impl Distribution {
    /// Mean, ns; `None` without any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
        let count = self.count as f64;
        (self.count > 0).then(|| self.total.as_f64() / count)
    }
}

/// One kernel over all GPUs and processes.
#[derive(Clone, Debug)]
pub struct KernelProfile {
    /// The kernel.
    pub kernel: KernelIdx,
    /// Cleaned name, whole.
    pub name: Text,
    /// What it is.
    pub kind: KernelKind,
    /// Category by name.
    pub category: Category,
    /// Durations of the calls the filter kept.
    pub durations: Distribution,
    /// All calls with a valid duration, filtered or not.
    pub calls: u64,
    /// Summed durations of all of them.
    pub total: Nanos,
    /// Calls whose end was cut; they are in no duration.
    pub clipped: u64,
    /// Calls shorter than the short-kernel threshold, and their sum.
    pub short: super::ShortKernels,
    /// Union of its intervals, added up over the GPUs.
    pub busy: Nanos,
    /// Time when it is the only kernel that runs, added up over the GPUs.
    pub alone: Nanos,
    /// For collectives: summed time of its calls beside a kernel of the application.
    pub beside_user: Nanos,
    /// Duration of the first call by start.
    pub first: Nanos,
    /// Median of all other calls; `None` with a single call.
    pub median_rest: Option<f64>,
    /// GPUs that ran it, ascending.
    pub agents: Vec<AgentIdx>,
    /// Launch shapes by calls descending, then symbol and shape; at most [`crate::sweep::Limits::max_shapes`].
    pub shapes: Vec<LaunchShape>,
    /// Distinct launch shapes (workgroup, grid, LDS, scratch).
    pub shape_count: u64,
}

/// Calls of one compiled form of a kernel with one launch shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Registers and static memory.
    pub symbol: SymbolIdx,
    /// Workgroup, grid, LDS and scratch.
    pub shape: ShapeIdx,
    /// Calls.
    pub calls: u64,
    /// Summed durations.
    pub total: Nanos,
}

/// One collective dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveInstance {
    /// Process.
    pub process: ProcessIdx,
    /// GPU.
    pub agent: AgentIdx,
    /// Kernel.
    pub kernel: KernelIdx,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// Internal correlation id of the launching call; 0 when unknown.
    pub call: i64,
    /// Time beside a kernel of the application on the same GPU.
    pub beside_user: Nanos,
}
