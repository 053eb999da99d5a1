//! What an agent may call: the toolbox it is given and the allowlist it is held to.

use std::time::Instant;

use perfxpert_schemas::ErrorObject;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::prompt::PromptId;
use crate::provider::BoxFuture;

/// What an agent may call. In the server the registry implements it, in tests a table of answers.
pub trait Toolbox: Send + Sync {
    /// Description and input schema exactly as `tools/list` shows them; `name` is the dotted name.
    fn describe(&self, tool: &str) -> Option<ToolSpec>;

    /// Runs a read-only tool. Arguments are already mapped back to real paths; the toolbox checks them against the
    /// tool's input schema like any other caller's and answers with an error object when they do not fit.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Value,
        cx: &'a CallCx,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>>;
}

/// One tool as a model service sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Wire name: `[a-zA-Z0-9_]`, at most 64 characters.
    pub name: String,
    /// What it answers and needs.
    pub description: String,
    /// JSON schema of the argument object.
    pub input_schema: Value,
}

/// A tool that gave no answer; shown to the model, never raised.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure(pub ErrorObject);

/// Limits of one call.
#[derive(Clone, Debug)]
pub struct CallCx {
    /// Cancelled when the caller gave up.
    pub cancel: CancellationToken,
    /// The time by which the whole model part must be over.
    pub deadline: Instant,
}

/// What one agent is and may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentSpec {
    /// Dotted name, such as `agent.analysis`.
    pub name: &'static str,
    /// 0 root, 1, or 2.
    pub layer: u8,
    /// Dotted names of the tools a model may call, at most 5.
    pub tools: &'static [&'static str],
    /// Its prompt file.
    pub prompt: PromptId,
    /// Whether it may carry model-written proposals.
    pub exploration: bool,
}

impl AgentSpec {
    /// A spec that keeps the rules, checked at compile time when used in a `const`.
    ///
    /// # Panics
    /// On a layer above 2, more than 5 tools, two tools that are equal once `.` reads `_`, or exploration outside
    /// layer 2. In a `const` each of these is a compile error.
    #[allow(
        clippy::panic,
        clippy::indexing_slicing,
        reason = "evaluated by the compiler, where only these exist"
    )]
    pub const fn new(
        name: &'static str,
        layer: u8,
        tools: &'static [&'static str],
        prompt: PromptId,
        exploration: bool,
    ) -> Self {
        assert!(layer <= 2, "an agent's layer is 0, 1 or 2");
        assert!(tools.len() <= 5, "an agent may call at most five tools");
        assert!(!exploration || layer == 2, "only layer 2 may explore");
        let mut i = 0;
        while i < tools.len() {
            let mut j = i + 1;
            while j < tools.len() {
                assert!(!same_wire_name(tools[i], tools[j]), "two tools with one wire name");
                j += 1;
            }
            i += 1;
        }
        Self { name, layer, tools, prompt, exploration }
    }

    /// The name without `agent.`, as progress messages and prompt files use it.
    pub fn short_name(&self) -> &'static str {
        self.name.strip_prefix("agent.").unwrap_or(self.name)
    }
}

#[allow(clippy::indexing_slicing, reason = "slices have no const iterator")]
const fn same_wire_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        let x = if a[i] == b'.' { b'_' } else { a[i] };
        let y = if b[i] == b'.' { b'_' } else { b[i] };
        if x != y {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_that_keeps_the_rules_is_made() {
        const SPEC: AgentSpec = AgentSpec::new(
            "agent.memory_specialist",
            2,
            &["arch.lookup_peaks"],
            PromptId::new("memory"),
            true,
        );
        assert_eq!(SPEC.short_name(), "memory_specialist");
    }

    #[test]
    #[should_panic(expected = "at most five tools")]
    fn six_tools_are_refused() {
        AgentSpec::new("agent.x", 1, &["a.a", "a.b", "a.c", "a.d", "a.e", "a.f"], PromptId::new("x"), false);
    }

    #[test]
    #[should_panic(expected = "one wire name")]
    fn two_spellings_of_one_tool_are_refused() {
        AgentSpec::new("agent.x", 1, &["a.b_c", "a_b.c"], PromptId::new("x"), false);
    }

    #[test]
    #[should_panic(expected = "only layer 2")]
    fn exploration_outside_layer_two_is_refused() {
        AgentSpec::new("agent.x", 1, &[], PromptId::new("x"), true);
    }

    #[test]
    #[should_panic(expected = "0, 1 or 2")]
    fn a_fourth_layer_is_refused() {
        AgentSpec::new("agent.x", 3, &[], PromptId::new("x"), false);
    }
}
