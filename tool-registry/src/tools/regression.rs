//! `regression`: hot kernels, kernel times, and a kernel-aware verdict on a pair of runs.

use std::sync::Arc;

use perfxpert_analysis::compare::verdict::by_kernels;
use perfxpert_analysis::compare::{Comparison, Options, Row, Status, compare};
use perfxpert_analysis::hotspots::{self, HotReason};
use perfxpert_analysis::profile::Distribution;
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::Nanos;
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::regression::{
    BeforeAfter, CommonKernel, CompareRuns, CompareRunsInput, ExtractKernelRuntimes, HotKernel, HotKernels,
    IdentifyHotKernels, KernelRuntime, KernelRuntimes, LoneKernel, RunComparison, TraceInput,
};

use crate::diff_document::{comparability, only, renames, warnings};
use crate::sides::{Reading, SideRuns, spoken_name};
use crate::trace_answer::{ONE_TRACE, Page, inputs};
use crate::trace_health;
use crate::traces::LoadedRun;
use crate::{Context, Tool, tool};

/// Rows of the secondary lists.
const ROWS: usize = 20;

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<IdentifyHotKernels>(
            "Hot kernels of a trace",
            "The kernels that matter in one trace. Use extract_kernel_runtimes_from_db for all kernels, compare_runs for two traces. It takes a database path, not runtimes.",
            identify_hot_kernels,
        ),
        tool::<ExtractKernelRuntimes>(
            "Time per kernel",
            "Time per kernel of one trace with its spread: total, share, calls, minimum, mean, median, maximum and deviation.",
            extract_kernel_runtimes,
        ),
        tool::<CompareRuns>(
            "Kernel-aware verdict on two runs",
            "One kernel-aware verdict on a before/after pair. Use trace_diff.diff_runs for a readable diff and elapsed-time verdict.",
            compare_runs,
        ),
    ]
}

fn load(context: &Context, db_path: &str) -> Result<Arc<LoadedRun>, ErrorObject> {
    context.load_kernels(&inputs(db_path), ONE_TRACE, "db_path")
}

/// Whole nanoseconds of a mean or median.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "durations are not negative")]
fn whole(ns: f64) -> u64 {
    ns.round() as u64
}

fn mean(durations: &Distribution) -> u64 {
    whole(durations.mean().unwrap_or_default())
}

fn identify_hot_kernels(context: &Context, input: TraceInput) -> Result<HotKernels, ErrorObject> {
    let run = load(context, &input.db_path)?;
    let whole = run.profile.kernel_sum();
    let hot = hotspots::hot_set(&run.profile);
    let covered: Nanos = hot.iter().map(|(kernel, _)| kernel.total).sum();
    let rows: Vec<HotKernel> = hot
        .into_iter()
        .map(|(kernel, reason)| HotKernel {
            name: kernel.name.to_string(),
            total_ns: kernel.total.0,
            pct_total: kernel.total.fraction_of(whole).unwrap_or_default(),
            calls: kernel.calls,
            mean_ns: mean(&kernel.durations),
            kind: kernel.kind.label().to_owned(),
            reason: match reason {
                HotReason::Coverage => "coverage",
                HotReason::Share => "share",
            }
            .to_owned(),
        })
        .collect();
    let page = Page::of(rows, input.offset as usize, input.limit as usize);
    Ok(HotKernels {
        total: page.total,
        returned: page.returned,
        truncated: page.truncated,
        kernel_sum_ns: whole.0,
        kernel_count: run.profile.kernels.len() as u64,
        hot_share: round(covered.fraction_of(whole).unwrap_or_default(), 4),
        items: page.rows,
        trace_health: trace_health::of(&run),
    })
}

fn extract_kernel_runtimes(context: &Context, input: TraceInput) -> Result<KernelRuntimes, ErrorObject> {
    let run = load(context, &input.db_path)?;
    let sum = run.profile.kernel_sum();
    let rows: Vec<KernelRuntime> = run
        .profile
        .kernels
        .iter()
        .map(|kernel| KernelRuntime {
            kernel_name: kernel.name.to_string(),
            total_runtime_ns: kernel.total.0,
            share: kernel.total.fraction_of(sum).unwrap_or_default(),
            calls: kernel.calls,
            min_ns: kernel.durations.min.0,
            mean_ns: mean(&kernel.durations),
            median_ns: whole(kernel.durations.median),
            max_ns: kernel.durations.max.0,
            stddev_ns: kernel.durations.stddev.map(|deviation| round(deviation, 1)),
            kind: kernel.kind.label().to_owned(),
        })
        .collect();
    let page = Page::of(rows, input.offset as usize, input.limit as usize);
    Ok(KernelRuntimes {
        total: page.total,
        returned: page.returned,
        truncated: page.truncated,
        kernel_sum_ns: sum.0,
        gpu_busy_ns: run.profile.kernel_busy().0,
        wall_ns: run.profile.total_runtime().0,
        items: page.rows,
        trace_health: trace_health::of(&run),
    })
}

fn compare_runs(context: &Context, input: CompareRunsInput) -> Result<RunComparison, ErrorObject> {
    let reading = |which, field| Reading {
        which,
        field,
        further: field,
        allow_partial: input.allow_partial,
        allow_empty: false,
    };
    let before = SideRuns::read(context, reading("before", "db_before"), &input.db_before, &[])?;
    let after = SideRuns::read(context, reading("after", "db_after"), &input.db_after, &[])?;
    context.phase("analyse", 0.0, None);
    let facts = thresholds::diff();
    let threshold_pct = input.threshold_pct.unwrap_or(facts.total_limit_pct);
    let compared = compare(&before.runs, &after.runs, &Options::default());
    let decided = by_kernels(&compared, threshold_pct, facts.kernel_limit_pct, &spoken_name);
    let row = |row: &Row| common(&compared, row);
    let mut both: Vec<&Row> = compared.rows.iter().filter(|row| row.status == Status::Changed).collect();
    both.sort_by(|a, b| a.name.cmp(&b.name));
    let both = Page::of(both, input.offset as usize, input.limit as usize);
    let (added, removed) = (only(&compared, Status::Added), only(&compared, Status::Removed));
    Ok(RunComparison {
        verdict: decided.verdict.label().to_owned(),
        total_delta_pct: compared.kernel_change.fraction(true),
        weighted_geomean_delta_pct: compared.geomean,
        wall_delta_pct: compared.wall_change.fraction(true),
        common_delta_pct: compared.common_change.and_then(|change| change.fraction(true)),
        normalized_delta_pct: compared.normalized,
        threshold_pct: threshold_pct / 100.0,
        decided_by: decided.decided_by,
        rule: decided.rule.label().to_owned(),
        comparability: perfxpert_schemas::diff::Comparability {
            call_ratio: compared.call_ratio.map(|ratio| round(ratio, 4)),
            ..comparability(&compared.comparability)
        },
        wall_ns: BeforeAfter { before: compared.wall_change.baseline, after: compared.wall_change.new },
        kernel_sum_ns: BeforeAfter {
            before: compared.kernel_change.baseline,
            after: compared.kernel_change.new,
        },
        total: both.total,
        returned: both.returned,
        truncated: both.truncated,
        per_kernel_deltas: both.rows.into_iter().map(row).collect(),
        hot_regressions_total: decided.hot_regressions.len() as u64,
        hot_regressions: decided.hot_regressions.iter().take(ROWS).map(|found| row(found)).collect(),
        added_kernels_total: added.len() as u64,
        added_kernels_ns: added.iter().map(|row| row.change.new).fold(0, u64::saturating_add),
        added_kernels: added.iter().take(ROWS).map(|row| lone(row)).collect(),
        removed_kernels_total: removed.len() as u64,
        removed_kernels_ns: removed.iter().map(|row| row.change.baseline).fold(0, u64::saturating_add),
        removed_kernels: removed.iter().take(ROWS).map(|row| lone(row)).collect(),
        possible_renames: renames(&compared),
        warnings: warnings(&before, &after, &compared, decided.warnings),
        trace_health: BeforeAfter { before: before.trace_health(), after: after.trace_health() },
    })
}

fn common(compared: &Comparison, row: &Row) -> CommonKernel {
    CommonKernel {
        kernel: row.name.to_string(),
        delta_pct: row.change.fraction(true),
        was_hot: row.was_hot,
        before_ns: row.change.baseline,
        after_ns: row.change.new,
        calls_before: row.call_change.baseline,
        calls_after: row.call_change.new,
        contribution_pct: compared.contribution_fraction(row),
        significant: row.significant,
    }
}

fn lone(row: &Row) -> LoneKernel {
    LoneKernel {
        kernel: row.name.to_string(),
        ns: row.change.baseline.max(row.change.new),
        calls: row.call_change.baseline.max(row.call_change.new),
    }
}
