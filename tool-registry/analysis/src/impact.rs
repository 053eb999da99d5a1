//! Brackets the gain of one kind of change to one kernel, from models whose inputs come from a trace or a caller.

use std::collections::BTreeMap;

use perfxpert_knowledge::arch::{self, MatrixPipe};
use perfxpert_knowledge::commands::{Command, Target};
use perfxpert_knowledge::formulas::Expression;
use perfxpert_knowledge::impact::{Model, models};
use perfxpert_knowledge::thresholds;

use crate::collection::{classify_passes, counter_commands};
use crate::verdict::amdahl;

pub mod id;

/// Numeric inputs are kept to this many parts of one, so that an id can carry them exactly.
pub const STEPS: f64 = 1_000_000.0;

/// Known inputs of a prediction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs {
    /// By name; fractions, counts, bytes and MB as the names say. Booleans are 0 and 1.
    pub numbers: BTreeMap<String, f64>,
    /// Architecture, normalised.
    pub gfx_id: Option<String>,
    /// Number format; fp32 when not known.
    pub dtype: Option<String>,
}

impl Inputs {
    /// Adds a number, rounded to what an id can carry.
    pub fn set(&mut self, name: &str, value: f64) {
        self.numbers.insert(name.to_owned(), (value * STEPS).round() / STEPS);
    }

    /// An input or a figure that follows from the inputs; `None` = not known.
    pub fn get(&self, name: &str) -> Option<f64> {
        if let Some(value) = self.numbers.get(name) {
            return Some(*value);
        }
        match name {
            "arithmetic_intensity" => self.numbers.get("arithmetic_intensity_before").copied(),
            "hideable_copy" => Some(self.get("exposed_copy_pct")?.min(self.get("kernel_window_pct")?)),
            "matrix_peak" => self.matrix_peak(),
            "vector_peak" => {
                let arch = arch::find(self.gfx_id.as_deref()?)?;
                Some(arch.fp32_unpacked(arch.default_sku()?))
            }
            "ridge" => {
                let sku = arch::find(self.gfx_id.as_deref()?)?.default_sku()?;
                Some(self.peak()? / sku.memory_bandwidth_tbs)
            }
            _ => None,
        }
    }

    fn dtype(&self) -> &str {
        self.dtype.as_deref().unwrap_or("fp32")
    }

    /// Best peak of the format, TFLOP/s.
    fn peak(&self) -> Option<f64> {
        let peaks = &arch::find(self.gfx_id.as_deref()?)?.default_sku()?.peaks;
        match self.dtype() {
            "fp64" => Some(peaks.fp64),
            "fp32" => Some(peaks.fp32),
            "fp16" => peaks.fp16,
            "bf16" => peaks.bf16,
            "fp8" => peaks.fp8,
            "int8" => peaks.int8,
            _ => None,
        }
    }

    /// Peak of the format on the matrix pipe, TFLOP/s; 0 where a known architecture has none.
    fn matrix_peak(&self) -> Option<f64> {
        let arch = arch::find(self.gfx_id.as_deref()?)?;
        let peaks = &arch.default_sku()?.peaks;
        let peak = match (arch.matrix_pipe, self.dtype()) {
            (MatrixPipe::Mfma, "fp64") => peaks.fp64_matrix,
            (MatrixPipe::Mfma, "fp32") => peaks.fp32_matrix,
            (MatrixPipe::Mfma, _) => self.peak(),
            _ => None,
        };
        Some(peak.unwrap_or(0.0))
    }
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It holds.
    Met,
    /// It does not hold.
    NotMet,
    /// A value is missing.
    Unknown,
}

/// A condition held against the inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Its name.
    pub id: &'static str,
    /// What must hold.
    pub rule: String,
    /// The value it was held against.
    pub value: Option<f64>,
    /// Whether it holds.
    pub state: State,
}

/// Why there is a bracket, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// There is one.
    Predicted,
    /// The kernel's share is too small to matter.
    BelowAmdahlGate,
    /// Counters are needed first.
    NoCounters,
    /// A condition does not hold.
    PreconditionNotMet,
}

/// A prediction; ranges are unrounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Low and high speed-up of the kernel, or of the program where the model says so.
    pub range: Option<(f64, f64)>,
    /// The same for the whole program.
    pub program: Option<(f64, f64)>,
    /// 0 without a range.
    pub confidence: f64,
    /// What became of it.
    pub status: Status,
    /// Conditions of the model, in order.
    pub conditions: Vec<Checked>,
    /// Whether every input of the model is known.
    pub inputs_known: bool,
}

/// Share of the runtime, a fraction.
pub const SHARE: &str = "kernel_time_pct";
/// Whether counter values exist, 0 or 1.
pub const COUNTERS: &str = "counter_data_available";

/// Whether a model is about the whole program rather than one kernel.
pub fn is_program_level(model: &Model) -> bool {
    model.scope == "program"
}

fn check(model: &'static Model, inputs: &Inputs) -> Vec<Checked> {
    model
        .preconditions
        .iter()
        .map(|condition| {
            let value = inputs.get(&condition.metric);
            let limit = match &condition.other {
                Some(other) => inputs.get(other),
                None => condition.limit(),
            };
            let state = match value.zip(limit) {
                Some((value, limit)) if condition.op.holds(value, limit) => State::Met,
                Some(_) => State::NotMet,
                None => State::Unknown,
            };
            Checked { id: &condition.id, rule: condition.rule(), value, state }
        })
        .collect()
}

/// What a model says a change brings at most, before its cap; `None` when an input is unknown.
pub fn upper(model: &Model, inputs: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let upper = Expression::parse(&model.hi_model).ok()?.evaluate(inputs);
    upper.filter(|upper| upper.is_finite())
}

/// Predicts from inputs alone.
pub fn predict(model: &'static Model, inputs: &Inputs) -> Prediction {
    let conditions = check(model, inputs);
    let upper = upper(model, &|name| inputs.get(name));
    let share = inputs.get(SHARE);
    let status = if !is_program_level(model) && share.is_some_and(|share| share < thresholds::amdahl().low) {
        Status::BelowAmdahlGate
    } else if !is_program_level(model) && inputs.get(COUNTERS) != Some(1.0) {
        Status::NoCounters
    } else if conditions.iter().any(|condition| condition.state == State::NotMet) {
        Status::PreconditionNotMet
    } else {
        Status::Predicted
    };
    let refused = Prediction {
        range: None,
        program: None,
        confidence: 0.0,
        status,
        inputs_known: upper.is_some(),
        conditions,
    };
    if status != Status::Predicted {
        return refused;
    }
    let facts = models();
    let met = refused.conditions.iter().filter(|condition| condition.state == State::Met).count();
    let all = refused.conditions.len();
    let hi = upper.map_or(model.hi_cap, |upper| upper.min(model.hi_cap)).max(1.0);
    let lo = if met == all && upper.is_some() { 1.0 + (hi - 1.0) / facts.lo_divisor } else { 1.0 };
    let program = if is_program_level(model) {
        Some((lo, hi))
    } else {
        share.map(|share| (amdahl(share, lo), amdahl(share, hi)))
    };
    let part = if all == 0 { 1.0 } else { met as f64 / all as f64 };
    let floor = facts.confidence_floor;
    Prediction {
        range: Some((lo, hi)),
        program,
        confidence: model.base_confidence * (floor + (1.0 - floor) * part),
        ..refused
    }
}

/// How to collect the counters that a refusal asks for.
fn counters_command() -> String {
    let target = Target { app: "./app", out: "perfxpert_out", kernel: None };
    let passes = classify_passes(None);
    counter_commands(&passes, &target).first().map(Command::full_command).unwrap_or_default()
}

/// A prediction in one sentence.
#[must_use]
pub fn rationale(model: &Model, found: &Prediction, inputs: &Inputs) -> String {
    match found.status {
        Status::BelowAmdahlGate => format!(
            "Amdahl: the kernel takes {:.1} % of the kernel time, too little for any change to matter.",
            inputs.get(SHARE).unwrap_or_default() * 100.0
        ),
        Status::NoCounters => {
            format!("There are no counter values; collect them with: {}", counters_command())
        }
        Status::PreconditionNotMet => {
            let failed: Vec<String> = found
                .conditions
                .iter()
                .filter(|condition| condition.state == State::NotMet)
                .map(|condition| format!("{} ({})", condition.id, condition.rule))
                .collect();
            format!("The change does not apply here: {} does not hold.", failed.join(", "))
        }
        Status::Predicted => {
            let met = found.conditions.iter().filter(|condition| condition.state == State::Met).count();
            let hi = found.range.map_or(1.0, |(_, hi)| hi);
            let bound = if !found.inputs_known {
                "inputs of the model are unknown, so its cap is the upper bound"
            } else if hi >= model.hi_cap {
                "the model exceeds its cap"
            } else {
                "the model gives the upper bound"
            };
            format!("{met} of {} conditions are met; {bound}; measure it.", found.conditions.len())
        }
    }
}

/// Facts a prediction rests on.
#[must_use]
pub fn citation(model: &Model) -> String {
    format!("impact/models#models.{}; {}", model.id, thresholds::amdahl::ID.low)
}

/// The model with the numbers of known inputs in place of their names.
pub fn formula(model: &Model, inputs: &Inputs) -> String {
    let mut filled = String::new();
    let mut word = String::new();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    for letter in model.hi_model.chars().chain([' ']) {
        if is_part(letter) {
            word.push(letter);
            continue;
        }
        let value = inputs.get(&word).map(|value| value.to_string());
        filled.push_str(value.as_deref().unwrap_or(&word));
        word.clear();
        filled.push(letter);
    }
    format!(
        "hi = min({}, {}), at least 1; lo = 1 + (hi - 1) / {}",
        model.hi_cap,
        filled.trim_end(),
        models().lo_divisor
    )
}
