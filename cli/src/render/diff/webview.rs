//! The diff as HTML, alone or as a section of the report.

use perfxpert_schemas::diff::DiffDocument;
use serde_json::Value;

use super::{gpu_kinds, interval, kernel_counts, movement, side};
use crate::render::name::shorten;
use crate::render::number::{change, count, decimal, milliseconds, or_dash, percent};
use crate::render::webview::html::Html;
use crate::render::webview::{close_card, close_page, open_card, open_page};

/// Names longer than this are cut in the middle.
const NAME_COLUMNS: usize = 120;

/// The whole diff; `document_json` is embedded as it is.
pub fn report(document: &DiffDocument, document_json: &Value) -> String {
    let mut page = Html::default();
    open_page(&mut page, "PerfXpert: trace diff");
    page.open("header", &[("class", "hdr")])
        .open("div", &[("class", "hdr-in")])
        .leaf("h1", &[], "ROCm PerfXpert")
        .leaf("span", &[("class", "sub")], "Trace diff")
        .leaf("span", &[("class", "grow")], "");
    let (class, word) = pill(document);
    page.leaf("span", &[("class", &format!("hbadge {class}"))], word)
        .leaf("button", &[("id", "theme-btn"), ("type", "button"), ("class", "no-js-hide")], "Theme")
        .close("div")
        .close("header")
        .open("main", &[("class", "wrap")]);
    for (id, title, body) in parts(document) {
        open_card(&mut page, id, title, None);
        body(&mut page, document);
        close_card(&mut page);
    }
    page.close("main")
        .open("footer", &[("id", "report-footer")])
        .leaf("span", &[], &format!("Diff complete. Schema {}.", document.schema_version))
        .leaf("button", &[("id", "copy-json"), ("type", "button"), ("class", "no-js-hide")], "Copy JSON")
        .close("footer");
    close_page(&mut page, document_json);
    page.finish()
}

/// The parts as headings inside a card of the report.
pub fn body(page: &mut Html, document: &DiffDocument) {
    for (_, title, body) in parts(document) {
        page.leaf("h3", &[], title);
        body(page, document);
    }
}

type Part = (&'static str, &'static str, fn(&mut Html, &DiffDocument));

fn parts(document: &DiffDocument) -> Vec<Part> {
    let mut parts: Vec<Part> = vec![("overview", "Overview", overview)];
    if document.gate.is_some() {
        parts.push(("gate", "Gate", gate));
    }
    if document.comparability.status != "ok" || !document.comparability.issues.is_empty() {
        parts.push(("comparability", "Comparability", comparability));
    }
    parts.push(("kernel-deltas", "Per-kernel deltas", kernels));
    if document.added_kernels_total + document.removed_kernels_total > 0 {
        parts.push(("kernel-changes", "Added and removed kernels", changes));
    }
    parts.push(("summary", "Summary", summary));
    parts
}

/// Class and word of the verdict, by elapsed time.
fn pill(document: &DiffDocument) -> (&'static str, &'static str) {
    // Half a percent either way reads as unchanged.
    const UNCHANGED: f64 = 0.5;
    let limit = document.verdict_threshold_pct;
    match (document.verdict.as_str(), document.wall_delta_pct) {
        ("inconclusive", _) | (_, None) => ("warn", "INCONCLUSIVE"),
        (_, Some(delta)) if delta > limit => ("crit", "REGRESSED"),
        (_, Some(delta)) if delta < -limit => ("ok", "IMPROVED"),
        (_, Some(delta)) if delta > UNCHANGED => ("warn", "slower"),
        (_, Some(delta)) if delta < -UNCHANGED => ("ok", "faster"),
        _ => ("info", "unchanged within 0.5 %"),
    }
}

fn overview(page: &mut Html, document: &DiffDocument) {
    let (class, word) = pill(document);
    page.open("p", &[]).leaf("span", &[("class", &format!("pill {class}"))], word).close("p");
    page.open("ul", &[]);
    let mut item = |label: &str, value: &str| {
        page.open("li", &[]).leaf("b", &[], label).text(": ").text(value).close("li");
    };
    item("Baseline", &side(document.runs.baseline, &document.baseline_db));
    item("New", &side(document.runs.new, &document.new_db));
    item("Baseline GPUs", &gpu_kinds(&document.comparability.gpus.baseline).join("; "));
    item("New GPUs", &gpu_kinds(&document.comparability.gpus.new).join("; "));
    item("Wall time", &movement(document.baseline_wall_ns, document.new_wall_ns, document.wall_delta_pct));
    item(
        "Kernel time",
        &movement(document.baseline_kernel_ns, document.new_kernel_ns, document.kernel_time_delta_pct),
    );
    item("Kernels", &kernel_counts(document));
    item(
        "Verdict",
        &format!("{} (threshold {}%)", document.verdict, decimal(document.verdict_threshold_pct, 2)),
    );
    if document.kernel_verdict != document.verdict {
        item("Kernel verdict", &format!("{} ({})", document.kernel_verdict, document.kernel_rule));
    }
    page.close("ul");
}

fn gate(page: &mut Html, document: &DiffDocument) {
    let Some(gate) = &document.gate else { return };
    let range = interval(gate.wall.ci_low_pct, gate.wall.ci_high_pct).unwrap_or_default();
    page.leaf(
        "p",
        &[],
        &format!(
            "{}: wall {} {range} (threshold {}%, from {})",
            gate.verdict.replace('_', " "),
            or_dash(gate.wall.delta_pct, change),
            decimal(gate.threshold_pct, 2),
            gate.threshold_source
        ),
    );
    page.open("ul", &[]);
    for reason in &gate.reasons {
        page.prose("li", &[], &reason.text);
    }
    page.close("ul");
}

fn comparability(page: &mut Html, document: &DiffDocument) {
    page.open("ul", &[]);
    for issue in &document.comparability.issues {
        page.prose("li", &[], &format!("{} {}: {}", issue.severity, issue.code, issue.text));
    }
    for row in document.impossible_speed.iter().flatten() {
        page.open("li", &[])
            .leaf("code", &[], &shorten(&row.name, NAME_COLUMNS))
            .text(&format!(
                " ({}): {} GB/s, the GPU allows {} GB/s",
                row.side,
                decimal(row.gbps, 1),
                decimal(row.limit_gbps, 1)
            ))
            .close("li");
    }
    page.close("ul");
}

fn kernels(page: &mut Html, document: &DiffDocument) {
    if document.per_kernel.is_empty() {
        page.leaf("p", &[], "No kernel to compare.");
        return;
    }
    let caption = "Kernels by baseline time";
    page.open("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "group"), ("aria-label", caption)])
        .open("table", &[])
        .leaf("caption", &[], caption)
        .open("thead", &[])
        .open("tr", &[]);
    for (heading, numeric) in [
        ("Kernel", false),
        ("Baseline (ms)", true),
        ("New (ms)", true),
        ("Delta", true),
        ("Change", false),
        ("Share", true),
        ("Hot", false),
    ] {
        page.open(
            "th",
            &[("scope", "col"), ("class", if numeric { "n" } else { "" }), ("aria-sort", "none")],
        )
        .leaf("button", &[("type", "button"), ("class", "sort")], heading)
        .close("th");
    }
    page.close("tr").close("thead").open("tbody", &[]);
    for (index, row) in document.per_kernel.iter().enumerate() {
        let number = |page: &mut Html, raw: String, shown: String| {
            page.leaf("td", &[("class", "n"), ("data-v", &raw)], &shown);
        };
        page.open("tr", &[("data-rank", &(index + 1).to_string())])
            .open("td", &[("class", "name"), ("data-v", &row.name)])
            .leaf("code", &[], &shorten(&row.name, NAME_COLUMNS))
            .close("td");
        number(page, row.baseline_ns.to_string(), milliseconds(row.baseline_ns));
        number(page, row.new_ns.to_string(), milliseconds(row.new_ns));
        number(page, row.delta_pct.unwrap_or(f64::MAX).to_string(), or_dash(row.delta_pct, change));
        bar(page, row.delta_pct);
        number(page, row.share_pct.unwrap_or(0.0).to_string(), or_dash(row.share_pct, percent));
        page.leaf("td", &[], if row.was_hot { "yes" } else { "no" }).close("tr");
    }
    page.close("tbody").close("table").close("div");
    let left = document.per_kernel_total.saturating_sub(document.per_kernel.len() as u64);
    if left > 0 {
        page.leaf("p", &[("class", "more")], &format!("and {} more", count(left)));
    }
}

/// A bar from the middle, |delta| capped at 100 with a mark at the cap.
fn bar(page: &mut Html, delta: Option<f64>) {
    page.open("td", &[("data-v", &delta.unwrap_or(f64::MAX).to_string())]);
    if let Some(delta) = delta {
        let width = delta.abs().min(100.0);
        let left = if delta < 0.0 { 100.0 - width } else { 100.0 };
        let class = if delta < 0.0 { "s-kernel" } else { "s-copy" };
        page.open(
            "svg",
            &[
                ("class", "bar"),
                ("viewBox", "0 0 200 12"),
                ("width", "120"),
                ("height", "12"),
                ("aria-hidden", "true"),
            ],
        )
        .open(
            "rect",
            &[
                ("class", class),
                ("x", &format!("{left:.1}")),
                ("width", &format!("{width:.1}")),
                ("height", "12"),
            ],
        )
        .close("rect");
        if delta.abs() > 100.0 {
            let x = if delta < 0.0 { "0" } else { "196" };
            page.open("rect", &[("class", "s-idle"), ("x", x), ("width", "4"), ("height", "12")])
                .close("rect");
        }
        page.close("svg");
    }
    page.close("td");
}

fn changes(page: &mut Html, document: &DiffDocument) {
    page.open("ul", &[]);
    for row in &document.added_kernels {
        page.open("li", &[]).text("added ").leaf("code", &[], &shorten(&row.name, NAME_COLUMNS));
        page.text(&format!(": {} calls, {} ms", count(row.new_calls), milliseconds(row.new_ns))).close("li");
    }
    for row in &document.removed_kernels {
        page.open("li", &[]).text("removed ").leaf("code", &[], &shorten(&row.name, NAME_COLUMNS));
        page.text(&format!(": {} calls, {} ms", count(row.baseline_calls), milliseconds(row.baseline_ns)))
            .close("li");
    }
    let shown = (document.added_kernels.len() + document.removed_kernels.len()) as u64;
    let left = (document.added_kernels_total + document.removed_kernels_total).saturating_sub(shown);
    if left > 0 {
        page.leaf("li", &[("class", "more")], &format!("and {} more", count(left)));
    }
    for rename in &document.possible_renames {
        page.open("li", &[])
            .text("possibly renamed: ")
            .leaf("code", &[], &shorten(&rename.from, NAME_COLUMNS))
            .text(" to ")
            .leaf("code", &[], &shorten(&rename.to, NAME_COLUMNS))
            .close("li");
    }
    page.close("ul");
}

fn summary(page: &mut Html, document: &DiffDocument) {
    page.prose("p", &[("class", "lead")], &document.narrative);
    for warning in &document.warnings {
        page.prose("p", &[("class", "loss")], warning);
    }
}
