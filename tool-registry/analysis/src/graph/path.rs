//! Edges between stored nodes and the longest path through them.

use std::collections::{HashMap, HashSet};

use perfxpert_trace::{ProcessIdx, Trace};

use super::search::NONE;
use super::{EDGES, Edge, EdgeKind, Graph, NodeId, PATH, Request, Work};
use crate::units::Nanos;

/// A node as the graph keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) start: i64,
    pub(super) end: i64,
    /// Position of its stream; [`NONE`] when nothing orders it.
    pub(super) stream: u32,
    pub(super) process: ProcessIdx,
    pub(super) work: Work,
}

impl Stored {
    const fn length(&self) -> Nanos {
        Nanos::between(self.start, self.end)
    }
}

/// A blocking call, and the first node its thread launched after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) process: ProcessIdx,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) to: NodeId,
}

/// Connects the nodes and finds the longest path; counts and lists of nodes and bubbles are left to the caller.
pub(super) fn solve(
    trace: &Trace,
    nodes: &[Stored],
    waits: &[Wait],
    streams: usize,
    request: Request,
) -> Graph {
    let mut graph = Graph::default();
    let waits = waited(nodes, waits);
    let mut waits = waits.iter().peekable();
    let mut last = vec![NONE; streams];
    let mut best: Vec<Nanos> = Vec::with_capacity(nodes.len());
    let mut before: Vec<(NodeId, EdgeKind)> = Vec::with_capacity(nodes.len());
    let page = request.offset..request.offset.saturating_add(request.limit);
    for (at, node) in nodes.iter().enumerate() {
        let id = NodeId::try_from(at).unwrap_or(NONE);
        let (mut longest, mut choice) = (Nanos::ZERO, (NONE, EdgeKind::StreamOrder));
        let stream = last.get_mut(node.stream as usize).map(|last| std::mem::replace(last, id));
        let stream = stream.filter(|from| *from != NONE).map(|from| (from, EdgeKind::StreamOrder));
        let mut arriving: Vec<(NodeId, EdgeKind)> = stream.into_iter().collect();
        while let Some(&&(to, from)) = waits.peek()
            && to == id
        {
            waits.next();
            arriving.push((from, EdgeKind::HostSync));
        }
        for (from, kind) in arriving {
            let Some(earlier) =
                nodes.get(from as usize).filter(|earlier| earlier.end <= node.start && from < id)
            else {
                graph.conflicts += 1;
                continue;
            };
            graph.edge_count += 1;
            if page.contains(&(from as usize)) && page.contains(&at) && graph.edges.len() < EDGES {
                graph.edges.push(Edge { from, to: id, kind, gap: Nanos::between(earlier.end, node.start) });
            }
            let length = best.get(from as usize).copied().unwrap_or_default();
            // At equal lengths the earlier predecessor counts.
            if choice.0 == NONE || length > longest || (length == longest && from < choice.0) {
                (longest, choice) = (length, (from, kind));
            }
        }
        best.push(longest + node.length());
        before.push(choice);
    }
    let end =
        best.iter().enumerate().fold(None, |found: Option<(usize, Nanos)>, (at, &length)| match found {
            Some((_, known)) if known >= length => found,
            _ => Some((at, length)),
        });
    if let Some((end, length)) = end {
        graph.critical = length;
        walk(trace, nodes, &before, end, &mut graph);
    }
    graph
}

/// Collects the path that ends at a node.
fn walk(trace: &Trace, nodes: &[Stored], before: &[(NodeId, EdgeKind)], end: usize, graph: &mut Graph) {
    let mut path = vec![end];
    while let Some(&(from, _)) = path.last().and_then(|at| before.get(*at))
        && from != NONE
    {
        path.push(from as usize);
    }
    path.reverse();
    graph.path_total = path.len() as u64;
    let mut shares: HashMap<Work, (Nanos, u64)> = HashMap::new();
    for node in path.iter().filter_map(|at| nodes.get(*at)) {
        let share = shares.entry(node.work).or_default();
        share.0 += node.length();
        share.1 += 1;
    }
    let listed: HashSet<(NodeId, NodeId, bool)> =
        graph.edges.iter().map(|edge| (edge.from, edge.to, edge.kind == EdgeKind::HostSync)).collect();
    for &at in &path {
        if graph.edges.len() >= EDGES {
            break;
        }
        let (Some(&(from, kind)), Ok(to)) = (before.get(at), NodeId::try_from(at)) else { continue };
        let (Some(earlier), Some(later)) = (nodes.get(from as usize), nodes.get(at)) else { continue };
        if !listed.contains(&(from, to, kind == EdgeKind::HostSync)) {
            graph.edges.push(Edge { from, to, kind, gap: Nanos::between(earlier.end, later.start) });
        }
    }
    graph.path = path.iter().take(PATH).filter_map(|at| NodeId::try_from(*at).ok()).collect();
    let mut rows: Vec<_> =
        shares.into_iter().map(|(work, (total, count))| (work.name(trace), (work, total, count))).collect();
    rows.sort_by(|(left, a), (right, b)| b.1.cmp(&a.1).then_with(|| left.cmp(right)));
    graph.by_work = rows.into_iter().map(|(_, row)| row).collect();
}

/// Pairs (to, from) of the waits, by `to`: from is the node of the process that ended last during the wait.
fn waited(nodes: &[Stored], waits: &[Wait]) -> Vec<(NodeId, NodeId)> {
    let waits: Vec<&Wait> = waits.iter().filter(|wait| wait.to != NONE).collect();
    let processes: HashSet<ProcessIdx> = waits.iter().map(|wait| wait.process).collect();
    let mut ends: HashMap<ProcessIdx, Vec<(i64, std::cmp::Reverse<NodeId>)>> = HashMap::new();
    for (id, node) in (0..).zip(nodes).filter(|(_, node)| processes.contains(&node.process)) {
        ends.entry(node.process).or_default().push((node.end, std::cmp::Reverse(id)));
    }
    for ends in ends.values_mut() {
        ends.sort_unstable();
    }
    let mut edges: Vec<(NodeId, NodeId)> = waits
        .iter()
        .filter_map(|wait| {
            let ends = ends.get(&wait.process)?;
            let at = ends.partition_point(|(end, _)| *end <= wait.end).checked_sub(1)?;
            let &(end, std::cmp::Reverse(from)) = ends.get(at)?;
            (end >= wait.start && from != wait.to).then_some((wait.to, from))
        })
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}
