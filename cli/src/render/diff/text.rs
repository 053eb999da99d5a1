//! The diff as text, with the gate when the document carries one.

use perfxpert_schemas::diff::{DiffDocument, Gate, KernelDelta};

use super::{gpu_kinds, interval, kernel_counts, movement, side};
use crate::render::Layout;
use crate::render::name::{shorten, visible};
use crate::render::number::{change, count, decimal, milliseconds, or_dash, percent};
use crate::render::text::{Column, Page, Side::Left, Side::Right};

/// Gate lines of kernels shown.
const GATE_ROWS: usize = 20;

/// The whole diff.
pub fn report(document: &DiffDocument, layout: Layout) -> String {
    let mut page = Page::new(layout);
    page.title("PERFXPERT TRACE DIFF");
    page.labelled("Baseline:", &side(document.runs.baseline, &document.baseline_db));
    let label = if document.gate.is_some() { "Candidate:" } else { "New:" };
    page.labelled(label, &side(document.runs.new, &document.new_db));
    let (before, after) =
        (gpu_kinds(&document.comparability.gpus.baseline), gpu_kinds(&document.comparability.gpus.new));
    if before == after {
        for (index, kind) in before.iter().enumerate() {
            page.labelled(if index == 0 { "GPUs:" } else { "" }, kind);
        }
    } else {
        page.labelled("GPUs, baseline:", &before.join("; "));
        page.labelled("GPUs, new:", &after.join("; "));
    }
    body(&mut page, document);
    page.finish()
}

/// Everything below the title block; also a section of the report.
pub fn body(page: &mut Page, document: &DiffDocument) {
    page.banner("OVERVIEW");
    page.labelled(
        "Wall time:",
        &movement(document.baseline_wall_ns, document.new_wall_ns, document.wall_delta_pct),
    );
    page.labelled(
        "Kernel time:",
        &movement(document.baseline_kernel_ns, document.new_kernel_ns, document.kernel_time_delta_pct),
    );
    page.labelled("Kernels:", &kernel_counts(document));
    if document.gate.is_none() {
        page.labelled(
            "Verdict:",
            &format!("{} (threshold {}%)", document.verdict, decimal(document.verdict_threshold_pct, 2)),
        );
        if document.kernel_verdict != document.verdict {
            page.labelled(
                "Kernel verdict:",
                &format!("{} ({})", document.kernel_verdict, document.kernel_rule),
            );
        }
    }
    if let Some(gate) = &document.gate {
        page.banner("GATE");
        gate_lines(page, document, gate);
    }
    if document.comparability.status != "ok" || !document.comparability.issues.is_empty() {
        page.banner("COMPARABILITY");
        comparability(page, document);
    }
    page.banner("PER-KERNEL DELTAS");
    kernels(page, document);
    if document.added_kernels_total + document.removed_kernels_total > 0 {
        page.banner("ADDED AND REMOVED KERNELS");
        changes(page, document);
    }
    page.banner("SUMMARY");
    page.prose("", "", &document.narrative);
    for warning in &document.warnings {
        page.prose("Warning: ", "  ", warning);
    }
}

fn gate_lines(page: &mut Page, document: &DiffDocument, gate: &Gate) {
    let wall = &gate.wall;
    page.labelled("Verdict:", &gate.verdict.to_uppercase().replace('_', " "));
    let range = interval(wall.ci_low_pct, wall.ci_high_pct);
    let sure = wall.confidence.map(|fraction| format!(" at {}% confidence", decimal(fraction * 100.0, 1)));
    let range =
        range.map(|range| format!(", interval {range}{}", sure.unwrap_or_default())).unwrap_or_default();
    page.labelled("Wall:", &format!("{}{range}", or_dash(wall.delta_pct, change)));
    page.labelled("Threshold:", &format!("{}% ({})", decimal(gate.threshold_pct, 2), gate.threshold_source));
    if let (Some(least), "rank_interval") = (wall.smallest_detectable_change_pct, gate.method.as_str()) {
        page.labelled("Detectable:", &format!("changes of {}% and more", decimal(least, 2)));
    }
    if gate.runs.baseline == 1 && gate.runs.candidate == 1 {
        page.labelled("Runs:", "1 baseline, 1 candidate; noise unknown");
    } else {
        let spread = |value: Option<f64>| {
            value.map(|percent| format!(" (spread {}%)", decimal(percent, 2))).unwrap_or_default()
        };
        page.labelled(
            "Runs:",
            &format!(
                "{} baseline{}, {} candidate{}",
                count(gate.runs.baseline),
                spread(wall.baseline_spread_pct),
                count(gate.runs.candidate),
                spread(wall.candidate_spread_pct)
            ),
        );
    }
    if let Some(limit) = gate.kernel_threshold_pct {
        page.labelled(
            "Kernel gate:",
            &format!(
                "{}%, {} of {} kernels hold {}% of kernel time or more",
                decimal(limit, 2),
                count(gate.kernels_gated),
                count(gate.kernels_total),
                decimal(gate.min_time_share_pct, 1)
            ),
        );
        let gated = || gate.kernels.iter().filter(|kernel| kernel.verdict != "not_gated");
        for kernel in gated().take(GATE_ROWS) {
            let range = interval(kernel.ci_low_pct, kernel.ci_high_pct).unwrap_or_default();
            let width = 34 + page.extra();
            let name = shorten(&visible(&kernel.name), width);
            let pad = " ".repeat(width.saturating_sub(crate::render::name::width(&name)));
            let moved = or_dash(kernel.delta_pct, change);
            page.line(format!("  {:<12}{name}{pad}{moved:>10}  {range}", kernel.verdict));
            let row = document.per_kernel.iter().find(|row| row.name == kernel.name);
            if let Some(per_call) =
                row.filter(|_| kernel.calls_changed).and_then(|row| row.per_call_delta_pct)
            {
                let (before, after) = (count(kernel.baseline_calls), count(kernel.candidate_calls));
                page.line(format!("              per call {}, {before} -> {after} calls", change(per_call)));
            }
        }
        page.more(gated().count().saturating_sub(GATE_ROWS) as u64);
    }
    for (index, reason) in gate.reasons.iter().enumerate() {
        let label = if index == 0 { "Reasons:        " } else { "                " };
        page.prose(label, "                ", &reason.text);
    }
}

fn comparability(page: &mut Page, document: &DiffDocument) {
    page.labelled("Status:", &document.comparability.status);
    for issue in &document.comparability.issues {
        page.prose("", "  ", &format!("[{}] {}: {}", issue.severity, issue.code, issue.text));
    }
    for row in document.impossible_speed.iter().flatten() {
        page.prose(
            "  ",
            "    ",
            &format!(
                "{} ({}): {} GB/s, the GPU allows {} GB/s",
                shorten(&row.name, 60),
                row.side,
                decimal(row.gbps, 1),
                decimal(row.limit_gbps, 1)
            ),
        );
    }
}

fn kernels(page: &mut Page, document: &DiffDocument) {
    if document.per_kernel.is_empty() {
        page.line("No kernel to compare.");
        return;
    }
    let columns: [Column<'_>; 5] = [
        ("Kernel", 34 + page.extra(), Left),
        ("Base (ms)", 12, Right),
        ("New (ms)", 12, Right),
        ("Delta", 11, Right),
        ("Share", 9, Right),
    ];
    page.header(&columns);
    for row in &document.per_kernel {
        page.row(
            &columns,
            &[
                row.name.clone(),
                milliseconds(row.baseline_ns),
                milliseconds(row.new_ns),
                or_dash(row.delta_pct, change),
                or_dash(row.share_pct, percent),
            ],
        );
    }
    page.more(document.per_kernel_total.saturating_sub(document.per_kernel.len() as u64));
}

fn changes(page: &mut Page, document: &DiffDocument) {
    let columns: [Column<'_>; 4] = [
        ("Change", 10, Left),
        ("Kernel", 42 + page.extra(), Left),
        ("Calls", 10, Right),
        ("Time (ms)", 14, Right),
    ];
    page.header(&columns);
    let mut rows = |rows: &[KernelDelta], total: u64, new: bool| {
        for row in rows {
            let (calls, ns) =
                if new { (row.new_calls, row.new_ns) } else { (row.baseline_calls, row.baseline_ns) };
            page.row(&columns, &[row.status.clone(), row.name.clone(), count(calls), milliseconds(ns)]);
        }
        page.more(total.saturating_sub(rows.len() as u64));
    };
    rows(&document.added_kernels, document.added_kernels_total, true);
    rows(&document.removed_kernels, document.removed_kernels_total, false);
    for rename in &document.possible_renames {
        page.prose(
            "",
            "  ",
            &format!("Possibly renamed: {} -> {}", shorten(&rename.from, 60), shorten(&rename.to, 60)),
        );
    }
}
