//! The server's tools as this client knows them: wire entries with their dotted names.

use std::collections::HashMap;

use perfxpert_schemas::{ErrorKind, names};
use serde_json::{Value, json};

use crate::client::Server;
use crate::failure::Failure;

/// How a name is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `arch.lookup_peaks`.
    Dotted,
    /// `arch_lookup_peaks`.
    Bare,
    /// `perfxpert_arch_lookup_peaks`.
    Prefixed,
}

/// One tool.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `namespace.function`, or the wire name when the server does not tell.
    pub dotted: String,
    /// The entry of `tools/list`.
    pub raw: Value,
}

impl Entry {
    /// The name in `tools/list`.
    pub fn wire_name(&self) -> &str {
        self.raw.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// The part before the dot.
    pub fn namespace(&self) -> &str {
        self.dotted.split('.').next().unwrap_or_default()
    }

    /// agent, tool or diff.
    pub fn kind(&self) -> &'static str {
        match self.namespace() {
            "agent" => "agent",
            "trace_diff" => "diff",
            _ => "tool",
        }
    }

    /// The name in a spelling.
    pub fn spelled(&self, spelling: Spelling) -> String {
        match spelling {
            Spelling::Dotted => self.dotted.clone(),
            Spelling::Bare => names::bare(&self.dotted),
            Spelling::Prefixed => names::prefixed(&self.dotted),
        }
    }

    /// What the tool answers.
    pub fn description(&self) -> &str {
        self.raw.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The first sentence of the description.
    pub fn summary(&self) -> String {
        let text = self.description();
        text.split_once(". ").map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
    }
}

/// All tools of a running server.
pub struct Catalogue {
    entries: Vec<Entry>,
}

impl Catalogue {
    /// Asks the server.
    ///
    /// # Errors
    /// `internal` when it does not answer.
    pub fn read(server: &Server) -> Result<Self, Failure> {
        let listed = server.tools()?;
        let registry = server.ask("perfxpert/registry", json!({}))?;
        let dotted: HashMap<String, String> = registry
            .as_ref()
            .and_then(|answer| answer.pointer("/registry/tools"))
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|name| (names::bare(name), name.to_owned()))
            .collect();
        let entry = |raw: Value| {
            let wire = raw.get("name").and_then(Value::as_str).unwrap_or_default();
            let bare = names::to_bare(wire);
            Entry { dotted: dotted.get(&bare).cloned().unwrap_or(bare), raw }
        };
        Ok(Self { entries: listed.into_iter().map(entry).collect() })
    }

    /// The tools in the server's order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Finds a tool by any spelling.
    ///
    /// # Errors
    /// `unknown_name` with the nearest tool.
    pub fn find(&self, called: &str) -> Result<&Entry, Failure> {
        let bare = names::to_bare(called);
        let found = self.entries.iter().find(|entry| names::to_bare(entry.wire_name()) == bare);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.entries.iter().map(|entry| entry.dotted.as_str()).collect();
            let failure = Failure::new(
                ErrorKind::UnknownName,
                format!("No tool {called}."),
                "List them with perfxpert tools list.",
            );
            let near = known.clone();
            Failure::from(failure.error.field("tool").value(called).known(known)).near(called, near)
        })
    }

    /// `56 tools (8 agents, 47 tools, 1 diff)`, counted.
    pub fn count_line(&self, entries: &[&Entry]) -> String {
        let count = |kind: &str| entries.iter().filter(|entry| entry.kind() == kind).count();
        let plural = |count: usize, word: &str| {
            if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
        };
        let (agents, tools, diffs) = (count("agent"), count("tool"), count("diff"));
        format!(
            "{} ({}, {}, {diffs} diff)",
            plural(entries.len(), "tool"),
            plural(agents, "agent"),
            plural(tools, "tool")
        )
    }
}
