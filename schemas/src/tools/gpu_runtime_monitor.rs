//! `gpu_runtime_monitor`: logs of amd-smi and rocm-smi, and whether heat or power slowed the GPU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Contract;

/// Contract of `gpu_runtime_monitor.parse_amd_smi_json`.
pub struct ParseAmdSmiJson;

impl Contract for ParseAmdSmiJson {
    const NAME: &'static str = "gpu_runtime_monitor.parse_amd_smi_json";
    type Input = ParseInput;
    type Output = ParseOutput;
}

/// Contract of `gpu_runtime_monitor.parse_rocm_smi_json`.
pub struct ParseRocmSmiJson;

impl Contract for ParseRocmSmiJson {
    const NAME: &'static str = "gpu_runtime_monitor.parse_rocm_smi_json";
    type Input = ParseInput;
    type Output = ParseOutput;
}

/// Arguments of both readers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParseInput {
    /// Log file, a path.
    pub path: String,
    /// Samples to return, a count.
    #[serde(default = "hundred")]
    #[schemars(range(min = 0, max = 2000))]
    pub limit: usize,
    /// Samples to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: usize,
    /// Only this GPU, an index.
    #[schemars(range(min = 0))]
    pub gpu_id: Option<i64>,
}

const fn hundred() -> usize {
    100
}

/// One GPU over the whole log; null = never seen.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GpuSummary {
    /// Index.
    pub gpu_id: i64,
    /// Samples.
    pub samples: usize,
    /// °C.
    pub max_temp_junction_c: Option<f64>,
    /// °C.
    pub max_temp_edge_c: Option<f64>,
    /// °C.
    pub max_temp_mem_c: Option<f64>,
    /// W.
    pub avg_power_w: Option<f64>,
    /// W.
    pub max_power_w: Option<f64>,
    /// MHz.
    pub min_sclk_mhz: Option<f64>,
    /// MHz.
    pub max_sclk_mhz: Option<f64>,
    /// Percent.
    pub avg_gfx_busy_pct: Option<f64>,
}

/// One sample; null = not in the log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Sample {
    /// Index of the GPU.
    pub gpu_id: i64,
    /// Edge if present, else junction, °C.
    pub temp_c: Option<f64>,
    /// W.
    pub power_w: Option<f64>,
    /// Core clock, MHz.
    pub sclk_mhz: Option<f64>,
    /// Memory clock, MHz.
    pub mclk_mhz: Option<f64>,
    /// Percent.
    pub gfx_busy_pct: Option<f64>,
    /// °C.
    pub temp_edge_c: Option<f64>,
    /// °C.
    pub temp_junction_c: Option<f64>,
    /// °C.
    pub temp_mem_c: Option<f64>,
    /// The GPU said that it throttles.
    pub throttled: Option<bool>,
    /// Seconds.
    pub timestamp_s: Option<f64>,
}

/// Something wrong with the log that did not stop the reading.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Problem {
    /// `cut_off` or `bad_gpu_id`.
    pub code: String,
    /// How often.
    pub count: usize,
    /// What it means.
    pub message: String,
}

/// Answer of both readers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ParseOutput {
    /// `amd-smi` or `rocm-smi`.
    pub source: String,
    /// Distinct GPUs.
    pub gpu_count: usize,
    /// Per GPU, ascending.
    pub summary: Vec<GpuSummary>,
    /// Samples in log order.
    pub samples: Vec<Sample>,
    /// Samples, all.
    pub total: usize,
    /// Rows shown.
    pub returned: usize,
    /// Rows left out.
    pub truncated: bool,
    /// What was wrong with the log.
    pub problems: Vec<Problem>,
}

/// Contract of `gpu_runtime_monitor.analyze_thermal`.
pub struct AnalyzeThermal;

impl Contract for AnalyzeThermal {
    const NAME: &'static str = "gpu_runtime_monitor.analyze_thermal";
    type Input = AnalyzeThermalInput;
    type Output = AnalyzeThermalOutput;
}

/// Arguments of `gpu_runtime_monitor.analyze_thermal`: exactly one of `metrics` and `path`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalyzeThermalInput {
    /// An object with samples as the two readers return them.
    pub metrics: Option<Map<String, Value>>,
    /// Log file of amd-smi or rocm-smi, a path.
    pub path: Option<String>,
    /// Temperature limit of the board, degrees C.
    #[schemars(range(min = 40.0, max = 150.0), extend("default" = 105.0))]
    pub tjmax_c: Option<f64>,
    /// Power limit of the board, W; 0 = unknown.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub tdp_w: f64,
    /// Architecture such as gfx942; gives the power limit when tdp_w is 0.
    pub gfx_id: Option<String>,
    /// Product such as MI300A, when the architecture has several.
    pub sku: Option<String>,
}

/// Whether the GPU was slowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThermalVerdict {
    /// It was.
    Throttling,
    /// It was close to it.
    Hot,
    /// It was not.
    Healthy,
    /// Nothing was seen that could tell.
    Unknown,
}

/// One GPU.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GpuThermal {
    /// Index.
    pub gpu_id: i64,
    /// Whether it was slowed.
    pub verdict: ThermalVerdict,
    /// `reported`, `temperature`, `power`.
    pub throttle_evidence: Vec<&'static str>,
    /// °C.
    pub max_temp_c: Option<f64>,
    /// °C.
    pub avg_temp_c: Option<f64>,
    /// °C.
    pub p95_temp_c: Option<f64>,
    /// °C below the limit.
    pub thermal_headroom_c: Option<f64>,
    /// W.
    pub max_power_w: Option<f64>,
    /// Samples at the limit.
    pub throttle_events: usize,
    /// Power reached the limit.
    pub power_throttle_suspected: bool,
}

/// Answer of `gpu_runtime_monitor.analyze_thermal`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalyzeThermalOutput {
    /// Whether the GPU was slowed.
    pub verdict: ThermalVerdict,
    /// `reported`, `temperature`, `power`.
    pub throttle_evidence: Vec<&'static str>,
    /// °C of the governing sensor.
    pub max_temp_c: Option<f64>,
    /// °C of the governing sensor.
    pub avg_temp_c: Option<f64>,
    /// °C of the governing sensor.
    pub p95_temp_c: Option<f64>,
    /// °C below the limit.
    pub thermal_headroom_c: Option<f64>,
    /// W.
    pub max_power_w: Option<f64>,
    /// Samples at the limit.
    pub throttle_events: usize,
    /// Power reached the limit.
    pub power_throttle_suspected: bool,
    /// `junction`, `edge` or `none`.
    pub sensor: &'static str,
    /// Which sensor met which limit.
    pub limit_basis: &'static str,
    /// Clock drop while busy, percent.
    pub clock_drop_pct: Option<f64>,
    /// Temperature limit used, C.
    pub tjmax_c: f64,
    /// Power limit used, W; 0 = unknown.
    pub tdp_w: f64,
    /// Usable samples.
    pub samples: usize,
    /// First to last timestamp, s.
    pub duration_s: Option<f64>,
    /// Per GPU, at most 64.
    pub per_gpu: Vec<GpuThermal>,
    /// Warnings, and why figures are null.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
