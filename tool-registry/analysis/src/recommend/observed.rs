//! What a run showed, as plain numbers: all that rules and techniques look at, wherever it was measured.

use std::collections::BTreeMap;

use perfxpert_knowledge::kernels::Category;
use perfxpert_source::{LaunchBounds, Scan};
use perfxpert_trace::{Direction, KernelIdx, Trace};

use super::metrics::KernelMetrics;
use crate::RunProfile;
use crate::gpu::Gpu;
use crate::occupancy::Unit;
use crate::profile::{CallClass, CauseTotal, GapCause, KernelKind};
use crate::resources::Resources;
use crate::units::{Bytes, Nanos};

mod collect;

/// A run and what else was given, to be advised on.
#[derive(Clone, Copy)]
pub struct RuleInput<'a> {
    /// The run, aggregated.
    pub profile: &'a RunProfile,
    /// Its tables of names, shapes and symbols, and its health.
    pub trace: &'a Trace,
    /// Its GPUs, as [`crate::gpu::of_run`] gives them.
    pub gpus: &'a [Gpu],
    /// What counters say, by kernel.
    pub metrics: &'a BTreeMap<KernelIdx, KernelMetrics>,
    /// Collectives with their sizes, when their arguments were read.
    pub communication: Option<&'a Communication>,
    /// Kernels of a thread trace.
    pub thread_trace: &'a [AttKernel],
    /// GPUs that throttled according to a monitor log.
    pub throttled: &'a [Throttled],
    /// The scanned source.
    pub scan: Option<&'a Scan>,
    /// Files of the run as the caller named them.
    pub inputs: &'a [&'a str],
    /// Whether loop hints are asked for.
    pub advanced: bool,
}

/// A run in plain numbers. Empty lists and `None` mean: not known, or none.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Sum of the windows of its GPUs: what every share of the run is of.
    pub window: Nanos,
    /// Time with a kernel, added up over GPUs.
    pub kernel_busy: Nanos,
    /// Kernels and copies at the same time, added up over GPUs.
    pub overlap: Nanos,
    /// Host-to-Device and Device-to-Host copies at the same time.
    pub both_directions: Nanos,
    /// Only copy kernels of the runtime ran; their sizes are not recorded.
    pub runtime_copy_exposed: Nanos,
    /// Copies by direction.
    pub copies: Vec<ObservedCopies>,
    /// Whether host calls were recorded.
    pub api_traced: bool,
    /// Dispatches.
    pub dispatches: u64,
    /// Their median duration, ns.
    pub median_dispatch: Option<f64>,
    /// Gaps by cause, in the order of [`GapCause::ALL`].
    pub gaps: [CauseTotal; GapCause::COUNT],
    /// Gaps of unknown cause that are as short as the gap between two launches.
    pub short_unknown: CauseTotal,
    /// Blocking calls before gaps, with the gaps each opened, most first.
    pub sync_calls: Vec<(String, u64)>,
    /// Host calls, longest exposed first.
    pub calls: Vec<ObservedCall>,
    /// Blocking calls in all.
    pub blocking_calls: Option<u64>,
    /// Dispatches launched by graphs, of those with a known call, fraction.
    pub graph_launch_frac: Option<f64>,
    /// Streams with kernels of the program or copies.
    pub work_streams: Option<u64>,
    /// Dispatches of the program inside a sequence of names that repeats again and again, fraction.
    pub repeat_frac: Option<f64>,
    /// Whether the source waits for the GPU in a loop; `None` without a scan.
    pub sync_in_loop: Option<bool>,
    /// The longest gap that no call explains, and the work before it.
    pub longest_idle: Option<(Nanos, String)>,
    /// Pairs of short kernels that could be fused, by saving.
    pub pairs: Vec<FusionPair>,
    /// GPUs.
    pub agents: Vec<ObservedAgent>,
    /// Kernel time of kernels that every GPU runs, fraction; `None` with one GPU.
    pub common_kernel_time: Option<f64>,
    /// Collectives.
    pub communication: Option<Communication>,
    /// GPUs that throttled.
    pub throttled: Vec<Throttled>,
    /// Kernels of a thread trace.
    pub thread_trace: Vec<AttKernel>,
    /// Kernels, by total time descending.
    pub kernels: Vec<ObservedKernel>,
    /// Whether the trace holds counter values.
    pub has_counters: bool,
    /// Architecture of the first GPU, for collection commands.
    pub gfx_id: Option<String>,
    /// Factor on every confidence for the state of the trace.
    pub health: f64,
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            window: Nanos::ZERO,
            kernel_busy: Nanos::ZERO,
            overlap: Nanos::ZERO,
            both_directions: Nanos::ZERO,
            runtime_copy_exposed: Nanos::ZERO,
            copies: Vec::new(),
            api_traced: false,
            dispatches: 0,
            median_dispatch: None,
            gaps: [CauseTotal::default(); GapCause::COUNT],
            short_unknown: CauseTotal::default(),
            sync_calls: Vec::new(),
            calls: Vec::new(),
            blocking_calls: None,
            graph_launch_frac: None,
            work_streams: None,
            repeat_frac: None,
            sync_in_loop: None,
            longest_idle: None,
            pairs: Vec::new(),
            agents: Vec::new(),
            common_kernel_time: None,
            communication: None,
            throttled: Vec::new(),
            thread_trace: Vec::new(),
            kernels: Vec::new(),
            has_counters: false,
            gfx_id: None,
            health: 1.0,
        }
    }
}

impl Observed {
    /// What a run showed.
    #[must_use]
    pub fn of(input: &RuleInput<'_>) -> Self {
        collect::observed(input)
    }

    /// `part` in percent of the run, 2 decimals; `None` without a window or when it exceeds it.
    #[must_use]
    pub fn pct(&self, part: Nanos) -> Option<f64> {
        crate::units::Percent::of(part.0, self.window.0).map(crate::units::Percent::value)
    }

    /// Gaps of one cause.
    #[must_use]
    pub fn gap(&self, cause: GapCause) -> CauseTotal {
        self.gaps.get(cause as usize).copied().unwrap_or_default()
    }

    /// Exposed time of copies that are not small, runtime copy kernels included.
    #[must_use]
    pub fn exposed_copies(&self) -> Nanos {
        self.copies.iter().map(ObservedCopies::exposed_not_small).sum::<Nanos>() + self.runtime_copy_exposed
    }
}

/// Copies of one direction.
#[derive(Clone, Debug)]
pub struct ObservedCopies {
    /// Where they go.
    pub direction: Direction,
    /// How many.
    pub count: u64,
    /// Bytes they move.
    pub bytes: Bytes,
    /// Time with at least one of them.
    pub busy: Nanos,
    /// Time with no kernel beside them.
    pub exposed: Nanos,
    /// The small ones.
    pub small_count: u64,
    /// Their part of `exposed`.
    pub small_exposed: Nanos,
    /// Their median size.
    pub small_median: Option<Bytes>,
    /// The large ones.
    pub large_count: u64,
    /// Their part of `exposed`.
    pub large_exposed: Nanos,
    /// Their bandwidth, GB/s.
    pub large_gbps: Option<f64>,
    /// What the link can carry one way, GB/s.
    pub link_peak_gbps: Option<f64>,
    /// Calls that the runtime split into several copies.
    pub split_calls: u64,
}

impl ObservedCopies {
    /// Exposed time without the small ones.
    #[must_use]
    pub fn exposed_not_small(&self) -> Nanos {
        self.exposed.saturating_sub(self.small_exposed)
    }
}

/// Host calls of one function.
#[derive(Clone, Debug)]
pub struct ObservedCall {
    /// The function.
    pub name: String,
    /// What it is for.
    pub class: CallClass,
    /// Whether it waits for the GPU.
    pub blocking: bool,
    /// How many.
    pub calls: u64,
    /// GPU waiting time under them.
    pub exposed: Nanos,
}

/// Two kernels that follow each other closely.
#[derive(Clone, Debug)]
pub struct FusionPair {
    /// Short name of the earlier one.
    pub first: String,
    /// Short name of the later one.
    pub second: String,
    /// Full names of both.
    pub names: [String; 2],
    /// How often.
    pub count: u64,
    /// Summed gaps between them.
    pub saving: Nanos,
}

/// One GPU.
#[derive(Clone, Debug)]
pub struct ObservedAgent {
    /// Its window.
    pub window: Nanos,
    /// Time with a kernel.
    pub kernel: Nanos,
    /// Time with a collective.
    pub collective: Nanos,
    /// Time with only collectives.
    pub exposed_collective: Nanos,
}

/// Collectives of a run.
#[derive(Clone, Debug, Default)]
pub struct Communication {
    /// The collective with most time, `AllReduce`.
    pub dominant: Option<String>,
    /// Collectives by operation and size.
    pub collectives: Vec<Collective>,
}

/// Collectives of one operation and size.
#[derive(Clone, Debug)]
pub struct Collective {
    /// `AllReduce`.
    pub op: String,
    /// Message size.
    pub bytes: u64,
    /// Ranks, when known.
    pub ranks: Option<u64>,
    /// Bus bandwidth, GB/s.
    pub gbps: Option<f64>,
    /// Achievable bandwidth, GB/s.
    pub peak_gbps: Option<f64>,
    /// Time with no other kernel beside them.
    pub exposed: Nanos,
}

/// A GPU that throttled.
#[derive(Clone, Debug)]
pub struct Throttled {
    /// Its number in the log.
    pub gpu: u64,
    /// Samples that say so.
    pub samples: u64,
    /// Highest temperature, °C.
    pub temperature: Option<f64>,
    /// The limit, °C.
    pub limit: Option<f64>,
    /// Whether log and trace cover the same time; `None` when the clocks do not tell.
    pub same_time: Option<bool>,
}

/// One kernel of a thread trace.
#[derive(Clone, Debug)]
pub struct AttKernel {
    /// Its name, without return type and parameters.
    pub name: String,
    /// Categories with their part of all latency.
    pub categories: Vec<(AttCategory, f64)>,
    /// Instructions with most stall cycles, most first.
    pub instructions: Vec<AttInstruction>,
}

/// What instructions wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttCategory {
    /// Vector memory.
    Vmem,
    /// LDS.
    Lds,
    /// Results of earlier instructions.
    Dependency,
    /// Branches.
    Divergence,
}

/// One instruction of a thread trace.
#[derive(Clone, Debug)]
pub struct AttInstruction {
    /// Its text.
    pub text: String,
    /// What it belongs to.
    pub category: AttCategory,
    /// Executions.
    pub hits: u64,
    /// Stall over latency, fraction.
    pub stall_ratio: f64,
    /// `file:line`, when known.
    pub source: Option<String>,
}

/// One kernel.
#[derive(Clone, Debug)]
pub struct ObservedKernel {
    /// Whole name.
    pub name: String,
    /// Without return type and parameters.
    pub short: String,
    /// As in anchors.
    pub slug: String,
    /// Who launched it.
    pub kind: KernelKind,
    /// What its name says it does.
    pub category: Category,
    /// Calls.
    pub calls: u64,
    /// Mean duration, ns.
    pub mean: Option<f64>,
    /// Share of the time of all kernels, percent.
    pub pct_of_total: Option<f64>,
    /// Share of the run, percent.
    pub pct_of_runtime: Option<f64>,
    /// Share of its own time with no other kernel beside it, fraction.
    pub alone: Option<f64>,
    /// Duration of its first call.
    pub first: Nanos,
    /// Median of the others, ns.
    pub median_rest: Option<f64>,
    /// Calls of the collected statistics.
    pub judged_calls: u64,
    /// Registers, memory, launch shape and waves that fit.
    pub resources: Option<Resources>,
    /// What a compute unit of its GPU holds.
    pub unit: Option<Unit>,
    /// Compute units of its GPU.
    pub cu_count: Option<u32>,
    /// Lanes of a wave on its GPU.
    pub wave_size: Option<u32>,
    /// `mfma`, `wmma` or `none`, when the architecture is known.
    pub matrix_pipe: Option<&'static str>,
    /// Launch bounds of its definition in the scanned source.
    pub launch_bounds: Option<LaunchBounds>,
    /// Whether its definition was found in the scanned source.
    pub in_source: bool,
    /// What counters say.
    pub metrics: KernelMetrics,
}

impl Default for ObservedKernel {
    fn default() -> Self {
        Self {
            name: String::new(),
            short: String::new(),
            slug: String::new(),
            kind: KernelKind::User,
            category: Category::Other,
            calls: 0,
            mean: None,
            pct_of_total: None,
            pct_of_runtime: None,
            alone: None,
            first: Nanos::ZERO,
            median_rest: None,
            judged_calls: 0,
            resources: None,
            unit: None,
            cu_count: None,
            wave_size: None,
            matrix_pipe: None,
            launch_bounds: None,
            in_source: false,
            metrics: KernelMetrics::default(),
        }
    }
}
