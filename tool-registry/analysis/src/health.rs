//! Problems of a trace that only show once its rows are seen together.

use std::collections::BTreeMap;

use perfxpert_knowledge::thresholds;
use perfxpert_trace::{Direction, Health, HealthItem, ProcessIdx, Severity};

use crate::profile::{CallClass, RunProfile};

/// Problems visible in a profile alone.
pub(crate) fn of_profile(profile: &RunProfile) -> Health {
    let mut health = Health::default();
    let found = [
        overlong(profile),
        graph_kernels(profile),
        clock_order(profile),
        short(profile),
        calls(profile),
        copies(profile),
        clock_skew(profile),
    ];
    found.into_iter().flatten().for_each(|item| health.add(item));
    health
}

fn item(id: &'static str, severity: Severity, count: u64, message: String, advice: &str) -> HealthItem {
    HealthItem { id, severity, count, message, advice: advice.to_owned(), examples: Vec::new() }
}

fn overlong(profile: &RunProfile) -> Option<HealthItem> {
    let count = profile.rows.clipped;
    let mut found = item(
        "overlong_on_queue",
        Severity::Warning,
        count,
        format!(
            "{count} dispatches run on while later work of their queue starts and ends; their ends were cut there."
        ),
        "Do not trust the durations of these dispatches; record again.",
    );
    found.examples = profile
        .kernels
        .iter()
        .filter(|kernel| kernel.clipped > 0)
        .map(|kernel| kernel.name.to_string())
        .collect();
    found.examples.truncate(Health::MAX_EXAMPLES);
    (count > 0).then_some(found)
}

fn graph_kernels(profile: &RunProfile) -> Option<HealthItem> {
    let facts = thresholds::health();
    let (launches, work) = (profile.host.graph_launches, profile.rows.dispatches + profile.rows.copies);
    #[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
    let per_launch = work as f64 / launches.max(1) as f64;
    (launches >= facts.graph_launches && per_launch < facts.graph_kernels_per_launch).then(|| {
        item(
            "missing_graph_kernels",
            Severity::DataLoss,
            launches,
            format!("{launches} graph launches, but only {work} dispatches and copies: the capture of graph kernels looks incomplete."),
            "Record again with a newer ROCm release, or launch the kernels without a graph while profiling.",
        )
    })
}

fn clock_order(profile: &RunProfile) -> Option<HealthItem> {
    let count = profile.order.early_work + profile.order.late_copies;
    (count > 0).then(|| {
        item(
            "clock_order",
            Severity::Warning,
            count,
            format!(
                "{} dispatches or copies start before the call that asked for them and {} copies start after the kernel that needed them: the order of events is doubtful.",
                profile.order.early_work, profile.order.late_copies
            ),
            "Do not read causes from the order of events closer than this; two clocks are involved.",
        )
    })
}

fn short(profile: &RunProfile) -> Option<HealthItem> {
    let (limit, span) = (thresholds::health().short_trace_ns, profile.total_runtime());
    (profile.judgeable() && span.0 < limit).then(|| {
        item(
            "short_trace",
            Severity::Info,
            1,
            format!("The GPU work spans {} ns; start-up effects can dominate a trace this short.", span.0),
            "Record a longer part of the program.",
        )
    })
}

fn calls(profile: &RunProfile) -> Option<HealthItem> {
    (profile.judgeable() && !profile.host.api_known).then(|| {
        item(
            "no_api_trace",
            Severity::Info,
            1,
            "No HIP, HSA or RCCL call was recorded: why the GPU waits cannot be told.".to_owned(),
            "Record again with --sys-trace or --hip-runtime-trace.",
        )
    })
}

fn copies(profile: &RunProfile) -> Option<HealthItem> {
    let device: u64 = profile
        .copies
        .iter()
        .filter(|copy| copy.direction != Direction::HostToHost)
        .map(|copy| copy.durations.count)
        .sum();
    let calls: u64 = profile
        .calls
        .iter()
        .filter(|call| call.class == CallClass::Copy && call.text.to_ascii_lowercase().contains("memcpy"))
        .map(|call| call.calls)
        .sum();
    (profile.judgeable() && device == 0 && calls > 0 && profile.rows.copies == 0).then(|| {
        item(
            "no_copy_trace",
            Severity::Warning,
            calls,
            format!("{calls} copy calls, but no copy was recorded: time in copies cannot be told."),
            "Record again with --sys-trace or --memory-copy-trace.",
        )
    })
}

/// Ranks leave a collective together: where the k-th one ends far apart on two of them, their clocks differ.
fn clock_skew(profile: &RunProfile) -> Option<HealthItem> {
    let limit = thresholds::health().clock_skew_ns;
    let mut ends: BTreeMap<ProcessIdx, Vec<i64>> = BTreeMap::new();
    for instance in &profile.collectives {
        ends.entry(instance.process).or_default().push(instance.end);
    }
    let mut ranks = ends.values();
    let first =
        ranks.next().filter(|first| first.len() as u64 >= thresholds::rccl().straggler_collectives)?;
    let offset = |other: &Vec<i64>| {
        let mut offsets: Vec<u64> = first.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).collect();
        offsets.sort_unstable();
        offsets.get(offsets.len() / 2).copied()
    };
    let offsets: Vec<u64> = ranks.filter(|other| other.len() == first.len()).filter_map(offset).collect();
    let worst = offsets.iter().copied().max().filter(|&worst| worst > limit)?;
    let count = offsets.iter().filter(|&&offset| offset > limit).count() as u64;
    Some(item(
        "clock_skew_between_sources",
        Severity::Warning,
        count,
        format!(
            "The same collectives end up to {worst} ns apart on different ranks: their clocks are not the same."
        ),
        "Compare times within a rank only; spans over all ranks are too long.",
    ))
}
