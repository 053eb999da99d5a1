//! `plateau`: converts a history of run times and words the outcome.

use perfxpert_analysis::plateau::{self, Trend};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::plateau as wire;
use serde_json::{Map, Value};

use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::Check>(
        "Optimisation plateau",
        "Has an optimisation loop stopped improving? Judges the latest total run times. Use regression_compare_runs for two traces.",
        check,
    )]
}

/// The key of a run that is judged.
const RUNTIME: &str = "total_runtime_ns";

fn check(_: &Context, input: wire::CheckInput) -> Result<wire::CheckOutput, ErrorObject> {
    let runtimes: Vec<f64> =
        input.history.iter().enumerate().map(|(index, run)| runtime(index, run)).collect::<Result<_, _>>()?;
    let window = input.window as usize;
    let threshold = input.threshold.unwrap_or(thresholds::plateau().delta);
    let (best_index, entries) = (plateau::best(&runtimes), runtimes.len());
    let Some(judged) = plateau::judge(&runtimes, window, threshold) else {
        return Ok(wire::CheckOutput {
            plateau_detected: false,
            reason: format!("insufficient history: {entries} of at least {window} runs"),
            trend: wire::Trend::Unknown,
            recent_deltas: None,
            signed_deltas: None,
            cumulative_delta: None,
            best_index,
            entries,
        });
    };
    let (trend, words) = match judged.trend {
        Trend::Improving => (wire::Trend::Improving, "every run was faster than the one before"),
        Trend::Regressing => (wire::Trend::Regressing, "every run was slower than the one before"),
        Trend::Flat => (wire::Trend::Flat, "no step reached the threshold"),
        Trend::Noisy => (wire::Trend::Noisy, "the runs go up and down"),
    };
    let reason = format!(
        "last {window} runs: {words}; {:+.2} % in all, threshold {:.2} %",
        judged.cumulative * 100.0,
        threshold * 100.0
    );
    Ok(wire::CheckOutput {
        plateau_detected: judged.detected(),
        reason,
        trend,
        recent_deltas: Some(judged.deltas.iter().map(|delta| delta.abs()).collect()),
        signed_deltas: Some(judged.deltas),
        cumulative_delta: Some(judged.cumulative),
        best_index,
        entries,
    })
}

fn runtime(index: usize, run: &Map<String, Value>) -> Result<f64, ErrorObject> {
    let field = format!("history[{index}].{RUNTIME}");
    let fault = match run.get(RUNTIME) {
        None | Some(Value::Null) => "is missing".to_owned(),
        Some(value) => match value.as_f64() {
            Some(number) if number > 0.0 => return Ok(number),
            Some(_) => format!("is {value}, but it must be above 0"),
            None => format!("is {value}, but it must be a number"),
        },
    };
    let hint = format!("Send {RUNTIME} above 0, in ns, for every run of the history.");
    Err(ErrorObject::invalid(&field, format!("{field} {fault}."), hint))
}
