//! Kernel tables, source panels and counters as HTML.

use std::collections::HashMap;

use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::kernels::{Hotspot, SourceLocation};

use super::charts::gauge;
use super::html::Html;
use super::table::{self, Column, coordinate};
use crate::render::name::shorten;
use crate::render::number::{count, decimal, microseconds, milliseconds, or_dash, percent};
use crate::render::text;

/// Names longer than this are cut in the middle; the panel shows them whole.
const NAME_COLUMNS: usize = 120;

/// Class and priority colour of a severity word.
pub(super) fn severity_class(severity: &str) -> (&'static str, &'static str) {
    match severity {
        "CRITICAL" => ("h-src-critical", "crit"),
        "HOT" => ("h-src-hot", "warn"),
        "WARM" => ("h-src-warm", "low"),
        _ => ("h-src-cool", "info"),
    }
}

/// Anchors of the hotspot rows, unique in rank order.
pub(super) fn anchors(report: &Report) -> Vec<String> {
    let mut seen: HashMap<&str, u64> = HashMap::new();
    report
        .hotspots
        .iter()
        .map(|row| {
            let times = seen.entry(&row.slug).and_modify(|times| *times += 1).or_insert(1);
            if *times == 1 { format!("hs-{}", row.slug) } else { format!("hs-{}-{times}", row.slug) }
        })
        .collect()
}

/// Where a chart leads for a kernel: its best-ranked card, else its hotspot row.
pub(super) fn jump_target(report: &Report, name: &str, slug: &str) -> Option<String> {
    let card = report
        .recommendations
        .iter()
        .find(|entry| entry.target_kind == "kernel" && entry.target.as_deref() == Some(name))
        .map(|entry| entry.anchor.clone());
    card.or_else(|| {
        let place = report.hotspots.iter().position(|row| row.name == name || row.slug == slug)?;
        anchors(report).into_iter().nth(place)
    })
}

pub(super) fn hotspots(page: &mut Html, report: &Report) {
    if report.hotspots.is_empty() {
        page.leaf("p", &[], "No kernel dispatch in this trace.");
        return;
    }
    let caption = "Kernels by summed time; the share is of all kernel time";
    page.open("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", caption)])
        .open("table", &[("id", "hs-tbl")])
        .leaf("caption", &[], caption)
        .open("thead", &[])
        .open("tr", &[]);
    for (heading, numeric) in [
        ("#", true),
        ("Kernel Name", false),
        ("Calls", true),
        ("Total (ms)", true),
        ("Avg (μs)", true),
        ("Min (μs)", true),
        ("Max (μs)", true),
        ("% Total", true),
        ("Severity", false),
    ] {
        let class = if numeric { "n" } else { "" };
        page.open("th", &[("scope", "col"), ("class", class), ("aria-sort", "none")])
            .leaf("button", &[("type", "button"), ("class", "sort")], heading)
            .close("th");
    }
    page.close("tr").close("thead").open("tbody", &[]);
    for (row, anchor) in report.hotspots.iter().zip(anchors(report)) {
        hotspot(page, row, &anchor);
    }
    page.close("tbody").close("table").close("div");
    let left = report.hotspots_total.saturating_sub(report.hotspots.len() as u64);
    if left > 0 {
        page.leaf("p", &[("class", "more")], &format!("and {} more", count(left)));
    }
}

fn hotspot(page: &mut Html, row: &Hotspot, anchor: &str) {
    let rank = row.rank.to_string();
    let (row_class, colour) = severity_class(&row.severity);
    let panel = format!("src-{rank}");
    page.open("tr", &[("id", anchor), ("data-rank", &rank)]);
    number(page, &rank, &rank);
    page.open("td", &[("class", "name"), ("data-v", &row.short_name)])
        .leaf(
            "button",
            &[
                ("type", "button"),
                ("class", "h-src-toggle no-js-hide"),
                ("aria-expanded", "true"),
                ("aria-controls", &panel),
                ("aria-label", "Source and full name"),
            ],
            "▾",
        )
        .leaf("code", &[], &shorten(&row.short_name, NAME_COLUMNS))
        .close("td");
    number(page, &row.calls.to_string(), &count(row.calls));
    number(page, &row.total_duration_ns.to_string(), &milliseconds(row.total_duration_ns));
    number(page, &row.avg_duration_ns.to_string(), &microseconds(row.avg_duration_ns));
    number(page, &row.min_duration_ns.to_string(), &microseconds(row.min_duration_ns as f64));
    number(page, &row.max_duration_ns.to_string(), &microseconds(row.max_duration_ns as f64));
    page.open("td", &[("class", "n"), ("data-v", &row.pct_of_total.to_string())])
        .open("svg", &[("class", "mini"), ("viewBox", "0 0 100 10"), ("aria-hidden", "true")])
        .open("rect", &[("class", "t"), ("width", "100"), ("height", "10"), ("rx", "3")])
        .close("rect")
        .open(
            "rect",
            &[("class", "s-kernel"), ("width", &coordinate(row.pct_of_total)), ("height", "10"), ("rx", "3")],
        )
        .close("rect")
        .close("svg")
        .text(&percent(row.pct_of_total))
        .close("td")
        .leaf("td", &[("class", &format!("sev {colour}"))], &row.severity)
        .close("tr")
        .constant("\n");
    page.open("tr", &[("class", &format!("h-src-row {row_class}")), ("id", &panel)])
        .open("td", &[("colspan", "9")])
        .open("div", &[("class", "h-src-panel"), ("data-severity", &row.severity)]);
    let full = row.full_name.as_deref().unwrap_or(&row.name);
    if full != row.short_name {
        page.open("p", &[]).leaf("code", &[], full).close("p");
    }
    source(page, row, colour);
    page.close("div").close("td").close("tr").constant("\n");
}

fn number(page: &mut Html, raw: &str, shown: &str) {
    page.leaf("td", &[("class", "n"), ("data-v", raw)], shown);
}

fn source(page: &mut Html, row: &Hotspot, colour: &str) {
    let Some(places) = &row.source_locations else {
        page.leaf("span", &[], "Run with --source-dir to link kernels to source.");
        return;
    };
    if places.is_empty() {
        page.leaf("span", &[], "No matching source location detected");
        return;
    }
    for (index, place) in places.iter().enumerate() {
        page.open("div", &[("class", "loc")]);
        if index == 0 {
            page.leaf("span", &[("class", &format!("badge {colour}"))], &row.severity);
        }
        location(page, place);
        page.close("div");
    }
}

fn location(page: &mut Html, place: &SourceLocation) {
    let label = if place.kind == "launch" { "Launch site" } else { "Definition" };
    let at = format!("{}:{}", place.file, place.line);
    let (class, badge) = match place.launch_type.as_str() {
        "GLOBAL_KERNEL_DEF" => ("badge b-blue", "__global__"),
        "HIP_KERNEL_LAUNCH" => ("badge b-orange", "HIP_KERNEL_LAUNCH"),
        "TRIPLE_ANGLE_LAUNCH" => ("badge b-purple", "<<< >>>"),
        other => ("badge", other),
    };
    page.leaf("span", &[], label).leaf("code", &[], &at);
    table::copy(page, &at);
    page.leaf("span", &[("class", class)], badge);
    if place.matched == "ambiguous" {
        page.leaf("span", &[("class", "badge warn")], "ambiguous");
    }
}

pub(super) fn resources(page: &mut Html, report: &Report) {
    if report.kernel_resources.kernels.is_empty() {
        page.leaf("p", &[], "The trace holds no register or LDS data for these kernels.");
        return;
    }
    let columns: [Column<'_>; 11] = [
        ("Kernel", false),
        ("Block", true),
        ("Workgroups", true),
        ("VGPR", true),
        ("AGPR", true),
        ("SGPR", true),
        ("Scratch", true),
        ("LDS", true),
        ("Waves per SIMD", true),
        ("Occupancy", true),
        ("Limited by", false),
    ];
    let registers = |value: Option<u64>| or_dash(value, |value| value.to_string());
    let rows: Vec<Vec<String>> = report
        .kernel_resources
        .kernels
        .iter()
        .map(|row| {
            let short = report.hotspots.iter().find(|hotspot| hotspot.name == row.name);
            let fit = row.occupancy.as_ref();
            vec![
                shorten(short.map_or(&row.name, |hotspot| &hotspot.short_name), NAME_COLUMNS),
                row.block.clone(),
                count(row.workgroups),
                registers(row.vgpr),
                registers(row.accum_vgpr),
                registers(row.sgpr),
                row.scratch_bytes.to_string(),
                row.lds_bytes.to_string(),
                or_dash(fit, |fit| format!("{}/{}", fit.waves_per_simd, fit.max_waves_per_simd)),
                or_dash(fit, |fit| percent(fit.percent)),
                or_dash(fit, |fit| fit.limiting_resource.clone()),
            ]
        })
        .collect();
    table::whole(
        page,
        "At each kernel's most frequent launch shape; occupancy is theoretical",
        &columns,
        &rows,
        rows.len() as u64,
    );
}

pub(super) fn categories(page: &mut Html, report: &Report) {
    let rows: Vec<Vec<String>> = report
        .kernel_categories
        .iter()
        .flat_map(|section| &section.categories)
        .map(|row| {
            vec![
                row.category.clone(),
                count(row.kernels),
                count(row.calls),
                milliseconds(row.total_ns),
                percent(row.pct_of_kernel_time),
            ]
        })
        .collect();
    if rows.is_empty() {
        page.leaf("p", &[], "No kernel dispatch in this trace.");
        return;
    }
    let columns: [Column<'_>; 5] = [
        ("Category", false),
        ("Kernels", true),
        ("Calls", true),
        ("Total (ms)", true),
        ("Share of kernel time", true),
    ];
    table::whole(page, "By kernel name", &columns, &rows, rows.len() as u64);
}

pub(super) fn short(page: &mut Html, report: &Report) {
    let Some(section) = &report.short_kernels else { return };
    page.leaf("p", &[], &text::short_sentence(report, section));
    if section.fusion_candidates.is_empty() {
        return;
    }
    let columns: [Column<'_>; 5] = [
        ("First, then second", false),
        ("Times", true),
        ("Median gap (μs)", true),
        ("At most saved (ms)", true),
        ("Of the run", true),
    ];
    let rows: Vec<Vec<String>> = section
        .fusion_candidates
        .iter()
        .map(|pair| {
            let names: Vec<String> = pair.pair.iter().map(|name| shorten(name, 60)).collect();
            vec![
                names.join(" → "),
                count(pair.count),
                microseconds(pair.gap_ns_median as f64),
                milliseconds(pair.max_saving_ns),
                percent(pair.max_saving_pct),
            ]
        })
        .collect();
    table::whole(page, "Pairs that could be one kernel", &columns, &rows, section.fusion_candidates_total);
}

pub(super) fn counters(page: &mut Html, report: &Report) {
    let counters = &report.hardware_counters;
    let metrics = &counters.metrics;
    page.open("div", &[("class", "gauges")]);
    gauge(
        page,
        "GPU Utilization",
        metrics.gpu_utilization_pct,
        70.0,
        "kernel share of the windows, timeline",
    );
    let occupancy = metrics
        .avg_waves
        .zip(metrics.max_waves_per_cu)
        .filter(|(_, most)| *most > 0)
        .map(|(waves, most)| (waves * 100.0 / most as f64).min(100.0));
    let note = match (metrics.avg_waves, metrics.max_waves_per_cu) {
        (Some(waves), Some(most)) => format!("{} of {most} waves per CU", decimal(waves, 1)),
        _ => "needs SQ_WAVE_CYCLES".to_owned(),
    };
    gauge(page, "Wave Occupancy", occupancy, 50.0, &note);
    page.close("div");
    if !counters.has_counters {
        page.leaf("p", &[], "Not collected: the trace holds no hardware counters. To collect them:");
        for command in text::collect_commands(report) {
            table::command(page, command);
        }
        return;
    }
    page.open("div", &[("class", "kpis")]);
    for (name, value) in text::metrics(metrics) {
        page.open("div", &[("class", "kpi")])
            .leaf("div", &[("class", "k")], name)
            .leaf("div", &[("class", "v")], &value)
            .close("div");
    }
    page.close("div");
    if counters.counters.is_empty() {
        return;
    }
    let columns: [Column<'_>; 6] =
        [("Counter", false), ("Samples", true), ("Avg", true), ("Min", true), ("Max", true), ("Total", true)];
    table::open(page, "Raw values per dispatch: instances summed, clocks as the maximum over dies", &columns);
    for (name, row) in &counters.counters {
        page.open("tr", &[]);
        match &row.description {
            Some(tip) => page.leaf("td", &[("data-tip", tip), ("tabindex", "0")], name),
            None => page.leaf("td", &[], name),
        };
        page.leaf("td", &[("class", "n")], &count(row.sample_count));
        for value in [row.avg_value, row.min_value, row.max_value, row.total_value] {
            page.leaf("td", &[("class", "n")], &decimal(value, 1));
        }
        page.close("tr");
    }
    table::close(page, counters.counters_total.saturating_sub(counters.counters.len() as u64));
}
