//! `profiling`: the cheapest collection step that adds what a goal still lacks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::trace_health::TraceHealth;

/// Contract of `profiling.fill_gap`.
pub struct FillGap;

impl Contract for FillGap {
    const NAME: &'static str = "profiling.fill_gap";
    type Input = FillGapInput;
    type Output = FillGapOutput;
}

/// Arguments of `profiling.fill_gap`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FillGapInput {
    /// What is already collected, tokens such as --sys-trace or pmc:SQ_WAVES.
    #[schemars(required, extend("x-accepts" = ["null"]))]
    pub current_fingerprint: Option<Vec<String>>,
    /// What the data is for, such as roofline, stall analysis, classify, a text.
    pub goal: String,
    /// rocpd file or folder; what it holds counts as collected.
    pub db_path: Option<String>,
    /// Architecture such as gfx942; picks its counters.
    pub gfx_id: Option<String>,
    /// Program to place after -- in commands.
    #[serde(default = "program")]
    pub app: String,
}

fn program() -> String {
    "./app".to_owned()
}

/// Answer of `profiling.fill_gap`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FillGapOutput {
    /// Nothing is missing.
    pub complete: bool,
    /// Name of the step; null when complete.
    pub name: Option<String>,
    /// Estimated seconds; null when complete.
    pub cost_s: Option<f64>,
    /// Tokens the step adds.
    pub adds: Vec<String>,
    /// Its command; null when complete, or when no tool is needed.
    pub command: Option<String>,
    /// Why name, cost or command is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_reason: Option<&'static str>,
    /// Why this step.
    pub reason: String,
    /// Canonical goal.
    pub goal: String,
    /// The goal was understood.
    pub goal_recognised: bool,
    /// Goals there are.
    pub known_goals: Vec<String>,
    /// Tokens the goal lacks.
    pub missing: Vec<String>,
    /// Further steps, at most 5.
    pub remaining: Vec<String>,
    /// Tokens with no meaning.
    pub unknown_tokens: Vec<String>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Health of the trace; only when one was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_health: Option<TraceHealth>,
}
