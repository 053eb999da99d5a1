//! `att`: what a stall means, and how bad a stall ratio is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `att.classify_stall_reason`.
pub struct ClassifyStallReason;

impl Contract for ClassifyStallReason {
    const NAME: &'static str = "att.classify_stall_reason";
    type Input = ClassifyStallReasonInput;
    type Output = ClassifyStallReasonOutput;
}

/// Arguments of `att.classify_stall_reason`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyStallReasonInput {
    /// Stall reason as sampled, such as WAITCNT, a name.
    #[schemars(length(max = 200))]
    pub stall_code: String,
    /// Text of the sampled instruction; says what a WAITCNT waits on.
    #[schemars(length(max = 500))]
    pub instruction: Option<String>,
}

/// Which catalogue a code was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchedAs {
    /// A reason of the profiler SDK.
    Sdk,
    /// A label of older tools.
    Legacy,
}

/// Answer of `att.classify_stall_reason`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyStallReasonOutput {
    /// The code as catalogued.
    pub code: String,
    /// Its name.
    pub name: String,
    /// Why waves stall so.
    pub root_cause: String,
    /// What to try first.
    pub mitigation: String,
    /// What to try, in order.
    pub mitigations: Vec<String>,
    /// Whether a change of the program can help.
    pub actionable: bool,
    /// The SDK reason it maps to.
    pub sdk_code: String,
    /// Where the code was found.
    pub matched_as: MatchedAs,
    /// What a WAITCNT waits on; null otherwise.
    pub waits_on: Option<String>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_on_reason: Option<&'static str>,
    /// When a sample carries a reason.
    pub valid_when: String,
}

/// Contract of `att.classify_stall_ratio`.
pub struct ClassifyStallRatio;

impl Contract for ClassifyStallRatio {
    const NAME: &'static str = "att.classify_stall_ratio";
    type Input = ClassifyStallRatioInput;
    type Output = ClassifyStallRatioOutput;
}

/// Arguments of `att.classify_stall_ratio`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyStallRatioInput {
    /// Stall cycles over latency cycles, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub stall_ratio: f64,
    /// Wave executions behind the ratio, a count.
    #[schemars(range(min = 0))]
    pub hitcount: Option<u64>,
}

/// How bad a stall ratio is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nearly all latency is stall.
    Critical,
    /// Most of it.
    High,
    /// A good part of it.
    Medium,
    /// Latency is mostly useful work.
    Low,
}

/// Lower bounds of the severities, fractions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Thresholds {
    /// From here on critical.
    pub critical: f64,
    /// From here on high.
    pub high: f64,
    /// From here on medium.
    pub medium: f64,
}

/// Answer of `att.classify_stall_ratio`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyStallRatioOutput {
    /// How bad it is.
    pub severity: Severity,
    /// As sent, a fraction.
    pub stall_ratio: f64,
    /// Bounds used, fractions.
    pub thresholds: Thresholds,
    /// Enough executions were sampled; null without a hitcount.
    pub reliable: Option<bool>,
    /// Why that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reliable_reason: Option<&'static str>,
}
