//! `rccl_analysis`: collectives of a trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::TraceHealth;

/// Contract of `rccl_analysis.analyze_collectives`.
pub struct AnalyzeCollectives;

impl Contract for AnalyzeCollectives {
    const NAME: &'static str = "rccl_analysis.analyze_collectives";
    type Input = AnalyzeCollectivesInput;
    type Output = AnalyzeCollectivesOutput;
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum GroupBy {
    /// Calls of one operation, size and type.
    #[default]
    Signature,
    /// One call.
    Call,
}

/// Arguments of `rccl_analysis.analyze_collectives`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalyzeCollectivesInput {
    /// rocpd file or folder, a path.
    #[schemars(length(max = 4096))]
    pub db_path: String,
    /// gfx id instead of the trace's, or a network card's code name.
    #[schemars(length(max = 4096))]
    pub gfx_id: Option<String>,
    /// Size of the communicator, a count.
    #[schemars(range(min = 1, max = 4_294_967_295_u64))]
    pub ranks: Option<u32>,
    /// Rows: calls of one operation and size together, or each call.
    #[serde(default)]
    pub group_by: GroupBy,
    /// Rows to return, a count.
    #[serde(default = "twenty")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: usize,
    /// Rows to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: usize,
}

const fn twenty() -> usize {
    20
}

/// Totals.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectiveSummary {
    /// Collectives.
    pub op_count: u64,
    /// Size of the communicator, or null.
    pub ranks: Option<u32>,
    /// input, `init_rank`, `init_all`, processes, agents or unknown.
    pub ranks_source: String,
    /// The operation with most device time, or null.
    pub dominant_op: Option<String>,
    /// Summed durations of all collective kernels, ns.
    pub total_device_ns: u64,
    /// Bus bandwidth weighted by bytes, 1e9 bytes per second, or null.
    pub avg_bw_gbps: Option<f64>,
    /// What the hardware is known to reach, 1e9 bytes per second, or null.
    pub peak_bw_gbps: Option<f64>,
    /// What the links allow one way, 1e9 bytes per second, or null.
    pub link_peak_gbps: Option<f64>,
    /// Bus bandwidth over what the hardware reaches, percent, or null.
    pub avg_efficiency_pct: Option<f64>,
    /// Collective time beside kernels of the application, percent, or null.
    pub overlap_pct: Option<f64>,
    /// Whether the trace lacks something.
    pub capture_incomplete: bool,
    /// Whether any row has a bandwidth.
    pub measured_metrics_available: bool,
    /// Collective kernels without a call; only when incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_kernel_count: Option<u64>,
    /// Summed durations of collective kernels, ns; only when incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_total_duration_ns: Option<u64>,
    /// What is lacking; only when incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete_reason: Option<String>,
}

/// Collectives of one operation and size, or one call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectiveRow {
    /// Operation.
    pub op: String,
    /// The same.
    pub op_type: String,
    /// Calls.
    pub count: u64,
    /// Message size, bytes; null when not recorded.
    pub msg_bytes: Option<u64>,
    /// Type of the elements; null when not recorded.
    pub dtype: Option<String>,
    /// Size of the communicator, or null.
    pub ranks: Option<u32>,
    /// Median device time of one, ns; null without a kernel.
    pub duration_ns: Option<u64>,
    /// Summed device times, ns.
    pub total_ns: u64,
    /// Shortest device time, ns; null without a kernel.
    pub min_ns: Option<u64>,
    /// Longest device time, ns; null without a kernel.
    pub max_ns: Option<u64>,
    /// How calls and kernels were tied: id, order or none.
    pub link: String,
    /// Mean span of the host call, ns: the cost of asking. Null without calls.
    pub host_call_ns: Option<u64>,
    /// Bus bandwidth, 1e9 bytes per second, or null.
    pub effective_bw_gbps: Option<f64>,
    /// Algorithm bandwidth, 1e9 bytes per second, or null.
    pub algo_bw_gbps: Option<f64>,
    /// What the hardware is known to reach, 1e9 bytes per second, or null.
    pub peak_bw_gbps: Option<f64>,
    /// What the links allow one way, 1e9 bytes per second, or null.
    pub link_peak_gbps: Option<f64>,
    /// Bus bandwidth over what the hardware reaches, percent, or null.
    pub efficiency_pct: Option<f64>,
    /// good, fair, poor, latency-bound or unknown.
    pub efficiency_label: String,
    /// Algorithm a library would choose; a hint.
    pub algo_hint: String,
    /// single-rank, intra-node, multi-node or unknown; a hint.
    pub topology_hint: String,
    /// latency-bound, algo-dependent, bandwidth-bound or unknown.
    pub regime: String,
    /// Device time beside kernels of the application, percent; null without a kernel.
    pub overlap_ratio: Option<f64>,
    /// First start, clock value, ns.
    pub first_start_ns: i64,
}

/// A rank and the waits it causes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StragglerRow {
    /// Process id.
    pub pid: Option<i64>,
    /// Host name, or the machine's id.
    pub host: Option<String>,
    /// Index of its GPU.
    pub agent: Option<i64>,
    /// Collectives it entered last.
    pub last_count: u64,
    /// Its share of them, 0 to 1.
    pub last_share: f64,
    /// Time the others waited for it, ns.
    pub wait_caused_ns: u64,
    /// Mean time it came after the first, ns.
    pub mean_lateness_ns: u64,
}

/// Answer of `rccl_analysis.analyze_collectives`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalyzeCollectivesOutput {
    /// Totals.
    pub summary: CollectiveSummary,
    /// Whether the trace lacks something.
    pub capture_incomplete: bool,
    /// By device time.
    pub collectives: Vec<CollectiveRow>,
    /// Ranks the others wait for, at most 8; null when that cannot be told.
    pub stragglers: Option<Vec<StragglerRow>>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stragglers_reason: Option<String>,
    /// Rows in all.
    pub total: u64,
    /// Rows returned.
    pub returned: u64,
    /// Whether more exist.
    pub truncated: bool,
    /// What to record or send.
    pub missing: Vec<String>,
    /// State of the trace.
    pub trace_health: TraceHealth,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
