//! `regression`: which kernels matter in a trace, and a kernel-aware verdict on a pair.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::diff::{Comparability, Rename};
use crate::trace_health::TraceHealth;

/// Contract of `regression.identify_hot_kernels`.
pub struct IdentifyHotKernels;

impl Contract for IdentifyHotKernels {
    const NAME: &'static str = "regression.identify_hot_kernels";
    type Input = TraceInput;
    type Output = HotKernels;
}

/// Contract of `regression.extract_kernel_runtimes_from_db`.
pub struct ExtractKernelRuntimes;

impl Contract for ExtractKernelRuntimes {
    const NAME: &'static str = "regression.extract_kernel_runtimes_from_db";
    type Input = TraceInput;
    type Output = KernelRuntimes;
}

/// Contract of `regression.compare_runs`.
pub struct CompareRuns;

impl Contract for CompareRuns {
    const NAME: &'static str = "regression.compare_runs";
    type Input = CompareRunsInput;
    type Output = RunComparison;
}

/// A trace and a page of its kernels.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceInput {
    /// A rocpd file, or the folder rocprofv3 wrote.
    pub db_path: String,
    /// Rows of items, a count.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: u32,
    /// Rows to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: u32,
}

const fn default_limit() -> u32 {
    50
}

/// Answer of `regression.identify_hot_kernels`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HotKernels {
    /// Hot kernels.
    pub total: u64,
    /// Rows in items.
    pub returned: u64,
    /// Whether rows exist beyond this page.
    pub truncated: bool,
    /// Summed kernel time, ns.
    pub kernel_sum_ns: u64,
    /// Distinct kernels.
    pub kernel_count: u64,
    /// Fraction of kernel time they cover.
    pub hot_share: f64,
    /// By time descending, then name.
    pub items: Vec<HotKernel>,
    /// What is wrong with the trace.
    pub trace_health: TraceHealth,
}

/// One hot kernel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HotKernel {
    /// Full name.
    pub name: String,
    /// Summed time, ns.
    pub total_ns: u64,
    /// Fraction of summed kernel time, unrounded.
    pub pct_total: f64,
    /// Calls.
    pub calls: u64,
    /// Mean call, ns.
    pub mean_ns: u64,
    /// user, runtime or collective.
    pub kind: String,
    /// coverage or share.
    pub reason: String,
}

/// Answer of `regression.extract_kernel_runtimes_from_db`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KernelRuntimes {
    /// Distinct kernels.
    pub total: u64,
    /// Rows in items.
    pub returned: u64,
    /// Whether rows exist beyond this page.
    pub truncated: bool,
    /// Summed kernel time, ns.
    pub kernel_sum_ns: u64,
    /// Union of kernels per GPU, added up, ns.
    pub gpu_busy_ns: u64,
    /// First to last GPU event, ns.
    pub wall_ns: u64,
    /// By time descending, then name.
    pub items: Vec<KernelRuntime>,
    /// What is wrong with the trace.
    pub trace_health: TraceHealth,
}

/// Time of one kernel.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KernelRuntime {
    /// Full name.
    pub kernel_name: String,
    /// Summed time, ns.
    pub total_runtime_ns: u64,
    /// Fraction of summed kernel time, unrounded.
    pub share: f64,
    /// Calls.
    pub calls: u64,
    /// Shortest call, ns.
    pub min_ns: u64,
    /// Mean call, ns.
    pub mean_ns: u64,
    /// Median call, ns.
    pub median_ns: u64,
    /// Longest call, ns.
    pub max_ns: u64,
    /// Sample standard deviation, ns; null for one call.
    pub stddev_ns: Option<f64>,
    /// user, runtime or collective.
    pub kind: String,
}

/// Arguments of `regression.compare_runs`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareRunsInput {
    /// The run before: a rocpd file, or the folder rocprofv3 wrote.
    pub db_before: String,
    /// The run after: a rocpd file, or the folder rocprofv3 wrote.
    pub db_after: String,
    /// Change of kernel time that is tolerated, percent (3 means 3 %).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0), extend("default" = 3.0))]
    pub threshold_pct: Option<f64>,
    /// Rows of per_kernel_deltas, a count.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: u32,
    /// Rows to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: u32,
    /// Compare what can be read of a damaged file instead of refusing it.
    #[serde(default)]
    pub allow_partial: bool,
}

/// Answer of `regression.compare_runs`. Every `_pct` is a fraction, negative = faster.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RunComparison {
    /// improved, regressed, neutral, inconclusive.
    pub verdict: String,
    /// Change of kernel time, a fraction; null when the run before has none.
    pub total_delta_pct: Option<f64>,
    /// Weighted geometric mean over common kernels, a fraction; null without any.
    pub weighted_geomean_delta_pct: Option<f64>,
    /// Change of elapsed time, a fraction.
    pub wall_delta_pct: Option<f64>,
    /// Change of the common kernels' time, a fraction; null without any.
    pub common_delta_pct: Option<f64>,
    /// The same at equal numbers of calls, a fraction; null without any.
    pub normalized_delta_pct: Option<f64>,
    /// The limit, a fraction.
    pub threshold_pct: f64,
    /// One sentence with both numbers.
    pub decided_by: String,
    /// Which rule decided.
    pub rule: String,
    /// Whether the runs can be compared.
    pub comparability: Comparability,
    /// Elapsed time, ns.
    pub wall_ns: BeforeAfter<u64>,
    /// Summed kernel time, ns.
    pub kernel_sum_ns: BeforeAfter<u64>,
    /// Kernels in both runs, by name.
    pub per_kernel_deltas: Vec<CommonKernel>,
    /// Hot kernels beyond their limit, by cost.
    pub hot_regressions: Vec<CommonKernel>,
    /// Before the cut.
    pub hot_regressions_total: u64,
    /// Kernels only after, by time.
    pub added_kernels: Vec<LoneKernel>,
    /// Before the cut.
    pub added_kernels_total: u64,
    /// Their time, ns.
    pub added_kernels_ns: u64,
    /// Kernels only before, by time.
    pub removed_kernels: Vec<LoneKernel>,
    /// Before the cut.
    pub removed_kernels_total: u64,
    /// Their time, ns.
    pub removed_kernels_ns: u64,
    /// Names that agree up to template arguments.
    pub possible_renames: Vec<Rename>,
    /// What to check before believing it.
    pub warnings: Vec<String>,
    /// Kernels in both runs.
    pub total: u64,
    /// Rows in per_kernel_deltas.
    pub returned: u64,
    /// Whether rows exist beyond this page.
    pub truncated: bool,
    /// What is wrong with the traces.
    pub trace_health: BeforeAfter<TraceHealth>,
}

/// A value of both runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BeforeAfter<T> {
    /// Of the run before.
    pub before: T,
    /// Of the run after.
    pub after: T,
}

/// One kernel in both runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommonKernel {
    /// Full name.
    pub kernel: String,
    /// Change of its time, a fraction; null when it took none before.
    pub delta_pct: Option<f64>,
    /// Whether it was hot before.
    pub was_hot: bool,
    /// Summed time, ns.
    pub before_ns: u64,
    /// Summed time, ns.
    pub after_ns: u64,
    /// Calls.
    pub calls_before: u64,
    /// Calls.
    pub calls_after: u64,
    /// Change over all kernel time before, a fraction.
    pub contribution_pct: Option<f64>,
    /// Whether the means differ by more than their spread; null with one call.
    pub significant: Option<bool>,
}

/// One kernel in one run only.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoneKernel {
    /// Full name.
    pub kernel: String,
    /// Summed time, ns.
    pub ns: u64,
    /// Calls.
    pub calls: u64,
}
