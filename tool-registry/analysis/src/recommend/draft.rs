//! A piece of advice before priority, confidence, rank and id.

use perfxpert_knowledge::commands::Command;
use perfxpert_knowledge::rules::{self, Rule};
use perfxpert_knowledge::techniques::State;

use super::entry::{EvidenceItem, LoopHint, Precondition, Prediction, Priority, SourceRef, TargetKind};
use super::observed::ObservedKernel;
use super::text::fill;

/// What a draft is about.
#[derive(Clone, Debug, Default)]
pub(super) struct Target {
    /// Shown target; `None` for the run.
    pub name: Option<String>,
    /// What it is.
    pub kind: Option<TargetKind>,
    /// Name in an anchor, for kernels.
    pub slug: Option<String>,
}

/// Commands beside those that verify.
#[derive(Clone, Debug, Default)]
pub(super) enum Collect {
    /// Record again and compare.
    #[default]
    Again,
    /// These first, then record again and compare.
    Before(Vec<(String, Command)>),
    /// These, then analyse again with the counters they collected in these folders.
    Counters(Vec<(String, Command)>, Vec<String>),
    /// The source's plan: nothing was recorded yet.
    Source,
}

/// A piece of advice in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub rule: String,
    pub id: String,
    pub category: String,
    pub class: String,
    pub citation: String,
    pub technique: String,
    pub target: Target,
    pub title: String,
    pub issue: String,
    pub suggestion: String,
    pub actions: Vec<String>,
    /// Percent of the run.
    pub gain: Option<f64>,
    pub gain_basis: String,
    pub base: f64,
    /// Priority that does not follow the gain.
    pub fixed: Option<Priority>,
    pub preconditions: Vec<Precondition>,
    pub evidence: Vec<EvidenceItem>,
    pub collect: Collect,
    pub source_refs: Vec<SourceRef>,
    pub merged_ids: Vec<String>,
    /// Rules whose bounds count the same time.
    pub overlaps: Vec<&'static str>,
    pub snippets: (Option<String>, Option<String>),
    pub hint: Option<LoopHint>,
    pub prediction: Option<Prediction>,
    /// Set once preconditions and gain are weighed.
    pub priority: Option<Priority>,
    pub confidence: f64,
}

impl Draft {
    /// A draft of a rule with its texts filled; `None` when the facts do not know the rule.
    pub(super) fn of(rule: &str, values: &[(&str, &str)]) -> Option<Self> {
        let rule: &Rule = rules::find(rule)?;
        Some(Self {
            rule: rule.rule.clone(),
            id: rule.id.clone(),
            category: rule.category.clone(),
            class: rule.class.clone(),
            citation: rule.citation(),
            technique: rule.techniques.first().unwrap_or(&rule.rule).clone(),
            title: fill(&rule.title, values),
            issue: fill(&rule.issue, values),
            suggestion: fill(&rule.suggestion, values),
            actions: rule.actions.iter().map(|action| fill(action, values)).collect(),
            base: rule.base_confidence,
            fixed: rule.fixed_priority.as_deref().and_then(Priority::parse),
            ..Self::default()
        })
    }

    /// Bounds the gain, percent of the run.
    pub(super) fn bounded(mut self, gain: f64, basis: &str) -> Self {
        self.gain = Some(crate::rounding::round(gain, 2));
        basis.clone_into(&mut self.gain_basis);
        self
    }

    /// Says why there is no bound.
    pub(super) fn unbounded(mut self, why: &str) -> Self {
        self.gain = None;
        why.clone_into(&mut self.gain_basis);
        self
    }

    pub(super) fn on_kernel(mut self, kernel: &ObservedKernel) -> Self {
        self.target = Target {
            name: Some(kernel.name.clone()),
            kind: Some(TargetKind::Kernel),
            slug: Some(kernel.slug.clone()),
        };
        self
    }

    pub(super) fn on(mut self, kind: TargetKind, name: String) -> Self {
        self.target = Target { name: Some(name), kind: Some(kind), slug: None };
        self
    }

    pub(super) fn when(mut self, name: &str, state: State, detail: impl Into<String>) -> Self {
        self.preconditions.push(Precondition { name: name.to_owned(), state, detail: detail.into() });
        self
    }

    pub(super) fn showing(mut self, item: EvidenceItem) -> Self {
        self.evidence.push(item);
        self
    }

    pub(super) fn with_technique(mut self, technique: &str) -> Self {
        technique.clone_into(&mut self.technique);
        self
    }
}

/// A number that supports the advice, held against its threshold.
pub(super) struct Number {
    pub id: &'static str,
    pub metric: &'static str,
    pub value: f64,
    pub unit: &'static str,
    pub source: &'static str,
}

impl Number {
    pub(super) fn percent(id: &'static str, metric: &'static str, value: f64, source: &'static str) -> Self {
        Self { id, metric, value: crate::rounding::round(value, 2), unit: "percent", source }
    }

    pub(super) fn fraction(id: &'static str, metric: &'static str, value: f64) -> Self {
        Self { id, metric, value: crate::rounding::round(value, 4), unit: "fraction", source: "counters" }
    }

    pub(super) fn count(id: &'static str, metric: &'static str, value: u64, source: &'static str) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "shown as a number")]
        let value = value as f64;
        Self { id, metric, value, unit: "count", source }
    }

    pub(super) fn ns(id: &'static str, metric: &'static str, value: f64, source: &'static str) -> Self {
        Self { id, metric, value: crate::rounding::round(value, 1), unit: "ns", source }
    }

    fn item(self, text: String, held: Option<(&'static str, f64)>) -> EvidenceItem {
        EvidenceItem {
            id: self.id,
            text,
            metric: self.metric,
            value: self.value.is_finite().then_some(self.value),
            unit: self.unit,
            comparator: held.map(|(op, _)| op),
            threshold: held.map(|(_, limit)| limit),
            role: if held.is_some() { "supports" } else { "context" },
            source: self.source,
        }
    }

    pub(super) fn at_least(self, limit: f64, text: String) -> EvidenceItem {
        self.item(text, Some((">=", limit)))
    }

    pub(super) fn above(self, limit: f64, text: String) -> EvidenceItem {
        self.item(text, Some((">", limit)))
    }

    pub(super) fn below(self, limit: f64, text: String) -> EvidenceItem {
        self.item(text, Some(("<", limit)))
    }

    pub(super) fn at_most(self, limit: f64, text: String) -> EvidenceItem {
        self.item(text, Some(("<=", limit)))
    }

    pub(super) fn equal(self, limit: f64, text: String) -> EvidenceItem {
        self.item(text, Some(("==", limit)))
    }

    pub(super) fn context(self, text: String) -> EvidenceItem {
        self.item(text, None)
    }
}
