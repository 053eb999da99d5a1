//! What is wrong with a trace, and the warnings that follow.

use perfxpert_analysis::words;
use perfxpert_schemas::report::meta::{HealthReport, HealthRow, HealthRows, WarningDetail};
use perfxpert_trace::{HealthItem, Severity};

use super::host;
use super::measured::Measured;

/// Information that changes how a report is read, and is therefore a warning too.
const TOLD: [&str; 2] = ["no_api_trace", "short_trace"];

pub(super) fn section(measured: &Measured<'_>) -> HealthReport {
    let rows = &measured.run.rows;
    let read = rows.dispatches + rows.copies + rows.regions + rows.instants + rows.counter_values;
    let whole = read + rows.left_out;
    let items: Vec<HealthRow> = measured.health.items().iter().map(row).collect();
    HealthReport {
        status: measured.status().label().to_owned(),
        items_total: items.len() as u64,
        items,
        rows: HealthRows {
            dispatches: rows.dispatches,
            copies: rows.copies,
            regions: rows.regions + rows.instants,
            counter_values: rows.counter_values,
            left_out: rows.left_out,
            left_out_pct: perfxpert_analysis::Percent::of(rows.left_out, whole).unwrap_or_default().value(),
        },
    }
}

fn row(item: &HealthItem) -> HealthRow {
    HealthRow {
        id: item.id.to_owned(),
        severity: item.severity.label().to_owned(),
        count: item.count,
        message: item.message.clone(),
        advice: item.advice.clone(),
        examples: item.examples.clone(),
    }
}

/// A warning of the report itself.
pub(super) fn warning(
    code: &str,
    severity: Severity,
    message: impl Into<String>,
    recommendation: Option<&str>,
) -> WarningDetail {
    WarningDetail {
        code: code.to_owned(),
        severity: severity.label().to_owned(),
        message: message.into(),
        recommendation: recommendation.map(str::to_owned),
    }
}

/// Warnings about a trace, worst first: lost data, what the run lacks, then doubtful numbers.
pub(super) fn warnings(measured: &Measured<'_>, asked_gfx: Option<&str>) -> Vec<WarningDetail> {
    let profile = &measured.run.profile;
    let mut warnings = Vec::new();
    if !profile.judgeable() {
        warnings.push(warning(
            "empty_trace",
            Severity::Warning,
            format!(
                "No kernel dispatch and no memory copy to judge: rocpd_kernel_dispatch and rocpd_memory_copy hold no \
                 usable row; {} were recorded.",
                words::counted(measured.run.rows.regions + measured.run.rows.instants, "host call", "host calls")
            ),
            Some("Check that the program used the GPU and that rocprofv3 wrapped it, not its launcher."),
        ));
    }
    let told = |item: &&HealthItem| {
        item.severity != Severity::Info || (profile.judgeable() && TOLD.contains(&item.id))
    };
    warnings.extend(measured.health.items().iter().filter(told).map(|item| WarningDetail {
        code: item.id.to_owned(),
        severity: item.severity.label().to_owned(),
        message: item.message.clone(),
        recommendation: (!item.advice.is_empty()).then(|| item.advice.clone()),
    }));
    for (label, rate, peak) in host::too_fast(measured) {
        warnings.push(warning(
            "implausible_value",
            Severity::Warning,
            format!(
                "{label} copies of 1 MiB and more reach {rate:.2} GB/s, more than the {peak:.2} GB/s of their link: no \
                 share of the link is given."
            ),
            None,
        ));
    }
    let kept: u64 = measured.kernels.iter().map(|kernel| kernel.durations.count).sum();
    if profile.min_duration.0 > 0 && kept == 0 && profile.rows.dispatches > 0 {
        warnings.push(warning(
            "min_duration",
            Severity::Info,
            format!(
                "No dispatch lasts {} or more: the list of kernels is empty, shares and totals are of all dispatches.",
                words::duration(profile.min_duration.0)
            ),
            Some("Ask with a smaller minimum duration."),
        ));
    }
    if let Some(asked) = asked_gfx.and_then(perfxpert_knowledge::arch::normalise)
        && let Some(recorded) = recorded_gfx(measured)
        && recorded != asked
    {
        warnings.push(warning(
            "gfx_id",
            Severity::Warning,
            format!("The trace names its GPU {recorded}, not {asked}: the trace's is used."),
            None,
        ));
    }
    warnings
}

/// The architecture the trace names, of its first GPU with work.
pub(super) fn recorded_gfx(measured: &Measured<'_>) -> Option<String> {
    let agent = measured.run.profile.agents.first()?;
    measured.run.trace.agent(agent.agent)?.gfx_id
}
