//! `agent.analysis`: what limits the run, without advice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::options::{Paths, ProviderWord, RunOptions};
use crate::report::advice::RunnerUp;
use crate::tools::Contract;

/// The named fields of the answer; `details` stands beside them.
pub const NAMED_FIELDS: [&str; 5] =
    ["primary_bottleneck", "confidence", "counter_data_available", "time_breakdown", "hot_kernels"];

/// Contract of `agent.analysis`.
pub struct Analysis;

impl Contract for Analysis {
    const NAME: &'static str = "agent.analysis";
    type Input = AnalysisCall;
    type Output = AnalysisAnswer;
}

/// Arguments of `agent.analysis`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisCall {
    /// What to analyse.
    pub input: AnalysisInput,
    /// Model service that words the answer; none without it.
    #[serde(default)]
    pub provider: Option<ProviderWord>,
    /// Model of that service.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub model: Option<String>,
    /// Never ask a model (true), whatever else is set.
    #[serde(default)]
    pub airgap: Option<bool>,
    /// Groups calls under one turn budget: 1 to 64 of A-Z a-z 0-9 _ . : -
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub session_id: Option<String>,
    /// Everything else.
    #[serde(default)]
    pub options: RunOptions,
}

fn ten() -> u32 {
    10
}

/// What to analyse.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalysisInput {
    /// rocpd database, folder, or list of them, as paths.
    pub database_path: Paths,
    /// Kernel rows, a count.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1000))]
    pub top_kernels: u32,
    /// Folder with thread-trace stats_*.csv files.
    #[serde(default)]
    pub att_dir: Option<String>,
    /// Shorter dispatches are left out of kernel rows, microseconds.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub min_duration_us: Option<f64>,
    /// The same in nanoseconds; not both.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub min_duration: Option<f64>,
    /// Architecture when the trace does not name its GPU, such as gfx942.
    #[serde(default)]
    pub gfx_id: Option<String>,
    /// Source tree to scan, a folder.
    #[serde(default)]
    pub source_dir: Option<String>,
    /// Captured amd-smi or rocm-smi JSON, a path.
    #[serde(default)]
    pub gpu_monitor_log: Option<String>,
}

/// Answer of `agent.analysis`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnalysisAnswer {
    /// compute, memory_transfer, latency, mixed or data_insufficient.
    pub primary_bottleneck: String,
    /// How sure that is, a fraction.
    pub confidence: f64,
    /// Whether the trace holds usable counters.
    pub counter_data_available: bool,
    /// Where the time went, percent and ns.
    pub time_breakdown: TimeShares,
    /// Kernels by time.
    pub hot_kernels: Vec<HotKernel>,
    /// Verdict, narrative, evidence, run.
    pub details: AnalysisDetails,
}

/// Where the time went.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TimeShares {
    /// A kernel runs, percent of the windows.
    pub kernel_pct: f64,
    /// A copy and no kernel, percent.
    pub memcpy_pct: f64,
    /// Neither, while a host call is open, percent.
    pub api_pct: f64,
    /// The rest, percent.
    pub idle_pct: f64,
    /// Copies under a kernel, percent.
    pub overlap_pct: f64,
    /// Collectives with no other kernel, percent.
    pub communication_pct: f64,
    /// Sum of the windows, ns.
    pub window_ns: u64,
    /// First to last GPU event of the longest machine, ns.
    pub total_runtime_ns: u64,
    /// Plain sum of kernel durations, ns.
    pub kernel_sum_ns: u64,
}

/// One kernel.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HotKernel {
    /// k1, k2 and so on, by rank.
    pub handle: String,
    /// Its name.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Summed duration, ns.
    pub total_duration: u64,
    /// Mean duration, ns.
    pub avg_duration: f64,
    /// Shortest, ns.
    pub min_duration: u64,
    /// Longest, ns.
    pub max_duration: u64,
    /// Percent of summed kernel time.
    pub percent_of_total: f64,
    /// Percent of the run.
    pub pct_of_runtime: f64,
    /// CRITICAL, HOT, WARM or COOL.
    pub severity: String,
    /// Kind of work, by name.
    pub category: String,
    /// user, runtime or collective.
    pub kind: String,
    /// Registers, memory, shape and waves.
    pub resources: HotResources,
    /// Counter metrics by name; unknown ones are absent.
    pub metrics: Map<String, Value>,
    /// Where it stands in the source; only with a scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_locations: Option<Vec<crate::report::kernels::SourceLocation>>,
}

/// What a kernel takes of a compute unit.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct HotResources {
    /// Vector registers per work-item.
    pub vgpr: Option<u64>,
    /// Accumulation registers per work-item.
    pub agpr: Option<u64>,
    /// Scalar registers per wave.
    pub sgpr: Option<u64>,
    /// LDS per workgroup, bytes.
    pub lds_bytes: Option<u64>,
    /// Scratch per work-item, bytes.
    pub scratch_bytes: Option<u64>,
    /// Work-items per workgroup, such as 256x1x1.
    pub workgroup: Option<String>,
    /// Workgroups, such as 4096x1x1.
    pub grid: Option<String>,
    /// Waves a SIMD holds.
    pub waves_per_simd: Option<u64>,
    /// Of those it could hold, a fraction.
    pub occ_frac: Option<f64>,
    /// none, vgpr, sgpr, lds, barrier or workgroup.
    pub occ_limiter: Option<String>,
}

/// What stands behind the named fields. Keys that do not apply are absent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnalysisDetails {
    /// The classifier's answer.
    pub verdict: VerdictDetails,
    /// The answer in sentences.
    pub narrative: String,
    /// What the text cites.
    pub evidence: Vec<CitedValue>,
    /// What was not known and how to get it.
    pub missing: Vec<MissingValue>,
    /// Kernels before the cut.
    pub hot_kernels_total: u64,
    /// Whether a list was cut for size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Enough to open the same trace again.
    pub trace: TraceReference,
    /// What to read with care.
    pub warnings: Vec<String>,
    /// How the answer came about.
    pub run: super::run::AgentRun,
}

/// The classifier's answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VerdictDetails {
    /// Bottleneck label.
    pub primary_bottleneck: String,
    /// Its detail.
    pub bottleneck_detail: Option<String>,
    /// Fraction.
    pub confidence: f64,
    /// Share of the needed evidence that is there, a fraction.
    pub coverage: f64,
    /// What speaks for it.
    pub reasons: Vec<String>,
    /// What speaks against it.
    pub contradictions: Vec<String>,
    /// The next candidate.
    pub runner_up: Option<RunnerUp>,
}

/// A value a sentence may cite.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CitedValue {
    /// Such as `m.valu_util@k1`.
    pub id: String,
    /// In words.
    pub label: String,
    /// Number, text or truth value.
    pub value: Value,
    /// Its unit.
    pub unit: String,
    /// Where it can be read again.
    pub from: String,
}

/// Something not known.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MissingValue {
    /// What.
    pub what: String,
    /// Why it is not known.
    pub why: String,
    /// How to get it.
    pub command: Option<String>,
}

/// Enough to open the same trace again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TraceReference {
    /// Path or list of paths, as given.
    pub database_path: Value,
    /// First architecture id.
    pub gfx_id: Option<String>,
    /// First product.
    pub product: Option<String>,
    /// GPUs with work.
    pub gpu_count: u64,
    /// ok, degraded or unusable.
    pub health: String,
}
