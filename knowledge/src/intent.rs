//! Rules that route a sentence to an intent without a model.

use std::sync::OnceLock;

use regex::RegexSet;
use serde::Deserialize;

use crate::FactError;
use crate::document::{built_in, table};

/// One rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Stable id, `verify.did_it_help`.
    pub id: String,
    /// `analyze`, `optimize`, `verify`, `explain` or `help`.
    pub intent: String,
    /// Score when the pattern is found, fraction.
    pub weight: f64,
    /// Regular expression searched in the lower-cased sentence.
    pub pattern: String,
}

table! {
    /// The rules in file order.
    pub fn rules() -> Vec<Rule> = "intent/rules";
}

/// The rules whose pattern occurs in a lower-cased, single-line sentence, in file order. The patterns are
/// compiled on first use; matching is linear in the sentence.
pub fn matching(sentence: &str) -> Vec<&'static Rule> {
    static SET: OnceLock<RegexSet> = OnceLock::new();
    let set = SET.get_or_init(|| built_in(compile()));
    let rules = rules();
    set.matches(sentence).into_iter().filter_map(|at| rules.get(at)).collect()
}

fn compile() -> Result<RegexSet, FactError> {
    RegexSet::new(rules().iter().map(|rule| rule.pattern.as_str()))
        .map_err(|error| FactError::Malformed { file: "intent/rules".to_owned(), message: error.to_string() })
}
