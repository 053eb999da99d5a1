//! Thresholds as typed values, one accessor per namespace: `thresholds::att().critical`.
//!
//! Each namespace is one file `facts/thresholds/<namespace>.yaml`. The accessor decodes it on first use.
//! `thresholds::att::ID.critical` is the fact's id, for evidence and citations. A key that is missing,
//! of the wrong type or read by nobody fails the test that decodes every namespace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_yaml::Value;

use crate::document::{self, Confidence};
use crate::{FactError, fact};

mod advising;
mod asking;
pub mod bottleneck;
mod judging;
mod reading;

pub use advising::*;
pub use asking::*;
pub use judging::*;
pub use reading::*;

/// Unit of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// 0 to 1.
    Fraction,
    /// 0 to 100.
    Percent,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Seconds.
    S,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
    /// One quantity divided by another, may exceed 1.
    Ratio,
    /// Degrees Celsius.
    Celsius,
    /// FLOP per byte, GB/s and the like are not thresholds; this is cycles of the GPU clock.
    Cycles,
}

/// One threshold of a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The number, or a list of them.
    pub value: Value,
    /// Its unit.
    pub unit: Unit,
    /// Source, where it is not the file's.
    pub source: Option<String>,
    /// Confidence, where it is not the file's.
    pub confidence: Option<Confidence>,
    /// Why it has this value.
    pub note: Option<String>,
}

/// What a threshold can be read as.
pub(crate) trait Number: Sized {
    /// Converts; `None` when the value does not fit.
    fn from_value(value: &Value) -> Option<Self>;
}

impl Number for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_f64().filter(|number| number.is_finite())
    }
}

impl Number for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_u64()
    }
}

impl Number for Vec<f64> {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_sequence()?.iter().map(f64::from_value).collect()
    }
}

/// The numbers of one namespace, handed out by key; remembers what was not asked for.
pub(crate) struct Namespace {
    file: &'static str,
    entries: BTreeMap<String, Entry>,
}

impl Namespace {
    pub(crate) fn load(file: &'static str) -> Result<Self, FactError> {
        Ok(Self { file, entries: document::load(file)?.facts })
    }

    /// Takes the number under `key`; a key with `#` is the full id of a fact shared with another file.
    pub(crate) fn take<N: Number>(&mut self, key: &str) -> Result<N, FactError> {
        let (id, value) = if key.contains('#') {
            (key.to_owned(), fact::value(key)?)
        } else {
            let id = format!("{}#{key}", self.file);
            let entry = self.entries.remove(key).ok_or_else(|| FactError::NoKey { id: id.clone() })?;
            (id, entry.value)
        };
        N::from_value(&value).ok_or(FactError::WrongType { id, expected: "a number of the accessor's type" })
    }

    /// Checks that every key was taken: a threshold nobody reads is a threshold nobody applies.
    pub(crate) fn finish(self) -> Result<(), FactError> {
        if self.entries.is_empty() {
            return Ok(());
        }
        let keys = self.entries.into_keys().collect::<Vec<_>>().join(", ");
        Err(FactError::Unread { file: self.file.to_owned(), keys })
    }
}

/// Declares a namespace: function, struct of values, struct of ids.
macro_rules! namespace {
    ($(#[$doc:meta])* $name:ident in $file:literal { $($field:ident: $kind:ty = $key:literal, $about:literal;)+ }) => {
        $(#[$doc])*
        pub fn $name() -> &'static $name::Values {
            static CELL: std::sync::OnceLock<$name::Values> = std::sync::OnceLock::new();
            CELL.get_or_init(|| $crate::document::built_in($name::load()))
        }

        $(#[$doc])*
        pub mod $name {
            /// The values.
            #[derive(Debug, Clone)]
            pub struct Values {
                $(#[doc = $about] pub $field: $kind,)+
            }

            /// The ids of the facts behind [`Values`], field by field.
            #[derive(Debug)]
            pub struct Ids {
                $(#[doc = $about] pub $field: &'static str,)+
            }

            /// Fact ids, for evidence and citations.
            pub const ID: Ids = Ids { $($field: $crate::thresholds::full_id($file, $key, concat!($file, "#", $key)),)+ };

            /// Decodes the file.
            ///
            /// # Errors
            /// A key is missing, has the wrong type, or is read by nobody.
            pub fn load() -> Result<Values, $crate::FactError> {
                let mut file = $crate::thresholds::Namespace::load($file)?;
                let values = Values { $($field: file.take($key)?,)+ };
                file.finish()?;
                Ok(values)
            }
        }
    };
}
pub(crate) use namespace;

/// The id of a key: the key itself when it already names its file.
pub(crate) const fn full_id(_file: &str, key: &'static str, joined: &'static str) -> &'static str {
    let bytes = key.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        #[expect(clippy::indexing_slicing, reason = "bounded by the loop; iterators are not const")]
        if bytes[at] == b'#' {
            return key;
        }
        at += 1;
    }
    joined
}

type Loader = fn() -> Result<(), FactError>;

/// Namespaces and their loaders; `bottleneck` has its own.
pub(crate) const NAMESPACES: &[(&str, Loader)] = &[
    ("amdahl", || amdahl::load().map(drop)),
    ("att", || att::load().map(drop)),
    ("cache", || cache::load().map(drop)),
    ("ci", || ci::load().map(drop)),
    ("comparability", || comparability::load().map(drop)),
    ("dag", || dag::load().map(drop)),
    ("diff", || diff::load().map(drop)),
    ("diff_confidence", || diff_confidence::load().map(drop)),
    ("fusion", || fusion::load().map(drop)),
    ("gap", || gap::load().map(drop)),
    ("gate", || gate::load().map(drop)),
    ("health", || health::load().map(drop)),
    ("hot", || hot::load().map(drop)),
    ("hotspots", || hotspots::load().map(drop)),
    ("intent", || intent::load().map(drop)),
    ("metrics", || metrics::load().map(drop)),
    ("occupancy", || occupancy::load().map(drop)),
    ("paging", || paging::load().map(drop)),
    ("plateau", || plateau::load().map(drop)),
    ("pragma", || pragma::load().map(drop)),
    ("rccl", || rccl::load().map(drop)),
    ("report", || report::load().map(drop)),
    ("roofline", || roofline::load().map(drop)),
    ("sol", || sol::load().map(drop)),
    ("thermal", || thermal::load().map(drop)),
    ("topdown", || topdown::load().map(drop)),
    ("tracelens", || tracelens::load().map(drop)),
    ("verdict", || verdict::load().map(drop)),
];

/// Decodes one namespace's file.
///
/// # Errors
/// There is no such namespace, or its file and its accessor disagree.
pub fn load(namespace: &str) -> Result<(), FactError> {
    if namespace == "bottleneck" {
        return bottleneck::load().map(drop);
    }
    let found = NAMESPACES.iter().find(|(name, _)| *name == namespace);
    found.map_or_else(
        || Err(FactError::NoFile { file: format!("thresholds/{namespace}") }),
        |(_, load)| load(),
    )
}
