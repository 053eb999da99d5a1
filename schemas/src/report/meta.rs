//! What was recorded, by what, and how far it can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A warning with its code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarningDetail {
    /// A trace-health id, or one of ours.
    pub code: String,
    /// info, warning or data_loss.
    pub severity: String,
    /// Equal to the entry of `warnings`.
    pub message: String,
    /// What to do about it.
    pub recommendation: Option<String>,
}

/// A section that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedSection {
    /// Key of the section.
    pub section: String,
    /// Kind of the error.
    pub kind: String,
    /// One sentence.
    pub message: String,
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfilingInfo {
    /// Total runtime, ns.
    pub total_duration_ns: u64,
    /// sys_trace_only, sys_trace_with_counters or source_only.
    pub profiling_mode: String,
    /// 0 source, 1 trace, 2 counters, 3 thread trace.
    pub analysis_tier: u64,
    /// Architecture id per GPU.
    pub gpus: Vec<Option<String>>,
    /// Processes.
    pub processes: u64,
    /// Files.
    pub files: u64,
    /// Dispatches.
    pub dispatches: u64,
    /// Copies.
    pub copies: u64,
}

/// One GPU as the trace identifies it. Unknown is null, never a default GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gpu {
    /// Report order: machine, then device.
    pub index: u64,
    /// Architecture id.
    pub gfx_id: Option<String>,
    /// Product name.
    pub name: Option<String>,
    /// Compute units.
    pub cu_count: Option<u64>,
    /// Accelerator dies.
    pub xcc_count: Option<u64>,
    /// Lanes of a wave.
    pub wave_size: Option<u64>,
    /// Waves a compute unit can hold.
    pub max_waves_per_cu: Option<u64>,
    /// LDS per compute unit, bytes.
    pub lds_bytes_per_cu: Option<u64>,
    /// Highest engine clock, MHz.
    pub clock_mhz: Option<u64>,
    /// Device memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Peak memory bandwidth, bytes per second.
    pub hbm_peak_bytes_per_s: Option<f64>,
    /// Host link, one way, 1e9 bytes per second.
    pub host_link_peak_gbps: Option<f64>,
    /// How the product was chosen: trace, device_id, cu_count, gfx_only or unknown.
    pub sku_source: String,
    /// Index of the machine.
    pub machine: u64,
    /// Processes that use it.
    pub processes: u64,
}

/// What is wrong with the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReport {
    /// ok, degraded or unusable.
    pub status: String,
    /// Findings, worst first.
    pub items: Vec<HealthRow>,
    /// Findings before the cut.
    pub items_total: u64,
    /// Rows read and left out.
    pub rows: HealthRows,
}

/// One finding about the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthRow {
    /// Stable id.
    pub id: String,
    /// info, warning or data_loss.
    pub severity: String,
    /// How many rows or files.
    pub count: u64,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub advice: String,
    /// At most three.
    pub examples: Vec<String>,
}

/// Rows read and left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthRows {
    /// Dispatches read.
    pub dispatches: u64,
    /// Copies read.
    pub copies: u64,
    /// Host calls read.
    pub regions: u64,
    /// Counter values read.
    pub counter_values: u64,
    /// Rows left out.
    pub left_out: u64,
    /// Percent of all rows.
    pub left_out_pct: f64,
}

/// Where the numbers come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Version of this program.
    pub tool_version: String,
    /// Commit it was built from.
    pub commit: Option<String>,
    /// Version of the embedded facts.
    pub facts_version: String,
    /// The files read.
    pub inputs: Vec<InputFile>,
    /// Every option with its effective value; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Map<String, Value>>,
    /// Whether no model wrote any of it.
    pub deterministic: bool,
    /// The model that worded it.
    pub model: Option<Value>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputFile {
    /// As given.
    pub path: String,
    /// trace, counters, baseline, att, monitor or source.
    pub role: String,
    /// Size.
    pub bytes: Option<u64>,
    /// SHA-256 of size, first and last MiB, 16 hex digits.
    pub fingerprint: Option<String>,
    /// rocpd schema version.
    pub schema_version: Option<String>,
    /// Processes in it.
    pub processes: Option<u64>,
    /// The program that wrote it.
    pub writer: Option<String>,
}

/// Names of the original.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metadata {
    /// Schema version of the first file.
    pub rocpd_version: Option<String>,
    /// Equal to `schema_version`.
    pub analysis_version: String,
    /// First path.
    pub database_file: Option<String>,
    /// RFC 3339, UTC, whole seconds.
    pub analysis_timestamp: String,
    /// Wall time of the analysis, ms.
    pub analysis_duration_ms: u64,
    /// The question, null when it was the default.
    pub custom_prompt: Option<String>,
    /// Model service that worded the narrative.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// First architecture id.
    pub gpu_arch: Option<String>,
    /// Dispatches.
    pub kernel_count: u64,
    /// Total runtime, ns.
    pub total_runtime_ns: u64,
    /// What was asked for.
    pub intent: String,
    /// Agents that ran.
    pub routed_to: Vec<String>,
    /// How the answer came about.
    pub run: Value,
}
