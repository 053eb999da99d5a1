//! Hardware counters: raw and derived definitions per architecture, cost, limits, aliases.
//!
//! ```
//! use perfxpert_knowledge::counters::{self, Column};
//!
//! let mi300 = Column::of("gfx942").unwrap().column;
//! let fetch = counters::resolve("FETCH_SIZE").unwrap();
//! assert_eq!(fetch.cost(mi300)["TCC"], 3);
//! assert!(counters::resolve("SQ_INSTS_VALU_MFMA").is_none());
//! assert_eq!(counters::alias("SQ_INSTS_VALU_MFMA"), Some("SQ_INSTS_MFMA"));
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::document::table;

mod column;
mod resolve;

pub use column::{Column, ColumnOf, LimitsSource};
pub use resolve::{Aggregate, Definition, Resolved, alternatives, combine, resolve};

/// What a counter counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Unit {
    /// Events.
    #[serde(rename = "count")]
    Count,
    /// Clock cycles.
    #[serde(rename = "cycles")]
    Cycles,
    /// Groups of four clock cycles on gfx9, cycles on RDNA.
    #[serde(rename = "quad_cycles")]
    QuadCycles,
    /// Lanes times groups of four cycles.
    #[serde(rename = "lane_quad_cycles")]
    LaneQuadCycles,
    /// Sum of a level over cycles.
    #[serde(rename = "level_sum")]
    LevelSum,
    /// Operations.
    #[serde(rename = "operations")]
    Operations,
    /// Operations divided by 512.
    #[serde(rename = "operations_512")]
    Operations512,
    /// Units of 32 bytes.
    #[serde(rename = "32_bytes")]
    Bytes32,
    /// Units of 64 bytes.
    #[serde(rename = "64_bytes")]
    Bytes64,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// 1024 bytes.
    #[serde(rename = "KiB")]
    KiB,
    /// 0 to 100.
    #[serde(rename = "percent")]
    Percent,
    /// One quantity over another.
    #[serde(rename = "ratio")]
    Ratio,
    /// Resident waves.
    #[serde(rename = "waves")]
    Waves,
    /// Bytes per clock cycle.
    #[serde(rename = "bytes_per_cycle")]
    BytesPerCycle,
    /// A constant of the agent, no counter.
    #[serde(rename = "constant")]
    Constant,
}

impl Unit {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Cycles => "cycles",
            Self::QuadCycles => "quad_cycles",
            Self::LaneQuadCycles => "lane_quad_cycles",
            Self::LevelSum => "level_sum",
            Self::Operations => "operations",
            Self::Operations512 => "operations_512",
            Self::Bytes32 => "32_bytes",
            Self::Bytes64 => "64_bytes",
            Self::Bytes => "bytes",
            Self::KiB => "KiB",
            Self::Percent => "percent",
            Self::Ratio => "ratio",
            Self::Waves => "waves",
            Self::BytesPerCycle => "bytes_per_cycle",
            Self::Constant => "constant",
        }
    }
}

/// How the instances of a counter (shader engine, die, channel) become one value of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Events add up.
    Sum,
    /// Clocks tick on every die at once.
    Max,
    /// A `_min` counter.
    Min,
    /// Percentages, ratios and averages.
    Mean,
}

/// A counter the hardware has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawCounter {
    /// Name.
    pub name: String,
    /// Block of its definition; `SQC_*` counters belong to `SQ`.
    pub block: String,
    /// Unit.
    pub unit: Unit,
    /// Select value per column, `None` where not defined.
    pub events: [Option<u32>; 7],
    /// What it counts.
    pub about: String,
}

/// A derived counter's definition on some architectures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// gfx ids it holds for, also some without other facts (`gfx906`).
    pub arches: Vec<String>,
    /// AMD's expression.
    pub expression: String,
    /// Raw counters it needs, in order of appearance, constants left out.
    pub events: Vec<String>,
    /// The level counter it accumulates, which costs a second SQ slot.
    pub accumulates: Option<String>,
}

/// A counter the profiler computes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DerivedCounter {
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: Unit,
    /// What it says.
    pub about: String,
    /// Definitions per architecture.
    pub variants: Vec<Variant>,
}

/// What to collect where a counter is not defined.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instead {
    /// The counter.
    pub name: String,
    /// Use these.
    #[serde(rename = "use")]
    pub take: Vec<String>,
}

/// Counters of one meaning.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalents {
    /// Groups of names.
    pub same: Vec<Vec<String>>,
    /// Replacements that do not mean exactly the same.
    pub instead: Vec<Instead>,
}

/// What to beware of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caveat {
    /// The counter.
    pub name: String,
    /// Only on this architecture.
    pub gfx: Option<String>,
    /// The warning.
    pub text: String,
}

table! {
    /// Counters the hardware has.
    pub fn raw() -> Vec<RawCounter> = "counters/raw";
}

table! {
    /// Counters the profiler computes.
    pub fn derived() -> Vec<DerivedCounter> = "counters/derived";
}

table! {
    /// Counters of one block instance in one pass, per column.
    pub(crate) fn limits() -> BTreeMap<String, BTreeMap<String, u32>> = "counters/limits";
}

table! {
    /// Names that exist nowhere, and what was meant.
    pub fn aliases() -> BTreeMap<String, String> = "counters/aliases";
}

table! {
    /// Counters of one meaning.
    pub fn equivalents() -> Equivalents = "counters/equivalents";
}

table! {
    /// Warnings.
    pub(crate) fn caveat_rows() -> Vec<Caveat> = "counters/caveats";
}

table! {
    /// Counters that no dispatch can read 0 in.
    pub fn never_zero() -> Vec<String> = "counters/never_zero";
}

/// The counter meant by a name that exists on no architecture.
pub fn alias(name: &str) -> Option<&'static str> {
    aliases().get(name).map(String::as_str)
}

/// Warnings about a counter, general ones first; those of one architecture only when it is asked for.
pub fn caveats(name: &str, gfx_id: Option<&str>) -> Vec<&'static str> {
    let of = |gfx: Option<&str>| {
        let rows = caveat_rows().iter().filter(move |row| row.name == name && row.gfx.as_deref() == gfx);
        rows.map(|row| row.text.as_str()).collect::<Vec<_>>()
    };
    let mut all = of(None);
    if let Some(gfx) = gfx_id {
        all.extend(of(Some(gfx)));
    }
    all
}

/// Every name, raw and derived, sorted; without instance and aggregate forms.
pub fn names() -> &'static [&'static str] {
    static CELL: OnceLock<Vec<&'static str>> = OnceLock::new();
    CELL.get_or_init(|| {
        let raw = raw().iter().map(|counter| counter.name.as_str());
        let mut names: Vec<_> = raw.chain(derived().iter().map(|counter| counter.name.as_str())).collect();
        names.sort_unstable();
        names
    })
}

fn index() -> &'static HashMap<&'static str, Definition> {
    static CELL: OnceLock<HashMap<&'static str, Definition>> = OnceLock::new();
    CELL.get_or_init(|| {
        let raw = raw().iter().map(|counter| (counter.name.as_str(), Definition::Raw(counter)));
        let derived = derived().iter().map(|counter| (counter.name.as_str(), Definition::Derived(counter)));
        raw.chain(derived).collect()
    })
}
