//! `agent.diff_specialist`: verdict on two runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::details::Details;
use super::options::ProviderWord;
use crate::diff::KernelDelta;
use crate::tools::Contract;

/// The named fields of the answer; `regressions` and `improvements` are the two halves of one field.
pub const NAMED_FIELDS: [&str; 6] =
    ["verdict", "wall_delta_pct", "confidence", "narrative", "regressions", "improvements"];

/// Contract of `agent.diff_specialist`.
pub struct DiffSpecialist;

impl Contract for DiffSpecialist {
    const NAME: &'static str = "agent.diff_specialist";
    type Input = DiffInput;
    type Output = DiffAnswer;
}

/// What a comparison is for when the caller does not say.
pub const INTENT: &str = "Summarize the differences between the two runs.";

fn intent() -> String {
    INTENT.to_owned()
}

fn twenty() -> u32 {
    20
}

/// Arguments of `agent.diff_specialist`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffInput {
    /// Run before the change: database or folder, a path.
    pub baseline_db: String,
    /// Run after the change: database or folder, a path.
    pub new_db: String,
    /// Rows per list, a count.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    pub top_kernels: u32,
    /// What the comparison is for, in words.
    #[serde(default = "intent")]
    #[schemars(length(max = 1000))]
    pub user_intent: String,
    /// Model service that words the answer; none without it.
    #[serde(default)]
    pub provider: Option<ProviderWord>,
    /// Model of that service.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub model: Option<String>,
    /// Never ask a model (true), whatever else is set.
    #[serde(default)]
    pub airgap: Option<bool>,
    /// Groups calls under one turn budget: 1 to 64 of A-Z a-z 0-9 _ . : -
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub session_id: Option<String>,
    /// allow_partial, model, creativity, on_llm_failure and the other run options.
    #[serde(default)]
    #[schemars(extend("x-quoted" = true))]
    pub options: Map<String, Value>,
}

/// Answer of `agent.diff_specialist`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DiffAnswer {
    /// improved, regressed, neutral or inconclusive.
    pub verdict: String,
    /// Change of elapsed time, percent.
    pub wall_delta_pct: Option<f64>,
    /// How sure that is, a fraction.
    pub confidence: f64,
    /// The answer in sentences.
    pub narrative: String,
    /// Kernels that lost time, most first.
    pub regressions: Vec<KernelDelta>,
    /// Kernels that won time, most first.
    pub improvements: Vec<KernelDelta>,
    /// Evidence, comparability, run.
    pub details: Details,
}
