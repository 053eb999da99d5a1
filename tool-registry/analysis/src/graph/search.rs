//! One pass over the rows: nodes in time order, streams, waits and bubbles; a second over the calls, for the bubbles' causes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use perfxpert_knowledge::thresholds;
use perfxpert_trace::{AgentIdx, AgentKind, Dispatch, MemoryCopy, ProcessIdx, Region, ThreadIdx, Trace};

use super::path::{Stored, Wait, solve};
use super::{BUBBLES, Bubble, Graph, Node, NodeId, Request, Work};
use crate::profile::Text;
use crate::stream_order::{Launches, StreamKey, StreamKeys};
use crate::units::Nanos;

/// Nodes kept for the graph: about 400 MB with all that is computed on them.
const NODES: usize = 5_000_000;
/// Waits kept.
const WAITS: usize = 2_000_000;
/// Bubbles kept before the shortest are dropped.
const POOL: usize = 4_096;
/// Stands for "none" among positions.
pub(super) const NONE: u32 = u32::MAX;

/// A bubble and the thread that launched what ends it.
#[derive(Clone, Debug)]
pub(super) struct FoundBubble {
    pub(super) bubble: Bubble,
    process: ProcessIdx,
    thread: ThreadIdx,
}

/// A row whose place among those of the same start is not known yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    node: Node,
    key: Option<StreamKey>,
    /// The second GPU of a copy between two.
    other: AgentIdx,
    thread: ThreadIdx,
    /// Start of the launching call.
    launched: Option<i64>,
    row: i64,
}

#[derive(Debug)]
struct GpuState {
    busy_until: i64,
}

/// Collects nodes, waits and bubbles.
pub(super) struct Search<'t> {
    trace: &'t Trace,
    request: Request,
    keys: StreamKeys<'t>,
    launches: Launches<'t>,
    waiting: Vec<Waiting>,
    streams: HashMap<StreamKey, u32>,
    stored: Vec<Stored>,
    nodes: Vec<Node>,
    count: u64,
    waits: Vec<Wait>,
    open: HashMap<ThreadIdx, BinaryHeap<Reverse<(i64, usize)>>>,
    gpus: HashMap<AgentIdx, GpuState>,
    bubbles: Vec<FoundBubble>,
    bubbles_total: u64,
    bubble_time: Nanos,
}

impl<'t> Search<'t> {
    pub(super) fn new(trace: &'t Trace, request: Request, by_stream: &[bool]) -> Self {
        Self {
            trace,
            request,
            keys: StreamKeys::new(trace, by_stream),
            launches: Launches::new(trace),
            waiting: Vec::new(),
            streams: HashMap::new(),
            stored: Vec::new(),
            nodes: Vec::new(),
            count: 0,
            waits: Vec::new(),
            open: HashMap::new(),
            gpus: HashMap::new(),
            bubbles: Vec::new(),
            bubbles_total: 0,
            bubble_time: Nanos::ZERO,
        }
    }

    pub(super) fn finish(mut self) -> Result<(Graph, Vec<FoundBubble>), Vec<bool>> {
        self.settle();
        if let Some(again) = self.keys.replan() {
            return Err(again);
        }
        self.trim();
        let mut graph = solve(self.trace, &self.stored, &self.waits, self.streams.len(), self.request);
        graph.node_count = self.count;
        graph.nodes_left_out = self.count - self.stored.len() as u64;
        graph.nodes = self.nodes;
        graph.bubbles_total = self.bubbles_total;
        graph.bubble_time = self.bubble_time;
        Ok((graph, self.bubbles))
    }

    fn push(&mut self, row: Waiting) {
        if self.waiting.first().is_some_and(|first| first.node.start != row.node.start) {
            self.settle();
        }
        self.waiting.push(row);
    }

    /// Numbers the rows of one start.
    fn settle(&mut self) {
        let mut rows = std::mem::take(&mut self.waiting);
        rows.sort_by_key(|row| {
            (row.node.end, row.node.process.0, row.row, matches!(row.node.work, Work::Kernel(_)))
        });
        for row in rows.drain(..) {
            self.place(row);
        }
        self.waiting = rows;
    }

    fn place(&mut self, row: Waiting) {
        let mut node = row.node;
        for agent in [node.agent, row.other] {
            self.occupy(agent, &row);
        }
        let at = usize::try_from(self.count).unwrap_or(usize::MAX);
        self.count += 1;
        node.id = NodeId::try_from(at).unwrap_or(NONE);
        let page = self.request.offset..self.request.offset.saturating_add(self.request.limit);
        if page.contains(&at) {
            self.nodes.push(node);
        }
        if self.stored.len() >= NODES {
            return;
        }
        let next = u32::try_from(self.streams.len()).unwrap_or(NONE);
        let stream = row.key.map_or(NONE, |key| *self.streams.entry(key).or_insert(next));
        self.stored.push(Stored {
            start: node.start,
            end: node.end,
            stream,
            process: node.process,
            work: node.work,
        });
        let Some(launched) = row.launched else { return };
        let Some(open) = self.open.get_mut(&row.thread) else { return };
        while let Some(&Reverse((end, wait))) = open.peek()
            && end <= launched
        {
            open.pop();
            if let Some(wait) = self.waits.get_mut(wait) {
                wait.to = node.id;
            }
        }
    }

    /// A GPU works from the row's start to its end; what was free before is a bubble.
    fn occupy(&mut self, agent: AgentIdx, row: &Waiting) {
        if agent.is_none() {
            return;
        }
        let (start, end) = (row.node.start, row.node.end);
        let gpu = self.gpus.entry(agent).or_insert(GpuState { busy_until: start });
        let free = Nanos::between(gpu.busy_until, start);
        let since = gpu.busy_until;
        gpu.busy_until = gpu.busy_until.max(end);
        if free == Nanos::ZERO || free < self.request.min_gap {
            return;
        }
        self.bubbles_total += 1;
        self.bubble_time += free;
        self.bubbles.push(FoundBubble {
            bubble: Bubble { start: since, end: start, agent, stream: row.node.stream, host_call: None },
            process: row.node.process,
            thread: row.thread,
        });
        if self.bubbles.len() >= POOL {
            self.trim();
        }
    }

    fn trim(&mut self) {
        self.bubbles.sort_by_key(|found| {
            (Reverse(found.bubble.length()), found.bubble.start, found.bubble.agent.get())
        });
        self.bubbles.truncate(BUBBLES);
    }

    fn launched(&mut self, process: ProcessIdx, call: i64) -> Option<i64> {
        self.launches.of(process, call).map(|call| call.start)
    }

    fn is_gpu(&self, agent: AgentIdx) -> bool {
        agent.is_some() && self.trace.agent(agent).is_some_and(|agent| agent.kind == AgentKind::Gpu)
    }
}

impl perfxpert_trace::Sweep for Search<'_> {
    fn region(&mut self, row: &Region) {
        let name = self.launches.region(row);
        if name.blocks && self.waits.len() < WAITS {
            self.open.entry(row.thread).or_default().push(Reverse((row.end, self.waits.len())));
            self.waits.push(Wait { process: row.process, start: row.start, end: row.end, to: NONE });
        }
    }

    fn copy(&mut self, row: &MemoryCopy) {
        let agent = self.keys.gpu(row).unwrap_or(AgentIdx::NONE);
        let second = row.source != agent && agent.is_some() && self.is_gpu(row.source);
        let launched = self.launched(row.process, row.call);
        let key = self.keys.copy(row);
        self.push(Waiting {
            node: Node {
                id: NONE,
                work: Work::Copy(row.direction),
                start: row.start,
                end: row.end,
                stream: self.keys.stream_id(row.stream),
                agent,
                process: row.process,
            },
            key,
            other: if second { row.source } else { AgentIdx::NONE },
            thread: row.thread,
            launched,
            row: row.row,
        });
    }

    fn dispatch(&mut self, row: &Dispatch) {
        let launched = self.launched(row.process, row.call);
        let key = self.keys.dispatch(row);
        self.push(Waiting {
            node: Node {
                id: NONE,
                work: Work::Kernel(row.kernel),
                start: row.start,
                end: row.end,
                stream: self.keys.stream_id(row.stream),
                agent: row.agent,
                process: row.process,
            },
            key,
            other: AgentIdx::NONE,
            thread: row.thread,
            launched,
            row: row.row,
        });
    }
}

/// For each bubble the call of the launching thread that covers most of it.
pub(super) struct HostCalls<'t> {
    trace: &'t Trace,
    launches: Launches<'t>,
    threads: HashMap<(ProcessIdx, ThreadIdx), Vec<usize>>,
    spans: Vec<(i64, i64)>,
    best: Vec<Option<(Nanos, perfxpert_trace::NameIdx)>>,
}

impl<'t> HostCalls<'t> {
    pub(super) fn new(trace: &'t Trace, bubbles: &[FoundBubble]) -> Self {
        let mut threads: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, found) in bubbles.iter().enumerate() {
            threads.entry((found.process, found.thread)).or_default().push(at);
        }
        Self {
            trace,
            launches: Launches::new(trace),
            threads,
            spans: bubbles.iter().map(|found| (found.bubble.start, found.bubble.end)).collect(),
            best: vec![None; bubbles.len()],
        }
    }

    /// Names, in the order of the bubbles.
    pub(super) fn finish(self) -> impl Iterator<Item = Option<Text>> {
        let share = thresholds::dag().host_call_cover;
        self.best.into_iter().zip(self.spans).map(move |(best, (start, end))| {
            let (covered, name) = best?;
            let enough = covered.fraction_of(Nanos::between(start, end)).is_some_and(|part| part >= share);
            self.trace.name(name).filter(|_| enough).map(|name| name.text)
        })
    }
}

impl perfxpert_trace::Sweep for HostCalls<'_> {
    fn region(&mut self, row: &Region) {
        let Some(bubbles) = self.threads.get(&(row.process, row.thread)) else { return };
        if !self.launches.name(row.name).runtime {
            return;
        }
        for &at in bubbles {
            let (Some(&(start, end)), Some(best)) = (self.spans.get(at), self.best.get_mut(at)) else {
                continue;
            };
            let covered = Nanos::between(start.max(row.start), end.min(row.end));
            // Of calls that cover the same the outermost comes first.
            if covered > best.map_or(Nanos::ZERO, |(best, _)| best) {
                *best = Some((covered, row.name));
            }
        }
    }
}
