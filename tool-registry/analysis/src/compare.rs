//! Compares two sides of runs: what changed, whether the change can be believed, and what a gate makes of it.
//!
//! One engine for every surface. [`compare`] turns the [`Run`]s of both sides into a [`Comparison`]; [`verdict`] judges it by
//! elapsed time and by kernels, [`gate`] by the limits of a CI job, [`narrative`] puts it into sentences. With several runs
//! per side every amount is the median over the runs, and every percentage the median of the pairwise changes.

pub mod comparability;
pub mod gate;
pub mod interval;
pub mod narrative;
mod rename;
pub mod rows;
mod run;
mod series;
pub mod speed;
pub mod verdict;
mod words;

#[cfg(test)]
mod tests;

pub use comparability::{Code, Comparability, Effect, Issue};
pub use rename::possible_renames;
pub use rows::{Row, Status};
pub use run::{Counted, GpuCount, KernelRun, Run, Spread};
pub use series::{Change, Series};
pub use speed::TooFast;

use crate::compare::rows::Totals;

/// Shortens a kernel name for a sentence.
pub type Shorten<'a> = &'a dyn Fn(&str) -> String;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The runs compared against.
    Baseline,
    /// The runs compared.
    New,
}

impl Side {
    /// The word used on the wire.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::New => "new",
        }
    }

    /// The word used in sentences.
    #[must_use]
    pub const fn spoken(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::New => "candidate",
        }
    }
}

/// What a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share of kernel time the hot kernels cover, percent.
    pub hot_coverage_pct: f64,
    /// Kernels with at least this share of the baseline's kernel time are gated, percent; `None` without a kernel gate.
    pub gated_share_pct: Option<f64>,
    /// A changed set of kernels, or less work, does not block.
    pub allow_kernel_changes: bool,
    /// Different GPUs do not block.
    pub allow_different_gpu: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hot_coverage_pct: perfxpert_knowledge::thresholds::diff().hot_coverage_pct,
            gated_share_pct: None,
            allow_kernel_changes: false,
            allow_different_gpu: false,
        }
    }
}

/// Both sides laid beside each other.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Elapsed time of each run: first start to last end of its kernels and copies, per machine, the longest.
    pub wall: Series,
    /// Summed kernel time of each run.
    pub kernel_time: Series,
    /// Change of elapsed time.
    pub wall_change: Change,
    /// Change of summed kernel time.
    pub kernel_change: Change,
    /// Change of the summed time of the kernels found on both sides; `None` without any.
    pub common_change: Option<Change>,
    /// Dispatches of the kernels on both sides, new ÷ baseline; `None` without any.
    pub call_ratio: Option<f64>,
    /// Change of the common kernels' time when each had the baseline's number of calls, fraction.
    pub normalized: Option<f64>,
    /// Weighted geometric mean of the common kernels' ratios − 1, fraction; weights are baseline times.
    pub geomean: Option<f64>,
    /// Union of kernel names: by baseline time descending, then name bytewise.
    pub rows: Vec<Row>,
    /// Jaccard index of the hot sets of both sides; `None` when both are empty.
    pub hot_jaccard: Option<f64>,
    /// Whether the sides can be compared.
    pub comparability: Comparability,
    /// Kernels that move their bytes faster than memory allows; `None` when no bytes were counted.
    pub too_fast: Option<Vec<TooFast>>,
}

impl Comparison {
    /// Runs of the baseline and of the new side.
    #[must_use]
    pub fn runs(&self) -> (usize, usize) {
        (self.wall.baseline.len(), self.wall.new.len())
    }

    /// Whether the number of runs gives an interval.
    #[must_use]
    pub fn noise_known(&self) -> bool {
        let (baseline, new) = self.runs();
        interval::RankSum::new(baseline, new).is_some()
    }

    /// Whether a side had nothing to compare.
    #[must_use]
    pub fn has_empty_side(&self) -> bool {
        self.comparability
            .issues
            .iter()
            .any(|issue| matches!(issue.code, Code::EmptyBaseline | Code::EmptyCandidate))
    }

    /// Share of a kernel in its own side's summed kernel time, percent: the new side's for an added kernel.
    #[must_use]
    pub fn share_pct(&self, row: &Row) -> Option<f64> {
        let (part, whole) = match row.status {
            Status::Added => (row.change.new, self.kernel_change.new),
            Status::Changed | Status::Removed => (row.change.baseline, self.kernel_change.baseline),
        };
        series::percent_of(part, whole)
    }

    /// Cost of a kernel's change as a fraction of the baseline's summed kernel time.
    #[must_use]
    pub fn contribution_fraction(&self, row: &Row) -> Option<f64> {
        let whole = self.kernel_change.baseline;
        (whole > 0).then(|| series::float(row.change.delta_wide()) / series::float(series::wide(whole)))
    }

    /// Cost of a kernel's change in percent of the baseline's summed kernel time.
    #[must_use]
    pub fn contribution_pct(&self, row: &Row) -> Option<f64> {
        series::quotient(row.change.delta_wide(), self.kernel_change.baseline)
    }
}

/// Compares two sides; each holds at least one run. A run without GPU work may take part: it makes its side empty.
#[must_use]
pub fn compare(baseline: &[Run], new: &[Run], options: &Options) -> Comparison {
    let amounts = |of: fn(&Run) -> u64| Series {
        baseline: baseline.iter().map(of).collect(),
        new: new.iter().map(of).collect(),
    };
    let wall = amounts(|run| run.wall.0);
    let kernel_time = amounts(|run| run.kernel_sum.0);
    let mut rows = rows::union(baseline, new);
    let kernel_change = kernel_time.change();
    let hot = rows::mark_hot(&mut rows, options.hot_coverage_pct);
    let common = Totals::of_common(&rows, baseline.len(), new.len());
    let found = rows.iter().any(|row| row.status == Status::Changed);
    let too_fast = speed::too_fast(&rows, baseline, new, &kernel_change, options.gated_share_pct);
    let comparability =
        comparability::judge(baseline, new, &rows, &common, &kernel_time, too_fast.as_deref(), options);
    Comparison {
        wall_change: wall.change(),
        wall,
        kernel_change,
        kernel_time,
        common_change: found.then(|| common.time.change()),
        call_ratio: found.then(|| common.calls.ratio()).flatten(),
        normalized: rows::normalized(&rows),
        geomean: rows::geometric_mean(&rows),
        hot_jaccard: hot.jaccard(),
        rows,
        comparability,
        too_fast,
    }
}
