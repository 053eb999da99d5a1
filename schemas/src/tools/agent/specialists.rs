//! The three specialists: techniques for compute, memory and latency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::AgentCall;
use super::details::Details;
use super::options::Paths;
use crate::tools::Contract;

/// The named fields of the answers; `details` stands beside them.
pub const NAMED_FIELDS: [&str; 3] = ["confidence", "techniques", "citations"];

/// Contract of `agent.compute_specialist`.
pub struct Compute;

impl Contract for Compute {
    const NAME: &'static str = "agent.compute_specialist";
    type Input = AgentCall<ComputeInput>;
    type Output = SpecialistAnswer;
}

/// Contract of `agent.memory_specialist`.
pub struct Memory;

impl Contract for Memory {
    const NAME: &'static str = "agent.memory_specialist";
    type Input = AgentCall<MemoryInput>;
    type Output = SpecialistAnswer;
}

/// Contract of `agent.latency_specialist`.
pub struct Latency;

impl Contract for Latency {
    const NAME: &'static str = "agent.latency_specialist";
    type Input = AgentCall<LatencyInput>;
    type Output = SpecialistAnswer;
}

/// What compute techniques are judged by.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ComputeInput {
    /// Architecture, such as gfx942.
    pub gfx_id: Option<String>,
    /// Kernels with name, calls, total_duration (ns), as agent_analysis lists them.
    pub hot_kernels: Vec<Map<String, Value>>,
    /// Metrics of the longest kernel, or by kernel name.
    pub counter_data: Map<String, Value>,
    /// launch_bounds, sync_in_loop, pageable_copy, or tier0_findings.
    pub source_hints: Map<String, Value>,
    /// rocpd database, folder, or list of them, as paths.
    pub database_path: Option<Paths>,
    /// An answer of agent_analysis.
    pub findings: Option<Map<String, Value>>,
    /// Only kernels whose name holds this text; re: in front for a regex.
    #[schemars(length(max = 500))]
    pub kernel_filter: Option<String>,
    /// Folder with thread-trace stats_*.csv files.
    pub att_dir: Option<String>,
}

/// What memory techniques are judged by.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryInput {
    /// Architecture, such as gfx942.
    pub gfx_id: Option<String>,
    /// Kernels with name, calls, total_duration (ns), as agent_analysis lists them.
    pub hot_kernels: Vec<Map<String, Value>>,
    /// Bytes, ns and counts of host copies, or a report's memory_analysis.
    pub memcpy_data: Map<String, Value>,
    /// Metrics of the longest kernel, or by kernel name.
    pub counter_data: Map<String, Value>,
    /// launch_bounds, sync_in_loop, pageable_copy, or tier0_findings.
    pub source_hints: Map<String, Value>,
    /// rocpd database, folder, or list of them, as paths.
    pub database_path: Option<Paths>,
    /// An answer of agent_analysis.
    pub findings: Option<Map<String, Value>>,
    /// Only kernels whose name holds this text; re: in front for a regex.
    #[schemars(length(max = 500))]
    pub kernel_filter: Option<String>,
}

/// What latency techniques are judged by.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LatencyInput {
    /// Architecture, such as gfx942.
    pub gfx_id: Option<String>,
    /// Kernels with name, calls, total_duration (ns), as agent_analysis lists them.
    pub hot_kernels: Vec<Map<String, Value>>,
    /// Time the GPU waits for launches, percent of the run.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub api_overhead_pct: f64,
    /// Typical kernel duration, microseconds.
    #[schemars(range(min = 0.0))]
    pub avg_kernel_duration_us: Option<f64>,
    /// Metrics of the longest kernel, or by kernel name.
    pub counter_data: Map<String, Value>,
    /// launch_bounds, sync_in_loop, pageable_copy, or tier0_findings.
    pub source_hints: Map<String, Value>,
    /// rocpd database, folder, or list of them, as paths.
    pub database_path: Option<Paths>,
    /// An answer of agent_analysis.
    pub findings: Option<Map<String, Value>>,
    /// Captured amd-smi or rocm-smi JSON, a path.
    pub gpu_monitor_log: Option<String>,
}

/// Answer of a specialist.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpecialistAnswer {
    /// Known share of what the techniques depend on, a fraction.
    pub confidence: f64,
    /// Techniques, best first.
    pub techniques: Vec<Technique>,
    /// Facts and evidence behind them.
    pub citations: Vec<String>,
    /// Narrative, evidence, run.
    pub details: Details,
}

/// A technique for a target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Technique {
    /// Technique id.
    pub name: String,
    /// Headline.
    pub title: String,
    /// Why it applies.
    pub rationale: String,
    /// Middle gain of the whole run minus 1: 0.42 is 42 % faster.
    pub expected_impact: f64,
    /// low, medium or high.
    pub effort: String,
    /// low, medium or high.
    pub risk: String,
    /// applicable or possible.
    pub status: String,
    /// Fraction.
    pub confidence: f64,
    /// What it is applied to.
    pub target: TechniqueTarget,
    /// What it can bring.
    pub gain: Gain,
    /// What must hold.
    pub preconditions: Vec<Condition>,
    /// What it is ranked by.
    pub score: f64,
    /// The factor behind `effort`.
    pub effort_factor: f64,
    /// What to do.
    pub actions: Vec<String>,
    /// When it goes wrong.
    pub failure_modes: Vec<String>,
    /// How to see that it worked.
    pub verify: Verification,
    /// Ids of the evidence.
    pub evidence: Vec<String>,
    /// Fact id.
    pub citation: String,
    /// Technique and target, the same in every run of a program.
    pub key: String,
    /// Hash of the technique.
    pub hash: String,
    /// Hash of technique and target.
    pub target_hash: String,
    /// Predicted effect, uncut, when a model of the change applies.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<crate::report::advice::Prediction>,
}

/// What a technique is applied to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TechniqueTarget {
    /// kernel, copy or run.
    pub kind: String,
    /// k1, h2d or run.
    pub handle: String,
    /// In words.
    pub label: String,
}

/// What a technique can bring to its target and to the run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// Share of the run the target takes, percent.
    pub share_pct: f64,
    /// Speed-up of the kernel, low; kernels only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_lo: Option<f64>,
    /// Speed-up of the kernel, high; kernels only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_hi: Option<f64>,
    /// Bound of the speed-up by what the technique leaves alone; null when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<Option<f64>>,
    /// The unit that bounds it; null when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap_by: Option<Option<String>>,
    /// Time saved, low, percent of the run.
    pub saved_lo_pct: f64,
    /// Time saved, high, percent of the run.
    pub saved_hi_pct: f64,
    /// Speed-up of the run, low.
    pub run_lo: f64,
    /// Speed-up of the run, high.
    pub run_hi: f64,
}

/// A precondition and its state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Condition {
    /// What must hold.
    pub text: String,
    /// met, not_met or unknown.
    pub state: String,
    /// required, supporting, excluded or headroom.
    pub role: String,
    /// The value it was judged by.
    pub value: Value,
}

/// How to see that a technique worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verification {
    /// Metric to look at.
    pub metric: String,
    /// up, down, zero or within_tolerance.
    pub direction: String,
    /// Commands to run.
    pub commands: Vec<String>,
}
