//! `bottleneck`: what bounds a run, the rules behind that, and what a kernel is worth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Contract;

/// Contract of `bottleneck.classify_from_metrics`.
pub struct ClassifyFromMetrics;

impl Contract for ClassifyFromMetrics {
    const NAME: &'static str = "bottleneck.classify_from_metrics";
    type Input = ClassifyFromMetricsInput;
    type Output = ClassifyFromMetricsOutput;
}

/// Arguments of `bottleneck.classify_from_metrics`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyFromMetricsInput {
    /// Name to value, _pct as fractions: valu_util_pct, memcpy_pct, kernel_time_pct ...
    pub metrics: Map<String, Value>,
}

/// One rule held against a value.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Evidence {
    /// Signature or label the rule belongs to.
    pub signature: String,
    /// Metric it looks at.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Comparison.
    pub op: String,
    /// Limit.
    pub threshold: f64,
    /// Whether it holds.
    pub passed: bool,
}

/// A rule that speaks against the verdict.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Contradiction {
    /// Metric it looks at.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// Comparison that failed.
    pub op: String,
    /// Limit.
    pub threshold: f64,
}

/// Another candidate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Candidate {
    /// Signature, or type of the label.
    pub label: String,
    /// Detail of the label; null for signatures.
    pub detail: Option<String>,
    /// Its score or support.
    pub score: f64,
}

/// A name that is no metric.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UnknownMetric {
    /// As sent.
    pub name: String,
    /// Probably meant; null when nothing is near.
    pub did_you_mean: Option<String>,
}

/// Scores of the signatures, fractions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AllScores {
    /// Compute.
    pub compute: f64,
    /// Memory transfer.
    pub memory_transfer: f64,
    /// Latency.
    pub latency: f64,
    /// API overhead.
    pub api_overhead: f64,
}

/// Answer of `bottleneck.classify_from_metrics`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassifyFromMetricsOutput {
    /// What bounds the run.
    pub r#type: String,
    /// More precisely; null when the evidence does not single it out.
    pub bottleneck_detail: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// Why, one sentence.
    pub reasoning: String,
    /// Scores of the signatures.
    pub all_scores: AllScores,
    /// `signatures`, `window` or `none`.
    pub decided_by: String,
    /// Winning signature; null in mode window and without a winner.
    pub signature: Option<String>,
    /// Evaluated over all rules, a fraction.
    pub coverage: f64,
    /// Passed over evaluated rules, a fraction; null in mode window and without evidence.
    pub match_ratio: Option<f64>,
    /// Rules that speak against it.
    pub contradictions: Vec<Contradiction>,
    /// The second best; null when there is none.
    pub runner_up: Option<Candidate>,
    /// The best one of a mixed verdict; null otherwise.
    pub best_candidate: Option<Candidate>,
    /// Evaluated rules, at most 20.
    pub evidence: Vec<Evidence>,
    /// What would raise coverage, at most 8.
    pub missing_metrics: Vec<String>,
    /// Names that are no metrics, at most 20.
    pub unknown_metrics: Vec<UnknownMetric>,
    /// Names that are no metrics, all.
    pub unknown_metrics_total: usize,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Contract of `bottleneck.lookup_signatures`.
pub struct LookupSignatures;

impl Contract for LookupSignatures {
    const NAME: &'static str = "bottleneck.lookup_signatures";
    type Input = LookupSignaturesInput;
    type Output = LookupSignaturesOutput;
}

/// Arguments of `bottleneck.lookup_signatures`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupSignaturesInput {
    /// compute, memory_transfer, latency, api_overhead, mixed or data_insufficient.
    pub bottleneck_type: String,
}

/// One rule.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SignatureRule {
    /// Metric it looks at.
    pub metric: String,
    /// Comparison.
    pub op: String,
    /// Limit.
    pub threshold: f64,
    /// Unit of the limit.
    pub unit: String,
    /// Why it is a sign.
    pub why: String,
}

/// Answer of `bottleneck.lookup_signatures`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupSignaturesOutput {
    /// As asked for.
    pub name: String,
    /// Its rules.
    pub signatures: Vec<SignatureRule>,
    /// Type it is reported as.
    pub reported_as: String,
    /// Possible details.
    pub details: Vec<String>,
    /// `high`, `medium` or `low`.
    pub priority_hint: String,
    /// What it means.
    pub meaning: String,
    /// What to do about it.
    pub how_to_resolve: String,
}

/// Contract of `bottleneck.prioritize_by_amdahl`.
pub struct PrioritizeByAmdahl;

impl Contract for PrioritizeByAmdahl {
    const NAME: &'static str = "bottleneck.prioritize_by_amdahl";
    type Input = PrioritizeByAmdahlInput;
    type Output = PrioritizeByAmdahlOutput;
}

/// Arguments of `bottleneck.prioritize_by_amdahl`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrioritizeByAmdahlInput {
    /// Share of total runtime in this part, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub execution_time_pct: f64,
    /// Expected speed-up of this part, a factor of at least 1.
    #[schemars(range(min = 1.0))]
    pub local_speedup: Option<f64>,
}

/// Whether a part is worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Worth it.
    High,
    /// Perhaps.
    Medium,
    /// Not worth it.
    Low,
}

/// What a local speed-up brings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SpeedupRow {
    /// Of the part.
    pub local_speedup: f64,
    /// Of the program.
    pub program_speedup: f64,
}

/// Answer of `bottleneck.prioritize_by_amdahl`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PrioritizeByAmdahlOutput {
    /// Whether it is worth it.
    pub priority: Priority,
    /// Why, one sentence.
    pub rationale: String,
    /// Program speed-up if the part vanished; null when it is all.
    pub max_speedup: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_speedup_reason: Option<&'static str>,
    /// With the expected local speed-up; null without one.
    pub program_speedup: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_speedup_reason: Option<&'static str>,
    /// What some local speed-ups bring.
    pub speedup_table: Vec<SpeedupRow>,
}
