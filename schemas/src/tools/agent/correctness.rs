//! `agent.correctness`: what a gate's verdict means and what to do next.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use super::call::GateStatus;
use super::call::{AgentCall, EditEntry};
use super::details::Details;
use super::options::Paths;
use crate::tools::Contract;

/// The named fields of the answer; `details` stands beside them.
pub const NAMED_FIELDS: [&str; 5] =
    ["verdict", "action", "narrative", "alternative_technique", "follow_up_task_id"];

/// Contract of `agent.correctness`.
pub struct Correctness;

impl Contract for Correctness {
    const NAME: &'static str = "agent.correctness";
    type Input = AgentCall<CorrectnessInput>;
    type Output = CorrectnessAnswer;
}

/// What the gate said and about what.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectnessInput {
    /// Verdict of the gate cascade.
    pub gate_verdict: GateVerdict,
    /// Kernel under change.
    #[serde(default)]
    pub kernel_name: Option<String>,
    /// Technique that was applied, by id or alias.
    #[serde(default)]
    pub last_technique: Option<String>,
    /// Earlier attempts, oldest first.
    #[serde(default)]
    #[schemars(length(max = 200), with = "Vec<Map<String, Value>>")]
    pub edit_history: Vec<EditEntry>,
    /// Source tree, a folder.
    #[serde(default)]
    pub source_dir: Option<String>,
    /// rocpd database, folder, or list of them, as paths.
    #[serde(default)]
    pub database_path: Option<Paths>,
    /// Architecture, such as gfx942.
    #[serde(default)]
    pub gfx_id: Option<String>,
    /// An answer of agent_analysis.
    #[serde(default)]
    pub findings: Option<Map<String, Value>>,
}

/// Gates in cascade order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// It builds.
    Compile,
    /// It is not faster than the hardware allows.
    Sol,
    /// It computes the same.
    Bitwise,
    /// It is not slower.
    Regression,
    /// The user's tests pass.
    Anchors,
}

impl Gate {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compile => "compile",
            Self::Sol => "sol",
            Self::Bitwise => "bitwise",
            Self::Regression => "regression",
            Self::Anchors => "anchors",
        }
    }
}

/// Verdict of the gate cascade.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateVerdict {
    /// What was decided.
    pub status: GateStatus,
    /// The gate that failed; null for a pass.
    #[serde(default)]
    pub failing_gate: Option<Gate>,
    /// One sentence with the numbers.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub detail: String,
    /// Change of kernel time, or of the metric the detail names, percent.
    #[serde(default)]
    pub delta_pct: Option<f64>,
    /// Numbers of the gate by name.
    #[serde(default)]
    pub metrics: Map<String, Value>,
    /// Hash of the refused patch.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub rejected_patch_sha: Option<String>,
    /// Kernel name to change, percent; or a list of {kernel, delta_pct}.
    #[serde(default)]
    pub per_kernel_deltas: KernelChanges,
    /// Every gate with its outcome, in cascade order.
    #[serde(default)]
    pub gates: Vec<GateOutcome>,
}

/// One gate and how it went.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateOutcome {
    /// The gate.
    pub gate: Gate,
    /// pass, fail or skipped.
    pub outcome: Outcome,
    /// Why.
    #[serde(default)]
    pub reason: String,
}

/// How one gate went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Passed.
    Pass,
    /// Failed.
    Fail,
    /// Could not run.
    Skipped,
}

/// Change per kernel in percent, by name; read from an object or from a list of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelChanges(pub BTreeMap<String, Option<f64>>);

impl<'de> Deserialize<'de> for KernelChanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Row {
            #[serde(alias = "name")]
            kernel: String,
            delta_pct: Option<f64>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            ByName(BTreeMap<String, Option<f64>>),
            Rows(Vec<Row>),
        }
        Ok(Self(match Form::deserialize(deserializer)? {
            Form::ByName(map) => map,
            Form::Rows(rows) => rows.into_iter().map(|row| (row.kernel, row.delta_pct)).collect(),
        }))
    }
}

impl JsonSchema for KernelChanges {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "KernelChanges".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "x-accepts": ["array"] })
    }
}

/// What to do with the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Keep it.
    Accept,
    /// Undo it.
    Revert,
    /// Undo it and note why.
    RejectAndLog,
}

impl Action {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Revert => "revert",
            Self::RejectAndLog => "reject_and_log",
        }
    }
}

/// Answer of `agent.correctness`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CorrectnessAnswer {
    /// pass, reject or regressed.
    pub verdict: GateStatus,
    /// accept, revert or reject_and_log.
    pub action: Action,
    /// What failed and what to do now.
    pub narrative: String,
    /// Technique to try next.
    pub alternative_technique: Option<String>,
    /// Id of a task the client may create.
    pub follow_up_task_id: Option<String>,
    /// Evidence and run.
    pub details: Details,
}
