//! Time, copies, host calls, gaps, collectives, monitor and health as text.

use perfxpert_schemas::report::Report;

use super::page::{Column, Page, Side::Left, Side::Right};
use crate::render::number::{
    bytes, count, counted, decimal, duration, microseconds, milliseconds, or_dash, percent,
};

/// Rows of the per-GPU table before "and n more".
const GPU_ROWS: usize = 16;
/// Host calls shown.
const CALL_ROWS: usize = 10;
/// Cells of the longest bar.
const BAR_CELLS: f64 = 30.0;

pub(super) fn execution(page: &mut Page, report: &Report) {
    let Some(time) = &report.execution_breakdown else { return };
    let columns: [Column<'_>; 3] =
        [("Category", 26 + page.extra(), Left), ("Time (ms)", 12, Right), ("Share", 9, Right)];
    page.header(&columns);
    for (name, ns, share) in [
        ("Kernel execution", time.kernel_time_ns, time.kernel_time_pct),
        ("Memory copies (exposed)", time.memcpy_time_ns, time.memcpy_time_pct),
        ("API overhead (exposed)", time.api_overhead_ns, time.api_overhead_pct),
        ("GPU idle", time.idle_time_ns, time.idle_time_pct),
    ] {
        let bar = "█".repeat((share * BAR_CELLS / 100.0 + 0.5).floor() as usize);
        page.row(
            &[columns[0], columns[1], columns[2], ("", 2 + BAR_CELLS as usize, Left)],
            &[name.to_owned(), milliseconds(ns), percent(share), format!("  {bar}")],
        );
    }
    let mut sentence = format!(
        "{}, {}.",
        counted(report.profiling_info.dispatches, "dispatch", "dispatches"),
        counted(report.profiling_info.copies, "copy", "copies")
    );
    if let Some(overlap) = report.interval_timeline.as_ref().and_then(|line| line.copy_overlap_pct) {
        sentence.push_str(&format!(
            " Copies under a kernel: {} ms ({} of copy time).",
            milliseconds(time.overlapped_copy_ns),
            percent(overlap)
        ));
    }
    page.prose("", "", &sentence);
    if time.per_agent.len() < 2 {
        return;
    }
    page.line("");
    let columns: [Column<'_>; 6] = [
        ("GPU", 20, Left),
        ("Kernel", 10, Right),
        ("Copy", 10, Right),
        ("API", 10, Right),
        ("Idle", 10, Right),
        ("Window (ms)", 14, Right),
    ];
    page.header(&columns);
    for row in time.per_agent.iter().take(GPU_ROWS) {
        page.row(
            &columns,
            &[
                format!("GPU {} {}", row.agent, row.gfx_id.as_deref().unwrap_or("unknown")),
                percent(row.kernel_pct),
                percent(row.exposed_copy_pct),
                percent(row.exposed_api_pct),
                percent(row.idle_pct),
                milliseconds(row.window_ns),
            ],
        );
    }
    page.more(time.per_agent_total.saturating_sub(GPU_ROWS as u64));
}

pub(super) fn memory(page: &mut Page, report: &Report) {
    if report.memory_analysis.0.is_empty() {
        page.line("No memory copy in this trace.");
        return;
    }
    let columns: [Column<'_>; 6] = [
        ("Direction", 20 + page.extra(), Left),
        ("Count", 8, Right),
        ("Total Size", 12, Right),
        ("Duration (ms)", 14, Right),
        ("GB/s", 10, Right),
        ("Exposed (ms)", 14, Right),
    ];
    page.header(&columns);
    for (direction, row) in &report.memory_analysis.0 {
        page.row(
            &columns,
            &[
                direction.clone(),
                count(row.count),
                bytes(row.total_bytes),
                milliseconds(row.total_duration_ns),
                or_dash(row.bandwidth_gbps, |gbps| decimal(gbps, 2)),
                milliseconds(row.exposed_ns),
            ],
        );
    }
}

pub(super) fn api(page: &mut Page, report: &Report) {
    let api = &report.api_overhead;
    if api.has_api_data {
        let columns: [Column<'_>; 5] = [
            ("Call", 30 + page.extra(), Left),
            ("Calls", 8, Right),
            ("Total (ms)", 13, Right),
            ("Avg (μs)", 12, Right),
            ("Exposed (ms)", 15, Right),
        ];
        page.header(&columns);
        for call in api.api_calls.iter().take(CALL_ROWS) {
            page.row(
                &columns,
                &[
                    call.name.clone(),
                    count(call.calls),
                    milliseconds(call.total_ns),
                    microseconds(call.avg_ns),
                    milliseconds(call.exposed_ns),
                ],
            );
        }
        page.more(api.api_calls_total.saturating_sub(CALL_ROWS as u64));
    } else {
        page.line("No HIP or HSA call in this trace; record with --sys-trace to see host time.");
    }
    for outlier in &report.warmup_issues.outliers {
        page.prose("", "  ", &warmup(outlier));
    }
}

/// `First call of k: 900.0 μs, 9.00 x the median of the others (100.0 μs)`.
pub(crate) fn warmup(outlier: &perfxpert_schemas::report::kernels::WarmupOutlier) -> String {
    format!(
        "First call of {}: {}, {} x the median of the others ({})",
        crate::render::name::shorten(&outlier.kernel_name, 60),
        duration(outlier.first_duration_ns),
        decimal(outlier.ratio, 2),
        duration(outlier.median_rest_ns)
    )
}

pub(super) fn timeline(page: &mut Page, report: &Report) {
    let Some(line) = &report.interval_timeline else { return };
    let gaps = &line.gaps;
    page.prose("", "", &gap_sentence(line));
    if gaps.count == 0 {
        return;
    }
    let columns: [Column<'_>; 4] =
        [("Cause", 20, Left), ("Gaps", 8, Right), ("Total (ms)", 13, Right), ("Share", 9, Right)];
    page.header(&columns);
    for (cause, row) in &gaps.by_cause.0 {
        page.row(&columns, &[cause.clone(), count(row.count), milliseconds(row.total_ns), percent(row.pct)]);
    }
    // Only gaps of more than 1 % of the run are worth a line.
    for gap in gaps
        .largest
        .iter()
        .take(3)
        .filter(|gap| u128::from(gap.duration_ns) * 100 > u128::from(line.window_ns))
    {
        page.prose(
            "  ",
            "    ",
            &format!(
                "{} on GPU {} after {}, cause {}",
                duration(gap.duration_ns),
                gap.agent,
                crate::render::name::shorten(gap.before.as_deref().unwrap_or("the start"), 40),
                gap.cause
            ),
        );
    }
}

/// `4 gaps, total 0.030 ms, longest 10.0 μs, median 8.0 μs.`
pub(crate) fn gap_sentence(line: &perfxpert_schemas::report::sections::IntervalTimeline) -> String {
    let gaps = &line.gaps;
    if gaps.count == 0 {
        return "No gap between kernels and copies.".to_owned();
    }
    format!(
        "{}, total {} ms, longest {}, median {}.",
        counted(gaps.count, "gap", "gaps"),
        milliseconds(gaps.total_ns),
        duration(gaps.max_ns),
        duration(gaps.p50_ns)
    )
}

pub(super) fn communication(page: &mut Page, report: &Report) {
    let Some(section) = &report.communication else { return };
    page.prose("", "", &communication_sentence(section));
    let columns: [Column<'_>; 8] = [
        ("Op", 14 + page.extra(), Left),
        ("Bytes", 12, Right),
        ("Count", 7, Right),
        ("Time (ms)", 12, Right),
        ("GB/s", 9, Right),
        ("Peak", 8, Right),
        ("Eff", 7, Right),
        ("Overlap", 9, Right),
    ];
    page.header(&columns);
    for row in &section.collectives {
        page.row(
            &columns,
            &[
                row.op_type.clone(),
                or_dash(row.msg_bytes, bytes),
                count(row.count),
                milliseconds(row.total_ns),
                or_dash(row.effective_bw_gbps, |gbps| decimal(gbps, 2)),
                or_dash(row.peak_bw_gbps, |gbps| decimal(gbps, 1)),
                or_dash(row.efficiency_pct, percent),
                or_dash(row.overlap_ratio, percent),
            ],
        );
    }
    page.more(section.collectives_total.saturating_sub(section.collectives.len() as u64));
}

/// What the collectives cost, in a sentence.
pub(crate) fn communication_sentence(section: &perfxpert_schemas::report::sections::Communication) -> String {
    let summary = &section.summary;
    let mut sentence = format!(
        "{} take {} ms; {} of the run has no other kernel beside them",
        counted(summary.op_count, "collective", "collectives"),
        milliseconds(summary.total_ns),
        percent(summary.exposed_pct)
    );
    if let Some(overlap) = summary.overlap_pct {
        sentence.push_str(&format!(", {} of their time is overlapped", percent(overlap)));
    }
    if let Some(ranks) = summary.ranks {
        sentence.push_str(&format!("; {}", counted(ranks, "rank", "ranks")));
    }
    sentence.push('.');
    if let Some(reason) = &summary.incomplete_reason {
        sentence.push_str(&format!(" The capture is incomplete: {reason}"));
    }
    sentence
}

pub(super) fn monitor(page: &mut Page, report: &Report) {
    let Some(log) = &report.gpu_monitor else { return };
    page.prose("", "", &monitor_sentence(log));
    let columns: [Column<'_>; 7] = [
        ("GPU", 6, Left),
        ("Max °C", 8, Right),
        ("Limit", 7, Right),
        ("Max W", 8, Right),
        ("SCLK min/max", 16, Right),
        ("Throttled", 10, Right),
        ("  Verdict", 14, Left),
    ];
    if log.per_gpu.is_empty() {
        return;
    }
    page.header(&columns);
    for row in &log.per_gpu {
        let clocks = match (row.min_sclk_mhz, row.max_sclk_mhz) {
            (Some(low), Some(high)) => format!("{}/{}", decimal(low, 0), decimal(high, 0)),
            _ => "–".to_owned(),
        };
        page.row(
            &columns,
            &[
                row.gpu_id.clone(),
                or_dash(row.max_temp_c, |celsius| decimal(celsius, 0)),
                or_dash(row.limit_c, |celsius| decimal(celsius, 0)),
                or_dash(row.max_power_w, |watts| decimal(watts, 0)),
                clocks,
                format!("{}/{}", count(row.throttle_samples), count(row.samples)),
                format!("  {}", row.verdict),
            ],
        );
    }
}

/// The monitor's verdict in a sentence.
pub(crate) fn monitor_sentence(log: &perfxpert_schemas::report::sections::GpuMonitor) -> String {
    let mut sentence = format!("Verdict: {}. {}", log.verdict, counted(log.samples, "sample", "samples"));
    if let Some(seconds) = log.span_s {
        sentence.push_str(&format!(" over {} s", decimal(seconds, 1)));
    }
    if let Some(source) = &log.source {
        sentence.push_str(&format!(" from {source}"));
    }
    sentence.push('.');
    if let Some(reason) = &log.reason {
        sentence.push_str(&format!(" {reason}"));
    }
    sentence
}

pub(super) fn health(page: &mut Page, report: &Report) {
    let Some(health) = &report.trace_health else { return };
    page.prose("", "", &health_sentence(health));
    for item in &health.items {
        let advice = if item.advice.is_empty() { String::new() } else { format!(" ({})", item.advice) };
        page.prose(
            "",
            "  ",
            &format!("[{}] {} x{}: {}{advice}", item.severity, item.id, count(item.count), item.message),
        );
    }
    page.more(health.items_total.saturating_sub(health.items.len() as u64));
    for failed in &report.errors {
        page.prose("", "  ", &format!("[error] {}: {}", failed.section, failed.message));
    }
}

/// `Status: ok. 4 dispatches, 3 copies, 9 host calls; nothing left out.`
pub(crate) fn health_sentence(health: &perfxpert_schemas::report::meta::HealthReport) -> String {
    let rows = &health.rows;
    let left_out = if rows.left_out == 0 {
        "nothing left out".to_owned()
    } else {
        format!("{} left out ({})", counted(rows.left_out, "row", "rows"), percent(rows.left_out_pct))
    };
    format!(
        "Status: {}. {}, {}, {}; {left_out}.",
        health.status,
        counted(rows.dispatches, "dispatch", "dispatches"),
        counted(rows.copies, "copy", "copies"),
        counted(rows.regions, "host call", "host calls")
    )
}
