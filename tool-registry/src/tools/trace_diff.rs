//! `trace_diff`: the readable diff, and the gate of a CI job.

use perfxpert_analysis::compare::{Options, gate};
use perfxpert_analysis::units::Nanos;
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::diff::DiffDocument;
use perfxpert_schemas::tools::trace_diff::{DiffRuns, DiffRunsInput, GateInput, ThresholdSource};

use crate::diff_document::{self, Wanted};
use crate::sides::{Reading, SideRuns};
use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<DiffRuns>(
        "Diff two runs",
        "Readable, structured diff of two traces for reports, CI and the gate, decided on elapsed time. Use regression.compare_runs for a kernel-aware verdict.",
        diff_runs,
    )]
}

fn diff_runs(context: &Context, input: DiffRunsInput) -> Result<DiffDocument, ErrorObject> {
    let facts = thresholds::diff();
    let gate = input.gate.as_ref().map(limits).transpose()?;
    let reading = |which, field, further| Reading {
        which,
        field,
        further,
        allow_partial: input.allow_partial,
        allow_empty: gate.is_some(),
    };
    let baseline = SideRuns::read(
        context,
        reading("baseline", "baseline_db", "baseline_runs"),
        &input.baseline_db,
        &input.baseline_runs,
    )?;
    let new = SideRuns::read(context, reading("new", "new_db", "new_runs"), &input.new_db, &input.new_runs)?;
    let asked = input.gate.as_ref();
    let wanted = Wanted {
        top_kernels: input.top_kernels as usize,
        threshold_pct: input.threshold_pct.unwrap_or(facts.elapsed_limit_pct),
        kernel_threshold_pct: input.kernel_threshold_pct.unwrap_or(facts.row_limit_pct),
        options: Options {
            hot_coverage_pct: input.hot_coverage_pct.unwrap_or(facts.hot_coverage_pct),
            allow_kernel_changes: asked.is_some_and(|gate| gate.allow_kernel_changes),
            allow_different_gpu: asked.is_some_and(|gate| gate.allow_different_gpu),
            ..Options::default()
        },
        gate,
    };
    context.phase("analyse", 0.0, None);
    Ok(diff_document::document(&baseline, &new, &wanted))
}

/// Confidences with an interval, percent.
const CONFIDENCES: [u8; 3] = [90, 95, 99];

fn limits(asked: &GateInput) -> Result<(gate::Limits, ThresholdSource), ErrorObject> {
    let facts = thresholds::ci();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole percentage")]
    let confidence_pct = asked.confidence.unwrap_or(facts.confidence_pct as u8);
    if !CONFIDENCES.contains(&confidence_pct) {
        return Err(ErrorObject::invalid(
            "gate.confidence",
            format!("gate.confidence is {confidence_pct}, but it must be 90, 95 or 99."),
            "Send 90, 95 or 99.",
        )
        .value(&confidence_pct.to_string()));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let min_delta = Nanos((asked.min_delta_ms.unwrap_or_default() * 1e6).round() as u64);
    let limits = gate::Limits {
        threshold_pct: asked.threshold.unwrap_or(facts.threshold_pct),
        kernel_threshold_pct: asked.kernel_threshold,
        min_time_share_pct: asked.min_time_share.unwrap_or(facts.min_time_share_pct),
        min_delta,
        confidence_pct,
    };
    Ok((limits, asked.threshold_source))
}
