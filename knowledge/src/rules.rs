//! The recommendation rules of a report: ids, texts, base confidence. Triggers are `thresholds/report`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::FactError;
use crate::document::{self, built_in, table};

/// One rule. Texts hold `{names}` to fill.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Rule name, also the file's.
    pub rule: String,
    /// First id it gives, `ROCPD-MEMCPY-001`.
    pub id: String,
    /// Heading.
    pub category: String,
    /// Bottleneck class it addresses, `memory_transfer.host_device_copy`; or `code_pattern`.
    pub class: String,
    /// One-line headline.
    pub title: String,
    /// What to do, in a sentence.
    pub suggestion: String,
    /// Suggestion for one of the techniques.
    #[serde(default)]
    pub suggestion_by: BTreeMap<String, String>,
    /// What was found.
    pub issue: String,
    /// How, sentences.
    pub actions: Vec<String>,
    /// How, by the limiter or call family that triggered it.
    #[serde(default)]
    pub actions_by: BTreeMap<String, Vec<String>>,
    /// Confidence with every precondition known and met, fraction.
    pub base_confidence: f64,
    /// Priority that does not follow the gain.
    pub fixed_priority: Option<String>,
    /// Techniques it names; the first unless its text says otherwise.
    pub techniques: Vec<String>,
}

impl Rule {
    /// Fact id, as citations spell it.
    pub fn citation(&self) -> String {
        format!("rules/{}", self.rule)
    }
}

table! {
    /// Rule names in order.
    pub fn catalogue() -> Vec<String> = "rules/catalogue";
}

/// Decodes one rule's file.
///
/// # Errors
/// The file is missing or malformed.
pub fn load(rule: &str) -> Result<Rule, FactError> {
    Ok(document::load(&format!("rules/{rule}"))?.facts)
}

/// All rules in order.
pub fn all() -> &'static [Rule] {
    static CELL: OnceLock<Vec<Rule>> = OnceLock::new();
    CELL.get_or_init(|| built_in(catalogue().iter().map(|rule| load(rule)).collect()))
}

/// A rule by name.
pub fn find(rule: &str) -> Option<&'static Rule> {
    all().iter().find(|row| row.rule == rule)
}
