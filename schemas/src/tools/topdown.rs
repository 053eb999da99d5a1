//! `topdown`: red flags in the application-level time breakdown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `topdown.classify_overhead`.
pub struct ClassifyOverhead;

impl Contract for ClassifyOverhead {
    const NAME: &'static str = "topdown.classify_overhead";
    type Input = ClassifyOverheadInput;
    type Output = ClassifyOverheadOutput;
}

/// Arguments of `topdown.classify_overhead`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyOverheadInput {
    /// Share of the window with a copy and no kernel, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub memcpy_pct: f64,
    /// Share of the window in host calls with no GPU work, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub api_pct: f64,
    /// Share of the window with nothing running, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub idle_pct: f64,
}

/// One breached limit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RedFlag {
    /// `memcpy_dominant`, `api_heavy` or `idle_heavy`.
    pub red_flag_name: String,
    /// The share that was judged.
    pub metric: String,
    /// Its value, a fraction.
    pub value: f64,
    /// The same value.
    pub current_value: f64,
    /// Its limit, a fraction.
    pub threshold: f64,
    /// `high` or `medium`.
    pub priority: String,
    /// What it means.
    pub message: String,
    /// Speed-up if that time vanished; null when the share is 1.
    pub max_speedup: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_speedup_reason: Option<&'static str>,
}

/// Answer of `topdown.classify_overhead`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyOverheadOutput {
    /// No limit was breached.
    pub healthy: bool,
    /// Breached limits.
    pub items: Vec<RedFlag>,
    /// Breached limits, all.
    pub total: usize,
    /// Rows shown.
    pub returned: usize,
    /// Rows left out.
    pub truncated: bool,
}
