//! Verdict, evidence and recommendations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Verdict and key findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// First sentence of the deterministic narrative.
    pub overall_assessment: String,
    /// Copy of the report's.
    pub primary_bottleneck: String,
    /// Copy of the report's.
    pub bottleneck_detail: Option<String>,
    /// Copy of the report's, fraction.
    pub confidence: f64,
    /// Two to six sentences.
    pub key_findings: Vec<String>,
    /// The second-best explanation.
    pub runner_up: Option<RunnerUp>,
    /// deterministic or model.
    pub narrative_source: String,
}

/// The second-best explanation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunnerUp {
    /// Bottleneck label.
    pub label: String,
    /// Its detail.
    pub detail: Option<String>,
    /// Its support, fraction.
    pub score: f64,
}

/// What the verdict stands on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Numbers held against thresholds.
    pub items: Vec<EvidenceItem>,
    /// Items before the cut.
    pub items_total: u64,
    /// What speaks against the verdict.
    pub contradictions: Vec<String>,
    /// What was recorded.
    pub coverage: Coverage,
    /// What is not known and how to learn it.
    pub missing: Vec<Missing>,
}

/// A number held against a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceItem {
    /// Stable id.
    pub id: String,
    /// One sentence.
    pub text: String,
    /// Name of the metric.
    pub metric: String,
    /// Its value.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// >=, >, <=, <, == or null.
    pub comparator: Option<String>,
    /// What it was held against.
    pub threshold: Option<f64>,
    /// supports, contradicts or context.
    pub role: String,
    /// kernels, memory_copies, regions, counters, att, source or facts.
    pub source: String,
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// 0 source, 1 trace, 2 counters, 3 thread trace.
    pub tier: u64,
    /// Dispatches recorded.
    pub kernel_trace: bool,
    /// Copies recorded.
    pub copy_trace: bool,
    /// Host calls recorded.
    pub api_trace: bool,
    /// Markers recorded.
    pub marker_trace: bool,
    /// Counters recorded, sorted.
    pub counters_collected: Vec<String>,
    /// Dispatches that carry a counter.
    pub dispatches_with_counters: u64,
    /// All dispatches.
    pub dispatches_total: u64,
    /// Kernel time of dispatches with counters, percent of all kernel time.
    pub kernel_time_with_counters_pct: f64,
    /// Thread trace given.
    pub att: bool,
}

/// Something not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// The metric.
    pub metric: String,
    /// What it would decide.
    pub needed_for: String,
    /// Why it is not known.
    pub reason: String,
    /// How to collect it.
    pub commands: Vec<CommandLine>,
}

/// A command assembled from the option tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandLine {
    /// collect, verify or inspect.
    pub purpose: String,
    /// Program.
    pub tool: String,
    /// What it does.
    pub description: String,
    /// Options without a value.
    pub flags: Vec<String>,
    /// Options and positionals with a value.
    pub args: Vec<CommandArgument>,
    /// The line to paste, quoted for a shell.
    pub full_command: String,
}

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandArgument {
    /// Option or positional name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// One thing to do, with its evidence and the command that verifies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// Stable id, counting per report.
    pub id: String,
    /// Rule name; with `target` the identity.
    pub rule: String,
    /// Place from 1.
    pub rank: u64,
    /// HIGH, MEDIUM, LOW or INFO.
    pub priority: String,
    /// Heading.
    pub category: String,
    /// Bottleneck class it addresses, or code_pattern, loop_hint.
    #[serde(rename = "type")]
    pub class: String,
    /// Kernel name, GPU or file:line.
    pub target: Option<String>,
    /// trace, kernel, agent or source.
    pub target_kind: String,
    /// Technique id.
    pub name: String,
    /// One line with the key number.
    pub title: String,
    /// What was found.
    pub issue: String,
    /// What to do.
    pub suggestion: String,
    /// How, one to five steps.
    pub actions: Vec<String>,
    /// Upper bound of the gain in words.
    pub estimated_impact: String,
    /// Upper bound of the time saved, percent of the run.
    pub gain_bound_pct: Option<f64>,
    /// How the bound was computed.
    pub gain_basis: String,
    /// Recommendations whose bounds count the same time.
    pub overlaps_with: Vec<String>,
    /// Fraction.
    pub confidence: f64,
    /// What must hold for it to work.
    pub preconditions: Vec<Precondition>,
    /// The numbers behind it.
    pub evidence: Vec<EvidenceItem>,
    /// Places in the source.
    pub source_refs: Vec<SourceRef>,
    /// Source patterns folded in.
    pub merged_ids: Vec<String>,
    /// Fact id of the rule.
    pub citation: String,
    /// Commands; the last one verifies.
    pub commands: Vec<CommandLine>,
    /// pragma, or null.
    pub subtype: Option<String>,
    /// Shown only on request.
    pub advanced: bool,
    /// Lines from the scanned source.
    pub code_snippet_before: Option<String>,
    /// The same with the change.
    pub code_snippet_after: Option<String>,
    /// A model's note.
    pub llm_note: Option<String>,
    /// HTML id.
    pub anchor: String,
    /// A predicted effect, when the model of the change allows one.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// Keys of a loop hint.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub pragma: Option<PragmaHint>,
}

/// Whether something that must hold does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Precondition {
    /// What must hold.
    pub name: String,
    /// met, not_met or unknown.
    pub status: String,
    /// The value it was judged by.
    pub detail: String,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRef {
    /// Path relative to the scanned folder.
    pub file: String,
    /// Line from 1.
    pub line: u64,
    /// definition, launch, pattern or instruction.
    pub kind: String,
    /// The code pattern, when it is one.
    pub pattern_id: Option<String>,
}

/// A predicted effect, as `predict_impact.predict_change_impact` answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Speed-up of the kernel, low and high.
    pub predicted_impact_range: Vec<f64>,
    /// Speed-up of the run, low and high.
    pub predicted_program_range: Vec<f64>,
    /// Fraction.
    pub predicted_confidence: f64,
    /// Why.
    pub predicted_rationale: String,
    /// Source of the model.
    pub source_citation: String,
    /// Movement on the roofline.
    pub roofline_delta: Option<Value>,
    /// Stable id.
    pub prediction_id: String,
}

/// Keys that only a loop hint has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PragmaHint {
    /// File of the loop.
    pub source_file: String,
    /// Line of the loop.
    pub source_line: u64,
    /// The pragma.
    pub pragma_id: String,
    /// Factors to try.
    pub factor_sweep: Vec<u64>,
    /// What may go wrong.
    pub risk: String,
}
