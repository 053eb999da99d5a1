//! The comparison a rule makes between a value and its limit.

use serde::Deserialize;

/// A comparison operator, spelled as in fact files and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Compare {
    /// `>=`
    #[serde(rename = ">=")]
    AtLeast,
    /// `>`
    #[serde(rename = ">")]
    Above,
    /// `<=`
    #[serde(rename = "<=")]
    AtMost,
    /// `<`
    #[serde(rename = "<")]
    Below,
    /// `==`
    #[serde(rename = "==")]
    Equal,
    /// Value is one of a list.
    #[serde(rename = "in")]
    OneOf,
}

impl Compare {
    /// The operator as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
            Self::Equal => "==",
            Self::OneOf => "in",
        }
    }

    /// Whether `value op limit` holds; `in` is no comparison of numbers and never holds.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::AtLeast => value >= limit,
            Self::Above => value > limit,
            Self::AtMost => value <= limit,
            Self::Below => value < limit,
            // Flags and counts only: both sides are small integers, which f64 holds exactly.
            Self::Equal => value.total_cmp(&limit).is_eq(),
            Self::OneOf => false,
        }
    }
}
