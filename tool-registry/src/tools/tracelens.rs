//! `tracelens`: severities of idle time and short kernels, and the catalogue behind them.

use perfxpert_knowledge::{kernels, thresholds};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::tracelens as wire;

use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::ClassifyOverhead>(
            "Idle and short-kernel waste",
            "Severity of GPU idle time and of time in kernels too short to be worth a launch. Use topdown_classify_overhead for copies and host time.",
            classify_overhead,
        ),
        tool::<wire::LookupMetrics>(
            "Timeline metric catalogue",
            "The catalogue of timeline metrics, kernel categories and thresholds.",
            lookup_metrics,
        ),
    ]
}

fn limits() -> wire::Thresholds {
    let facts = thresholds::tracelens();
    wire::Thresholds {
        idle_high: facts.idle_high,
        idle_medium: facts.idle_medium,
        wasted_high: facts.wasted_high,
        wasted_medium: facts.wasted_medium,
    }
}

fn severity(value: f64, high: f64, medium: f64) -> wire::Severity {
    if value >= high {
        wire::Severity::High
    } else if value >= medium {
        wire::Severity::Medium
    } else {
        wire::Severity::Low
    }
}

fn classify_overhead(
    _: &Context,
    input: wire::ClassifyOverheadInput,
) -> Result<wire::ClassifyOverheadOutput, ErrorObject> {
    let limits = limits();
    let idle = severity(input.idle_pct, limits.idle_high, limits.idle_medium);
    let wasted = severity(input.wasted_pct, limits.wasted_high, limits.wasted_medium);
    let mut actions: Vec<&str> = Vec::new();
    match idle {
        wire::Severity::High => actions.extend([
            "Batch small kernels, or capture a graph and launch it as one.",
            "Use more streams, so that independent work overlaps.",
            "Find blocking synchronisation calls with dependency_graph_reconstruct_dag.",
        ]),
        wire::Severity::Medium => {
            actions
                .push("Idle time: measure first; dependency_graph_reconstruct_dag shows where the gaps are.");
        }
        wire::Severity::Low => {}
    }
    match wasted {
        wire::Severity::High => actions.push(
            "Fuse short kernels (kernel_fusion_find_fusion_candidates), or give each launch more work.",
        ),
        wire::Severity::Medium => actions.push(
            "Short kernels: measure first; regression_extract_kernel_runtimes_from_db shows which ones they are.",
        ),
        wire::Severity::Low => {}
    }
    Ok(wire::ClassifyOverheadOutput {
        idle_severity: idle,
        wasted_severity: wasted,
        idle_pct: input.idle_pct,
        wasted_pct: input.wasted_pct,
        recommended_actions: actions.into_iter().map(str::to_owned).collect(),
        thresholds: limits,
    })
}

fn lookup_metrics(
    _: &Context,
    _: wire::LookupMetricsInput,
) -> Result<wire::LookupMetricsOutput, ErrorObject> {
    let timeline = [
        ("true_compute_pct", "wall time with any kernel running, overlaps merged"),
        ("exposed_memcpy_pct", "copy running, no kernel"),
        ("exposed_host_pct", "neither, while a host call of the process is open"),
        ("idle_pct", "neither"),
    ];
    let facts = thresholds::tracelens();
    Ok(wire::LookupMetricsOutput {
        interval_timeline: timeline
            .into_iter()
            .map(|(name, description)| wire::TimelineMetric {
                name: name.to_owned(),
                unit: "percent".to_owned(),
                description: description.to_owned(),
            })
            .collect(),
        kernel_categories: kernels::categories()
            .iter()
            .map(|row| wire::KernelCategory {
                name: row.name.as_str().to_owned(),
                patterns: row.patterns.clone(),
                hint: row.hint.clone(),
            })
            .collect(),
        short_kernels: wire::ShortKernels {
            threshold_us: facts.short_kernel_us,
            metrics: vec!["wasted_pct_of_kernel_time".to_owned()],
            warn: facts.wasted_high,
        },
        thresholds: limits(),
        units_note: "the catalogue reports percent; classify_overhead takes fractions".to_owned(),
    })
}
