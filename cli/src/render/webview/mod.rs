//! The report as one self-contained HTML file: no request, no inline handler, readable without script.

mod advice;
mod charts;
pub mod html;
mod kernels;
mod sections;
mod table;

use base64::Engine;
use perfxpert_schemas::report::Report;
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::html::Html;
use super::number::{confidence, count, counted, duration, percent};
use super::section::Section;
use super::text;

/// The one style sheet.
pub const STYLE: &str = include_str!("page.css");
/// The one script.
pub const SCRIPT: &str = include_str!("page.js");

/// Longest database name in the header.
const DATABASE_COLUMNS: usize = 45;

/// `sha256-…` of a text as a content security policy spells it.
pub fn policy_hash(text: &str) -> String {
    format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// The policy that allows exactly the one style sheet and the one script.
pub fn policy() -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        policy_hash(SCRIPT),
        policy_hash(STYLE)
    )
}

/// Opens a page up to its main element: used by the report and by the diff.
pub fn open_page(page: &mut Html, title: &str) {
    page.constant("<!doctype html>\n").open("html", &[("lang", "en"), ("data-theme", "dark")]);
    page.constant("\n<head>\n").open("meta", &[("charset", "utf-8")]);
    page.constant("\n")
        .open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy())])
        .constant("\n")
        .open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")])
        .constant("\n")
        .open("meta", &[("name", "referrer"), ("content", "no-referrer")])
        .constant("\n")
        .leaf("title", &[], title)
        .constant("\n<style>")
        .constant(STYLE)
        .constant("</style>\n</head>\n<body>\n")
        .leaf("a", &[("class", "skip"), ("href", "#overview")], "Skip to the report")
        .constant("\n");
}

/// Closes a page: the data, the tooltip, the live region and the script.
pub fn close_page(page: &mut Html, data: &Value) {
    page.constant("\n")
        .open("button", &[("id", "fab-top"), ("type", "button"), ("hidden", "")])
        .text("Back to top")
        .close("button")
        .constant("\n")
        .open("div", &[("id", "tt"), ("role", "tooltip"), ("hidden", "")])
        .close("div")
        .open("div", &[("id", "live"), ("class", "sr"), ("aria-live", "polite")])
        .close("div")
        .constant("\n")
        .open("script", &[("type", "application/json"), ("id", "report-data")])
        .json(&super::pretty_json(data))
        .close("script")
        .constant("\n<script>")
        .constant(SCRIPT)
        .constant("</script>\n</body>\n</html>\n");
}

/// Opens a section's card. `pill` is a class and a text beside the heading.
pub fn open_card(page: &mut Html, id: &str, title: &str, pill: Option<(&str, &str)>) {
    let heading = format!("h-{id}");
    page.open("section", &[("class", "scard"), ("id", id), ("aria-labelledby", &heading)])
        .open("div", &[("class", "shdr")])
        .leaf("h2", &[("id", &heading)], title);
    if let Some((class, text)) = pill {
        page.leaf("span", &[("class", &format!("pill {class}"))], text);
    }
    page.close("div").open("div", &[("class", "sbody")]);
}

/// Closes a section's card.
pub fn close_card(page: &mut Html) {
    page.close("div").close("section").constant("\n");
}

/// Renders the whole report; `document` is embedded as it is.
pub fn report(report: &Report, document: &Value) -> String {
    let name = text::database(report).unwrap_or_else(|| "source scan".to_owned());
    let mut page = Html::default();
    open_page(&mut page, &format!("PerfXpert: {name}"));
    header(&mut page, report, &name);
    page.open("main", &[("class", "wrap")]).constant("\n");
    for message in text::data_loss(report) {
        page.prose("p", &[("class", "loss")], message);
    }
    for section in Section::ALL.into_iter().filter(|section| section.present(report)) {
        if section == Section::Footer {
            continue;
        }
        open_card(
            &mut page,
            section.id(),
            section.title(),
            pill(section, report).as_ref().map(|(c, t)| (*c, t.as_str())),
        );
        body(&mut page, section, report);
        close_card(&mut page);
    }
    page.close("main").constant("\n");
    footer(&mut page, report);
    close_page(&mut page, document);
    page.finish()
}

fn body(page: &mut Html, section: Section, report: &Report) {
    match section {
        Section::Overview => overview(page, report),
        Section::Summary => advice::summary(page, report),
        Section::Execution => sections::execution(page, report),
        Section::Hotspots => kernels::hotspots(page, report),
        Section::KernelResources => kernels::resources(page, report),
        Section::Memory => sections::memory(page, report),
        Section::ApiOverhead => sections::api(page, report),
        Section::Timeline => sections::timeline(page, report),
        Section::KernelCategories => kernels::categories(page, report),
        Section::ShortKernels => kernels::short(page, report),
        Section::Counters => kernels::counters(page, report),
        Section::Roofline => charts::roofline(page, report),
        Section::ThreadTrace => charts::thread_trace(page, report),
        Section::Communication => sections::communication(page, report),
        Section::GpuMonitor => sections::monitor(page, report),
        Section::TraceHealth => sections::health(page, report),
        Section::Recommendations => advice::recommendations(page, report),
        Section::Tier0 => advice::tier0(page, report),
        Section::TraceDiff => {
            if let Some(diff) = &report.trace_diff {
                super::diff::webview::body(page, diff);
            }
        }
        Section::Footer => {}
    }
}

fn pill(section: Section, report: &Report) -> Option<(&'static str, String)> {
    match section {
        Section::Summary => {
            let detail =
                report.bottleneck_detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
            let class = if report.primary_bottleneck == "data_insufficient" { "info" } else { "warn" };
            Some((class, format!("{}{detail}", report.primary_bottleneck)))
        }
        Section::TraceHealth => {
            let status = report.trace_health.as_ref()?.status.clone();
            Some((health_class(&status), status))
        }
        _ => None,
    }
}

/// Class of a health status.
fn health_class(status: &str) -> &'static str {
    match status {
        "ok" => "ok",
        "degraded" => "warn",
        _ => "crit",
    }
}

fn header(page: &mut Html, report: &Report, name: &str) {
    page.open("header", &[("class", "hdr")])
        .open("div", &[("class", "hdr-in")])
        .leaf("h1", &[], "ROCm PerfXpert")
        .leaf("span", &[("class", "sub")], "GPU performance report")
        .leaf("span", &[("class", "grow")], "");
    for (class, priority) in [("crit", "HIGH"), ("warn", "MEDIUM"), ("ok", "LOW"), ("info", "INFO")] {
        let number = report.recommendations.iter().filter(|entry| entry.priority == priority).count() as u64;
        page.leaf("span", &[("class", &format!("hbadge {class}"))], &format!("{} {priority}", count(number)));
    }
    page.leaf("button", &[("id", "theme-btn"), ("type", "button"), ("class", "no-js-hide")], "Theme")
        .close("div")
        .open("div", &[("class", "hpills")]);
    let tail: String = {
        let letters: Vec<char> = name.chars().collect();
        letters.iter().skip(letters.len().saturating_sub(DATABASE_COLUMNS)).collect()
    };
    let runtime = duration(report.profiling_info.total_duration_ns);
    let kernels = count(report.hotspots_total);
    for (label, value, tip) in [
        ("Runtime", runtime.as_str(), None),
        ("Kernels", kernels.as_str(), None),
        ("Tier", text::tier(report), None),
        ("Generated", report.metadata.analysis_timestamp.as_str(), None),
        ("DB", tail.as_str(), report.metadata.database_file.as_deref()),
    ] {
        let mut attributes = vec![("class", "hpill")];
        if let Some(tip) = tip {
            attributes.push(("data-tip", tip));
            attributes.push(("tabindex", "0"));
        }
        page.open("span", &attributes).text(label).text(" ").leaf("b", &[], value).close("span");
    }
    page.close("div").close("header").constant("\n");
}

fn tile(page: &mut Html, label: &str, class: &str, value: &str, detail: &str) {
    page.open("div", &[("class", "kpi")])
        .leaf("div", &[("class", "k")], label)
        .leaf("div", &[("class", &format!("v {class}"))], value)
        .leaf("div", &[("class", "d")], detail)
        .close("div");
}

fn overview(page: &mut Html, report: &Report) {
    page.prose("p", &[("class", "lead")], &report.summary.overall_assessment);
    page.open("div", &[("class", "kpis")]);
    let detail = report.bottleneck_detail.clone().unwrap_or_default();
    let sure = format!("{detail} confidence {}", confidence(report.confidence));
    tile(page, "Primary Bottleneck", "", &report.primary_bottleneck, sure.trim());
    let info = &report.profiling_info;
    if let Some(time) = &report.execution_breakdown {
        let dispatches = counted(info.dispatches, "dispatch", "dispatches");
        tile(page, "Total Runtime", "", &duration(info.total_duration_ns), &dispatches);
        let class = match time.kernel_time_pct {
            share if share >= 60.0 => "ok",
            share if share >= 30.0 => "warn",
            _ => "crit",
        };
        tile(page, "Kernel Execution", class, &percent(time.kernel_time_pct), "of the GPU windows");
    }
    tile(page, "Analysis Tier", "", text::tier(report), &info.profiling_mode);
    if let Some(health) = &report.trace_health {
        page.open("div", &[("class", "kpi")])
            .leaf("div", &[("class", "k")], "Trace Health")
            .open("div", &[("class", "v")])
            .leaf("a", &[("href", "#trace-health"), ("class", health_class(&health.status))], &health.status)
            .close("div")
            .leaf("div", &[("class", "d")], &counted(health.items_total, "finding", "findings"))
            .close("div");
    }
    page.close("div");
    let kinds = text::gpu_kinds(report);
    if !kinds.is_empty() {
        page.leaf("p", &[], &format!("GPUs: {}", kinds.join("; ")));
    }
    if let Some(sum) = text::normalized(report) {
        page.leaf("p", &[], &format!("Normalized runtime (sum of the GPU windows): {}", duration(sum)));
    }
    if !report.summary.key_findings.is_empty() {
        page.leaf("h3", &[], "Key findings").open("ul", &[]);
        for finding in &report.summary.key_findings {
            page.prose("li", &[], finding);
        }
        page.close("ul");
    }
}

fn footer(page: &mut Html, report: &Report) {
    page.open("footer", &[("id", "report-footer")])
        .leaf("span", &[], &text::closing(report))
        .leaf("button", &[("id", "copy-json"), ("type", "button"), ("class", "no-js-hide")], "Copy JSON")
        .close("footer");
}
