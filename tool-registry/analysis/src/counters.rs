//! Values of hardware counters per kernel, as the rest of the analysis uses them.

use perfxpert_trace::{CounterIdx, KernelIdx};

use crate::profile::Text;
use crate::units::{Bytes, Nanos};

/// One counter of one kernel. Values are per dispatch: instances summed, for clocks the largest instance.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterTotal {
    /// The counter.
    pub counter: CounterIdx,
    /// Its name.
    pub name: Text,
    /// Instance rows.
    pub rows: u64,
    /// Dispatches that carry it.
    pub dispatches: u64,
    /// Sum over these.
    pub sum: f64,
    /// Smallest value of a dispatch.
    pub min: f64,
    /// Largest value of a dispatch.
    pub max: f64,
}

impl CounterTotal {
    /// Mean per dispatch; `None` without any.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
        let count = self.dispatches as f64;
        (self.dispatches > 0).then(|| self.sum / count)
    }
}

/// All counters of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelCounters {
    /// The kernel.
    pub kernel: KernelIdx,
    /// Dispatches with any counter.
    pub dispatches: u64,
    /// Summed durations of these.
    pub time: Nanos,
    /// By counter name.
    pub counters: Vec<CounterTotal>,
    /// What follows from them.
    pub derived: Derived,
}

/// Values derived from counters; `None` when a counter of the formula is missing or the result cannot be true.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Derived {
    /// Vector units busy, fraction of the kernel's time.
    pub valu: Option<f64>,
    /// Matrix units busy, fraction of the kernel's time.
    pub mfma: Option<f64>,
    /// Bytes read from HBM.
    pub hbm_read: Option<Bytes>,
    /// Bytes written to HBM.
    pub hbm_written: Option<Bytes>,
    /// HBM bandwidth, fraction of peak.
    pub hbm: Option<f64>,
    /// L2 hits, fraction of requests.
    pub l2_hit: Option<f64>,
    /// Resident waves per compute unit.
    pub waves_per_cu: Option<f64>,
    /// Resident waves, fraction of wave slots.
    pub occupancy: Option<f64>,
    /// LDS bank conflicts, fraction of the kernel's time.
    pub lds_conflict: Option<f64>,
    /// Active lanes, fraction of the lanes of vector instructions.
    pub lane_efficiency: Option<f64>,
    /// Whether counters of several passes were combined.
    pub combined_passes: bool,
}

/// Counters of the kernels a verdict rests on, weighted by their time. Fractions; `None` is not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HotCounters {
    /// Vector units.
    pub valu: Option<f64>,
    /// Matrix units.
    pub mfma: Option<f64>,
    /// HBM bandwidth.
    pub hbm: Option<f64>,
    /// Resident waves, fraction of wave slots.
    pub occupancy: Option<f64>,
    /// Resident waves per compute unit, a count.
    pub waves_per_cu: Option<f64>,
    /// Their summed work lies above the ridge of the roofline.
    pub above_ridge: Option<bool>,
    /// Their summed work lies below it.
    pub below_ridge: Option<bool>,
}
