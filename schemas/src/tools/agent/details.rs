//! What stands behind the named fields of an agent's answer.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::analysis::{CitedValue, MissingValue, TraceReference, VerdictDetails};
use super::run::AgentRun;
use crate::diff::Comparability;

/// Evidence, what was missing, and how the answer came about. Keys that do not apply are absent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Details {
    /// The classifier's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictDetails>,
    /// The answer in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrative: Option<String>,
    /// What the text cites.
    pub evidence: Vec<CitedValue>,
    /// What was not known and how to get it, at most 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<MissingValue>>,
    /// Looked at and not listed, at most 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Vec<Rejected>>,
    /// Before the cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_total: Option<u64>,
    /// Whether two runs can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparability: Option<Comparability>,
    /// Jaccard index of the two hot sets; null when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_set_jaccard: Option<Option<f64>>,
    /// Regressions before the cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regressions_total: Option<u64>,
    /// Improvements before the cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub improvements_total: Option<u64>,
    /// Kernels of the new run only, at most 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_kernels: Option<Vec<crate::diff::KernelDelta>>,
    /// Kernels of the baseline only, at most 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_kernels: Option<Vec<crate::diff::KernelDelta>>,
    /// A task the client may create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow_up_task: Option<FollowUp>,
    /// Recommendations before the cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendations_total: Option<u64>,
    /// Techniques before the cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub techniques_total: Option<u64>,
    /// Whether a list was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Enough to open the same trace again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceReference>,
    /// What to read with care, at most 20.
    pub warnings: Vec<String>,
    /// Proposals of a model, not verified; only when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploratory_proposals: Option<Vec<Map<String, Value>>>,
    /// How the answer came about.
    pub run: AgentRun,
}

impl Details {
    /// Details that hold only how the answer came about.
    pub fn new(run: AgentRun) -> Self {
        Self {
            verdict: None,
            narrative: None,
            evidence: Vec::new(),
            missing: None,
            rejected: None,
            rejected_total: None,
            comparability: None,
            hot_set_jaccard: None,
            regressions_total: None,
            improvements_total: None,
            added_kernels: None,
            removed_kernels: None,
            follow_up_task: None,
            recommendations_total: None,
            techniques_total: None,
            truncated: None,
            trace: None,
            warnings: Vec::new(),
            exploratory_proposals: None,
            run,
        }
    }
}

/// A technique that was looked at and is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rejected {
    /// Technique and target.
    pub key: String,
    /// Technique id.
    pub name: String,
    /// Handle of the target.
    pub target: String,
    /// Why.
    pub reason: String,
}

/// A task the client may create; nothing was stored.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FollowUp {
    /// The same for the same kernel, gate and patch.
    pub id: String,
    /// Headline.
    pub title: String,
    /// Verdict, kernel and technique.
    pub meta: Map<String, Value>,
}
