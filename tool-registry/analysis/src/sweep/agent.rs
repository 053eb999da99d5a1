//! One GPU while its timeline passes by.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use perfxpert_trace::{
    AgentIdx, Direction, Dispatch, KernelIdx, MachineIdx, MemoryCopy, NameIdx, ProcessIdx,
};

use super::cover::{Alone, Cover, Owned, Owners, Twofold};
use super::gaps::Gaps;
use super::limits::Limits;
use super::link::Call;
use super::overlong;
use super::sequence::Stream;
use super::slices::{Part, Slices};
use super::table::Table;
use super::waiting::Waiting;
use crate::profile::{
    AgentKernel, AgentTimes, CallClass, CauseTotal, CollectiveInstance, Gap, GapCause, KernelKind, Neighbour,
    TimeParts,
};
use crate::units::Nanos;

/// Directions of copies, for tables.
pub(crate) const DIRECTIONS: [Direction; 6] = [
    Direction::HostToDevice,
    Direction::DeviceToHost,
    Direction::DeviceToDevice,
    Direction::HostToHost,
    Direction::Peer,
    Direction::Unknown,
];

/// Size of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Middle,
    Large,
}

/// Unions and exposed time of the copies of one direction that touch a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CopyTimes {
    /// Union of the copies whose home is this GPU.
    pub(crate) busy: Cover,
    pub(crate) small_busy: Cover,
    pub(crate) large_busy: Cover,
    /// Exposed time by size.
    pub(crate) exposed: [Nanos; 3],
}

impl CopyTimes {
    pub(crate) fn add(&mut self, start: i64, end: i64, size: Size) {
        self.busy.add(start, end);
        match size {
            Size::Small => self.small_busy.add(start, end),
            Size::Large => self.large_busy.add(start, end),
            Size::Middle => None,
        };
    }
}

/// Calls kept apart while a GPU waits.
const MAX_PENDING: usize = 4096;

/// What all GPUs of a sweep share.
pub(crate) struct Shared<'a> {
    pub(crate) slices: &'a mut Slices,
    pub(crate) gaps: &'a mut Gaps,
    pub(crate) collectives: &'a mut Vec<CollectiveInstance>,
    pub(crate) limits: &'a Limits,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    kernel: KernelIdx,
    calls: u64,
    total: Nanos,
    busy: Cover,
    alone: Nanos,
    beside_user: Nanos,
}

/// A collective still running: its end, its slot, its row among the instances, user-kernel time up to its start.
type Collective = Reverse<(i64, usize, usize, Nanos)>;

#[derive(Debug)]
pub(crate) struct AgentSweep {
    pub(crate) agent: AgentIdx,
    pub(crate) machine: MachineIdx,
    pub(crate) processes: Vec<ProcessIdx>,
    /// By process: whether it is among them.
    pub(crate) attached: Table<bool>,
    pub(crate) waiting: Waiting,
    pub(crate) streams: Table<Stream>,
    pub(crate) queues: Table<overlong::Queue>,
    /// Waiting time by call name.
    pub(crate) exposed: Table<Nanos>,
    /// Calls after the last work so far: they count only when more work follows.
    pending: Vec<Owned<u32>>,
    /// The same by name, for those that no longer fit the list.
    pending_sums: Table<Nanos>,
    pending_names: Vec<u32>,
    pub(crate) copies: [CopyTimes; 6],
    started: bool,
    window_start: i64,
    last: Neighbour,
    busy: Cover,
    kernel: Cover,
    compute: Cover,
    user: Cover,
    collective: Cover,
    user_or_collective: Cover,
    copy: Cover,
    peer: Cover,
    both: Cover,
    concurrent: Twofold,
    alone: Alone,
    copy_owners: Owners<(usize, Size)>,
    runtime_copies: Owners<()>,
    exposed_runtime: Nanos,
    open_collectives: BinaryHeap<Collective>,
    slot_of: Table<usize>,
    slots: Vec<Slot>,
    dispatches: u64,
    copy_count: u64,
    dispatch_sum: Nanos,
    runtime_copy_sum: Nanos,
    copy_sum: Nanos,
    host_api: Nanos,
    gaps: [CauseTotal; GapCause::COUNT],
}

impl AgentSweep {
    pub(crate) fn new(agent: AgentIdx, machine: MachineIdx) -> Self {
        Self {
            agent,
            machine,
            processes: Vec::new(),
            attached: Table::default(),
            waiting: Waiting::new(),
            streams: Table::default(),
            queues: Table::default(),
            exposed: Table::default(),
            pending: Vec::new(),
            pending_sums: Table::default(),
            pending_names: Vec::new(),
            copies: [CopyTimes::default(); 6],
            started: false,
            window_start: 0,
            last: Neighbour::Copy(Direction::Unknown),
            busy: Cover::default(),
            kernel: Cover::default(),
            compute: Cover::default(),
            user: Cover::default(),
            collective: Cover::default(),
            user_or_collective: Cover::default(),
            copy: Cover::default(),
            peer: Cover::default(),
            both: Cover::default(),
            concurrent: Twofold::default(),
            alone: Alone::default(),
            copy_owners: Owners::new(),
            runtime_copies: Owners::new(),
            exposed_runtime: Nanos::ZERO,
            open_collectives: BinaryHeap::new(),
            slot_of: Table::default(),
            slots: Vec::new(),
            dispatches: 0,
            copy_count: 0,
            dispatch_sum: Nanos::ZERO,
            runtime_copy_sum: Nanos::ZERO,
            copy_sum: Nanos::ZERO,
            host_api: Nanos::ZERO,
            gaps: [CauseTotal::default(); GapCause::COUNT],
        }
    }

    /// Whether any work has arrived.
    pub(crate) fn started(&self) -> bool {
        self.started
    }

    /// A host call of a process that uses this GPU.
    pub(crate) fn call(
        &mut self,
        span: (i64, i64),
        name: NameIdx,
        class: CallClass,
        blocking: bool,
        slices: Option<&mut Slices>,
    ) {
        if !self.started {
            // Nothing before the first work counts, but a call may reach into the first gap.
            self.waiting.restart(span.0);
        }
        let pending = &mut self.pending;
        self.waiting.call(span, name.0, class, blocking, |owned| match pending.last_mut() {
            Some(last) if last.owner == owned.owner && last.end == owned.start => last.end = owned.end,
            _ => pending.push(owned),
        });
        if self.pending.len() > MAX_PENDING {
            self.fold_pending(slices);
        }
    }

    /// Makes room for more pending calls; only the place of their time in the slices is then taken for granted.
    fn fold_pending(&mut self, mut slices: Option<&mut Slices>) {
        for owned in self.pending.drain(..) {
            let sum = self.pending_sums.at(owned.owner as usize);
            if *sum == Nanos::ZERO {
                self.pending_names.push(owned.owner);
            }
            *sum += Nanos::between(owned.start, owned.end);
            if let Some(slices) = slices.as_deref_mut() {
                slices.add(Part::HostApi, owned.start, owned.end);
            }
        }
    }

    /// More work follows: what was pending counts.
    fn take_pending(&mut self, slices: &mut Slices) {
        for owned in self.pending.drain(..) {
            settle_call(&mut self.exposed, &mut self.host_api, slices, owned);
        }
        for name in self.pending_names.drain(..) {
            let sum = std::mem::take(self.pending_sums.at(name as usize));
            *self.exposed.at(name as usize) += sum;
            self.host_api += sum;
        }
    }

    /// Work begins: closes the gap before it, if there was one.
    fn work(&mut self, start: i64, end: i64, what: Neighbour, call: Option<&Call>, shared: &mut Shared<'_>) {
        if !self.started {
            self.started = true;
            self.window_start = start;
        } else if start > self.busy.end() {
            let begin = self.busy.end();
            self.take_pending(shared.slices);
            let (exposed, host_api) = (&mut self.exposed, &mut self.host_api);
            let slices = &mut *shared.slices;
            let closed = self
                .waiting
                .close(start, call, shared.limits, |owned| settle_call(exposed, host_api, slices, owned));
            shared.slices.add(Part::Waiting, begin, start);
            let length = Nanos::between(begin, start);
            if let Some(total) = self.gaps.get_mut(closed.cause as usize) {
                total.count += 1;
                total.total += length;
            }
            let gap = Gap {
                agent: self.agent,
                start: begin,
                length,
                cause: closed.cause,
                before: self.last,
                after: what,
                call: closed.call.map(NameIdx),
            };
            shared.gaps.add(gap, closed.wait.map(NameIdx), shared.limits);
        }
        if end >= self.busy.end() {
            self.last = what;
        }
        self.busy.add(start, end);
        self.waiting.restart(self.busy.end());
    }

    /// A dispatch with a sound interval.
    pub(crate) fn dispatch(
        &mut self,
        row: &Dispatch,
        end: i64,
        kind: KernelKind,
        call: Option<&Call>,
        shared: &mut Shared<'_>,
    ) {
        let start = row.start;
        let length = Nanos::between(start, end);
        self.work(start, end, Neighbour::Kernel(row.kernel), call, shared);
        self.dispatches += 1;
        self.dispatch_sum += length;
        let slot = *self.slot_of.at(row.kernel.get());
        let at = if slot == 0 {
            self.slots.push(Slot {
                kernel: row.kernel,
                calls: 0,
                total: Nanos::ZERO,
                busy: Cover::default(),
                alone: Nanos::ZERO,
                beside_user: Nanos::ZERO,
            });
            *self.slot_of.at(row.kernel.get()) = self.slots.len();
            self.slots.len() - 1
        } else {
            slot - 1
        };
        if let Some(slot) = self.slots.get_mut(at) {
            slot.calls += 1;
            slot.total += length;
            slot.busy.add(start, end);
        }
        if kind == KernelKind::RuntimeCopy {
            self.runtime_copy_sum += length;
            self.copy.add(start, end);
            let (exposed, slices) = (&mut self.exposed_runtime, &mut *shared.slices);
            self.runtime_copies.open(start, end, (), |owned| settle_runtime(exposed, slices, owned));
            return;
        }
        self.cover_copies(start, shared);
        if let Some((from, to)) = self.kernel.add(start, end) {
            shared.slices.add(Part::Kernel, from, to);
        }
        self.copy_owners.cover(self.kernel.end());
        self.runtime_copies.cover(self.kernel.end());
        self.concurrent.add(start, end);
        let (tag, alone) = self.alone.add(at, start, end);
        if let Some(slot) = self.slots.get_mut(tag) {
            slot.alone += alone;
        }
        match kind {
            KernelKind::User => {
                self.finish_collectives(start, shared.collectives);
                self.compute.add(start, end);
                self.user.add(start, end);
                self.user_or_collective.add(start, end);
            }
            KernelKind::Collective => {
                self.collective.add(start, end);
                self.user_or_collective.add(start, end);
                self.finish_collectives(start, shared.collectives);
                let instance = shared.collectives.len();
                if instance < shared.limits.max_collectives {
                    shared.collectives.push(CollectiveInstance {
                        process: row.process,
                        agent: self.agent,
                        kernel: row.kernel,
                        start,
                        end,
                        call: row.call,
                        beside_user: Nanos::ZERO,
                    });
                }
                self.open_collectives.push(Reverse((end, at, instance, self.user.until(start))));
            }
            KernelKind::Runtime | KernelKind::RuntimeCopy => {
                self.compute.add(start, end);
            }
        }
    }

    /// A copy that touches this GPU; `home` when it is the one its direction's union counts on.
    pub(crate) fn memory_copy(
        &mut self,
        row: &MemoryCopy,
        direction: usize,
        size: Size,
        home: bool,
        call: Option<&Call>,
        shared: &mut Shared<'_>,
    ) {
        let (start, end) = (row.start, row.end);
        self.work(start, end, Neighbour::Copy(row.direction), call, shared);
        self.copy_count += 1;
        self.copy_sum += Nanos::between(start, end);
        self.copy.add(start, end);
        match row.direction {
            Direction::Peer => {
                self.peer.add(start, end);
            }
            Direction::HostToDevice | Direction::DeviceToHost => {
                self.both.add(start, end);
            }
            Direction::DeviceToDevice | Direction::HostToHost | Direction::Unknown => {}
        }
        if home && let Some(times) = self.copies.get_mut(direction) {
            times.add(start, end, size);
        }
        if start > self.runtime_copies.base() {
            let (exposed, slices) = (&mut self.exposed_runtime, &mut *shared.slices);
            self.runtime_copies.settle_until(start, |owned| settle_runtime(exposed, slices, owned));
        }
        self.runtime_copies.cover(end);
        let (copies, slices) = (&mut self.copies, &mut *shared.slices);
        self.copy_owners.open(start, end, (direction, size), |owned| settle_copy(copies, slices, owned));
    }

    /// Hands over exposed copies before `start`, when no kernel was running up to it.
    fn cover_copies(&mut self, start: i64, shared: &mut Shared<'_>) {
        if start > self.copy_owners.base() {
            let (copies, slices) = (&mut self.copies, &mut *shared.slices);
            self.copy_owners.settle_until(start, |owned| settle_copy(copies, slices, owned));
        }
        if start > self.runtime_copies.base() {
            let (exposed, slices) = (&mut self.exposed_runtime, &mut *shared.slices);
            self.runtime_copies.settle_until(start, |owned| settle_runtime(exposed, slices, owned));
        }
    }

    fn finish_collectives(&mut self, instant: i64, instances: &mut [CollectiveInstance]) {
        while let Some(&Reverse((end, at, instance, before))) = self.open_collectives.peek() {
            if end > instant {
                return;
            }
            self.open_collectives.pop();
            let beside = self.user.until(end).saturating_sub(before);
            if let Some(slot) = self.slots.get_mut(at) {
                slot.beside_user += beside;
            }
            if let Some(instance) = instances.get_mut(instance) {
                instance.beside_user = beside;
            }
        }
    }

    /// No more work will come.
    pub(crate) fn finish(&mut self, shared: &mut Shared<'_>) {
        self.cover_copies(i64::MAX, shared);
        let (tag, alone) = self.alone.settle(i64::MAX);
        if let Some(slot) = self.slots.get_mut(tag) {
            slot.alone += alone;
        }
        self.finish_collectives(i64::MAX, shared.collectives);
    }

    /// Gaps that looked like host time of a process without any recorded call have no known cause.
    pub(crate) fn forget_host_gaps(&mut self) {
        let host = self.gaps.get_mut(GapCause::Host as usize).map(std::mem::take).unwrap_or_default();
        if let Some(unknown) = self.gaps.get_mut(GapCause::Unknown as usize) {
            unknown.count += host.count;
            unknown.total += host.total;
        }
    }

    pub(crate) fn times(&self) -> AgentTimes {
        let (kernel, busy) = (self.kernel.total(), self.busy.total());
        let waiting: Nanos = self.gaps.iter().map(|cause| cause.total).sum();
        let exposed = |direction: Direction| -> Nanos {
            DIRECTIONS
                .iter()
                .zip(&self.copies)
                .filter(|(known, _)| **known == direction)
                .flat_map(|(_, copy)| copy.exposed)
                .sum()
        };
        let busy_of = |direction: Direction| -> Nanos {
            DIRECTIONS
                .iter()
                .zip(&self.copies)
                .filter(|(known, _)| **known == direction)
                .map(|(_, copy)| copy.busy.total())
                .sum()
        };
        AgentTimes {
            window_start: self.window_start,
            window_end: self.busy.end(),
            parts: TimeParts {
                kernel,
                exposed_copy: busy.saturating_sub(kernel),
                host_api: self.host_api,
                idle: waiting.saturating_sub(self.host_api),
            },
            dispatches: self.dispatches,
            copies: self.copy_count,
            dispatch_sum: self.dispatch_sum,
            runtime_copy_sum: self.runtime_copy_sum,
            copy_sum: self.copy_sum,
            copy_busy: self.copy.total(),
            overlap: (kernel + self.copy.total()).saturating_sub(busy),
            compute_busy: self.compute.total(),
            user_busy: self.user.total(),
            collective_busy: self.collective.total(),
            exposed_collective: kernel.saturating_sub(self.compute.total()),
            collective_overlap: (self.user.total() + self.collective.total())
                .saturating_sub(self.user_or_collective.total()),
            concurrent: self.concurrent.total(),
            peer_copy_busy: self.peer.total(),
            exposed_peer_copy: exposed(Direction::Peer),
            exposed_host_copy: exposed(Direction::HostToDevice) + exposed(Direction::DeviceToHost),
            exposed_runtime_copy: self.exposed_runtime,
            both_directions: (busy_of(Direction::HostToDevice) + busy_of(Direction::DeviceToHost))
                .saturating_sub(self.both.total()),
            gaps: self.gaps,
        }
    }

    /// Its kernels and, for collectives, their time beside user kernels.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = (AgentKernel, Nanos)> + '_ {
        self.slots.iter().map(|slot| {
            let kernel = AgentKernel {
                kernel: slot.kernel,
                calls: slot.calls,
                total: slot.total,
                busy: slot.busy.total(),
                alone: slot.alone,
            };
            (kernel, slot.beside_user)
        })
    }
}

fn settle_call(exposed: &mut Table<Nanos>, host_api: &mut Nanos, slices: &mut Slices, owned: Owned<u32>) {
    let length = Nanos::between(owned.start, owned.end);
    *exposed.at(owned.owner as usize) += length;
    *host_api += length;
    slices.add(Part::HostApi, owned.start, owned.end);
}

fn settle_copy(copies: &mut [CopyTimes; 6], slices: &mut Slices, owned: Owned<(usize, Size)>) {
    let (direction, size) = owned.owner;
    if let Some(exposed) = copies.get_mut(direction).and_then(|copy| copy.exposed.get_mut(size as usize)) {
        *exposed += Nanos::between(owned.start, owned.end);
    }
    slices.add(Part::ExposedCopy, owned.start, owned.end);
}

fn settle_runtime(exposed: &mut Nanos, slices: &mut Slices, owned: Owned<()>) {
    *exposed += Nanos::between(owned.start, owned.end);
    slices.add(Part::ExposedCopy, owned.start, owned.end);
}
