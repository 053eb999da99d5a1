//! Profiles of every planted scenario against what was planted.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use perfxpert_analysis::profile::{GapCause, RunProfile};
use perfxpert_analysis::{Nanos, evidence, sweep};
use perfxpert_fixtures::{GpuTruth, Knobs, Planted, scenarios};
use perfxpert_trace::{Control, OpenOptions, Trace};

/// Scenarios too large for every run of the suite, or not readable as a trace.
fn open(planted: &Planted) -> Option<Trace> {
    let options = OpenOptions { allow_partial: true, ..OpenOptions::default() };
    Trace::open(&planted.paths, &options).ok()
}

fn profile(trace: &Trace) -> RunProfile {
    sweep::profile(trace, Nanos::ZERO, &Control::default()).expect("the scenario can be read").0
}

fn ns(value: i64) -> u64 {
    u64::try_from(value).expect("planted times are not negative")
}

/// Planted numbers of one GPU that differ from what was measured.
fn gpu_differences(truth: &GpuTruth, trace: &Trace, profile: &RunProfile) -> Vec<String> {
    let found = profile.agents.iter().find(|agent| {
        let index = trace.agents().get(agent.agent.get()).map(|agent| agent.absolute_index);
        // A table suffix may say another guid than the column; with one process there is no doubt.
        let alone = trace.processes().len() == 1;
        let here = agent.processes.iter().any(|process| trace.processes()[process.get()].guid == truth.guid);
        index == Some(truth.agent) && (alone || here)
    });
    let Some(agent) = found else { return vec![format!("GPU {} of {} is missing", truth.agent, truth.guid)] };
    if agent.processes.len() > 1 {
        // Planted per process; a shared GPU is one agent here.
        return Vec::new();
    }
    let times = agent.times;
    let pairs = [
        ("window_start", i128::from(times.window_start), i128::from(truth.window_start_ns)),
        ("window", times.window().0.into(), truth.window_ns.into()),
        ("kernel", times.parts.kernel.0.into(), truth.kernel_busy_ns.into()),
        ("compute", times.compute_busy.0.into(), truth.compute_busy_ns.into()),
        ("copy", times.copy_busy.0.into(), truth.copy_busy_ns.into()),
        ("exposed_copy", times.parts.exposed_copy.0.into(), truth.exposed_copy_ns.into()),
        ("host_api", times.parts.host_api.0.into(), truth.host_api_ns.into()),
        ("idle", times.parts.idle.0.into(), truth.idle_ns.into()),
        ("overlap", times.overlap.0.into(), truth.overlap_ns.into()),
        ("exposed_communication", times.exposed_collective.0.into(), truth.exposed_communication_ns.into()),
        ("kernel_sum", times.kernel_sum().0.into(), truth.kernel_sum_ns.into()),
        ("copy_sum", times.copy_sum.0.into(), truth.copy_sum_ns.into()),
        ("dispatches", times.dispatches.into(), truth.dispatches.into()),
        ("copies", times.copies.into(), truth.copies.into()),
    ];
    let differ = |(name, found, planted): (&str, i128, i128)| {
        (found != planted).then(|| format!("GPU {} {name}: {found}, planted {planted}", truth.agent))
    };
    pairs.into_iter().filter_map(differ).collect()
}

fn differences(planted: &Planted, trace: &Trace) -> Vec<String> {
    let profile = profile(trace);
    let truth = &planted.truth;
    let mut found: Vec<String> =
        truth.gpus.iter().flat_map(|gpu| gpu_differences(gpu, trace, &profile)).collect();
    let kernels: BTreeMap<&str, (u64, u64, u64, u64)> = profile
        .kernels
        .iter()
        .map(|kernel| {
            let durations = kernel.durations;
            (kernel.name.as_ref(), (kernel.calls, kernel.total.0, durations.min.0, durations.max.0))
        })
        .collect();
    // Names the file does not hold are the reader's to word; their numbers are not.
    let mut unnamed: Vec<_> = kernels
        .iter()
        .filter(|(name, _)| !truth.kernels.contains_key(**name))
        .map(|(_, numbers)| *numbers)
        .collect();
    for (name, stat) in &truth.kernels {
        let wanted = (stat.calls, ns(stat.total_ns), ns(stat.min_ns), ns(stat.max_ns));
        let seen = kernels.get(name.as_str()).copied();
        if seen.is_none()
            && let Some(at) = unnamed.iter().position(|numbers| *numbers == wanted)
        {
            unnamed.remove(at);
        } else if seen != Some(wanted) {
            found.push(format!("kernel {name:.60}: {seen:?}, planted {wanted:?}"));
        }
    }
    if kernels.len() != truth.kernels.len() {
        found.push(format!("{} kernels, planted {}", kernels.len(), truth.kernels.len()));
    }
    for (label, stat) in &truth.copies {
        let seen = profile
            .copies
            .iter()
            .find(|copy| copy.direction.label() == label)
            .map(|copy| (copy.durations.count, copy.durations.total.0, copy.bytes.0, copy.small.count));
        let wanted = (stat.time.calls, ns(stat.time.total_ns), ns(stat.bytes), stat.small);
        if seen != Some(wanted) {
            found.push(format!("copies {label}: {seen:?}, planted {wanted:?}"));
        }
    }
    let mut calls: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for call in profile.calls.iter().filter(|call| call.host_api) {
        let entry = calls.entry(call.text.as_ref()).or_default();
        entry.0 += call.calls;
        entry.1 += call.total.0;
    }
    for (name, stat) in &truth.api {
        let wanted = (stat.calls, ns(stat.total_ns));
        if calls.get(name.as_str()) != Some(&wanted) {
            found.push(format!("calls {name}: {:?}, planted {wanted:?}", calls.get(name.as_str())));
        }
    }
    for (label, stat) in &truth.gaps {
        let cause = GapCause::ALL.into_iter().find(|cause| cause.label() == label).expect("a known cause");
        let total = profile.gaps.of(cause);
        if (total.count, total.total.0) != (stat.count, ns(stat.total_ns)) {
            found.push(format!("gaps {label}: {total:?}, planted {stat:?}"));
        }
    }
    if profile.machines.len() == 1 && profile.total_runtime().0 != ns(truth.total_runtime_ns) {
        found.push(format!("runtime {}, planted {}", profile.total_runtime().0, truth.total_runtime_ns));
    }
    for id in ["overlong_on_queue", "missing_graph_kernels", "clock_order"] {
        let seen = profile.health.get(id).map(|item| item.count);
        if seen.is_some() != truth.health.contains_key(id) {
            found.push(format!("health {id}: {seen:?}, planted {:?}", truth.health.get(id)));
        }
    }
    // Without counters the timeline alone decides; with them the counters have their say first.
    let counters = trace.processes().iter().any(|process| process.has.counters);
    if let (Some(wanted), false) = (&truth.verdict, counters) {
        let (verdict, confidence) = evidence::verdict(&profile, None, &profile.health);
        let seen = (verdict.kind.as_str(), verdict.detail.map(|detail| detail.as_str()));
        let detail = wanted.detail.as_deref().filter(|detail| !detail.is_empty());
        if seen.0 != wanted.label || (detail.is_some() && seen.1 != detail) {
            found.push(format!("verdict {seen:?} {confidence}, planted {wanted:?}; {}", verdict.reason));
        }
    }
    let parts = profile.parts();
    let windows: Nanos = profile
        .agents
        .iter()
        .map(|agent| Nanos::between(agent.times.window_start, agent.times.window_end))
        .sum();
    if parts.window() != windows {
        found.push(format!("parts add up to {:?}, windows to {windows:?}", parts.window()));
    }
    let slices = profile.timeline.slices.iter().map(|slice| slice.window()).sum::<Nanos>();
    if profile.machines.len() == 1 && slices != windows {
        found.push(format!("slices add up to {slices:?}, windows to {windows:?}"));
    }
    found
}

#[test]
fn every_scenario_has_the_planted_times() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for entry in scenarios() {
        let plan = entry.plan(&Knobs { scale: None, ..Knobs::default() });
        if plan.truth.rows.values().sum::<u64>() > 2_000_000 {
            continue;
        }
        let planted = plan.build().unwrap();
        // What a cut file lost is not planted.
        if entry.name.starts_with("damaged") {
            continue;
        }
        let Some(trace) = open(&planted) else {
            if !planted.truth.gpus.is_empty() && planted.truth.error.is_none() {
                wrong.push(format!("{}: cannot be opened", entry.name));
            }
            continue;
        };
        if planted.truth.error.is_some() {
            continue;
        }
        checked += 1;
        for line in differences(&planted, &trace) {
            wrong.push(format!("{}: {line}", entry.name));
        }
    }
    assert!(checked > 20, "control: {checked} scenarios were read");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
