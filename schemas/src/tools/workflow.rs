//! `workflow`: the next profiling action for a tier and a goal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `workflow.next_step`.
pub struct NextStep;

impl Contract for NextStep {
    const NAME: &'static str = "workflow.next_step";
    type Input = NextStepInput;
    type Output = NextStepOutput;
}

/// Arguments of `workflow.next_step`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextStepInput {
    /// What is at hand: 0 source, 1 trace, 2 counters, 3 thread trace or samples.
    #[schemars(range(min = 0, max = 3))]
    pub tier: u8,
    /// collect classify measure deep pc_sampling optimize build verify.
    pub goal: String,
    /// Architecture such as gfx942; picks its counters.
    pub gfx_id: Option<String>,
    /// Kernel to restrict collection to, a name.
    #[schemars(length(max = 1_048_576))]
    pub kernel: Option<String>,
    /// Program to place after -- in commands.
    #[serde(default = "program")]
    pub app: String,
    /// Folder that commands write to.
    #[serde(default = "folder")]
    pub out: String,
}

fn program() -> String {
    "./app".to_owned()
}

fn folder() -> String {
    "perfxpert_out".to_owned()
}

/// What kind of action it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Collect data.
    Profile,
    /// Change the program.
    Optimize,
    /// Collect data of the changed program.
    Reprofile,
    /// Read the data.
    Analyze,
    /// Build the changed program.
    Build,
}

/// What to ask this tool next.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Then {
    /// Tier.
    pub tier: u8,
    /// Goal.
    pub goal: String,
}

/// Answer of `workflow.next_step`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NextStepOutput {
    /// Tier of the next step.
    pub next_tier: u8,
    /// What to do.
    pub action: String,
    /// Kind of action.
    pub phase: Phase,
    /// Command; null when the step is not one.
    pub command: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_reason: Option<&'static str>,
    /// All commands, in order.
    pub commands: Vec<String>,
    /// Why this step.
    pub reason: String,
    /// What to ask next.
    pub then: Then,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
