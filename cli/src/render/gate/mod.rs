//! Renderings of the gate of a CI job: its one line, markdown, JUnit and workflow commands.

pub mod github;
pub mod junit;

use perfxpert_schemas::diff::{DiffDocument, Gate, GateKernel};

use crate::render::diff::{self, interval};
use crate::render::name::{code_cell, code_span, plain, prose, visible};
use crate::render::number::{change, decimal, milliseconds, or_dash};

/// `+6.90% [+5.94%, +7.78%]`; a dash when there is no percentage.
pub(super) fn moved(percent: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let range = interval(low, high).map(|range| format!(" {range}")).unwrap_or_default();
    format!("{}{range}", or_dash(percent, change))
}

pub(super) fn wall_moved(gate: &Gate) -> String {
    moved(gate.wall.delta_pct, gate.wall.ci_low_pct, gate.wall.ci_high_pct)
}

pub(super) fn kernel_moved(kernel: &GateKernel) -> String {
    moved(kernel.delta_pct, kernel.ci_low_pct, kernel.ci_high_pct)
}

/// `5.00%`.
pub(super) fn limit(percent: f64) -> String {
    format!("{}%", decimal(percent, 2))
}

/// Kernels that took part or are on one side only.
pub(super) fn named(gate: &Gate) -> impl Iterator<Item = &GateKernel> {
    gate.kernels.iter().filter(|kernel| kernel.verdict != "not_gated")
}

/// The last line on standard error.
pub fn verdict_line(gate: &Gate) -> String {
    let wall = format!("wall {} (threshold {})", wall_moved(gate), limit(gate.threshold_pct));
    let mut codes: Vec<&str> = gate.reasons.iter().map(|reason| reason.code.as_str()).collect();
    codes.dedup();
    match gate.verdict.as_str() {
        "pass" => format!("✓ pass: {wall}"),
        "regressed" => {
            let mut kernels = gate.kernels.iter().filter(|kernel| kernel.verdict == "regressed");
            let worst = kernels.next().map(|kernel| {
                let threshold = gate.kernel_threshold_pct.map(limit).unwrap_or_default();
                let more = match kernels.count() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let change = or_dash(kernel.delta_pct, change);
                format!("; kernel `{}` {change} (threshold {threshold}){more}", visible(&kernel.name))
            });
            format!("✗ regressed: {wall}{}", worst.unwrap_or_default())
        }
        _ => {
            let nothing = |code: &&str| code.starts_with("empty_") || *code == "different_gpu";
            let codes_text = codes.join(", ");
            if codes.iter().any(nothing) {
                format!("? no verdict: {codes_text}")
            } else {
                format!("? no verdict: {wall}: {codes_text}")
            }
        }
    }
}

/// Heading, one table, the reasons, and the diff folded away.
pub fn markdown(document: &DiffDocument, gate: &Gate, title: &str) -> String {
    let mut out = format!("## {}: {}\n\n", plain(title), gate.verdict.replace('_', " "));
    out.push_str(
        "| What | Baseline | Candidate | Change | Interval | Verdict |\n|---|---:|---:|---:|---|---|\n",
    );
    let mut row =
        |what: &str, before: u64, after: u64, percent: Option<f64>, range: Option<String>, verdict: &str| {
            out.push_str(&format!(
                "| {what} | {} ms | {} ms | {} | {} | {} |\n",
                milliseconds(before),
                milliseconds(after),
                or_dash(percent, change),
                range.unwrap_or_else(|| "–".to_owned()),
                verdict.replace('_', " ")
            ));
        };
    let wall = &gate.wall;
    let range = interval(wall.ci_low_pct, wall.ci_high_pct);
    row("wall time", wall.baseline_median_ns, wall.candidate_median_ns, wall.delta_pct, range, &wall.verdict);
    for kernel in named(gate).filter(|kernel| kernel.verdict != "added" && kernel.verdict != "removed") {
        let range = interval(kernel.ci_low_pct, kernel.ci_high_pct);
        let (before, after) = (kernel.baseline_median_ns, kernel.candidate_median_ns);
        row(&code_cell(&kernel.name), before, after, kernel.delta_pct, range, &kernel.verdict);
    }
    if !gate.reasons.is_empty() {
        out.push('\n');
        for reason in &gate.reasons {
            out.push_str(&format!("- {}: {}\n", code_span(&reason.code), prose(&reason.text)));
        }
    }
    out.push_str("\n<details>\n<summary>Trace diff</summary>\n\n");
    out.push_str(&diff::markdown::body(document, "###"));
    out.push_str("\n</details>\n");
    out
}
