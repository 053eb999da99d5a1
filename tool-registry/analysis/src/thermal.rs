//! Did heat or power limits slow a GPU? Judged from samples alone.

use std::collections::BTreeMap;

use perfxpert_knowledge::thresholds;

use crate::smi::Sample;

/// Limits of the board.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Temperature limit, °C.
    pub tjmax_c: f64,
    /// Power limit, W; `None` = not known.
    pub tdp_w: Option<f64>,
}

/// Whether the GPU was slowed; the worst of several is the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It was not.
    Healthy,
    /// Nothing was seen that could tell.
    Unknown,
    /// It was close to it.
    Hot,
    /// It was.
    Throttling,
}

/// Which sensor the temperatures are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensor {
    /// Junction.
    Junction,
    /// Edge, which runs below the junction.
    Edge,
    /// None was seen.
    None,
}

/// What some samples say.
#[derive(Debug, Clone, PartialEq)]
pub struct Thermal {
    /// Whether the GPU was slowed.
    pub verdict: Verdict,
    /// The GPU reported throttling.
    pub reported: bool,
    /// A temperature came within the margin of the limit.
    pub heat: bool,
    /// Power reached its limit.
    pub power: bool,
    /// Sensor of the temperatures.
    pub sensor: Sensor,
    /// Temperatures, ascending.
    pub temperatures: Vec<f64>,
    /// Largest power, W.
    pub max_power_w: Option<f64>,
    /// Samples at the limit.
    pub events: usize,
}

impl Thermal {
    /// Largest temperature, °C.
    pub fn max_c(&self) -> Option<f64> {
        self.temperatures.last().copied()
    }

    /// Mean temperature, °C.
    pub fn mean_c(&self) -> Option<f64> {
        (!self.temperatures.is_empty())
            .then(|| self.temperatures.iter().sum::<f64>() / self.temperatures.len() as f64)
    }

    /// 95th percentile: the sorted value at round-half-even(0.95·(n − 1)).
    pub fn p95_c(&self) -> Option<f64> {
        let last = self.temperatures.len().checked_sub(1)?;
        let place = (thresholds::thermal().p95 * last as f64).round_ties_even();
        self.temperatures.get(place as usize).copied()
    }
}

fn sensor(samples: &[Sample]) -> Sensor {
    if samples.iter().any(|sample| sample.junction_c.is_some()) {
        Sensor::Junction
    } else if samples.iter().any(|sample| sample.edge_c.is_some()) {
        Sensor::Edge
    } else {
        Sensor::None
    }
}

/// Judges samples as those of one GPU.
pub fn judge(samples: &[Sample], limits: &Limits) -> Thermal {
    let facts = thresholds::thermal();
    let sensor = sensor(samples);
    let temperature = |sample: &Sample| match sensor {
        Sensor::Junction => sample.junction_c,
        Sensor::Edge => sample.edge_c,
        Sensor::None => None,
    };
    let limit = limits.tjmax_c - facts.throttle_margin_c;
    let at_limit = |sample: &Sample| temperature(sample).is_some_and(|celsius| celsius >= limit);
    let mut temperatures: Vec<f64> = samples.iter().filter_map(temperature).collect();
    temperatures.sort_by(f64::total_cmp);
    let max_power_w = samples.iter().filter_map(|sample| sample.power_w).max_by(f64::total_cmp);
    let reported = samples.iter().any(|sample| sample.throttled == Some(true));
    let status_seen = samples.iter().any(|sample| sample.throttled.is_some());
    let heat = samples.iter().any(at_limit);
    let power_judged = limits.tdp_w.zip(max_power_w);
    let power = power_judged.is_some_and(|(tdp, power)| power >= facts.power_ratio * tdp);
    let hot = temperatures.last().is_some_and(|max| *max >= limits.tjmax_c - facts.hot_margin_c);
    let verdict = if reported || heat || power {
        Verdict::Throttling
    } else if hot {
        Verdict::Hot
    } else if sensor != Sensor::None || power_judged.is_some() || status_seen {
        Verdict::Healthy
    } else {
        Verdict::Unknown
    };
    Thermal {
        verdict,
        reported,
        heat,
        power,
        sensor,
        temperatures,
        max_power_w,
        events: samples.iter().filter(|sample| at_limit(sample) || sample.throttled == Some(true)).count(),
    }
}

/// The samples of each GPU, by id.
pub fn by_gpu(samples: &[Sample]) -> BTreeMap<i64, Vec<Sample>> {
    let mut gpus: BTreeMap<i64, Vec<Sample>> = BTreeMap::new();
    for sample in samples {
        gpus.entry(sample.gpu_id).or_default().push(*sample);
    }
    gpus
}

/// Largest drop of a GPU's core clock while it was busy, percent: 100·(1 − min ÷ max). `None` with too few busy samples
/// on every GPU.
pub fn clock_drop_pct(gpus: &BTreeMap<i64, Vec<Sample>>) -> Option<f64> {
    let facts = thresholds::thermal();
    let drop = |samples: &Vec<Sample>| {
        let clocks: Vec<f64> = samples
            .iter()
            .filter(|sample| sample.busy_pct.is_some_and(|busy| busy >= facts.clock_busy_pct))
            .filter_map(|sample| sample.core_mhz)
            .collect();
        let slowest = clocks.iter().copied().min_by(f64::total_cmp)?;
        let fastest = clocks.iter().copied().max_by(f64::total_cmp).filter(|fastest| *fastest > 0.0)?;
        (clocks.len() as u64 >= facts.clock_min_samples).then(|| 100.0 * (1.0 - slowest / fastest))
    };
    gpus.values().filter_map(drop).max_by(f64::total_cmp)
}
