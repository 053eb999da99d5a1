//! Facts about programs that talk to this one: MCP clients and model services.

use std::collections::BTreeMap;

use crate::document::table;

table! {
    /// Arguments some MCP clients add to every call; removed before arguments are checked.
    pub fn injected_arguments() -> Vec<String> = "mcp/injected_arguments";
}

table! {
    /// Built-in model per provider.
    pub fn default_models() -> BTreeMap<String, String> = "llm/models";
}

/// The built-in model of a provider; `None` when it has none.
pub fn default_model(provider: &str) -> Option<&'static str> {
    default_models().get(provider).map(String::as_str)
}
