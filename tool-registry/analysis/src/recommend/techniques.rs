//! Techniques: which of them fit, what they can bring, in which order.
//!
//! A technique is judged on a target by preconditions that are met, not met or unknown, for its metric was not measured.
//! The gain is a range for the whole run, cut by what the technique leaves unchanged. Nothing is ordered by name alone.

mod gain;
mod sentence;
mod subjects;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use perfxpert_knowledge::techniques::{
    self as catalogue, Condition, Risk, Specialist, State, Target, Technique,
};
use perfxpert_knowledge::thresholds;
use sha2::{Digest, Sha256};

pub use gain::{Cap, Gain};
pub use perfxpert_knowledge::techniques::{MetricValue, Role};
pub use sentence::{bytes, count, name, pct, rate, ratio, time};
pub use subjects::reuses;

use super::text::fill;
use crate::rounding::round;

/// Values of one target by metric name; a metric that is not there is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(pub BTreeMap<String, MetricValue>);

impl Values {
    /// Sets a number; `None` and what is not finite leave it unknown.
    pub fn number(&mut self, metric: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.0.insert(metric.to_owned(), MetricValue::Number(value));
        }
    }

    /// Sets a flag; `None` leaves it unknown.
    pub fn flag(&mut self, metric: &str, value: Option<bool>) {
        if let Some(value) = value {
            self.0.insert(metric.to_owned(), MetricValue::Flag(value));
        }
    }

    /// Sets a word; `None` leaves it unknown.
    pub fn label(&mut self, metric: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.0.insert(metric.to_owned(), MetricValue::Label(value.to_owned()));
        }
    }

    /// A number by its metric.
    #[must_use]
    pub fn get(&self, metric: &str) -> Option<f64> {
        match self.0.get(metric) {
            Some(MetricValue::Number(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Something techniques can be applied to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// `k1` (rank by time), `h2d`, `run`.
    pub handle: String,
    /// Kernel name, copy direction, or empty for the run.
    pub label: String,
    /// The same in every run of a program: kernel base name, direction, `run`.
    pub key: String,
    /// What is known.
    pub values: Values,
    /// Texts that titles and actions may name: `threads`, `wave`.
    pub words: BTreeMap<String, String>,
}

/// All targets of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subjects {
    /// The run.
    pub run: Subject,
    /// Copies by direction.
    pub copies: Vec<Subject>,
    /// Kernels of the program, most time first.
    pub kernels: Vec<Subject>,
    /// Factor on every confidence for the state of the trace.
    pub health: f64,
}

/// Whether a technique fits a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Every required precondition is met.
    Applicable,
    /// At least half of them are, none is missed.
    Possible,
}

impl Status {
    /// The word used in answers.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Applicable => "applicable",
            Self::Possible => "possible",
        }
    }
}

/// Why a technique is not listed for a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// Too little is known.
    Unknown,
    /// It would bring too little.
    BelowFloor,
    /// A precondition does not hold, or there is nothing to gain.
    Blocked,
}

/// A precondition held against a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What must hold: `VALU utilization >= 60.0%`.
    pub text: String,
    /// Whether it does.
    pub state: State,
    /// `required`, `supporting`, `excluded` or `headroom`.
    pub role: &'static str,
    /// The value it was judged by.
    pub value: Option<MetricValue>,
    /// With its value: `VALU utilization 78.0% (>= 60.0%)`; `None` when the value is unknown.
    pub shown: Option<String>,
    /// Metrics it looks at.
    pub metrics: Vec<&'static str>,
}

/// A technique that fits a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitting {
    /// The technique.
    pub technique: &'static Technique,
    /// Its target.
    pub subject: Subject,
    /// How well it fits.
    pub status: Status,
    /// Headline, filled.
    pub title: String,
    /// Why it fits, one sentence.
    pub rationale: String,
    /// What to do, filled.
    pub actions: Vec<String>,
    /// Preconditions, required first.
    pub checks: Vec<Check>,
    /// What it can bring.
    pub gain: Gain,
    /// Middle of the saving as gain of the run: 0.42 is 42 % faster; 3 decimals.
    pub expected_impact: f64,
    /// Mean over preconditions of met 1, unknown 0.5, not met 0.
    pub evidence: f64,
    /// Fraction, 2 decimals.
    pub confidence: f64,
    /// Order of the list, 6 decimals.
    pub score: f64,
}

impl Fitting {
    /// `lds_tiling@gemm`: the same in every run of a program.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}@{}", self.technique.id, self.subject.key)
    }

    /// `low`, `medium` or `high`.
    #[must_use]
    pub fn effort(&self) -> &'static str {
        let facts = thresholds::ranking();
        match self.technique.effort {
            effort if effort <= facts.effort_low_max => "low",
            effort if effort <= facts.effort_medium_max => "medium",
            _ => "high",
        }
    }
}

/// A technique that is not listed for a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// The technique.
    pub technique: &'static Technique,
    /// Handle of the target.
    pub handle: String,
    /// Which kind of reason.
    pub kind: Rejection,
    /// The reason in words.
    pub reason: String,
    /// Metrics that would decide, when every known precondition is met and the target matters.
    pub missing: Vec<&'static str>,
}

/// Every technique held against every target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Those that fit, best first.
    pub fitting: Vec<Fitting>,
    /// Those that do not: unknown ones, then those below the floor, then blocked ones; by kernels, copies, run; in
    /// catalogue order.
    pub rejected: Vec<Rejected>,
    /// Required preconditions whose state is known.
    pub known: u64,
    /// All of them; library kernels are left out.
    pub required: u64,
}

impl Judgement {
    /// Metrics that would decide about a technique, each once, in the order of the rejected.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        for metric in self.rejected.iter().flat_map(|rejected| &rejected.missing) {
            if !missing.contains(metric) {
                missing.push(*metric);
            }
        }
        missing
    }

    /// Known over all required preconditions, 2 decimals; 0 when there are none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub fn confidence(&self) -> f64 {
        if self.required == 0 { 0.0 } else { round(self.known as f64 / self.required as f64, 2) }
    }
}

/// Identity of a technique without its target, as callers remember it: hex SHA-256 of `{"name": "<name>"}`.
#[must_use]
pub fn hash(name: &str) -> String {
    hex(&format!("{{\"name\": {}}}", json_text(name)))
}

/// Identity with its target: hex SHA-256 of `{"name": "<name>", "target": "<target key>"}`.
#[must_use]
pub fn target_hash(name: &str, target: &str) -> String {
    hex(&format!("{{\"name\": {}, \"target\": {}}}", json_text(name), json_text(target)))
}

fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Holds the techniques of one specialist, or all, against the targets of a run.
#[must_use]
pub fn judge(subjects: &Subjects, specialist: Option<Specialist>) -> Judgement {
    let mut judgement = Judgement::default();
    let most = usize::try_from(thresholds::ranking().max_kernels).unwrap_or(usize::MAX);
    let wanted = |technique: &&Technique| specialist.is_none_or(|one| technique.specialist.contains(&one));
    let kernels = subjects.kernels.iter().filter(|kernel| {
        kernel.values.get("share").is_some_and(|share| share >= thresholds::ranking().min_target_share)
    });
    let groups: [(Target, Vec<&Subject>); 3] = [
        (Target::Kernel, kernels.take(most).collect()),
        (Target::Copy, subjects.copies.iter().collect()),
        (Target::Run, vec![&subjects.run]),
    ];
    for (target, group) in &groups {
        for subject in group {
            for technique in catalogue::all().iter().filter(wanted).filter(|found| found.target == *target) {
                judge_one(subjects, subject, technique, &mut judgement);
            }
        }
    }
    judgement.fitting.sort_by(order);
    // Stable: kernels by share, then copies, then the run, in catalogue order within a kind.
    judgement.rejected.sort_by_key(|rejected| rejected.kind);
    judgement
}

fn judge_one(subjects: &Subjects, subject: &Subject, technique: &'static Technique, into: &mut Judgement) {
    let library = subject.values.0.get("is_library") == Some(&MetricValue::Flag(true));
    let reject = |kind, reason: String, missing| Rejected {
        technique,
        handle: subject.handle.clone(),
        kind,
        reason,
        missing,
    };
    if library && technique.target == Target::Kernel {
        into.rejected.push(reject(Rejection::Blocked, "library kernel".to_owned(), Vec::new()));
        return;
    }
    let look =
        |metric: &str| subject.values.0.get(metric).or_else(|| subjects.run.values.0.get(metric)).cloned();
    let check = |condition: &'static Condition, role: Role| checked(condition, role, &look);
    let required: Vec<Check> = technique.required.iter().map(|one| check(one, Role::Required)).collect();
    let supporting = technique.supporting.iter().map(|one| check(one, Role::Supporting));
    let excluded = technique.excluded.iter().map(|one| check(one, Role::Excluded)).collect::<Vec<_>>();
    let states = |state: State| required.iter().filter(|check| check.state == state).count();
    let (met, unknown) = (states(State::Met), states(State::Unknown));
    into.required += required.len() as u64;
    into.known += (required.len() - unknown) as u64;
    let failed = required.iter().find(|check| check.state == State::NotMet);
    if let Some(failed) = failed.or_else(|| excluded.iter().find(|check| check.state == State::Met)) {
        let reason = failed.shown.clone().unwrap_or_else(|| failed.text.clone());
        into.rejected.push(reject(Rejection::Blocked, reason, Vec::new()));
        return;
    }
    let facts = thresholds::ranking();
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let part = if required.is_empty() { 1.0 } else { met as f64 / required.len() as f64 };
    if met < required.len() && part < facts.possible_share {
        let open: Vec<&Check> = required.iter().filter(|check| check.state == State::Unknown).collect();
        let texts: Vec<&str> = open.iter().map(|check| check.text.as_str()).collect();
        let matters = match technique.target {
            Target::Kernel => subject.values.get("share"),
            Target::Copy => subject.values.get("large_copy_share"),
            Target::Run => Some(1.0),
        };
        let missing = if matters.is_some_and(|share| share >= facts.missing_share) {
            let known = |metric: &&'static str| look(metric).is_none();
            open.iter().flat_map(|check| check.metrics.iter().copied()).filter(known).collect()
        } else {
            Vec::new()
        };
        into.rejected.push(reject(Rejection::Unknown, format!("not known: {}", texts.join(", ")), missing));
        return;
    }
    let gain = match gain::of(technique, subject, &subjects.run) {
        Ok(gain) => gain,
        Err(reason) => {
            into.rejected.push(reject(Rejection::Blocked, reason, Vec::new()));
            return;
        }
    };
    if gain.saved_hi < facts.min_saved {
        into.rejected.push(reject(Rejection::BelowFloor, "below 2% of the run".to_owned(), Vec::new()));
        return;
    }
    let applicable = met == required.len();
    let mut counted: Vec<Check> = required.into_iter().chain(supporting).collect();
    if technique.target == Target::Kernel {
        counted.push(headroom(&gain));
    }
    let fitting = fitting(technique, subject, subjects.health, applicable, counted, excluded, gain);
    into.fitting.push(fitting);
}

fn checked(condition: &'static Condition, role: Role, look: &dyn Fn(&str) -> Option<MetricValue>) -> Check {
    let text = sentence::condition(condition);
    let value = sentence::judged_value(condition, look);
    Check {
        state: condition.state(look),
        role: role.as_str(),
        shown: value.as_ref().map(|value| sentence::with_value(condition, value)),
        value,
        text,
        metrics: condition.metrics(),
    }
}

/// Whether what the technique leaves unchanged has room.
fn headroom(gain: &Gain) -> Check {
    let (state, shown) = match &gain.cap {
        Cap::Known { by, .. } => (State::Met, Some(format!("headroom: {by}"))),
        Cap::Unknown | Cap::None => (State::Unknown, None),
    };
    Check {
        text: "headroom in what it leaves unchanged".to_owned(),
        state,
        role: "headroom",
        value: gain.cap.limit().map(MetricValue::Number),
        shown,
        metrics: Vec::new(),
    }
}

fn fitting(
    technique: &'static Technique,
    subject: &Subject,
    health: f64,
    applicable: bool,
    counted: Vec<Check>,
    excluded: Vec<Check>,
    gain: Gain,
) -> Fitting {
    let facts = thresholds::ranking();
    let weight = |check: &Check| match check.state {
        State::Met => 1.0,
        State::Unknown => facts.evidence_unknown,
        State::NotMet => 0.0,
    };
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let evidence =
        if counted.is_empty() { 1.0 } else { counted.iter().map(weight).sum::<f64>() / counted.len() as f64 };
    let risk = match technique.risk {
        Risk::Low => facts.risk_low,
        Risk::Medium => facts.risk_medium,
        Risk::High => facts.risk_high,
    };
    let (score_part, confidence_part) =
        if applicable { (1.0, 1.0) } else { (facts.score_possible, facts.confidence_possible) };
    let saved_mid = (gain.saved_lo + gain.saved_hi) / 2.0;
    let score = saved_mid * evidence * score_part / (technique.effort * risk);
    let words = words(subject);
    let values: Vec<(&str, &str)> = words.iter().map(|(name, word)| (name.as_str(), word.as_str())).collect();
    Fitting {
        technique,
        subject: subject.clone(),
        status: if applicable { Status::Applicable } else { Status::Possible },
        title: fill(&technique.title, &values),
        rationale: rationale(technique, subject, &counted),
        actions: technique.actions.iter().map(|action| fill(action, &values)).collect(),
        expected_impact: round(1.0 / (1.0 - saved_mid) - 1.0, 3),
        evidence,
        confidence: round(evidence * technique.confidence * confidence_part * health, 2),
        score: round(score, 6),
        checks: counted.into_iter().chain(excluded).collect(),
        gain,
    }
}

/// What the placeholders of titles and actions stand for.
fn words(subject: &Subject) -> BTreeMap<String, String> {
    let whole = |metric: &str| subject.values.get(metric).map(|value| format!("{value:.0}"));
    let mut words = BTreeMap::new();
    let mut set = |name: &str, word: Option<String>, otherwise: &str| {
        words.insert(name.to_owned(), word.unwrap_or_else(|| otherwise.to_owned()));
    };
    // The title's own backticks surround the name.
    set("kernel", Some(sentence::name(&subject.label).trim_matches('`').to_owned()), "");
    set("direction", Some(subject.label.clone()), "");
    set("vgpr", whole("vgpr_total"), "its");
    let target = subject.values.get("vgpr_total").zip(subject.values.get("vgpr_cut_frac"));
    set("vgpr_target", target.map(|(now, cut)| format!("{:.0}", (now * (1.0 - cut)).round())), "fewer");
    set("waves_target", whole("waves_target"), "waves");
    set("threads", None, "threads");
    set("wave", None, "the wave size");
    words.extend(subject.words.clone());
    words
}

fn rationale(technique: &Technique, subject: &Subject, counted: &[Check]) -> String {
    let share = |metric: &str| {
        subject.values.get(metric).map_or_else(String::new, |share| format!(" ({} of the run)", pct(share)))
    };
    let target = match technique.target {
        Target::Kernel => format!("{}{}", sentence::name(&subject.label), share("share")),
        Target::Copy => format!("{} copies{}", subject.label, share("large_copy_share")),
        Target::Run => "The run".to_owned(),
    };
    let met: Vec<&str> = counted
        .iter()
        .filter(|check| check.role == Role::Required.as_str() && check.state == State::Met)
        .filter_map(|check| check.shown.as_deref())
        .collect();
    format!("{target}: {}.", met.join("; "))
}

fn order(a: &Fitting, b: &Fitting) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| b.gain.saved_hi.total_cmp(&a.gain.saved_hi))
        .then_with(|| a.technique.effort.total_cmp(&b.technique.effort))
        .then_with(|| a.technique.risk.cmp(&b.technique.risk))
        .then_with(|| a.technique.id.cmp(&b.technique.id))
        .then_with(|| a.subject.handle.cmp(&b.subject.handle))
}

#[cfg(test)]
mod tests;
