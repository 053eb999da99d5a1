//! Means per dispatch of the counters of one kernel, whatever passes they come from.

use std::collections::BTreeSet;

use perfxpert_knowledge::arch::Family;
use perfxpert_knowledge::formulas::{self, Formula};

use crate::counters::{Cell, CounterProfile, Group, count_of, traffic};
use crate::gpu::Gpu;
use crate::units::Nanos;

/// Bytes of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Known(f64),
    Unknown,
}

/// Bytes of one dispatch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bytes {
    pub(super) read: Side,
    pub(super) written: Side,
}

/// Counters of one kernel on one architecture, and which of them were used.
pub(super) struct Means<'a> {
    profile: &'a CounterProfile,
    groups: &'a [&'a Group],
    gpu: &'a Gpu,
    used: BTreeSet<usize>,
}

impl<'a> Means<'a> {
    pub(super) fn new(profile: &'a CounterProfile, groups: &'a [&'a Group], gpu: &'a Gpu) -> Self {
        Self { profile, groups, gpu, used: BTreeSet::new() }
    }

    pub(super) const fn gpu(&self) -> &Gpu {
        self.gpu
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = &Cell> {
        self.groups.iter().filter_map(move |group| group.cells.get(group.set.binary_search(&at).ok()?))
    }

    fn position(&self, name: &str) -> Option<usize> {
        let here = |at: &usize| self.cells(*at).next().is_some();
        self.profile
            .position(name)
            .filter(here)
            .or_else(|| self.profile.position(&format!("{name}_sum")).filter(here))
    }

    /// Mean over the dispatches that carry a counter, which is then used.
    pub(super) fn mean(&mut self, name: &str) -> Option<f64> {
        let at = self.position(name)?;
        self.used.insert(at);
        let (sum, dispatches) =
            self.cells(at).fold((0.0, 0), |(sum, count), cell| (sum + cell.sum, count + cell.dispatches));
        (dispatches > 0).then(|| sum / count_of(dispatches))
    }

    /// Operations of a kind, by the first formula of which any counter is there; absent ones of the same formula count
    /// nothing.
    pub(super) fn operations(&mut self, metric: &str) -> Option<f64> {
        let gfx = self.gpu.gfx_id.clone();
        for formula in formulas_of(metric, gfx.as_deref()) {
            let names = formula.counters();
            if names.iter().all(|name| self.position(name).is_none()) {
                continue;
            }
            let values: Vec<(&str, f64)> =
                names.iter().map(|name| (*name, self.mean(name).unwrap_or(0.0))).collect();
            let look = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            return formula.expression.evaluate(&look);
        }
        None
    }

    /// Bytes read and written.
    pub(super) fn bytes(&mut self) -> Bytes {
        Bytes { read: self.side("hbm_read_bytes"), written: self.side("hbm_write_bytes") }
    }

    fn side(&mut self, metric: &'static str) -> Side {
        let gfx = self.gpu.gfx_id.clone().unwrap_or_default();
        for formula in traffic(metric, &gfx) {
            let names = formula.counters();
            if names.iter().any(|name| self.position(name).is_none()) {
                continue;
            }
            let values: Vec<(&str, Option<f64>)> =
                names.iter().map(|name| (*name, self.mean(name))).collect();
            let look =
                |name: &str| values.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value);
            if let Some(bytes) = formula.expression.evaluate(&look) {
                return Side::Known(bytes);
            }
        }
        Side::Unknown
    }

    /// Lanes of a vector instruction: 64 on CDNA; on RDNA 32 unless most instructions are of waves of 64.
    pub(super) fn lanes(&mut self, family: Option<Family>) -> f64 {
        match family {
            Some(family) if family.is_cdna() => 64.0,
            Some(_) => {
                let wide = self.mean("SQ_WAVE64_INSTS").unwrap_or(0.0);
                let narrow = self.mean("SQ_WAVE32_INSTS").unwrap_or(0.0);
                if wide > narrow { 64.0 } else { 32.0 }
            }
            None => self.gpu.wave_size.map_or(64.0, f64::from),
        }
    }

    /// Whether every used counter is 0.
    pub(super) fn all_zero(&self) -> bool {
        !self.used.is_empty() && self.used.iter().all(|at| self.cells(*at).all(|cell| cell.sum == 0.0))
    }

    /// Dispatches: most that carry one of the used counters.
    pub(super) fn dispatches(&self) -> u64 {
        let counts = self.used.iter().map(|at| self.cells(*at).map(|cell| cell.dispatches).sum::<u64>());
        counts.max().unwrap_or_default()
    }

    /// Mean duration of the dispatches that carry any used counter, times [`Means::dispatches`].
    pub(super) fn time(&self) -> Nanos {
        let carries = |group: &&&Group| group.set.iter().any(|at| self.used.contains(at));
        let (time, dispatches) = self.groups.iter().filter(carries).fold((0_u128, 0_u128), |sum, group| {
            (sum.0 + u128::from(group.time.0), sum.1 + u128::from(group.dispatches))
        });
        let whole = time * u128::from(self.dispatches()) / dispatches.max(1);
        Nanos(u64::try_from(whole).unwrap_or(u64::MAX))
    }
}

/// Formulas of a metric: those of the architecture, else the first of any.
fn formulas_of(metric: &str, gfx: Option<&str>) -> Vec<&'static Formula> {
    let own = formulas::of(metric, gfx.unwrap_or_default());
    if own.is_empty() {
        return formulas::all().iter().filter(|formula| formula.row.metric == metric).take(1).collect();
    }
    own
}

/// Counters of the formulas of a metric.
pub(super) fn names_of(metric: &str, gfx: Option<&str>) -> Vec<&'static str> {
    formulas_of(metric, gfx).into_iter().flat_map(Formula::counters).collect()
}
