//! One pass over the rows of a run, ordered by start, that computes everything of a [`RunProfile`] at once.
//!
//! State is bounded by names, agents, queues and threads, not by rows. Two things can turn out only at the end and then ask
//! for a second pass: a GPU shared by processes of which one recorded calls before its first work there, and a dispatch
//! whose recorded end cannot be true.

mod agent;
pub(crate) mod catalog;
mod cover;
mod finish;
mod gaps;
mod kernels;
mod limits;
pub(crate) mod link;
mod overlong;
mod quantile;
mod sequence;
mod slices;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod thread;
mod waiting;

use std::collections::{HashMap, HashSet};

use perfxpert_trace::{
    AgentIdx, AgentKind, Control, Direction, Dispatch, MemoryCopy, ProcessIdx, QueueIdx, Region, ScanError,
    ScanReport, Select, StreamIdx, Trace,
};

use self::agent::{AgentSweep, CopyTimes, DIRECTIONS, Shared, Size};
pub use self::catalog::Tables;
use self::catalog::{CallTraits, call_traits, kernel_traits};
use self::gaps::Gaps;
use self::kernels::KernelStats;
pub use self::limits::Limits;
use self::link::{Calls, Work};
use self::overlong::Suspect;
use self::quantile::Durations;
use self::sequence::{Sequences, Step, Stream};
use self::slices::Slices;
use self::table::Table;
use self::thread::Thread;
use crate::profile::{CollectiveInstance, KernelKind, RunProfile};
use crate::units::{Bytes, Nanos};

/// What an earlier pass found out.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Processes by GPU, for GPUs used by several.
    shared: Vec<(AgentIdx, Vec<ProcessIdx>)>,
    /// Ends to cut, by process and row.
    clips: HashMap<(ProcessIdx, i64), i64>,
}

/// Passes after which what is known has to do.
const PASSES: usize = 4;

/// Profiles a run: streams its dispatches, copies and host calls once, rarely twice.
///
/// # Errors
/// Those of the trace's sweep.
pub fn profile(
    trace: &Trace,
    min_duration: Nanos,
    control: &Control,
) -> Result<(RunProfile, ScanReport), ScanError> {
    let select =
        Select { dispatches: true, copies: true, regions: true, instants: true, ..Select::default() };
    let limits = Limits::from_facts();
    let mut plan = Plan::default();
    let mut pass = 1;
    loop {
        let (sweep, report) =
            trace.sweep(select, control, || Sweep::new(trace, limits.clone(), min_duration, plan.clone()))?;
        match sweep.finish(pass < PASSES) {
            Ok(profile) => return Ok((profile, report)),
            Err(next) => plan = next,
        }
        pass += 1;
    }
}

/// Durations and sizes of the copies of one direction.
#[derive(Clone, Debug, Default)]
struct CopyStats {
    durations: Durations,
    bytes: Bytes,
    small_count: u64,
    small_bytes: Bytes,
    small_sizes: Durations,
    large_count: u64,
    large_bytes: Bytes,
    split_calls: u64,
    /// Unions of copies that touch no GPU, by machine.
    hostless: Table<CopyTimes>,
}

/// Calls of one name.
#[derive(Clone, Debug, Default)]
struct CallStats {
    traits: Option<CallTraits>,
    calls: u64,
    total: Nanos,
    max: Nanos,
    lost: Nanos,
}

#[derive(Debug)]
struct ProcessState {
    agents: Vec<usize>,
    threads: Vec<usize>,
    calls: Calls,
    api_calls: u64,
    gpu_span: Option<(i64, i64)>,
    host_span: Option<(i64, i64)>,
    dispatches: u64,
    dispatch_sum: Nanos,
    copies: u64,
}

/// A run while its rows pass by. Feed rows in order of their start, host calls before copies before dispatches at equal
/// starts, then call [`Sweep::finish`].
pub struct Sweep<'t> {
    tables: &'t dyn Tables,
    limits: Limits,
    min_duration: Nanos,
    plan: Plan,
    agents: Vec<AgentSweep>,
    agent_of: Table<usize>,
    agent_known: Table<Option<bool>>,
    processes: Vec<ProcessState>,
    threads: Table<Thread>,
    machines: Table<Option<Slices>>,
    kernels: Table<KernelStats>,
    names: Table<CallStats>,
    copies: [CopyStats; 6],
    gaps: Gaps,
    sequences: Sequences,
    collectives: Vec<CollectiveInstance>,
    collectives_total: u64,
    suspects: Vec<Suspect>,
    late: HashSet<(AgentIdx, ProcessIdx)>,
    stream_ids: Table<Option<bool>>,
    process_streams: Table<bool>,
    host: HostStats,
    order_conflicts: u64,
    last_dispatch: Table<Option<(i64, i64)>>,
    clipped: u64,
    regions: u64,
    // Copies and dispatches whose process or GPU the trace does not know; the reader never sends any.
    strays: u64,
}

#[derive(Clone, Debug, Default)]
struct HostStats {
    outermost: Nanos,
    blocked: Nanos,
    latency: Durations,
    wait: Durations,
    linked: u64,
    unlinked: u64,
    linked_latency: Nanos,
    launching: u64,
    multi: u64,
    graph_launches: u64,
    graph_dispatches: u64,
    early: u64,
}

impl<'t> Sweep<'t> {
    /// A sweep over a run described by `tables`.
    #[must_use]
    pub fn new(tables: &'t dyn Tables, limits: Limits, min_duration: Nanos, plan: Plan) -> Self {
        let count = tables.processes();
        let calls =
            (limits.max_calls / count.max(1)).clamp(1024, limits.max_calls.max(1024)).next_power_of_two();
        let mut sweep = Self {
            tables,
            limits,
            min_duration,
            plan: Plan::default(),
            agents: Vec::new(),
            agent_of: Table::default(),
            agent_known: Table::default(),
            processes: (0..count)
                .map(|_| ProcessState {
                    agents: Vec::new(),
                    threads: Vec::new(),
                    calls: Calls::new(calls),
                    api_calls: 0,
                    gpu_span: None,
                    host_span: None,
                    dispatches: 0,
                    dispatch_sum: Nanos::ZERO,
                    copies: 0,
                })
                .collect(),
            threads: Table::default(),
            machines: Table::default(),
            kernels: Table::default(),
            names: Table::default(),
            copies: std::array::from_fn(|_| CopyStats::default()),
            gaps: Gaps::default(),
            sequences: Sequences::default(),
            collectives: Vec::new(),
            collectives_total: 0,
            suspects: Vec::new(),
            late: HashSet::new(),
            stream_ids: Table::default(),
            process_streams: Table::default(),
            host: HostStats::default(),
            order_conflicts: 0,
            last_dispatch: Table::default(),
            clipped: 0,
            regions: 0,
            strays: 0,
        };
        for (agent, processes) in &plan.shared {
            let Some(at) = sweep.agent(*agent) else { continue };
            for &process in processes {
                sweep.attach(at, process);
            }
        }
        sweep.plan = plan;
        sweep
    }

    /// Position of a GPU among those of this sweep; `None` for other agents.
    fn agent(&mut self, agent: AgentIdx) -> Option<usize> {
        let known = *self.agent_of.at(agent.get());
        if known > 0 {
            return Some(known - 1);
        }
        if agent.is_none() {
            return None;
        }
        let (kind, machine) = self.tables.agent(agent)?;
        // Dispatches run on GPUs whatever a file without descriptions says; copies ask first.
        let _ = kind;
        self.agents.push(AgentSweep::new(agent, machine));
        *self.agent_of.at(agent.get()) = self.agents.len();
        Some(self.agents.len() - 1)
    }

    fn is_gpu(&mut self, agent: AgentIdx) -> bool {
        if agent.is_none() {
            return false;
        }
        let tables = self.tables;
        *self
            .agent_known
            .at(agent.get())
            .get_or_insert_with(|| tables.agent(agent).is_some_and(|(kind, _)| kind == AgentKind::Gpu))
    }

    /// A process uses a GPU from now on.
    fn attach(&mut self, at: usize, process: ProcessIdx) {
        let Some(agent) = self.agents.get_mut(at) else { return };
        if *agent.attached.at(process.get()) {
            return;
        }
        let Some(state) = self.processes.get_mut(process.get()) else { return };
        if agent.processes.is_empty() {
            // Calls that are still open may reach into the first gap.
            let threads = state.threads.iter().filter_map(|&thread| self.threads.get(thread));
            let mut open: Vec<_> = threads.flat_map(Thread::open).collect();
            open.sort_unstable();
            for (start, end, name) in open {
                let traits = self.names.get(name as usize).and_then(|name| name.traits.as_ref());
                if let Some(traits) = traits {
                    agent.waiting.call((start, end), name, traits.class, traits.blocking, |_| {});
                }
            }
        } else if state.api_calls > 0 {
            // Its earlier calls were not held against this GPU's earlier gaps.
            self.late.insert((agent.agent, process));
        }
        *agent.attached.at(process.get()) = true;
        agent.processes.push(process);
        state.agents.push(at);
    }
}

impl perfxpert_trace::Sweep for Sweep<'_> {
    fn region(&mut self, row: &Region) {
        self.regions += 1;
        let tables = self.tables;
        let stats = self.names.at(row.name.get());
        let traits = stats.traits.get_or_insert_with(|| call_traits(tables, row.name));
        let (class, blocking, host_api, graph) =
            (traits.class, traits.blocking, traits.host_api, traits.graph_launch);
        let length = Nanos::between(row.start, row.end);
        stats.calls += 1;
        stats.total += length;
        stats.max = stats.max.max(length);
        self.host.graph_launches += u64::from(graph);
        let Some(process) = self.processes.get_mut(row.process.get()) else { return };
        widen(&mut process.host_span, row.start, row.end);
        if !host_api {
            return;
        }
        process.api_calls += 1;
        let thread = self.threads.at(row.thread.get());
        if !std::mem::replace(&mut thread.known, true) {
            process.threads.push(row.thread.get());
        }
        let nested = thread.call(row.start, row.end, row.name.0, blocking);
        self.host.outermost += nested.outermost;
        self.host.blocked += nested.blocked;
        if process.calls.insert(row.call, row.start, row.end, row.name.0, thread.waited) {
            self.host.early += 1;
        }
        for &at in &process.agents {
            if let Some(agent) = self.agents.get_mut(at) {
                let slices = self.machines.at(agent.machine.get()).as_mut();
                agent.call((row.start, row.end), row.name, class, blocking, slices);
            }
        }
        for (name, lost) in nested.losses.into_iter().flatten() {
            self.names.at(name as usize).lost += lost;
        }
    }

    fn instant(&mut self, row: &Region) {
        self.region(row);
    }

    fn copy(&mut self, row: &MemoryCopy) {
        let Some(direction) = DIRECTIONS.iter().position(|&known| known == row.direction) else { return };
        let size = match row.bytes {
            bytes if bytes < self.limits.small_copy.0 => Size::Small,
            bytes if bytes >= self.limits.large_copy.0 => Size::Large,
            _ => Size::Middle,
        };
        let (source, destination) = (self.is_gpu(row.source), self.is_gpu(row.destination));
        let home = if destination {
            row.destination
        } else if source {
            row.source
        } else {
            AgentIdx::NONE
        };
        let other =
            if source && destination && row.source != row.destination { row.source } else { AgentIdx::NONE };
        let Some(process) = self.processes.get_mut(row.process.get()) else {
            self.strays += 1;
            return;
        };
        widen(&mut process.gpu_span, row.start, row.end);
        process.copies += 1;
        let call = process.calls.find(row.call, Work::Copy);
        let machine = self.tables.process(row.process).map_or(0, |(machine, _)| machine.get());
        let Some(stats) = self.copies.get_mut(direction) else { return };
        stats.durations.push(Nanos::between(row.start, row.end));
        stats.bytes += Bytes(row.bytes);
        match size {
            Size::Small => {
                stats.small_count += 1;
                stats.small_bytes += Bytes(row.bytes);
                stats.small_sizes.push(Nanos(row.bytes));
            }
            Size::Large => {
                stats.large_count += 1;
                stats.large_bytes += Bytes(row.bytes);
            }
            Size::Middle => {}
        }
        if row.bytes <= self.limits.split_copy.0 && call.is_some_and(|call| call.copies == 2) {
            stats.split_calls += 1;
        }
        if home.is_none() {
            stats.hostless.at(machine).add(row.start, row.end, size);
        }
        for touched in [home, other] {
            let Some(at) = self.agent(touched) else { continue };
            self.attach(at, row.process);
            let Some(agent) = self.agents.get_mut(at) else { continue };
            let mut shared = Shared {
                slices: self.machines.at(agent.machine.get()).get_or_insert_with(|| Slices::new(row.start)),
                gaps: &mut self.gaps,
                collectives: &mut self.collectives,
                limits: &self.limits,
            };
            agent.memory_copy(row, direction, size, touched == home, call.as_ref(), &mut shared);
            // A blocking copy that was over before a kernel was launched cannot start after that kernel: two clocks.
            let (launched, _) = self.last_dispatch.at(touched.get()).unwrap_or((i64::MIN, 0));
            if row.direction == Direction::HostToDevice
                && call.is_some_and(|call| {
                    call.end <= launched
                        && self
                            .names
                            .get(call.name as usize)
                            .and_then(|name| name.traits.as_ref())
                            .is_some_and(|traits| traits.blocking)
                })
            {
                self.order_conflicts += 1;
            }
        }
        let by_stream = *self.process_streams.at(row.process.get());
        let stream =
            stream_key(by_stream, row.stream, row.queue).or(self.threads.at(row.thread.get()).last_stream);
        let agent = self
            .agent_of
            .get(home.get())
            .and_then(|at| at.checked_sub(1))
            .and_then(|at| self.agents.get_mut(at));
        if let (Some(agent), Some(stream)) = (agent, stream) {
            self.sequences.interrupt(agent.streams.at(stream), &self.limits);
        }
    }

    fn dispatch(&mut self, row: &Dispatch) {
        let Some(at) = self.agent(row.agent) else {
            self.strays += 1;
            return;
        };
        self.attach(at, row.process);
        let tables = self.tables;
        let Some(process) = self.processes.get_mut(row.process.get()) else {
            self.strays += 1;
            return;
        };
        let clip = if self.plan.clips.is_empty() {
            None
        } else {
            self.plan.clips.get(&(row.process, row.row)).copied()
        };
        let end = clip.unwrap_or(row.end).max(row.start);
        let length = Nanos::between(row.start, end);
        widen(&mut process.gpu_span, row.start, end);
        process.dispatches += 1;
        process.dispatch_sum += length;
        let call = process.calls.find(row.call, Work::Dispatch);
        let host = &mut self.host;
        let call = match call {
            None => {
                host.unlinked += 1;
                None
            }
            Some(call) => {
                let latency = Nanos::between(call.start, row.start);
                host.linked += 1;
                host.linked_latency += latency;
                if call.dispatches == 1 {
                    host.launching += 1;
                    host.latency.push(latency);
                    host.wait.push(Nanos::between(call.end, row.start));
                }
                host.multi += u64::from(call.dispatches == 2);
                let graph = self
                    .names
                    .get(call.name as usize)
                    .and_then(|name| name.traits.as_ref())
                    .is_some_and(|name| name.graph_launch);
                host.graph_dispatches += u64::from(graph);
                Some(call)
            }
        };
        let stats = self.kernels.at(row.kernel.get());
        let kind = stats.traits.get_or_insert_with(|| kernel_traits(tables, row.kernel)).kind;
        if clip.is_some() {
            stats.clipped += 1;
            self.clipped += 1;
        } else {
            stats.call(row, length, self.min_duration, &self.limits);
        }
        self.collectives_total += u64::from(kind == KernelKind::Collective);
        let Some(agent) = self.agents.get_mut(at) else { return };
        let mut shared = Shared {
            slices: self.machines.at(agent.machine.get()).get_or_insert_with(|| Slices::new(row.start)),
            gaps: &mut self.gaps,
            collectives: &mut self.collectives,
            limits: &self.limits,
        };
        agent.dispatch(row, end, kind, call.as_ref(), &mut shared);
        *self.last_dispatch.at(row.agent.get()) = call.map(|call| (call.start, row.start));
        if row.queue.is_some() && clip.is_none() && kind != KernelKind::Collective {
            agent.queues.at(row.queue.get()).dispatch(row, &mut self.suspects, &self.limits);
        }
        let named = row.stream.is_some()
            && *self
                .stream_ids
                .at(row.stream.get())
                .get_or_insert_with(|| tables.stream_id(row.stream).is_some_and(|id| id != 0));
        let by_stream = self.process_streams.at(row.process.get());
        *by_stream |= named;
        let stream = stream_key(*by_stream, row.stream, row.queue);
        self.threads.at(row.thread.get()).last_stream = stream;
        let Some(stream) = stream else { return };
        let state: &mut Stream = agent.streams.at(stream);
        if kind == KernelKind::User {
            let step = Step { kernel: row.kernel, shape: row.shape, start: row.start, end };
            self.sequences.step(state, step, call.as_ref(), &self.limits);
        } else {
            self.sequences.interrupt(state, &self.limits);
        }
    }
}

fn widen(span: &mut Option<(i64, i64)>, start: i64, end: i64) {
    *span = Some(span.map_or((start, end), |(first, last)| (first.min(start), last.max(end))));
}

/// What orders work: the stream where the process has any, else the queue. Two kinds of ids share one table.
fn stream_key(by_stream: bool, stream: StreamIdx, queue: QueueIdx) -> Option<usize> {
    if by_stream && stream.is_some() {
        Some(stream.get() * 2)
    } else {
        queue.is_some().then_some(queue.get() * 2 + 1)
    }
}
