//! The rules: each looks at what a run showed and drafts advice, or stays silent.

mod copies;
mod hotspot;
mod limits;
mod machine;
mod shape;
mod thread_trace;
mod waiting;

use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::thresholds;

use super::bracket::bracket;
use super::draft::Draft;
use super::observed::{Observed, ObservedKernel};
use crate::occupancy::Limiter;
use crate::profile::KernelKind;

/// Drafts of every rule that fires, before preconditions and gains are weighed.
pub(super) fn all(run: &Observed) -> Vec<Draft> {
    let mut drafts = copies::drafts(run);
    drafts.extend(waiting::drafts(run));
    drafts.extend(machine::drafts(run));
    drafts.extend(hotspot::drafts(run));
    for kernel in hot(run) {
        drafts.extend(shape::drafts(kernel));
        drafts.extend(limits::drafts(run, kernel));
    }
    drafts.extend(thread_trace::drafts(run));
    drafts
}

/// Kernels that kernel rules look at, with most time first: those of the program with enough of the run.
pub(super) fn hot(run: &Observed) -> impl Iterator<Item = &ObservedKernel> {
    let least = thresholds::report().kernels_min_share_pct;
    run.kernels
        .iter()
        .filter(|kernel| kernel.kind == KernelKind::User)
        .filter(move |kernel| kernel.pct_of_runtime.is_some_and(|share| share >= least))
}

/// Share of the run, percent; 0 when not known.
fn share(kernel: &ObservedKernel) -> f64 {
    kernel.pct_of_runtime.unwrap_or(0.0)
}

/// Gain when the kernel gets `times` as fast, percent of the run.
fn gain(kernel: &ObservedKernel, times: f64) -> f64 {
    share(kernel) * (1.0 - 1.0 / times.max(1.0))
}

/// A comparison that holds, does not, or has nothing to look at.
fn judged(holds: Option<bool>) -> State {
    match holds {
        Some(true) => State::Met,
        Some(false) => State::NotMet,
        None => State::Unknown,
    }
}

/// A fraction in words: `HBM 11.0%`, `HBM not measured`.
fn measured(label: &str, value: Option<f64>) -> String {
    match value {
        Some(value) => format!("{label} {}%", super::text::fraction(value)),
        None => format!("{label} not measured"),
    }
}

/// How many waves fit now, of how many slots, and what would be the next step up; waves per SIMD.
pub(super) struct Waves {
    pub(super) now: u64,
    pub(super) max: u64,
    pub(super) pct: f64,
    pub(super) limiter: Limiter,
    pub(super) next: Option<u64>,
    /// Registers that reach the next step, when registers are the limit.
    pub(super) registers: Option<u64>,
}

pub(super) fn waves(kernel: &ObservedKernel) -> Option<Waves> {
    let resources = kernel.resources.as_ref()?;
    let fit = resources.occupancy.as_ref()?;
    let found = &fit.occupancy;
    let mut waves = Waves {
        now: found.waves,
        max: fit.max_waves,
        pct: crate::rounding::round(100.0 * found.fraction, 2),
        limiter: found.limiter,
        next: None,
        registers: None,
    };
    if let (Limiter::Vgpr, Some(unit)) = (found.limiter, &kernel.unit) {
        let step = unit.steps_up(&shape::usage(resources)).ok().and_then(|steps| steps.first().copied());
        waves.next = step.map(|step| step.waves);
        waves.registers = step.map(|step| step.registers);
    } else if let (Some(groups), Some(unit)) = (found.workgroups, &kernel.unit) {
        let mut fitting = groups.fitting;
        let slots = unit.max_waves * unit.simds;
        while waves.next.is_none() && (fitting + 1) * groups.waves <= slots {
            fitting += 1;
            let reached = fitting * groups.waves / unit.simds.max(1);
            waves.next = (reached > found.waves).then_some(reached);
        }
    }
    Some(waves)
}

/// Upper end of what more waves can bring, a speed-up of the kernel; 1 when no step is in reach.
#[expect(clippy::cast_precision_loss, reason = "a few waves")]
fn more_waves(waves: &Waves) -> f64 {
    let Some(next) = waves.next.filter(|_| waves.now > 0) else { return 1.0 };
    let inputs = |name: &str| match name {
        "waves_now" => Some(waves.now as f64),
        "waves_target" => Some(next as f64),
        _ => None,
    };
    bracket("vgpr_reduction", &inputs).map_or(1.0, |range| range.hi)
}

/// Upper end of what fewer bytes can bring, a speed-up of the kernel.
fn fewer_bytes(kernel: &ObservedKernel) -> f64 {
    let inputs = |name: &str| match name {
        // The model divides the ridge by the intensity: only their ratio matters.
        "arithmetic_intensity" => kernel.metrics.intensity_over_ridge.filter(|ratio| *ratio > 0.0),
        "ridge" => Some(1.0),
        _ => None,
    };
    bracket("lds_tiling", &inputs).map_or(1.0, |range| range.hi)
}

/// The word for what limits the waves.
fn limiter(limiter: Limiter) -> &'static str {
    match limiter {
        Limiter::Vgpr => "VGPR",
        Limiter::Sgpr => "SGPR",
        Limiter::Lds => "LDS",
        Limiter::Barrier => "barrier",
        Limiter::Workgroup => "workgroup",
        Limiter::None => "none",
    }
}
