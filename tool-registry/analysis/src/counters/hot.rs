//! What the counters of the decisive kernels say to the classifier.

use perfxpert_knowledge::thresholds;

use super::{Metric, RunMetrics, count_of};
use crate::RunProfile;
use crate::hotspots::decisive;
use crate::roofline::{Plot, Regime, Roof};

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

/// Means of the decisive kernels of a run, weighted by their time in it. A metric that holds for less than the share of
/// their time that makes kernels decisive is not measured. `plot` is their roofline.
#[must_use]
pub fn hot(run: &RunProfile, metrics: &RunMetrics, plot: &Plot) -> HotCounters {
    let coverage = thresholds::verdict().hot_coverage;
    let kernels: Vec<_> =
        decisive(&run.kernels).map(|kernel| (kernel.total.as_f64(), metrics.kernel(&kernel.name))).collect();
    let whole: f64 = kernels.iter().map(|(time, _)| time).sum();
    let mean = |metric: Metric| {
        let known = kernels.iter().filter_map(|(time, kernel)| Some((*time, kernel.as_ref()?.get(metric)?)));
        let (time, sum) = known.fold((0.0, 0.0), |(time, sum), (own, value)| (time + own, sum + own * value));
        (time > 0.0 && time >= coverage * whole).then(|| sum / time)
    };
    let side = side(run, plot);
    HotCounters {
        valu: mean(Metric::Valu),
        mfma: mean(Metric::Mfma),
        hbm: mean(Metric::Hbm),
        occupancy: mean(Metric::Occupancy),
        waves_per_cu: mean(Metric::WavesPerCu),
        above_ridge: side.map(|side| side == Regime::Compute),
        below_ridge: side.map(|side| side == Regime::Memory),
    }
}

/// Side of the ridge of the decisive kernels' summed work; `None` when the sides of too many of them are unknown.
fn side(run: &RunProfile, plot: &Plot) -> Option<Regime> {
    let mut all = 0.0;
    let mut known = 0.0;
    let mut operations = 0.0;
    let mut bytes = 0.0;
    // Time at the peaks of the operations' formats and pipes.
    let mut at_peak = 0.0;
    let mut bandwidth = None;
    for kernel in decisive(&run.kernels) {
        all += kernel.total.as_f64();
        let Some(point) = plot.points.iter().find(|point| point.name == kernel.name) else { continue };
        let (Some(_), Some(roof)) = (point.class, point.roof) else { continue };
        known += kernel.total.as_f64();
        let calls = count_of(kernel.calls) / count_of(point.dispatches.max(1));
        operations += point.operations() * calls;
        bytes += count_of(point.bytes) * calls;
        at_peak += point.operations() * calls / roof.peak;
        bandwidth = Some(roof.bandwidth);
    }
    let roof = Roof { peak: operations / at_peak, bandwidth: bandwidth? };
    let measured = known >= thresholds::verdict().hot_coverage * all && bytes > 0.0 && at_peak > 0.0;
    measured.then(|| roof.regime(operations / bytes))
}
