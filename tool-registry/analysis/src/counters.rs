//! Values of hardware counters per kernel, and what follows from them.
//!
//! [`collect`] reads the counters of a trace once and keeps sums per kernel, kind of GPU, launch shape and set of counters
//! collected together. [`CounterProfile::absorb`] adds the counters of other runs of the same program. Everything else is a
//! function of the profile: [`kernel_metrics`], [`run_metrics`], [`hot`], [`health`] and the points of the roofline.

mod absorb;
mod collect;
mod evaluate;
mod finish;
mod health;
mod hot;
mod metrics;
mod replay;

use perfxpert_trace::Shape;

pub use absorb::{KernelTimes, Unmatched};
pub use collect::{collect, collect_dispatch};
pub use evaluate::{Absent, Measured, Reading};
pub(crate) use evaluate::{count as count_of, traffic};
pub use health::health;
pub use hot::{HotCounters, hot};
pub use metrics::{KernelMetrics, Metric, RunMetrics, Waves, kernel_metrics, run_metrics};

use crate::gpu::Gpu;
use crate::profile::Text;
use crate::units::Nanos;

/// Sums of one counter over dispatches. Values are per dispatch: instances added up, for clocks the largest instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Dispatches that carry it.
    pub dispatches: u64,
    /// Instance rows.
    pub rows: u64,
    /// Sum over the dispatches.
    pub sum: f64,
    /// Smallest value of a dispatch.
    pub min: f64,
    /// Largest value of a dispatch.
    pub max: f64,
    /// Sum over the dispatches of the largest instance.
    pub peak_sum: f64,
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.dispatches += other.dispatches;
        self.rows += other.rows;
        self.sum += other.sum;
        self.peak_sum += other.peak_sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Mean per dispatch; `None` without any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
        let count = self.dispatches as f64;
        (self.dispatches > 0).then(|| self.sum / count)
    }
}

/// Dispatches of one kernel on one kind of GPU with one launch shape that carry the same counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Position in [`CounterProfile::devices`].
    pub device: usize,
    /// Launch shape; `None` for the shapes beyond the limit, taken together.
    pub shape: Option<Shape>,
    /// Positions in [`CounterProfile::names`], ascending.
    pub set: Vec<usize>,
    /// Sums, one for each of `set`.
    pub cells: Vec<Cell>,
    /// Dispatches; one that was replayed for more counters counts once.
    pub dispatches: u64,
    /// Recorded runs of these dispatches.
    pub runs: u64,
    /// Summed durations: of a replayed dispatch the mean of its runs.
    pub time: Nanos,
    /// Whether some were replayed, so that not all counters come from the same run.
    pub replayed: bool,
    /// False where dispatches with different counters had to be taken together: then only means can be used.
    pub together: bool,
}

/// The counters of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelCounters {
    /// Cleaned name, whole.
    pub name: Text,
    /// Recorded runs that carry counters, usable or not.
    pub runs: u64,
    /// Their summed durations.
    pub time: Nanos,
    /// By device, shape and set.
    pub groups: Vec<Group>,
}

impl KernelCounters {
    /// Dispatches with usable counters; one that was replayed counts once.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        self.groups.iter().map(|group| group.dispatches).sum()
    }

    /// Sums over all dispatches that carry a counter, by position in [`CounterProfile::names`], ascending.
    #[must_use]
    pub fn totals(&self) -> Vec<(usize, Cell)> {
        totals(self.groups.iter())
    }
}

fn totals<'a>(groups: impl Iterator<Item = &'a Group>) -> Vec<(usize, Cell)> {
    let mut all: std::collections::BTreeMap<usize, Cell> = std::collections::BTreeMap::new();
    for (name, cell) in groups.flat_map(|group| group.set.iter().zip(&group.cells)) {
        all.entry(*name).and_modify(|sum| sum.add(cell)).or_insert(*cell);
    }
    all.into_iter().collect()
}

/// Dispatches whose counters cannot be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutAside {
    /// Counted more cycles than their duration holds at the highest clock.
    pub clock: u64,
    /// The first of them, each with both numbers; at most three.
    pub clock_examples: Vec<String>,
    /// Read 0 in a counter that no dispatch can read 0 in.
    pub zero: u64,
}

/// The counters of a run, aggregated.
#[derive(Clone, Debug, Default)]
pub struct CounterProfile {
    /// Counters with usable values, by name.
    pub names: Vec<Text>,
    /// Kinds of GPUs with counters: GPUs of the same product with as many compute units are one.
    pub devices: Vec<Gpu>,
    /// Kernels with counters, by name.
    pub kernels: Vec<KernelCounters>,
    /// Recorded runs of dispatches with counters, usable or not.
    pub runs: u64,
    /// Their summed durations.
    pub time: Nanos,
    /// Sets of counters that were collected together: passes over the program, or runs of a replayed dispatch.
    pub passes: u64,
    /// What was put aside.
    pub put_aside: PutAside,
    /// Counters that are 0 in every dispatch although no dispatch can read 0 in them; all counters when all are 0.
    pub zero_counters: Vec<Text>,
    /// Counters of other runs that belong to no kernel of this one.
    pub unmatched: Unmatched,
    /// Sets of counters recorded in one run, by position in `names`, each ascending.
    pass_sets: Vec<Vec<usize>>,
}

impl CounterProfile {
    /// Whether any counter can be used.
    #[must_use]
    pub fn usable(&self) -> bool {
        self.kernels.iter().any(|kernel| !kernel.groups.is_empty())
    }

    /// Why none can be used; `None` when some can.
    #[must_use]
    pub fn unusable_reason(&self) -> Option<&'static str> {
        match (self.usable(), self.runs) {
            (true, _) => None,
            (false, 0) => Some("the trace holds no counter values of dispatches"),
            (false, _) if !self.zero_counters.is_empty() => {
                Some("all counter values are 0: the GPU was clock-gated or the profiler lost the samples")
            }
            (false, _) => Some("no counter value of a dispatch can be used"),
        }
    }

    /// The counters of a kernel.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&KernelCounters> {
        let at = self.kernels.binary_search_by(|kernel| kernel.name.as_ref().cmp(name)).ok()?;
        self.kernels.get(at)
    }

    /// Position of a counter in `names`.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|known| known.as_ref().cmp(name)).ok()
    }

    /// Sums over all kernels, by position in `names`, ascending.
    #[must_use]
    pub fn totals(&self) -> Vec<(usize, Cell)> {
        totals(self.kernels.iter().flat_map(|kernel| &kernel.groups))
    }
}
