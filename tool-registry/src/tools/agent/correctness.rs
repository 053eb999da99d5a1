//! `agent.correctness`: reads a gate's verdict, says what to do, and names a technique that was not tried yet.

use std::collections::BTreeSet;

use perfxpert_agent::{EvidencePack, PackGate};
use perfxpert_analysis::recommend::techniques as figures;
use perfxpert_knowledge::techniques::{self, MetricValue, Technique};
use perfxpert_knowledge::{arch, thresholds};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::analysis::CitedValue;
use perfxpert_schemas::tools::agent::call::{AgentCall, EditEntry};
use perfxpert_schemas::tools::agent::correctness::{
    Action, CorrectnessAnswer, CorrectnessInput, Gate, GateStatus, GateVerdict, Outcome,
};
use perfxpert_schemas::tools::agent::details::{Details, FollowUp};
use perfxpert_schemas::tools::agent::run::AgentRun;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::ask::{Ask, Entered, Envelope};
use super::wording::{self, Draft};
use super::{paths, spec};
use crate::Context;

/// Most entries of `metrics` and of `per_kernel_deltas`.
const METRICS: usize = 50;
const KERNELS: usize = 200;
/// Kernels a sentence names.
const NAMED: usize = 3;

pub(super) fn run(
    context: &Context,
    call: AgentCall<CorrectnessInput>,
) -> Result<CorrectnessAnswer, ErrorObject> {
    let AgentCall { input, provider, model, airgap, session_id, options } = call;
    check(&input.gate_verdict)?;
    let envelope = Envelope { provider, model, airgap, session_id, options };
    let ask = Ask::open(context, &spec::CORRECTNESS, &[], envelope)?;
    let _entered = Entered::new(context, ask.agent);
    let mut warnings = Vec::new();
    let next = next(&input, &mut warnings)?;
    let mut answer = answer(&input, next.as_ref(), warnings);
    word(context, &ask, &input, &mut answer)?;
    Ok(answer)
}

/// What the types of the arguments cannot say.
fn check(verdict: &GateVerdict) -> Result<(), ErrorObject> {
    let refuse = |field: &str, message: &str, hint: &str| {
        Err(ErrorObject::invalid(&format!("input.gate_verdict.{field}"), message, hint))
    };
    match (verdict.status, verdict.failing_gate) {
        (GateStatus::Pass, Some(_)) => {
            return refuse(
                "failing_gate",
                "A verdict that passed names a failing gate.",
                "Send null for a pass.",
            );
        }
        (GateStatus::Reject | GateStatus::Regressed, None) => {
            return refuse(
                "failing_gate",
                "The verdict did not pass and names no failing gate.",
                "Name the gate that failed.",
            );
        }
        (GateStatus::Regressed, Some(gate)) if gate != Gate::Regression => {
            return refuse(
                "status",
                "Only the regression gate answers regressed.",
                "Send reject for another gate.",
            );
        }
        _ => {}
    }
    if verdict.metrics.len() > METRICS {
        return refuse("metrics", "metrics holds more than 50 numbers.", "Send at most 50.");
    }
    if verdict.metrics.values().any(|value| value.is_array() || value.is_object()) {
        return refuse(
            "metrics",
            "metrics holds a list or an object.",
            "Send numbers, texts, true or false.",
        );
    }
    if verdict.per_kernel_deltas.0.len() > KERNELS {
        return refuse(
            "per_kernel_deltas",
            "per_kernel_deltas holds more than 200 kernels.",
            "Send at most 200.",
        );
    }
    Ok(())
}

/// A technique to try next, and what speaks for it.
struct Next {
    technique: String,
    title: String,
    basis: &'static str,
}

fn next(input: &CorrectnessInput, warnings: &mut Vec<String>) -> Result<Option<Next>, ErrorObject> {
    if input.gate_verdict.status == GateStatus::Pass {
        return Ok(None);
    }
    let tried = tried(input, warnings);
    let is_new = |technique: &&Technique| !tried.contains(&technique.id);
    let pipe = match &input.gfx_id {
        Some(id) => Some(crate::device::architecture("input.gfx_id", id)?.matrix_pipe),
        None => None,
    };
    let candidates = input.edit_history.iter().filter_map(|entry| entry.candidate_alternative.as_deref());
    let proposed = candidates.filter_map(techniques::find).find(is_new);
    let from_catalogue = || {
        let last = input.last_technique.as_deref().and_then(techniques::find)?;
        let alternatives = last.alternatives.iter().filter_map(|id| techniques::find(id));
        alternatives.filter(is_new).find(|technique| !excluded(technique, pipe))
    };
    let basis = if proposed.is_some() { "proposed before" } else { "catalogue" };
    Ok(proposed.or_else(from_catalogue).map(|technique| Next {
        technique: technique.id.clone(),
        title: title(technique, input.kernel_name.as_deref()),
        basis,
    }))
}

/// Whether the architecture alone rules a technique out.
fn excluded(technique: &Technique, pipe: Option<arch::MatrixPipe>) -> bool {
    let lookup = |metric: &str| {
        (metric == "matrix_pipe")
            .then_some(())
            .and(pipe)
            .map(|pipe| MetricValue::Label(pipe.as_str().to_owned()))
    };
    technique.excluded.iter().any(|condition| condition.state(&lookup) == techniques::State::Met)
}

/// Catalogue ids of what was tried on this kernel or on none; unknown names stay as they are and are noted once.
fn tried(input: &CorrectnessInput, warnings: &mut Vec<String>) -> BTreeSet<String> {
    let here = |entry: &&EditEntry| {
        entry.kernel.is_none() || input.kernel_name.is_none() || entry.kernel == input.kernel_name
    };
    let history = input.edit_history.iter().filter(here).filter_map(EditEntry::technique);
    let mut unknown = Vec::new();
    let tried = input
        .last_technique
        .as_deref()
        .into_iter()
        .chain(history)
        .map(|name| match techniques::find(name) {
            Some(technique) => technique.id.clone(),
            None => {
                unknown.push(figures::name(name));
                name.to_owned()
            }
        })
        .collect();
    unknown.sort();
    unknown.dedup();
    if let Some(first) = unknown.first() {
        let more = match unknown.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        warnings.push(format!("Not in the catalogue of techniques: {first}{more}."));
    }
    tried
}

/// A technique's headline without what only a trace could fill in.
fn title(technique: &Technique, kernel: Option<&str>) -> String {
    let whole = technique.title.split(": {").next().unwrap_or(&technique.title);
    let kernel = kernel.map_or_else(|| "the kernel".to_owned(), figures::name);
    whole.replace("`{kernel}`", &kernel).replace("{direction} ", "")
}

fn answer(input: &CorrectnessInput, next: Option<&Next>, warnings: Vec<String>) -> CorrectnessAnswer {
    let verdict = &input.gate_verdict;
    let action = match verdict.status {
        GateStatus::Pass => Action::Accept,
        GateStatus::Regressed => Action::Revert,
        GateStatus::Reject => Action::RejectAndLog,
    };
    let follow_up = (verdict.status == GateStatus::Reject).then(|| follow_up(input));
    let mut details = Details::new(AgentRun::deterministic(spec::CORRECTNESS.name, false));
    details.evidence = evidence(input);
    details.follow_up_task.clone_from(&follow_up);
    details.warnings = warnings;
    CorrectnessAnswer {
        verdict: verdict.status,
        action,
        narrative: narrative(input, next),
        alternative_technique: next.map(|next| next.technique.clone()),
        follow_up_task_id: follow_up.map(|task| task.id),
        details,
    }
}

fn follow_up(input: &CorrectnessInput) -> FollowUp {
    let verdict = &input.gate_verdict;
    let gate = verdict.failing_gate.map_or("", Gate::as_str);
    let kernel = input.kernel_name.as_deref().unwrap_or_default();
    let patch = verdict.rejected_patch_sha.as_deref().unwrap_or_default();
    let digest = Sha256::digest(format!("{kernel}|{gate}|{patch}").as_bytes());
    let hex: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let meta = [
        ("verdict", json!(verdict.status)),
        ("kernel", json!(input.kernel_name)),
        ("technique", json!(input.last_technique)),
    ];
    FollowUp {
        id: format!("pfx-{hex}"),
        title: format!("Investigate rejected optimization: {gate}"),
        meta: meta.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    }
}

/// Kernels with a known change, the one that lost most first.
fn changes(verdict: &GateVerdict) -> Vec<(&str, f64)> {
    let known = verdict.per_kernel_deltas.0.iter();
    let mut known: Vec<(&str, f64)> =
        known.filter_map(|(name, delta)| Some((name.as_str(), (*delta)?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    known
}

fn narrative(input: &CorrectnessInput, next: Option<&Next>) -> String {
    let verdict = &input.gate_verdict;
    let detail = verdict.detail.trim().trim_end_matches('.');
    let with_detail = |text: String| if detail.is_empty() { text } else { format!("{text}: {detail}") };
    let total =
        verdict.delta_pct.map(|delta| format!("Kernel time changed by {}", wording::signed_pct(delta)));
    let changes = changes(verdict);
    let mut sentences: Vec<String> = Vec::new();
    match verdict.status {
        GateStatus::Pass => {
            let skipped: Vec<&str> = verdict
                .gates
                .iter()
                .filter(|gate| gate.outcome == Outcome::Skipped)
                .map(|gate| gate.gate.as_str())
                .collect();
            let skipped = if skipped.is_empty() {
                String::new()
            } else {
                format!(" (skipped: {})", skipped.join(", "))
            };
            sentences.push(with_detail(format!("Every gate that ran passed{skipped}")));
            sentences.extend(total);
            sentences.push("Keep the change".to_owned());
        }
        GateStatus::Regressed => {
            sentences.push(with_detail("The regression gate failed".to_owned()));
            let worst = changes.first().map(|(name, delta)| {
                format!("worst {} {}", figures::name(name), wording::signed_pct(*delta))
            });
            sentences.extend(match (total, worst) {
                (Some(total), Some(worst)) => Some(format!("{total}; {worst}")),
                (total, worst) => total.or(worst.map(|worst| worst.replacen("worst", "Worst", 1))),
            });
            sentences.push("Revert the change".to_owned());
        }
        GateStatus::Reject => {
            let gate = verdict.failing_gate.map_or("", Gate::as_str);
            sentences.push(with_detail(format!("The {gate} gate rejected the change")));
            let named: Vec<String> = changes
                .iter()
                .take(NAMED)
                .map(|(name, delta)| format!("{} {}", figures::name(name), wording::signed_pct(*delta)))
                .collect();
            if !named.is_empty() {
                sentences.push(named.join(", "));
            }
            sentences.push("Go back to the previous version and log it".to_owned());
        }
    }
    if verdict.status != GateStatus::Pass {
        sentences.push(match next {
            Some(next) => format!("Next to try: {} ({})", next.title, next.basis),
            None => "No untried technique is known for this kernel".to_owned(),
        });
        let failures = failures_in_a_row(input);
        if failures >= thresholds::gate().max_consecutive_failures {
            sentences.push(format!("{failures} attempts in a row failed: profile again before another edit"));
        }
    }
    sentences.iter().map(|sentence| format!("{sentence}.")).collect::<Vec<_>>().join(" ")
}

/// Failed attempts on this kernel up to and with this one.
fn failures_in_a_row(input: &CorrectnessInput) -> u64 {
    let here = |entry: &&EditEntry| entry.kernel.is_none() || entry.kernel == input.kernel_name;
    let earlier = input.edit_history.iter().rev().filter(here);
    let failed = earlier.take_while(|entry| entry.verdict.is_some_and(|status| status != GateStatus::Pass));
    1 + failed.count() as u64
}

fn evidence(input: &CorrectnessInput) -> Vec<CitedValue> {
    let verdict = &input.gate_verdict;
    let item = |id: String, label: String, value: Value, unit: &str, from: String| CitedValue {
        id,
        label,
        value,
        unit: unit.to_owned(),
        from,
    };
    let mut items = vec![
        item("m.verdict".into(), "verdict".into(), json!(verdict.status), "label", "verdict".into()),
        item(
            "m.action".into(),
            "what to do".into(),
            json!(action_word(verdict.status)),
            "label",
            "action".into(),
        ),
    ];
    if let Some(gate) = verdict.failing_gate {
        let from = "input.gate_verdict.failing_gate".to_owned();
        items.push(item("m.gate.failing_gate".into(), "gate that failed".into(), json!(gate), "label", from));
    }
    if let Some(delta) = verdict.delta_pct {
        let from = "input.gate_verdict.delta_pct".to_owned();
        items.push(item(
            "m.gate.delta_pct".into(),
            "change the gate measured".into(),
            json!(delta),
            "%",
            from,
        ));
    }
    for (key, value) in verdict.metrics.iter().filter(|(_, value)| !value.is_null()) {
        let unit = if key.ends_with("_pct") { "%" } else { "value" };
        let from = format!("input.gate_verdict.metrics.{key}");
        items.push(item(
            format!("m.gate.{}", id_part(key)),
            key.chars().take(80).collect(),
            value.clone(),
            unit,
            from,
        ));
    }
    for (rank, (name, delta)) in changes(verdict).into_iter().take(NAMED).enumerate() {
        let label = format!("change of {}", figures::name(name));
        let label = label.chars().take(80).collect();
        let from = "input.gate_verdict.per_kernel_deltas".to_owned();
        items.push(item(format!("m.gate.kernel_delta_pct@k{}", rank + 1), label, json!(delta), "%", from));
    }
    items.sort_by(|a, b| a.id.cmp(&b.id));
    items.dedup_by(|later, first| later.id == first.id);
    items
}

fn action_word(status: GateStatus) -> Action {
    match status {
        GateStatus::Pass => Action::Accept,
        GateStatus::Regressed => Action::Revert,
        GateStatus::Reject => Action::RejectAndLog,
    }
}

/// A key as part of an evidence id: lower case, other characters as `_`.
fn id_part(key: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    key.chars().take(60).map(clean).collect()
}

fn word(
    context: &Context,
    ask: &Ask,
    input: &CorrectnessInput,
    answer: &mut CorrectnessAnswer,
) -> Result<(), ErrorObject> {
    let verdict = &input.gate_verdict;
    let narrative = answer.narrative.clone();
    let draft = Draft {
        pack: EvidencePack {
            query: String::new(),
            evidence: wording::pack_evidence(&answer.details.evidence),
            gate: Some(PackGate {
                status: verdict.status.as_str().to_owned(),
                failing_gate: verdict.failing_gate.map(|gate| gate.as_str().to_owned()),
                detail: Some(verdict.detail.clone()).filter(|detail| !detail.is_empty()),
                kernel_name: input.kernel_name.clone(),
                action: answer.action.as_str().to_owned(),
            }),
            ..EvidencePack::default()
        },
        narrative: &narrative,
        lead: Some("m.verdict"),
        titles: false,
        lane: None,
        roots: paths::roots(input.database_path.as_ref(), input.source_dir.as_deref(), None, None),
        names: input.kernel_name.iter().cloned().chain(verdict.per_kernel_deltas.0.keys().cloned()).collect(),
    };
    let outcome = wording::word(context, ask, &draft)?;
    wording::add_warnings(&mut answer.details.warnings, &outcome);
    if let Some(text) = outcome.narrative {
        answer.narrative = text;
    }
    answer.details.run = outcome.run;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    fn call(input: Value) -> Result<Value, ErrorObject> {
        let tool = Registry::new().find("agent.correctness").unwrap();
        let Value::Object(arguments) = json!({ "input": input }) else { unreachable!() };
        tool.call(&Context::detached(), Some(arguments))
    }

    fn guide() -> Value {
        json!({
            "gate_verdict": {
                "status": "reject", "failing_gate": "sol", "detail": "L2 hit rate regressed from 72% to 38%",
                "delta_pct": -47.2, "rejected_patch_sha": "abc123", "per_kernel_deltas": { "gemm_k0": -12.4 }
            },
            "kernel_name": "gemm_k0", "last_technique": "lds_blocking"
        })
    }

    #[test]
    fn the_example_of_the_guides() {
        let answer = call(guide()).unwrap();
        assert_eq!(answer["verdict"], "reject");
        assert_eq!(answer["action"], "reject_and_log");
        assert_eq!(answer["alternative_technique"], "cache_blocking");
        assert_eq!(answer["follow_up_task_id"], "pfx-5849efc5");
        assert_eq!(
            answer["narrative"],
            "The sol gate rejected the change: L2 hit rate regressed from 72% to 38%. `gemm_k0` -12.4%. Go back to the \
             previous version and log it. Next to try: Block `gemm_k0` so that its working set fits L2 (catalogue)."
        );
        assert_eq!(answer["details"]["follow_up_task"]["title"], "Investigate rejected optimization: sol");
        assert_eq!(answer["details"]["run"]["mode"], "deterministic");
    }

    #[test]
    fn a_list_of_changes_and_a_quoted_input_read_like_the_object() {
        let mut listed = guide();
        listed["gate_verdict"]["per_kernel_deltas"] =
            json!([{ "name": "gemm_k0", "delta_pct": -12.4, "was_hot": true }]);
        let quoted = Value::from(guide().to_string());
        assert_eq!(call(listed).unwrap(), call(guide()).unwrap());
        assert_eq!(call(quoted).unwrap(), call(guide()).unwrap());
    }

    #[test]
    fn every_status_has_its_action_and_only_a_reject_a_task() {
        let pass = call(json!({ "gate_verdict": {
            "status": "pass", "delta_pct": -20.0,
            "gates": [{ "gate": "compile", "outcome": "pass" }, { "gate": "anchors", "outcome": "skipped", "reason": "none" }]
        }}))
        .unwrap();
        assert_eq!(pass["action"], "accept");
        assert_eq!(pass["alternative_technique"], Value::Null);
        assert_eq!(pass["follow_up_task_id"], Value::Null);
        assert_eq!(
            pass["narrative"],
            "Every gate that ran passed (skipped: anchors). Kernel time changed by -20.0%. Keep the change."
        );
        let regressed = call(json!({ "gate_verdict": {
            "status": "regressed", "failing_gate": "regression", "detail": "slower", "delta_pct": 4.0,
            "per_kernel_deltas": { "a": 12.0, "b": 3.0 }
        }}))
        .unwrap();
        assert_eq!(regressed["action"], "revert");
        assert_eq!(regressed["follow_up_task_id"], Value::Null);
        assert_eq!(
            regressed["narrative"],
            "The regression gate failed: slower. Kernel time changed by +4.0%; worst `a` +12.0%. Revert the change. No \
             untried technique is known for this kernel."
        );
    }

    #[test]
    fn what_was_tried_is_not_proposed_again_and_three_failures_call_for_a_profile() {
        let mut input = guide();
        input["edit_history"] = json!([
            { "technique": "cache_blocking_kernel", "kernel": "gemm_k0", "verdict": "reject" },
            { "meta": { "technique": "my_own" }, "kernel": "gemm_k0", "verdict": "regressed" }
        ]);
        let answer = call(input.clone()).unwrap();
        assert_eq!(answer["alternative_technique"], "memory_coalescing");
        assert_eq!(answer["details"]["warnings"], json!(["Not in the catalogue of techniques: `my_own`."]));
        assert!(
            answer["narrative"]
                .as_str()
                .unwrap()
                .ends_with("3 attempts in a row failed: profile again before another edit."),
            "{answer}"
        );
        input["edit_history"][1]["candidate_alternative"] = json!("lds_padding");
        assert_eq!(call(input).unwrap()["alternative_technique"], "lds_padding");
    }

    #[test]
    fn a_verdict_that_contradicts_itself_is_refused() {
        for verdict in [
            json!({ "status": "pass", "failing_gate": "sol" }),
            json!({ "status": "reject" }),
            json!({ "status": "regressed", "failing_gate": "sol" }),
        ] {
            let error = call(json!({ "gate_verdict": verdict })).unwrap_err();
            assert_eq!(error.kind.as_str(), "invalid_argument");
        }
        let error = call(json!({ "gate_verdict": { "status": "pass" }, "kernel": "x" })).unwrap_err();
        assert_eq!(error.details["field"], "input.kernel");
    }

    #[test]
    fn options_of_other_agents_are_refused() {
        let tool = Registry::new().find("agent.correctness").unwrap();
        let Value::Object(mut arguments) = json!({ "input": guide(), "options": { "top_kernels": 3 } })
        else {
            unreachable!()
        };
        let error = tool.call(&Context::detached(), Some(arguments.clone())).unwrap_err();
        assert_eq!(error.details["field"], "options.top_kernels");
        arguments.insert("options".to_owned(), json!({ "on_llm_failur": "error" }));
        let error = tool.call(&Context::detached(), Some(arguments)).unwrap_err();
        assert_eq!(error.details["did_you_mean"], "on_llm_failure");
    }
}
