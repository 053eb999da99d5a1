//! `agent.recommendation`: ranked things to do about a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::{AgentCall, EditEntry};
use super::details::Details;
use super::options::Paths;
use super::specialists::{Condition, Gain};
use crate::report::advice::Recommendation;
use crate::tools::Contract;

/// The named fields of the answer; `details` stands beside them.
pub const NAMED_FIELDS: [&str; 4] =
    ["specialist_used", "plateau_detected", "empty_reason", "recommendations"];

/// Contract of `agent.recommendation`.
pub struct Recommend;

impl Contract for Recommend {
    const NAME: &'static str = "agent.recommendation";
    type Input = AgentCall<RecommendationInput>;
    type Output = RecommendationAnswer;
}

fn ten() -> u32 {
    10
}

/// What to advise on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecommendationInput {
    /// An answer of agent_analysis.
    #[serde(default)]
    pub findings: Option<Map<String, Value>>,
    /// rocpd database, folder, or list of them, as paths.
    #[serde(default)]
    pub database_path: Option<Paths>,
    /// Architecture when the trace does not name its GPU, such as gfx942.
    #[serde(default)]
    pub gfx_id: Option<String>,
    /// Only kernels whose name holds this text; re: in front for a regex.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub kernel_filter: Option<String>,
    /// Earlier attempts, oldest first.
    #[serde(default)]
    #[schemars(length(max = 200), with = "Vec<Map<String, Value>>")]
    pub edit_history: Vec<EditEntry>,
    /// Hashes of entries not to show again.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub seen_recommendation_hashes: Vec<String>,
    /// Source tree to scan, a folder.
    #[serde(default)]
    pub source_dir: Option<String>,
    /// Folder with thread-trace stats_*.csv files.
    #[serde(default)]
    pub att_dir: Option<String>,
    /// Captured amd-smi or rocm-smi JSON, a path.
    #[serde(default)]
    pub gpu_monitor_log: Option<String>,
    /// Entries, a count.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 20))]
    pub max_recommendations: u32,
}

/// Whose technique answers the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpecialistUsed {
    /// Compute.
    Compute,
    /// Memory.
    Memory,
    /// Latency.
    Latency,
    /// None.
    None,
}

/// Why the list is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyReason {
    /// No rule fires.
    NothingFits,
    /// Everything was seen or tried.
    AllSeen,
    /// The kernel filter removed entries.
    Filtered,
    /// The trace says too little.
    DataInsufficient,
}

/// Answer of `agent.recommendation`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecommendationAnswer {
    /// compute, memory, latency or none.
    pub specialist_used: SpecialistUsed,
    /// Whether the loop stopped improving.
    pub plateau_detected: bool,
    /// Why the list is empty.
    pub empty_reason: Option<EmptyReason>,
    /// Things to do, best first.
    pub recommendations: Vec<Recommended>,
    /// Verdict, narrative, evidence, run.
    pub details: Details,
}

/// An entry of the report with what a loop needs to remember it by.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Recommended {
    /// The entry as the report lists it.
    #[serde(flatten)]
    pub entry: Recommendation,
    /// Hash of the technique.
    pub hash: String,
    /// Hash of technique and target.
    pub target_hash: String,
    /// What the technique of that name promises for that target; null when it is not listed.
    pub technique: Option<TechniquePart>,
}

/// The technique behind an entry.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TechniquePart {
    /// applicable or possible.
    pub status: String,
    /// What it can bring.
    pub gain: Gain,
    /// low, medium or high.
    pub effort: String,
    /// The factor behind the word.
    pub effort_factor: f64,
    /// low, medium or high.
    pub risk: String,
    /// What it is ranked by.
    pub score: f64,
    /// Fraction.
    pub confidence: f64,
    /// What must hold.
    pub preconditions: Vec<Condition>,
    /// When it goes wrong.
    pub failure_modes: Vec<String>,
}
