//! `bottleneck`: classifies a bag of metrics, shows the rules, and bounds what a kernel can bring.

use perfxpert_analysis::collection;
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::verdict::{self, Candidate, DecidedBy, Held};
use perfxpert_knowledge::commands::{Command, Target};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::bottleneck as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, tool};

mod bag;

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::ClassifyFromMetrics>(
            "Bottleneck from metrics",
            "Names what bounds a run from a bag of metrics. Use bottleneck_lookup_signatures for the rules, roofline_classify for one kernel.",
            classify_from_metrics,
        ),
        tool::<wire::LookupSignatures>(
            "Rules of a bottleneck",
            "The rules behind a verdict of bottleneck_classify_from_metrics, with their limits and reasons.",
            lookup_signatures,
        ),
        tool::<wire::PrioritizeByAmdahl>(
            "Worth of a kernel",
            "Is a kernel worth optimising, and what is the most it can bring? Use predict_impact_predict_change_impact for one kind of change.",
            prioritize_by_amdahl,
        ),
    ]
}

const EVIDENCE: usize = 20;
const MISSING: usize = 8;

fn candidate(candidate: Candidate) -> wire::Candidate {
    wire::Candidate {
        label: candidate.label.to_owned(),
        detail: candidate.detail.map(|detail| detail.as_str().to_owned()),
        score: round(candidate.score, 3),
    }
}

fn evidence(held: &Held) -> wire::Evidence {
    wire::Evidence {
        signature: held.of.to_owned(),
        metric: held.metric.to_owned(),
        value: held.value,
        op: held.op.as_str().to_owned(),
        threshold: held.threshold,
        passed: held.passed,
    }
}

fn contradiction(held: &Held) -> wire::Contradiction {
    wire::Contradiction {
        metric: held.metric.to_owned(),
        value: held.value,
        op: held.op.as_str().to_owned(),
        threshold: held.threshold,
    }
}

fn classify_from_metrics(
    _: &Context,
    input: wire::ClassifyFromMetricsInput,
) -> Result<wire::ClassifyFromMetricsOutput, ErrorObject> {
    let bag = bag::read(&input.metrics)?;
    let verdict = verdict::classify(&bag.evidence);
    let [compute, memory_transfer, latency, api_overhead] = verdict.scores.map(|score| round(score, 3));
    let digits = if verdict.decided_by == DecidedBy::Window { 2 } else { 3 };
    Ok(wire::ClassifyFromMetricsOutput {
        r#type: verdict.kind.as_str().to_owned(),
        bottleneck_detail: verdict.detail.map(|detail| detail.as_str().to_owned()),
        confidence: round(verdict.confidence, digits),
        reasoning: verdict.reason,
        all_scores: wire::AllScores { compute, memory_transfer, latency, api_overhead },
        decided_by: match verdict.decided_by {
            DecidedBy::Window => "window",
            DecidedBy::Signatures => "signatures",
            DecidedBy::Nothing => "none",
        }
        .to_owned(),
        signature: verdict.signature.map(|signature| signature.as_str().to_owned()),
        coverage: round(verdict.coverage, 3),
        match_ratio: verdict.match_ratio.map(|ratio| round(ratio, 3)),
        contradictions: verdict.contradictions.iter().map(contradiction).collect(),
        runner_up: verdict.runner_up.map(candidate),
        best_candidate: verdict.best.map(candidate),
        evidence: verdict.evidence.iter().take(EVIDENCE).map(evidence).collect(),
        missing_metrics: verdict.missing.iter().take(MISSING).map(|name| (*name).to_owned()).collect(),
        unknown_metrics: bag.unknown,
        unknown_metrics_total: bag.unknown_total,
        notes: bag.notes,
    })
}

/// What the answer says about one type besides its rules.
struct About {
    name: &'static str,
    reported_as: &'static str,
    details: &'static [&'static str],
    priority: &'static str,
    meaning: &'static str,
    resolve: &'static str,
}

/// In file order.
const ABOUT: [About; 6] = [
    About {
        name: "compute",
        reported_as: "compute",
        details: &["valu", "mfma"],
        priority: "high",
        meaning: "The arithmetic units are the limit.",
        resolve: "Do less arithmetic: matrix units, lower precision, cheaper functions, no recomputation.",
    },
    About {
        name: "memory_transfer",
        reported_as: "memory_transfer",
        details: &["host_device_copy", "hbm_bandwidth", "fabric"],
        priority: "high",
        meaning: "Moving data is the limit: copies that no kernel hides, or memory bandwidth inside kernels.",
        resolve: "Keep data on the device, overlap copies with kernels; inside kernels tile, fuse and coalesce.",
    },
    About {
        name: "latency",
        reported_as: "latency",
        details: &["gpu_idle", "low_occupancy", "synchronization", "communication"],
        priority: "medium",
        meaning: "The GPU waits: for work, for the host, for other ranks, or for too few resident waves.",
        resolve: "Remove blocking calls, overlap independent work, raise occupancy where registers or LDS limit it.",
    },
    About {
        name: "api_overhead",
        reported_as: "latency",
        details: &["launch_overhead"],
        priority: "medium",
        meaning: "Many short kernels: launching them costs as much as running them.",
        resolve: "Fuse kernels, batch their work, or capture a graph and launch it as one.",
    },
    About {
        name: "mixed",
        reported_as: "mixed",
        details: &[],
        priority: "low",
        meaning: "Several things bound the run, or none of them clearly.",
        resolve: "Look at the hot kernels one by one, and collect what missing_metrics names.",
    },
    About {
        name: "data_insufficient",
        reported_as: "data_insufficient",
        details: &[],
        priority: "low",
        meaning: "Too little was measured to tell.",
        resolve: "",
    },
];

/// How to collect what tells compute from memory, in default folders.
fn collection_command() -> String {
    let target = Target { app: "./app", out: "perfxpert_out", kernel: None };
    collection::counter_commands(&collection::classify_passes(None), &target)
        .first()
        .map(Command::full_command)
        .unwrap_or_default()
}

fn lookup_signatures(
    _: &Context,
    input: wire::LookupSignaturesInput,
) -> Result<wire::LookupSignaturesOutput, ErrorObject> {
    let asked = input.bottleneck_type.trim();
    let Some(about) = ABOUT.iter().find(|about| about.name == asked) else {
        let names = ABOUT.map(|about| about.name);
        let error = unknown_name("bottleneck_type", asked, names, "bottleneck type");
        // In the order of the rules, not of the alphabet: the first ones are the likely ones.
        return Err(error.with("known", names.to_vec()));
    };
    let signature =
        thresholds::bottleneck::signatures().signatures.iter().find(|signature| signature.name == asked);
    let rules = signature.map_or(&[][..], |signature| signature.rules.as_slice());
    Ok(wire::LookupSignaturesOutput {
        name: about.name.to_owned(),
        signatures: rules
            .iter()
            .map(|rule| wire::SignatureRule {
                metric: rule.metric.clone(),
                op: rule.op.as_str().to_owned(),
                threshold: rule.threshold,
                unit: rule.unit.clone(),
                why: rule.why.clone(),
            })
            .collect(),
        reported_as: about.reported_as.to_owned(),
        details: about.details.iter().map(|detail| (*detail).to_owned()).collect(),
        priority_hint: about.priority.to_owned(),
        meaning: about.meaning.to_owned(),
        how_to_resolve: if about.resolve.is_empty() {
            collection_command()
        } else {
            about.resolve.to_owned()
        },
    })
}

fn prioritize_by_amdahl(
    _: &Context,
    input: wire::PrioritizeByAmdahlInput,
) -> Result<wire::PrioritizeByAmdahlOutput, ErrorObject> {
    let facts = thresholds::amdahl();
    let share = input.execution_time_pct;
    let program = |local: f64| round(verdict::amdahl(share, local), 3);
    let percent = share * 100.0;
    let (priority, rationale) = if share >= facts.high {
        (
            wire::Priority::High,
            format!(
                "{percent:.1} % of the runtime is at or above the {:.1} % from which it is worth it.",
                facts.high * 100.0
            ),
        )
    } else if share >= facts.low {
        (wire::Priority::Medium, format!("{percent:.1} % of the runtime may be worth it."))
    } else {
        (
            wire::Priority::Low,
            format!(
                "{percent:.1} % of the runtime is below the {:.1} % from which a change can be noticed.",
                facts.low * 100.0
            ),
        )
    };
    // At a share of 1 nothing bounds the speed-up.
    let max_speedup = (share < 1.0).then(|| round(1.0 / (1.0 - share), 3));
    let program_speedup = input.local_speedup.map(program);
    Ok(wire::PrioritizeByAmdahlOutput {
        priority,
        rationale,
        max_speedup,
        max_speedup_reason: max_speedup.is_none().then_some("the part is the whole runtime"),
        program_speedup,
        program_speedup_reason: program_speedup.is_none().then_some("local_speedup was not sent"),
        speedup_table: facts
            .speedup_table
            .iter()
            .map(|local| wire::SpeedupRow { local_speedup: *local, program_speedup: program(*local) })
            .collect(),
    })
}
