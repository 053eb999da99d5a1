//! `roofline`: compute- or memory-bound, from operations and bytes or from a trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::Contract;
use crate::report::hardware::{Peaks, Ridge};
use crate::trace_health::TraceHealth;

/// Contract of `roofline.classify`.
pub struct Classify;

impl Contract for Classify {
    const NAME: &'static str = "roofline.classify";
    type Input = ClassifyInput;
    type Output = ClassifyOutput;
}

/// Number format of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dtype {
    /// 64-bit floats.
    Fp64,
    /// 32-bit floats.
    #[default]
    Fp32,
    /// 16-bit floats.
    Fp16,
    /// 16-bit brain floats.
    Bf16,
    /// 8-bit floats.
    Fp8,
    /// 8-bit integers.
    Int8,
}

/// Arguments of `roofline.classify`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyInput {
    /// Operations of the kernel, FLOP (OP for int8).
    #[schemars(range(min = 0.0))]
    pub flops: f64,
    /// Memory traffic of the kernel, bytes, above 0.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub bytes: f64,
    /// Architecture such as gfx942.
    pub gfx_id: String,
    /// Number format of the operations, a name.
    #[serde(default)]
    pub dtype: Dtype,
    /// Duration of the kernel, ns; needed for the distance to the roof.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_ns: Option<f64>,
    /// Product such as MI300A, when the architecture has several.
    pub sku: Option<String>,
    /// Compute units of the device, a count; picks the product.
    #[schemars(range(min = 1, max = 1024))]
    pub cu_count: Option<u32>,
}

/// Side of the ridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// Above it.
    Compute,
    /// Below it.
    Memory,
    /// At it.
    Balanced,
}

/// Answer of `roofline.classify`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyOutput {
    /// FLOP/byte.
    pub arithmetic_intensity: f64,
    /// FLOP/byte at the ridge.
    pub ridge_point: f64,
    /// Side of the ridge.
    pub regime: Regime,
    /// 1 − achieved ÷ attainable, a fraction; null without a duration or above the roof.
    pub distance_to_roof: Option<f64>,
    /// Why there is no distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance_to_roof_reason: Option<String>,
    /// Intensity over ridge.
    pub ridge_ratio: f64,
    /// Number format used.
    pub dtype: Dtype,
    /// Roof at this intensity, FLOP/s.
    pub attainable_flops_per_s: f64,
    /// FLOP/s; null without a duration.
    pub achieved_flops_per_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub achieved_flops_per_s_reason: Option<&'static str>,
    /// Compute peak, FLOP/s.
    pub peak_flops_per_s: f64,
    /// Memory peak, bytes/s.
    pub bandwidth_bytes_per_s: f64,
    /// Product the peaks are of.
    pub sku: String,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Contract of `roofline.plot_points`.
pub struct PlotPoints;

impl Contract for PlotPoints {
    const NAME: &'static str = "roofline.plot_points";
    type Input = PlotPointsInput;
    type Output = PlotPointsOutput;
}

/// Points of an answer unless the caller asks for more.
fn ten() -> u32 {
    10
}

/// Arguments of `roofline.plot_points`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlotPointsInput {
    /// rocpd file or folder of one run.
    pub db_path: String,
    /// Points to return, a count.
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = 500))]
    pub top_k: u32,
    /// Points to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: u64,
    /// Only the kernel of this name.
    pub kernel: Option<String>,
    /// Only the dispatch with this id.
    #[schemars(range(min = 0))]
    pub dispatch_id: Option<i64>,
    /// Format if counters do not tell: fp64 fp32 fp16 bf16 fp8 int8.
    pub dtype_hint: Option<String>,
    /// Product such as MI300A, when the architecture has several.
    pub sku: Option<String>,
}

/// Answer of `roofline.plot_points`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlotPointsOutput {
    /// Layout version.
    pub schema_version: &'static str,
    /// Architecture with most kernel time; null when not recorded.
    pub arch: Option<String>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch_reason: Option<&'static str>,
    /// Product the peaks are of; null for an unknown architecture.
    pub sku: Option<String>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku_reason: Option<&'static str>,
    /// What chose it: sku, name, device_id, cu_count or default.
    pub sku_selected_by: Option<&'static str>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku_selected_by_reason: Option<&'static str>,
    /// Peak of each format, operations per second; null for an unknown architecture.
    pub arch_peaks: Option<Peaks>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch_peaks_reason: Option<&'static str>,
    /// Peak memory bandwidth, bytes/s; null when not known.
    pub hbm_bandwidth_bytes_per_s: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hbm_bandwidth_bytes_per_s_reason: Option<&'static str>,
    /// Format with most kernel time.
    pub dtype: String,
    /// from_counters, hint, from_kernel_name or default.
    pub dtype_confidence: String,
    /// Ridge of that format: FLOP/byte, FLOP/s; null when not known.
    pub ridge_point: Option<Ridge>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge_point_reason: Option<&'static str>,
    /// Ridge of each format, FLOP/byte; null when not known.
    pub ridge_points: Option<Peaks>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge_points_reason: Option<&'static str>,
    /// Points by duration_pct descending, then name.
    pub kernels: Vec<PlotPoint>,
    /// Points in all.
    pub total: usize,
    /// Points in this answer.
    pub returned: usize,
    /// More points follow.
    pub truncated: bool,
    /// Kernels without a point, by name.
    pub skipped: Vec<SkippedKernel>,
    /// Kernels without a point, all.
    pub skipped_total: usize,
    /// Other architectures and their kernels with counters.
    pub other_archs: Vec<OtherArch>,
    /// Counters nothing is known about.
    pub ignored_counters: Vec<String>,
    /// Counters not collected that would tell more.
    pub missing: Vec<String>,
    /// State of the trace.
    pub trace_health: TraceHealth,
    /// What to beware of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A kernel on the roofline.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlotPoint {
    /// The kernel.
    pub name: String,
    /// Operations per byte, 4 decimals.
    pub ai: f64,
    /// Operations per second; null for dispatches without duration.
    pub achieved_flops_per_s: Option<f64>,
    /// Floating-point operations of its dispatches.
    pub flops: f64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Their time, ns.
    pub duration_ns: u64,
    /// Percent of all kernel time, 2 decimals.
    pub duration_pct: f64,
    /// Format of most operations.
    pub fp_type: String,
    /// compute, memory, balanced or unknown.
    pub bottleneck_class: String,
    /// high or low.
    pub confidence: String,
    /// Where the format comes from.
    pub dtype_source: String,
    /// typed or estimate.
    pub flops_source: String,
    /// Integer operations of the matrix units.
    pub int_ops: f64,
    /// Operations by format, where counted.
    pub flops_by_type: BTreeMap<String, f64>,
    /// Ridge of its mix of operations, FLOP/byte, 1 decimal.
    pub ridge_ai: Option<f64>,
    /// Operations per second the lower roof allows.
    pub roof_flops_per_s: Option<f64>,
    /// Percent of that, 1 decimal; null above 100.
    pub pct_of_roof: Option<f64>,
    /// Dispatches counted.
    pub dispatches: u64,
    /// matrix, vector or mixed.
    pub pipe: String,
    /// Why the class is unknown or the confidence low.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A kernel without a point.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SkippedKernel {
    /// The kernel.
    pub name: String,
    /// no_bytes, no_operations, negative_bytes or zero_counters.
    pub reason: String,
}

/// An architecture whose kernels are not drawn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OtherArch {
    /// Its id.
    pub arch: String,
    /// Kernels with counters on it.
    pub kernels: u64,
}
