//! Problems of a trace that only its counters show.

use std::collections::BTreeMap;

use perfxpert_knowledge::thresholds;
use perfxpert_trace::{Health, HealthItem, Severity};

use super::finish::short;
use super::{Absent, CounterProfile, Metric, RunMetrics};
use crate::RunProfile;

/// Problems of the counters of a run.
#[must_use]
pub fn health(run: &RunProfile, profile: &CounterProfile, metrics: &RunMetrics) -> Health {
    let mut health = Health::default();
    let found =
        [zero(profile), clock(profile), partial(run, profile), implausible(metrics), unmatched(profile)];
    found.into_iter().flatten().for_each(|item| health.add(item));
    health
}

fn zero(profile: &CounterProfile) -> Option<HealthItem> {
    let aside = profile.put_aside.zero;
    let names = &profile.zero_counters;
    if names.is_empty() && aside == 0 {
        return None;
    }
    let message = if names.is_empty() {
        format!("{aside} dispatches read 0 in counters that no kernel can leave at 0; they were put aside.")
    } else {
        format!("{} counters are 0 in every dispatch: they were not counted.", names.len())
    };
    Some(HealthItem {
        id: "zero_counters",
        severity: Severity::Warning,
        count: if names.is_empty() { aside } else { names.len() as u64 },
        message,
        advice: "Keep the GPU busy or its clocks up while counting (rocm-smi --setperflevel high), then record again."
            .to_owned(),
        examples: names.iter().take(Health::MAX_EXAMPLES).map(ToString::to_string).collect(),
    })
}

fn clock(profile: &CounterProfile) -> Option<HealthItem> {
    let count = profile.put_aside.clock;
    (count > 0).then(|| HealthItem {
        id: "implausible_clock",
        severity: Severity::Warning,
        count,
        message: format!(
            "{count} dispatches counted more cycles than their duration holds at the highest clock; their counters were \
             put aside."
        ),
        advice: "Record the counters again; do not compare these dispatches with others.".to_owned(),
        examples: profile.put_aside.clock_examples.clone(),
    })
}

/// Kernels whose counters cover only a part of their dispatches.
fn partial(run: &RunProfile, profile: &CounterProfile) -> Option<HealthItem> {
    let limit = thresholds::health().partial_counters;
    let covered = |name: &str| profile.kernel(name).map(|kernel| kernel.runs);
    let mut partial = run.kernels.iter().filter_map(|kernel| {
        let runs = covered(&kernel.name)?;
        #[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
        let share = runs as f64 / kernel.calls.max(1) as f64;
        (share < limit).then(|| format!("{}: {runs} of {} dispatches", short(&kernel.name), kernel.calls))
    });
    let examples: Vec<String> = partial.by_ref().take(Health::MAX_EXAMPLES).collect();
    let count = (examples.len() + partial.count()) as u64;
    (count > 0).then(|| HealthItem {
        id: "partial_counters",
        severity: Severity::Info,
        count,
        message: format!(
            "{count} kernels have counters on a part of their dispatches only; means rest on that part."
        ),
        advice: "Count all dispatches when their work differs.".to_owned(),
        examples,
    })
}

fn implausible(metrics: &RunMetrics) -> Option<HealthItem> {
    let mut seen: BTreeMap<Metric, String> = BTreeMap::new();
    for kernel in &metrics.kernels {
        for metric in Metric::ALL {
            // The rate and its share of the peak are one finding, and bytes that cannot be are the cause of both.
            let bytes = [Metric::HbmRead, Metric::HbmWritten];
            let cause = |metric: &Metric| matches!(kernel.measured(*metric), Err(Absent::Implausible { .. }));
            if metric == Metric::Hbm && bytes.iter().any(cause) {
                continue;
            }
            if metric == Metric::HbmRate || metric == Metric::WavesPerCu {
                continue;
            }
            if let Err(Absent::Implausible { value, limit }) = kernel.measured(metric) {
                seen.entry(metric).or_insert_with(|| {
                    let bound = if value > limit { "at most" } else { "at least" };
                    format!(
                        "{} of {}: {}, {bound} {}",
                        metric.name(),
                        short(&kernel.name),
                        plain(*value),
                        plain(*limit)
                    )
                });
            }
        }
    }
    let count = seen.len() as u64;
    (count > 0).then(|| HealthItem {
        id: "implausible_value",
        severity: Severity::Warning,
        count,
        message: format!(
            "{count} metrics derived from counters cannot be true and are left out: {}.",
            seen.values().next().map(String::as_str).unwrap_or_default()
        ),
        advice: "Check the counters and the GPU the trace names; record again.".to_owned(),
        examples: seen.into_values().take(Health::MAX_EXAMPLES).collect(),
    })
}

/// A number with four significant digits.
fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}")
    }
}

fn unmatched(profile: &CounterProfile) -> Option<HealthItem> {
    let unmatched = &profile.unmatched;
    let count = unmatched.kernels + unmatched.foreign_dispatches;
    (count > 0).then(|| {
        let mut message = String::new();
        if unmatched.kernels > 0 {
            message = format!("{} kernels of the counter databases are not in this trace", unmatched.kernels);
        }
        if unmatched.foreign_dispatches > 0 {
            let join = if message.is_empty() { "" } else { "; " };
            message = format!(
                "{message}{join}{} counted dispatches ran on other GPUs ({})",
                unmatched.foreign_dispatches,
                unmatched.foreign_gpus.join(", ")
            );
        }
        HealthItem {
            id: "unmatched_counters",
            severity: Severity::Info,
            count,
            message: format!("{message}: they were not used."),
            advice: "Give counter databases of the same program on the same GPU.".to_owned(),
            examples: unmatched.examples.clone(),
        }
    })
}
