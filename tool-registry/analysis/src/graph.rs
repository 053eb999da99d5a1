//! Order dependencies of GPU work, the longest chain through them, and times when a GPU had nothing to do.

mod path;
mod search;

use perfxpert_trace::{AgentIdx, Control, Direction, KernelIdx, ProcessIdx, ScanError, Select, Trace};

use crate::profile::Text;
use crate::units::Nanos;
use search::{HostCalls, Search};

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A kernel dispatch.
    Kernel(KernelIdx),
    /// A memory copy.
    Copy(Direction),
}

impl Work {
    /// `kernel` or `copy`.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Copy(_) => "copy",
        }
    }

    /// Name of the kernel, or direction of the copy.
    #[must_use]
    pub fn name(self, trace: &Trace) -> Text {
        match self {
            Self::Kernel(kernel) => {
                trace.kernel(kernel).map_or_else(|| Text::from(""), |kernel| kernel.name.clone())
            }
            Self::Copy(direction) => Text::from(direction.label()),
        }
    }
}

/// Position of a node in time order: by start, end, file and row.
pub type NodeId = u32;

/// One node of the asked page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its position.
    pub id: NodeId,
    /// What it is.
    pub work: Work,
    /// Start on the GPU, clock value.
    pub start: i64,
    /// End on the GPU, clock value.
    pub end: i64,
    /// Id of its stream; 0 without one.
    pub stream: i64,
    /// Its GPU; `NONE` for a copy within host memory.
    pub agent: AgentIdx,
    /// Its process.
    pub process: ProcessIdx,
}

/// Why one node comes after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Same stream.
    StreamOrder,
    /// The host waited for the first before it launched the second.
    HostSync,
}

impl EdgeKind {
    /// The word used in answers.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::StreamOrder => "stream_order",
            Self::HostSync => "host_sync",
        }
    }
}

/// A dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The earlier node.
    pub from: NodeId,
    /// The later node.
    pub to: NodeId,
    /// Why.
    pub kind: EdgeKind,
    /// From the end of the earlier to the start of the later.
    pub gap: Nanos,
}

/// A time when a GPU had neither kernel nor copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bubble {
    /// End of what came before, clock value.
    pub start: i64,
    /// Start of what ends it, clock value.
    pub end: i64,
    /// The GPU.
    pub agent: AgentIdx,
    /// Id of the stream of the node that ends it.
    pub stream: i64,
    /// The HIP or HSA call of that node's thread that covers at least half of it.
    pub host_call: Option<Text>,
}

impl Bubble {
    /// How long.
    #[must_use]
    pub const fn length(&self) -> Nanos {
        Nanos::between(self.start, self.end)
    }
}

/// What to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Shortest bubble.
    pub min_gap: Nanos,
    /// First node to list.
    pub offset: usize,
    /// Nodes to list.
    pub limit: usize,
}

/// The dependencies of a run, summed up and listed within bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Summed durations of the longest path.
    pub critical: Nanos,
    /// First nodes of the path, in time order.
    pub path: Vec<NodeId>,
    /// Nodes of the path.
    pub path_total: u64,
    /// What the path consists of: summed time and count, by time descending, then name.
    pub by_work: Vec<(Work, Nanos, u64)>,
    /// Longest bubbles, then by start.
    pub bubbles: Vec<Bubble>,
    /// All bubbles.
    pub bubbles_total: u64,
    /// Their summed lengths.
    pub bubble_time: Nanos,
    /// Nodes of the run.
    pub node_count: u64,
    /// Nodes that were too many to keep: they are in no edge and on no path.
    pub nodes_left_out: u64,
    /// Edges.
    pub edge_count: u64,
    /// Edges dropped because the later item starts before the earlier ends.
    pub conflicts: u64,
    /// The asked page.
    pub nodes: Vec<Node>,
    /// Edges inside the page, then edges of the longest path.
    pub edges: Vec<Edge>,
}

/// Most edges listed.
pub const EDGES: usize = 200;
/// Most bubbles listed.
pub const BUBBLES: usize = 50;
/// Most nodes of the path listed.
pub const PATH: usize = 100;

/// Reconstructs the dependencies of a run.
///
/// # Errors
/// Those of the trace's sweep.
pub fn of_run(trace: &Trace, request: Request, control: &Control) -> Result<Graph, ScanError> {
    let select = Select { dispatches: true, copies: true, regions: true, ..Select::default() };
    let mut by_stream = Vec::new();
    let (mut graph, bubbles) = loop {
        let (search, _) = trace.sweep(select, control, || Search::new(trace, request, &by_stream))?;
        match search.finish() {
            Ok(found) => break found,
            Err(again) => by_stream = again,
        }
    };
    graph.bubbles = bubbles.iter().map(|found| found.bubble.clone()).collect();
    if trace.has_host_rows() && !bubbles.is_empty() {
        let select = Select { regions: true, ..Select::default() };
        let (calls, _) = trace.sweep(select, control, || HostCalls::new(trace, &bubbles))?;
        for (bubble, call) in graph.bubbles.iter_mut().zip(calls.finish()) {
            bubble.host_call = call;
        }
    }
    Ok(graph)
}
