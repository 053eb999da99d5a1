//! `predict_impact`: a speed-up bracket for one kind of change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Contract;
use crate::trace_health::TraceHealth;

/// Contract of `predict_impact.list_supported_changes`.
pub struct ListSupportedChanges;

impl Contract for ListSupportedChanges {
    const NAME: &'static str = "predict_impact.list_supported_changes";
    type Input = ListSupportedChangesInput;
    type Output = ListSupportedChangesOutput;
}

/// `predict_impact.list_supported_changes` takes no arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSupportedChangesInput {}

/// Where a model applies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AppliesTo {
    /// Kernel classes.
    pub kernel_class: Vec<String>,
    /// Sides of the roofline.
    pub regime: Vec<String>,
}

/// A condition of a model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Condition {
    /// Its name.
    pub id: String,
    /// What must hold.
    pub rule: String,
}

/// One kind of change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SupportedChange {
    /// Value of `change_type`.
    pub id: String,
    /// Where it applies.
    pub applies_to: AppliesTo,
    /// What it needs to know.
    pub required_metrics: Vec<String>,
    /// What must hold.
    pub preconditions: Vec<Condition>,
    /// Upper end of the bracket.
    pub hi_model: String,
    /// It is never above this.
    pub hi_cap: f64,
    /// With every condition met.
    pub base_confidence: f64,
    /// `kernel` or `program`.
    pub scope: String,
    /// Why the model is so.
    pub reason: String,
}

/// Answer of `predict_impact.list_supported_changes`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListSupportedChangesOutput {
    /// Kinds of change.
    pub items: Vec<SupportedChange>,
    /// Kinds of change, all.
    pub total: usize,
    /// Rows left out.
    pub truncated: bool,
    /// Version of the models.
    pub models_version: u64,
}

/// Contract of `predict_impact.predict_change_impact`.
pub struct PredictChangeImpact;

impl Contract for PredictChangeImpact {
    const NAME: &'static str = "predict_impact.predict_change_impact";
    type Input = PredictChangeImpactInput;
    type Output = PredictChangeImpactOutput;
}

/// Arguments of `predict_impact.predict_change_impact`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictChangeImpactInput {
    /// rocpd file or folder of the run before the change.
    pub baseline_db: String,
    /// Name of the kernel.
    #[schemars(length(max = 1_048_576))]
    pub kernel_name: String,
    /// Kind of change, an id of predict_impact_list_supported_changes.
    pub change_type: String,
    /// Known values, such as kernel_time_pct (fraction), target_vgpr, dtype.
    #[serde(default)]
    pub change_params: Map<String, Value>,
}

/// What became of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is a bracket.
    Predicted,
    /// The kernel's share is too small to matter.
    BelowAmdahlGate,
    /// Counters are needed first.
    NoCounters,
    /// A condition of the model does not hold.
    PreconditionNotMet,
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It holds.
    Met,
    /// It does not hold.
    NotMet,
    /// A value is missing.
    Unknown,
}

/// A condition held against the values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CheckedCondition {
    /// Its name.
    pub id: String,
    /// What must hold.
    pub rule: String,
    /// The value it was held against; null when unknown.
    pub value: Option<f64>,
    /// Whether it holds.
    pub state: State,
}

/// A place on the roofline.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Intensity {
    /// Arithmetic intensity, FLOP/byte.
    pub ai: f64,
}

/// How the kernel moves on the roofline; null = not known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RooflineDelta {
    /// Before the change.
    pub before: Option<Intensity>,
    /// After the change.
    pub after: Option<Intensity>,
}

/// Keys that both prediction tools share, in wire order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Prediction {
    /// Low and high speed-up of the kernel; null = refused.
    pub predicted_speedup_range: Option<[f64; 2]>,
    /// The same for the whole program.
    pub program_speedup_range: Option<[f64; 2]>,
    /// 0 when refused.
    pub confidence: f64,
    /// What became of it.
    pub status: Status,
    /// Why, one sentence.
    pub rationale: String,
    /// Conditions of the model.
    pub preconditions: Vec<CheckedCondition>,
    /// What the bracket rests on.
    pub assumptions: Vec<String>,
    /// Move on the roofline.
    pub roofline_delta: RooflineDelta,
    /// Facts used.
    pub source_citation: String,
    /// Re-derives this answer.
    pub prediction_id: String,
    /// As sent.
    pub change_type: String,
    /// As sent.
    pub kernel_name: String,
}

/// Answer of `predict_impact.predict_change_impact`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PredictChangeImpactOutput {
    /// The prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// As sent.
    pub baseline_db: String,
    /// Whether the database was read.
    pub database_read: bool,
    /// Version of the models.
    pub models_version: u64,
    /// Parameters with no meaning here, at most 20.
    pub unknown_params: Vec<String>,
    /// Health of the trace; only when it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_health: Option<TraceHealth>,
}

/// Contract of `predict_impact.explain_prediction`.
pub struct ExplainPrediction;

impl Contract for ExplainPrediction {
    const NAME: &'static str = "predict_impact.explain_prediction";
    type Input = ExplainPredictionInput;
    type Output = ExplainPredictionOutput;
}

/// Arguments of `predict_impact.explain_prediction`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainPredictionInput {
    /// Id of an earlier prediction, text starting with pp1.
    #[schemars(length(max = 4096))]
    pub prediction_id: String,
}

/// Answer of `predict_impact.explain_prediction`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplainPredictionOutput {
    /// The prediction.
    #[serde(flatten)]
    pub prediction: Prediction,
    /// Always null.
    pub baseline_db: Option<String>,
    /// Why it is null.
    pub baseline_db_reason: &'static str,
    /// Always false.
    pub database_read: bool,
    /// Version of the models.
    pub models_version: u64,
    /// Always empty.
    pub unknown_params: Vec<String>,
    /// Values behind the id.
    pub inputs: Map<String, Value>,
    /// Model with the numbers filled in.
    pub formula: String,
    /// The id is of other models.
    pub stale: bool,
}
