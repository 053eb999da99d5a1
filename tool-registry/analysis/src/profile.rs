//! Everything one pass over the timeline of a run yields: the typed source of every number of the report and the tools.
//!
//! Durations are [`Nanos`]; instants are `i64` nanoseconds of the machine's clock. Nothing here is rounded.

mod agent;
mod copy;
mod gap;
mod host;
mod kernel;
mod pair;

use std::sync::Arc;

use perfxpert_trace::{Health, MachineIdx, ProcessIdx, SourceIdx};

pub use agent::{AgentKernel, AgentProfile, AgentTimes, TimeParts};
pub use copy::{CopyProfile, SizeClass};
pub use gap::{CauseTotal, Gap, GapCause, GapProfile, Neighbour};
pub use host::{CALL_CLASSES, CallClass, CallProfile, ClassTotal, HostProfile};
pub use kernel::{CollectiveInstance, Distribution, KernelKind, KernelProfile, LaunchShape};
pub use pair::{KernelPair, PairGaps, RepeatedKernel};

use crate::units::Nanos;

/// What a run did, aggregated.
#[derive(Clone, Debug)]
pub struct RunProfile {
    /// Calls shorter than this are left out of the statistics of kernels (never out of times, shares and denominators).
    pub min_duration: Nanos,
    /// Machines with GPU work, in the trace's order.
    pub machines: Vec<MachineProfile>,
    /// Processes, in the trace's order.
    pub processes: Vec<ProcessProfile>,
    /// GPUs with work, by machine, then by their index on it.
    pub agents: Vec<AgentProfile>,
    /// Kernels with at least one valid call: by total time descending, then by name bytewise.
    pub kernels: Vec<KernelProfile>,
    /// Copies by direction: those that occur, by total time descending, then by label.
    pub copies: Vec<CopyProfile>,
    /// Host calls by name: by total time descending, then by name.
    pub calls: Vec<CallProfile>,
    /// Host calls as a whole.
    pub host: HostProfile,
    /// Times when a GPU had neither kernel nor copy.
    pub gaps: GapProfile,
    /// The span of the longest machine in equal slices; empty without GPU work.
    pub timeline: Timeline,
    /// Pairs of different user kernels that follow each other closely on one stream: by total saving descending, then names.
    pub pairs: Vec<KernelPair>,
    /// Distinct pairs met beyond the limit on `pairs`; their numbers are not known.
    pub pairs_left_out: u64,
    /// Kernels launched many times in a row with the same shape: by launches descending, then name.
    pub repeated: Vec<RepeatedKernel>,
    /// Median duration of all dispatches, ns; `None` without any.
    pub median_dispatch: Option<f64>,
    /// Median duration, ns, of the calls of the kernels a verdict rests on ([`crate::hotspots::decisive`]).
    pub hot_median: Option<f64>,
    /// Dispatches shorter than [`crate::sweep::Limits::short_kernel`], and their summed time.
    pub short: ShortKernels,
    /// Collective dispatches in start order, at most [`crate::sweep::Limits::max_collectives`].
    pub collectives: Vec<CollectiveInstance>,
    /// Collective dispatches met, kept or not.
    pub collectives_total: u64,
    /// Rows that took part.
    pub rows: RowCounts,
    /// Signs of two clocks.
    pub order: Order,
    /// Problems only the analysis can see; the reader's own are in the trace.
    pub health: Health,
}

impl RunProfile {
    /// Exclusive parts added up over all agents: the denominator of every share of the run is `parts().window()`.
    #[must_use]
    pub fn parts(&self) -> TimeParts {
        self.agents.iter().map(|agent| agent.times.parts).sum()
    }

    /// Sum of the agents' windows (W).
    #[must_use]
    pub fn normalized_runtime(&self) -> Nanos {
        self.parts().window()
    }

    /// First to last GPU event, per machine; the longest machine. Clocks of different machines are never compared.
    #[must_use]
    pub fn total_runtime(&self) -> Nanos {
        self.machines.iter().map(MachineProfile::span).max().unwrap_or_default()
    }

    /// Summed durations of all dispatches, unfiltered: the denominator of shares of kernel time.
    #[must_use]
    pub fn kernel_sum(&self) -> Nanos {
        self.agents.iter().map(|agent| agent.times.dispatch_sum).sum()
    }

    /// Union of kernel intervals, added up over the agents.
    #[must_use]
    pub fn kernel_busy(&self) -> Nanos {
        self.parts().kernel
    }

    /// Whether any valid GPU event is left to judge.
    #[must_use]
    pub fn judgeable(&self) -> bool {
        !self.agents.is_empty()
    }
}

/// GPU activity of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineProfile {
    /// The machine.
    pub machine: MachineIdx,
    /// First start of its dispatches and copies.
    pub first: i64,
    /// Last end of its dispatches and copies.
    pub last: i64,
}

impl MachineProfile {
    /// First start to last end.
    #[must_use]
    pub const fn span(&self) -> Nanos {
        Nanos::between(self.first, self.last)
    }
}

/// One process.
#[derive(Clone, Debug)]
pub struct ProcessProfile {
    /// The process.
    pub process: ProcessIdx,
    /// Its file.
    pub source: SourceIdx,
    /// Its machine.
    pub machine: MachineIdx,
    /// First start and last end of its dispatches and copies; `None` without any.
    pub gpu_span: Option<(i64, i64)>,
    /// First start and last end of its host calls; `None` without any.
    pub host_span: Option<(i64, i64)>,
    /// Valid dispatches.
    pub dispatches: u64,
    /// Summed durations of its dispatches.
    pub dispatch_sum: Nanos,
    /// Valid copies.
    pub copies: u64,
    /// Host calls.
    pub calls: u64,
}

/// The run in equal slices.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Start of the first slice.
    pub start: i64,
    /// Span all slices cover together.
    pub span: Nanos,
    /// Exclusive parts of each slice, added up over the agents of the machine.
    pub slices: Vec<TimeParts>,
    /// Whether the slices were cut before the span was known, so that their edges are off by at most 1/40 of a slice.
    pub approximate: bool,
}

/// Dispatches shorter than the short-kernel threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortKernels {
    /// How many.
    pub count: u64,
    /// Their summed durations.
    pub total: Nanos,
}

/// Rows that took part in the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Dispatches.
    pub dispatches: u64,
    /// Copies.
    pub copies: u64,
    /// Host calls.
    pub regions: u64,
    /// Dispatches whose end was cut because it ran past later work of its queue.
    pub clipped: u64,
}

/// Work that seems to come before what it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// GPU work that started before the call that asked for it.
    pub early_work: u64,
    /// Copies that started after a kernel launched only once they were over.
    pub late_copies: u64,
}

/// Texts shared by many rows.
pub type Text = Arc<str>;
