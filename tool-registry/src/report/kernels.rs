//! Kernels: hotspots, resources, categories, short ones and slow first calls.

use std::collections::BTreeMap;

use perfxpert_analysis::hotspots::Heat;
use perfxpert_analysis::naming::{short_name, slug};
use perfxpert_analysis::profile::{KernelPair, KernelProfile, PairGaps};
use perfxpert_analysis::resources;
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::Nanos;
use perfxpert_knowledge::kernels::Category;
use perfxpert_knowledge::{fusion, thresholds};
use perfxpert_schemas::report::hardware::{KernelResourceRow, KernelResources, OccupancyRow};
use perfxpert_schemas::report::kernels::{
    CategoryRow, FusionCandidate, Hotspot, KernelCategories, LaunchBounds, ShortKernels, WarmupIssues,
    WarmupOutlier,
};

use super::measured::{Measured, extent, one_decimal, percent, whole};

/// Fusion candidates of a full report.
const CANDIDATES: usize = 20;

pub(super) fn hotspots(measured: &Measured<'_>) -> Vec<Hotspot> {
    measured.hotspots().iter().zip(1..).map(|(kernel, rank)| hotspot(measured, kernel, rank)).collect()
}

fn hotspot(measured: &Measured<'_>, kernel: &KernelProfile, rank: u64) -> Hotspot {
    let profile = &measured.run.profile;
    let times = &kernel.durations;
    let share = percent(times.total, profile.kernel_sum());
    let mean = one_decimal(times.mean());
    let names = measured.run.trace.kernel(kernel.kernel);
    let shown = names.as_ref().map_or_else(|| kernel.name.to_string(), |names| names.name.to_string());
    let full_name = names.map(|names| names.full_name.to_string()).filter(|full| *full != shown);
    let resources = resources::of_kernel(&measured.run.trace, &measured.gpus, kernel);
    let busy = kernel.alone.fraction_of(profile.kernel_busy());
    Hotspot {
        rank,
        short_name: short_name(&shown),
        slug: slug(full_name.as_deref().unwrap_or(&shown)),
        name: shown,
        calls: times.count,
        total_duration_ns: times.total.0,
        avg_duration_ns: mean,
        min_duration_ns: times.min.0,
        max_duration_ns: times.max.0,
        median_duration_ns: whole(times.median),
        p95_duration_ns: times.p95.0,
        stddev_ns: one_decimal(times.stddev),
        pct_of_total: share,
        pct_of_runtime: measured.of_run(kernel.busy),
        severity: Heat::of(times.total, profile.kernel_sum()).label().to_owned(),
        category: kernel.category.as_str().to_owned(),
        kind: kernel.kind.label().to_owned(),
        full_name,
        agents: kernel.agents.len() as u64,
        busy_share: busy.map(|share| round(share, 4)),
        launch_bounds: LaunchBounds {
            workgroup: resources.block.map(extent),
            grid: resources.grid.map(extent),
            shapes: kernel.shape_count,
        },
        total_duration: times.total.0,
        avg_duration: mean,
        min_duration: times.min.0,
        max_duration: times.max.0,
        percent_of_total: share,
        source_locations: None,
    }
}

pub(super) fn resources(measured: &Measured<'_>) -> KernelResources {
    let rows = measured.hotspots().iter().filter_map(|kernel| {
        let found = resources::of_kernel(&measured.run.trace, &measured.gpus, kernel);
        // Without a shape, registers or memory there is nothing to show.
        let (block, grid) = (found.block?, found.grid?);
        if found.vgpr.is_none() && found.lds.is_none() && found.scratch.is_none() {
            return None;
        }
        let occupancy = found.occupancy.map(|fit| OccupancyRow {
            waves_per_simd: fit.occupancy.waves,
            max_waves_per_simd: fit.max_waves,
            percent: round(fit.occupancy.fraction * 100.0, 2),
            limiting_resource: fit.occupancy.limiter.label().to_owned(),
            vgpr_limited: Some(fit.vgpr_limited),
            sgpr_limited: Some(fit.sgpr_limited),
            lds_limited: Some(fit.lds_limited),
            block_limited: Some(fit.block_limited),
            basis: "theoretical".to_owned(),
        });
        Some(KernelResourceRow {
            name: measured
                .run
                .trace
                .kernel(kernel.kernel)
                .map_or_else(|| kernel.name.to_string(), |names| names.name.to_string()),
            gfx_id: found.gfx_id,
            block: extent(block),
            grid: extent(grid),
            workgroups: found.workgroups.unwrap_or_default(),
            launch_shapes: found.launch_shapes,
            vgpr: found.vgpr.map(u64::from),
            accum_vgpr: found.accum_vgpr.map(u64::from),
            sgpr: found.sgpr.map(u64::from),
            lds_bytes: found.lds.map_or(0, |bytes| bytes.0),
            scratch_bytes: found.scratch.map_or(0, |bytes| bytes.0),
            occupancy,
        })
    });
    KernelResources {
        arch: measured.gpus.first().and_then(|gpu| gpu.gfx_id.clone()),
        kernels: rows.collect(),
    }
}

pub(super) fn categories(measured: &Measured<'_>) -> KernelCategories {
    let mut rows: BTreeMap<Category, (u64, u64, Nanos)> = BTreeMap::new();
    for kernel in measured.run.profile.kernels.iter().filter(|kernel| kernel.calls > 0) {
        let row = rows.entry(kernel.category).or_default();
        row.0 += 1;
        row.1 += kernel.calls;
        row.2 += kernel.total;
    }
    let whole = measured.run.profile.kernel_sum();
    let mut categories: Vec<CategoryRow> = rows
        .into_iter()
        .map(|(category, (kernels, calls, total))| CategoryRow {
            category: category.as_str().to_owned(),
            kernels,
            calls,
            total_ns: total.0,
            pct_of_kernel_time: percent(total, whole),
        })
        .collect();
    categories.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
    KernelCategories { categories }
}

pub(super) fn warmup(measured: &Measured<'_>) -> WarmupIssues {
    let (report, hotspots) = (thresholds::report(), thresholds::hotspots());
    let outliers: Vec<WarmupOutlier> = measured
        .hotspots()
        .iter()
        .filter(|kernel| kernel.calls >= report.warmup_min_calls)
        .filter_map(|kernel| {
            let rest = kernel.median_rest.filter(|rest| *rest > 0.0)?;
            let ratio = kernel.first.as_f64() / rest;
            let extra = kernel.first.0.saturating_sub(whole(rest));
            (ratio > report.warmup_ratio && extra > hotspots.warmup_extra_ns).then(|| WarmupOutlier {
                kernel_name: kernel.name.to_string(),
                calls: kernel.calls,
                first_duration_ns: kernel.first.0,
                median_rest_ns: whole(rest),
                avg_duration_ns: one_decimal(Some(kernel.total.as_f64() / kernel.calls as f64)),
                ratio: round(ratio, 2),
                extra_ns: extra,
            })
        })
        .collect();
    WarmupIssues { has_warmup_issues: !outliers.is_empty(), outliers }
}

pub(super) fn short(measured: &Measured<'_>) -> ShortKernels {
    let profile = &measured.run.profile;
    let share = percent(profile.short.total, profile.kernel_sum());
    let mut candidates: Vec<FusionCandidate> =
        profile.pairs.iter().filter_map(|pair| candidate(measured, pair)).collect();
    candidates.sort_by(|a, b| b.max_saving_ns.cmp(&a.max_saving_ns).then_with(|| a.pair.cmp(&b.pair)));
    let total = candidates.len() as u64;
    candidates.truncate(CANDIDATES);
    ShortKernels {
        threshold_us: thresholds::hotspots().short_kernel_ns as f64 / 1000.0,
        count: profile.short.count,
        total_ns: profile.short.total.0,
        pct_of_dispatches: percent(Nanos(profile.short.count), Nanos(profile.rows.dispatches)),
        pct_of_kernel_time: share,
        wasted_pct_of_kernel_time: share,
        median_ns: profile.median_dispatch.map(whole),
        fusion_candidates: candidates,
        fusion_candidates_total: total,
    }
}

fn candidate(measured: &Measured<'_>, pair: &KernelPair) -> Option<FusionCandidate> {
    let facts = thresholds::report();
    let gaps = within(pair, Nanos(facts.fusion_max_gap_ns))?;
    let names = [pair.first, pair.second]
        .map(|kernel| measured.run.profile.kernels.iter().find(|profile| profile.kernel == kernel));
    let [Some(first), Some(second)] = names else { return None };
    #[expect(clippy::cast_precision_loss, reason = "a threshold in nanoseconds")]
    let short = |kernel: &KernelProfile| kernel.durations.median < facts.launch_short_ns as f64;
    if gaps.count < facts.fusion_min_count || !short(first) || !short(second) {
        return None;
    }
    Some(FusionCandidate {
        pair: vec![first.name.to_string(), second.name.to_string()],
        count: gaps.count,
        gap_ns_median: whole(gaps.median_gap),
        pattern: fusion::pattern(&first.name, &second.name)
            .map(|pattern| format!("fusion/patterns#{}", pattern.name)),
        max_saving_ns: gaps.gaps.0,
        max_saving_pct: measured.of_run(gaps.gaps),
        note:
            "Whether the second needs the first's whole result is not visible in a trace: check the output."
                .to_owned(),
    })
}

fn within(pair: &KernelPair, bound: Nanos) -> Option<&PairGaps> {
    pair.within.iter().find(|gaps| gaps.max_gap == bound)
}
