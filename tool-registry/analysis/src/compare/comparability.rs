//! Whether two sides can be compared, and what speaks against it.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::thresholds;

use super::rows::{Row, Status, Totals};
use super::run::{GpuCount, Run};
use super::series::{Series, median_of_sorted, percent_of};
use super::speed::TooFast;
use super::words::{counted, grouped, tenth};
use super::{Options, Side};

/// What was found, by its stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A baseline run has neither kernel nor copy.
    EmptyBaseline,
    /// A run of the new side has neither.
    EmptyCandidate,
    /// The sides ran on different GPUs, or on a different number of them.
    DifferentGpu,
    /// Too little is common to both sides.
    KernelSetChanged,
    /// The new side launched less work in the same kernels.
    LessWork,
    /// It launched more.
    MoreWork,
    /// Dispatches differ while the work does not.
    CallsDiffer,
    /// A kernel moves its bytes faster than memory allows.
    ImpossibleSpeed,
    /// A trace lost rows.
    TraceDegraded,
    /// Runs of one side disagree.
    RunsDiffer,
}

impl Code {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::EmptyBaseline => "empty_baseline",
            Self::EmptyCandidate => "empty_candidate",
            Self::DifferentGpu => "different_gpu",
            Self::KernelSetChanged => "kernel_set_changed",
            Self::LessWork => "less_work",
            Self::MoreWork => "more_work",
            Self::CallsDiffer => "calls_differ",
            Self::ImpossibleSpeed => "impossible_speed",
            Self::TraceDegraded => "trace_degraded",
            Self::RunsDiffer => "runs_differ",
        }
    }

    /// Whether nothing at all can be concluded: no regression either.
    #[must_use]
    pub const fn forbids_any_verdict(self) -> bool {
        matches!(self, Self::EmptyBaseline | Self::EmptyCandidate | Self::DifferentGpu)
    }
}

/// What an issue does to a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Worth knowing.
    Note,
    /// To be read with care.
    Warning,
    /// No pass.
    Blocking,
}

impl Effect {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Blocking => "blocking",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// What.
    pub code: Code,
    /// How much it matters.
    pub effect: Effect,
    /// Of which side; `None` for both.
    pub side: Option<Side>,
    /// One sentence.
    pub text: String,
}

/// Whether two sides can be compared.
#[derive(Clone, Debug, Default)]
pub struct Comparability {
    /// Findings, in the order of [`Code`].
    pub issues: Vec<Issue>,
    /// Kernel time of the kernels on both sides, percent of each side's; `None` without kernel time.
    pub common_time_pct: [Option<f64>; 2],
    /// Work-items of the kernels on both sides, new ÷ baseline; `None` when not known.
    pub work_ratio: Option<f64>,
    /// GPUs of the first run of each side.
    pub gpus: [Vec<GpuCount>; 2],
}

impl Comparability {
    /// `ok`, `limited` (with a warning) or `incomparable` (with something blocking).
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self.issues.iter().map(|issue| issue.effect).max() {
            None | Some(Effect::Note) => "ok",
            Some(Effect::Warning) => "limited",
            Some(Effect::Blocking) => "incomparable",
        }
    }

    /// What blocks a pass.
    pub fn blocking(&self) -> impl Iterator<Item = &Issue> {
        self.issues.iter().filter(|issue| issue.effect == Effect::Blocking)
    }

    /// What forbids any verdict.
    pub fn forbidding(&self) -> impl Iterator<Item = &Issue> {
        self.blocking().filter(|issue| issue.code.forbids_any_verdict())
    }
}

pub(super) fn judge(
    baseline: &[Run],
    new: &[Run],
    rows: &[Row],
    common: &Totals,
    kernel_time: &Series,
    too_fast: Option<&[TooFast]>,
    options: &Options,
) -> Comparability {
    let sides = [(Side::Baseline, baseline), (Side::New, new)];
    let gpus = [baseline, new].map(|runs| runs.first().map(|run| run.gpus.clone()).unwrap_or_default());
    let empty: Vec<Issue> = sides.iter().filter_map(|(side, runs)| empty(*side, runs)).collect();
    if !empty.is_empty() {
        return Comparability { issues: empty, gpus, ..Comparability::default() };
    }
    let shares = |common: &[u64], whole: &[u64]| {
        let mut shares: Vec<f64> =
            common.iter().zip(whole).filter_map(|(part, whole)| percent_of(*part, *whole)).collect();
        shares.sort_by(f64::total_cmp);
        median_of_sorted(&shares)
    };
    let common_time_pct =
        [shares(&common.time.baseline, &kernel_time.baseline), shares(&common.time.new, &kernel_time.new)];
    let work_ratio = common.work.as_ref().and_then(|[before, after]| ratio(before, after));
    let mut issues = Vec::new();
    issues.extend(different_gpu(baseline, new, options.allow_different_gpu));
    issues.extend(kernel_set(rows, common_time_pct, options.allow_kernel_changes));
    issues.extend(work(work_ratio, &common.calls, options.allow_kernel_changes));
    issues.extend(impossible_speed(too_fast.unwrap_or_default()));
    issues.extend(sides.iter().filter_map(|(side, runs)| degraded(*side, runs)));
    issues.extend(sides.iter().filter_map(|(side, runs)| runs_differ(*side, runs)));
    Comparability { issues, common_time_pct, work_ratio, gpus }
}

/// An issue that an option lifts does not block, and still shows.
fn liftable(code: Code, lifted: bool, text: String) -> Issue {
    let effect = if lifted { Effect::Warning } else { Effect::Blocking };
    Issue { code, effect, side: None, text }
}

fn empty(side: Side, runs: &[Run]) -> Option<Issue> {
    let count = runs.iter().filter(|run| !run.has_gpu_work).count();
    let code = match side {
        Side::Baseline => Code::EmptyBaseline,
        Side::New => Code::EmptyCandidate,
    };
    let who = match runs.len() {
        1 => format!("The {} has", side.spoken()),
        all => format!("{count} of {all} {} runs have", side.spoken()),
    };
    (count > 0).then(|| Issue {
        code,
        effect: Effect::Blocking,
        side: Some(side),
        text: format!("{who} no kernel dispatch and no memory copy: nothing was compared."),
    })
}

fn describe(run: &Run) -> String {
    let kinds: Vec<String> = run
        .gpu_identity()
        .into_iter()
        .map(|(gfx, units, count)| {
            let units = units.map(|units| format!(" ({units} CU)")).unwrap_or_default();
            format!("{count}x {}{units}", gfx.unwrap_or("unknown GPU"))
        })
        .collect();
    kinds.join(" + ")
}

fn different_gpu(baseline: &[Run], new: &[Run], allowed: bool) -> Option<Issue> {
    let kinds = |runs: &[Run]| runs.iter().map(describe).collect::<BTreeSet<String>>();
    let (before, after) = (kinds(baseline), kinds(new));
    let words = |kinds: BTreeSet<String>| kinds.into_iter().collect::<Vec<_>>().join(" or ");
    (before != after).then(|| {
        let text = format!("The baseline ran on {}, the candidate on {}.", words(before), words(after));
        liftable(Code::DifferentGpu, allowed, text)
    })
}

fn kernel_set(rows: &[Row], common_time_pct: [Option<f64>; 2], allowed: bool) -> Option<Issue> {
    let facts = thresholds::comparability();
    let count = |statuses: &[Status]| rows.iter().filter(|row| statuses.contains(&row.status)).count();
    let common = count(&[Status::Changed]);
    let names = [count(&[Status::Changed, Status::Removed]), count(&[Status::Changed, Status::Added])];
    let little_time = common_time_pct.iter().flatten().any(|share| *share < facts.common_time * 100.0);
    let few_names = names.iter().any(|all| {
        percent_of(common as u64, *all as u64).is_some_and(|share| share < facts.common_names * 100.0)
    });
    let [before, after] = common_time_pct.map(|share| share.unwrap_or_default());
    let [names_before, names_after] = names;
    (little_time || few_names).then(|| {
        let text = format!(
            "Kernels found on both sides hold {} of the baseline's and {} of the candidate's kernel time, {common} of {} and {} kernel names: the runs did not run the same kernels.",
            tenth(before),
            tenth(after),
            grouped(names_before as u64),
            grouped(names_after as u64)
        );
        liftable(Code::KernelSetChanged, allowed, text)
    })
}

/// Work of the common kernels; by dispatches where the launches' sizes are not known.
fn work(work_ratio: Option<f64>, calls: &Series, allowed: bool) -> Option<Issue> {
    let facts = thresholds::comparability();
    let call_ratio = calls.ratio();
    let (ratio, unit) = match (work_ratio, call_ratio) {
        (Some(ratio), _) => (ratio, "work-items"),
        (None, Some(ratio)) => (ratio, "dispatches"),
        (None, None) => return None,
    };
    let percent = tenth(ratio * 100.0);
    if ratio < facts.less_work {
        let text = format!(
            "The candidate launched {percent} of the baseline's {unit} in the same kernels: the runs did not do the same work."
        );
        return Some(liftable(Code::LessWork, allowed, text));
    }
    if ratio > facts.more_work {
        let text = format!("The candidate launched {percent} of the baseline's {unit} in the same kernels.");
        return Some(Issue { code: Code::MoreWork, effect: Effect::Warning, side: None, text });
    }
    let differs = |ratio: f64| (ratio - 1.0).abs() > facts.calls_differ;
    (work_ratio.is_some_and(|ratio| !differs(ratio)) && call_ratio.is_some_and(differs)).then(|| {
        let change = calls.change();
        let text = format!(
            "The common kernels were dispatched {} times in the baseline and {} times in the candidate, for the same number of work-items.",
            grouped(change.baseline),
            grouped(change.new)
        );
        Issue { code: Code::CallsDiffer, effect: Effect::Note, side: None, text }
    })
}

fn impossible_speed(found: &[TooFast]) -> Option<Issue> {
    let first = found.first()?;
    let side = first.side;
    let one_side = found.iter().all(|row| row.side == side);
    Some(Issue {
        code: Code::ImpossibleSpeed,
        effect: Effect::Blocking,
        side: one_side.then_some(side),
        text: format!(
            "{} {} bytes faster than the GPU's memory can: up to {:.1} GB/s, where {:.1} GB/s is the limit.",
            counted(found.len(), "kernel"),
            if found.len() == 1 { "moves its" } else { "move their" },
            first.gbps,
            first.limit_gbps
        ),
    })
}

fn degraded(side: Side, runs: &[Run]) -> Option<Issue> {
    let limit = thresholds::comparability().degraded_rows * 100.0;
    let of = |run: &Run| -> Option<String> {
        if let Some(loss) = run.losses.first() {
            return Some(loss.clone());
        }
        let all = run.dispatches.saturating_add(run.dispatches_left_out);
        let share = percent_of(run.dispatches_left_out, all)?;
        (share > limit).then(|| format!("{} of the dispatch rows were left out.", tenth(share)))
    };
    let reason = runs.iter().find_map(of)?;
    Some(Issue {
        code: Code::TraceDegraded,
        effect: Effect::Blocking,
        side: Some(side),
        text: format!("The {}'s trace is incomplete: {reason}", side.spoken()),
    })
}

fn runs_differ(side: Side, runs: &[Run]) -> Option<Issue> {
    let first = runs.first()?;
    let limit = thresholds::comparability().runs_common_time * 100.0;
    let (mut gpus, mut least) = (false, 100.0_f64);
    let known: BTreeMap<&str, ()> = first.kernels.iter().map(|kernel| (kernel.name.as_ref(), ())).collect();
    for run in runs.iter().skip(1) {
        gpus |= run.gpu_identity() != first.gpu_identity();
        let common: u64 = run
            .kernels
            .iter()
            .filter(|kernel| known.contains_key(kernel.name.as_ref()))
            .map(|kernel| kernel.total.0)
            .fold(0, u64::saturating_add);
        least = least.min(percent_of(common, run.kernel_sum.0).unwrap_or(100.0));
        let names: BTreeSet<&str> = run.kernels.iter().map(|kernel| kernel.name.as_ref()).collect();
        let common: u64 = first
            .kernels
            .iter()
            .filter(|kernel| names.contains(kernel.name.as_ref()))
            .map(|kernel| kernel.total.0)
            .fold(0, u64::saturating_add);
        least = least.min(percent_of(common, first.kernel_sum.0).unwrap_or(100.0));
    }
    let who = match side {
        Side::Baseline => "baseline",
        Side::New => "candidate",
    };
    let what = match (gpus, least < limit) {
        (false, false) => return None,
        (true, false) => "they ran on different GPUs".to_owned(),
        (false, true) => format!("two of them share only {} of their kernel time", tenth(least)),
        (true, true) => {
            format!("they ran on different GPUs and share only {} of their kernel time", tenth(least))
        }
    };
    Some(Issue {
        code: Code::RunsDiffer,
        effect: Effect::Warning,
        side: Some(side),
        text: format!("The {who} runs disagree: {what}."),
    })
}

/// Median of `after` ÷ median of `before`.
fn ratio(before: &[u128], after: &[u128]) -> Option<f64> {
    let median = |values: &[u128]| {
        #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 53 bits")]
        let mut values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        values.sort_by(f64::total_cmp);
        median_of_sorted(&values)
    };
    let (before, after) = (median(before)?, median(after)?);
    (before > 0.0).then(|| after / before)
}
