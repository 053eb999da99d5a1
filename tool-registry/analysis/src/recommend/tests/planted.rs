//! Advice on every planted scenario: what it calls for is there, what it rules out is not.

use std::collections::BTreeMap;

use perfxpert_fixtures::{Knobs, Planted, scenario, scenarios};
use perfxpert_knowledge::commands;
use perfxpert_source::Scan;
use perfxpert_trace::{Control, OpenOptions, Trace};

use crate::recommend::{RuleEntry, RuleInput, rules};
use crate::units::Nanos;
use crate::{gpu, sweep};

pub(super) fn advice(planted: &Planted) -> Option<Vec<RuleEntry>> {
    advice_with(planted, None)
}

pub(super) fn advice_with(planted: &Planted, scan: Option<&Scan>) -> Option<Vec<RuleEntry>> {
    let options = OpenOptions { allow_partial: true, ..OpenOptions::default() };
    let trace = Trace::open(&planted.paths, &options).ok()?;
    let profile = sweep::profile(&trace, Nanos::ZERO, &Control::default()).ok()?.0;
    let gpus = gpu::of_run(&trace, &profile, None);
    let input = RuleInput {
        profile: &profile,
        trace: &trace,
        gpus: &gpus,
        metrics: &BTreeMap::new(),
        communication: None,
        thread_trace: &[],
        throttled: &[],
        scan,
        inputs: &["results_results.db"],
        advanced: false,
    };
    Some(rules(&input))
}

pub(super) fn of(name: &str) -> Vec<RuleEntry> {
    let planted = scenario(name).expect("a known scenario");
    advice(&planted).expect("it can be read")
}

/// Rules that look at counters; without them they are silent.
const NEED_COUNTERS: [&str; 4] = ["ROCPD-COMPUTE-BOUND", "ROCPD-MEMORY-BOUND", "ROCPD-LDS", "ROCPD-L2"];

#[test]
fn every_scenario_gets_what_it_calls_for_and_nothing_it_rules_out() {
    let mut wrong = Vec::new();
    for entry in scenarios() {
        let planted = entry.plan(&Knobs::default()).build().expect("it can be written");
        let Some(found) = advice(&planted) else { continue };
        let has = |id: &str| {
            found.iter().any(|advice| {
                advice.id == id || advice.id.rsplit_once('-').is_some_and(|(base, _)| base == id)
            })
        };
        for wanted in &planted.truth.required {
            if !has(&wanted.id) && !NEED_COUNTERS.iter().any(|rule| wanted.id.starts_with(rule)) {
                wrong.push(format!("{}: {} is missing: {}", entry.name, wanted.id, wanted.why));
            }
        }
        for unwanted in &planted.truth.forbidden {
            // Without their counters these scenarios cannot say what limits the kernel.
            let unexplained = unwanted.id == "ROCPD-HOTSPOT" && unwanted.why.contains("counters say");
            if has(&unwanted.id) && !unexplained {
                wrong.push(format!("{}: {} is there: {}", entry.name, unwanted.id, unwanted.why));
            }
        }
        for advice in &found {
            well_formed(advice, entry.name, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn well_formed(advice: &RuleEntry, scenario: &str, wrong: &mut Vec<String>) {
    let mut say = |what: String| wrong.push(format!("{scenario}: {}: {what}", advice.id));
    for command in &advice.commands {
        if let Err(error) = commands::check(&command.full_command) {
            say(format!("{}: {error}", command.full_command));
        }
    }
    if advice.commands.last().is_none_or(|last| last.purpose != "verify") {
        say("the last command does not verify".to_owned());
    }
    if advice.actions.is_empty() || advice.actions.len() > 5 {
        say(format!("{} actions", advice.actions.len()));
    }
    if advice.evidence.is_empty() || advice.evidence.len() > 6 {
        say(format!("{} pieces of evidence", advice.evidence.len()));
    }
    let texts = advice.actions.iter().chain([&advice.title, &advice.issue, &advice.suggestion]);
    for text in texts {
        if text.contains('{') || text.contains("NaN") || text.contains("inf") && !text.contains("info") {
            say(text.clone());
        }
    }
    if advice.gain_bound_pct.is_some_and(|gain| !(0.0..=100.0).contains(&gain)) {
        say(format!("gain {:?}", advice.gain_bound_pct));
    }
    if !(0.0..=1.0).contains(&advice.confidence) {
        say(format!("confidence {}", advice.confidence));
    }
}

#[test]
fn a_healthy_run_gets_no_advice() {
    let found = of("healthy");
    let ids: Vec<&str> = found.iter().map(|advice| advice.id.as_str()).collect();
    assert!(ids.is_empty(), "{ids:?}");
}

#[test]
fn the_same_run_gets_the_same_advice() {
    assert_eq!(of("we1"), of("we1"));
}
