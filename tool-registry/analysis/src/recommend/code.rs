//! Code patterns: folded into the advice of the trace they explain, or advice of their own.

use perfxpert_knowledge::rules;
use perfxpert_source::Scan;

use super::draft::{Collect, Draft, Number};
use super::entry::{Priority, SourceRef, TargetKind};
use super::observed::Observed;
use super::order;
use crate::profile::GapCause;
use crate::source_plan::{self, CodeAdvice, Measured, Placement, code_advice, place};
use crate::units::Nanos;

/// Places in the source that one entry names.
const MAX_REFERENCES: usize = 10;

/// Folds the patterns of a scan into drafts that explain the same time; the others become drafts of their own.
pub(super) fn merged(mut drafts: Vec<Draft>, run: &Observed, scan: Option<&Scan>) -> Vec<Draft> {
    let Some(scan) = scan else { return drafts };
    let copies: Nanos =
        run.copies.iter().map(|copies| copies.exposed).sum::<Nanos>() + run.runtime_copy_exposed;
    let measured = Measured {
        exposed_copy_pct: run.pct(copies).unwrap_or(0.0),
        sync_gap_pct: run.pct(run.gap(GapCause::Sync).total).unwrap_or(0.0),
        alloc_gap_pct: run.pct(run.gap(GapCause::Alloc).total).unwrap_or(0.0),
    };
    let mut own = Vec::new();
    for advice in code_advice(scan) {
        let fired: Vec<&str> = drafts.iter().map(|draft| draft.rule.as_str()).collect();
        let judged = run.window > Nanos::ZERO;
        match place(advice.pattern, judged.then_some((&fired, measured))) {
            Placement::Merged(rule) => {
                if let Some(draft) = drafts.iter_mut().find(|draft| draft.rule == rule) {
                    fold(draft, &advice, scan);
                }
            }
            Placement::Alone { priority, cost } => own.extend(draft_of(&advice, priority, cost)),
        }
    }
    drafts.extend(order::kept(own, run.health));
    drafts
}

/// Drafts of all patterns of a scan, without a trace to weigh them.
pub(super) fn alone(scan: &Scan) -> Vec<Draft> {
    let drafts = code_advice(scan)
        .iter()
        .filter_map(|advice| match place(advice.pattern, None) {
            Placement::Alone { priority, cost } => draft_of(advice, priority, cost),
            Placement::Merged(_) => None,
        })
        .map(|draft| Draft { collect: Collect::Source, ..draft })
        .collect();
    order::kept(drafts, 1.0)
}

fn fold(draft: &mut Draft, advice: &CodeAdvice, scan: &Scan) {
    draft.merged_ids.push(advice.id.to_owned());
    let found = scan.patterns.iter().filter(|pattern| pattern.id == advice.pattern);
    // Only what a loop repeats can cost what the trace shows.
    let repeated =
        found.flat_map(|pattern| &pattern.occurrences).filter(|place| place.loop_context.is_loop());
    for occurrence in repeated {
        let place = SourceRef {
            file: occurrence.site.file.to_string(),
            line: occurrence.site.line.into(),
            kind: "pattern",
            pattern_id: Some(advice.pattern.id()),
        };
        if draft.source_refs.len() < MAX_REFERENCES && !draft.source_refs.contains(&place) {
            draft.source_refs.push(place);
        }
    }
}

fn draft_of(advice: &CodeAdvice, priority: source_plan::Priority, cost: Option<String>) -> Option<Draft> {
    let rule = rules::find(advice.pattern.id())?;
    let issue = match cost {
        Some(cost) => format!("{}; {cost}.", advice.issue.trim_end_matches('.')),
        None => advice.issue.clone(),
    };
    let draft = Draft {
        rule: rule.rule.clone(),
        id: rule.id.clone(),
        category: advice.category.to_owned(),
        class: rule.class.clone(),
        citation: rule.citation(),
        technique: advice.technique.to_owned(),
        title: advice.title.clone(),
        issue,
        suggestion: advice.suggestion.to_owned(),
        actions: advice.actions.iter().map(|action| (*action).to_owned()).collect(),
        base: advice.confidence,
        fixed: Some(match priority {
            source_plan::Priority::Medium => Priority::Medium,
            source_plan::Priority::Info => Priority::Info,
        }),
        source_refs: advice
            .references
            .iter()
            .map(|site| SourceRef {
                file: site.file.to_string(),
                line: site.line.into(),
                kind: "pattern",
                pattern_id: Some(advice.pattern.id()),
            })
            .collect(),
        snippets: (Some(advice.snippet_before.clone()), advice.snippet_after.clone()),
        ..Draft::default()
    };
    let text = format!("{} of {} places lie in a loop", advice.in_loop_count, advice.count);
    Some(
        draft
            .unbounded("the source does not say how often a line runs")
            .on(TargetKind::Source, advice.target.to_string())
            .showing(
                Number::count("places_in_loop", "in_loop_count", advice.in_loop_count, "source")
                    .context(text),
            ),
    )
}
