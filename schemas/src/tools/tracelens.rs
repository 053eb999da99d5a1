//! `tracelens`: idle and short-kernel waste, and the catalogue of timeline metrics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `tracelens.classify_overhead`.
pub struct ClassifyOverhead;

impl Contract for ClassifyOverhead {
    const NAME: &'static str = "tracelens.classify_overhead";
    type Input = ClassifyOverheadInput;
    type Output = ClassifyOverheadOutput;
}

/// Arguments of `tracelens.classify_overhead`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyOverheadInput {
    /// Share of wall time the GPU is idle, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub idle_pct: f64,
    /// Share of kernel time in kernels shorter than 10 us, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub wasted_pct: f64,
}

/// How bad a share is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth acting on.
    High,
    /// Worth measuring.
    Medium,
    /// Fine.
    Low,
}

/// The limits of both severities, fractions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Thresholds {
    /// Idle share that is high.
    pub idle_high: f64,
    /// Idle share that is medium.
    pub idle_medium: f64,
    /// Short-kernel share that is high.
    pub wasted_high: f64,
    /// Short-kernel share that is medium.
    pub wasted_medium: f64,
}

/// Answer of `tracelens.classify_overhead`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyOverheadOutput {
    /// Of the idle share.
    pub idle_severity: Severity,
    /// Of the short-kernel share.
    pub wasted_severity: Severity,
    /// As sent, a fraction.
    pub idle_pct: f64,
    /// As sent, a fraction.
    pub wasted_pct: f64,
    /// What to do, in order.
    pub recommended_actions: Vec<String>,
    /// Limits used, fractions.
    pub thresholds: Thresholds,
}

/// Contract of `tracelens.lookup_metrics`.
pub struct LookupMetrics;

impl Contract for LookupMetrics {
    const NAME: &'static str = "tracelens.lookup_metrics";
    type Input = LookupMetricsInput;
    type Output = LookupMetricsOutput;
}

/// `tracelens.lookup_metrics` takes no arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupMetricsInput {}

/// One metric of the timeline.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TimelineMetric {
    /// Its key.
    pub name: String,
    /// `percent`.
    pub unit: String,
    /// What it counts.
    pub description: String,
}

/// One class of kernels by name.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KernelCategory {
    /// Its name.
    pub name: String,
    /// Words looked for in the lower-cased base name, first match wins.
    pub patterns: Vec<String>,
    /// What usually helps.
    pub hint: String,
}

/// What counts as a short kernel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShortKernels {
    /// Shorter than this, µs.
    pub threshold_us: f64,
    /// Metrics formed from them.
    pub metrics: Vec<String>,
    /// Share that warns, a fraction.
    pub warn: f64,
}

/// Answer of `tracelens.lookup_metrics`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupMetricsOutput {
    /// Shares of the timeline.
    pub interval_timeline: Vec<TimelineMetric>,
    /// Kernel classes in match order.
    pub kernel_categories: Vec<KernelCategory>,
    /// What counts as a short kernel.
    pub short_kernels: ShortKernels,
    /// Limits, fractions.
    pub thresholds: Thresholds,
    /// Percent here, fractions there.
    pub units_note: String,
}
