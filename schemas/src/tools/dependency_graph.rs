//! `dependency_graph`: order dependencies of GPU work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::TraceHealth;

/// Contract of `dependency_graph.reconstruct_dag`.
pub struct ReconstructDag;

impl Contract for ReconstructDag {
    const NAME: &'static str = "dependency_graph.reconstruct_dag";
    type Input = ReconstructDagInput;
    type Output = ReconstructDagOutput;
}

/// Arguments of `dependency_graph.reconstruct_dag`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReconstructDagInput {
    /// rocpd file or folder, a path.
    #[schemars(length(max = 4096))]
    pub db_path: String,
    /// Shortest bubble, ns.
    #[serde(default = "min_gap_ns")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_gap_ns: u64,
    /// Nodes to return, a count.
    #[serde(default = "fifty")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: usize,
    /// Nodes to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: usize,
}

const fn min_gap_ns() -> u64 {
    2_000
}

const fn fifty() -> usize {
    50
}

/// Part of the longest path.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathShare {
    /// Kernel, or direction of a copy.
    pub name: String,
    /// kernel or copy.
    pub kind: String,
    /// Summed durations on the path, ns.
    pub total_ns: u64,
    /// Nodes on the path.
    pub count: u64,
}

/// A time when a GPU had neither kernel nor copy.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Bubble {
    /// Clock value, ns.
    pub start: i64,
    /// Clock value, ns.
    pub end: i64,
    /// Length, ns.
    pub duration_ns: u64,
    /// Index of the GPU on its machine.
    pub agent: Option<i64>,
    /// Which stream's work ends it.
    pub cause: String,
    /// HIP or HSA call that covers at least half of it; null without one.
    pub host_call: Option<String>,
}

/// A dispatch or copy.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Node {
    /// Id.
    pub id: String,
    /// kernel or copy.
    pub kind: String,
    /// Kernel, or direction of a copy.
    pub name: String,
    /// Clock value, ns.
    pub start_ns: i64,
    /// Clock value, ns.
    pub end_ns: i64,
    /// Length, ns.
    pub duration_ns: u64,
    /// Id of the stream.
    pub stream: i64,
    /// Index of the GPU on its machine; null for a copy within host memory.
    pub agent: Option<i64>,
    /// Process id.
    pub pid: Option<i64>,
}

/// A dependency.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Edge {
    /// The earlier node.
    pub from: String,
    /// The later node.
    pub to: String,
    /// `stream_order` or `host_sync`.
    pub kind: String,
    /// From the end of the earlier to the start of the later, ns.
    pub gap_ns: u64,
}

/// Answer of `dependency_graph.reconstruct_dag`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReconstructDagOutput {
    /// Time of the longest path, ns.
    pub critical_path_ns: u64,
    /// It over the run's time, 0 to 1.
    pub critical_path_share: f64,
    /// Time of all bubbles, ns.
    pub total_bubble_ns: u64,
    /// Bubbles in all.
    pub bubbles_total: u64,
    /// Host synchronisation calls.
    pub sync_event_count: u64,
    /// Dispatches and copies.
    pub node_count: u64,
    /// Dependencies.
    pub edge_count: u64,
    /// Dependencies whose times contradict them.
    pub order_conflicts: u64,
    /// Ids of the longest path, at most 100.
    pub critical_path: Vec<String>,
    /// Nodes of the path.
    pub critical_path_total: u64,
    /// Path by kernel, at most 10.
    pub critical_path_by_kernel: Vec<PathShare>,
    /// Longest bubbles, at most 50.
    pub bubbles: Vec<Bubble>,
    /// Nodes in time order.
    pub nodes: Vec<Node>,
    /// Edges in the page and on the path.
    pub edges: Vec<Edge>,
    /// Nodes in all.
    pub total: u64,
    /// Nodes returned.
    pub returned: u64,
    /// Whether more nodes exist.
    pub truncated: bool,
    /// State of the trace.
    pub trace_health: TraceHealth,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
