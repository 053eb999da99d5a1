//! `trace_diff`: a readable diff of two sides, decided on elapsed time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::diff::DiffDocument;

/// Contract of `trace_diff.diff_runs`.
pub struct DiffRuns;

impl Contract for DiffRuns {
    const NAME: &'static str = "trace_diff.diff_runs";
    type Input = DiffRunsInput;
    type Output = DiffDocument;
}

/// Arguments of `trace_diff.diff_runs`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffRunsInput {
    /// The run compared against: a rocpd file, or the folder rocprofv3 wrote.
    pub baseline_db: String,
    /// The run compared: a rocpd file, or the folder rocprofv3 wrote.
    pub new_db: String,
    /// Rows of per_kernel, a count.
    #[serde(default = "default_rows")]
    #[schemars(range(min = 0, max = 500))]
    pub top_kernels: u32,
    /// Change of elapsed time that is tolerated, percent (5 means 5 %).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0), extend("default" = 5.0))]
    pub threshold_pct: Option<f64>,
    /// Change of one kernel that makes it a regression or improvement, percent.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0), extend("default" = 3.0))]
    pub kernel_threshold_pct: Option<f64>,
    /// Share of kernel time the hot kernels cover, percent.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0), extend("default" = 80.0))]
    pub hot_coverage_pct: Option<f64>,
    /// Further runs of the baseline, each a file or folder.
    #[serde(default)]
    #[schemars(length(max = 49))]
    pub baseline_runs: Vec<String>,
    /// Further runs of the new side, each a file or folder.
    #[serde(default)]
    #[schemars(length(max = 49))]
    pub new_runs: Vec<String>,
    /// Compare what can be read of a damaged file instead of refusing it.
    #[serde(default)]
    pub allow_partial: bool,
    /// Asks for the verdict of a CI gate; {} takes every default.
    #[serde(default)]
    pub gate: Option<GateInput>,
}

const fn default_rows() -> u32 {
    20
}

/// Limits of a CI gate.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateInput {
    /// Change of elapsed time that is tolerated, percent.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0), extend("default" = 5.0))]
    pub threshold: Option<f64>,
    /// Where the threshold came from.
    #[serde(default)]
    pub threshold_source: ThresholdSource,
    /// Change of one kernel that is tolerated, percent; absent = no kernel gate.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub kernel_threshold: Option<f64>,
    /// Only kernels with at least this share of baseline kernel time are gated, percent.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0), extend("default" = 1.0))]
    pub min_time_share: Option<f64>,
    /// A smaller slow-down of elapsed time never fails, ms.
    #[serde(default)]
    #[schemars(range(min = 0.0), extend("default" = 0.0))]
    pub min_delta_ms: Option<f64>,
    /// Confidence of the interval, percent: 90, 95 or 99.
    #[serde(default)]
    #[schemars(range(min = 90, max = 99), extend("default" = 95))]
    pub confidence: Option<u8>,
    /// A changed set of kernels, or less work, does not block a pass.
    #[serde(default)]
    pub allow_kernel_changes: bool,
    /// Different GPUs do not forbid a verdict.
    #[serde(default)]
    pub allow_different_gpu: bool,
}

/// Where a threshold came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdSource {
    /// An option.
    Flag,
    /// A variable.
    Env,
    /// The configuration file.
    Config,
    /// Nothing gave one.
    #[default]
    Default,
}

impl ThresholdSource {
    /// The word on the wire.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Env => "env",
            Self::Config => "config",
            Self::Default => "default",
        }
    }
}
