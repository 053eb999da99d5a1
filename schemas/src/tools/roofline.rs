//! `roofline`: compute- or memory-bound, from operations and bytes or from a trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

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
