//! Facts about programs that talk to this one: MCP clients and model services.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::document::table;

table! {
    /// Arguments some MCP clients add to every call; removed before arguments are checked.
    pub fn injected_arguments() -> Vec<String> = "mcp/injected_arguments";
}

table! {
    /// Built-in model per provider.
    pub fn default_models() -> BTreeMap<String, String> = "llm/models";
}

table! {
    /// What is known of a model by the beginning of its id. Keys of a row: `prefix`, optionally `provider`,
    /// `temperature` (accepted, refused), `thinking` (enabled, adaptive, off), `token_key` (max_tokens,
    /// max_completion_tokens), `tool_choice` (full, auto, absent), `tools` (accepted, refused).
    pub fn model_quirks() -> Vec<BTreeMap<String, String>> = "llm/quirks";
}

table! {
    /// Beginnings of messages that mean an allowance is used up although no code says so.
    pub fn quota_messages() -> Vec<String> = "llm/quota_messages";
}

/// The built-in model of a provider; `None` when it has none.
pub fn default_model(provider: &str) -> Option<&'static str> {
    default_models().get(provider).map(String::as_str)
}

/// A coding client and the versions known to work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodingClient {
    /// Program.
    pub name: String,
    /// Oldest version that works; `None` when every one does.
    pub minimum: Option<String>,
    /// Version tested with.
    pub tested: String,
}

table! {
    /// Coding clients.
    pub fn coding_clients() -> Vec<CodingClient> = "code/clients";
}

/// A program that starts the ranks of a parallel run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launcher {
    /// Names it is called by.
    pub words: Vec<String>,
    /// Word that must follow.
    pub subcommand: Option<String>,
    /// What its version output holds; empty when the word alone tells.
    pub banner: Vec<String>,
    /// Family.
    pub family: String,
    /// Part of an output file's name that differs per rank.
    pub rank: String,
    /// Options whose value is the number of ranks.
    pub count: Vec<String>,
    /// Options that take one value.
    pub takes_value: Vec<String>,
    /// Options that take two values.
    pub takes_two: Vec<String>,
}

table! {
    /// Launchers.
    pub fn launchers() -> Vec<Launcher> = "code/launchers";
}

table! {
    /// Cache folders builds may write to; `~` is the home folder.
    pub fn writable() -> Vec<String> = "code/writable";
}
