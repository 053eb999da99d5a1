//! The source scan and the comparison with a baseline as text.

use perfxpert_schemas::report::Report;

use super::page::{Column, Page, Side::Left, Side::Right};
use crate::render::number::{count, counted};

/// Kernels of the scan shown.
const KERNEL_ROWS: usize = 50;

pub(super) fn tier0(page: &mut Page, report: &Report) {
    let Some(scan) = &report.tier0_findings else { return };
    page.labelled("Source:", &scan.source_dir);
    page.labelled("Model:", &scan.programming_models.join(", "));
    page.prose("", "", &counts(scan));
    if scan.detected_kernels.is_empty() {
        page.line(format!("No GPU code found in {}.", counted(scan.files_scanned, "file", "files")));
    } else {
        let columns: [Column<'_>; 3] =
            [("Kernel", 30 + page.extra(), Left), ("Type", 22, Left), ("Line", 28, Left)];
        page.header(&columns);
        for kernel in scan.detected_kernels.iter().take(KERNEL_ROWS) {
            page.row(
                &columns,
                &[
                    kernel.qualified_name.clone(),
                    kernel.launch_type.clone(),
                    format!("{}:{}", kernel.file, kernel.line),
                ],
            );
        }
        page.more(
            scan.detected_kernels_total.saturating_sub(scan.detected_kernels.len().min(KERNEL_ROWS) as u64),
        );
    }
    page.banner("TIER-0: PROFILING PLAN");
    let plan = &scan.profiling_plan;
    page.prose("", "", &plan.description);
    for command in &plan.actions {
        page.command(2, &command.full_command);
    }
    page.banner("DETECTED CODE PATTERNS");
    if scan.detected_patterns.is_empty() {
        page.line("No code pattern needs attention.");
        return;
    }
    let columns: [Column<'_>; 6] = [
        ("Severity", 9, Left),
        ("Pattern", 18, Left),
        ("Count", 6, Right),
        ("In loop", 8, Right),
        ("", 1, Left),
        ("First location", 36 + page.extra(), Left),
    ];
    page.header(&columns);
    for pattern in &scan.detected_patterns {
        page.row(
            &columns,
            &[
                pattern.severity.clone(),
                pattern.pattern_id.clone(),
                count(pattern.count),
                count(pattern.in_loop_count),
                String::new(),
                pattern.locations.first().cloned().unwrap_or_default(),
            ],
        );
    }
}

/// What the scan read and found, in a sentence.
pub(crate) fn counts(scan: &perfxpert_schemas::report::source::Tier0Findings) -> String {
    let skipped = if scan.files_skipped > 0 {
        let reasons: Vec<String> = scan
            .skipped_by_reason
            .iter()
            .map(|(reason, files)| format!("{} {reason}", count(*files)))
            .collect();
        format!(" ({} skipped: {})", count(scan.files_skipped), reasons.join(", "))
    } else {
        String::new()
    };
    format!(
        "{} scanned{skipped}: {}, {}, {}.",
        counted(scan.files_scanned, "file", "files"),
        counted(scan.kernel_count, "kernel", "kernels"),
        counted(scan.definition_count, "definition", "definitions"),
        counted(scan.launch_count, "launch", "launches")
    )
}

pub(super) fn baseline(page: &mut Page, report: &Report) {
    if let Some(document) = &report.trace_diff {
        crate::render::diff::text::body(page, document);
    }
}
