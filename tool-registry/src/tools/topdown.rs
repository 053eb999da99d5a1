//! `topdown`: holds the shares of the window against their limits.

use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::topdown as wire;

use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::ClassifyOverhead>(
        "Application overhead",
        "Red flags in the application-level time breakdown. Use tracelens_classify_overhead for idle and short-kernel waste, bottleneck_classify_from_metrics for a verdict.",
        classify_overhead,
    )]
}

/// How far the three shares together may exceed the whole: rounding of the caller.
const SUM_TOLERANCE: f64 = 1e-6;

fn classify_overhead(
    _: &Context,
    input: wire::ClassifyOverheadInput,
) -> Result<wire::ClassifyOverheadOutput, ErrorObject> {
    let sum = input.memcpy_pct + input.api_pct + input.idle_pct;
    if sum > 1.0 + SUM_TOLERANCE {
        return Err(ErrorObject::invalid(
            "memcpy_pct",
            format!("memcpy_pct, api_pct and idle_pct add up to {sum}, more than the whole window."),
            "Send exclusive shares: copies only while no kernel runs.",
        )
        .value(&sum.to_string()));
    }
    let limits = thresholds::topdown();
    let idle_priority = if input.idle_pct >= limits.idle_high { "high" } else { "medium" };
    let flags = [
        (
            "memcpy_dominant",
            "memcpy_pct",
            input.memcpy_pct,
            limits.memcpy_dominant,
            "high",
            "of the window is spent in copies that no kernel hides: overlap them, pin memory, or copy less",
        ),
        (
            "api_heavy",
            "api_overhead_pct",
            input.api_pct,
            limits.api_heavy,
            "medium",
            "of the window passes in host calls while the GPU waits: launch fewer, larger kernels or capture a graph",
        ),
        (
            "idle_heavy",
            "gpu_idle_pct",
            input.idle_pct,
            limits.idle_heavy,
            idle_priority,
            "of the window the GPU has nothing to do: feed it earlier and avoid blocking synchronisation",
        ),
    ];
    let items: Vec<wire::RedFlag> = flags
        .into_iter()
        .filter(|(_, _, value, threshold, ..)| value >= threshold)
        .map(|(name, metric, value, threshold, priority, words)| wire::RedFlag {
            red_flag_name: name.to_owned(),
            metric: metric.to_owned(),
            value,
            current_value: value,
            threshold,
            priority: priority.to_owned(),
            message: format!("{:.1} % {words}.", value * 100.0),
            max_speedup: (value < 1.0).then(|| round(1.0 / (1.0 - value), 3)),
            max_speedup_reason: (value >= 1.0).then_some("the share is the whole window"),
        })
        .collect();
    let total = items.len();
    Ok(wire::ClassifyOverheadOutput { healthy: total == 0, items, total, returned: total, truncated: false })
}
