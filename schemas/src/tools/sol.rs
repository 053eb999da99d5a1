//! `sol`: speed-of-light checks of claims and utilisations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `sol.sanity_check`.
pub struct SanityCheck;

impl Contract for SanityCheck {
    const NAME: &'static str = "sol.sanity_check";
    type Input = SanityCheckInput;
    type Output = SanityCheckOutput;
}

/// Arguments of `sol.sanity_check`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SanityCheckInput {
    /// Claimed throughput, FLOP/s (OP/s for int8).
    #[schemars(range(min = 0.0))]
    pub achieved_flops_per_sec: f64,
    /// Format: fp64 fp32 fp16 bf16 fp8 int8 fp64_matrix fp32_matrix xf32 fp4.
    pub kernel_type: String,
    /// Architecture such as gfx942.
    pub gfx_id: String,
    /// Product such as MI300A, when the architecture has several.
    pub sku: Option<String>,
    /// Compute units of the device, a count; picks the product.
    #[schemars(range(min = 1, max = 1024))]
    pub cu_count: Option<u32>,
    /// Devices behind the claim, a count.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub devices: u32,
    /// Claimed memory traffic, bytes/s.
    #[schemars(range(min = 0.0))]
    pub achieved_bytes_per_sec: Option<f64>,
}

const fn one() -> u32 {
    1
}

/// Answer of `sol.sanity_check`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SanityCheckOutput {
    /// Physically possible.
    pub plausible: bool,
    /// Why, with both figures.
    pub reason: String,
    /// Peak of the named type, FLOP/s.
    pub sol_peak: f64,
    /// Best peak of the format, FLOP/s.
    pub absolute_peak: f64,
    /// Claim over the best peak, a fraction.
    pub fraction_of_peak: f64,
    /// Only the matrix pipe can do it.
    pub needs_matrix: bool,
    /// Memory traffic is possible; null when none was claimed.
    pub bandwidth_plausible: Option<bool>,
    /// Why there is no such verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_plausible_reason: Option<&'static str>,
    /// Product the peaks are of.
    pub sku: String,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Contract of `sol.classify_utilization`.
pub struct ClassifyUtilization;

impl Contract for ClassifyUtilization {
    const NAME: &'static str = "sol.classify_utilization";
    type Input = ClassifyUtilizationInput;
    type Output = ClassifyUtilizationOutput;
}

/// A utilisation with bounds of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum UtilizationMetric {
    /// Vector ALU.
    ValuUtil,
    /// Matrix pipe.
    MfmaUtil,
    /// Memory bandwidth.
    HbmUtil,
    /// L2 bandwidth.
    L2Util,
    /// Resident waves.
    Occupancy,
}

/// Arguments of `sol.classify_utilization`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyUtilizationInput {
    /// Utilisation, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub pct: f64,
    /// What it is a utilisation of, a name; picks the bounds.
    pub metric: Option<UtilizationMetric>,
}

/// Bucket of a utilisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// At or above the high bound.
    High,
    /// At or above the medium bound.
    Medium,
    /// Below both.
    Low,
}

/// The bounds used, fractions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UtilizationBounds {
    /// From here on high.
    pub high: f64,
    /// From here on medium.
    pub medium: f64,
}

/// Answer of `sol.classify_utilization`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyUtilizationOutput {
    /// The bucket.
    pub category: Category,
    /// 1 minus the utilisation, a fraction.
    pub headroom_pct: f64,
    /// Bounds used, fractions.
    pub thresholds: UtilizationBounds,
}
