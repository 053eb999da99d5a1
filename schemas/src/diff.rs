//! The diff document: the answer of `trace_diff.diff_runs`, a section of the report, and the body of the CI gate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace_health::TraceHealth;

/// Two runs compared. Every `_pct` is percent with 4 decimals; decisions use unrounded values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiffDocument {
    /// Version of this document.
    pub schema_version: String,
    /// improved, regressed, neutral or inconclusive, by elapsed time.
    pub verdict: String,
    /// The limit of the verdict, percent.
    pub verdict_threshold_pct: f64,
    /// New minus baseline elapsed time, ns; null when a side is empty.
    pub wall_delta_ns: Option<i64>,
    /// Percent of the baseline; null when it is 0 or a side is empty.
    pub wall_delta_pct: Option<f64>,
    /// Elapsed time of the baseline, median over runs, ns.
    pub baseline_wall_ns: u64,
    /// Elapsed time of the new side, median over runs, ns.
    pub new_wall_ns: u64,
    /// New minus baseline summed kernel time, ns; null when a side is empty.
    pub kernel_time_delta_ns: Option<i64>,
    /// Percent of the baseline; null when it is 0 or a side is empty.
    pub kernel_time_delta_pct: Option<f64>,
    /// Summed kernel time of the baseline, ns.
    pub baseline_kernel_ns: u64,
    /// Summed kernel time of the new side, ns.
    pub new_kernel_ns: u64,
    /// No blocking issue.
    pub trustworthy: bool,
    /// The runs give an interval.
    pub noise_known: bool,
    /// Verdict of the kernel-aware rules.
    pub kernel_verdict: String,
    /// The rule that decided it.
    pub kernel_rule: String,
    /// In sentences.
    pub narrative: String,
    /// Whether the runs can be compared.
    pub comparability: Comparability,
    /// Runs per side.
    pub runs: RunCounts,
    /// Jaccard index of the two hot sets, 2 decimals.
    pub hot_set_jaccard: Option<f64>,
    /// Kernels faster than memory allows; null when no bytes were counted.
    pub impossible_speed: Option<Vec<ImpossibleSpeed>>,
    /// Why it is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible_speed_reason: Option<String>,
    /// By time lost, at most 50.
    pub primary_regressions: Vec<KernelDelta>,
    /// Before the cut.
    pub primary_regressions_total: u64,
    /// By time won, at most 50.
    pub primary_improvements: Vec<KernelDelta>,
    /// Before the cut.
    pub primary_improvements_total: u64,
    /// Union of names by baseline time.
    pub per_kernel: Vec<KernelDelta>,
    /// Before the cut.
    pub per_kernel_total: u64,
    /// Whether rows were cut.
    pub truncated: bool,
    /// Only in the new side, at most 50.
    pub added_kernels: Vec<KernelDelta>,
    /// Before the cut.
    pub added_kernels_total: u64,
    /// Only in the baseline, at most 50.
    pub removed_kernels: Vec<KernelDelta>,
    /// Before the cut.
    pub removed_kernels_total: u64,
    /// Removed and added kernels whose names agree up to template arguments, at most 10.
    pub possible_renames: Vec<Rename>,
    /// The gate, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// First path of the baseline, as given.
    pub baseline_db: String,
    /// First path of the new side, as given.
    pub new_db: String,
    /// What to read with care.
    pub warnings: Vec<String>,
    /// Health of both sides.
    pub trace_health: SideHealth,
}

/// Health per side; of several runs together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideHealth {
    /// Of the baseline.
    pub baseline: TraceHealth,
    /// Of the new side.
    pub new: TraceHealth,
}

/// One kernel on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelDelta {
    /// Full name.
    pub name: String,
    /// changed, added or removed.
    pub status: String,
    /// Summed time, ns.
    pub baseline_ns: u64,
    /// Summed time, ns.
    pub new_ns: u64,
    /// New minus baseline, ns.
    pub delta_ns: i64,
    /// Percent of its baseline; null for added, -100 for removed.
    pub delta_pct: Option<f64>,
    /// Percent of the baseline's summed kernel time.
    pub contribution_pct: Option<f64>,
    /// Its own time, percent of its side's summed kernel time (the new side's for an added kernel).
    pub share_pct: Option<f64>,
    /// Calls.
    pub baseline_calls: u64,
    /// Calls.
    pub new_calls: u64,
    /// Change of the mean call, percent.
    pub per_call_delta_pct: Option<f64>,
    /// Whether it is in `primary_regressions`.
    pub regressed: bool,
    /// Whether it was hot in the baseline.
    pub was_hot: bool,
    /// Whether the means differ by more than their spread; null with one call.
    pub significant: Option<bool>,
}

/// Runs per side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunCounts {
    /// Runs.
    pub baseline: u64,
    /// Runs.
    pub new: u64,
}

/// Whether two sides can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparability {
    /// ok, limited or incomparable.
    pub status: String,
    /// What was found.
    pub issues: Vec<ComparabilityIssue>,
    /// Kernel time of kernels on both sides, percent of each side.
    pub common_kernel_time_pct: SidePercent,
    /// Work-items launched, new ÷ baseline, by kernels on both sides.
    pub work_ratio: Option<f64>,
    /// GPUs of each side.
    pub gpus: SideGpus,
    /// Calls, new ÷ baseline, of kernels on both sides; only where a kernel-aware comparison shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ratio: Option<f64>,
}

/// One finding about comparability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparabilityIssue {
    /// Stable code.
    pub code: String,
    /// note, warning or blocking.
    pub severity: String,
    /// baseline, new, or null for both.
    pub side: Option<String>,
    /// One sentence.
    pub text: String,
}

/// A percentage per side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SidePercent {
    /// Percent.
    pub baseline: Option<f64>,
    /// Percent.
    pub new: Option<f64>,
}

/// GPUs per side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SideGpus {
    /// Kinds of GPU.
    pub baseline: Vec<GpuKind>,
    /// Kinds of GPU.
    pub new: Vec<GpuKind>,
}

/// A kind of GPU and how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GpuKind {
    /// Architecture id.
    pub gfx_id: Option<String>,
    /// Product name.
    #[serde(default)]
    pub name: Option<String>,
    /// Compute units.
    pub cu_count: Option<u64>,
    /// How many.
    pub count: u64,
}

/// A kernel that moves its bytes faster than memory can.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImpossibleSpeed {
    /// Full name.
    pub name: String,
    /// baseline or new.
    pub side: String,
    /// Bytes counted.
    pub bytes: u64,
    /// Time, ns.
    pub duration_ns: u64,
    /// 1e9 bytes per second.
    pub gbps: f64,
    /// What the GPU allows, 1e9 bytes per second.
    pub limit_gbps: f64,
}

/// A removed and an added kernel that look like one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rename {
    /// Name in the baseline.
    pub from: String,
    /// Name in the new side.
    pub to: String,
}

/// The regression gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// pass, regressed or no_verdict.
    pub verdict: String,
    /// 0, 1 or 3.
    pub exit_code: u8,
    /// False without a verdict.
    pub trustworthy: bool,
    /// True when an interval was computed.
    pub noise_known: bool,
    /// Why; empty only for a pass.
    pub reasons: Vec<GateReason>,
    /// point or rank_interval.
    pub method: String,
    /// Runs per side.
    pub runs: GateRuns,
    /// Limit of the wall gate, percent.
    pub threshold_pct: f64,
    /// flag, env, config or default.
    pub threshold_source: String,
    /// Limit of the kernel gate, percent; null when off.
    pub kernel_threshold_pct: Option<f64>,
    /// Kernels below this share are not gated, percent.
    pub min_time_share_pct: f64,
    /// A smaller slow-down never fails, ns.
    pub min_delta_ns: u64,
    /// Asked for, percent.
    pub requested_confidence: f64,
    /// Elapsed time.
    pub wall: GateWall,
    /// Kernels, gated first, at most 100.
    pub kernels: Vec<GateKernel>,
    /// Before the cut.
    pub kernels_total: u64,
    /// Of them gated.
    pub kernels_gated: u64,
}

/// Why the gate decided so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateReason {
    /// Stable code.
    pub code: String,
    /// One sentence.
    pub text: String,
}

/// Runs per side, and how many an interval needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateRuns {
    /// Runs.
    pub baseline: u64,
    /// Runs.
    pub candidate: u64,
    /// Runs per side that give an interval.
    pub needed_for_interval: u64,
}

/// The wall gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateWall {
    /// In the order given, ns.
    pub baseline_ns: Vec<u64>,
    /// In the order given, ns.
    pub candidate_ns: Vec<u64>,
    /// Median, ns.
    pub baseline_median_ns: u64,
    /// Median, ns.
    pub candidate_median_ns: u64,
    /// Candidate minus baseline, ns; null when a side is empty.
    pub delta_ns: Option<i64>,
    /// Percent.
    pub delta_pct: Option<f64>,
    /// Lower end, percent.
    pub ci_low_pct: Option<f64>,
    /// Upper end, percent.
    pub ci_high_pct: Option<f64>,
    /// Reached, fraction.
    pub confidence: Option<f64>,
    /// Percent.
    pub smallest_detectable_change_pct: Option<f64>,
    /// 100·(max − min) ÷ median.
    pub baseline_spread_pct: Option<f64>,
    /// 100·(max − min) ÷ median.
    pub candidate_spread_pct: Option<f64>,
    /// pass, regressed or no_verdict.
    pub verdict: String,
}

/// One kernel of the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateKernel {
    /// Full name.
    pub name: String,
    /// Percent of the baseline's kernel time.
    pub time_share_pct: Option<f64>,
    /// Median, ns.
    pub baseline_median_ns: u64,
    /// Median, ns.
    pub candidate_median_ns: u64,
    /// Median calls.
    pub baseline_calls: u64,
    /// Median calls.
    pub candidate_calls: u64,
    /// Whether they differ by more than 1 %.
    pub calls_changed: bool,
    /// Percent.
    pub delta_pct: Option<f64>,
    /// Lower end, percent.
    pub ci_low_pct: Option<f64>,
    /// Upper end, percent.
    pub ci_high_pct: Option<f64>,
    /// Reached, fraction.
    pub confidence: Option<f64>,
    /// regressed, unclear, improved, pass, added, removed or not_gated.
    pub verdict: String,
}
