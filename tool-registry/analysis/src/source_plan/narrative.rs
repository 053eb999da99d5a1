//! The narrative of a report that has a source tree and no trace.

use perfxpert_source::Scan;

use super::{CodeAdvice, ProfilingPlan};

/// `Source scan only: …`: what was read, the first pattern with its place, and the first command.
pub fn source_only_narrative(scan: &Scan, advice: &[CodeAdvice], plan: &ProfilingPlan) -> String {
    let counts = scan.counts;
    let mut out = format!(
        "Source scan only: {}, {}, {} ({}).",
        counted(scan.files.len() as u64, "file", "files"),
        counted(counts.definitions, "kernel definition", "kernel definitions"),
        counted(counts.launches, "launch", "launches"),
        model_name(scan),
    );
    match (advice.len() as u64, advice.first()) {
        (0, _) | (_, None) => out.push_str(" No code pattern needs attention."),
        (1, Some(first)) => {
            out.push_str(&format!(" 1 code pattern needs attention: {} at {}.", first.title, first.target));
        }
        (many, Some(first)) => {
            out.push_str(&format!(
                " {many} code patterns need attention, first: {} at {}.",
                first.title, first.target
            ));
        }
    }
    if let Some(command) = &plan.first_command {
        out.push_str(&format!(" Profile first: `{}`.", command.full_command));
    }
    out
}

/// Name of the main programming model, `Unknown` without one.
pub(super) fn model_name(scan: &Scan) -> &'static str {
    scan.programming_model().map_or("Unknown", |model| model.name())
}

pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
