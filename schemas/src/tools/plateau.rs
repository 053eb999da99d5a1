//! `plateau`: has an optimisation loop stopped improving?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Contract;

/// Contract of `plateau.check`.
pub struct Check;

impl Contract for Check {
    const NAME: &'static str = "plateau.check";
    type Input = CheckInput;
    type Output = CheckOutput;
}

/// Arguments of `plateau.check`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckInput {
    /// Runs, oldest first, each an object with total_runtime_ns (ns, above 0).
    pub history: Vec<Map<String, Value>>,
    /// How many of the latest runs are judged, a count.
    #[serde(default = "default_window")]
    #[schemars(range(min = 3, max = 20))]
    pub window: u32,
    /// Smallest change that counts as progress, a fraction.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction", "default" = 0.02))]
    pub threshold: Option<f64>,
}

const fn default_window() -> u32 {
    3
}

/// Direction of the latest runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// Every step faster, and together by at least the threshold.
    Improving,
    /// Every step slower, and together by at least the threshold.
    Regressing,
    /// Every step smaller than the threshold.
    Flat,
    /// Neither of these.
    Noisy,
    /// Too few runs.
    Unknown,
}

/// Answer of `plateau.check`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckOutput {
    /// No step matters any more.
    pub plateau_detected: bool,
    /// Why, one sentence.
    pub reason: String,
    /// Direction of the judged runs.
    pub trend: Trend,
    /// Size of each step, a fraction of the run before; absent with too little history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_deltas: Option<Vec<f64>>,
    /// The same with sign, negative = faster; absent with too little history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_deltas: Option<Vec<f64>>,
    /// Last against first judged run, a fraction; absent with too little history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative_delta: Option<f64>,
    /// Index of the fastest run, the first on ties; null without any run.
    pub best_index: Option<usize>,
    /// Runs in the history.
    pub entries: usize,
}
