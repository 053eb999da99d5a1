//! Architecture columns of the counter tables, and the limits of a pass.

use super::limits;
use crate::arch;

/// A column of the raw counter table; neighbouring gfx ids share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// gfx908, and older gfx9.
    Gfx908,
    /// gfx90a.
    Gfx90a,
    /// gfx940, gfx941, gfx942.
    Gfx942,
    /// gfx950.
    Gfx950,
    /// gfx10.
    Gfx10,
    /// gfx11.
    Gfx11,
    /// gfx12.
    Gfx12,
}

/// Whether limits are an architecture's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitsSource {
    /// Its own.
    Arch,
    /// Those of its family.
    Family,
}

impl LimitsSource {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arch => "arch",
            Self::Family => "family",
        }
    }
}

/// A column, and how well it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnOf {
    /// Normalised id.
    pub gfx_id: String,
    /// The column.
    pub column: Column,
    /// Whether it is the architecture's own.
    pub source: LimitsSource,
}

impl Column {
    /// All columns, in table order.
    pub const ALL: [Self; 7] =
        [Self::Gfx908, Self::Gfx90a, Self::Gfx942, Self::Gfx950, Self::Gfx10, Self::Gfx11, Self::Gfx12];

    /// Column of an architecture in any spelling: its own where the tables name it, else its family's; `None`
    /// for anything that is not gfx9, gfx10, gfx11 or gfx12.
    pub fn of(id: &str) -> Option<ColumnOf> {
        let gfx_id = arch::normalise(id)?;
        let (column, source) = match gfx_id.as_str() {
            "gfx908" => (Self::Gfx908, LimitsSource::Arch),
            "gfx90a" => (Self::Gfx90a, LimitsSource::Arch),
            "gfx940" | "gfx941" | "gfx942" => (Self::Gfx942, LimitsSource::Arch),
            "gfx950" => (Self::Gfx950, LimitsSource::Arch),
            "gfx1030" | "gfx1031" | "gfx1032" => (Self::Gfx10, LimitsSource::Arch),
            "gfx1100" | "gfx1101" | "gfx1102" | "gfx1151" => (Self::Gfx11, LimitsSource::Arch),
            "gfx1200" | "gfx1201" => (Self::Gfx12, LimitsSource::Arch),
            // Four characters after gfx start with the major version's two digits.
            other if other.len() == 7 && other.starts_with("gfx10") => (Self::Gfx10, LimitsSource::Family),
            other if other.len() == 7 && other.starts_with("gfx11") => (Self::Gfx11, LimitsSource::Family),
            other if other.len() == 7 && other.starts_with("gfx12") => (Self::Gfx12, LimitsSource::Family),
            other if other.len() == 6 && other.starts_with("gfx95") => (Self::Gfx950, LimitsSource::Family),
            other if other.len() == 6 && other.starts_with("gfx94") => (Self::Gfx942, LimitsSource::Family),
            other if other.len() == 6 && other.starts_with("gfx9") => (Self::Gfx908, LimitsSource::Family),
            _ => return None,
        };
        Some(ColumnOf { gfx_id, column, source })
    }

    /// gfx ids with facts that share the column, sorted.
    pub fn gfx_ids(self) -> &'static [&'static str] {
        match self {
            Self::Gfx908 => &["gfx908"],
            Self::Gfx90a => &["gfx90a"],
            Self::Gfx942 => &["gfx942"],
            Self::Gfx950 => &["gfx950"],
            Self::Gfx10 => &["gfx1030"],
            Self::Gfx11 => &["gfx1100", "gfx1101", "gfx1102"],
            Self::Gfx12 => &["gfx1200", "gfx1201"],
        }
    }

    pub(super) fn place(self) -> usize {
        match self {
            Self::Gfx908 => 0,
            Self::Gfx90a => 1,
            Self::Gfx942 => 2,
            Self::Gfx950 => 3,
            Self::Gfx10 => 4,
            Self::Gfx11 => 5,
            Self::Gfx12 => 6,
        }
    }

    /// Key of the limits table.
    pub fn family(self) -> &'static str {
        match self {
            Self::Gfx908 | Self::Gfx90a | Self::Gfx942 | Self::Gfx950 => "gfx9",
            Self::Gfx10 => "gfx10",
            Self::Gfx11 => "gfx11",
            Self::Gfx12 => "gfx12",
        }
    }

    /// Counters one block instance takes in one pass.
    pub fn limit(self, block: &str) -> u32 {
        let row = limits().get(self.family());
        // A pass of one counter is always possible, whatever the block.
        row.and_then(|row| row.get(block).or_else(|| row.get("other"))).copied().unwrap_or(1)
    }
}
