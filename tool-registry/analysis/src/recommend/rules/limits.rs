//! What counters say limits a kernel: bandwidth, caches, LDS, vector and matrix units, latency.

use perfxpert_knowledge::commands::{Target, thread_trace};
use perfxpert_knowledge::kernels::Category;
use perfxpert_knowledge::rules;
use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::thresholds;

use super::super::bracket::bracket;
use super::super::draft::{Collect, Draft, Number};
use super::super::entry::Priority;
use super::super::observed::{Observed, ObservedKernel};
use super::super::text::{fill, fraction, pct};
use super::shape::share_item;
use super::{fewer_bytes, gain, judged, measured, more_waves, share, waves};
use crate::occupancy::Limiter;

pub(super) fn drafts(run: &Observed, kernel: &ObservedKernel) -> Vec<Draft> {
    [
        bandwidth(run, kernel),
        l2(kernel),
        coalescing(kernel),
        lds(kernel),
        vector(kernel),
        matrix(kernel),
        latency(kernel),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn hbm_item(hbm: f64) -> Number {
    Number::fraction("hbm_ratio", "hbm_utilization", hbm)
}

fn bandwidth(run: &Observed, kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let metrics = &kernel.metrics;
    let hbm = metrics.hbm.filter(|hbm| *hbm >= limits.hbm_high_ratio)?;
    let rate =
        metrics.hbm_bandwidth.map_or_else(|| "unknown".to_owned(), |rate| format!("{:.2}", rate.gbps()));
    let (u, s) = (fraction(hbm), pct(share(kernel)));
    let values = [("short", &*kernel.short), ("u", &u), ("x", &rate), ("s", &s)];
    let poor_l2 = metrics.l2_hit.is_some_and(|hit| hit < limits.l2_low_ratio);
    let scattered = metrics.coalescing.is_some_and(|ratio| ratio < limits.coalesce_low_ratio);
    let fusable = run.pairs.iter().any(|pair| pair.names.contains(&kernel.name));
    let detail = format!(
        "{}, {}, {}",
        measured("L2 hits", metrics.l2_hit),
        measured("coalescing", metrics.coalescing),
        if fusable { "a fusion candidate" } else { "no fusion candidate" }
    );
    let tiling = matches!(kernel.category, Category::Gemm | Category::Conv);
    let times = fewer_bytes(kernel);
    let mut draft = Draft::of("hbm_bound", &values)?
        .bounded(gain(kernel, times), "share of the run x (1 - 1 / (ridge / intensity, capped))")
        .on_kernel(kernel)
        .when("bytes can be saved", judged((poor_l2 || scattered || fusable).then_some(true)), detail)
        .showing(hbm_item(hbm).at_least(limits.hbm_high_ratio, format!("HBM runs at {u}% of its peak")))
        .showing(share_item(kernel));
    if let Some(ratio) = metrics.intensity_over_ridge {
        draft = draft.showing(
            Number { unit: "ratio", ..Number::fraction("intensity", "intensity_over_ridge", ratio) }
                .context(format!("Its arithmetic intensity is {ratio:.2} of the ridge")),
        );
    }
    Some(draft.with_technique(if tiling { "lds_tiling" } else { "cache_blocking" }))
}

fn l2(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let hit = kernel.metrics.l2_hit.filter(|hit| *hit < limits.l2_low_ratio)?;
    let hbm = kernel.metrics.hbm.filter(|hbm| *hbm >= limits.l2_hbm_min_ratio)?;
    let (h, m, u) = (fraction(hit), fraction(1.0 - hit), fraction(hbm));
    let values = [("short", &*kernel.short), ("h", &h), ("m", &m), ("u", &u)];
    Some(
        Draft::of("l2_hit", &values)?
            .bounded(
                gain(kernel, fewer_bytes(kernel)),
                "share of the run x (1 - 1 / (ridge / intensity, capped))",
            )
            .on_kernel(kernel)
            .when("the working set can fit", State::Unknown, "not visible in a trace")
            .showing(
                Number::fraction("l2_hit", "l2_hit_rate", hit)
                    .below(limits.l2_low_ratio, format!("{h}% of L2 requests hit")),
            )
            .showing(hbm_item(hbm).at_least(limits.l2_hbm_min_ratio, format!("HBM runs at {u}% of its peak")))
            .showing(share_item(kernel)),
    )
}

fn coalescing(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let metrics = &kernel.metrics;
    let ratio = metrics.coalescing.filter(|ratio| *ratio < limits.coalesce_low_ratio)?;
    let busy = metrics.hbm.map(|hbm| hbm >= limits.l2_hbm_min_ratio);
    let lines = metrics.lines_per_access.map(|lines| lines >= limits.coalesce_lines_per_access);
    let matters = match (busy, lines) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    let detail = match metrics.lines_per_access {
        Some(lines) => format!("{}, {lines:.2} cache lines per wave access", measured("HBM", metrics.hbm)),
        None => format!("{}, cache lines per wave access not measured", measured("HBM", metrics.hbm)),
    };
    let c = fraction(ratio);
    Some(
        Draft::of("coalescing", &[("short", &*kernel.short), ("c", &c)])?
            .bounded(
                share(kernel) * (1.0 - ratio.max(limits.coalesce_floor_ratio)),
                "share of the run x (1 - coalescing)",
            )
            .on_kernel(kernel)
            .when("memory traffic matters", judged(matters), detail)
            .showing(
                Number::fraction("coalescing", "coalescing", ratio)
                    .below(limits.coalesce_low_ratio, format!("Accesses reach {c}% of ideal coalescing")),
            )
            .showing(share_item(kernel)),
    )
}

fn lds(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let conflict = kernel.metrics.lds_conflict?;
    let lost = crate::rounding::round(100.0 * conflict, 2);
    if lost < limits.lds_stall_min_pct {
        return None;
    }
    Some(
        Draft::of("lds_conflict", &[("short", &*kernel.short), ("L", &pct(lost))])?
            .bounded(share(kernel) * conflict, "share of the run x time in LDS bank conflicts")
            .on_kernel(kernel)
            .showing(Number::percent("lds_conflict", "lds_conflict_pct", lost, "counters").at_least(
                limits.lds_stall_min_pct,
                format!("LDS bank conflicts take {}% of its time", pct(lost)),
            ))
            .showing(share_item(kernel)),
    )
}

fn vector(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let metrics = &kernel.metrics;
    let valu = metrics.valu.filter(|valu| *valu >= limits.valu_high_ratio)?;
    let hbm = metrics.hbm.filter(|hbm| *hbm < limits.hbm_high_ratio)?;
    let waves = waves(kernel);
    let by_registers = waves.as_ref().filter(|waves| waves.limiter == Limiter::Vgpr);
    let registers = kernel.resources.as_ref().and_then(|found| found.vgpr).map_or(0, u64::from);
    let fewer = by_registers.filter(|waves| {
        registers > limits.compute_many_vgprs && waves.now <= limits.compute_few_waves && waves.next.is_some()
    });
    let idle = metrics.lane_efficiency.filter(|active| *active < limits.compute_lane_low_ratio);
    let low = by_registers.is_some_and(|waves| waves.pct <= limits.occupancy_low_pct);
    let (p, v, u) = (pct(kernel.pct_of_total.unwrap_or(0.0)), fraction(valu), fraction(hbm));
    let values = [("short", &*kernel.short), ("p", &p), ("v", &v), ("u", &u)];
    let detail = format!(
        "{}, {}",
        measured("active lanes", metrics.lane_efficiency),
        waves.as_ref().map_or_else(
            || "occupancy not known".to_owned(),
            |waves| format!("occupancy {}% limited by {}", pct(waves.pct), super::limiter(waves.limiter))
        )
    );
    let mut draft = Draft::of("valu_bound", &values)?
        .on_kernel(kernel)
        .when("there is something to win", judged((idle.is_some() || low).then_some(true)), detail)
        .showing(
            Number::fraction("valu_busy", "valu_utilization", valu)
                .at_least(limits.valu_high_ratio, format!("Vector units are busy {v}% of its time")),
        )
        .showing(hbm_item(hbm).below(limits.hbm_high_ratio, format!("HBM runs at {u}% of its peak")))
        .showing(share_item(kernel));
    if let Some(active) = idle {
        draft.issue.push_str(&format!(" {}% of the lanes are idle.", fraction(1.0 - active)));
    }
    if let Some(waves) = fewer {
        if let Some(text) =
            rules::find("valu_bound").and_then(|rule| rule.suggestion_by.get("vgpr_reduction"))
        {
            draft.suggestion = fill(text, &values);
        }
        let basis = "share of the run x (1 - 1 / speed-up of the next wave)";
        return Some(draft.bounded(gain(kernel, more_waves(waves)), basis).with_technique("vgpr_reduction"));
    }
    draft.fixed = Some(Priority::Medium);
    Some(
        draft
            .unbounded("the trace does not say how much vector work can go")
            .with_technique("reduce_valu_work"),
    )
}

fn matrix(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let metrics = &kernel.metrics;
    let fits = matches!(kernel.category, Category::Gemm | Category::Conv)
        && metrics.matrix_instructions.is_some_and(|count| count <= 0.0)
        && kernel.matrix_pipe.is_some_and(|pipe| pipe != "none");
    let valu = metrics.valu.filter(|valu| fits && *valu >= limits.matrix_valu_min_ratio)?;
    let inputs = |name: &str| match name {
        "matrix_peak" => metrics.matrix_ratio,
        "vector_peak" => Some(1.0),
        _ => None,
    };
    let times = bracket("mfma_enablement", &inputs).map_or(1.0, |range| range.hi);
    let v = fraction(valu);
    let category = kernel.category.as_str();
    let dtype = metrics.dtype.as_deref().unwrap_or("not measured");
    Some(
        Draft::of("mfma_unused", &[("short", &*kernel.short), ("category", category), ("v", &v)])?
            .bounded(gain(kernel, times), "share of the run x (1 - 1 / (matrix peak / vector peak, capped))")
            .on_kernel(kernel)
            .when(
                "its data type has a matrix form on this GPU",
                judged(metrics.matrix_dtype),
                format!("data type {dtype}"),
            )
            .when("its shape is a multiple of 16", State::Unknown, "not visible in a trace")
            .showing(
                Number::fraction("valu_busy", "valu_utilization", valu).at_least(
                    limits.matrix_valu_min_ratio,
                    format!("Vector units are busy {v}% of its time"),
                ),
            )
            .showing(
                Number {
                    unit: "count",
                    ..Number::fraction("matrix_instructions", "matrix_instructions", 0.0)
                }
                .equal(0.0, "It issues no matrix instruction".to_owned()),
            )
            .showing(share_item(kernel)),
    )
}

fn latency(kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    let metrics = &kernel.metrics;
    let valu = metrics.valu.filter(|busy| *busy < limits.under_valu_ratio)?;
    let mfma = metrics.mfma.filter(|busy| *busy < limits.under_mfma_ratio)?;
    let hbm = metrics.hbm.filter(|busy| *busy < limits.under_hbm_ratio)?;
    let waves = waves(kernel).filter(|waves| waves.pct > limits.occupancy_low_pct)?;
    let (v, m, u) = (fraction(valu), fraction(mfma), fraction(hbm));
    let mut draft =
        Draft::of("kernel_latency", &[("short", &*kernel.short), ("v", &v), ("m", &m), ("u", &u)])?
            .unbounded("the counters do not say how much of the waiting can go")
            .on_kernel(kernel)
            .showing(
                Number::fraction("valu_busy", "valu_utilization", valu)
                    .below(limits.under_valu_ratio, format!("Vector units are busy {v}% of its time")),
            )
            .showing(
                Number::fraction("mfma_busy", "mfma_utilization", mfma)
                    .below(limits.under_mfma_ratio, format!("Matrix units are busy {m}% of its time")),
            )
            .showing(hbm_item(hbm).below(limits.under_hbm_ratio, format!("HBM runs at {u}% of its peak")))
            .showing(Number::percent("occupancy", "theoretical_occupancy_pct", waves.pct, "kernels").above(
                limits.occupancy_low_pct,
                format!("{} of {} waves per SIMD fit", waves.now, waves.max),
            ))
            .showing(share_item(kernel));
    let target = Target { app: "./your_app", out: "./profile_out_att", kernel: Some(&kernel.name) };
    draft.collect = Collect::Before(vec![("Thread trace of this kernel".to_owned(), thread_trace(&target))]);
    Some(draft)
}
