//! `agent.diff_specialist`: the verdict on two runs, made from the diff document and nothing else.

use perfxpert_agent::{EvidencePack, PackComparability};
use perfxpert_analysis::recommend::techniques as figures;
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::verdict::health_factor;
use perfxpert_knowledge::{commands, thresholds};
use perfxpert_schemas::diff::{DiffDocument, KernelDelta};
use perfxpert_schemas::tools::agent::analysis::{CitedValue, MissingValue, TraceReference};
use perfxpert_schemas::tools::agent::details::Details;
use perfxpert_schemas::tools::agent::diff_specialist::{DiffAnswer, DiffInput};
use perfxpert_schemas::tools::agent::run::AgentRun;
use perfxpert_schemas::trace_health::TraceHealth;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::{Map, Value, json};

use super::ask::{Ask, Entered, Envelope};
use super::wording::{self, Draft, root};
use super::{asking, spec};
use crate::Context;

/// The tool whose document everything is read from.
const DIFF: &str = "trace_diff.diff_runs";
/// Kernels on one side only that are listed.
const ONE_SIDED: usize = 10;
/// Rows whose numbers can be cited.
const CITED: usize = 10;
/// Kernels of the question that get a sentence.
const NAMED: usize = 3;

pub(super) fn run(context: &Context, input: DiffInput) -> Result<DiffAnswer, ErrorObject> {
    for (field, path) in [("baseline_db", &input.baseline_db), ("new_db", &input.new_db)] {
        asking::paths(field, std::iter::once(path))?;
    }
    let envelope = Envelope {
        provider: input.provider,
        model: input.model.clone(),
        airgap: input.airgap,
        session_id: input.session_id.clone(),
        options: input.options.clone(),
    };
    let ask = Ask::open(context, &spec::DIFF, &["allow_partial", "creativity"], envelope)?;
    let _entered = Entered::new(context, ask.agent);
    let mut answer = match document(context, &input, ask.options.allow_partial.unwrap_or(false)) {
        Ok(document) => of_document(&document, &input),
        Err(error) if error.kind == ErrorKind::EmptyTrace => of_nothing(&error, &input),
        Err(error) => return Err(error),
    };
    word(context, &ask, &input, &mut answer)?;
    Ok(answer)
}

fn document(context: &Context, input: &DiffInput, allow_partial: bool) -> Result<DiffDocument, ErrorObject> {
    let tool = crate::tools::find(DIFF).ok_or_else(ErrorObject::internal)?;
    let arguments = [
        ("baseline_db", json!(input.baseline_db)),
        ("new_db", json!(input.new_db)),
        ("top_kernels", json!(input.top_kernels)),
        ("allow_partial", json!(allow_partial)),
    ];
    let arguments: Map<String, Value> =
        arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let document = tool.whole(&context.quiet(), arguments)?;
    serde_json::from_value(document).map_err(|_| ErrorObject::internal())
}

/// The answer that a document gives.
fn of_document(document: &DiffDocument, input: &DiffInput) -> DiffAnswer {
    let cut =
        |rows: &[KernelDelta]| rows.iter().take(input.top_kernels as usize).cloned().collect::<Vec<_>>();
    let (regressions, improvements) =
        (cut(&document.primary_regressions), cut(&document.primary_improvements));
    let mut details = Details::new(AgentRun::deterministic(spec::DIFF.name, false));
    details.missing = Some(Vec::new());
    details.comparability = Some(document.comparability.clone());
    details.hot_set_jaccard = Some(document.hot_set_jaccard);
    details.regressions_total = Some(document.primary_regressions_total);
    details.improvements_total = Some(document.primary_improvements_total);
    details.added_kernels = Some(document.added_kernels.iter().take(ONE_SIDED).cloned().collect());
    details.removed_kernels = Some(document.removed_kernels.iter().take(ONE_SIDED).cloned().collect());
    let gpus = &document.comparability.gpus.baseline;
    details.trace = Some(TraceReference {
        database_path: json!([input.baseline_db, input.new_db]),
        gfx_id: gpus.first().and_then(|gpu| gpu.gfx_id.clone()),
        product: gpus.first().and_then(|gpu| gpu.name.clone()),
        gpu_count: gpus.iter().map(|gpu| gpu.count).sum(),
        health: worst_status(document).to_owned(),
    });
    details.warnings.clone_from(&document.warnings);
    let mut answer = DiffAnswer {
        verdict: document.verdict.clone(),
        wall_delta_pct: document.wall_delta_pct,
        confidence: confidence(document),
        narrative: narrative(document, input),
        regressions,
        improvements,
        details,
    };
    answer.details.evidence = evidence(document, &answer);
    answer
}

/// The answer when one side holds nothing to compare.
fn of_nothing(error: &ErrorObject, input: &DiffInput) -> DiffAnswer {
    let side = error.details.get("which").and_then(Value::as_str).unwrap_or("baseline");
    let mut details = Details::new(AgentRun::deterministic(spec::DIFF.name, false));
    details.evidence = vec![cited("m.verdict", "verdict", json!("inconclusive"), "label", "verdict")];
    details.missing = Some(vec![MissingValue {
        what: format!("GPU events of the {side} run"),
        why: error.message.clone(),
        command: Some(record_again()),
    }]);
    details.trace = Some(TraceReference {
        database_path: json!([input.baseline_db, input.new_db]),
        gfx_id: None,
        product: None,
        gpu_count: 0,
        health: "unusable".to_owned(),
    });
    details.warnings = vec![error.message.clone()];
    DiffAnswer {
        verdict: "inconclusive".to_owned(),
        wall_delta_pct: None,
        confidence: 0.0,
        narrative: format!("The runs cannot be compared: {}.", error.message.trim_end_matches('.')),
        regressions: Vec::new(),
        improvements: Vec::new(),
        details,
    }
}

/// How to record a run that holds GPU events.
fn record_again() -> String {
    commands::sys_trace(&commands::Target { app: "./your_app", out: "./trace", kernel: None }).full_command()
}

fn worst_status(document: &DiffDocument) -> &str {
    let rank = |status: &str| ["ok", "degraded", "unusable"].iter().position(|known| *known == status);
    let (baseline, new) = (&document.trace_health.baseline.status, &document.trace_health.new.status);
    if rank(new) > rank(baseline) { new } else { baseline }
}

/// How far the state of a side lowers the confidence.
fn factor(health: &TraceHealth) -> f64 {
    let has = |severity: &str| health.items.iter().any(|item| item.severity == severity);
    health_factor(has("data_loss"), has("warning"))
}

fn confidence(document: &DiffDocument) -> f64 {
    if document.verdict == "inconclusive" {
        return 0.0;
    }
    let facts = thresholds::diff_confidence();
    let overlap = document.hot_set_jaccard.unwrap_or_default();
    let base = if overlap >= facts.same_from {
        facts.same
    } else if overlap >= facts.similar_from {
        facts.similar
    } else {
        facts.different
    };
    let calls = if document.per_kernel.iter().any(|row| calls_differ(row, document)) {
        facts.calls_factor
    } else {
        1.0
    };
    let health = factor(&document.trace_health.baseline).min(factor(&document.trace_health.new));
    round(base * calls * health, 2)
}

/// Whether a kernel that is hot on both sides was called a different number of times.
fn calls_differ(row: &KernelDelta, document: &DiffDocument) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "compared with a share")]
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let hot_now = share(row.new_ns, document.new_kernel_ns) >= thresholds::hot().min_share;
    let changed = share(row.new_calls.abs_diff(row.baseline_calls), row.baseline_calls);
    row.was_hot && hot_now && changed > thresholds::diff_confidence().calls_from
}

fn narrative(document: &DiffDocument, input: &DiffInput) -> String {
    let mut text = document.narrative.clone();
    let blocking = document.comparability.issues.iter().find(|issue| issue.severity == "blocking");
    if document.verdict == "inconclusive"
        && let Some(issue) = blocking
    {
        let why = format!("The runs cannot be compared: {}.", issue.text.trim_end_matches('.'));
        // The document may say so itself.
        if !text.starts_with(&why) {
            text = format!("{why} {text}");
        }
    }
    for row in asked_for(document, &input.user_intent) {
        let name = figures::name(&row.name);
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let (base, new) = (figures::time(row.baseline_ns as f64), figures::time(row.new_ns as f64));
        text.push_str(&match (row.status.as_str(), row.delta_pct) {
            ("added", _) => format!(" {name}: only in the new run, {new}."),
            ("removed", _) => format!(" {name}: only in the baseline, {base}."),
            (_, Some(delta)) => format!(" {name}: {base} to {new} ({}).", wording::signed_pct(delta)),
            (_, None) => format!(" {name}: {base} to {new}."),
        });
    }
    text
}

/// Kernels whose name stands in the question.
fn asked_for<'a>(document: &'a DiffDocument, question: &str) -> Vec<&'a KernelDelta> {
    let lists = [
        &document.per_kernel,
        &document.primary_regressions,
        &document.primary_improvements,
        &document.added_kernels,
        &document.removed_kernels,
    ];
    let mut found: Vec<&KernelDelta> = Vec::new();
    for row in
        lists.into_iter().flatten().filter(|row| row.name.chars().count() > 1 && question.contains(&row.name))
    {
        if found.len() < NAMED && !found.iter().any(|known| known.name == row.name) {
            found.push(row);
        }
    }
    found
}

fn cited(
    id: impl Into<String>,
    label: impl Into<String>,
    value: Value,
    unit: &str,
    from: &str,
) -> CitedValue {
    CitedValue { id: id.into(), label: label.into(), value, unit: unit.to_owned(), from: from.to_owned() }
}

fn evidence(document: &DiffDocument, answer: &DiffAnswer) -> Vec<CitedValue> {
    let place = |key: &str| format!("{DIFF}#/{key}");
    let mut items = vec![
        cited("m.confidence", "confidence", json!(answer.confidence), "fraction", "confidence"),
        cited("m.verdict", "verdict", json!(answer.verdict), "label", "verdict"),
        cited(
            "m.wall_ns@b",
            "elapsed time, baseline",
            json!(document.baseline_wall_ns),
            "ns",
            &place("baseline_wall_ns"),
        ),
        cited("m.wall_ns@n", "elapsed time, new", json!(document.new_wall_ns), "ns", &place("new_wall_ns")),
    ];
    if let Some(delta) = answer.wall_delta_pct {
        items.push(cited("m.wall_delta_pct", "change of elapsed time", json!(delta), "%", "wall_delta_pct"));
    }
    let rank = |name: &str| document.per_kernel.iter().position(|row| row.name == name).map(|at| at + 1);
    let beyond = document.per_kernel.len();
    let mut unranked = 0;
    for (list, rows) in [("regressions", &answer.regressions), ("improvements", &answer.improvements)] {
        for (at, row) in rows.iter().take(CITED).enumerate() {
            let handle = rank(&row.name).unwrap_or_else(|| {
                unranked += 1;
                beyond + unranked
            });
            let name = figures::name(&row.name);
            let label = |text: &str| format!("{text} of {name}").chars().take(80).collect::<String>();
            if let Some(delta) = row.delta_pct {
                let from = format!("{list}[{at}].delta_pct");
                items.push(cited(
                    format!("m.delta_pct@k{handle}"),
                    label("change"),
                    json!(delta),
                    "%",
                    &from,
                ));
            }
            if let (Some(cost), "regressions") = (row.contribution_pct, list) {
                let from = format!("{list}[{at}].contribution_pct");
                items.push(cited(
                    format!("m.contribution_pct@k{handle}"),
                    label("cost"),
                    json!(cost),
                    "%",
                    &from,
                ));
            }
        }
    }
    items.sort_by(|a, b| a.id.cmp(&b.id));
    items
}

fn word(context: &Context, ask: &Ask, input: &DiffInput, answer: &mut DiffAnswer) -> Result<(), ErrorObject> {
    let narrative = answer.narrative.clone();
    let rows = answer.regressions.iter().chain(&answer.improvements);
    let draft = Draft {
        pack: EvidencePack {
            query: input.user_intent.clone(),
            evidence: wording::pack_evidence(&answer.details.evidence),
            missing: wording::pack_missing(answer.details.missing.as_deref().unwrap_or_default()),
            comparability: answer.details.comparability.as_ref().map(|found| PackComparability {
                status: found.status.clone(),
                issues: found.issues.iter().map(|issue| issue.text.clone()).collect(),
            }),
            ..EvidencePack::default()
        },
        narrative: &narrative,
        lead: Some("m.verdict"),
        titles: false,
        lane: Some("diff"),
        roots: vec![root("@baseline", "baseline", &input.baseline_db), root("@new", "new", &input.new_db)],
        names: rows.map(|row| row.name.clone()).collect(),
    };
    let outcome = wording::word(context, ask, &draft)?;
    wording::add_warnings(&mut answer.details.warnings, &outcome);
    if let Some(text) = &outcome.narrative {
        answer.narrative.clone_from(text);
    }
    answer.details.exploratory_proposals = wording::proposals(&outcome);
    answer.details.run = outcome.run;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, numbers: [u64; 2], delta: f64, cost: f64) -> KernelDelta {
        KernelDelta {
            name: name.to_owned(),
            status: "changed".to_owned(),
            baseline_ns: numbers[0],
            new_ns: numbers[1],
            delta_ns: i64::try_from(numbers[1]).unwrap() - i64::try_from(numbers[0]).unwrap(),
            delta_pct: Some(delta),
            contribution_pct: Some(cost),
            share_pct: None,
            baseline_calls: 48,
            new_calls: 48,
            per_call_delta_pct: Some(delta),
            regressed: delta > 0.0,
            was_hot: name == "gemm_f16_naive",
            significant: Some(true),
        }
    }

    /// The worked example: a much faster GEMM, a slower reduction.
    fn example() -> DiffDocument {
        let gemm = row("gemm_f16_naive", [84_000_000, 21_000_000], -75.0, -71.1864);
        let bias = row("bias_relu", [3_000_000, 3_000_000], 0.0, 0.0);
        let sum = row("reduce_sum", [1_500_000, 1_950_000], 30.0, 0.5085);
        let numbers = json!({
            "schema_version": "0.3.1", "verdict": "improved", "verdict_threshold_pct": 5.0,
            "wall_delta_ns": -62_550_000, "wall_delta_pct": -52.125,
            "baseline_wall_ns": 120_000_000, "new_wall_ns": 57_450_000,
            "kernel_time_delta_ns": -62_550_000, "kernel_time_delta_pct": -70.678,
            "baseline_kernel_ns": 88_500_000, "new_kernel_ns": 25_950_000,
            "trustworthy": true, "noise_known": false, "kernel_verdict": "improved", "kernel_rule": "total",
            "narrative": "Elapsed time went from 120.000 ms to 57.450 ms (-52.13%)."
        });
        let rest = json!({
            "comparability": {
                "status": "ok", "issues": [], "common_kernel_time_pct": { "baseline": 100.0, "new": 100.0 },
                "work_ratio": 1.0, "call_ratio": 1.0,
                "gpus": { "baseline": [{ "gfx_id": "gfx942", "name": "AMD Instinct MI300X", "cu_count": 304, "count": 1 }],
                          "new": [{ "gfx_id": "gfx942", "name": "AMD Instinct MI300X", "cu_count": 304, "count": 1 }] }
            },
            "runs": { "baseline": 1, "new": 1 }, "hot_set_jaccard": 0.67, "impossible_speed": null,
            "primary_regressions": [sum], "primary_regressions_total": 1,
            "primary_improvements": [gemm], "primary_improvements_total": 1,
            "per_kernel": [gemm, bias, sum], "per_kernel_total": 3, "truncated": false,
            "added_kernels": [], "added_kernels_total": 0, "removed_kernels": [], "removed_kernels_total": 0,
            "possible_renames": [], "baseline_db": "demo_gemm.db", "new_db": "demo_gemm_mfma.db", "warnings": [],
            "trace_health": { "baseline": { "status": "ok", "items_total": 0, "items": [] }, "new": { "status": "ok", "items_total": 0, "items": [] } }
        });
        let parts = [numbers, rest].into_iter().flat_map(|part| part.as_object().cloned().unwrap());
        serde_json::from_value(Value::Object(parts.collect())).unwrap()
    }

    fn asked(intent: &str) -> DiffInput {
        serde_json::from_value(
            json!({ "baseline_db": "demo_gemm.db", "new_db": "demo_gemm_mfma.db", "user_intent": intent }),
        )
        .unwrap()
    }

    #[test]
    fn the_worked_example() {
        let answer = of_document(&example(), &asked("Summarize the differences between the two runs."));
        assert_eq!(answer.verdict, "improved");
        assert_eq!((answer.wall_delta_pct, answer.confidence), (Some(-52.125), 0.7));
        let ids: Vec<&str> = answer.details.evidence.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "m.confidence",
                "m.contribution_pct@k3",
                "m.delta_pct@k1",
                "m.delta_pct@k3",
                "m.verdict",
                "m.wall_delta_pct",
                "m.wall_ns@b",
                "m.wall_ns@n"
            ]
        );
        let text = serde_json::to_string(&answer).unwrap();
        let keys: Vec<usize> = [
            "\"verdict\"",
            "\"wall_delta_pct\"",
            "\"confidence\"",
            "\"narrative\"",
            "\"regressions\"",
            "\"improvements\"",
            "\"details\"",
        ]
        .map(|key| text.find(key).unwrap())
        .to_vec();
        assert!(keys.is_sorted(), "named fields come first, in their order");
        assert!(text.contains(
            r#""hot_set_jaccard":0.67,"regressions_total":1,"improvements_total":1,"added_kernels":[]"#
        ));
    }

    #[test]
    fn a_kernel_of_the_question_gets_a_sentence() {
        let answer = of_document(&example(), &asked("did reduce_sum get slower?"));
        assert!(
            answer.narrative.ends_with(" `reduce_sum`: 1.50 ms to 1.95 ms (+30.0%)."),
            "{}",
            answer.narrative
        );
        assert!(!answer.narrative.contains("`bias_relu`"));
    }

    #[test]
    fn confidence_falls_with_other_kernels_other_calls_and_a_worse_trace() {
        let mut document = example();
        document.hot_set_jaccard = Some(0.8);
        assert_eq!(confidence(&document), 0.9);
        document.per_kernel[0].new_calls = 51;
        assert_eq!(confidence(&document), 0.81);
        document.per_kernel[0].new_calls = 50;
        document.hot_set_jaccard = Some(0.49);
        assert_eq!(confidence(&document), 0.55);
        document.verdict = "inconclusive".to_owned();
        assert_eq!(confidence(&document), 0.0);
    }

    #[test]
    fn an_empty_side_is_inconclusive_and_not_a_change() {
        let error =
            ErrorObject::new(ErrorKind::EmptyTrace, "The new run holds no GPU event.", "Record again.")
                .with("which", "new");
        let answer = of_nothing(&error, &asked("x"));
        assert_eq!(
            (answer.verdict.as_str(), answer.wall_delta_pct, answer.confidence),
            ("inconclusive", None, 0.0)
        );
        assert_eq!(answer.narrative, "The runs cannot be compared: The new run holds no GPU event.");
        assert_eq!(answer.details.missing.unwrap()[0].what, "GPU events of the new run");
    }

    #[test]
    fn other_gpus_are_said_first() {
        let mut document = example();
        document.verdict = "inconclusive".to_owned();
        document.comparability.issues = vec![
            serde_json::from_value(json!({ "code": "different_gpu", "severity": "blocking", "side": null, "text": "The GPUs differ." }))
                .unwrap(),
        ];
        let answer = of_document(&document, &asked("x"));
        assert!(
            answer.narrative.starts_with("The runs cannot be compared: The GPUs differ. Elapsed"),
            "{}",
            answer.narrative
        );
    }
}
