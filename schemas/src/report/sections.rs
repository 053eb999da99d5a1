//! Copies, host calls, gaps, collectives and the monitor log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Copies of one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyRow {
    /// Copies.
    pub count: u64,
    /// Bytes moved.
    pub total_bytes: u64,
    /// Summed duration, ns.
    pub total_duration_ns: u64,
    /// Mean size, bytes, 1 decimal.
    pub avg_bytes: f64,
    /// Mean duration, ns, 1 decimal.
    pub avg_duration_ns: f64,
    /// Union of their intervals, ns.
    pub busy_ns: u64,
    /// Bytes ÷ union, 1e9 bytes per second.
    pub bandwidth_gbps: Option<f64>,
    /// Time with no kernel beside them, ns.
    pub exposed_ns: u64,
    /// Percent of the run.
    pub exposed_pct: f64,
    /// Copies below 64 KiB.
    pub small_count: u64,
    /// Their exposed time, ns.
    pub small_exposed_ns: u64,
    /// Copies of 1 MiB and more.
    pub large_count: u64,
    /// Their bandwidth, 1e9 bytes per second.
    pub large_bandwidth_gbps: Option<f64>,
    /// Peak of the link, one way, 1e9 bytes per second.
    pub link_peak_gbps: Option<f64>,
    /// Large bandwidth, percent of the peak.
    pub link_utilization_pct: Option<f64>,
}

/// Host calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiOverhead {
    /// Whether any call was traced.
    pub has_api_data: bool,
    /// Outermost calls, ns.
    pub total_api_ns: u64,
    /// Launch family, ns.
    pub launch_overhead_ns: u64,
    /// Time the GPU waited while a call was open, ns.
    pub exposed_api_ns: u64,
    /// Calls by total time.
    pub api_calls: Vec<ApiCall>,
    /// Rows before the cut.
    pub api_calls_total: u64,
    /// Totals by family: launch, copy, sync, alloc, module, other.
    pub families: std::collections::BTreeMap<String, ApiFamily>,
    /// Blocking calls and the gaps they cause.
    pub sync: SyncTotals,
    /// Launch call start to kernel start.
    pub launch_latency_ns: Option<Latency>,
}

/// One host call by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiCall {
    /// Function.
    pub name: String,
    /// launch, copy, sync, alloc, module or other.
    pub family: String,
    /// Calls.
    pub calls: u64,
    /// Summed duration, ns.
    pub total_ns: u64,
    /// Mean, ns, 1 decimal.
    pub avg_ns: f64,
    /// Longest, ns.
    pub max_ns: u64,
    /// Time the GPU waited meanwhile, ns.
    pub exposed_ns: u64,
}

/// Totals of one family of host calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiFamily {
    /// Calls.
    pub calls: u64,
    /// Summed duration, ns.
    pub total_ns: u64,
    /// Time the GPU waited meanwhile, ns.
    pub exposed_ns: u64,
}

/// Blocking calls and the gaps they cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SyncTotals {
    /// Calls that block.
    pub blocking_calls: u64,
    /// Time of the gaps they cause, ns.
    pub gap_ns: u64,
    /// Those gaps.
    pub gaps: u64,
}

/// Median and 95th percentile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Median, ns.
    pub median: u64,
    /// 95th percentile, ns.
    pub p95: u64,
}

/// Three totals of the host calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiBreakdown {
    /// Outermost calls, ns.
    pub total_api_ns: u64,
    /// Launch family, ns.
    pub launch_overhead_ns: u64,
    /// Rows by name.
    pub api_calls: Vec<ApiCall>,
}

/// Gaps and their causes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalTimeline {
    /// Sum of the windows, ns.
    pub window_ns: u64,
    /// Kernel share, percent.
    pub true_compute_pct: f64,
    /// Exposed-copy share, percent.
    pub exposed_memcpy_pct: f64,
    /// Exposed-call share, percent.
    pub exposed_api_pct: f64,
    /// Idle share, percent.
    pub idle_pct: f64,
    /// Collectives with no other kernel, percent of the windows.
    pub exposed_communication_pct: f64,
    /// Overlapped copy time, percent of all copy time.
    pub copy_overlap_pct: Option<f64>,
    /// Concurrent kernel time, percent of summed kernel time.
    pub concurrent_kernel_pct: Option<f64>,
    /// The gaps.
    pub gaps: Gaps,
    /// 100 equal slices, each kernel, copy, api, idle percent; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buckets: Option<Vec<Vec<f64>>>,
}

/// Stretches without kernel or copy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// Their time, ns.
    pub total_ns: u64,
    /// Longest, ns.
    pub max_ns: u64,
    /// Median, nearest rank, ns.
    pub p50_ns: u64,
    /// 95th percentile, nearest rank, ns.
    pub p95_ns: u64,
    /// By cause, longest first.
    pub by_cause: GapCauses,
    /// At most ten.
    pub largest: Vec<LargeGap>,
}

/// Gap totals by cause, longest first; serialised as an object in that order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GapCauses(pub Vec<(String, GapCause)>);

impl Serialize for GapCauses {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(cause, row)| (cause, row)))
    }
}

impl<'de> Deserialize<'de> for GapCauses {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::<String, Value>::deserialize(deserializer)?;
        map.into_iter()
            .map(|(cause, row)| {
                serde_json::from_value(row).map(|row| (cause, row)).map_err(serde::de::Error::custom)
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl JsonSchema for GapCauses {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GapCauses".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, GapCause>::json_schema(generator)
    }
}

/// Gaps of one cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GapCause {
    /// How many.
    pub count: u64,
    /// Their time, ns.
    pub total_ns: u64,
    /// Percent of the windows.
    pub pct: f64,
}

/// One long gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LargeGap {
    /// Index in `gpus`.
    pub agent: u64,
    /// From the run's first event, ns.
    pub start_ns: u64,
    /// Length, ns.
    pub duration_ns: u64,
    /// Why.
    pub cause: String,
    /// Kernel or copy before it.
    pub before: Option<String>,
    /// Kernel or copy after it.
    pub after: Option<String>,
    /// Host call that covers most of it.
    pub call: Option<String>,
}

/// Collectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Communication {
    /// Totals.
    pub summary: CommunicationSummary,
    /// By operation and size, by total time.
    pub collectives: Vec<Collective>,
    /// Rows before the cut.
    pub collectives_total: u64,
}

/// Totals of the collectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommunicationSummary {
    /// Operations.
    pub op_count: u64,
    /// The one with most time.
    pub dominant_op: Option<String>,
    /// Device time, ns.
    pub total_ns: u64,
    /// Time with no other kernel beside them, ns.
    pub exposed_ns: u64,
    /// Percent of the run.
    pub exposed_pct: f64,
    /// Collective time under other kernels, percent of it.
    pub overlap_pct: Option<f64>,
    /// Ranks.
    pub ranks: Option<u64>,
    /// Mean bus bandwidth weighted by bytes, 1e9 bytes per second.
    pub avg_bw_gbps: Option<f64>,
    /// Mean efficiency weighted by bytes, percent.
    pub avg_efficiency_pct: Option<f64>,
    /// Achievable bandwidth, 1e9 bytes per second.
    pub peak_bw_gbps: Option<f64>,
    /// Link peak, 1e9 bytes per second.
    pub link_peak_gbps: Option<f64>,
    /// Whether collectives are missing from the trace.
    pub capture_incomplete: bool,
    /// Why it is incomplete.
    pub incomplete_reason: Option<String>,
    /// Collectives known only as kernels.
    pub fallback_kernel_count: u64,
    /// Whether sizes are known.
    pub measured_metrics_available: bool,
}

/// Collectives of one operation and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Collective {
    /// Operation.
    pub op_type: String,
    /// How many.
    pub count: u64,
    /// Message size, bytes.
    pub msg_bytes: Option<u64>,
    /// Median device time of one, ns.
    pub duration_ns: u64,
    /// Device time of all, ns.
    pub total_ns: u64,
    /// Bus bandwidth, 1e9 bytes per second.
    pub effective_bw_gbps: Option<f64>,
    /// Achievable bandwidth, 1e9 bytes per second.
    pub peak_bw_gbps: Option<f64>,
    /// Link peak, 1e9 bytes per second.
    pub link_peak_gbps: Option<f64>,
    /// Percent of the achievable bandwidth.
    pub efficiency_pct: Option<f64>,
    /// latency-bound, poor, fair, good or unknown.
    pub efficiency_label: String,
    /// Time under other kernels, percent.
    pub overlap_ratio: Option<f64>,
    /// latency-bound, algo-dependent or bandwidth-bound.
    pub regime: Option<String>,
    /// Algorithm named by the kernel.
    pub algo_hint: Option<String>,
}

/// Temperatures, power and clocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuMonitor {
    /// amd-smi or rocm-smi.
    pub source: Option<String>,
    /// Samples read.
    pub samples: u64,
    /// Time they span, s.
    pub span_s: Option<f64>,
    /// One row per GPU.
    pub per_gpu: Vec<GpuMonitorRow>,
    /// The worst verdict.
    pub verdict: String,
    /// Why.
    pub reason: Option<String>,
}

/// One GPU of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuMonitorRow {
    /// As the log names it.
    pub gpu_id: String,
    /// Samples.
    pub samples: u64,
    /// Highest temperature, °C.
    pub max_temp_c: Option<f64>,
    /// 95th percentile, °C.
    pub p95_temp_c: Option<f64>,
    /// edge, junction or none.
    pub temp_sensor: String,
    /// Limit, °C.
    pub limit_c: Option<f64>,
    /// Highest power, W.
    pub max_power_w: Option<f64>,
    /// Power limit, W.
    pub limit_w: Option<f64>,
    /// Lowest shader clock, MHz.
    pub min_sclk_mhz: Option<f64>,
    /// Highest shader clock, MHz.
    pub max_sclk_mhz: Option<f64>,
    /// Samples that report throttling.
    pub throttle_samples: u64,
    /// healthy, hot, throttling or unknown.
    pub verdict: String,
}
