//! `rccl_analysis`: shows the collectives of a trace against what the links allow.

use perfxpert_analysis::communication::{self, Communication, Grouping, Known, Row, Straggler};
use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::commands::{self, Opt, Target};
use perfxpert_knowledge::interconnect::{self, Links};
use perfxpert_schemas::tools::rccl_analysis as wire;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_trace::Trace;

use crate::arguments::unknown_name;
use crate::trace_answer::{self, ONE_TRACE, Page};
use crate::{Context, Tool, tool, trace_health};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::AnalyzeCollectives>(
        "Collectives of a trace",
        "Bandwidth, efficiency and overlap of RCCL collectives, from device time, and the rank the others wait for. Use interconnect_lookup_peaks for the link figures.",
        analyze,
    )]
}

const FIELD: &str = "db_path";
const TARGET: Target<'_> = Target { app: "./app", out: "perfxpert_out", kernel: None };
/// Ranks of an answer.
const STRAGGLERS: usize = 8;

fn analyze(
    context: &Context,
    input: wire::AnalyzeCollectivesInput,
) -> Result<wire::AnalyzeCollectivesOutput, ErrorObject> {
    let links = input.gfx_id.as_deref().map(links).transpose()?;
    let run = context.load_gpu(&trace_answer::inputs(&input.db_path), ONE_TRACE, FIELD)?;
    let known = Known { ranks: input.ranks, links };
    let grouping = match input.group_by {
        wire::GroupBy::Signature => Grouping::Signature,
        wire::GroupBy::Call => Grouping::Call,
    };
    let found = context
        .scanned(FIELD, |control| communication::of_run(&run.trace, &run.profile, known, grouping, control))?
        .ok_or_else(|| nothing(&run.first_path()))?;
    let incomplete = found.incomplete();
    let page = Page::of(&found.rows, input.offset, input.limit);
    let (stragglers, reason) = match &found.stragglers {
        Ok(rows) => {
            (Some(rows.iter().take(STRAGGLERS).map(|row| straggler(&run.trace, row)).collect()), None)
        }
        Err(reason) => (None, Some((*reason).to_owned())),
    };
    Ok(wire::AnalyzeCollectivesOutput {
        summary: summary(&found, incomplete),
        capture_incomplete: incomplete.is_some(),
        collectives: page.rows.into_iter().map(|row| collective(row, &found)).collect(),
        stragglers,
        stragglers_reason: reason,
        total: page.total,
        returned: page.returned,
        truncated: page.truncated,
        missing: missing(&found),
        trace_health: trace_health::of(&run),
        notes: trace_answer::notes(notes(&found)),
    })
}

fn links(id: &str) -> Result<&'static Links, ErrorObject> {
    interconnect::find(id).ok_or_else(|| {
        let known: Vec<&str> = interconnect::all().iter().map(|row| row.id.as_str()).collect();
        let mut error = unknown_name("gfx_id", id.trim(), known, "architecture or adapter");
        error.hint = "Use one of the known ids.".to_owned();
        error
    })
}

fn nothing(path: &str) -> ErrorObject {
    ErrorObject::new(
        ErrorKind::NoEvidence,
        format!("{path} has neither RCCL calls nor collective kernels, so there are no collectives."),
        "Record a run that communicates, with RCCL calls traced.",
    )
    .with("missing", vec!["RCCL calls", "collective kernels"])
    .with("command", record())
}

fn record() -> String {
    commands::traces(&TARGET, &[Opt::RcclTrace, Opt::KernelTrace, Opt::HipRuntimeTrace]).full_command()
}

fn summary(found: &Communication, incomplete: Option<&'static str>) -> wire::CollectiveSummary {
    let lacking = incomplete.is_some();
    wire::CollectiveSummary {
        op_count: found.count,
        ranks: found.ranks,
        ranks_source: found.ranks_source.label().to_owned(),
        dominant_op: found.dominant.map(|operation| operation.label().to_owned()),
        total_device_ns: found.device_total.0,
        avg_bw_gbps: found.bus_gbps.map(|rate| round(rate, 3)),
        peak_bw_gbps: found.peak_gbps,
        link_peak_gbps: found.link_peak_gbps,
        avg_efficiency_pct: found.efficiency.map(|share| round(share, 2)),
        overlap_pct: found.overlap.map(|share| round(share, 2)),
        capture_incomplete: lacking,
        measured_metrics_available: found.measured(),
        fallback_kernel_count: lacking.then_some(found.unlinked_kernels),
        observed_total_duration_ns: lacking.then_some(found.device_total.0),
        incomplete_reason: incomplete.map(str::to_owned),
    }
}

fn collective(row: &Row, found: &Communication) -> wire::CollectiveRow {
    wire::CollectiveRow {
        op: row.operation.label().to_owned(),
        op_type: row.operation.label().to_owned(),
        count: row.count,
        msg_bytes: row.bytes.map(|bytes| bytes.0),
        dtype: row.data_type.map(|kind| kind.name.to_owned()),
        ranks: found.ranks,
        duration_ns: row.device.map(|time| time.0),
        total_ns: row.total.0,
        min_ns: row.min.map(|time| time.0),
        max_ns: row.max.map(|time| time.0),
        link: row.link.label().to_owned(),
        host_call_ns: row.host.map(|time| time.0),
        effective_bw_gbps: row.bus_gbps.map(|rate| round(rate, 3)),
        algo_bw_gbps: row.algorithm_gbps.map(|rate| round(rate, 3)),
        peak_bw_gbps: found.peak_gbps,
        link_peak_gbps: found.link_peak_gbps,
        efficiency_pct: row.efficiency.map(|share| round(share, 2)),
        efficiency_label: row.label().to_owned(),
        algo_hint: row.algorithm_hint().to_owned(),
        topology_hint: found.topology.to_owned(),
        regime: row.regime().to_owned(),
        overlap_ratio: row.overlap.map(|share| round(share, 2)),
        first_start_ns: row.first_start,
    }
}

fn straggler(trace: &Trace, row: &Straggler) -> wire::StragglerRow {
    let process = trace.processes().get(row.process.get());
    let machine = process.and_then(|process| trace.machines().get(process.machine.get()));
    let share = row.last_count as f64 / row.instances.max(1) as f64;
    wire::StragglerRow {
        pid: row.pid,
        host: machine.map(|machine| machine.hostname.clone().unwrap_or_else(|| machine.id.clone())),
        agent: trace.agent(row.agent).map(|agent| agent.absolute_index),
        last_count: row.last_count,
        last_share: round(share, 4),
        wait_caused_ns: row.wait_caused.0,
        mean_lateness_ns: row.mean_lateness.0,
    }
}

fn missing(found: &Communication) -> Vec<String> {
    let mut missing = Vec::new();
    if found.calls == 0 {
        missing.push(format!("RCCL calls: {}", record()));
    }
    if found.kernels == 0 {
        missing.push(format!("collective kernels: {}", record()));
    }
    if found.sizes_unknown {
        missing.push("message sizes: rocprofv3 does not record the arguments of RCCL calls".to_owned());
    }
    if found.ranks.is_none() {
        missing
            .push("number of ranks: send ranks, or give the folder with the files of all ranks".to_owned());
    }
    missing
}

fn notes(found: &Communication) -> Vec<String> {
    let mut notes = Vec::new();
    if found.peak_gbps.is_none() {
        notes.push("The GPU's links are not known: peaks and efficiency are null; send gfx_id.".to_owned());
    }
    let fast = found.rows.iter().find_map(|row| {
        let (bus, peak) = (row.bus_gbps?, found.peak_gbps?);
        (bus > peak).then_some((row.operation, bus, peak))
    });
    if let Some((operation, bus, peak)) = fast {
        notes.push(format!(
            "{} reaches {bus:.1} GB/s, above the {peak:.1} GB/s known as reachable: its efficiency is null.",
            operation.label()
        ));
    }
    if found.kernels_left_out > 0 {
        notes.push(format!(
            "{} of {} collective kernels were too many to judge one by one; totals count them.",
            found.kernels_left_out, found.kernels
        ));
    }
    notes
}
