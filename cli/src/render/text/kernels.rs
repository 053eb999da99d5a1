//! Kernel tables, counters, roofline and thread trace as text.

use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::hardware::CounterMetrics;
use perfxpert_schemas::report::kernels::SourceLocation;

use super::page::{Column, Page, Side::Left, Side::Right};
use crate::render::number::{
    count, counted, decimal, duration, microseconds, milliseconds, or_dash, percent,
};

/// Source places shown below a hotspot.
const LOCATIONS: usize = 4;
/// Counter rows shown.
const COUNTER_ROWS: usize = 20;
/// Traced kernels shown.
const TRACED: usize = 5;

pub(super) fn hotspots(page: &mut Page, report: &Report) {
    if report.hotspots.is_empty() {
        page.line("No kernel dispatch in this trace.");
        return;
    }
    let columns: [Column<'_>; 7] = [
        ("#", 3, Right),
        ("", 2, Left),
        ("Kernel Name", 30 + page.extra(), Left),
        ("Calls", 8, Right),
        ("Total (ms)", 13, Right),
        ("Avg (μs)", 11, Right),
        ("% Total", 9, Right),
    ];
    page.header(&columns);
    for row in &report.hotspots {
        page.row(
            &columns,
            &[
                row.rank.to_string(),
                String::new(),
                row.short_name.clone(),
                count(row.calls),
                milliseconds(row.total_duration_ns),
                microseconds(row.avg_duration_ns),
                percent(row.pct_of_total),
            ],
        );
        if let Some(places) = &row.source_locations {
            let severity = page.severity(&row.severity);
            page.prose("     Source: ", &" ".repeat(13), &format!("{} [{severity}]", locations(places)));
        }
    }
    page.more(report.hotspots_total.saturating_sub(report.hotspots.len() as u64));
}

/// `a.hip:42 (definition), a.hip:60 (launch) and 3 more`.
pub(crate) fn locations(places: &[SourceLocation]) -> String {
    if places.is_empty() {
        return "no matching source location".to_owned();
    }
    let shown: Vec<String> = places
        .iter()
        .take(LOCATIONS)
        .map(|place| format!("{}:{} ({})", place.file, place.line, place.kind))
        .collect();
    let more = places.len().saturating_sub(LOCATIONS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

pub(super) fn resources(page: &mut Page, report: &Report) {
    if report.kernel_resources.kernels.is_empty() {
        page.line("The trace holds no register or LDS data for these kernels.");
        return;
    }
    let columns: [Column<'_>; 8] = [
        ("Kernel Name", 26 + page.extra(), Left),
        ("Block", 10, Right),
        ("Workgroups", 11, Right),
        ("VGPR", 6, Right),
        ("AGPR", 6, Right),
        ("SGPR", 6, Right),
        ("Scratch", 8, Right),
        ("LDS", 7, Right),
    ];
    page.header(&columns);
    for row in &report.kernel_resources.kernels {
        let short = report.hotspots.iter().find(|hotspot| hotspot.name == row.name);
        page.row(
            &columns,
            &[
                short.map_or_else(|| row.name.clone(), |hotspot| hotspot.short_name.clone()),
                row.block.clone(),
                count(row.workgroups),
                or_dash(row.vgpr, |registers| registers.to_string()),
                or_dash(row.accum_vgpr, |registers| registers.to_string()),
                or_dash(row.sgpr, |registers| registers.to_string()),
                row.scratch_bytes.to_string(),
                row.lds_bytes.to_string(),
            ],
        );
        if let Some(occupancy) = &row.occupancy {
            let limit = match occupancy.limiting_resource.as_str() {
                "none" => String::new(),
                limit => format!(", limited by {limit}"),
            };
            page.line(format!(
                "    {}/{} waves per SIMD ({}){limit}",
                occupancy.waves_per_simd,
                occupancy.max_waves_per_simd,
                percent(occupancy.percent)
            ));
        }
    }
}

pub(super) fn categories(page: &mut Page, report: &Report) {
    let columns: [Column<'_>; 5] = [
        ("Category", 20, Left),
        ("Kernels", 8, Right),
        ("Calls", 8, Right),
        ("Total (ms)", 13, Right),
        ("Share", 9, Right),
    ];
    let rows = report.kernel_categories.iter().flat_map(|section| &section.categories);
    if rows.clone().next().is_none() {
        page.line("No kernel dispatch in this trace.");
        return;
    }
    page.header(&columns);
    for row in rows {
        page.row(
            &columns,
            &[
                row.category.clone(),
                count(row.kernels),
                count(row.calls),
                milliseconds(row.total_ns),
                percent(row.pct_of_kernel_time),
            ],
        );
    }
}

pub(super) fn short(page: &mut Page, report: &Report) {
    let Some(section) = &report.short_kernels else { return };
    page.prose("", "", &short_sentence(report, section));
    for pair in &section.fusion_candidates {
        page.prose("", "  ", &fusion(pair));
    }
    page.more(section.fusion_candidates_total.saturating_sub(section.fusion_candidates.len() as u64));
}

/// `a -> b x12, at most 3.0% of the run`.
pub(crate) fn fusion(pair: &perfxpert_schemas::report::kernels::FusionCandidate) -> String {
    let names: Vec<String> = pair.pair.iter().map(|name| crate::render::name::shorten(name, 60)).collect();
    format!(
        "{} x{}, at most {} of the run",
        names.join(" -> "),
        count(pair.count),
        percent(pair.max_saving_pct)
    )
}

/// How many dispatches are short, in a sentence.
pub(crate) fn short_sentence(
    report: &Report,
    section: &perfxpert_schemas::report::kernels::ShortKernels,
) -> String {
    let total = counted(report.profiling_info.dispatches, "dispatch is", "dispatches are");
    let median =
        section.median_ns.map(|ns| format!(" Median duration {}.", duration(ns))).unwrap_or_default();
    format!(
        "{} of {total} shorter than {} μs ({} of kernel time).{median}",
        count(section.count),
        decimal(section.threshold_us, 0),
        percent(section.pct_of_kernel_time)
    )
}

pub(super) fn counters(page: &mut Page, report: &Report) {
    let counters = &report.hardware_counters;
    if !counters.has_counters {
        page.prose("", "", "Not collected: the trace holds no hardware counters. To collect them:");
        for command in collect_commands(report) {
            page.command(2, command);
        }
        return;
    }
    let coverage = &counters.coverage;
    page.prose(
        "",
        "",
        &format!(
            "Counters on {} of {}, {}.",
            count(coverage.dispatches_with_counters),
            counted(coverage.dispatches_total, "dispatch", "dispatches"),
            counted(coverage.passes, "pass", "passes")
        ),
    );
    for (name, value) in metrics(&counters.metrics) {
        page.line(format!("{name}: {value}"));
    }
    if counters.counters.is_empty() {
        return;
    }
    let columns: [Column<'_>; 4] =
        [("Counter", 30 + page.extra(), Left), ("Avg", 16, Right), ("Min", 16, Right), ("Max", 16, Right)];
    page.header(&columns);
    for (name, row) in counters.counters.iter().take(COUNTER_ROWS) {
        page.row(
            &columns,
            &[name.clone(), decimal(row.avg_value, 1), decimal(row.min_value, 1), decimal(row.max_value, 1)],
        );
    }
    let shown = counters.counters.len().min(COUNTER_ROWS) as u64;
    page.more(counters.counters_total.saturating_sub(shown));
}

/// The commands that collect what is missing, each once.
pub(crate) fn collect_commands(report: &Report) -> Vec<&str> {
    let mut commands: Vec<&str> = Vec::new();
    for command in report.evidence.missing.iter().flat_map(|missing| &missing.commands) {
        if !commands.contains(&command.full_command.as_str()) {
            commands.push(&command.full_command);
        }
    }
    commands
}

/// Known counter metrics as name and value.
pub(crate) fn metrics(metrics: &CounterMetrics) -> Vec<(&'static str, String)> {
    let whole = |value: u64| count(value);
    let number = |value: f64| decimal(value, 2);
    [
        ("GPU utilization (timeline)", metrics.gpu_utilization_pct.map(percent)),
        ("Waves per CU", metrics.avg_waves.map(number)),
        ("Waves per CU, lowest kernel", metrics.min_waves.map(number)),
        ("Waves per CU, highest kernel", metrics.max_waves.map(number)),
        ("Waves a CU can hold", metrics.max_waves_per_cu.map(whole)),
        ("Waves launched", metrics.waves_launched.map(whole)),
        ("HBM bandwidth (GB/s)", metrics.hbm_bandwidth_gbps.map(number)),
        ("HBM utilization", metrics.hbm_utilization_pct.map(percent)),
        ("L2 hit rate", metrics.l2_hit_rate_pct.map(percent)),
        ("VALU busy", metrics.valu_busy_pct.map(percent)),
        ("MFMA utilization", metrics.mfma_utilization_pct.map(percent)),
        ("LDS bank conflicts", metrics.lds_conflict_pct.map(percent)),
        ("Active lanes", metrics.lane_efficiency_pct.map(percent)),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name, value)))
    .collect()
}

pub(super) fn roofline(page: &mut Page, report: &Report) {
    let Some(roof) = &report.roofline else { return };
    page.prose("", "", &roof_line(roof));
    let columns: [Column<'_>; 6] = [
        ("Kernel", 30 + page.extra(), Left),
        ("AI", 10, Right),
        ("GFLOP/s", 13, Right),
        ("% roof", 8, Right),
        ("Regime", 9, Right),
        ("Type", 6, Right),
    ];
    page.header(&columns);
    for point in &roof.kernels {
        let short = report.hotspots.iter().find(|hotspot| hotspot.name == point.name);
        page.row(
            &columns,
            &[
                short.map_or_else(|| point.name.clone(), |hotspot| hotspot.short_name.clone()),
                decimal(point.ai, 2),
                decimal(point.achieved_flops_per_s / 1e9, 1),
                or_dash(point.pct_of_roof, percent),
                point.bottleneck_class.clone(),
                point.fp_type.clone(),
            ],
        );
    }
    page.more(roof.kernels_total.saturating_sub(roof.kernels.len() as u64));
    for skipped in &roof.skipped {
        page.prose("  ", "    ", &format!("no point for {}: {}", skipped.name, skipped.reason));
    }
}

/// `gfx942, 5.3 TB/s, ridge bf16 245.5 FLOP/B`.
pub(crate) fn roof_line(roof: &perfxpert_schemas::report::hardware::Roofline) -> String {
    let mut parts = vec![roof.arch.clone().unwrap_or_else(|| "unknown GPU".to_owned())];
    if let Some(bandwidth) = roof.hbm_bandwidth_bytes_per_s {
        parts.push(format!("{} TB/s", decimal(bandwidth / 1e12, 1)));
    }
    if let (Some(ridge), Some(kind)) = (&roof.ridge_point, &roof.dtype) {
        parts.push(format!("ridge {kind} {} FLOP/B", decimal(ridge.ai, 1)));
    }
    parts.join(", ")
}

pub(super) fn thread_trace(page: &mut Page, report: &Report) {
    let Some(trace) = &report.thread_trace else { return };
    if !trace.has_att_data {
        page.prose(
            "",
            "",
            &format!("Thread trace not usable: {}.", trace.reason.as_deref().unwrap_or("unknown")),
        );
        return;
    }
    page.prose(
        "",
        "",
        &format!(
            "{} traced, {} with high stall, {} read.",
            counted(trace.summary.kernel_count, "kernel", "kernels"),
            count(trace.summary.high_stall_kernels),
            counted(trace.summary.files_read, "file", "files")
        ),
    );
    let columns: [Column<'_>; 3] =
        [("Kernel", 30 + page.extra(), Left), ("Stall", 8, Right), ("  Category", 24, Left)];
    page.header(&columns);
    for kernel in trace.kernels.iter().take(TRACED) {
        let category = kernel.stall_category.as_deref().map_or("–", stall_label);
        page.row(&columns, &[kernel.name.clone(), percent(kernel.stall_pct), format!("  {category}")]);
        for row in kernel.top_stalling_instructions.iter().take(3) {
            let source = row.source_line.as_deref().map(|place| format!(" ({place})")).unwrap_or_default();
            page.prose(
                "    ",
                "      ",
                &format!("{} {}{source}", decimal(row.stall_ratio, 2), row.instruction),
            );
        }
    }
    page.more(trace.kernels_total.saturating_sub(trace.kernels.len().min(TRACED) as u64));
    for skipped in &trace.summary.files_skipped {
        page.prose("  ", "    ", &format!("skipped {}: {}", skipped.file, skipped.reason));
    }
}

/// A stall category as people read it.
pub(crate) fn stall_label(category: &str) -> &str {
    match category {
        "att_vmem_latency" => "VMEM Latency",
        "att_lds_conflict" => "LDS Wait",
        "att_dependency_chain" => "Dependency Chain",
        "att_divergence" => "Branch Divergence",
        "att_barrier" => "Barrier",
        "att_other" => "Other",
        other => other,
    }
}
