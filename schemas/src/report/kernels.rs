//! Kernel rows of the report: hotspots, categories, short kernels, warm-up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kernel over all GPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hotspot {
    /// Place by total time, from 1.
    pub rank: u64,
    /// Cleaned full name.
    pub name: String,
    /// Name without return type and parameter list.
    pub short_name: String,
    /// Calls kept.
    pub calls: u64,
    /// Summed duration, ns.
    pub total_duration_ns: u64,
    /// Mean duration, ns, 1 decimal.
    pub avg_duration_ns: f64,
    /// Shortest, ns.
    pub min_duration_ns: u64,
    /// Longest, ns.
    pub max_duration_ns: u64,
    /// Median, ns.
    pub median_duration_ns: u64,
    /// 95th percentile, ns.
    pub p95_duration_ns: u64,
    /// Sample standard deviation, ns, 1 decimal.
    pub stddev_ns: f64,
    /// Percent of the summed time of all kernels, unfiltered.
    pub pct_of_total: f64,
    /// Union of this kernel's intervals, percent of the summed windows.
    pub pct_of_runtime: f64,
    /// CRITICAL, HOT, WARM or COOL, by `pct_of_total`.
    pub severity: String,
    /// Kind of work, by name.
    pub category: String,
    /// user, runtime or collective.
    pub kind: String,
    /// The whole name, when `name` is shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
    /// GPUs that ran it.
    pub agents: u64,
    /// Fraction of all kernel-busy time during which only this kernel runs.
    pub busy_share: Option<f64>,
    /// The most frequent launch shape.
    pub launch_bounds: LaunchBounds,
    /// Name as used in anchors.
    pub slug: String,
    /// `total_duration_ns` under the original's name.
    pub total_duration: u64,
    /// `avg_duration_ns` under the original's name.
    pub avg_duration: f64,
    /// `min_duration_ns` under the original's name.
    pub min_duration: u64,
    /// `max_duration_ns` under the original's name.
    pub max_duration: u64,
    /// `pct_of_total` under the original's name.
    pub percent_of_total: f64,
    /// Where it stands in the source; only when a scan ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_locations: Option<Vec<SourceLocation>>,
}

/// A launch shape.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchBounds {
    /// Work-items per workgroup, such as 256x1x1.
    pub workgroup: Option<String>,
    /// Workgroups, such as 4096x1x1.
    pub grid: Option<String>,
    /// Distinct shapes.
    pub shapes: u64,
}

/// A definition or launch site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceLocation {
    /// Path relative to the scanned folder.
    pub file: String,
    /// Line from 1.
    pub line: u64,
    /// definition or launch.
    pub kind: String,
    /// How it was written, such as TRIPLE_ANGLE_LAUNCH.
    pub launch_type: String,
    /// exact, base_name or ambiguous.
    #[serde(rename = "match")]
    pub matched: String,
}

/// Slow first calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmupIssues {
    /// Whether there is an outlier.
    pub has_warmup_issues: bool,
    /// The outliers.
    pub outliers: Vec<WarmupOutlier>,
}

/// A kernel whose first call was slow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmupOutlier {
    /// The kernel.
    pub kernel_name: String,
    /// Its calls.
    pub calls: u64,
    /// First call, ns.
    pub first_duration_ns: u64,
    /// Median of the others, ns.
    pub median_rest_ns: u64,
    /// Mean of all, ns, 1 decimal.
    pub avg_duration_ns: f64,
    /// First ÷ median of the rest, 2 decimals.
    pub ratio: f64,
    /// First minus median of the rest, ns.
    pub extra_ns: u64,
}

/// Kernel time by category.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCategories {
    /// Rows by time.
    pub categories: Vec<CategoryRow>,
}

/// One category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CategoryRow {
    /// Its name.
    pub category: String,
    /// Distinct kernels.
    pub kernels: u64,
    /// Calls.
    pub calls: u64,
    /// Summed time, ns.
    pub total_ns: u64,
    /// Percent of summed kernel time.
    pub pct_of_kernel_time: f64,
}

/// Dispatches shorter than a launch pays for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShortKernels {
    /// Shorter than this counts, µs.
    pub threshold_us: f64,
    /// Short dispatches.
    pub count: u64,
    /// Their summed time, ns.
    pub total_ns: u64,
    /// Percent of all dispatches.
    pub pct_of_dispatches: f64,
    /// Percent of summed kernel time.
    pub pct_of_kernel_time: f64,
    /// Equal to `pct_of_kernel_time`, the original's name.
    pub wasted_pct_of_kernel_time: f64,
    /// Median duration of all dispatches, ns.
    pub median_ns: Option<u64>,
    /// Neighbouring pairs that could be one kernel.
    pub fusion_candidates: Vec<FusionCandidate>,
    /// Pairs before the cut.
    pub fusion_candidates_total: u64,
}

/// Two short kernels that run back to back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FusionCandidate {
    /// First and second kernel.
    pub pair: Vec<String>,
    /// How often.
    pub count: u64,
    /// Median gap, ns.
    pub gap_ns_median: u64,
    /// Known pattern, a fact id.
    pub pattern: Option<String>,
    /// Summed gaps, ns.
    pub max_saving_ns: u64,
    /// Percent of the run.
    pub max_saving_pct: f64,
    /// What to check first.
    pub note: String,
}
