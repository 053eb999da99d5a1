//! The derived metrics of a kernel and of a run.

use perfxpert_knowledge::formulas;

use super::evaluate::{Scope, count, traffic};
use super::{Absent, CounterProfile, KernelCounters, Measured, Reading};
use crate::profile::Text;
use crate::units::Nanos;

/// What can be derived from counters. Fractions unless said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Vector units busy, of the kernel's time.
    Valu,
    /// Matrix units busy, of the kernel's time.
    Mfma,
    /// Bytes read from memory, per dispatch.
    HbmRead,
    /// Bytes written to memory, per dispatch.
    HbmWritten,
    /// Memory bandwidth, bytes per second.
    HbmRate,
    /// Memory bandwidth, of its peak.
    Hbm,
    /// Hits of the vector L1, of its accesses.
    L1Hit,
    /// Hits of the L2, of its requests.
    L2Hit,
    /// Resident waves per compute unit, a count.
    WavesPerCu,
    /// Resident waves, of the wave slots.
    Occupancy,
    /// LDS bank conflicts, of the kernel's time (on RDNA of the LDS access cycles).
    LdsConflict,
    /// Active lanes, of the lanes of vector instructions.
    LaneEfficiency,
    /// Coalescing of vector memory accesses: 1 is ideal.
    Coalescing,
    /// Transcendental instructions, of vector instructions.
    Transcendental,
    /// Memory unit stalled, of the kernel's time.
    MemoryStalled,
}

impl Metric {
    /// All of them, in order.
    pub const ALL: [Self; 15] = [
        Self::Valu,
        Self::Mfma,
        Self::HbmRead,
        Self::HbmWritten,
        Self::HbmRate,
        Self::Hbm,
        Self::L1Hit,
        Self::L2Hit,
        Self::WavesPerCu,
        Self::Occupancy,
        Self::LdsConflict,
        Self::LaneEfficiency,
        Self::Coalescing,
        Self::Transcendental,
        Self::MemoryStalled,
    ];

    /// Name in messages, and of its formulas where it has its own.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valu => "valu_util",
            Self::Mfma => "mfma_util",
            Self::HbmRead => "hbm_read_bytes",
            Self::HbmWritten => "hbm_write_bytes",
            Self::HbmRate => "hbm_bandwidth",
            Self::Hbm => "hbm_util",
            Self::L1Hit => "l1_hit",
            Self::L2Hit => "l2_hit",
            Self::WavesPerCu => "waves_per_cu",
            Self::Occupancy => "occupancy",
            Self::LdsConflict => "lds_conflict",
            Self::LaneEfficiency => "lane_efficiency",
            Self::Coalescing => "coalescing",
            Self::Transcendental => "transcendental_share",
            Self::MemoryStalled => "memory_unit_stalled",
        }
    }
}

/// The derived metrics of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelMetrics {
    /// Cleaned name, whole.
    pub name: Text,
    /// Dispatches with usable counters.
    pub dispatches: u64,
    /// In the order of [`Metric::ALL`].
    values: Vec<Measured>,
    /// Matrix instructions per dispatch, where counted.
    pub matrix_instructions: Option<f64>,
}

impl KernelMetrics {
    /// A metric with what it rests on, or why it is not known.
    pub fn measured(&self, metric: Metric) -> &Measured {
        const NONE: &Measured = &Err(Absent::NoCounters);
        let at = Metric::ALL.iter().position(|known| *known == metric);
        at.and_then(|at| self.values.get(at)).unwrap_or(NONE)
    }

    /// A metric's value, when known.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.measured(metric).as_ref().ok().map(|reading| reading.value)
    }

    /// Bytes read and written per dispatch, when both are known.
    #[must_use]
    pub fn bytes_per_dispatch(&self) -> Option<f64> {
        Some(self.get(Metric::HbmRead)? + self.get(Metric::HbmWritten)?)
    }

    /// Whether any value combines counters of separate passes.
    #[must_use]
    pub fn combined_passes(&self) -> bool {
        self.values.iter().flatten().any(|reading| reading.combined_passes)
    }
}

/// Derived metrics of a kernel with counters. On several kinds of GPUs they are weighted by time.
#[must_use]
pub fn kernel_metrics(profile: &CounterProfile, kernel: &KernelCounters) -> KernelMetrics {
    let devices = 0..profile.devices.len();
    let parts: Vec<Vec<Measured>> = devices
        .filter_map(|device| Scope::new(profile, &kernel.groups, device))
        .map(|scope| of_device(&scope))
        .collect();
    let values = Metric::ALL
        .iter()
        .enumerate()
        .map(|(at, _)| weigh(parts.iter().filter_map(|values| values.get(at))))
        .collect();
    let matrix = profile.position("SQ_INSTS_MFMA");
    let totals = kernel.totals();
    KernelMetrics {
        name: Text::clone(&kernel.name),
        dispatches: kernel.dispatches(),
        values,
        matrix_instructions: totals
            .iter()
            .find(|(at, _)| Some(*at) == matrix)
            .and_then(|(_, cell)| cell.mean()),
    }
}

fn of_device(scope: &Scope<'_>) -> Vec<Measured> {
    let read = at_least_zero(scope.evaluate(&traffic("hbm_read_bytes", scope.gfx()), true));
    let written = at_least_zero(scope.evaluate(&traffic("hbm_write_bytes", scope.gfx()), true));
    let (rate, share) = bandwidth(scope, &read, &written);
    let waves = scope.evaluate(&formulas::of("waves_per_cu", scope.gfx()), false);
    let (waves, occupancy) = occupancy(scope, waves);
    Metric::ALL
        .iter()
        .map(|metric| match metric {
            Metric::HbmRead => read.clone(),
            Metric::HbmWritten => written.clone(),
            Metric::HbmRate => rate.clone(),
            Metric::Hbm => share.clone(),
            Metric::WavesPerCu => waves.clone(),
            Metric::Occupancy => occupancy.clone(),
            other => fraction(scope.evaluate(&formulas::of(other.name(), scope.gfx()), false)),
        })
        .collect()
}

/// Rounding of sums of doubles may lift a full unit slightly above 1.
const SLACK: f64 = 1e-9;

fn fraction(measured: Measured) -> Measured {
    let reading = at_least_zero(measured)?;
    if reading.value > 1.0 + SLACK {
        return Err(Absent::Implausible { value: reading.value, limit: 1.0 });
    }
    Ok(Reading { value: reading.value.min(1.0), ..reading })
}

fn at_least_zero(measured: Measured) -> Measured {
    let reading = measured?;
    if reading.value < 0.0 {
        return Err(Absent::Implausible { value: reading.value, limit: 0.0 });
    }
    Ok(reading)
}

/// Reads and writes are usually counted in runs of their own, so each is divided by the time of its own dispatches.
fn bandwidth(scope: &Scope<'_>, read: &Measured, written: &Measured) -> (Measured, Measured) {
    let rate = match (read, written) {
        (Ok(read), Ok(written)) => add_rates(scope, read, written),
        (Err(Absent::Missing(one)), Err(Absent::Missing(other))) => {
            Err(Absent::Missing(one.iter().chain(other).cloned().collect()))
        }
        (Err(absent), _) | (_, Err(absent)) => Err(absent.clone()),
    };
    let Ok(reading) = &rate else { return (rate.clone(), rate) };
    let Some(peak) = scope.gpu.hbm_peak else { return (rate, Err(Absent::NoPeak)) };
    if reading.value > peak.0 * (1.0 + SLACK) {
        let absent = Absent::Implausible { value: reading.value, limit: peak.0 };
        return (Err(absent.clone()), Err(absent));
    }
    let share = Reading { value: (reading.value / peak.0).min(1.0), ..reading.clone() };
    (rate, Ok(share))
}

fn add_rates(scope: &Scope<'_>, read: &Reading, written: &Reading) -> Measured {
    let rate = |part: &Reading| {
        let seconds = part.time.as_f64() / 1e9;
        (part.time > Nanos::ZERO).then(|| part.value * count(part.dispatches) / seconds)
    };
    let (Some(one), Some(other)) = (rate(read), rate(written)) else { return Err(Absent::Nothing) };
    let mut notes = read.notes.clone();
    notes.extend(written.notes.iter().filter(|note| !read.notes.contains(note)));
    let counters: Vec<&'static str> = read.counters.iter().chain(&written.counters).copied().collect();
    Ok(Reading {
        value: one + other,
        dispatches: read.dispatches.max(written.dispatches),
        time: read.time.max(written.time),
        combined_passes: read.combined_passes || written.combined_passes || !scope.one_pass(&counters),
        counters,
        notes,
    })
}

fn occupancy(scope: &Scope<'_>, waves: Measured) -> (Measured, Measured) {
    let waves = match at_least_zero(waves) {
        Ok(waves) => waves,
        Err(absent) => return (Err(absent.clone()), Err(absent)),
    };
    let Some(most) = scope.gpu.max_waves_per_cu.map(f64::from).filter(|most| *most > 0.0) else {
        return (Ok(waves), Err(Absent::NoPeak));
    };
    if waves.value > most * (1.0 + SLACK) {
        let absent = Absent::Implausible { value: waves.value, limit: most };
        return (Err(absent.clone()), Err(absent));
    }
    let share = Reading { value: (waves.value / most).min(1.0), ..waves.clone() };
    (Ok(waves), Ok(share))
}

/// Mean weighted by time. Without any value the most telling reason: an implausible value before a missing counter.
fn weigh<'a>(parts: impl Iterator<Item = &'a Measured>) -> Measured {
    let mut sum = 0.0;
    let mut weight = 0.0;
    let mut all: Option<Reading> = None;
    let mut why = Absent::NoCounters;
    for part in parts {
        match part {
            Ok(reading) => {
                let time = reading.time.as_f64().max(1.0);
                sum += reading.value * time;
                weight += time;
                match &mut all {
                    Some(all) => {
                        all.dispatches += reading.dispatches;
                        all.time += reading.time;
                        all.combined_passes |= reading.combined_passes;
                        let fresh: Vec<&str> =
                            reading.notes.iter().filter(|note| !all.notes.contains(note)).copied().collect();
                        all.notes.extend(fresh);
                    }
                    None => all = Some(reading.clone()),
                }
            }
            Err(absent) => {
                let telling = matches!(why, Absent::NoCounters | Absent::NoFormula)
                    || (matches!(absent, Absent::Implausible { .. })
                        && !matches!(why, Absent::Implausible { .. }));
                if telling {
                    why = absent.clone();
                }
            }
        }
    }
    match all {
        Some(reading) => Ok(Reading { value: sum / weight, ..reading }),
        None => Err(why),
    }
}

/// Resident waves per compute unit over the kernels of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waves {
    /// Mean weighted by time.
    pub mean: f64,
    /// Highest kernel.
    pub max: f64,
    /// Lowest kernel.
    pub min: f64,
}

/// The derived metrics of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMetrics {
    /// Metrics of each kernel, in the order of [`CounterProfile::kernels`].
    pub kernels: Vec<KernelMetrics>,
    /// Over all kernels, weighted by the time of the dispatches that have the counters; in the order of [`Metric::ALL`].
    values: Vec<Measured>,
    /// Resident waves; `None` without the counters.
    pub waves: Option<Waves>,
    /// Wave slots of a compute unit; `None` when the GPUs differ or are not known.
    pub max_waves_per_cu: Option<u32>,
    /// Waves launched by the dispatches that count them.
    pub waves_launched: Option<u64>,
}

impl RunMetrics {
    /// A metric with what it rests on, or why it is not known. Amounts per dispatch are means weighted by time.
    pub fn measured(&self, metric: Metric) -> &Measured {
        const NONE: &Measured = &Err(Absent::NoCounters);
        let at = Metric::ALL.iter().position(|known| *known == metric);
        at.and_then(|at| self.values.get(at)).unwrap_or(NONE)
    }

    /// A metric's value, when known.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.measured(metric).as_ref().ok().map(|reading| reading.value)
    }

    /// Metrics of a kernel.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&KernelMetrics> {
        let at = self.kernels.binary_search_by(|kernel| kernel.name.as_ref().cmp(name)).ok()?;
        self.kernels.get(at)
    }
}

/// Derived metrics of all kernels and of the run.
#[must_use]
pub fn run_metrics(profile: &CounterProfile) -> RunMetrics {
    let kernels: Vec<KernelMetrics> =
        profile.kernels.iter().map(|kernel| kernel_metrics(profile, kernel)).collect();
    let values: Vec<Measured> = Metric::ALL
        .iter()
        .map(|metric| weigh(kernels.iter().map(|kernel| kernel.measured(*metric))))
        .collect();
    let each: Vec<f64> = kernels.iter().filter_map(|kernel| kernel.get(Metric::WavesPerCu)).collect();
    let at = Metric::ALL.iter().position(|metric| *metric == Metric::WavesPerCu);
    let mean =
        at.and_then(|at| values.get(at)).and_then(|waves| waves.as_ref().ok()).map(|waves| waves.value);
    let waves = mean.map(|mean| Waves {
        mean,
        max: each.iter().copied().fold(mean, f64::max),
        min: each.iter().copied().fold(mean, f64::min),
    });
    let launched = profile
        .position("SQ_WAVES")
        .and_then(|at| profile.totals().into_iter().find(|(name, _)| *name == at).map(|(_, cell)| cell.sum));
    let mut slots: Vec<u32> = profile.devices.iter().filter_map(|gpu| gpu.max_waves_per_cu).collect();
    slots.dedup();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, not negative")]
    let waves_launched = launched.map(|sum| sum.round() as u64);
    RunMetrics {
        kernels,
        values,
        waves,
        max_waves_per_cu: if slots.len() == 1 { slots.first().copied() } else { None },
        waves_launched,
    }
}
