//! What bounds a run: one classifier for the report, the agents and the tools.
//!
//! With the four shares of the window the timeline decides and kernel-side evidence refines ([`labels`]). A bag of metrics
//! without them cannot support a verdict on a trace; then signatures are scored ([`signatures`]).

use perfxpert_knowledge::{Compare, thresholds};

mod labels;
mod signatures;

pub use signatures::Signature;

/// The exclusive parts of the window, fractions that add up to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// A kernel runs.
    pub kernel: f64,
    /// A copy runs and no kernel.
    pub exposed_copy: f64,
    /// Neither, while a host call of the process is open.
    pub exposed_host: f64,
    /// Nothing of these.
    pub idle: f64,
}

impl Window {
    /// Time lost outside kernels and copies.
    pub fn lost(&self) -> f64 {
        self.exposed_host + self.idle
    }
}

/// What was measured; `None` = not measured. Shares and utilisations are fractions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Parts of the window, when all four are known.
    pub window: Option<Window>,
    /// Exposed copies, when known without the rest of the window.
    pub exposed_copy: Option<f64>,
    /// Share of the window with a copy running, overlapped or not.
    pub memcpy: Option<f64>,
    /// Share of the window with GPU work.
    pub gpu_util: Option<f64>,
    /// Host-call share of the window.
    pub api_overhead: Option<f64>,
    /// Share of the window the GPU waits for launch calls; without it the host-call share stands in.
    pub launch_wait: Option<f64>,
    /// Part of host and idle time inside or right after blocking calls.
    pub sync_wait: Option<f64>,
    /// Only collective kernels run.
    pub exposed_collective: Option<f64>,
    /// Only GPU-to-GPU copies run.
    pub exposed_peer_copy: Option<f64>,
    /// Vector-unit utilisation of the hot kernels.
    pub valu_util: Option<f64>,
    /// Matrix-unit utilisation of the hot kernels.
    pub mfma_util: Option<f64>,
    /// Memory-bandwidth utilisation of the hot kernels.
    pub hbm_utilization: Option<f64>,
    /// Resident waves over wave slots of the hot kernels.
    pub occupancy: Option<f64>,
    /// Resident waves per CU of the hot kernels.
    pub waves_per_cu: Option<f64>,
    /// Whether the hot kernels lie above the ridge.
    pub above_ridge: Option<bool>,
    /// Whether they lie below it.
    pub below_ridge: Option<bool>,
    /// Median duration of the hot kernels, µs.
    pub kernel_duration_us: Option<f64>,
    /// Dispatches.
    pub kernel_calls: Option<f64>,
}

/// The answer's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Arithmetic bounds the run.
    Compute,
    /// Moving data bounds it.
    MemoryTransfer,
    /// Waiting bounds it.
    Latency,
    /// Several things, or none of them clearly.
    Mixed,
    /// Too little was measured.
    DataInsufficient,
}

impl Kind {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::MemoryTransfer => "memory_transfer",
            Self::Latency => "latency",
            Self::Mixed => "mixed",
            Self::DataInsufficient => "data_insufficient",
        }
    }
}

/// What exactly bounds the run, within its [`Kind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// Matrix units.
    Mfma,
    /// Vector units.
    Valu,
    /// Copies between host and device.
    HostDeviceCopy,
    /// Device memory bandwidth.
    HbmBandwidth,
    /// Copies between GPUs.
    Fabric,
    /// Launching many short kernels.
    LaunchOverhead,
    /// The GPU has nothing to do.
    GpuIdle,
    /// Blocking host calls.
    Synchronization,
    /// Collectives.
    Communication,
    /// Too few resident waves.
    LowOccupancy,
}

impl Detail {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mfma => "mfma",
            Self::Valu => "valu",
            Self::HostDeviceCopy => "host_device_copy",
            Self::HbmBandwidth => "hbm_bandwidth",
            Self::Fabric => "fabric",
            Self::LaunchOverhead => "launch_overhead",
            Self::GpuIdle => "gpu_idle",
            Self::Synchronization => "synchronization",
            Self::Communication => "communication",
            Self::LowOccupancy => "low_occupancy",
        }
    }

    /// The type it belongs to.
    pub fn kind(self) -> Kind {
        match self {
            Self::Mfma | Self::Valu => Kind::Compute,
            Self::HostDeviceCopy | Self::HbmBandwidth | Self::Fabric => Kind::MemoryTransfer,
            _ => Kind::Latency,
        }
    }
}

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidedBy {
    /// The parts of the window, with what refines them.
    Window,
    /// Signature scores.
    Signatures,
    /// Nothing: there was nothing to look at.
    Nothing,
}

/// One rule held against its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Signature or label the rule belongs to.
    pub of: &'static str,
    /// Metric it looks at, by its wire name.
    pub metric: &'static str,
    /// The metric's value.
    pub value: f64,
    /// Comparison.
    pub op: Compare,
    /// Limit.
    pub threshold: f64,
    /// Whether it holds.
    pub passed: bool,
}

impl Held {
    fn new(of: &'static str, metric: &'static str, value: f64, op: Compare, threshold: f64) -> Self {
        Self { of, metric, value, op, threshold, passed: op.holds(value, threshold) }
    }
}

/// Another candidate for the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Signature, or type of the label.
    pub label: &'static str,
    /// Detail of the label.
    pub detail: Option<Detail>,
    /// Score or support.
    pub score: f64,
}

/// The verdict on one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What bounds the run.
    pub kind: Kind,
    /// What exactly; `None` when the evidence does not single it out.
    pub detail: Option<Detail>,
    /// Support × coverage, unrounded, before any factor for the trace's health.
    pub confidence: f64,
    /// Why, one sentence with the score and the type.
    pub reason: String,
    /// Share of the needed evidence that is present.
    pub coverage: f64,
    /// Passed over evaluated rules of the winning signature; signatures only.
    pub match_ratio: Option<f64>,
    /// Signature scores in file order.
    pub scores: [f64; 4],
    /// What decided.
    pub decided_by: DecidedBy,
    /// Winning signature; signatures only.
    pub signature: Option<Signature>,
    /// Rules of the winner that do not hold.
    pub contradictions: Vec<Held>,
    /// The second best.
    pub runner_up: Option<Candidate>,
    /// The best one of a mixed verdict.
    pub best: Option<Candidate>,
    /// Every rule that could be evaluated.
    pub evidence: Vec<Held>,
    /// Wire names of metrics that would raise coverage.
    pub missing: Vec<&'static str>,
}

/// Classifies a run.
pub fn classify(evidence: &Evidence) -> Verdict {
    match &evidence.window {
        Some(window) => labels::classify(evidence, window),
        None => signatures::classify(evidence),
    }
}

/// Support of a label from a value held against its threshold: 0.5 at the threshold, 1 at 100 %, 0 at nothing.
pub fn support(value: f64, threshold: f64) -> f64 {
    if value < threshold {
        0.5 * value.max(0.0) / threshold
    } else if threshold >= 1.0 {
        1.0
    } else {
        (0.5 + 0.5 * (value - threshold) / (1.0 - threshold)).min(1.0)
    }
}

/// Factor on a verdict's confidence for the state of the trace behind it.
pub fn health_factor(data_loss: bool, warnings: bool) -> f64 {
    let limits = thresholds::verdict();
    match (data_loss, warnings) {
        (true, _) => limits.health_data_loss,
        (false, true) => limits.health_warning,
        (false, false) => 1.0,
    }
}

/// Speed-up of a program when a part of it, `share` of the run time (0 to 1), gets `local` times as fast.
/// Source: Amdahl (1967): 1 ÷ ((1 − s) + s ÷ k).
pub fn amdahl(share: f64, local: f64) -> f64 {
    1.0 / ((1.0 - share) + share / local)
}
