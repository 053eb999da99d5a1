//! What is ordered after what on a GPU: the stream of each row, its launching call, and the wait before that call.

use std::collections::HashMap;

use perfxpert_knowledge::api;
use perfxpert_trace::{
    AgentIdx, AgentKind, Dispatch, Family, KernelIdx, MemoryCopy, Name, NameIdx, ProcessIdx, QueueIdx,
    Region, ThreadIdx, Trace,
};

use crate::profile::KernelKind;
use crate::sweep::Limits;
use crate::sweep::catalog::kernel_traits;
use crate::sweep::link::{Call, Calls, Work};
use crate::sweep::table::Table;

/// A stream of one GPU: work with the same key runs in order. The ids belong to one process of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StreamKey {
    agent: AgentIdx,
    /// Stream ids and queue ids are told apart.
    by_stream: bool,
    id: u32,
}

/// Keys of rows in time order. Streams count where any dispatch of the process has a stream id other than 0, else queues;
/// a process that turns out to have streams after its first rows asks for another pass.
#[derive(Debug)]
pub(crate) struct StreamKeys<'t> {
    trace: &'t Trace,
    by_stream: Vec<bool>,
    used: Vec<bool>,
    again: bool,
    queues: HashMap<(ThreadIdx, AgentIdx), QueueIdx>,
}

impl<'t> StreamKeys<'t> {
    /// `by_stream` is what an earlier pass returned, by process; empty at first.
    pub(crate) fn new(trace: &'t Trace, by_stream: &[bool]) -> Self {
        let processes = trace.processes().len();
        let mut known = by_stream.to_vec();
        known.resize(processes, false);
        Self { trace, by_stream: known, used: vec![false; processes], again: false, queues: HashMap::new() }
    }

    /// What another pass must know; `None` when this one was right.
    pub(crate) fn replan(&self) -> Option<Vec<bool>> {
        self.again.then(|| self.by_stream.clone())
    }

    fn streams(&self, process: ProcessIdx) -> bool {
        self.by_stream.get(process.get()).copied().unwrap_or(false)
    }

    pub(crate) fn dispatch(&mut self, row: &Dispatch) -> Option<StreamKey> {
        if !self.streams(row.process) && row.stream.is_some() && self.stream_id(row.stream) != 0 {
            self.again |= self.used.get(row.process.get()).copied().unwrap_or(false);
            if let Some(known) = self.by_stream.get_mut(row.process.get()) {
                *known = true;
            }
        }
        if let Some(used) = self.used.get_mut(row.process.get()) {
            *used = true;
        }
        if row.queue.is_some() {
            self.queues.insert((row.thread, row.agent), row.queue);
        }
        self.key(row.process, row.agent, row.stream, row.queue)
    }

    /// A copy without a queue takes the one its thread launched on last.
    pub(crate) fn copy(&mut self, row: &MemoryCopy) -> Option<StreamKey> {
        let agent = self.gpu(row)?;
        let queue = if row.queue.is_some() {
            row.queue
        } else {
            self.queues.get(&(row.thread, agent)).copied().unwrap_or(QueueIdx::NONE)
        };
        self.key(row.process, agent, row.stream, queue)
    }

    fn key(
        &self,
        process: ProcessIdx,
        agent: AgentIdx,
        stream: perfxpert_trace::StreamIdx,
        queue: QueueIdx,
    ) -> Option<StreamKey> {
        if self.streams(process) && stream.is_some() {
            return Some(StreamKey { agent, by_stream: true, id: stream.0 });
        }
        queue.is_some().then_some(StreamKey { agent, by_stream: false, id: queue.0 })
    }

    /// Id of a stream; 0 without one.
    pub(crate) fn stream_id(&self, stream: perfxpert_trace::StreamIdx) -> i64 {
        self.trace.stream(stream).map_or(0, |stream| stream.id)
    }

    /// The GPU a copy belongs to: the one it touches, of two the destination.
    pub(crate) fn gpu(&self, row: &MemoryCopy) -> Option<AgentIdx> {
        let is_gpu = |agent: AgentIdx| {
            agent.is_some() && self.trace.agent(agent).is_some_and(|agent| agent.kind == AgentKind::Gpu)
        };
        [row.destination, row.source].into_iter().find(|&agent| is_gpu(agent))
    }
}

/// Calls seen so far, to find the one behind a dispatch or copy, and who waited for what.
#[derive(Debug)]
pub(crate) struct Launches<'t> {
    trace: &'t Trace,
    calls: Vec<Calls>,
    size: usize,
    names: Table<Option<CallName>>,
    threads: Table<Waits>,
}

/// What the name of a call tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallName {
    /// A HIP call that returns only when GPU work is done.
    pub(crate) blocks: bool,
    /// A HIP or HSA call.
    pub(crate) runtime: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waits {
    last: (i64, i64),
    pending: (i64, i64),
}

impl Default for Waits {
    fn default() -> Self {
        Self { last: NEVER, pending: NEVER }
    }
}

const NEVER: (i64, i64) = (i64::MIN, i64::MIN);

impl<'t> Launches<'t> {
    pub(crate) fn new(trace: &'t Trace) -> Self {
        let processes = trace.processes().len();
        let most = Limits::from_facts().max_calls;
        Self {
            trace,
            calls: Vec::new(),
            size: (most / processes.max(1)).max(1024),
            names: Table::default(),
            threads: Table::default(),
        }
    }

    pub(crate) fn name(&mut self, name: NameIdx) -> CallName {
        let trace = self.trace;
        *self
            .names
            .at(name.get())
            .get_or_insert_with(|| trace.name(name).map_or_else(other, |name| traits(&name)))
    }

    /// A host call; returns what its name tells.
    pub(crate) fn region(&mut self, row: &Region) -> CallName {
        let name = self.name(row.name);
        let waits = self.threads.at(row.thread.get());
        if waits.pending.1 <= row.start {
            waits.last = waits.pending;
        }
        let last = waits.last;
        if name.blocks {
            waits.pending = (row.start, row.end);
        }
        let process = row.process.get();
        if process < self.trace.processes().len() {
            while self.calls.len() <= process {
                self.calls.push(Calls::new(self.size));
            }
            if let Some(calls) = self.calls.get_mut(process) {
                calls.insert(row.call, row.start, row.end, row.name.0, last);
            }
        }
        name
    }

    /// The call behind some GPU work.
    pub(crate) fn of(&mut self, process: ProcessIdx, call: i64) -> Option<Call> {
        self.calls.get_mut(process.get())?.find(call, Work::Dispatch)
    }
}

fn other() -> CallName {
    CallName { blocks: false, runtime: false }
}

fn traits(name: &Name) -> CallName {
    let hip = matches!(name.family, Family::HipRuntime | Family::HipCompiler);
    CallName { blocks: hip && api::blocks(&name.text), runtime: hip || name.family == Family::Hsa }
}

/// Kinds of kernels, looked up once each.
#[derive(Debug)]
pub(crate) struct Kinds<'t> {
    trace: &'t Trace,
    known: Table<Option<KernelKind>>,
}

impl<'t> Kinds<'t> {
    pub(crate) fn new(trace: &'t Trace) -> Self {
        Self { trace, known: Table::default() }
    }

    pub(crate) fn of(&mut self, kernel: KernelIdx) -> KernelKind {
        let trace = self.trace;
        *self.known.at(kernel.get()).get_or_insert_with(|| kernel_traits(trace, kernel).kind)
    }
}
