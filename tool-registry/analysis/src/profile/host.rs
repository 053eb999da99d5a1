//! Host calls.

use perfxpert_trace::{Family, NameIdx};

use super::Text;
use super::kernel::Distribution;
use crate::units::Nanos;

/// What a host call is for.
pub use perfxpert_knowledge::api::Family as CallClass;

/// All classes of calls, in the order of [`HostProfile::classes`].
pub const CALL_CLASSES: [CallClass; 6] = [
    CallClass::Launch,
    CallClass::Copy,
    CallClass::Sync,
    CallClass::Alloc,
    CallClass::Module,
    CallClass::Other,
];

/// Calls of one function.
#[derive(Clone, Debug)]
pub struct CallProfile {
    /// Function with its family.
    pub name: NameIdx,
    /// The function.
    pub text: Text,
    /// Its interface.
    pub family: Family,
    /// Whether it is a HIP, HSA or RCCL call: one the GPU may be waiting for.
    pub host_api: bool,
    /// What it is for.
    pub class: CallClass,
    /// Whether it holds the thread until the GPU is done.
    pub blocking: bool,
    /// How many.
    pub calls: u64,
    /// Summed durations.
    pub total: Nanos,
    /// Longest.
    pub max: Nanos,
    /// Summed durations without nested calls of the same thread.
    pub own: Nanos,
    /// GPU waiting time under it: time with neither kernel nor copy, while it is the first started of the open calls.
    /// Added up over the GPUs its process uses.
    pub exposed: Nanos,
}

/// Calls of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTotal {
    /// How many.
    pub calls: u64,
    /// Summed durations.
    pub total: Nanos,
    /// See [`CallProfile::exposed`].
    pub exposed: Nanos,
}

/// Host calls as a whole.
#[derive(Clone, Debug)]
pub struct HostProfile {
    /// Whether any HIP, HSA or RCCL call was recorded.
    pub api_known: bool,
    /// HIP, HSA and RCCL calls.
    pub calls: u64,
    /// Summed durations of outermost calls: nested ones are not counted twice.
    pub total: Nanos,
    /// By class, in the order of [`CALL_CLASSES`].
    pub classes: [ClassTotal; 6],
    /// Blocking calls.
    pub blocking_calls: u64,
    /// Time threads spent in blocking calls, nested ones counted once.
    pub blocked: Nanos,
    /// From the start of the launching call to the start of its first dispatch, one value per call.
    pub launch_latency: Distribution,
    /// From the end of the launching call to the start of its first dispatch, zero when it starts earlier.
    pub queue_wait: Distribution,
    /// Dispatches with a known launching call.
    pub linked: u64,
    /// Dispatches without one.
    pub unlinked: u64,
    /// Sum over all linked dispatches of their start minus the start of their call.
    pub linked_latency: Nanos,
    /// Calls that launched at least one dispatch.
    pub launching_calls: u64,
    /// Calls that launched more than one dispatch.
    pub multi_launch_calls: u64,
    /// Graph launch calls.
    pub graph_launches: u64,
    /// Dispatches launched by graph launch calls.
    pub graph_dispatches: u64,
    /// RCCL calls.
    pub rccl_calls: u64,
}
