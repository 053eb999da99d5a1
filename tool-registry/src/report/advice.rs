//! Recommendations on the wire, and what the rules get to see.

use std::collections::BTreeMap;

use perfxpert_analysis::naming::short_name;
use perfxpert_analysis::recommend::{
    self, AttCategory, AttInstruction, AttKernel, Prediction as Predicted, RuleEntry, RuleInput, Throttled,
};
use perfxpert_analysis::source_plan::PlannedCommand;
use perfxpert_analysis::thread_trace::TracedKernel;
use perfxpert_schemas::report::advice::{
    CommandArgument, CommandLine, EvidenceItem, PragmaHint, Precondition, Prediction, Recommendation,
    SourceRef,
};
use perfxpert_schemas::report::sections::GpuMonitor;
use perfxpert_source::Scan;
use serde_json::json;

use super::measured::Measured;

/// What the rules look at beside the run.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub(super) inputs: &'a [&'a str],
    pub(super) scan: Option<&'a Scan>,
    pub(super) communication: Option<&'a recommend::Communication>,
    pub(super) traced: &'a [TracedKernel],
    pub(super) monitor: Option<&'a GpuMonitor>,
    pub(super) advanced: bool,
}

/// Advice on a run, best first.
pub(super) fn of_run(measured: &Measured<'_>, beside: &Beside<'_>) -> Vec<Recommendation> {
    let metrics = BTreeMap::new();
    let traced: Vec<AttKernel> = beside.traced.iter().map(traced).collect();
    let throttled = beside.monitor.map(throttled).unwrap_or_default();
    let input = RuleInput {
        profile: &measured.run.profile,
        trace: &measured.run.trace,
        gpus: &measured.gpus,
        metrics: &metrics,
        communication: beside.communication,
        thread_trace: &traced,
        throttled: &throttled,
        scan: beside.scan,
        inputs: beside.inputs,
        advanced: beside.advanced,
    };
    recommend::rules(&input).into_iter().map(entry).collect()
}

/// What a run showed, for techniques; `metrics` of counters are not among it yet.
pub(crate) fn observed(measured: &Measured<'_>, inputs: &[&str]) -> recommend::Observed {
    recommend::Observed::of(&RuleInput {
        profile: &measured.run.profile,
        trace: &measured.run.trace,
        gpus: &measured.gpus,
        metrics: &BTreeMap::new(),
        communication: None,
        thread_trace: &[],
        throttled: &[],
        scan: None,
        inputs,
        advanced: false,
    })
}

/// Advice made from the source alone.
pub(super) fn of_source(scan: &Scan) -> Vec<Recommendation> {
    recommend::for_source(scan).into_iter().map(entry).collect()
}

fn traced(kernel: &TracedKernel) -> AttKernel {
    let category = |id: &str| match id {
        "att_vmem_latency" => Some(AttCategory::Vmem),
        "att_lds_conflict" => Some(AttCategory::Lds),
        "att_dependency_chain" => Some(AttCategory::Dependency),
        "att_divergence" => Some(AttCategory::Divergence),
        _ => None,
    };
    let share = |stall: u64| if kernel.latency == 0 { 0.0 } else { stall as f64 / kernel.latency as f64 };
    AttKernel {
        name: short_name(&kernel.name),
        categories: kernel
            .categories
            .iter()
            .filter_map(|(id, stall)| Some((category(id)?, share(*stall))))
            .collect(),
        instructions: kernel
            .top
            .iter()
            .filter_map(|row| {
                Some(AttInstruction {
                    text: row.text.clone(),
                    category: category(row.category)?,
                    hits: row.hits,
                    stall_ratio: row.stall_ratio(),
                    source: row.source.clone(),
                })
            })
            .collect(),
    }
}

fn throttled(monitor: &GpuMonitor) -> Vec<Throttled> {
    let rows = monitor.per_gpu.iter().filter(|row| row.verdict == "throttling");
    rows.filter_map(|row| {
        Some(Throttled {
            gpu: row.gpu_id.parse().ok()?,
            samples: row.throttle_samples,
            temperature: row.max_temp_c,
            limit: row.limit_c,
            // The clocks of a log and of a trace share no origin.
            same_time: None,
        })
    })
    .collect()
}

/// A planned command on the wire.
pub(super) fn command(planned: PlannedCommand) -> CommandLine {
    CommandLine {
        purpose: planned.purpose.to_owned(),
        tool: planned.tool,
        description: planned.description,
        flags: planned.flags,
        args: planned.args.into_iter().map(|(name, value)| CommandArgument { name, value }).collect(),
        full_command: planned.full_command,
    }
}

/// One piece of advice on the wire.
pub(crate) fn entry(entry: RuleEntry) -> Recommendation {
    let estimated_impact = entry.estimated_impact();
    Recommendation {
        id: entry.id,
        rule: entry.rule,
        rank: entry.rank,
        priority: entry.priority.label().to_owned(),
        category: entry.category,
        class: entry.class,
        target: entry.target,
        target_kind: entry.target_kind.label().to_owned(),
        name: entry.technique,
        title: entry.title,
        issue: entry.issue,
        suggestion: entry.suggestion,
        actions: entry.actions,
        estimated_impact,
        gain_bound_pct: entry.gain_bound_pct,
        gain_basis: entry.gain_basis,
        overlaps_with: entry.overlaps_with,
        confidence: entry.confidence,
        preconditions: entry
            .preconditions
            .into_iter()
            .map(|condition| Precondition {
                name: condition.name,
                status: condition.state.as_str().to_owned(),
                detail: condition.detail,
            })
            .collect(),
        evidence: entry
            .evidence
            .into_iter()
            .map(|item| EvidenceItem {
                id: item.id.to_owned(),
                text: item.text,
                metric: item.metric.to_owned(),
                value: item.value,
                unit: item.unit.to_owned(),
                comparator: item.comparator.map(str::to_owned),
                threshold: item.threshold,
                role: item.role.to_owned(),
                source: item.source.to_owned(),
            })
            .collect(),
        source_refs: entry
            .source_refs
            .into_iter()
            .map(|place| SourceRef {
                file: place.file,
                line: place.line,
                kind: place.kind.to_owned(),
                pattern_id: place.pattern_id.map(str::to_owned),
            })
            .collect(),
        merged_ids: entry.merged_ids,
        citation: entry.citation,
        commands: entry.commands.into_iter().map(command).collect(),
        subtype: entry.subtype.map(str::to_owned),
        advanced: entry.advanced,
        code_snippet_before: entry.snippet_before,
        code_snippet_after: entry.snippet_after,
        llm_note: None,
        anchor: entry.anchor,
        prediction: entry.prediction.map(prediction),
        pragma: entry.hint.map(|hint| PragmaHint {
            source_file: hint.file,
            source_line: hint.line,
            pragma_id: hint.pragma_id,
            factor_sweep: hint.factor_sweep,
            risk: hint.risk,
        }),
    }
}

fn prediction(predicted: Predicted) -> Prediction {
    Prediction {
        predicted_impact_range: predicted.impact.to_vec(),
        predicted_program_range: predicted.program.to_vec(),
        predicted_confidence: predicted.confidence,
        predicted_rationale: predicted.rationale,
        source_citation: predicted.source_citation,
        roofline_delta: predicted.intensity_before.map(|before| json!({ "ai_before": before })),
        prediction_id: predicted.prediction_id,
    }
}
