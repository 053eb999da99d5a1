//! Turns a comparison into the diff document that every surface shows.

use perfxpert_analysis::compare::verdict::{self, movers};
use perfxpert_analysis::compare::{
    Change, Comparability, Comparison, Options, Row, Side, Status, TooFast, compare, gate, narrative,
    possible_renames,
};
use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::diff::{self, DiffDocument, KernelDelta};
use perfxpert_schemas::tools::trace_diff::ThresholdSource;

use crate::sides::{SideRuns, spoken_name};

/// Version of the document.
const SCHEMA_VERSION: &str = "0.3.1";
/// Rows of the lists of regressions, improvements, added and removed kernels.
const ROWS: usize = 50;
/// Possible renames and impossible rates shown.
const RENAMES: usize = 10;
const TOO_FAST: usize = 20;
/// Kernels of the gate.
const GATE_KERNELS: usize = 100;
/// Why no rate could be held against the memory's.
const NO_BYTES: &str = "no bytes were counted: neither side has memory counters";

/// What the caller asked for.
pub(crate) struct Wanted {
    /// Rows of `per_kernel`.
    pub(crate) top_kernels: usize,
    /// Limit of elapsed time, percent.
    pub(crate) threshold_pct: f64,
    /// Limit of one kernel, percent.
    pub(crate) kernel_threshold_pct: f64,
    /// Options of the comparison.
    pub(crate) options: Options,
    /// The gate, when asked for.
    pub(crate) gate: Option<(gate::Limits, ThresholdSource)>,
}

/// Compares two sides and writes the document.
pub(crate) fn document(baseline: &SideRuns, new: &SideRuns, wanted: &Wanted) -> DiffDocument {
    let options = match &wanted.gate {
        Some((limits, _)) => limits.refine(wanted.options),
        None => wanted.options,
    };
    let compared = compare(&baseline.runs, &new.runs, &options);
    let gate = wanted.gate.as_ref().map(|(limits, source)| gate_object(&compared, limits, *source));
    let kernels =
        verdict::by_kernels(&compared, wanted.threshold_pct, wanted.kernel_threshold_pct, &spoken_name);
    let (regressed, improved) = movers(&compared, wanted.kernel_threshold_pct);
    let is_regressed: std::collections::HashSet<&str> =
        regressed.iter().map(|row| row.name.as_ref()).collect();
    let row = |row: &Row| kernel_row(&compared, row, is_regressed.contains(row.name.as_ref()));
    let first = |rows: &[&Row]| rows.iter().take(ROWS).map(|found| row(found)).collect();
    let (added, removed) = (only(&compared, Status::Added), only(&compared, Status::Removed));
    let (baseline_runs, new_runs) = compared.runs();
    let known = !compared.has_empty_side();
    let delta = |change: &Change| known.then(|| change.delta());
    let percent = |change: &Change| change.percent.filter(|_| known).map(pct);
    DiffDocument {
        schema_version: SCHEMA_VERSION.to_owned(),
        verdict: verdict::by_elapsed_time(&compared, wanted.threshold_pct).label().to_owned(),
        verdict_threshold_pct: wanted.threshold_pct,
        wall_delta_ns: delta(&compared.wall_change),
        wall_delta_pct: percent(&compared.wall_change),
        baseline_wall_ns: compared.wall_change.baseline,
        new_wall_ns: compared.wall_change.new,
        kernel_time_delta_ns: delta(&compared.kernel_change),
        kernel_time_delta_pct: percent(&compared.kernel_change),
        baseline_kernel_ns: compared.kernel_change.baseline,
        new_kernel_ns: compared.kernel_change.new,
        trustworthy: gate
            .as_ref()
            .map_or_else(|| compared.comparability.blocking().next().is_none(), |gate| gate.trustworthy),
        noise_known: known && compared.noise_known(),
        kernel_verdict: kernels.verdict.label().to_owned(),
        kernel_rule: kernels.rule.label().to_owned(),
        narrative: narrative::narrative(&compared, wanted.kernel_threshold_pct, &spoken_name),
        comparability: comparability(&compared.comparability),
        runs: diff::RunCounts { baseline: baseline_runs as u64, new: new_runs as u64 },
        hot_set_jaccard: compared.hot_jaccard.map(|index| round(index, 2)),
        impossible_speed: compared
            .too_fast
            .as_ref()
            .map(|rows| rows.iter().take(TOO_FAST).map(too_fast).collect()),
        impossible_speed_reason: compared.too_fast.is_none().then(|| NO_BYTES.to_owned()),
        primary_regressions_total: regressed.len() as u64,
        primary_regressions: first(&regressed),
        primary_improvements_total: improved.len() as u64,
        primary_improvements: first(&improved),
        per_kernel: compared.rows.iter().take(wanted.top_kernels).map(row).collect(),
        per_kernel_total: compared.rows.len() as u64,
        truncated: compared.rows.len() > wanted.top_kernels,
        added_kernels_total: added.len() as u64,
        added_kernels: first(&added),
        removed_kernels_total: removed.len() as u64,
        removed_kernels: first(&removed),
        possible_renames: renames(&compared),
        warnings: warnings(baseline, new, &compared, kernels.warnings),
        gate,
        baseline_db: baseline.path.clone(),
        new_db: new.path.clone(),
        trace_health: diff::SideHealth { baseline: baseline.trace_health(), new: new.trace_health() },
    }
}

fn pct(value: f64) -> f64 {
    round(value, 4)
}

/// Kernels of one side only: by time descending, then name.
pub(crate) fn only(compared: &Comparison, status: Status) -> Vec<&Row> {
    let time = |row: &Row| if status == Status::Added { row.change.new } else { row.change.baseline };
    let mut rows: Vec<&Row> = compared.rows.iter().filter(|row| row.status == status).collect();
    rows.sort_by(|a, b| time(b).cmp(&time(a)).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// Removed and added kernels whose names agree up to template arguments.
pub(crate) fn renames(compared: &Comparison) -> Vec<diff::Rename> {
    possible_renames(&compared.rows, RENAMES)
        .into_iter()
        .map(|(from, to)| diff::Rename { from: from.to_string(), to: to.to_string() })
        .collect()
}

/// What to read with care, beyond what the kernels say.
pub(crate) fn warnings(
    baseline: &SideRuns,
    new: &SideRuns,
    compared: &Comparison,
    of_kernels: Vec<String>,
) -> Vec<String> {
    let mut warnings = of_kernels;
    if baseline.shares_a_run_with(new) {
        warnings.push("A run stands on both sides: a run does not differ from itself.".to_owned());
    }
    let (before, after) = compared.runs();
    if before + after > 2 && !compared.noise_known() {
        let needed = thresholds::ci().runs_for_interval;
        warnings.push(format!(
            "With {before} and {after} runs how much of this is noise is unknown: {needed} runs per side give an interval."
        ));
    }
    warnings
}

fn kernel_row(compared: &Comparison, row: &Row, regressed: bool) -> KernelDelta {
    KernelDelta {
        name: row.name.to_string(),
        status: row.status.label().to_owned(),
        baseline_ns: row.change.baseline,
        new_ns: row.change.new,
        delta_ns: row.change.delta(),
        delta_pct: match row.status {
            Status::Changed => row.change.percent.map(pct),
            Status::Added => None,
            Status::Removed => Some(-100.0),
        },
        contribution_pct: compared.contribution_pct(row).map(pct),
        share_pct: compared.share_pct(row).map(pct),
        baseline_calls: row.call_change.baseline,
        new_calls: row.call_change.new,
        per_call_delta_pct: row.per_call_pct.map(pct),
        regressed,
        was_hot: row.was_hot,
        significant: row.significant,
    }
}

/// Comparability on the wire.
pub(crate) fn comparability(found: &Comparability) -> diff::Comparability {
    let [baseline_time, new_time] = found.common_time_pct.map(|share| share.map(pct));
    let kinds = |kinds: &[perfxpert_analysis::compare::GpuCount]| {
        kinds
            .iter()
            .map(|kind| diff::GpuKind {
                gfx_id: kind.gfx_id.clone(),
                name: kind.name.clone(),
                cu_count: kind.cu_count.map(u64::from),
                count: kind.count,
            })
            .collect()
    };
    let [baseline_gpus, new_gpus] = &found.gpus;
    diff::Comparability {
        status: found.status().to_owned(),
        issues: found
            .issues
            .iter()
            .map(|issue| diff::ComparabilityIssue {
                code: issue.code.label().to_owned(),
                severity: issue.effect.label().to_owned(),
                side: issue.side.map(|side| side.label().to_owned()),
                text: issue.text.clone(),
            })
            .collect(),
        common_kernel_time_pct: diff::SidePercent { baseline: baseline_time, new: new_time },
        work_ratio: found.work_ratio.map(pct),
        gpus: diff::SideGpus { baseline: kinds(baseline_gpus), new: kinds(new_gpus) },
        call_ratio: None,
    }
}

fn too_fast(row: &TooFast) -> diff::ImpossibleSpeed {
    diff::ImpossibleSpeed {
        name: row.name.to_string(),
        side: match row.side {
            Side::Baseline => "baseline",
            Side::New => "new",
        }
        .to_owned(),
        bytes: row.bytes.0,
        duration_ns: row.duration.0,
        gbps: round(row.gbps, 1),
        limit_gbps: round(row.limit_gbps, 1),
    }
}

fn gate_object(compared: &Comparison, limits: &gate::Limits, source: ThresholdSource) -> diff::Gate {
    let gate = gate::gate(compared, limits, &spoken_name);
    let (baseline, candidate) = compared.runs();
    let known = !compared.has_empty_side();
    let interval = gate.wall.interval.filter(|_| known);
    let change = gate.wall.change;
    let [baseline_spread, candidate_spread] = gate.spreads_pct;
    diff::Gate {
        verdict: gate.verdict.label().to_owned(),
        exit_code: gate.verdict.exit_code(),
        trustworthy: gate.verdict != gate::Verdict::NoVerdict,
        noise_known: interval.is_some(),
        reasons: gate
            .reasons
            .into_iter()
            .map(|reason| diff::GateReason { code: reason.code.to_owned(), text: reason.text })
            .collect(),
        method: if interval.is_some() { "rank_interval" } else { "point" }.to_owned(),
        runs: diff::GateRuns {
            baseline: baseline as u64,
            candidate: candidate as u64,
            needed_for_interval: thresholds::ci().runs_for_interval,
        },
        threshold_pct: limits.threshold_pct,
        threshold_source: source.label().to_owned(),
        kernel_threshold_pct: limits.kernel_threshold_pct,
        min_time_share_pct: limits.min_time_share_pct,
        min_delta_ns: limits.min_delta.0,
        requested_confidence: f64::from(limits.confidence_pct),
        wall: diff::GateWall {
            baseline_ns: compared.wall.baseline.clone(),
            candidate_ns: compared.wall.new.clone(),
            baseline_median_ns: change.baseline,
            candidate_median_ns: change.new,
            delta_ns: known.then(|| change.delta()),
            delta_pct: change.percent.filter(|_| known).map(pct),
            ci_low_pct: interval.map(|interval| pct(interval.low)),
            ci_high_pct: interval.map(|interval| pct(interval.high)),
            confidence: interval.map(|interval| pct(interval.confidence)),
            smallest_detectable_change_pct: gate.wall.smallest_detectable_pct().filter(|_| known).map(pct),
            baseline_spread_pct: baseline_spread.map(pct),
            candidate_spread_pct: candidate_spread.map(pct),
            verdict: if known { gate.wall_verdict } else { gate::Verdict::NoVerdict }.label().to_owned(),
        },
        kernels_total: gate.kernels.len() as u64,
        kernels_gated: gate.gated as u64,
        kernels: gate.kernels.iter().take(GATE_KERNELS).map(gate_kernel).collect(),
    }
}

fn gate_kernel(kernel: &gate::GateKernel) -> diff::GateKernel {
    let change = kernel.estimate.change;
    let interval = kernel.estimate.interval;
    diff::GateKernel {
        name: kernel.name.to_string(),
        time_share_pct: kernel.time_share_pct.map(pct),
        baseline_median_ns: change.baseline,
        candidate_median_ns: change.new,
        baseline_calls: kernel.calls.baseline,
        candidate_calls: kernel.calls.new,
        calls_changed: kernel.calls_changed,
        delta_pct: match kernel.verdict {
            gate::KernelVerdict::Added => None,
            gate::KernelVerdict::Removed => Some(-100.0),
            _ => change.percent.map(pct),
        },
        ci_low_pct: interval.map(|interval| pct(interval.low)),
        ci_high_pct: interval.map(|interval| pct(interval.high)),
        confidence: interval.map(|interval| pct(interval.confidence)),
        verdict: kernel.verdict.label().to_owned(),
    }
}
