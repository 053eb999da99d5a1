//! Gaps: maximal times inside a GPU's window when neither kernel nor copy runs.

use perfxpert_trace::{AgentIdx, Direction, KernelIdx, NameIdx};

use super::kernel::Distribution;
use crate::units::Nanos;

/// Why a GPU had nothing to do: the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapCause {
    /// The next work had been launched well before the gap began: it was already waiting.
    Queued,
    /// A blocking call contains the begin of the gap.
    Sync,
    /// Launch calls cover at least half of it.
    Launch,
    /// Allocation calls cover at least half of it.
    Alloc,
    /// Module loading, compilation or look-up covers at least half of it.
    Module,
    /// Asynchronous copy calls cover at least half of it.
    CopyCall,
    /// Calls cover at least half of it, none of the classes above alone.
    ApiOther,
    /// Calls are recorded and cover less than half of it.
    Host,
    /// The processes that use the GPU recorded no calls.
    Unknown,
}

impl GapCause {
    /// All causes, in the order they are tried.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Queued,
        Self::Sync,
        Self::Launch,
        Self::Alloc,
        Self::Module,
        Self::CopyCall,
        Self::ApiOther,
        Self::Host,
        Self::Unknown,
    ];

    /// Number of causes.
    pub const COUNT: usize = 9;

    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sync => "sync",
            Self::Launch => "launch",
            Self::Alloc => "alloc",
            Self::Module => "module",
            Self::CopyCall => "copy_call",
            Self::ApiOther => "api_other",
            Self::Host => "host",
            Self::Unknown => "unknown",
        }
    }
}

/// Gaps of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CauseTotal {
    /// How many.
    pub count: u64,
    /// Their summed length.
    pub total: Nanos,
}

/// The work beside a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// A dispatch of this kernel.
    Kernel(KernelIdx),
    /// A copy.
    Copy(Direction),
}

/// One gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The GPU.
    pub agent: AgentIdx,
    /// When it begins.
    pub start: i64,
    /// How long it is.
    pub length: Nanos,
    /// Why.
    pub cause: GapCause,
    /// The work that ended last before it.
    pub before: Neighbour,
    /// The work that ends it.
    pub after: Neighbour,
    /// The host call that covers most of it; `None` when no call overlaps it.
    pub call: Option<NameIdx>,
}

/// All gaps of the run.
#[derive(Clone, Debug)]
pub struct GapProfile {
    /// Count, sum, extremes and quantiles of their lengths.
    pub lengths: Distribution,
    /// By cause, in the order of [`GapCause::ALL`].
    pub by_cause: [CauseTotal; GapCause::COUNT],
    /// Gaps of cause [`GapCause::Unknown`] shorter than the short-gap threshold.
    pub short_unknown: CauseTotal,
    /// The longest, longest first, then by agent and start.
    pub largest: Vec<Gap>,
    /// Calls that open gaps of cause [`GapCause::Sync`], by gaps descending, then name.
    pub sync_calls: Vec<(NameIdx, CauseTotal)>,
}

impl GapProfile {
    /// Gaps of one cause.
    #[must_use]
    pub fn of(&self, cause: GapCause) -> CauseTotal {
        self.by_cause.get(cause as usize).copied().unwrap_or_default()
    }
}
