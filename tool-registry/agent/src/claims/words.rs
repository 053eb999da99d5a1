//! Words and marks: plain text, backticked names, flags, bottleneck words, and words that never appear.

use std::sync::LazyLock;

use regex::Regex;

use super::Verdict;

/// What a bottleneck word says: a label, or a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Label(&'static str),
    Detail(&'static str),
}

/// "compute-bound" and its kin, by their first word.
const BOUND_WORDS: [(&str, Meaning); 11] = [
    ("compute", Meaning::Label("compute")),
    ("memory", Meaning::Detail("hbm_bandwidth")),
    ("bandwidth", Meaning::Detail("hbm_bandwidth")),
    ("copy", Meaning::Detail("host_device_copy")),
    ("transfer", Meaning::Detail("host_device_copy")),
    ("launch", Meaning::Detail("launch_overhead")),
    ("latency", Meaning::Label("latency")),
    ("idle", Meaning::Detail("gpu_idle")),
    ("sync", Meaning::Detail("synchronization")),
    ("communication", Meaning::Detail("communication")),
    ("occupancy", Meaning::Detail("low_occupancy")),
];

/// Labels and details that can only be meant as such.
const LABELS: [(&str, Meaning); 9] = [
    ("memory_transfer", Meaning::Label("memory_transfer")),
    ("data_insufficient", Meaning::Label("data_insufficient")),
    ("api_overhead", Meaning::Label("api_overhead")),
    ("host_device_copy", Meaning::Detail("host_device_copy")),
    ("hbm_bandwidth", Meaning::Detail("hbm_bandwidth")),
    ("launch_overhead", Meaning::Detail("launch_overhead")),
    ("gpu_idle", Meaning::Detail("gpu_idle")),
    ("low_occupancy", Meaning::Detail("low_occupancy")),
    ("memory bandwidth bound", Meaning::Detail("hbm_bandwidth")),
];

/// Words that never stand in an answer, as whole words.
const UNWANTED: &str = r"(?ix)\b(?:
    routes? | routed | routing | delegates? | delegated | delegating | delegation | hand\x20off | handoff | let\x20me
  | I\x20will | proceeds? | specialists? | sub-agents? | based\x20on\x20the\x20classified | as\x20an\x20AI
  )\b";

// A pattern that did not compile would let everything pass, so each falls back to one that matches everything; the
// tests of this module would notice.
static BOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(?P<word>compute|memory|bandwidth|copy|transfer|launch|latency|idle|sync|synchronization
          |communication|occupancy)[\s_-]*(?:bound|limited|bottlenecked)\b",
    )
    .ok()
});
static LIMITED_BY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(?:(?:limited|bound|bottlenecked|dominated)\s+by|bottleneck\s+(?:is|was|lies\s+in|comes\s+from))
          \s+(?:the\s+|its\s+)?(?P<word>compute|memory|bandwidth|cop(?:y|ies)|transfers?|launch(?:es)?|latency|idle
          |sync|synchronization|communication|occupancy|mixed|hbm)\b",
    )
    .ok()
});
static BOTTLENECK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(?P<word>compute|memory|bandwidth|copy|copies|transfers?|launch|launches|latency|idle
          |sync|synchronization|communication|occupancy|hbm)\s+(?:(?:is|are)\s+(?:the|its|a)\s+)?
          (?:main\s+|real\s+|primary\s+)?(?:bottleneck|limiter)\b",
    )
    .ok()
});
static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)[a-z][a-z0-9+.-]*://|\bwww\.|</?[a-z!][^>]*>|\|.*\||^\s*(?:\#|>|[-*+]\s|\d+[.)]\s)|\*\*|__\S",
    )
    .ok()
});
static PHRASE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(UNWANTED).ok());
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("`[^`]*`|\"[^\"]*\"").ok());

fn matches(rule: &LazyLock<Option<Regex>>, text: &str) -> bool {
    rule.as_ref().is_none_or(|rule| rule.is_match(text))
}

/// One paragraph of plain text: no control or direction characters, address, heading, list, table, fence or tag.
pub(super) fn is_plain(text: &str) -> bool {
    if text.trim().is_empty() || text.matches('`').count() % 2 == 1 || text.contains("``") {
        return false;
    }
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}')
            || matches!(c, '\u{061C}' | '\u{FEFF}' | '\u{00AD}')
    };
    !text.chars().any(hidden) && !matches(&SHAPE, &without_backticked(text))
}

/// The tokens between backticks.
pub(crate) fn backticked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The text with every backticked token replaced by a space.
pub(super) fn without_backticked(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Every word that starts with `-`, backticks included, freed of the marks around it.
pub(super) fn flags(text: &str) -> impl Iterator<Item = &str> {
    let edge =
        |c: char| matches!(c, '`' | ',' | ';' | ':' | '(' | ')' | '"' | '\'' | '.' | '!' | '?' | '[' | ']');
    text.split_whitespace()
        .map(move |word| word.trim_start_matches(edge).trim_end_matches(edge))
        .filter(|word| word.starts_with('-') && word.chars().any(char::is_alphabetic))
}

/// Whether a text names a bottleneck other than the verdict's.
pub(super) fn contradicts(text: &str, verdict: Option<&Verdict>, labels: &[String]) -> bool {
    let plain = dashes_as_ascii(&without_backticked(text)).to_lowercase();
    let everything = dashes_as_ascii(text).to_lowercase();
    let mut named = Vec::new();
    for rule in [&BOUND, &LIMITED_BY, &BOTTLENECK] {
        let Some(rule) = rule.as_ref() else { return true };
        for found in rule.captures_iter(&plain) {
            let word = found.name("word").map(|word| word.as_str()).unwrap_or_default();
            named.push(meaning_of(word));
        }
    }
    let said = |label: &str| whole_word(&everything, label);
    named.extend(LABELS.iter().filter(|(label, _)| said(label)).map(|(_, meaning)| Some(*meaning)));
    let other = labels.iter().filter(|label| said(&label.to_lowercase()));
    let other_wrong = other.into_iter().any(|label| {
        !verdict.is_some_and(|verdict| {
            verdict.label == *label || verdict.detail.as_deref() == Some(label.as_str())
        })
    });
    other_wrong || named.into_iter().any(|meaning| !allowed(meaning, verdict))
}

fn meaning_of(word: &str) -> Option<Meaning> {
    let stem = match word {
        "copies" => "copy",
        "transfers" => "transfer",
        "launches" => "launch",
        "synchronization" => "sync",
        "hbm" => "memory",
        "mixed" => return Some(Meaning::Label("mixed")),
        other => other,
    };
    BOUND_WORDS.iter().find(|(first, _)| *first == stem).map(|(_, meaning)| *meaning)
}

fn allowed(meaning: Option<Meaning>, verdict: Option<&Verdict>) -> bool {
    match (meaning, verdict) {
        (Some(Meaning::Label(label)), Some(verdict)) => verdict.label == label,
        (Some(Meaning::Detail(detail)), Some(verdict)) => verdict.detail.as_deref() == Some(detail),
        _ => false,
    }
}

/// Every kind of hyphen and dash as `-`, so that none hides a word.
fn dashes_as_ascii(text: &str) -> String {
    text.chars()
        .map(|c| {
            if matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE63}' | '\u{FF0D}') { '-' } else { c }
        })
        .collect()
}

fn whole_word(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}

/// Whether a word stands in the text that never appears in an answer, backticks and quotes aside.
pub(super) fn has_unwanted_phrase(text: &str) -> bool {
    let Some(quoted) = QUOTED.as_ref() else { return true };
    matches(&PHRASE, &quoted.replace_all(text, " "))
}
