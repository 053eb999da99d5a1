//! Signatures of the four bottlenecks: which metric must lie on which side of which limit.

use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_yaml::Mapping;

use crate::document::{self, built_in};
use crate::{Compare, FactError};

const FILE: &str = "thresholds/bottleneck";

/// One rule of a signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Fact id, `thresholds/bottleneck#<signature>.<metric>`.
    pub id: String,
    /// Metric name as callers send it.
    pub metric: String,
    /// How the value is held against the threshold.
    pub op: Compare,
    /// The limit, in `unit`.
    pub threshold: f64,
    /// `fraction`, `flag`, `count` or `us`.
    pub unit: String,
    /// Why the rule speaks for this bottleneck.
    pub why: String,
}

/// One signature with its rules in file order.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// `compute`, `memory_transfer`, `latency` or `api_overhead`.
    pub name: &'static str,
    /// Three rules.
    pub rules: Vec<Rule>,
}

/// The signatures and what is needed to read a caller's metrics.
#[derive(Debug, Clone)]
pub struct Signatures {
    /// In the order that breaks ties.
    pub signatures: Vec<Signature>,
    /// Share of passed rules a signature needs to win, fraction.
    pub min_score: f64,
    /// Factor on the confidence of a mixed answer, fraction.
    pub mixed_factor: f64,
    /// Foreign metric name and the name meant.
    pub aliases: Vec<(String, String)>,
}

impl Signatures {
    /// The metric a foreign name stands for.
    pub fn alias(&self, name: &str) -> Option<&str> {
        self.aliases.iter().find(|(from, _)| from == name).map(|(_, to)| to.as_str())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    compute: Mapping,
    memory_transfer: Mapping,
    latency: Mapping,
    api_overhead: Mapping,
    decision: Decision,
    aliases: Mapping,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    min_score: Limit,
    mixed_factor: Limit,
}

#[derive(Deserialize)]
struct Limit {
    value: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    value: f64,
    op: Compare,
    unit: String,
    why: String,
}

/// Decodes the file.
///
/// # Errors
/// The file is malformed.
pub fn load() -> Result<Signatures, FactError> {
    let raw: Raw = document::load(FILE)?.facts;
    let build = || -> Result<Signatures, serde_yaml::Error> {
        Ok(Signatures {
            signatures: vec![
                signature("compute", raw.compute)?,
                signature("memory_transfer", raw.memory_transfer)?,
                signature("latency", raw.latency)?,
                signature("api_overhead", raw.api_overhead)?,
            ],
            min_score: raw.decision.min_score.value,
            mixed_factor: raw.decision.mixed_factor.value,
            aliases: pairs(raw.aliases)?,
        })
    };
    build().map_err(|error| FactError::Malformed { file: FILE.to_owned(), message: error.to_string() })
}

fn signature(name: &'static str, rules: Mapping) -> Result<Signature, serde_yaml::Error> {
    let rules = pairs::<RawRule>(rules)?.into_iter().map(|(metric, rule)| Rule {
        id: format!("{FILE}#{name}.{metric}"),
        metric,
        op: rule.op,
        threshold: rule.value,
        unit: rule.unit,
        why: rule.why,
    });
    Ok(Signature { name, rules: rules.collect() })
}

// A mapping keeps the order of the file, which a sorted map would lose.
fn pairs<T: DeserializeOwned>(map: Mapping) -> Result<Vec<(String, T)>, serde_yaml::Error> {
    map.into_iter()
        .map(|(key, value)| Ok((serde_yaml::from_value(key)?, serde_yaml::from_value(value)?)))
        .collect()
}

/// The signatures, decoded on first use.
pub fn signatures() -> &'static Signatures {
    static CELL: OnceLock<Signatures> = OnceLock::new();
    CELL.get_or_init(|| built_in(load()))
}
