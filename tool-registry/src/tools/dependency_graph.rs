//! `dependency_graph`: shows the longest chain of GPU work and the times without any.

use perfxpert_analysis::RunProfile;
use perfxpert_analysis::graph::{self, Request};
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::Nanos;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::dependency_graph as wire;
use perfxpert_trace::{AgentIdx, Family, ProcessIdx, Trace};

use crate::trace_answer::{self, ONE_TRACE};
use crate::{Context, Tool, tool, trace_health};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::ReconstructDag>(
        "Dependencies of GPU work",
        "Order dependencies of GPU work, the longest chain through them, and times when a GPU had nothing to do. Use kernel_fusion_find_fusion_candidates for neighbouring kernels, topdown_classify_overhead for shares.",
        reconstruct,
    )]
}

const FIELD: &str = "db_path";
/// Rows of the path by kernel.
const SHARES: usize = 10;
/// Parts of the names of calls that wait for GPU work or make it wait.
const SYNC_NAMES: [&str; 5] =
    ["WaitEvent", "EventSynchronize", "StreamSynchronize", "DeviceSynchronize", "Barrier"];

fn reconstruct(
    context: &Context,
    input: wire::ReconstructDagInput,
) -> Result<wire::ReconstructDagOutput, ErrorObject> {
    let run = context.load_gpu(&trace_answer::inputs(&input.db_path), ONE_TRACE, FIELD)?;
    let request = Request { min_gap: Nanos(input.min_gap_ns), offset: input.offset, limit: input.limit };
    let found = context.scanned(FIELD, |control| graph::of_run(&run.trace, request, control))?;
    let trace = &run.trace;
    let share = found.critical.fraction_of(run.profile.total_runtime()).unwrap_or(0.0);
    let returned = found.nodes.len() as u64;
    let mut notes = Vec::new();
    if found.conflicts > 0 {
        notes.push(format!(
            "{} dependencies contradict the recorded times and were dropped: the order is doubtful, two clocks may be \
             involved.",
            found.conflicts
        ));
    }
    if found.nodes_left_out > 0 {
        notes.push(format!(
            "The last {} nodes are in no dependency and on no path: the trace is too large to keep all.",
            found.nodes_left_out
        ));
    }
    Ok(wire::ReconstructDagOutput {
        critical_path_ns: found.critical.0,
        critical_path_share: round(share, 4),
        total_bubble_ns: found.bubble_time.0,
        bubbles_total: found.bubbles_total,
        sync_event_count: sync_calls(&run.profile),
        node_count: found.node_count,
        edge_count: found.edge_count,
        order_conflicts: found.conflicts,
        critical_path: found.path.iter().map(|node| id(*node)).collect(),
        critical_path_total: found.path_total,
        critical_path_by_kernel: found
            .by_work
            .iter()
            .take(SHARES)
            .map(|(work, total, count)| wire::PathShare {
                name: work.name(trace).to_string(),
                kind: work.kind().to_owned(),
                total_ns: total.0,
                count: *count,
            })
            .collect(),
        bubbles: found
            .bubbles
            .iter()
            .map(|bubble| wire::Bubble {
                start: bubble.start,
                end: bubble.end,
                duration_ns: bubble.length().0,
                agent: agent(trace, bubble.agent),
                cause: format!("idle_gap_stream_{}", bubble.stream),
                host_call: bubble.host_call.as_ref().map(ToString::to_string),
            })
            .collect(),
        nodes: found
            .nodes
            .iter()
            .map(|node| wire::Node {
                id: id(node.id),
                kind: node.work.kind().to_owned(),
                name: node.work.name(trace).to_string(),
                start_ns: node.start,
                end_ns: node.end,
                duration_ns: Nanos::between(node.start, node.end).0,
                stream: node.stream,
                agent: agent(trace, node.agent),
                pid: pid(trace, node.process),
            })
            .collect(),
        edges: found
            .edges
            .iter()
            .map(|edge| wire::Edge {
                from: id(edge.from),
                to: id(edge.to),
                kind: edge.kind.label().to_owned(),
                gap_ns: edge.gap.0,
            })
            .collect(),
        total: found.node_count,
        returned,
        truncated: (input.offset as u64).saturating_add(returned) < found.node_count,
        trace_health: trace_health::of(&run),
        notes: trace_answer::notes(notes),
    })
}

fn id(node: graph::NodeId) -> String {
    format!("k{node}")
}

fn agent(trace: &Trace, agent: AgentIdx) -> Option<i64> {
    agent.is_some().then(|| trace.agent(agent)).flatten().map(|agent| agent.absolute_index)
}

fn pid(trace: &Trace, process: ProcessIdx) -> Option<i64> {
    trace.processes().get(process.get())?.pid
}

fn sync_calls(profile: &RunProfile) -> u64 {
    profile
        .calls
        .iter()
        .filter(|call| matches!(call.family, Family::HipRuntime | Family::HipCompiler))
        .filter(|call| SYNC_NAMES.iter().any(|part| call.text.contains(part)))
        .map(|call| call.calls)
        .sum()
}
