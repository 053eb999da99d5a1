//! Verdict, recommendations and the source scan as HTML.

use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::advice::Recommendation;

use super::html::Html;
use super::table::{self, Column};
use crate::render::number::{confidence, count, counted, decimal, percent};
use crate::render::text;

pub(super) fn summary(page: &mut Html, report: &Report) {
    for paragraph in report.narrative.split('\n').filter(|paragraph| !paragraph.trim().is_empty()) {
        page.prose("p", &[("class", "lead")], paragraph);
    }
    if let (Some(provider), Some(model)) = (&report.metadata.provider, &report.metadata.model) {
        page.leaf("p", &[("class", "more")], &format!("Written by {provider}/{model}"));
    }
    if !report.warnings.is_empty() {
        page.leaf("h3", &[], "Warnings").open("ul", &[]);
        for warning in &report.warnings {
            page.prose("li", &[], warning);
        }
        page.close("ul");
    }
    if !report.evidence.items.is_empty() {
        let columns: [Column<'_>; 4] =
            [("Evidence", false), ("Value", true), ("Threshold", true), ("Role", false)];
        let rows: Vec<Vec<String>> = report
            .evidence
            .items
            .iter()
            .map(|item| {
                let unit = match item.unit.as_str() {
                    "percent" => "%",
                    "ratio" | "count" | "" => "",
                    unit => unit,
                };
                let number = |value: Option<f64>| {
                    value.map_or_else(|| "–".to_owned(), |value| format!("{}{unit}", decimal(value, 2)))
                };
                let threshold = match (&item.comparator, item.threshold) {
                    (Some(sign), Some(_)) => format!("{sign} {}", number(item.threshold)),
                    _ => "–".to_owned(),
                };
                vec![item.text.clone(), number(item.value), threshold, item.role.clone()]
            })
            .collect();
        table::whole(page, "What the verdict stands on", &columns, &rows, report.evidence.items_total);
    }
    for proposal in report.exploratory_proposals.iter().flatten() {
        let title = proposal.get("title").and_then(serde_json::Value::as_str).unwrap_or_default();
        page.prose("p", &[], &format!("Exploratory, not verified: {title}"));
    }
}

pub(super) fn recommendations(page: &mut Html, report: &Report) {
    if report.recommendations.is_empty() {
        page.leaf("p", &[], text::nothing(report));
    }
    for entry in &report.recommendations {
        card(page, entry);
    }
    let left = report.recommendations_total.saturating_sub(report.recommendations.len() as u64);
    if left > 0 {
        page.leaf("p", &[("class", "more")], &format!("and {} more", count(left)));
    }
}

fn card(page: &mut Html, entry: &Recommendation) {
    let (class, colour, icon) = match entry.priority.as_str() {
        "HIGH" => ("r-card r-high", "crit", "▲"),
        "MEDIUM" => ("r-card r-medium", "warn", "◆"),
        "LOW" => ("r-card r-low", "low", "●"),
        _ => ("r-card r-info", "info", "ℹ"),
    };
    page.open("article", &[("class", class), ("id", &entry.anchor)]);
    let open: &[(&str, &str)] = if entry.priority == "HIGH" { &[("open", "")] } else { &[] };
    page.open("details", open)
        .open("summary", &[])
        .open("span", &[("class", &format!("sev {colour}"))])
        .text(icon)
        .text(" ")
        .text(&entry.priority)
        .close("span");
    page.open("span", &[("class", "grow")]).leaf("b", &[], &entry.category);
    if entry.advanced {
        page.text(" ").leaf("span", &[("class", "badge")], "[advanced]");
    }
    page.open("div", &[]).text(&entry.title).close("div").close("span");
    page.leaf("span", &[("class", "more")], &format!("Confidence {}", confidence(entry.confidence)));
    if let Some(bound) = entry.gain_bound_pct {
        page.leaf("span", &[("class", "more")], &format!("at most {} of the run", percent(bound)));
    }
    page.close("summary").open("div", &[("class", "rb")]);
    let part = |page: &mut Html, heading: &str, body: &str| {
        page.leaf("h4", &[], heading).prose("p", &[], body);
    };
    if let Some(target) = &entry.target {
        page.leaf("h4", &[], "Target").open("p", &[]).leaf("code", &[], target).close("p");
    }
    part(page, "Issue", &entry.issue);
    part(page, "What to do", &entry.suggestion);
    page.open("ol", &[]);
    for action in &entry.actions {
        page.prose("li", &[], action);
    }
    page.close("ol").leaf("h4", &[], "Evidence").open("ul", &[]);
    for item in &entry.evidence {
        page.prose("li", &[], &item.text);
    }
    page.close("ul");
    if !entry.preconditions.is_empty() {
        page.leaf("h4", &[], "It works when").open("ul", &[]);
        for condition in &entry.preconditions {
            let detail =
                if condition.detail.is_empty() { String::new() } else { format!(" ({})", condition.detail) };
            page.prose("li", &[], &format!("{}: {}{detail}", condition.name, condition.status));
        }
        page.close("ul");
    }
    if !entry.source_refs.is_empty() {
        page.leaf("h4", &[], "Source");
        for place in &entry.source_refs {
            let at = format!("{}:{}", place.file, place.line);
            page.open("div", &[("class", "loc")]).leaf("code", &[], &at);
            table::copy(page, &at);
            page.leaf("span", &[("class", "badge")], place.pattern_id.as_deref().unwrap_or(&place.kind));
            page.close("div");
        }
    }
    part(page, "Expected impact", &entry.estimated_impact);
    if let Some((range, sure)) = text::predicted(entry) {
        part(page, "Predicted", &format!("{range} (confidence {sure})"));
    }
    if let Some(note) = &entry.llm_note {
        part(page, "Note", note);
    }
    for (label, snippet) in [("Now", &entry.code_snippet_before), ("Changed", &entry.code_snippet_after)] {
        if let Some(snippet) = snippet {
            page.leaf("h4", &[], label).leaf("pre", &[], snippet);
        }
    }
    if !entry.commands.is_empty() {
        page.leaf("h4", &[], "Commands");
    }
    for command in &entry.commands {
        page.open("div", &[])
            .leaf("span", &[("class", "badge")], &command.tool)
            .text(" ")
            .text(&command.description)
            .close("div");
        table::command(page, &command.full_command);
    }
    if entry.subtype.as_deref() == Some("pragma") {
        page.leaf("p", &[("class", "more")], "Verify with: perfxpert diff <this>.db <new>.db");
    }
    page.close("div").close("details").close("article").constant("\n");
}

/// Kernels of the scan shown.
const KERNEL_ROWS: usize = 50;

pub(super) fn tier0(page: &mut Html, report: &Report) {
    let Some(scan) = &report.tier0_findings else { return };
    page.open("p", &[]);
    for model in &scan.programming_models {
        page.leaf("span", &[("class", "badge b-blue")], model).text(" ");
    }
    for library in &scan.libraries {
        page.leaf("span", &[("class", "badge")], library).text(" ");
    }
    for framework in &scan.frameworks {
        page.leaf("span", &[("class", "badge b-orange")], &framework.name).text(" ");
    }
    page.close("p").leaf("p", &[], &text::scan_counts(scan));
    let plan = &scan.profiling_plan;
    page.leaf("h3", &[("id", "tier0-profiling-plan")], "Profiling Plan").prose("p", &[], &plan.description);
    for command in &plan.actions {
        table::command(page, &command.full_command);
    }
    if !plan.suggested_counters.is_empty() {
        page.leaf("p", &[], &format!("Suggested counters: {}", plan.suggested_counters.join(" ")));
        for pass in &plan.passes {
            if !plan.actions.iter().any(|action| action.full_command == pass.command) {
                table::command(page, &pass.command);
            }
        }
    }
    page.leaf("h3", &[], "Detected GPU Kernels");
    if scan.detected_kernels.is_empty() {
        page.leaf(
            "p",
            &[],
            &format!("No GPU code found in {}.", counted(scan.files_scanned, "file", "files")),
        );
    } else {
        let columns: [Column<'_>; 5] =
            [("Kernel", false), ("Kind", false), ("Location", false), ("Runtime", true), ("Severity", false)];
        let shown: Vec<Vec<String>> = scan
            .detected_kernels
            .iter()
            .take(KERNEL_ROWS)
            .map(|kernel| {
                let hotspot = report.hotspots.iter().find(|row| {
                    row.source_locations
                        .iter()
                        .flatten()
                        .any(|place| place.file == kernel.file && place.line == kernel.line)
                });
                vec![
                    kernel.qualified_name.clone(),
                    kernel.launch_type.clone(),
                    format!("{}:{}", kernel.file, kernel.line),
                    hotspot.map_or_else(|| "–".to_owned(), |row| percent(row.pct_of_runtime)),
                    hotspot.map_or_else(|| "–".to_owned(), |row| row.severity.clone()),
                ]
            })
            .collect();
        table::whole(page, "Definitions and launches", &columns, &shown, scan.detected_kernels_total);
    }
    page.leaf("h3", &[], "Detected Code Patterns");
    if scan.detected_patterns.is_empty() {
        page.leaf("p", &[], "No code pattern needs attention.");
        return;
    }
    let columns: [Column<'_>; 5] =
        [("Severity", false), ("Pattern", false), ("Count", true), ("In a loop", true), ("Where", false)];
    let rows: Vec<Vec<String>> = scan
        .detected_patterns
        .iter()
        .map(|pattern| {
            vec![
                pattern.severity.clone(),
                format!("{}: {}", pattern.pattern_id, pattern.description),
                count(pattern.count),
                count(pattern.in_loop_count),
                pattern.locations.join(", "),
            ]
        })
        .collect();
    table::whole(page, "Code that tends to slow a GPU down", &columns, &rows, rows.len() as u64);
}
