//! `predict_impact`: gathers what is known about a change and words the bracket of its model.

use perfxpert_analysis::impact::{self, Inputs, State, Status};
use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::impact::{Model, models};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::predict_impact as wire;
use serde_json::Value;

use crate::arguments::unknown_name;
use crate::{Context, Tool, tool, trace_health};

mod database;
mod params;

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::ListSupportedChanges>(
            "Predictable changes",
            "The kinds of change that can be predicted and what each needs. Use predict_impact_predict_change_impact for a bracket.",
            list_supported_changes,
        ),
        tool::<wire::PredictChangeImpact>(
            "Impact of a change",
            "A speed-up bracket for one change to one kernel, with the conditions it rests on. Use bottleneck_prioritize_by_amdahl for the plain bound.",
            predict_change_impact,
        ),
        tool::<wire::ExplainPrediction>(
            "A prediction explained",
            "Re-derives a prediction of predict_impact_predict_change_impact from its id alone, with its inputs and the formula filled in.",
            explain_prediction,
        ),
    ]
}

fn version() -> u64 {
    u64::from(models().version)
}

fn list_supported_changes(
    _: &Context,
    _: wire::ListSupportedChangesInput,
) -> Result<wire::ListSupportedChangesOutput, ErrorObject> {
    let items: Vec<wire::SupportedChange> = models()
        .models
        .iter()
        .map(|model| wire::SupportedChange {
            id: model.id.clone(),
            applies_to: wire::AppliesTo {
                kernel_class: model.kernel_class.clone(),
                regime: model.regime.clone(),
            },
            required_metrics: model.required_metrics.clone(),
            preconditions: model
                .preconditions
                .iter()
                .map(|condition| wire::Condition { id: condition.id.clone(), rule: condition.rule() })
                .collect(),
            hi_model: model.hi_model.clone(),
            hi_cap: model.hi_cap,
            base_confidence: model.base_confidence,
            scope: model.scope.clone(),
            reason: model.reason.clone(),
        })
        .collect();
    Ok(wire::ListSupportedChangesOutput {
        total: items.len(),
        items,
        truncated: false,
        models_version: version(),
    })
}

fn model(asked: &str) -> Result<&'static Model, ErrorObject> {
    perfxpert_knowledge::impact::find(asked.trim()).ok_or_else(|| {
        let known = models().models.iter().map(|model| model.id.as_str());
        unknown_name("change_type", asked.trim(), known, "change type")
    })
}

fn predict_change_impact(
    context: &Context,
    input: wire::PredictChangeImpactInput,
) -> Result<wire::PredictChangeImpactOutput, ErrorObject> {
    let model = model(&input.change_type)?;
    let (mut inputs, unknown_params) = params::read("change_params", &input.change_params)?;
    let stands_alone = [impact::SHARE, impact::COUNTERS].iter().all(|name| inputs.get(name).is_some());
    let mut assumptions = Vec::new();
    let run = match database::open(context, &input.baseline_db) {
        Ok(run) => {
            database::fill(&run, &input.kernel_name, &mut inputs)?;
            Some(run)
        }
        Err(error) if stands_alone && !context.is_cancelled() => {
            assumptions.push(format!(
                "the database was not read ({}); only change_params are known",
                error.kind.as_str()
            ));
            None
        }
        Err(error) => return Err(error),
    };
    if model.preconditions.iter().any(|condition| condition.metric == "waves_target") {
        database::derive_waves(&mut inputs);
    }
    Ok(wire::PredictChangeImpactOutput {
        prediction: predict(model, &input.kernel_name, &inputs, assumptions),
        baseline_db: input.baseline_db,
        database_read: run.is_some(),
        models_version: version(),
        unknown_params,
        trace_health: run.map(|run| trace_health::of(&run)),
    })
}

fn state(state: State) -> wire::State {
    match state {
        State::Met => wire::State::Met,
        State::NotMet => wire::State::NotMet,
        State::Unknown => wire::State::Unknown,
    }
}

fn pair(range: Option<(f64, f64)>) -> Option<[f64; 2]> {
    range.map(|(lo, hi)| [round(lo, 3), round(hi, 3)])
}

/// The answer of a model for inputs; `further` are assumptions that the caller of this function knows of.
fn predict(model: &'static Model, kernel: &str, inputs: &Inputs, further: Vec<String>) -> wire::Prediction {
    let found = impact::predict(model, inputs);
    let mut assumptions: Vec<String> =
        inputs.get(impact::SHARE).map(|share| format!("{}={share:.4}", impact::SHARE)).into_iter().collect();
    assumptions.push(format!("upper bound capped at {}", model.hi_cap));
    if !found.inputs_known {
        assumptions.push("not every input of the model is known".to_owned());
    }
    let unknown: Vec<&str> = found
        .conditions
        .iter()
        .filter(|condition| condition.state == State::Unknown)
        .map(|condition| condition.id)
        .collect();
    if !unknown.is_empty() {
        assumptions.push(format!("not known whether these hold: {}", unknown.join(", ")));
    }
    assumptions.extend(further);
    let intensity = |name: &str| inputs.get(name).map(|ai| wire::Intensity { ai });
    wire::Prediction {
        predicted_speedup_range: pair(found.range),
        program_speedup_range: pair(found.program),
        confidence: round(found.confidence, 3),
        status: match found.status {
            Status::Predicted => wire::Status::Predicted,
            Status::BelowAmdahlGate => wire::Status::BelowAmdahlGate,
            Status::NoCounters => wire::Status::NoCounters,
            Status::PreconditionNotMet => wire::Status::PreconditionNotMet,
        },
        rationale: impact::rationale(model, &found, inputs),
        preconditions: found
            .conditions
            .iter()
            .map(|condition| wire::CheckedCondition {
                id: condition.id.to_owned(),
                rule: condition.rule.clone(),
                value: condition.value,
                state: state(condition.state),
            })
            .collect(),
        assumptions,
        roofline_delta: wire::RooflineDelta {
            before: intensity("arithmetic_intensity_before"),
            after: intensity("arithmetic_intensity_after"),
        },
        source_citation: impact::citation(model),
        prediction_id: impact::id::encode(&model.id, kernel, version(), inputs),
        change_type: model.id.clone(),
        kernel_name: kernel.to_owned(),
    }
}

fn explain_prediction(
    _: &Context,
    input: wire::ExplainPredictionInput,
) -> Result<wire::ExplainPredictionOutput, ErrorObject> {
    let broken = || {
        ErrorObject::invalid(
            "prediction_id",
            "prediction_id is no id of a prediction, or was changed.",
            "Send the prediction_id of predict_impact_predict_change_impact unchanged.",
        )
        .value(&input.prediction_id)
    };
    let mut decoded = impact::id::decode(&input.prediction_id).ok_or_else(broken)?;
    let model = perfxpert_knowledge::impact::find(&decoded.change_type).ok_or_else(broken)?;
    for flag in params::FLAGS {
        if let Some(value) = decoded.inputs.get_mut(flag) {
            *value = Value::Bool(value.as_f64() == Some(1.0));
        }
    }
    // The digest only guards against accidents, so the values are checked like any other.
    let (inputs, _) = params::read("prediction_id", &decoded.inputs)?;
    Ok(wire::ExplainPredictionOutput {
        prediction: predict(model, &decoded.kernel_name, &inputs, Vec::new()),
        baseline_db: None,
        baseline_db_reason: "the id does not carry the path",
        database_read: false,
        models_version: version(),
        unknown_params: Vec::new(),
        formula: impact::formula(model, &inputs),
        stale: decoded.models_version != version(),
        inputs: decoded.inputs,
    })
}
