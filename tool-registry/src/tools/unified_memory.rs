//! `unified_memory`: words the traffic of a trace between host and GPUs.

use perfxpert_analysis::rounding::round;
use perfxpert_analysis::unified_memory::{self, Advice, RepeatedCopy, Traffic};
use perfxpert_knowledge::commands::{self, Opt, Target};
use perfxpert_schemas::tools::unified_memory as wire;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_trace::Direction;

use crate::trace_answer::{self, ONE_TRACE, Page};
use crate::{Context, Tool, tool, trace_errors, trace_health};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::AnalyzePaging>(
        "Host traffic and page migration",
        "Host-GPU traffic, real page migrations and faults when they were recorded, and copies that repeat. Use topdown_classify_overhead for shares.",
        analyze_paging,
    )]
}

const TARGET: Target<'_> = Target { app: "./app", out: "perfxpert_out", kernel: None };
const FIELD: &str = "db_path";

fn analyze_paging(
    context: &Context,
    input: wire::AnalyzePagingInput,
) -> Result<wire::AnalyzePagingOutput, ErrorObject> {
    let run = context.load(&trace_answer::inputs(&input.db_path), ONE_TRACE, FIELD)?;
    let found =
        context.scanned(FIELD, |control| unified_memory::of_run(&run.trace, &run.profile, control))?;
    if run.profile.copies.is_empty() && !found.driver_traced() {
        if !run.has_gpu_work() {
            return Err(trace_errors::empty(&run.trace, FIELD));
        }
        if run.health.get("no_copy_trace").is_some() {
            return Err(no_copies(&run.first_path()));
        }
    }
    let page = Page::of(found.repeated.iter().map(repeated), input.offset, input.limit);
    let untraced = (!found.driver_traced()).then(|| {
        format!(
            "the driver's page events were not recorded; newer rocprofv3 records them with {}",
            Opt::KfdTrace.as_str()
        )
    });
    Ok(wire::AnalyzePagingOutput {
        paging_events: found.migrations,
        paging_events_reason: untraced.clone(),
        page_faults: found.faults,
        page_faults_reason: untraced.clone(),
        cross_die_bytes: None,
        cross_die_bytes_reason: "a copy row does not say which accelerator dies it joins".to_owned(),
        estimated_penalty_ns: found.penalty.map(|time| time.0),
        estimated_penalty_ns_reason: found
            .penalty
            .is_none()
            .then(|| untraced.unwrap_or_else(|| "no migration or fault record has a duration".to_owned())),
        host_to_device: traffic(&found.host_to_device),
        device_to_host: traffic(&found.device_to_host),
        device_to_device: traffic(&found.device_to_device),
        host_to_host: traffic(&found.host_to_host),
        peer_bytes: found.peer_bytes.0,
        unknown_direction: traffic(&found.unknown),
        host_traffic_share: round(found.host_share, 4),
        exposed_host_copy_share: round(found.exposed_host_share, 4),
        repeated_copies: page.rows,
        total: page.total,
        returned: page.returned,
        truncated: page.truncated,
        recommendations: found.advice.iter().map(|advice| words(*advice).to_owned()).collect(),
        trace_health: trace_health::of(&run),
        notes: Vec::new(),
    })
}

fn no_copies(path: &str) -> ErrorObject {
    let command = commands::traces(&TARGET, &[Opt::MemoryCopyTrace, Opt::KernelTrace, Opt::HipRuntimeTrace]);
    ErrorObject::new(
        ErrorKind::NoEvidence,
        format!("{path} has copy calls, but no copy was recorded, so traffic cannot be told."),
        "Record copies too, then ask again.",
    )
    .with("missing", vec!["memory copies"])
    .with("command", command.full_command())
}

fn traffic(traffic: &Traffic) -> wire::Traffic {
    wire::Traffic {
        count: traffic.count,
        bytes: traffic.bytes.0,
        duration_ns: traffic.duration.0,
        busy_ns: traffic.busy.0,
        gbps: traffic.bandwidth().map(|rate| round(rate.gbps(), 3)),
        mean_bytes: traffic.mean_bytes().map(|bytes| round(bytes, 1)),
        small_count: traffic.small_count,
        small_bytes: traffic.small_bytes.0,
    }
}

fn repeated(row: &RepeatedCopy) -> wire::RepeatedCopy {
    wire::RepeatedCopy {
        direction: if row.direction == Direction::HostToDevice { "host_to_device" } else { "device_to_host" }
            .to_owned(),
        bytes_each: row.bytes,
        count: row.count,
        total_bytes: row.bytes.saturating_mul(row.count),
        total_ns: row.total.0,
        address: format!("{:#x}", row.address),
    }
}

const fn words(advice: Advice) -> &'static str {
    match advice {
        Advice::Migrations => {
            "The driver migrates or faults pages: say where they belong with hipMemAdvise(ptr, bytes, \
             hipMemAdviseSetPreferredLocation, device) and move them ahead of use with hipMemPrefetchAsync, or use \
             pinned memory."
        }
        Advice::Repeated => {
            "The same buffer is copied again and again: upload it once and keep it resident on the GPU."
        }
        Advice::Exposed => {
            "Host copies run while no kernel does: use pinned buffers (hipHostMalloc) and hipMemcpyAsync on a stream \
             of their own."
        }
        Advice::Small => "Most host copies are small: pack them into one buffer and copy it once.",
    }
}
