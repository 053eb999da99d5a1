//! Kernels of both sides matched by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use perfxpert_knowledge::thresholds;

use super::run::{KernelRun, Run, Spread};
use super::series::{Change, Series, float, median_of_sorted, wide};
use crate::hotspots;

/// On which sides a kernel was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// On both.
    Changed,
    /// Only on the new side.
    Added,
    /// Only on the baseline.
    Removed,
}

impl Status {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// One kernel on both sides.
#[derive(Clone, Debug)]
pub struct Row {
    /// Full name.
    pub name: Arc<str>,
    /// On which sides it was found.
    pub status: Status,
    /// Summed time of every run, ns.
    pub time: Series,
    /// Change of the summed time.
    pub change: Change,
    /// Calls of every run.
    pub calls: Series,
    /// Change of the calls.
    pub call_change: Change,
    /// Change of the mean call, percent; `None` unless called on both sides.
    pub per_call_pct: Option<f64>,
    /// Whether it is in the hot set of the baseline.
    pub was_hot: bool,
    /// Whether it is in the hot set of the new side.
    pub is_hot: bool,
    /// Whether the means differ by more than their spread; `None` below two calls on a side.
    pub significant: Option<bool>,
    /// Work-items of every run; `None` when those of a run are not known.
    pub work: Option<[Vec<u128>; 2]>,
}

impl Row {
    /// Whether every baseline run has it, so that every pair of runs has a change.
    #[must_use]
    pub fn in_every_baseline(&self) -> bool {
        self.status == Status::Changed && self.time.baseline.iter().all(|time| *time > 0)
    }
}

/// Kernels matched by name: by baseline time descending, then name bytewise.
pub(super) fn union(baseline: &[Run], new: &[Run]) -> Vec<Row> {
    let mut found: BTreeMap<&str, Gathered> = BTreeMap::new();
    for (is_new, runs) in [(false, baseline), (true, new)] {
        for (at, run) in runs.iter().enumerate() {
            for kernel in &run.kernels {
                found
                    .entry(&kernel.name)
                    .or_insert_with(|| Gathered::new(&kernel.name, baseline.len(), new.len()))
                    .take(at, is_new, kernel);
            }
        }
    }
    let mut rows: Vec<Row> = found.into_values().map(Gathered::finish).collect();
    rows.sort_by(|a, b| b.change.baseline.cmp(&a.change.baseline).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// A kernel while its runs come together.
struct Gathered {
    name: Arc<str>,
    time: Series,
    calls: Series,
    work: Option<[Vec<u128>; 2]>,
    spread: [Spread; 2],
    seen: [bool; 2],
}

impl Gathered {
    fn new(name: &Arc<str>, baseline: usize, new: usize) -> Self {
        Self {
            name: Arc::clone(name),
            time: Series::zeros(baseline, new),
            calls: Series::zeros(baseline, new),
            work: Some([vec![0; baseline], vec![0; new]]),
            spread: [Spread::default(); 2],
            seen: [false; 2],
        }
    }

    fn take(&mut self, at: usize, is_new: bool, kernel: &KernelRun) {
        let pick = |series: &mut Series, value: u64| {
            let values = if is_new { &mut series.new } else { &mut series.baseline };
            if let Some(slot) = values.get_mut(at) {
                *slot = value;
            }
        };
        pick(&mut self.time, kernel.total.0);
        pick(&mut self.calls, kernel.calls);
        let side = usize::from(is_new);
        if let Some(slot) =
            self.work.as_mut().and_then(|work| work.get_mut(side)).and_then(|work| work.get_mut(at))
        {
            *slot = kernel.work_items.unwrap_or_default();
        }
        if kernel.work_items.is_none() {
            self.work = None;
        }
        if let Some(spread) = self.spread.get_mut(side) {
            *spread = spread.pooled(kernel.spread);
        }
        if let Some(seen) = self.seen.get_mut(side) {
            *seen = true;
        }
    }

    fn finish(self) -> Row {
        let status = match self.seen {
            [true, false] => Status::Removed,
            [false, _] => Status::Added,
            [true, true] => Status::Changed,
        };
        let [baseline, new] = self.spread;
        Row {
            status,
            change: self.time.change(),
            call_change: self.calls.change(),
            per_call_pct: per_call(&self.time, &self.calls),
            was_hot: false,
            is_hot: false,
            significant: if status == Status::Changed { significant(baseline, new) } else { None },
            name: self.name,
            time: self.time,
            calls: self.calls,
            work: self.work,
        }
    }
}

/// Median of the pairwise changes of the mean call, percent.
fn per_call(time: &Series, calls: &Series) -> Option<f64> {
    let means = |time: &[u64], calls: &[u64]| -> Vec<f64> {
        time.iter()
            .zip(calls)
            .filter(|(_, calls)| **calls > 0)
            .map(|(time, calls)| float(wide(*time)) / float(wide(*calls)))
            .collect()
    };
    let (before, after) = (means(&time.baseline, &calls.baseline), means(&time.new, &calls.new));
    let mut changes: Vec<f64> = before
        .iter()
        .filter(|mean| **mean > 0.0)
        .flat_map(|a| after.iter().map(move |b| 100.0 * (b - a) / a))
        .collect();
    changes.sort_by(f64::total_cmp);
    median_of_sorted(&changes)
}

/// Whether two means lie further apart than twice the standard error of their difference.
fn significant(before: Spread, after: Spread) -> Option<bool> {
    let error = (before.error_squared()? + after.error_squared()?).sqrt();
    Some((after.mean - before.mean).abs() > thresholds::diff().significance_factor * error)
}

/// Kernels in the hot sets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HotSets {
    both: u64,
    either: u64,
}

impl HotSets {
    /// Size of the intersection ÷ size of the union.
    pub(super) fn jaccard(self) -> Option<f64> {
        (self.either > 0).then(|| float(wide(self.both)) / float(wide(self.either)))
    }
}

/// Marks the hot kernels of both sides.
pub(super) fn mark_hot(rows: &mut [Row], coverage_pct: f64) -> HotSets {
    for row_is_new in [false, true] {
        let amount = |row: &Row| if row_is_new { row.change.new } else { row.change.baseline };
        let mut order: Vec<(u64, usize)> = rows
            .iter()
            .enumerate()
            .map(|(at, row)| (amount(row), at))
            .filter(|(amount, _)| *amount > 0)
            .collect();
        let name = |at: usize| rows.get(at).map(|row| &row.name);
        order.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| name(a.1).cmp(&name(b.1))));
        let marks = hotspots::hot(order.iter().map(|(amount, _)| *amount), coverage_pct);
        for (&(_, at), mark) in order.iter().zip(marks) {
            if let Some(row) = rows.get_mut(at) {
                if row_is_new {
                    row.is_hot = mark.is_some();
                } else {
                    row.was_hot = mark.is_some();
                }
            }
        }
    }
    rows.iter().fold(HotSets::default(), |sets, row| HotSets {
        both: sets.both + u64::from(row.was_hot && row.is_hot),
        either: sets.either + u64::from(row.was_hot || row.is_hot),
    })
}

/// Sums per run over the kernels found on both sides.
pub(super) struct Totals {
    /// Time, ns.
    pub(super) time: Series,
    /// Calls.
    pub(super) calls: Series,
    /// Work-items per run of each side; `None` when those of a kernel are not known.
    pub(super) work: Option<[Vec<u128>; 2]>,
}

impl Totals {
    pub(super) fn of_common(rows: &[Row], baseline: usize, new: usize) -> Self {
        let mut totals = Self {
            time: Series::zeros(baseline, new),
            calls: Series::zeros(baseline, new),
            work: Some([vec![0; baseline], vec![0; new]]),
        };
        for row in rows.iter().filter(|row| row.status == Status::Changed) {
            totals.time.add(&row.time);
            totals.calls.add(&row.calls);
            match (&mut totals.work, &row.work) {
                (Some(sums), Some(work)) => {
                    for (sums, work) in sums.iter_mut().zip(work) {
                        sums.iter_mut().zip(work).for_each(|(sum, work)| *sum = sum.saturating_add(*work));
                    }
                }
                _ => totals.work = None,
            }
        }
        totals
    }
}

/// `(Σ mean_a·calls_b − Σ b) ÷ Σ b` over the kernels on both sides: the change had the new side made the same calls.
pub(super) fn normalized(rows: &[Row]) -> Option<f64> {
    let mut base = 0_i128;
    let mut scaled = 0.0;
    for row in rows.iter().filter(|row| row.status == Status::Changed && row.call_change.new > 0) {
        base += wide(row.change.baseline);
        scaled += float(wide(row.change.new)) / float(wide(row.call_change.new))
            * float(wide(row.call_change.baseline));
    }
    (base > 0).then(|| (scaled - float(base)) / float(base))
}

/// `exp(Σ w·ln(a ÷ b)) − 1` over the kernels on both sides with time on both, w = b ÷ Σ b of these kernels.
pub(super) fn geometric_mean(rows: &[Row]) -> Option<f64> {
    let common = || {
        rows.iter()
            .filter(|row| row.status == Status::Changed && row.change.baseline > 0 && row.change.new > 0)
    };
    let weight: i128 = common().map(|row| wide(row.change.baseline)).sum();
    let mean: f64 = common()
        .map(|row| {
            let (before, after) = (float(wide(row.change.baseline)), float(wide(row.change.new)));
            before / float(weight) * (after / before).ln()
        })
        .sum();
    (weight > 0).then(|| mean.exp() - 1.0)
}
