//! `intent`: routes a sentence to one of five intents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `intent.classify`.
pub struct Classify;

impl Contract for Classify {
    const NAME: &'static str = "intent.classify";
    type Input = ClassifyInput;
    type Output = ClassifyOutput;
}

/// Arguments of `intent.classify`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyInput {
    /// What the user wrote, text; only the first 4,000 characters are read.
    #[schemars(length(max = 1_048_576))]
    pub user_query: String,
}

/// One scored intent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Candidate {
    /// The intent.
    pub intent: String,
    /// 0 to 0.95.
    pub score: f64,
    /// Its strongest rule.
    pub rule: String,
}

/// Answer of `intent.classify`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyOutput {
    /// analyze, optimize, verify, explain, help.
    pub intent: String,
    /// 0 to 0.95.
    pub confidence: f64,
    /// Rule that decided; null on fallback.
    pub matched_pattern: Option<String>,
    /// Fallback, or a near second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Scored intents, best first.
    pub candidates: Vec<Candidate>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
