//! Weighs drafts, orders them, and gives them ids, anchors, overlaps and commands.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::commands::{self, Opt, Target as Program};
use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::thresholds;

use super::Context;
use super::draft::{Collect, Draft};
use super::entry::{Priority, RuleEntry, TargetKind};
use crate::rounding::round;
use crate::source_plan::{self, PlannedCommand};

/// The program in every command: what it was called is not in a trace.
const APP: &str = "./your_app";
/// Folder of the recording made after a change.
const AFTER: &str = "./after";

/// Drafts that are worth saying, with priority and confidence: once per rule and target, the first few targets per rule.
pub(super) fn kept(drafts: Vec<Draft>, health: f64) -> Vec<Draft> {
    let most = usize::try_from(thresholds::report().kernels_per_rule).unwrap_or(usize::MAX);
    let mut kept: Vec<Draft> = Vec::new();
    let mut seen: BTreeSet<(String, Option<String>)> = BTreeSet::new();
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for draft in drafts {
        let Some(draft) = weighed(draft, health) else { continue };
        if !seen.insert((draft.rule.clone(), draft.target.name.clone())) {
            continue;
        }
        let count = found.entry(draft.rule.clone()).or_default();
        *count += 1;
        if *count <= most {
            kept.push(draft);
        }
    }
    for (rule, count) in found {
        let Some(more) = count.checked_sub(most).filter(|more| *more > 0) else { continue };
        let Some(last) = kept.iter_mut().rfind(|draft| draft.rule == rule) else { continue };
        let noun = match (last.target.kind, more) {
            (Some(TargetKind::Kernel), 1) => "kernel",
            (Some(TargetKind::Kernel), _) => "kernels",
            (Some(TargetKind::Agent), 1) => "GPU",
            (Some(TargetKind::Agent), _) => "GPUs",
            (_, 1) => "case",
            _ => "cases",
        };
        let issue = last.issue.trim_end_matches('.');
        last.issue = format!("{issue}, and {more} more {noun}.");
    }
    kept
}

/// Priority and confidence of a draft; `None` when it is not to be said.
fn weighed(mut draft: Draft, health: f64) -> Option<Draft> {
    let limits = thresholds::report();
    if draft.preconditions.iter().any(|precondition| precondition.state == State::NotMet) {
        return None;
    }
    let unknown =
        draft.preconditions.iter().filter(|precondition| precondition.state == State::Unknown).count();
    if unknown as u64 > limits.kernels_max_unknown {
        return None;
    }
    let by_gain = match draft.gain {
        Some(gain) if gain >= limits.priority_high_pct => Some(Priority::High),
        Some(gain) if gain >= limits.priority_medium_pct => Some(Priority::Medium),
        Some(gain) if gain >= limits.priority_low_pct => Some(Priority::Low),
        _ => None,
    };
    let least = match unknown {
        0 => Priority::High,
        1 => Priority::Medium,
        _ => Priority::Low,
    };
    // A larger priority is a less urgent one.
    draft.priority = Some(draft.fixed.or(by_gain)?.max(least));
    #[expect(clippy::cast_precision_loss, reason = "at most two")]
    let penalty = limits.confidence_unknown_penalty * unknown as f64;
    draft.confidence = round((draft.base - penalty).max(limits.confidence_floor) * health, 2);
    Some(draft)
}

fn order(a: &Draft, b: &Draft) -> Ordering {
    let gain = |draft: &Draft| draft.gain.unwrap_or(f64::NEG_INFINITY);
    a.priority
        .cmp(&b.priority)
        .then_with(|| gain(b).total_cmp(&gain(a)))
        .then_with(|| b.confidence.total_cmp(&a.confidence))
        .then_with(|| a.id.cmp(&b.id))
        .then_with(|| a.target.name.cmp(&b.target.name))
}

/// Entries in rank order.
pub(super) fn ranked(mut drafts: Vec<Draft>, context: &Context<'_>) -> Vec<RuleEntry> {
    drafts.sort_by(order);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let ids: Vec<String> = drafts
        .iter()
        .map(|draft| {
            let base = draft.id.trim_end_matches(|letter: char| letter.is_ascii_digit());
            let count = counts.entry(base.to_owned()).or_default();
            *count += 1;
            format!("{base}{count:03}")
        })
        .collect();
    let overlaps = overlaps(&drafts, &ids);
    let mut anchors = Anchors::default();
    let again = again(context);
    drafts
        .into_iter()
        .zip(ids)
        .zip(overlaps)
        .zip(1..)
        .map(|(((draft, id), overlaps_with), rank)| {
            let anchor = anchors.next(draft.target.slug.as_deref().unwrap_or(&id.to_ascii_lowercase()));
            entry(draft, id, rank, overlaps_with, anchor, &again, context)
        })
        .collect()
}

fn entry(
    draft: Draft,
    id: String,
    rank: u64,
    overlaps_with: Vec<String>,
    anchor: String,
    again: &[PlannedCommand],
    context: &Context<'_>,
) -> RuleEntry {
    RuleEntry {
        id,
        rule: draft.rule,
        rank,
        priority: draft.priority.unwrap_or(Priority::Info),
        category: draft.category,
        class: draft.class,
        target: draft.target.name,
        target_kind: draft.target.kind.unwrap_or(TargetKind::Trace),
        technique: draft.technique,
        title: draft.title,
        issue: draft.issue,
        suggestion: draft.suggestion,
        actions: draft.actions,
        gain_bound_pct: draft.gain,
        gain_basis: draft.gain_basis,
        overlaps_with,
        confidence: draft.confidence,
        preconditions: draft.preconditions,
        evidence: draft.evidence,
        source_refs: draft.source_refs,
        merged_ids: draft.merged_ids,
        citation: draft.citation,
        commands: commands_of(draft.collect, again, context),
        subtype: draft.hint.is_some().then_some("pragma"),
        advanced: draft.hint.is_some(),
        snippet_before: draft.snippets.0,
        snippet_after: draft.snippets.1,
        anchor,
        prediction: draft.prediction,
        hint: draft.hint,
    }
}

/// For every draft the ids of those whose bounds count the same time: those its rule names, and all of the same kernel.
fn overlaps(drafts: &[Draft], ids: &[String]) -> Vec<Vec<String>> {
    let same = |a: &Draft, b: &Draft| {
        let bounded = a.gain.is_some() && b.gain.is_some();
        let kernel = a.target.kind == Some(TargetKind::Kernel) && b.target.kind == Some(TargetKind::Kernel);
        let one_kernel = kernel && a.target.name == b.target.name;
        bounded
            && (one_kernel || a.overlaps.contains(&b.rule.as_str()) || b.overlaps.contains(&a.rule.as_str()))
    };
    drafts
        .iter()
        .enumerate()
        .map(|(at, draft)| {
            let others = drafts.iter().zip(ids).enumerate();
            others
                .filter(|(other, (found, _))| *other != at && same(draft, found))
                .map(|(_, (_, id))| id.clone())
                .collect()
        })
        .collect()
}

/// HTML ids: the second of the same name ends in `-2`.
#[derive(Default)]
struct Anchors {
    used: BTreeMap<String, u64>,
}

impl Anchors {
    fn next(&mut self, name: &str) -> String {
        let count = self.used.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 { format!("rec-{name}") } else { format!("rec-{name}-{count}") }
    }
}

/// What a comparison with a later recording names as its baseline: the file, or the folder that holds all files.
fn baseline<'a>(inputs: &[&'a str]) -> &'a str {
    let folder = |input: &'a str| input.rsplit_once('/').map_or(".", |(folder, _)| folder);
    match inputs {
        [] => "./before",
        [only] => only,
        [first, rest @ ..] => {
            let shared = folder(first);
            if rest.iter().all(|input| folder(input) == shared) { shared } else { first }
        }
    }
}

/// Record again after the change, then compare.
fn again(context: &Context<'_>) -> Vec<PlannedCommand> {
    let target = Program { app: APP, out: AFTER, kernel: None };
    let record = commands::traces(&target, &[Opt::SysTrace]);
    let compare = commands::diff(baseline(context.inputs), AFTER);
    vec![
        PlannedCommand::of("collect", "Record again after the change".to_owned(), &record),
        PlannedCommand::of("verify", "Verify".to_owned(), &compare),
    ]
}

fn commands_of(collect: Collect, again: &[PlannedCommand], context: &Context<'_>) -> Vec<PlannedCommand> {
    let planned = |commands: Vec<(String, commands::Command)>| -> Vec<PlannedCommand> {
        commands.into_iter().map(|(does, command)| PlannedCommand::of("collect", does, &command)).collect()
    };
    match collect {
        Collect::Again => again.to_vec(),
        Collect::Before(commands) => {
            let mut all = planned(commands);
            all.extend(again.iter().cloned());
            all
        }
        Collect::Counters(commands, folders) => {
            let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
            let inputs = if context.inputs.is_empty() { &["./before"][..] } else { context.inputs };
            let analyse = commands::analyze(inputs).named("--counters", &folders);
            let mut all = planned(commands);
            all.push(PlannedCommand::of("verify", "Verify".to_owned(), &analyse));
            all
        }
        Collect::Source => from_source(context, again),
    }
}

/// Without a recording: record before, record after, compare.
fn from_source(context: &Context<'_>, again: &[PlannedCommand]) -> Vec<PlannedCommand> {
    let plan = context.scan.map(|scan| source_plan::plan(scan, None, None));
    let Some(before) = plan.and_then(|plan| plan.first_command) else { return again.to_vec() };
    let out = before.args.iter().find(|(name, _)| name == Opt::OutputDirectory.as_str());
    let Some(out) = out.map(|(_, value)| value.clone()) else { return again.to_vec() };
    let mut after = before.clone();
    "Record again after the change".clone_into(&mut after.description);
    after.full_command = after.full_command.replacen(&out, AFTER, 1);
    for (_, value) in after.args.iter_mut().filter(|(_, value)| *value == out) {
        AFTER.clone_into(value);
    }
    let compare = PlannedCommand::of("verify", "Verify".to_owned(), &commands::diff(&out, AFTER));
    vec![before, after, compare]
}

#[cfg(test)]
mod tests {
    use super::super::entry::Precondition;
    use super::*;

    fn draft(rule: &str, target: Option<&str>, gain: Option<f64>, unknown: usize) -> Draft {
        let mut draft = Draft::of(rule, &[]).expect("a known rule");
        draft.gain = gain;
        draft.target.name = target.map(str::to_owned);
        draft.target.kind = target.map(|_| TargetKind::Kernel);
        for _ in 0..unknown {
            draft.preconditions.push(Precondition {
                name: "anything".to_owned(),
                state: State::Unknown,
                detail: String::new(),
            });
        }
        draft
    }

    #[test]
    fn priorities_and_rank_of_the_example() {
        let mut latency = draft("kernel_latency", Some("k3"), None, 0);
        latency.fixed = Some(Priority::Medium);
        let drafts = vec![
            draft("host_api", None, Some(1.90), 0),
            latency,
            draft("sync_bound", None, Some(3.10), 0),
            draft("occupancy", Some("k4"), Some(30.0), 3),
            draft("hbm_bound", Some("k2"), Some(15.0), 0),
            draft("occupancy", Some("k1"), Some(24.0), 1),
            draft("exposed_copy", None, Some(31.0), 0),
        ];
        let entries = ranked(kept(drafts, 1.0), &Context::default());
        let got: Vec<_> = entries
            .iter()
            .map(|entry| (entry.rank, entry.id.as_str(), entry.target.as_deref(), entry.priority.label()))
            .collect();
        assert_eq!(
            got,
            [
                (1, "ROCPD-MEMCPY-001", None, "HIGH"),
                (2, "ROCPD-OCCUPANCY-001", Some("k1"), "MEDIUM"),
                (3, "ROCPD-MEMORY-BOUND-001", Some("k2"), "MEDIUM"),
                (4, "ROCPD-LATENCY-001", Some("k3"), "MEDIUM"),
                (5, "ROCPD-SYNC-001", None, "LOW"),
            ]
        );
        let confidence: Vec<f64> = entries.iter().map(|entry| entry.confidence).collect();
        assert_eq!(confidence, [0.9, 0.5, 0.8, 0.6, 0.8]);
    }

    #[test]
    fn confidence_has_a_floor_and_follows_the_health() {
        let low = kept(vec![draft("hotspot", Some("k"), None, 2)], 0.6);
        assert_eq!(
            low.first().map(|draft| draft.confidence),
            Some(0.12),
            "0.50 - 0.40 is below the floor of 0.20"
        );
        let loss = kept(vec![draft("exposed_copy", None, Some(31.0), 0)], 0.6);
        assert_eq!(loss.first().map(|draft| draft.confidence), Some(0.54));
    }

    #[test]
    fn a_precondition_not_met_silences() {
        let mut silent = draft("hbm_bound", Some("k"), Some(50.0), 0);
        silent.preconditions.push(Precondition {
            name: "anything".to_owned(),
            state: State::NotMet,
            detail: String::new(),
        });
        assert!(kept(vec![silent], 1.0).is_empty());
    }

    #[test]
    fn three_targets_per_rule_and_a_word_on_the_others() {
        let drafts = ["a", "b", "c", "d", "e"].map(|name| draft("hbm_bound", Some(name), Some(10.0), 0));
        let entries = ranked(kept(drafts.to_vec(), 1.0), &Context::default());
        let ids: Vec<_> = entries.iter().map(|entry| (entry.id.as_str(), entry.target.as_deref())).collect();
        assert_eq!(
            ids,
            [
                ("ROCPD-MEMORY-BOUND-001", Some("a")),
                ("ROCPD-MEMORY-BOUND-002", Some("b")),
                ("ROCPD-MEMORY-BOUND-003", Some("c"))
            ]
        );
        assert!(entries.last().is_some_and(|entry| entry.issue.ends_with(", and 2 more kernels.")));
    }

    #[test]
    fn anchors_repeat_with_a_number() {
        let mut first = draft("hbm_bound", Some("ns::k(int)"), Some(10.0), 0);
        first.target.slug = Some("k".to_owned());
        let mut second = draft("coalescing", Some("ns::k(int)"), Some(9.0), 0);
        second.target.slug = Some("k".to_owned());
        let entries = ranked(kept(vec![second, first], 1.0), &Context::default());
        let anchors: Vec<_> = entries.iter().map(|entry| entry.anchor.as_str()).collect();
        assert_eq!(anchors, ["rec-k", "rec-k-2"]);
        assert_eq!(
            entries.first().map(|entry| entry.overlaps_with.clone()),
            Some(vec!["ROCPD-COALESCE-001".to_owned()])
        );
    }

    #[test]
    fn the_baseline_of_several_files_is_their_folder() {
        assert_eq!(baseline(&["run.db"]), "run.db");
        assert_eq!(baseline(&["d/1.db", "d/2.db"]), "d");
        assert_eq!(baseline(&["1.db", "2.db"]), ".");
        assert_eq!(baseline(&["d/1.db", "e/2.db"]), "d/1.db");
    }
}
