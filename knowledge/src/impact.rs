//! Models that bracket the gain of one kind of change.

use serde::Deserialize;

use crate::Compare;
use crate::document::table;

/// A precondition of a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    /// Id, `bandwidth_high`.
    pub id: String,
    /// Input it looks at.
    pub metric: String,
    /// Comparison.
    pub op: Compare,
    /// Number it compares with.
    value: Option<f64>,
    /// Fact that holds the number.
    fact: Option<String>,
    /// Other input it compares with.
    pub other: Option<String>,
}

impl Precondition {
    /// The number it compares with; `None` when it compares two inputs.
    pub fn limit(&self) -> Option<f64> {
        self.value.or_else(|| self.fact.as_deref().and_then(|id| crate::number(id).ok()))
    }

    /// As text, `hbm_bw_utilization >= 0.6`.
    pub fn rule(&self) -> String {
        let limit = match (&self.other, self.limit()) {
            (Some(other), _) => other.clone(),
            (None, Some(limit)) => limit.to_string(),
            (None, None) => String::new(),
        };
        format!("{} {} {limit}", self.metric, self.op.as_str())
    }
}

/// One model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Change type.
    pub id: String,
    /// Classes of kernels it is meant for.
    pub kernel_class: Vec<String>,
    /// Sides of the roofline it is meant for.
    pub regime: Vec<String>,
    /// Inputs it needs.
    pub required_metrics: Vec<String>,
    /// Conditions, in order.
    pub preconditions: Vec<Precondition>,
    /// Upper gain as an expression over inputs.
    pub hi_model: String,
    /// Largest upper gain.
    pub hi_cap: f64,
    /// Confidence when all conditions are met, fraction.
    pub base_confidence: f64,
    /// `kernel` or `program`.
    pub scope: String,
    /// Why the model has this form.
    pub reason: String,
}

/// All models.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    /// Version; part of every prediction's id.
    pub version: u32,
    /// Lower gain = 1 + (upper − 1) ÷ this.
    pub lo_divisor: f64,
    /// Part of the base confidence that remains when no condition is met.
    pub confidence_floor: f64,
    /// In order.
    pub models: Vec<Model>,
}

table! {
    /// The models.
    pub fn models() -> Models = "impact/models";
}

/// A model by its change type.
pub fn find(change_type: &str) -> Option<&'static Model> {
    models().models.iter().find(|model| model.id == change_type)
}
