//! What profilers can collect: options, what they imply, counter sets, goals, steps and the workflow.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::document::table;

/// What an option means for what a run collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handling {
    /// A token of its own.
    Token,
    /// A token per value.
    Values,
    /// Narrows what is collected.
    Filter,
    /// Does not change what is collected.
    Ignored,
    /// Leaves open what is collected: an input file, an attach.
    OpensResult,
}

/// Values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// None, or a boolean word.
    Switch,
    /// Exactly one.
    One,
    /// Words up to the next option.
    Many,
    /// None or words up to the next option.
    Optional,
}

/// First release that has an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// Newer than the first release that wrote rocpd databases.
    Newer,
}

/// One option of rocprofv3.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfilerOption {
    /// Long spelling.
    pub name: String,
    /// Other spellings.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it means for what is collected.
    pub handling: Handling,
    /// Values it takes.
    pub takes: Takes,
    /// Token, or for [`Handling::Values`] the token's prefix.
    pub token: Option<String>,
    /// Set when old releases lack it.
    pub since: Option<Since>,
}

/// A spelling that looks like an option and is none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotAnOption {
    /// The spelling.
    pub name: String,
    /// The real option.
    pub instead: String,
}

/// The options of rocprofv3.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfilerOptions {
    /// Real ones.
    pub options: Vec<ProfilerOption>,
    /// Mistaken ones.
    pub not_options: Vec<NotAnOption>,
}

impl ProfilerOptions {
    /// The option of that spelling, long, short or alias.
    pub fn find(&self, spelling: &str) -> Option<&ProfilerOption> {
        self.options
            .iter()
            .find(|option| option.name == spelling || option.aliases.iter().any(|a| a == spelling))
    }
}

/// Counters for one purpose on some architectures, pass by pass.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterSet {
    /// gfx ids, or `any`.
    pub arches: Vec<String>,
    /// Counters of each pass.
    pub passes: Vec<Vec<String>>,
}

/// Counter sets by purpose.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterSets {
    /// Tells the bottlenecks apart; one pass.
    pub classify: Vec<CounterSet>,
    /// Bytes read.
    pub fetch: Vec<CounterSet>,
    /// Bytes written.
    pub write: Vec<CounterSet>,
    /// Operations by type, for the roofline.
    pub typed_operations: Vec<CounterSet>,
}

/// Passes of a set for an architecture, or of its general row; empty when neither exists.
pub fn passes(set: &'static [CounterSet], gfx_id: Option<&str>) -> &'static [Vec<String>] {
    let row = |id: &str| set.iter().find(|row| row.arches.iter().any(|arch| arch == id));
    gfx_id.and_then(row).or_else(|| row("any")).map_or(&[], |row| row.passes.as_slice())
}

/// Counters worth collecting by what a source scan found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceCounters {
    /// For any GPU program.
    pub always: Vec<String>,
    /// LDS is declared.
    pub lds: Vec<String>,
    /// Matrix builtins, libraries or names.
    pub matrix: Vec<String>,
    /// A kernel is defined or launched.
    pub any_kernel: Vec<String>,
    /// Atomic operations on memory.
    pub atomics: Vec<String>,
}

/// What a goal needs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Canonical name.
    pub name: String,
    /// Words that mean it in free text.
    pub keywords: Vec<String>,
    /// Groups of tokens, in order; `set:` stands for a counter set, `any:a|b` for one of several tokens.
    pub needs: Vec<Vec<String>>,
}

/// A step of collection.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Name as shown.
    pub name: String,
    /// Estimated cost, seconds; per pass for counter sets of several.
    pub cost_s: f64,
    /// Tokens it adds; `set:` a counter set, `closure:` everything an option implies.
    pub adds: Vec<String>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextStep {
    /// Tier after it.
    pub next_tier: u8,
    /// `profile`, `analyze`, `optimize`, `build` or `reprofile`.
    pub phase: String,
    /// `trace`, `counters`, `thread_trace`, `pc_sampling`, `analyze`, `optimize`, `build` or `verify`.
    pub step: String,
}

/// An environment variable of a profiler or runtime.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// Name.
    pub name: String,
    /// Default, in words.
    pub default: String,
    /// Who reads it.
    pub tool: String,
}

table! {
    /// Options of rocprofv3: what commands are read with and assembled from.
    pub fn rocprofv3_options() -> ProfilerOptions = "collect/rocprofv3_options";
}

table! {
    /// Tokens an option turns on, directly; follow the map for all.
    pub fn implied() -> BTreeMap<String, Vec<String>> = "collect/implied";
}

table! {
    /// Counter sets.
    pub fn counter_sets() -> CounterSets = "collect/counter_sets";
}

table! {
    /// Counters for a source tree without a trace.
    pub fn source_counters() -> SourceCounters = "collect/source_scan";
}

table! {
    /// Goals in the order in which free text is tried.
    pub fn goals() -> Vec<Goal> = "collect/goals";
}

table! {
    /// Steps in order of preference at equal cost.
    pub fn steps() -> Vec<Step> = "collect/steps";
}

table! {
    /// Next step per goal, for tiers 0 to 3.
    pub fn workflow() -> BTreeMap<String, Vec<NextStep>> = "collect/workflow";
}

table! {
    /// Environment variables with their real defaults.
    pub fn environment() -> Vec<Variable> = "collect/environment";
}

/// A token and everything it implies, sorted, each once.
pub fn closure<'a>(tokens: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut known: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
    let mut open: Vec<String> = tokens.into_iter().map(str::to_owned).collect();
    while let Some(token) = open.pop() {
        if let Some(more) = implied().get(&token) {
            open.extend(more.iter().filter(|more| !known.contains(*more)).cloned());
        }
        known.insert(token);
    }
    known.into_iter().collect()
}
