//! `memory`: severity of cache hit rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `memory.classify_cache_performance`.
pub struct ClassifyCachePerformance;

impl Contract for ClassifyCachePerformance {
    const NAME: &'static str = "memory.classify_cache_performance";
    type Input = ClassifyCachePerformanceInput;
    type Output = ClassifyCachePerformanceOutput;
}

/// Arguments of `memory.classify_cache_performance`; at least one of the two rates.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyCachePerformanceInput {
    /// Hit rate of the vector L1, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub l1_hit_rate: Option<f64>,
    /// Hit rate of the L2, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub l2_hit_rate: Option<f64>,
    /// Achieved over peak memory bandwidth, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub hbm_bw_utilization: Option<f64>,
}

/// How bad a hit rate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// At or above the good bound.
    Good,
    /// Between the bounds.
    Warn,
    /// Below the warning bound.
    Critical,
}

/// Whether the misses matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// Bandwidth is used up as well.
    Likely,
    /// Bandwidth is not used up.
    Unlikely,
    /// Cannot be told.
    Unknown,
}

/// The two bounds of one cache, fractions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Bounds {
    /// From here on good.
    pub good: f64,
    /// Below this critical.
    pub warn: f64,
}

/// One cache level.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Level {
    /// How bad it is.
    pub severity: Severity,
    /// As sent, a fraction.
    pub hit_rate: f64,
    /// The bound that decided, a fraction.
    pub threshold_used: f64,
    /// Both bounds.
    pub thresholds: Bounds,
}

/// Answer of `memory.classify_cache_performance`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyCachePerformanceOutput {
    /// The worse of the known levels.
    pub overall_severity: Severity,
    /// Whether the misses matter.
    pub impact: Impact,
    /// Why.
    pub impact_reason: String,
    /// Vector L1; null when no rate was sent.
    pub l1: Option<Level>,
    /// Why there is no L1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l1_reason: Option<&'static str>,
    /// L2; null when no rate was sent.
    pub l2: Option<Level>,
    /// Why there is no L2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l2_reason: Option<&'static str>,
}
