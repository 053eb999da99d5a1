//! `counters`: what a hardware counter counts, and how to split a list into passes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `counters.lookup_info`.
pub struct LookupInfo;

impl Contract for LookupInfo {
    const NAME: &'static str = "counters.lookup_info";
    type Input = LookupInfoInput;
    type Output = LookupInfoOutput;
}

/// Arguments of `counters.lookup_info`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupInfoInput {
    /// Counter such as SQ_WAVES or FETCH_SIZE, a name; case matters.
    pub name: String,
    /// Architecture such as gfx942; answers whether it has the counter.
    pub gfx_id: Option<String>,
}

/// Answer of `counters.lookup_info`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupInfoOutput {
    /// The counter as asked for.
    pub name: String,
    /// Hardware block.
    pub block: String,
    /// What one unit of it is.
    pub unit: String,
    /// What it counts.
    pub description: String,
    /// Computed from other counters.
    pub derived: bool,
    /// Architectures that have it.
    pub available_on: Vec<String>,
    /// Whether the asked architecture has it; null without gfx_id.
    pub available: Option<bool>,
    /// Why that is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_reason: Option<&'static str>,
    /// Formula of a derived counter; null for raw ones.
    pub expression: Option<String>,
    /// Why there is no formula.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression_reason: Option<&'static str>,
    /// Raw counters it is made of.
    pub components: Vec<String>,
    /// Block to counters needed.
    pub cost: BTreeMap<String, usize>,
    /// Same meaning on the asked architecture.
    pub alternatives: Vec<String>,
    /// What to beware of.
    pub caveats: Vec<String>,
}

/// Contract of `counters.validate_for_gpu`.
pub struct ValidateForGpu;

impl Contract for ValidateForGpu {
    const NAME: &'static str = "counters.validate_for_gpu";
    type Input = ValidateForGpuInput;
    type Output = ValidateForGpuOutput;
}

/// Arguments of `counters.validate_for_gpu`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateForGpuInput {
    /// Counter names in the order wanted.
    #[schemars(length(max = 512))]
    pub counter_list: Vec<String>,
    /// Architecture such as gfx942.
    pub gpu_arch: String,
    /// Give FETCH_SIZE and WRITE_SIZE a pass each.
    #[serde(default = "yes")]
    pub isolate_memory_counters: bool,
    /// Program to place after -- in commands.
    #[serde(default = "program")]
    pub app: String,
}

const fn yes() -> bool {
    true
}

fn program() -> String {
    "./app".to_owned()
}

/// One counter that cannot be collected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Violation {
    /// As asked for.
    pub counter: String,
    /// `unknown_counter`, `not_available` or `exceeds_limit`.
    pub kind: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to collect instead.
    pub alternatives: Vec<String>,
}

/// One pass.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Pass {
    /// From 1.
    pub index: usize,
    /// Counters of the pass.
    pub counters: Vec<String>,
    /// Line of a counter file.
    pub pmc: String,
    /// Command that collects it.
    pub command: String,
}

/// One way to run all passes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolCommand {
    /// Which tool.
    pub tool: &'static str,
    /// What it does.
    pub description: String,
    /// The command.
    pub full_command: String,
}

/// What to do when one pass does not suffice.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Escalation {
    /// Always true.
    pub required: bool,
    /// Why.
    pub reason: String,
    /// Normalised architecture.
    pub gpu_arch: String,
    /// Passes.
    pub pass_count: usize,
    /// Each with its command.
    pub passes: Vec<Pass>,
    /// Where the second command expects the lines.
    pub pmc_groups_path: &'static str,
    /// The lines.
    pub pmc_groups: Vec<String>,
    /// Ways to run them all.
    pub commands: Vec<ToolCommand>,
}

/// Need of one block.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlockNeed {
    /// Hardware block.
    pub block: String,
    /// Counters per pass.
    pub limit: usize,
    /// Distinct events asked for.
    pub requested: usize,
    /// Passes that takes.
    pub passes_needed: usize,
}

/// Answer of `counters.validate_for_gpu`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ValidateForGpuOutput {
    /// Nothing was refused.
    pub ok: bool,
    /// Refused counters, at most 64.
    pub violations: Vec<Violation>,
    /// Refused counters, all.
    pub violations_total: usize,
    /// Passes.
    pub pass_count: usize,
    /// Counters of each pass.
    pub fixed_passes: Vec<Vec<String>>,
    /// How to run several passes; null for none or one.
    pub escalation: Option<Escalation>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalation_reason: Option<&'static str>,
    /// No fewer passes are possible.
    pub minimal: bool,
    /// Need per block.
    pub per_block: Vec<BlockNeed>,
    /// `arch` or `family`.
    pub limits_source: &'static str,
    /// Asked for more than once.
    pub duplicates: Vec<String>,
}
