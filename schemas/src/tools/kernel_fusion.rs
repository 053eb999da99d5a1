//! `kernel_fusion`: kernels that could become one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::TraceHealth;

/// Contract of `kernel_fusion.find_fusion_candidates`.
pub struct FindFusionCandidates;

impl Contract for FindFusionCandidates {
    const NAME: &'static str = "kernel_fusion.find_fusion_candidates";
    type Input = FindFusionCandidatesInput;
    type Output = FindFusionCandidatesOutput;
}

/// Arguments of `kernel_fusion.find_fusion_candidates`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindFusionCandidatesInput {
    /// rocpd file or folder, a path.
    #[schemars(length(max = 4096))]
    pub db_path: String,
    /// Longest gap inside a pair, ns.
    #[serde(default = "max_gap_ns")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_gap_ns: u64,
    /// Fewest occurrences of a pair, a count.
    #[serde(default = "min_count")]
    #[schemars(range(min = 1))]
    pub min_count: u64,
    /// Pairs to return, a count.
    #[serde(default = "twenty")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: usize,
    /// Pairs to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: usize,
}

const fn max_gap_ns() -> u64 {
    500
}

const fn min_count() -> u64 {
    2
}

const fn twenty() -> usize {
    20
}

/// Two kernels that follow each other.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FusionPair {
    /// Names, in order.
    pub pair: [String; 2],
    /// 12 hex digits that name the pair.
    pub signature: String,
    /// Occurrences.
    pub count: u64,
    /// Mean gap, ns.
    pub gap_ns: u64,
    /// Speed-up of the pair when only the gap goes.
    pub est_speedup_lo: f64,
    /// Speed-up of the pair when the intermediate stays in registers too.
    pub est_speedup_hi: f64,
    /// 0 to 0.9.
    pub confidence: f64,
    /// Fusable pattern the names form, or null.
    pub pattern: Option<String>,
    /// Mean duration of the first, ns.
    pub first_mean_ns: u64,
    /// Mean duration of the second, ns.
    pub second_mean_ns: u64,
    /// Mean of both with the gap, ns.
    pub total_ns: u64,
    /// Low saving of all occurrences, ns.
    pub saving_lo_ns: u64,
    /// High saving of all occurrences, ns.
    pub saving_hi_ns: u64,
    /// Speed-up of the program with the high saving; null when it is not below the run's time.
    pub program_speedup_hi: Option<f64>,
    /// Grid and workgroup agree in nearly all occurrences.
    pub same_grid: bool,
    /// What a trace cannot show.
    pub data_dependency: String,
}

/// A kernel launched many times in a row.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RepeatedKernel {
    /// Kernel.
    pub name: String,
    /// Runs of 8 launches or more.
    pub runs: u64,
    /// Launches in them.
    pub launches: u64,
    /// Longest run, launches.
    pub longest_run: u64,
    /// Summed gaps inside the runs, ns.
    pub total_gap_ns: u64,
}

/// Answer of `kernel_fusion.find_fusion_candidates`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FindFusionCandidatesOutput {
    /// Pairs in all.
    pub total: u64,
    /// Pairs returned.
    pub returned: u64,
    /// Whether more exist.
    pub truncated: bool,
    /// All pairs together at most, ns.
    pub program_saving_hi_ns: u64,
    /// Speed-up that means; null when the saving is not below the run's time.
    pub program_speedup_hi: Option<f64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_speedup_hi_reason: Option<String>,
    /// Pairs by high saving.
    pub items: Vec<FusionPair>,
    /// Kernels launched in long runs.
    pub repeated_kernels: Vec<RepeatedKernel>,
    /// Such kernels in all.
    pub repeated_kernels_total: u64,
    /// State of the trace.
    pub trace_health: TraceHealth,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
