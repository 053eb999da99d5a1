//! Compiler flags and loop hints: what may be suggested, for which goal, and what must not.

use serde::Deserialize;

use crate::document::table;

/// One compiler flag.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flag {
    /// As written on the command line; one that takes a value ends in `=`.
    pub flag: String,
    /// Group, `fast_math`.
    pub category: String,
    /// May be suggested.
    pub allowlist: bool,
    /// `low`, `medium`, `high`.
    pub risk: String,
    /// Words of [`Vocabulary::goals`].
    pub goals: Vec<String>,
    /// gfx ids, or `all`.
    pub arches: Vec<String>,
    /// Words of [`Vocabulary::kernel_classes`], or `any`.
    pub kernel_classes: Vec<String>,
    /// What it does.
    pub description: String,
    /// What to beware of.
    pub note: Option<String>,
    /// What to use instead of a denied flag.
    pub alternative: Option<String>,
}

/// The words a caller can filter flags by.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// Goals.
    pub goals: Vec<String>,
    /// Kernel classes.
    pub kernel_classes: Vec<String>,
}

/// One loop hint.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pragma {
    /// Catalogue id.
    pub pragma: String,
    /// As written in the source; `N` stands for a number.
    pub syntax: String,
    /// What it does.
    pub description: String,
    /// Has an effect on GPU code.
    pub gpu_applicable: bool,
    /// May be suggested.
    pub allowlist: bool,
    /// The evidence that suggests it.
    pub trigger_signal: Option<String>,
    /// That evidence in words; the numbers are `thresholds/pragma`.
    pub trigger_threshold: Option<String>,
    /// Factors worth trying.
    pub factor_sweep: Vec<u32>,
    /// Expected, not measured.
    pub expected_impact: String,
    /// `low`, `medium`, `high`.
    pub risk: String,
    /// gfx ids, or `all`.
    pub applies_to_gfx: Vec<String>,
    /// Why it is rejected.
    pub reason: Option<String>,
}

table! {
    /// All flags, allowed and denied, in catalogue order.
    pub fn flags() -> Vec<Flag> = "compiler/flags";
}

table! {
    /// The filter words.
    pub fn vocabulary() -> Vocabulary = "compiler/vocabulary";
}

table! {
    /// All loop hints in catalogue order.
    pub fn pragmas() -> Vec<Pragma> = "compiler/pragmas";
}
