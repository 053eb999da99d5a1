//! The diff as markdown, alone or as a section of the report.

use perfxpert_schemas::diff::DiffDocument;

use super::{gpu_kinds, kernel_counts, movement, side};
use crate::render::name::{code_cell, code_span, plain, prose};
use crate::render::number::{change, count, decimal, milliseconds, or_dash};

/// Rows of a table before "and n more".
const ROWS: usize = 20;

/// The whole diff.
pub fn report(document: &DiffDocument) -> String {
    let mut out = String::from("# PerfXpert - Trace diff\n\n");
    out.push_str(&format!(
        "- **Baseline:** {}\n",
        plain(&side(document.runs.baseline, &document.baseline_db))
    ));
    out.push_str(&format!("- **New:** {}\n", plain(&side(document.runs.new, &document.new_db))));
    for (label, kinds) in [
        ("Baseline GPUs", &document.comparability.gpus.baseline),
        ("New GPUs", &document.comparability.gpus.new),
    ] {
        out.push_str(&format!("- **{label}:** {}\n", plain(&gpu_kinds(kinds).join("; "))));
    }
    out.push_str(&body(document, "##"));
    out
}

/// Everything below the heading; `level` is the heading mark of its parts.
pub fn body(document: &DiffDocument, level: &str) -> String {
    let mut out = String::new();
    let bullet =
        |out: &mut String, label: &str, text: &str| out.push_str(&format!("- **{label}:** {text}\n"));
    bullet(
        &mut out,
        "Wall-time delta",
        &movement(document.baseline_wall_ns, document.new_wall_ns, document.wall_delta_pct),
    );
    bullet(
        &mut out,
        "Kernel-time delta",
        &movement(document.baseline_kernel_ns, document.new_kernel_ns, document.kernel_time_delta_pct),
    );
    bullet(&mut out, "Regressions", &count(document.primary_regressions_total));
    bullet(&mut out, "Improvements", &count(document.primary_improvements_total));
    bullet(&mut out, "Kernels", &kernel_counts(document));
    bullet(
        &mut out,
        "Verdict",
        &format!("{} (threshold {}%)", document.verdict, decimal(document.verdict_threshold_pct, 2)),
    );
    if document.kernel_verdict != document.verdict {
        bullet(
            &mut out,
            "Kernel verdict",
            &format!("{} ({})", document.kernel_verdict, document.kernel_rule),
        );
    }
    if let Some(gate) = &document.gate {
        out.push_str(&format!("\n{level} Gate\n\n"));
        bullet(&mut out, "Gate verdict", &gate.verdict.replace('_', " "));
        for reason in &gate.reasons {
            out.push_str(&format!("- {}\n", prose(&reason.text)));
        }
    }
    if !document.comparability.issues.is_empty() {
        out.push_str(&format!("\n{level} Comparability\n\n"));
        for issue in &document.comparability.issues {
            out.push_str(&format!(
                "- **{}** {}: {}\n",
                issue.severity,
                plain(&issue.code),
                prose(&issue.text)
            ));
        }
        for row in document.impossible_speed.iter().flatten() {
            out.push_str(&format!(
                "- {} ({}): {} GB/s, the GPU allows {} GB/s\n",
                code_span(&row.name),
                row.side,
                decimal(row.gbps, 1),
                decimal(row.limit_gbps, 1)
            ));
        }
    }
    out.push_str(&format!("\n{level} Per-kernel deltas\n\n"));
    if document.per_kernel.is_empty() {
        out.push_str("No kernel to compare.\n");
    } else {
        out.push_str("| Kernel | Baseline (ns) | New (ns) | Delta (ns) | Delta % | Hot? |\n");
        out.push_str("|---|---:|---:|---:|---:|---|\n");
        for row in document.per_kernel.iter().take(ROWS) {
            out.push_str(&format!(
                "| {} | {} | {} | {} | {} | {} |\n",
                code_cell(&row.name),
                count(row.baseline_ns),
                count(row.new_ns),
                signed(row.delta_ns),
                or_dash(row.delta_pct, change),
                if row.was_hot { "yes" } else { "no" }
            ));
        }
        more(&mut out, document.per_kernel_total, document.per_kernel.len().min(ROWS));
    }
    if document.added_kernels_total + document.removed_kernels_total > 0 {
        out.push_str(&format!("\n{level} Added and removed kernels\n\n"));
        out.push_str("| Change | Kernel | Calls | Time (ms) |\n|---|---|---:|---:|\n");
        for row in document.added_kernels.iter().take(ROWS) {
            out.push_str(&format!(
                "| added | {} | {} | {} |\n",
                code_cell(&row.name),
                count(row.new_calls),
                milliseconds(row.new_ns)
            ));
        }
        for row in document.removed_kernels.iter().take(ROWS) {
            out.push_str(&format!(
                "| removed | {} | {} | {} |\n",
                code_cell(&row.name),
                count(row.baseline_calls),
                milliseconds(row.baseline_ns)
            ));
        }
        let shown = document.added_kernels.len().min(ROWS) + document.removed_kernels.len().min(ROWS);
        more(&mut out, document.added_kernels_total + document.removed_kernels_total, shown);
        for rename in &document.possible_renames {
            out.push_str(&format!(
                "\nPossibly renamed: {} to {}\n",
                code_span(&rename.from),
                code_span(&rename.to)
            ));
        }
    }
    out.push_str(&format!("\n{level} Summary\n\n{}\n", prose(&document.narrative)));
    for warning in &document.warnings {
        out.push_str(&format!("\n- ⚠ {}\n", prose(warning)));
    }
    out
}

fn signed(value: i64) -> String {
    let digits = count(value.unsigned_abs());
    if value < 0 { format!("-{digits}") } else { format!("+{digits}") }
}

fn more(out: &mut String, total: u64, shown: usize) {
    let left = total.saturating_sub(shown as u64);
    if left > 0 {
        out.push_str(&format!("\nand {} more\n", count(left)));
    }
}
