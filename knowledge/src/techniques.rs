//! Optimisation techniques: when they apply, what they can bring at best, what to do, what can go wrong.
//!
//! One file per technique. A file without a source, with an unknown metric or with a bracket whose low end is
//! above its high end is refused.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::FactError;
use crate::document::{self, built_in, table};
use crate::fact;

mod condition;

pub use condition::{Condition, MetricValue, Role, State};

/// Which specialist proposes a technique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Specialist {
    /// Compute.
    Compute,
    /// Memory.
    Memory,
    /// Latency.
    Latency,
}

/// What a technique is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// One kernel.
    Kernel,
    /// Copies of one direction.
    Copy,
    /// The whole run.
    Run,
}

/// How risky a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
}

impl Risk {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A gain model with constants in `techniques/models`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// The prediction for the technique's change type.
    Predict,
    /// More waves per SIMD.
    Waves,
    /// Fuller waves.
    Lanes,
    /// A larger grid.
    Fill,
    /// Fewer LDS conflicts.
    Conflict,
    /// Faster host copies.
    Pinned,
    /// Fewer copies.
    Batch,
    /// Cheaper launches.
    Graph,
    /// Fewer launches.
    Fusion,
    /// Fewer waits.
    Sync,
    /// A busier host.
    Host,
    /// Kernels beside each other.
    Concurrency,
    /// Collectives beside kernels.
    Comm,
}

/// Where the range of a technique's gain comes from.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Gain {
    /// A model.
    Model(Model),
    /// A fixed bracket of speed-ups of the target.
    Bracket {
        /// Low end.
        lo: f64,
        /// High end.
        hi: f64,
    },
}

/// What a technique leaves unchanged and is bounded by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// 1 ÷ HBM utilisation.
    HbmUtil,
    /// 1 ÷ the larger of VALU and MFMA utilisation.
    ComputeUtil,
    /// 1 ÷ the largest of VALU, MFMA and HBM utilisation.
    BusiestUtil,
    /// 1 ÷ coalescing.
    Coalescing,
}

/// Kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// The predecessor's catalogue.
    OriginalContract,
    /// A vendor document.
    VendorDoc,
    /// A measurement.
    Measured,
    /// Nobody measured it.
    RuleOfThumb,
}

/// Where a technique's numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Kind.
    pub kind: SourceKind,
    /// Title.
    pub title: String,
    /// Where in it.
    pub locator: String,
}

/// How to see that a technique worked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// Metric to look at.
    pub metric: String,
    /// `up`, `down`, `zero` or `within_tolerance`.
    pub direction: String,
}

/// One technique.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technique {
    /// Id, also the file's name.
    pub id: String,
    /// Names callers and the predecessor use.
    pub aliases: Vec<String>,
    /// Who proposes it.
    pub specialist: Vec<Specialist>,
    /// What it is applied to.
    pub target: Target,
    /// Headline with `{kernel}`, `{direction}`, `{vgpr}`, `{vgpr_target}` to fill.
    pub title: String,
    /// All must hold.
    pub required: Vec<Condition>,
    /// Raise the confidence.
    pub supporting: Vec<Condition>,
    /// None may hold.
    pub excluded: Vec<Condition>,
    /// Gain of the target.
    pub model: Gain,
    /// Bounds of the gain.
    pub caps: Vec<Cap>,
    /// Change type of `predict_impact`, if it has one.
    pub change_type: Option<String>,
    /// Effort factor.
    pub effort: f64,
    /// Risk.
    pub risk: Risk,
    /// Confidence when everything is known and met, fraction.
    pub confidence: f64,
    /// What to do, sentences.
    pub actions: Vec<String>,
    /// When it goes wrong, sentences.
    pub failure_modes: Vec<String>,
    /// How to see that it worked.
    pub verify: Verify,
    /// What to try instead, best first.
    pub alternatives: Vec<String>,
    /// Where the numbers come from.
    pub sources: Vec<Source>,
}

impl Technique {
    /// Fact id, and a remark when no source but a rule of thumb stands behind its numbers.
    pub fn citation(&self) -> String {
        let thumb = self.sources.iter().all(|source| source.kind == SourceKind::RuleOfThumb);
        format!("techniques/{}{}", self.id, if thumb { " (rule of thumb)" } else { "" })
    }
}

/// How a metric is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A fraction, shown as percent.
    Pct,
    /// An integer.
    Count,
    /// A number.
    Number,
    /// Bytes.
    Bytes,
    /// Microseconds.
    Us,
    /// Yes or no: the label is the sentence.
    Flag,
    /// A word.
    Label,
}

/// A metric that conditions may name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Name.
    pub name: String,
    /// How sentences call it.
    pub label: String,
    /// How its value is shown.
    pub format: Format,
    /// What it describes.
    pub scope: Target,
}

table! {
    /// Ids in catalogue order.
    pub fn catalogue() -> Vec<String> = "techniques/catalogue";
}

table! {
    /// Metrics conditions may name.
    pub fn metrics() -> Vec<Metric> = "techniques/metrics";
}

/// A metric by name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    metrics().iter().find(|metric| metric.name == name)
}

/// All techniques in catalogue order.
pub fn all() -> &'static [Technique] {
    static CELL: OnceLock<Vec<Technique>> = OnceLock::new();
    CELL.get_or_init(|| built_in(catalogue().iter().map(|id| load(id)).collect()))
}

/// A technique by id or alias.
pub fn find(name: &str) -> Option<&'static Technique> {
    all().iter().find(|technique| technique.id == name || technique.aliases.iter().any(|alias| alias == name))
}

/// Decodes and checks one technique's file; thresholds it shares with other facts are read there.
///
/// # Errors
/// The file is missing, malformed, without sources, names an unknown metric or fact, or its bracket is reversed.
pub fn load(id: &str) -> Result<Technique, FactError> {
    let file = format!("techniques/{id}");
    checked(&file, document::text(&file)?)
}

pub(crate) fn checked(file: &str, text: &str) -> Result<Technique, FactError> {
    let wrong = |message: String| FactError::Malformed { file: file.to_owned(), message };
    let mut technique: Technique = document::parse(file, text)?.facts;
    if technique.sources.is_empty() {
        return Err(FactError::NoSource { file: file.to_owned() });
    }
    if let Gain::Bracket { lo, hi } = technique.model
        && lo > hi
    {
        return Err(wrong(format!("bracket {lo} to {hi} is reversed")));
    }
    for condition in
        [&mut technique.required, &mut technique.supporting, &mut technique.excluded].into_iter().flatten()
    {
        if let Some(unknown) = condition.metrics().iter().find(|name| metric(name).is_none()) {
            return Err(wrong(format!("unknown metric {unknown}")));
        }
        if let Some(id) = condition.shared_fact() {
            let number = fact::number(id)?;
            condition.set_number(number);
        }
        if !condition.is_complete() {
            return Err(wrong(format!(
                "condition on {} has no value that fits",
                condition.metrics().join(", ")
            )));
        }
    }
    Ok(technique)
}
