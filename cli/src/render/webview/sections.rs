//! Time, copies, host calls, gaps, collectives, monitor and health as HTML.

use perfxpert_schemas::report::Report;

use super::html::Html;
use super::table::{self, Column, coordinate};
use crate::render::number::{
    bytes, count, counted, decimal, duration, microseconds, milliseconds, or_dash, percent,
};
use crate::render::text;

/// Width of the stacked bar and of the timeline strip, in SVG units.
const STRIP: f64 = 1000.0;

pub(super) fn execution(page: &mut Html, report: &Report) {
    let Some(time) = &report.execution_breakdown else { return };
    let parts = [
        ("s-kernel", "Kernel execution", time.kernel_time_ns, time.kernel_time_pct),
        ("s-copy", "Memory copies (exposed)", time.memcpy_time_ns, time.memcpy_time_pct),
        ("s-api", "API overhead (exposed)", time.api_overhead_ns, time.api_overhead_pct),
        ("s-idle", "GPU idle", time.idle_time_ns, time.idle_time_pct),
    ];
    page.open(
        "svg",
        &[("class", "bar"), ("viewBox", "0 0 1000 34"), ("role", "img"), ("aria-label", "Time by part")],
    );
    page.leaf("title", &[], "Time by part").leaf(
        "desc",
        &[],
        &parts.map(|(_, name, _, share)| format!("{name} {}", percent(share))).join(", "),
    );
    let mut left = 0.0;
    for (class, name, _, share) in parts {
        let width = share * STRIP / 100.0;
        if width > 0.0 {
            page.open(
                "rect",
                &[
                    ("class", class),
                    ("x", &coordinate(left)),
                    ("y", "1"),
                    ("width", &coordinate(width)),
                    ("height", "32"),
                    ("data-tip", &format!("{name}: {}", percent(share))),
                ],
            )
            .close("rect");
        }
        left += width;
    }
    page.close("svg").open("div", &[("class", "legend")]);
    for (class, name, _, share) in parts {
        page.open("span", &[])
            .open("svg", &[("width", "12"), ("height", "12"), ("aria-hidden", "true")])
            .open("rect", &[("class", class), ("width", "12"), ("height", "12"), ("rx", "2")])
            .close("rect")
            .close("svg")
            .text(&format!("{name} {}", percent(share)))
            .close("span");
    }
    page.close("div");
    let columns: [Column<'_>; 3] =
        [("Category", false), ("Time (ms)", true), ("Share of the GPU windows", true)];
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|(_, name, ns, share)| vec![(*name).to_owned(), milliseconds(*ns), percent(*share)])
        .collect();
    table::whole(page, "Where the time went", &columns, &rows, 4);
    page.leaf(
        "p",
        &[],
        &format!(
            "{}, {}. Copies under a kernel: {} ms. Kernels beside each other: {} ms.",
            counted(report.profiling_info.dispatches, "dispatch", "dispatches"),
            counted(report.profiling_info.copies, "copy", "copies"),
            milliseconds(time.overlapped_copy_ns),
            milliseconds(time.concurrent_kernel_ns)
        ),
    );
    if time.per_agent.is_empty() {
        return;
    }
    let columns: [Column<'_>; 8] = [
        ("GPU", false),
        ("Kernel", true),
        ("Copy (exposed)", true),
        ("API (exposed)", true),
        ("Idle", true),
        ("Window (ms)", true),
        ("Dispatches", true),
        ("Copies", true),
    ];
    let rows: Vec<Vec<String>> = time
        .per_agent
        .iter()
        .map(|row| {
            vec![
                format!("GPU {} {}", row.agent, row.gfx_id.as_deref().unwrap_or("unknown")),
                percent(row.kernel_pct),
                percent(row.exposed_copy_pct),
                percent(row.exposed_api_pct),
                percent(row.idle_pct),
                milliseconds(row.window_ns),
                count(row.dispatches),
                count(row.copies),
            ]
        })
        .collect();
    table::whole(page, "Each GPU over its own window", &columns, &rows, time.per_agent_total);
}

pub(super) fn memory(page: &mut Html, report: &Report) {
    if report.memory_analysis.0.is_empty() {
        page.leaf("p", &[], "No memory copy in this trace.");
        return;
    }
    let columns: [Column<'_>; 10] = [
        ("Direction", false),
        ("Count", true),
        ("Total size", true),
        ("Duration (ms)", true),
        ("GB/s", true),
        ("Exposed (ms)", true),
        ("Exposed", true),
        ("Below 64 KiB", true),
        ("1 MiB and more: GB/s", true),
        ("Of link peak", true),
    ];
    let rows: Vec<Vec<String>> = report
        .memory_analysis
        .0
        .iter()
        .map(|(direction, row)| {
            vec![
                direction.clone(),
                count(row.count),
                bytes(row.total_bytes),
                milliseconds(row.total_duration_ns),
                or_dash(row.bandwidth_gbps, |gbps| decimal(gbps, 2)),
                milliseconds(row.exposed_ns),
                percent(row.exposed_pct),
                count(row.small_count),
                or_dash(row.large_bandwidth_gbps, |gbps| decimal(gbps, 2)),
                or_dash(row.link_utilization_pct, percent),
            ]
        })
        .collect();
    table::whole(
        page,
        "Copies by direction; exposed means no kernel beside them",
        &columns,
        &rows,
        rows.len() as u64,
    );
}

pub(super) fn api(page: &mut Html, report: &Report) {
    let api = &report.api_overhead;
    if api.has_api_data {
        let columns: [Column<'_>; 7] = [
            ("Call", false),
            ("Family", false),
            ("Calls", true),
            ("Total (ms)", true),
            ("Avg (μs)", true),
            ("Max (μs)", true),
            ("Exposed (ms)", true),
        ];
        let rows: Vec<Vec<String>> = api
            .api_calls
            .iter()
            .map(|call| {
                vec![
                    call.name.clone(),
                    call.family.clone(),
                    count(call.calls),
                    milliseconds(call.total_ns),
                    microseconds(call.avg_ns),
                    microseconds(call.max_ns as f64),
                    milliseconds(call.exposed_ns),
                ]
            })
            .collect();
        table::whole(page, "Host calls by total time", &columns, &rows, api.api_calls_total);
        if let Some(latency) = &api.launch_latency_ns {
            page.leaf(
                "p",
                &[],
                &format!(
                    "From launch call to kernel start: median {}, 95th percentile {}.",
                    duration(latency.median),
                    duration(latency.p95)
                ),
            );
        }
    } else {
        page.leaf("p", &[], "No HIP or HSA call in this trace; record with --sys-trace to see host time.");
    }
    for outlier in &report.warmup_issues.outliers {
        page.leaf("p", &[], &text::warmup(outlier));
    }
}

pub(super) fn timeline(page: &mut Html, report: &Report) {
    let Some(line) = &report.interval_timeline else { return };
    page.leaf("p", &[], &text::gap_sentence(line));
    if let Some(buckets) = line.buckets.as_ref().filter(|buckets| !buckets.is_empty()) {
        page.open(
            "svg",
            &[("class", "bar"), ("viewBox", "0 0 1000 90"), ("role", "img"), ("aria-label", "Timeline")],
        )
        .leaf("title", &[], "Timeline")
        .leaf(
            "desc",
            &[],
            "The run in equal slices: share of kernels, copies, host calls and idle time in each",
        );
        let width = STRIP / buckets.len() as f64;
        for (index, bucket) in buckets.iter().enumerate() {
            let mut bottom = 90.0;
            for (class, share) in ["s-kernel", "s-copy", "s-api", "s-idle"].iter().zip(bucket) {
                let height = share * 0.9;
                bottom -= height;
                if height > 0.0 {
                    page.open(
                        "rect",
                        &[
                            ("class", class),
                            ("x", &format!("{:.2}", index as f64 * width)),
                            ("y", &coordinate(bottom)),
                            ("width", &format!("{width:.2}")),
                            ("height", &coordinate(height)),
                        ],
                    )
                    .close("rect");
                }
            }
        }
        page.close("svg");
        page.leaf("p", &[("class", "more")], "Left to right: start to end of the run. Blue kernels, orange exposed copies, purple exposed host calls, grey idle.");
    }
    if line.gaps.count == 0 {
        return;
    }
    let columns: [Column<'_>; 4] =
        [("Cause", false), ("Gaps", true), ("Total (ms)", true), ("Share of the run", true)];
    let rows: Vec<Vec<String>> = line
        .gaps
        .by_cause
        .0
        .iter()
        .map(|(cause, row)| {
            vec![cause.clone(), count(row.count), milliseconds(row.total_ns), percent(row.pct)]
        })
        .collect();
    table::whole(page, "Why the GPU waited", &columns, &rows, rows.len() as u64);
    let columns: [Column<'_>; 6] = [
        ("GPU", true),
        ("Start (ms)", true),
        ("Length", true),
        ("Cause", false),
        ("After", false),
        ("Host call", false),
    ];
    let rows: Vec<Vec<String>> = line
        .gaps
        .largest
        .iter()
        .map(|gap| {
            vec![
                gap.agent.to_string(),
                milliseconds(gap.start_ns),
                duration(gap.duration_ns),
                gap.cause.clone(),
                gap.before.clone().unwrap_or_else(|| "the start".to_owned()),
                gap.call.clone().unwrap_or_else(|| "–".to_owned()),
            ]
        })
        .collect();
    table::whole(page, "The longest gaps", &columns, &rows, rows.len() as u64);
}

pub(super) fn communication(page: &mut Html, report: &Report) {
    let Some(section) = &report.communication else { return };
    page.prose("p", &[], &text::communication_sentence(section));
    let columns: [Column<'_>; 9] = [
        ("Op", false),
        ("Bytes", true),
        ("Count", true),
        ("Duration", true),
        ("Time (ms)", true),
        ("Bus GB/s", true),
        ("Peak GB/s", true),
        ("Efficiency", true),
        ("Overlap", true),
    ];
    let rows: Vec<Vec<String>> = section
        .collectives
        .iter()
        .map(|row| {
            vec![
                row.op_type.clone(),
                or_dash(row.msg_bytes, bytes),
                count(row.count),
                duration(row.duration_ns),
                milliseconds(row.total_ns),
                or_dash(row.effective_bw_gbps, |gbps| decimal(gbps, 2)),
                or_dash(row.peak_bw_gbps, |gbps| decimal(gbps, 1)),
                or_dash(row.efficiency_pct, percent),
                or_dash(row.overlap_ratio, percent),
            ]
        })
        .collect();
    table::whole(page, "Collectives by operation and size", &columns, &rows, section.collectives_total);
}

pub(super) fn monitor(page: &mut Html, report: &Report) {
    let Some(log) = &report.gpu_monitor else { return };
    page.prose("p", &[], &text::monitor_sentence(log));
    if log.per_gpu.is_empty() {
        return;
    }
    let columns: [Column<'_>; 8] = [
        ("GPU", false),
        ("Max °C", true),
        ("Limit °C", true),
        ("Max W", true),
        ("Min SCLK (MHz)", true),
        ("Max SCLK (MHz)", true),
        ("Throttled", true),
        ("Verdict", false),
    ];
    let number = |value: Option<f64>| or_dash(value, |value| decimal(value, 0));
    let rows: Vec<Vec<String>> = log
        .per_gpu
        .iter()
        .map(|row| {
            vec![
                row.gpu_id.clone(),
                number(row.max_temp_c),
                number(row.limit_c),
                number(row.max_power_w),
                number(row.min_sclk_mhz),
                number(row.max_sclk_mhz),
                format!("{} of {}", count(row.throttle_samples), count(row.samples)),
                row.verdict.clone(),
            ]
        })
        .collect();
    table::whole(page, "Temperatures, power and clocks", &columns, &rows, rows.len() as u64);
}

pub(super) fn health(page: &mut Html, report: &Report) {
    let Some(health) = &report.trace_health else { return };
    page.leaf("p", &[], &text::health_sentence(health));
    if !health.items.is_empty() {
        let columns: [Column<'_>; 5] = [
            ("Severity", false),
            ("Finding", false),
            ("Count", true),
            ("What", false),
            ("What to do", false),
        ];
        let rows: Vec<Vec<String>> = health
            .items
            .iter()
            .map(|item| {
                let examples = if item.examples.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", item.examples.join("; "))
                };
                vec![
                    item.severity.clone(),
                    item.id.clone(),
                    count(item.count),
                    format!("{}{examples}", item.message),
                    item.advice.clone(),
                ]
            })
            .collect();
        table::whole(page, "Findings, worst first", &columns, &rows, health.items_total);
    }
    for failed in &report.errors {
        page.prose("p", &[("class", "loss")], &format!("{}: {}", failed.section, failed.message));
    }
}
