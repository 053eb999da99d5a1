//! Preconditions that are met, not met, or unknown.

use serde::Deserialize;

use crate::Compare;

/// A metric's value as the engine knows it.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricValue {
    /// A number; fractions are 0 to 1.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Label(String),
}

/// State of a precondition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Holds.
    Met,
    /// Does not hold.
    NotMet,
    /// Its metric is unknown.
    Unknown,
}

impl State {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NotMet => "not_met",
            Self::Unknown => "unknown",
        }
    }
}

/// What a condition is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Must hold.
    Required,
    /// Raises the confidence.
    Supporting,
    /// Must not hold.
    Excluded,
}

impl Role {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Supporting => "supporting",
            Self::Excluded => "excluded",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Limit {
    Flag(bool),
    Number(f64),
    Word(String),
    Words(Vec<String>),
}

/// One condition on one metric, or on the largest of several.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    metric: Option<String>,
    #[serde(default)]
    max_of: Vec<String>,
    op: Compare,
    value: Option<Limit>,
    fact: Option<String>,
    per: Option<f64>,
}

impl Condition {
    /// The metrics it looks at: one, or several of which the largest counts.
    pub fn metrics(&self) -> Vec<&str> {
        self.metric.iter().chain(&self.max_of).map(String::as_str).collect()
    }

    /// Its comparison.
    pub fn op(&self) -> Compare {
        self.op
    }

    /// The number it compares with, if it compares numbers.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Some(Limit::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The words it compares with, if it compares words.
    pub fn words(&self) -> &[String] {
        match &self.value {
            Some(Limit::Word(word)) => std::slice::from_ref(word),
            Some(Limit::Words(words)) => words,
            _ => &[],
        }
    }

    /// The flag it compares with, if it compares flags.
    pub fn flag(&self) -> Option<bool> {
        match self.value {
            Some(Limit::Flag(flag)) => Some(flag),
            _ => None,
        }
    }

    /// Id of the fact its number is shared with.
    pub fn shared_fact(&self) -> Option<&str> {
        self.fact.as_deref()
    }

    pub(super) fn set_number(&mut self, number: f64) {
        self.value = Some(Limit::Number(number / self.per.unwrap_or(1.0)));
    }

    pub(super) fn is_complete(&self) -> bool {
        let one_subject = self.metric.is_some() == self.max_of.is_empty();
        let fits = match (&self.value, self.op) {
            (Some(Limit::Words(words)), Compare::OneOf) => !words.is_empty(),
            (Some(Limit::Flag(_) | Limit::Word(_)), Compare::Equal) => self.max_of.is_empty(),
            (Some(Limit::Number(number)), op) => op != Compare::OneOf && number.is_finite(),
            _ => false,
        };
        one_subject && fits
    }

    /// Whether it holds. Of several metrics the largest counts: a known one that settles the comparison settles
    /// it whatever the others are, else any unknown one leaves it open. A value of another kind than the limit
    /// is unknown.
    pub fn state(&self, lookup: &dyn Fn(&str) -> Option<MetricValue>) -> State {
        let met = |holds: bool| if holds { State::Met } else { State::NotMet };
        match &self.value {
            Some(Limit::Number(limit)) => {
                let names = self.metrics();
                let known: Vec<f64> = names
                    .iter()
                    .filter_map(|name| match lookup(name) {
                        Some(MetricValue::Number(number)) if number.is_finite() => Some(number),
                        _ => None,
                    })
                    .collect();
                let Some(largest) = known.iter().copied().reduce(f64::max) else { return State::Unknown };
                let holds = self.op.holds(largest, *limit);
                let settled = match self.op {
                    Compare::Above | Compare::AtLeast => holds,
                    Compare::Below | Compare::AtMost => !holds,
                    Compare::Equal | Compare::OneOf => false,
                };
                if settled || known.len() == names.len() { met(holds) } else { State::Unknown }
            }
            Some(limit) => {
                let value = self.metric.as_deref().and_then(lookup);
                match (limit, value) {
                    (Limit::Flag(wanted), Some(MetricValue::Flag(flag))) => met(flag == *wanted),
                    (Limit::Word(wanted), Some(MetricValue::Label(label))) => met(label == *wanted),
                    (Limit::Words(wanted), Some(MetricValue::Label(label))) => met(wanted.contains(&label)),
                    _ => State::Unknown,
                }
            }
            None => State::Unknown,
        }
    }
}
