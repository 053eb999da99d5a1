//! The regression gate of a CI job: pass, regressed, or no verdict; never a pass on runs that measured nothing.

use std::sync::Arc;

use perfxpert_knowledge::thresholds;

use super::interval::{Interval, RankSum};
use super::rows::{Row, Status};
use super::series::{Change, Series, median_of_sorted, percent_of, quotient, wide};
use super::words::{counted, limit, range, signed};
use super::{Comparison, Options, Shorten};
use crate::units::Nanos;

/// Limits of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Change of elapsed time that is tolerated, percent.
    pub threshold_pct: f64,
    /// Change of one kernel that is tolerated, percent; `None` without a kernel gate.
    pub kernel_threshold_pct: Option<f64>,
    /// Share of the baseline's kernel time from which a kernel is gated, percent.
    pub min_time_share_pct: f64,
    /// A smaller slow-down of elapsed time never fails.
    pub min_delta: Nanos,
    /// Confidence of the intervals, percent: 90, 95 or 99.
    pub confidence_pct: u8,
}

impl Limits {
    /// The same as options of the comparison.
    #[must_use]
    pub fn refine(&self, options: Options) -> Options {
        Options { gated_share_pct: self.kernel_threshold_pct.map(|_| self.min_time_share_pct), ..options }
    }
}

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No regression, and enough was compared to say so.
    Pass,
    /// A regression.
    Regressed,
    /// It cannot be told.
    NoVerdict,
}

impl Verdict {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Regressed => "regressed",
            Self::NoVerdict => "no_verdict",
        }
    }

    /// The exit code of a job.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Regressed => 1,
            Self::NoVerdict => 3,
        }
    }
}

/// What became of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelVerdict {
    /// Slower than its limit.
    Regressed,
    /// Slower than its limit, but it may be noise.
    Unclear,
    /// Faster, beyond noise.
    Improved,
    /// Within its limit.
    Pass,
    /// Only on the new side.
    Added,
    /// Only on the baseline.
    Removed,
    /// Too small to be gated.
    NotGated,
}

impl KernelVerdict {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Unclear => "unclear",
            Self::Improved => "improved",
            Self::Pass => "pass",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::NotGated => "not_gated",
        }
    }
}

/// A change with its interval, when the runs give one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Medians and the estimate of the change.
    pub change: Change,
    /// Its interval.
    pub interval: Option<Interval>,
}

impl Estimate {
    fn of(series: &Series, ranks: Option<&RankSum>, confidence_pct: u8, tests: usize) -> Self {
        let pairwise = series.pairwise();
        Self {
            change: Change { percent: median_of_sorted(&pairwise), ..series.change() },
            interval: ranks.and_then(|ranks| ranks.interval(&pairwise, confidence_pct, tests)),
        }
    }

    /// The smallest change these runs would have shown, percent.
    #[must_use]
    pub fn smallest_detectable_pct(&self) -> Option<f64> {
        let (percent, interval) = (self.change.percent?, self.interval?);
        Some((percent - interval.low).max(interval.high - percent))
    }

    /// `+6.90% [+5.94%, +7.78%]`.
    fn words(&self) -> String {
        let percent = self.change.percent.map_or_else(|| "no percentage of 0".to_owned(), signed);
        let interval = self.interval.map(|interval| format!(" {}", range(interval.low, interval.high)));
        format!("{percent}{}", interval.unwrap_or_default())
    }
}

/// One kernel of the gate.
#[derive(Clone, Debug)]
pub struct GateKernel {
    /// Full name.
    pub name: Arc<str>,
    /// Share of the baseline's kernel time, median over runs, percent.
    pub time_share_pct: Option<f64>,
    /// Its time.
    pub estimate: Estimate,
    /// Its calls.
    pub calls: Change,
    /// Whether the calls differ.
    pub calls_changed: bool,
    /// What became of it.
    pub verdict: KernelVerdict,
}

/// Why a gate decided so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Stable code: `wall`, `kernel`, `noise`, `kernel_unclear`, or that of a comparability issue.
    pub code: &'static str,
    /// One sentence without its full stop.
    pub text: String,
}

/// The gate.
#[derive(Clone, Debug)]
pub struct Gate {
    /// What it says.
    pub verdict: Verdict,
    /// Why; empty for a pass.
    pub reasons: Vec<Reason>,
    /// Elapsed time.
    pub wall: Estimate,
    /// What elapsed time alone says.
    pub wall_verdict: Verdict,
    /// Spread of each side's elapsed times, `100·(max − min) ÷ median`; `None` for one run.
    pub spreads_pct: [Option<f64>; 2],
    /// Kernels, gated ones first by cost, then added, removed and other ones; empty without a kernel gate.
    pub kernels: Vec<GateKernel>,
    /// How many of them are gated.
    pub gated: usize,
}

/// Reasons of one kind that are spelled out.
const REASONS: usize = 20;

/// Holds a comparison against the limits; `short` shortens names in sentences.
#[must_use]
pub fn gate(comparison: &Comparison, limits: &Limits, short: Shorten<'_>) -> Gate {
    let (baseline, new) = comparison.runs();
    let ranks = RankSum::new(baseline, new);
    let wall = Estimate::of(&comparison.wall, ranks.as_ref(), limits.confidence_pct, 1);
    let wall_verdict = judge_wall(&wall, limits);
    let (kernels, gated) = match limits.kernel_threshold_pct {
        Some(threshold) if !comparison.has_empty_side() => {
            gated_kernels(comparison, limits, threshold, ranks.as_ref())
        }
        _ => (Vec::new(), 0),
    };
    let spread = |values: &[u64], median: u64| {
        let (least, most) = (values.iter().min()?, values.iter().max()?);
        if values.len() < 2 { None } else { quotient(wide(*most) - wide(*least), median) }
    };
    let spreads_pct = [
        spread(&comparison.wall.baseline, wall.change.baseline),
        spread(&comparison.wall.new, wall.change.new),
    ];
    let (verdict, reasons) = decide(comparison, limits, &wall, wall_verdict, &kernels, short);
    Gate { verdict, reasons, wall, wall_verdict, spreads_pct, kernels, gated }
}

fn judge_wall(wall: &Estimate, limits: &Limits) -> Verdict {
    let Some(percent) = wall.change.percent else { return Verdict::NoVerdict };
    let slower = percent > limits.threshold_pct;
    let large = wall.change.delta_wide() >= wide(limits.min_delta.0);
    match wall.interval {
        None if slower && large => Verdict::Regressed,
        None => Verdict::Pass,
        Some(interval) if slower && interval.low > 0.0 => {
            if large {
                Verdict::Regressed
            } else {
                Verdict::Pass
            }
        }
        Some(interval) if interval.high <= limits.threshold_pct => Verdict::Pass,
        Some(_) => Verdict::NoVerdict,
    }
}

fn judge_kernel(estimate: &Estimate, threshold_pct: f64) -> KernelVerdict {
    let Some(percent) = estimate.change.percent else { return KernelVerdict::NotGated };
    match estimate.interval {
        Some(interval) if percent > threshold_pct && interval.low <= 0.0 => KernelVerdict::Unclear,
        _ if percent > threshold_pct => KernelVerdict::Regressed,
        Some(interval) if interval.high < 0.0 => KernelVerdict::Improved,
        None if percent < -threshold_pct => KernelVerdict::Improved,
        _ => KernelVerdict::Pass,
    }
}

/// Median over the baseline's runs of the kernel's share of kernel time, percent.
fn time_share(row: &Row, kernel_time: &[u64]) -> Option<f64> {
    let mut shares: Vec<f64> = row
        .time
        .baseline
        .iter()
        .zip(kernel_time)
        .filter_map(|(part, whole)| percent_of(*part, *whole))
        .collect();
    shares.sort_by(f64::total_cmp);
    median_of_sorted(&shares)
}

fn gated_kernels(
    comparison: &Comparison,
    limits: &Limits,
    threshold_pct: f64,
    ranks: Option<&RankSum>,
) -> (Vec<GateKernel>, usize) {
    let kernel_time = &comparison.kernel_time.baseline;
    let shares: Vec<Option<f64>> = comparison.rows.iter().map(|row| time_share(row, kernel_time)).collect();
    let is_gated = |row: &Row, share: Option<f64>| {
        row.in_every_baseline() && share.is_some_and(|share| share >= limits.min_time_share_pct)
    };
    let gated = comparison.rows.iter().zip(&shares).filter(|(row, share)| is_gated(row, **share)).count();
    let mut kernels: Vec<GateKernel> = comparison
        .rows
        .iter()
        .zip(shares)
        .map(|(row, time_share_pct)| {
            // Many kernels must not add up to false alarms: the error is divided among them.
            let estimate = Estimate::of(&row.time, ranks, limits.confidence_pct, gated);
            let takes_part = is_gated(row, time_share_pct);
            let verdict = match row.status {
                Status::Added => KernelVerdict::Added,
                Status::Removed => KernelVerdict::Removed,
                Status::Changed if takes_part => judge_kernel(&estimate, threshold_pct),
                Status::Changed => KernelVerdict::NotGated,
            };
            let differs = thresholds::comparability().calls_differ * 100.0;
            let calls_changed = row.status == Status::Changed
                && quotient(row.call_change.delta_wide().abs(), row.call_change.baseline)
                    .is_none_or(|percent| percent > differs);
            let estimate = if takes_part { estimate } else { Estimate { interval: None, ..estimate } };
            GateKernel {
                name: Arc::clone(&row.name),
                time_share_pct: if row.status == Status::Added { None } else { time_share_pct },
                estimate,
                calls: row.call_change,
                calls_changed,
                verdict,
            }
        })
        .collect();
    let rank = |kernel: &GateKernel| match kernel.verdict {
        KernelVerdict::Added => (1, -wide(kernel.estimate.change.new)),
        KernelVerdict::Removed => (2, -wide(kernel.estimate.change.baseline)),
        KernelVerdict::NotGated => (3, -wide(kernel.estimate.change.baseline)),
        _ => (0, -kernel.estimate.change.delta_wide()),
    };
    kernels.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name)));
    (kernels, gated)
}

fn decide(
    comparison: &Comparison,
    limits: &Limits,
    wall: &Estimate,
    wall_verdict: Verdict,
    kernels: &[GateKernel],
    short: Shorten<'_>,
) -> (Verdict, Vec<Reason>) {
    let comparability = &comparison.comparability;
    let issue = |issue: &super::Issue| Reason {
        code: issue.code.label(),
        text: issue.text.trim_end_matches('.').to_owned(),
    };
    let forbidding: Vec<Reason> = comparability.forbidding().map(issue).collect();
    if !forbidding.is_empty() {
        return (Verdict::NoVerdict, forbidding);
    }
    let threshold = limit(limits.threshold_pct);
    let mut regressed = Vec::new();
    if wall_verdict == Verdict::Regressed {
        let percent = wall.change.percent.map(signed).unwrap_or_default();
        regressed.push(Reason { code: "wall", text: format!("wall time {percent} is above {threshold}") });
    }
    let kernel_threshold = limits.kernel_threshold_pct.map(limit).unwrap_or_default();
    regressed.extend(kernel_reasons(kernels, KernelVerdict::Regressed, "kernel", |kernel| {
        let percent = kernel.estimate.change.percent.map(signed).unwrap_or_default();
        format!("kernel {} {percent} is above {kernel_threshold}", short(&kernel.name))
    }));
    if !regressed.is_empty() {
        return (Verdict::Regressed, regressed);
    }
    let mut unknown = Vec::new();
    if wall_verdict == Verdict::NoVerdict {
        unknown.push(Reason {
            code: "noise",
            text: match wall.interval {
                Some(_) => format!(
                    "wall time {}: the runs spread too much to tell it from {threshold}",
                    wall.words()
                ),
                None => "the elapsed time of the baseline is 0".to_owned(),
            },
        });
    }
    unknown.extend(kernel_reasons(kernels, KernelVerdict::Unclear, "kernel_unclear", |kernel| {
        format!(
            "kernel {} {}: above {kernel_threshold}, but it may be noise",
            short(&kernel.name),
            kernel.estimate.words()
        )
    }));
    unknown.extend(comparability.blocking().map(issue));
    if unknown.is_empty() { (Verdict::Pass, unknown) } else { (Verdict::NoVerdict, unknown) }
}

fn kernel_reasons(
    kernels: &[GateKernel],
    verdict: KernelVerdict,
    code: &'static str,
    words: impl Fn(&GateKernel) -> String,
) -> Vec<Reason> {
    let found = || kernels.iter().filter(|kernel| kernel.verdict == verdict);
    let mut reasons: Vec<Reason> =
        found().take(REASONS).map(|kernel| Reason { code, text: words(kernel) }).collect();
    let more = found().count().saturating_sub(REASONS);
    if more > 0 {
        reasons.push(Reason { code, text: format!("and {} more", counted(more, "kernel")) });
    }
    reasons
}
