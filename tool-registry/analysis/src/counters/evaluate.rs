//! Evaluates a formula of the facts over the dispatches of one kernel on one kind of GPU.

use std::collections::BTreeMap;

use perfxpert_knowledge::formulas::{self, CONSTANTS, Formula};
use perfxpert_trace::Shape;

use super::{Cell, CounterProfile, Group};
use crate::gpu::Gpu;
use crate::units::Nanos;

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The number: fractions 0 to 1, bytes per dispatch, bytes per second, waves.
    pub value: f64,
    /// Dispatches it rests on.
    pub dispatches: u64,
    /// Their summed durations: the weight of the value.
    pub time: Nanos,
    /// Counters of separate passes were combined by their means per dispatch.
    pub combined_passes: bool,
    /// Counters it is computed from.
    pub counters: Vec<&'static str>,
    /// What to say beside it.
    pub notes: Vec<&'static str>,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// The kernel has no counters.
    NoCounters,
    /// The architecture has no such counters, or is not known.
    NoFormula,
    /// Counters that were not collected.
    Missing(Vec<String>),
    /// The counters were collected for different launch shapes or GPUs, which cannot be combined.
    Apart,
    /// The counters saw nothing.
    Nothing,
    /// The facts do not say how large this GPU is, or what its peak is.
    NoPeak,
    /// The result cannot be true: the value and the limit it breaks.
    Implausible {
        /// What the counters give.
        value: f64,
        /// The most (or least) it could be.
        limit: f64,
    },
}

impl Absent {
    /// The reason in words.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::NoCounters => "no counters were collected for it".to_owned(),
            Self::NoFormula => "this GPU has no counters for it that are known".to_owned(),
            Self::Missing(names) => format!("{} not collected", names.join(", ")),
            Self::Apart => "its counters were collected for different launch shapes".to_owned(),
            Self::Nothing => "the counters it divides by are 0".to_owned(),
            Self::NoPeak => "the size or the peak of this GPU is not known".to_owned(),
            Self::Implausible { value, limit } => {
                format!("the counters give {value:.4e} where {limit:.4e} is the limit")
            }
        }
    }
}

/// A value or why there is none.
pub type Measured = Result<Reading, Absent>;

/// Groups of one kernel on one device.
pub(super) struct Scope<'a> {
    pub(super) profile: &'a CounterProfile,
    pub(super) gpu: &'a Gpu,
    pub(super) groups: Vec<&'a Group>,
}

/// Sums of counters over the same dispatches.
pub(super) struct Sums {
    pub(super) values: BTreeMap<String, f64>,
    pub(super) dispatches: f64,
    pub(super) time: Nanos,
    pub(super) combined: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn new(profile: &'a CounterProfile, groups: &'a [Group], device: usize) -> Option<Self> {
        let gpu = profile.devices.get(device)?;
        let groups: Vec<&Group> = groups.iter().filter(|group| group.device == device).collect();
        (!groups.is_empty()).then_some(Self { profile, gpu, groups })
    }

    /// The architecture formulas are looked up under.
    pub(super) fn gfx(&self) -> &str {
        self.gpu.gfx_id.as_deref().unwrap_or_default()
    }

    /// Sum and dispatches of a counter in a group: by its name, with `_sum`, or for `X_max` the largest instance of `X`.
    fn cell(&self, group: &Group, name: &str) -> Option<(f64, u64)> {
        let exact = |name: &str| -> Option<&Cell> {
            let at = group.set.binary_search(&self.profile.position(name)?).ok()?;
            group.cells.get(at)
        };
        let whole = |cell: &Cell| (cell.sum, cell.dispatches);
        if name == "CYCLES" {
            return ["GRBM_GUI_ACTIVE", "GRBM_COUNT"].into_iter().find_map(exact).map(whole);
        }
        exact(name).map(whole).or_else(|| exact(&format!("{name}_sum")).map(whole)).or_else(|| {
            let cell = exact(name.strip_suffix("_max")?)?;
            (cell.rows > cell.dispatches).then_some((cell.peak_sum, cell.dispatches))
        })
    }

    fn constant(&self, name: &str) -> Option<f64> {
        let simds = || self.gpu.arch.map(|arch| arch.simds_per_cu);
        match name {
            "CUS" => self.gpu.cu_count.map(f64::from),
            "SIMDS" => Some(f64::from(self.gpu.cu_count?) * f64::from(simds()?)),
            "SES" => self.gpu.shader_engines.map(f64::from),
            "MAX_WAVES_PER_CU" => self.gpu.max_waves_per_cu.map(f64::from),
            _ => None,
        }
    }

    /// Sums of counters over the dispatches that carry all of them. When none does, means per dispatch of each launch
    /// shape are put together.
    pub(super) fn sums(&self, names: &[&str]) -> Result<Sums, Absent> {
        self.complete(names).map_or_else(|| self.combine(names), Ok)
    }

    fn complete(&self, names: &[&str]) -> Option<Sums> {
        let mut sums = Sums { values: BTreeMap::new(), dispatches: 0.0, time: Nanos::ZERO, combined: false };
        let mut found = false;
        for group in self.groups.iter().filter(|group| group.together) {
            let Some(values) =
                names.iter().map(|name| self.cell(group, name)).collect::<Option<Vec<(f64, u64)>>>()
            else {
                continue;
            };
            found = true;
            for (name, (value, _)) in names.iter().zip(values) {
                *sums.values.entry((*name).to_owned()).or_default() += value;
            }
            sums.dispatches += count(group.dispatches);
            sums.time += group.time;
            sums.combined |= group.replayed && !self.one_pass(names);
        }
        found.then_some(sums)
    }

    /// Whether some run recorded all of the counters.
    pub(super) fn one_pass(&self, names: &[&str]) -> bool {
        let has = |set: &Vec<usize>, name: &str| {
            let plain =
                |name: &str| self.profile.position(name).is_some_and(|at| set.binary_search(&at).is_ok());
            match name {
                "CYCLES" => plain("GRBM_GUI_ACTIVE") || plain("GRBM_COUNT"),
                _ => {
                    plain(name)
                        || plain(&format!("{name}_sum"))
                        || name.strip_suffix("_max").is_some_and(plain)
                }
            }
        };
        self.profile.pass_sets.iter().any(|set| names.iter().all(|name| has(set, name)))
    }

    fn combine(&self, names: &[&str]) -> Result<Sums, Absent> {
        let mut shapes: BTreeMap<Option<Shape>, Vec<&Group>> = BTreeMap::new();
        for group in &self.groups {
            shapes.entry(group.shape).or_default().push(group);
        }
        let mut missing: Vec<String> = names
            .iter()
            .filter(|name| self.groups.iter().all(|group| self.cell(group, name).is_none()))
            .map(|name| (*name).to_owned())
            .collect();
        if !missing.is_empty() {
            for name in &mut missing {
                if name == "CYCLES" {
                    "GRBM_GUI_ACTIVE".clone_into(name);
                }
            }
            return Err(Absent::Missing(missing));
        }
        let mut sums = Sums { values: BTreeMap::new(), dispatches: 0.0, time: Nanos::ZERO, combined: true };
        for groups in shapes.values() {
            let per_name: Vec<(f64, u64)> = names
                .iter()
                .map(|name| {
                    let cells = groups.iter().filter_map(|group| self.cell(group, name));
                    cells.fold((0.0, 0), |(sum, count), (value, more)| (sum + value, count + more))
                })
                .collect();
            if per_name.iter().any(|(_, dispatches)| *dispatches == 0) {
                continue;
            }
            let weight = per_name.iter().map(|(_, dispatches)| *dispatches).max().unwrap_or_default();
            let used =
                groups.iter().filter(|group| names.iter().any(|name| self.cell(group, name).is_some()));
            let (time, dispatches) = used.fold((0_u128, 0_u128), |(time, dispatches), group| {
                (time + u128::from(group.time.0), dispatches + u128::from(group.dispatches))
            });
            let share = time * u128::from(weight) / dispatches.max(1);
            sums.time += Nanos(u64::try_from(share).unwrap_or(u64::MAX));
            sums.dispatches += count(weight);
            for (name, (sum, dispatches)) in names.iter().zip(per_name) {
                *sums.values.entry((*name).to_owned()).or_default() +=
                    sum / count(dispatches) * count(weight);
            }
        }
        if sums.dispatches > 0.0 { Ok(sums) } else { Err(Absent::Apart) }
    }

    /// A metric by the first formula whose counters are there; `per_dispatch` for amounts. What the preferred formula
    /// lacks when none can be used.
    pub(super) fn evaluate(&self, formulas: &[&'static Formula], per_dispatch: bool) -> Measured {
        let mut why = Absent::NoFormula;
        for formula in formulas {
            match self.formula(formula, per_dispatch) {
                Err(absent) if matches!(why, Absent::NoFormula) => why = absent,
                Err(Absent::Missing(_) | Absent::Apart) => {}
                other => return other,
            }
        }
        Err(why)
    }

    fn formula(&self, formula: &'static Formula, per_dispatch: bool) -> Measured {
        let all = formula.expression.names();
        let mut names: Vec<&str> = formula.counters();
        if all.contains(&"CYCLES") {
            names.push("CYCLES");
        }
        let sums = self.sums(&names)?;
        if all
            .iter()
            .any(|name| CONSTANTS.contains(name) && *name != "CYCLES" && self.constant(name).is_none())
        {
            return Err(Absent::NoPeak);
        }
        let look = |name: &str| sums.values.get(name).copied().or_else(|| self.constant(name));
        let value = formula.expression.evaluate(&look).ok_or(Absent::Nothing)?;
        let mut notes: Vec<&'static str> = formula.row.note.as_deref().into_iter().collect();
        for name in formula.counters() {
            let gfx = Some(self.gfx());
            let own = perfxpert_knowledge::counters::caveats(name, gfx);
            // General caveats explain a counter; those of the architecture doubt its value.
            let general = perfxpert_knowledge::counters::caveats(name, None);
            notes.extend(own.into_iter().filter(|text| !general.contains(text)));
        }
        Ok(Reading {
            value: if per_dispatch { value / sums.dispatches } else { value },
            dispatches: round_count(sums.dispatches),
            time: sums.time,
            combined_passes: sums.combined,
            counters: formula.counters(),
            notes,
        })
    }
}

/// Formulas of traffic to memory (`hbm_read_bytes`, `hbm_write_bytes`), preferred ones first. The profiler's own
/// `FETCH_SIZE` and `WRITE_SIZE` come first, because they come from one pass, except where a fact doubts them; they are
/// KiB on every architecture, known or not.
pub(crate) fn traffic(metric: &'static str, gfx: &str) -> Vec<&'static Formula> {
    let mut formulas = formulas::of(metric, gfx);
    let size = |formula: &&'static Formula| formula.counters().len() == 1;
    if formulas.is_empty() {
        let known = formulas::all().iter().filter(|formula| formula.row.metric == metric);
        formulas = known.filter(size).filter(|formula| formula.row.note.is_none()).take(1).collect();
    }
    formulas.sort_by_key(|formula| u8::from(!(size(formula) && formula.row.note.is_none())));
    formulas
}

pub(crate) fn count(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    let count = count as f64;
    count
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of counts, not negative and below 2^53"
)]
fn round_count(count: f64) -> u64 {
    count.round() as u64
}
