//! Stall reasons of PC sampling and the categories of thread-trace instructions.

use serde::Deserialize;

use crate::document::table;

/// A stall reason of the profiler SDK, or a label of the predecessor that maps to one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StallRow {
    /// As catalogued, upper case.
    pub code: String,
    /// Short name.
    pub name: String,
    /// Why waves stall; absent on legacy rows, which share their SDK reason's.
    pub root_cause: Option<String>,
    /// Whether something can be done about it.
    pub actionable: Option<bool>,
    /// What to try, best first.
    #[serde(default)]
    pub mitigations: Vec<String>,
    /// The SDK reason a legacy label stands for.
    pub legacy_of: Option<String>,
}

/// Counters of `s_waitcnt` and what waiting on them means.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// What is waited on, `vector_memory`.
    pub name: String,
    /// Counter names, lower case.
    pub counters: Vec<String>,
}

/// A category of thread-trace instructions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionCategory {
    /// Stable name, `att_vmem_latency`.
    pub name: String,
    /// Heading.
    pub label: String,
    /// Prefixes of the upper-cased instruction.
    pub prefixes: Vec<String>,
    /// Counters, upper case, by which a wait belongs here.
    pub waits: Vec<String>,
    /// Parts of a scalar instruction that make it this one's.
    #[serde(default)]
    pub contains: Vec<String>,
}

table! {
    /// The catalogue: ten SDK reasons, then eight legacy labels.
    pub fn stall_reasons() -> Vec<StallRow> = "att/stall_reasons";
}

table! {
    /// Wait counters, in the order in which several are named.
    pub fn waits() -> Vec<Wait> = "att/waits";
}

table! {
    /// Instruction categories in match order; the last is the rest.
    pub fn categories() -> Vec<InstructionCategory> = "att/categories";
}

/// A stall reason found by its code, and the SDK reason it maps to (itself unless legacy).
pub fn stall_reason(code: &str) -> Option<(&'static StallRow, &'static StallRow)> {
    let rows = stall_reasons();
    let row = rows.iter().find(|row| row.code == code)?;
    let sdk = match &row.legacy_of {
        Some(sdk) => rows.iter().find(|row| row.code == *sdk)?,
        None => row,
    };
    Some((row, sdk))
}

/// What an instruction waits on, `lds` or `vector_memory+lds`; `None` when it names no wait counter.
pub fn waits_on(instruction: &str) -> Option<String> {
    let text = instruction.to_ascii_lowercase();
    // Whole words: lgkmcnt holds kmcnt.
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let named = |wait: &&Wait| wait.counters.iter().any(|counter| words.contains(&counter.as_str()));
    let names: Vec<&str> = waits().iter().filter(named).map(|wait| wait.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join("+"))
}

/// Category of a thread-trace instruction.
pub fn category(instruction: &str) -> &'static str {
    let text = instruction.trim().to_ascii_uppercase();
    let rows = categories();
    let last = rows.last().map_or("", |row| row.name.as_str());
    let opcode = text.split_whitespace().next().unwrap_or("");
    let by_prefix = |row: &&InstructionCategory| {
        row.prefixes.iter().any(|prefix| opcode.starts_with(prefix.as_str()))
            || row.contains.iter().any(|part| opcode.starts_with("S_") && opcode.contains(part.as_str()))
    };
    // A wait belongs to what it waits on; the first row whose counter it names wins.
    let is_wait = opcode.starts_with("S_WAIT") && !opcode.starts_with("S_WAIT_ALU");
    let by_wait = |row: &&InstructionCategory| {
        text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| row.waits.iter().any(|wait| wait == word))
    };
    let found = if is_wait { rows.iter().find(by_wait) } else { None };
    found.or_else(|| rows.iter().find(by_prefix)).map_or(last, |row| row.name.as_str())
}
