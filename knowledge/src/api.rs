//! Families of runtime API calls, and which of them block the host.

use serde::Deserialize;

use crate::document::table;

/// What a runtime call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Launches kernels or graphs.
    Launch,
    /// Waits for GPU work, or asks whether it is done.
    Sync,
    /// Copies or fills memory.
    Copy,
    /// Allocates, frees or registers memory.
    Alloc,
    /// Loads, compiles or looks up code.
    Module,
    /// Anything else.
    Other,
}

impl Family {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Sync => "sync",
            Self::Copy => "copy",
            Self::Alloc => "alloc",
            Self::Module => "module",
            Self::Other => "other",
        }
    }
}

/// Name patterns of one family, lower case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyRow {
    /// Family.
    pub name: Family,
    /// Substrings.
    pub patterns: Vec<String>,
    /// Whole names.
    pub exact: Vec<String>,
}

/// Name patterns of blocking calls, lower case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocking {
    /// Substrings of waits.
    pub patterns: Vec<String>,
    /// Prefixes of copies that block unless excluded.
    pub copies: Vec<String>,
    /// Substrings that exclude a copy.
    pub not_in_copies: Vec<String>,
}

table! {
    /// Families in match order.
    pub fn families() -> Vec<FamilyRow> = "api/families";
}

table! {
    /// The patterns behind [`blocks`].
    pub fn blocking() -> Blocking = "api/blocking";
}

/// Family of a call, from its name in any case.
pub fn family(call: &str) -> Family {
    let call = call.trim().to_ascii_lowercase();
    families()
        .iter()
        .find(|row| row.patterns.iter().any(|part| call.contains(part.as_str())) || row.exact.contains(&call))
        .map_or(Family::Other, |row| row.name)
}

/// Whether a call returns only when GPU work has finished: device, stream and event synchronise, and the
/// synchronous copy family. Polling does not block.
pub fn blocks(call: &str) -> bool {
    let call = call.trim().to_ascii_lowercase();
    let table = blocking();
    table.patterns.iter().any(|part| call.contains(part.as_str()))
        || (table.copies.iter().any(|prefix| call.starts_with(prefix.as_str()))
            && !table.not_in_copies.iter().any(|part| call.contains(part.as_str())))
}
