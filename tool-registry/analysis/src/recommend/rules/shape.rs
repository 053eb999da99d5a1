//! How a kernel is compiled and launched: waves that fit, scratch, workgroups, lanes.

use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::{rules, thresholds};
use perfxpert_source::Bound;

use super::super::draft::{Draft, Number};
use super::super::observed::ObservedKernel;
use super::super::text::{bytes, fill, fraction, pct};
use super::{Waves, gain, judged, limiter, measured, more_waves, share, waves};
use crate::occupancy::{Limiter, Unit, Use};
use crate::resources::Resources;
use crate::rounding::round;
use crate::words;

/// Most work-items of a workgroup; the compiler assumes it without launch bounds.
const MOST_THREADS: u64 = 1024;

pub(super) fn drafts(kernel: &ObservedKernel) -> Vec<Draft> {
    [occupancy(kernel), scratch(kernel), small_grid(kernel), partial_waves(kernel)]
        .into_iter()
        .flatten()
        .collect()
}

/// What a kernel takes, as the occupancy formula wants it.
pub(super) fn usage(resources: &Resources) -> Use {
    Use {
        vgprs: u64::from(resources.vgpr.unwrap_or(0)),
        agprs: u64::from(resources.accum_vgpr.unwrap_or(0)),
        sgprs: resources.sgpr.map(u64::from),
        lds_bytes: resources.lds.map_or(0, |bytes| bytes.0),
        workgroup_size: threads(resources),
    }
}

fn threads(resources: &Resources) -> Option<u64> {
    resources.block.map(|block| block.iter().map(|&size| u64::from(size)).product())
}

fn occupancy(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let resources = kernel.resources.as_ref()?;
    let waves = waves(kernel)?;
    if waves.pct > limits.occupancy_low_pct || waves.limiter == Limiter::None {
        return None;
    }
    let metrics = &kernel.metrics;
    let threads = threads(resources).unwrap_or(0);
    let name = limiter(waves.limiter);
    let (w, max, p) = (waves.now.to_string(), waves.max.to_string(), pct(waves.pct));
    let (vgpr, acc) =
        (resources.vgpr.unwrap_or(0).to_string(), resources.accum_vgpr.unwrap_or(0).to_string());
    let lds = bytes(resources.lds.map_or(0, |bytes| bytes.0));
    let t = threads.to_string();
    let values = [
        ("short", &*kernel.short),
        ("p", &p),
        ("limiter", name),
        ("w", &w),
        ("max", &max),
        ("vgpr", &vgpr),
        ("acc", &acc),
        ("lds", &lds),
        ("threads", &t),
    ];
    let hbm = metrics.hbm.map(|busy| busy < limits.hbm_high_ratio);
    let compute = match (metrics.valu, metrics.mfma) {
        (Some(valu), _) if valu >= limits.valu_high_ratio => Some(false),
        (_, Some(mfma)) if mfma >= limits.mfma_high_ratio => Some(false),
        (Some(_), Some(_)) => Some(true),
        _ => None,
    };
    let theoretical = waves.pct / 100.0;
    let resident =
        metrics.resident.filter(|held| *held >= limits.occupancy_latency_bound_ratio * theoretical);
    let mut draft = Draft::of("occupancy", &values)?
        .bounded(gain(kernel, more_waves(&waves)), "share of the run x (1 - 1 / speed-up of the next wave)")
        .on_kernel(kernel)
        .when("HBM below its limit", judged(hbm), measured("HBM", metrics.hbm))
        .when(
            "compute units below their limit",
            judged(compute),
            format!("{}, {}", measured("VALU", metrics.valu), measured("MFMA", metrics.mfma)),
        )
        .when(
            "latency-bound: resident waves reach what fits",
            judged(resident.map(|_| true)),
            measured("resident waves", metrics.resident),
        )
        .showing(
            Number::percent("occupancy", "theoretical_occupancy_pct", waves.pct, "kernels").at_most(
                limits.occupancy_low_pct,
                format!("{w} of {max} waves per SIMD fit, limited by {name}"),
            ),
        )
        .showing(share_item(kernel));
    let technique = if waves.limiter == Limiter::Vgpr { "vgpr_reduction" } else { "occupancy_tuning" };
    draft.actions = actions(kernel, resources, &waves, threads);
    Some(draft.with_technique(technique))
}

/// The kernel's share of the run, which every gain is part of.
pub(super) fn share_item(kernel: &ObservedKernel) -> super::super::entry::EvidenceItem {
    let share = share(kernel);
    Number::percent("kernel_share", "pct_of_runtime", share, "kernels").at_least(
        thresholds::report().kernels_min_share_pct,
        format!("'{}' runs for {} of the run", kernel.short, words::percent(share)),
    )
}

fn actions(kernel: &ObservedKernel, resources: &Resources, waves: &Waves, threads: u64) -> Vec<String> {
    let unit = kernel.unit.as_ref();
    let wave = unit.map_or(1, |unit| unit.wave_size);
    let lds = unit.zip(resources.occupancy.as_ref().and_then(|fit| fit.occupancy.workgroups)).map(
        |(unit, groups)| {
            unit.lds_bytes / (groups.fitting + 1) / unit.lds_granule.max(1) * unit.lds_granule.max(1)
        },
    );
    let block = match waves.limiter {
        // Barriers limit the number of workgroups: larger ones hold more waves each.
        Limiter::Barrier => (threads * 2).min(MOST_THREADS),
        _ => unit.map_or(threads, |unit| fitting_block(unit, threads)),
    };
    let next = waves.next.unwrap_or(waves.now + 1).to_string();
    let values = [
        ("threads", &*threads.to_string()),
        ("waves", &next),
        ("target", &waves.registers.map_or_else(|| "fewer".to_owned(), |registers| registers.to_string())),
        ("bytes", &lds.map_or_else(|| "what fits".to_owned(), bytes)),
        ("n", &block.max(wave).to_string()),
    ];
    rules::find("occupancy")
        .and_then(|rule| rule.actions_by.get(limiter(waves.limiter)))
        .map(|actions| actions.iter().map(|action| fill(action, &values)).collect())
        .unwrap_or_default()
}

/// Largest workgroup not larger than this whose waves divide the wave slots.
fn fitting_block(unit: &Unit, threads: u64) -> u64 {
    let slots = unit.max_waves * unit.simds;
    let waves = threads.div_ceil(unit.wave_size.max(1)).max(1);
    let fitting = (1..=waves).rev().find(|waves| slots.is_multiple_of(*waves)).unwrap_or(1);
    fitting * unit.wave_size
}

fn scratch(kernel: &ObservedKernel) -> Option<Draft> {
    let resources = kernel.resources.as_ref()?;
    let scratch = resources.scratch.filter(|scratch| scratch.0 > 0)?;
    let registers = resources.vgpr.map(u64::from)?;
    let total = registers + u64::from(resources.accum_vgpr.unwrap_or(0));
    let limit = kernel.unit.as_ref().map(|unit| register_limits(kernel, unit));
    let spilled = limit.as_ref().is_some_and(|limits| limits.contains(&total));
    let detail = match &limit {
        Some(limits) => format!(
            "{total} registers; the compiler's limit is {}",
            limits.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ")
        ),
        None => format!("{total} registers; the compiler's limit is not known"),
    };
    let (n, v) = (words::count(scratch.0), registers.to_string());
    let values = [("short", &*kernel.short), ("n", &n), ("v", &v)];
    Some(
        Draft::of("scratch", &values)?
            .unbounded("the trace does not say how much of the time is scratch traffic")
            .on_kernel(kernel)
            .when(
                "scratch comes from spilling, not from indexed local arrays",
                judged(spilled.then_some(true)),
                detail,
            )
            .showing(
                Number {
                    id: "scratch",
                    metric: "scratch_bytes",
                    unit: "bytes",
                    ..Number::count("", "", scratch.0, "kernels")
                }
                .above(0.0, format!("{n} bytes of scratch memory per work-item")),
            )
            .showing(share_item(kernel)),
    )
}

/// Register counts at which the compiler has to spill: by the kernel's launch bounds where the source shows them, else by
/// the workgroup the compiler assumes, or all that a work-item can address.
fn register_limits(kernel: &ObservedKernel, unit: &Unit) -> Vec<u64> {
    let most = if unit.vgprs > unit.addressable { unit.addressable * 2 } else { unit.addressable };
    let for_threads = |threads: u64, asked: u64| {
        let waves = threads.div_ceil(unit.wave_size.max(1)).div_ceil(unit.simds.max(1)).max(asked).max(1);
        (unit.vgprs / waves / unit.granule.max(1) * unit.granule.max(1)).min(most)
    };
    let value = |bound: &Bound| match bound {
        Bound::Value(value) => Some(*value),
        Bound::Expression(_) => None,
    };
    let bounds = kernel.launch_bounds.as_ref();
    if let Some(threads) = bounds.and_then(|bounds| value(&bounds.max_threads)) {
        let asked = bounds.and_then(|bounds| bounds.min_waves_per_simd.as_ref()).and_then(value);
        return vec![for_threads(threads, asked.unwrap_or(1))];
    }
    let mut limits = vec![for_threads(MOST_THREADS, 1), unit.addressable, most];
    limits.sort_unstable();
    limits.dedup();
    limits
}

fn small_grid(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let groups = kernel.resources.as_ref()?.workgroups?;
    let cus = u64::from(kernel.cu_count?);
    if groups >= cus || cus == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of workgroups and compute units")]
    let fill = groups as f64 / cus as f64;
    let beside = kernel.alone.map(|alone| 1.0 - alone);
    let (w, c) = (words::count(groups), words::count(cus));
    let values = [("short", &*kernel.short), ("w", &w), ("c", &c)];
    #[expect(clippy::cast_precision_loss, reason = "a threshold")]
    let full = cus as f64;
    Some(
        Draft::of("small_grid", &values)?
            .bounded(share(kernel) * (1.0 - fill), "share of the run x (1 - workgroups / compute units)")
            .on_kernel(kernel)
            .when(
                "other kernels run beside it for less than half of its time",
                judged(beside.map(|beside| beside < limits.grid_beside_share)),
                beside.map_or_else(
                    || "not known".to_owned(),
                    |beside| format!("{}% of its time", fraction(beside)),
                ),
            )
            .when("the problem can be split further", State::Unknown, "not visible in a trace")
            .showing(
                Number::count("workgroups", "workgroups", groups, "kernels")
                    .below(full, format!("{w} workgroups on {c} compute units")),
            )
            .showing(share_item(kernel)),
    )
}

fn partial_waves(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let threads = threads(kernel.resources.as_ref()?)?;
    let wave = u64::from(kernel.wave_size?);
    if threads == 0 || wave == 0 || threads.is_multiple_of(wave) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of lanes")]
    let idle = 1.0 - threads as f64 / (threads.div_ceil(wave) * wave) as f64;
    if idle < limits.wave_waste_min_ratio {
        return None;
    }
    let (t, w) = (threads.to_string(), wave.to_string());
    let values = [("short", &*kernel.short), ("i", &fraction(idle)), ("t", &t), ("w", &w), ("wave", &w)];
    Some(
        Draft::of("partial_waves", &values)?
            .bounded(share(kernel) * idle, "share of the run x idle lanes")
            .on_kernel(kernel)
            .showing(
                Number {
                    id: "idle_lanes",
                    metric: "idle_lanes",
                    value: round(idle, 4),
                    unit: "fraction",
                    source: "kernels",
                }
                .at_least(
                    limits.wave_waste_min_ratio,
                    format!(
                        "{t} threads per block leave {}% of the lanes of their waves idle",
                        fraction(idle)
                    ),
                ),
            )
            .showing(share_item(kernel)),
    )
}
