//! Verdict, warnings and recommendations as text.

use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::advice::Recommendation;

use super::page::Page;
use crate::render::number::{confidence, decimal};

pub(super) fn summary(page: &mut Page, report: &Report) {
    let detail = report.bottleneck_detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    page.line(format!("Primary bottleneck: {}{detail}", report.primary_bottleneck));
    page.prose("", "", &report.narrative);
    if !report.warnings.is_empty() {
        page.line("Warnings:");
        for warning in &report.warnings {
            page.prose("  - ", "    ", warning);
        }
        let more = report.warnings_total.saturating_sub(report.warnings.len() as u64);
        page.more(more);
    }
    for proposal in report.exploratory_proposals.iter().flatten() {
        let title = proposal.get("title").and_then(serde_json::Value::as_str).unwrap_or_default();
        page.prose("", "  ", &format!("Exploratory, not verified: {title}"));
    }
}

pub(super) fn recommendations(page: &mut Page, report: &Report) {
    if report.recommendations.is_empty() {
        page.prose("", "", nothing(report));
        return;
    }
    for (index, entry) in report.recommendations.iter().enumerate() {
        if index > 0 {
            page.line("");
        }
        recommendation(page, entry);
    }
    page.more(report.recommendations_total.saturating_sub(report.recommendations.len() as u64));
}

/// The text of an empty list.
pub(crate) fn nothing(report: &Report) -> &'static str {
    if report.execution_breakdown.is_none() {
        return "No code pattern needs attention.";
    }
    if report.profiling_info.dispatches == 0 && report.profiling_info.copies == 0 {
        return "Nothing to judge: the trace holds no GPU activity.";
    }
    "Nothing in this trace costs 2% of the run or more in a way this analysis can name."
}

/// `1.15-1.45x`, when a prediction is there.
pub(crate) fn predicted(entry: &Recommendation) -> Option<(String, String)> {
    let prediction = entry.prediction.as_ref()?;
    let (low, high) = (prediction.predicted_impact_range.first()?, prediction.predicted_impact_range.get(1)?);
    Some((
        format!("{}-{}x", decimal(*low, 2), decimal(*high, 2)),
        confidence(prediction.predicted_confidence),
    ))
}

/// `a.hip:42 (memcpy_sync), …`.
pub(crate) fn references(entry: &Recommendation) -> Option<String> {
    let places: Vec<String> = entry
        .source_refs
        .iter()
        .map(|place| {
            let kind = place.pattern_id.as_deref().unwrap_or(&place.kind);
            format!("{}:{} ({kind})", place.file, place.line)
        })
        .collect();
    (!places.is_empty()).then(|| places.join(", "))
}

fn recommendation(page: &mut Page, entry: &Recommendation) {
    let priority = page.severity(&entry.priority);
    let advanced = if entry.advanced { " [advanced]" } else { "" };
    page.line(format!(
        "[{priority}] {}  (Confidence: {}){advanced}",
        entry.category,
        confidence(entry.confidence)
    ));
    page.prose("  Issue: ", "    ", &entry.issue);
    page.prose("  Suggestion: ", "    ", &entry.suggestion);
    for (index, action) in entry.actions.iter().enumerate() {
        page.prose(&format!("    {}. ", index + 1), "       ", action);
    }
    if let Some(places) = references(entry) {
        page.prose("  Source: ", "    ", &places);
    }
    page.prose("  Estimated Impact: ", "    ", &entry.estimated_impact);
    if let Some((range, sure)) = predicted(entry) {
        page.line(format!("  Predicted: {range} (conf {sure})"));
    }
    if let Some(note) = &entry.llm_note {
        page.prose("  Note: ", "    ", note);
    }
    for command in &entry.commands {
        page.line(format!("  [{}] {}", command.tool, command.description));
        page.command(4, &command.full_command);
    }
    if entry.subtype.as_deref() == Some("pragma") {
        page.line("  Verify with: perfxpert diff <this>.db <new>.db");
    }
}
