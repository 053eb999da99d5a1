//! Small runs written by hand.

use perfxpert_trace::{
    AgentIdx, AgentKind, Direction, Dispatch, Family, GraphNode, KernelIdx, MachineIdx, MemoryCopy, Name,
    NameIdx, ProcessIdx, QueueIdx, Region, ShapeIdx, SourceIdx, StreamIdx, Sweep as _, SymbolIdx, ThreadIdx,
};

use crate::profile::{RunProfile, Text};
use crate::sweep::{Limits, Plan, Sweep, Tables};
use crate::units::Nanos;

/// Rows and the tables they refer to. Agent 0 is a CPU; GPUs follow.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) kernels: Vec<String>,
    pub(super) names: Vec<(String, Family)>,
    pub(super) gpus: u32,
    pub(super) processes: u32,
    pub(super) dispatches: Vec<Dispatch>,
    pub(super) copies: Vec<MemoryCopy>,
    pub(super) regions: Vec<Region>,
}

impl Tables for Run {
    fn kernel(&self, kernel: KernelIdx) -> Option<Text> {
        self.kernels.get(kernel.get()).map(|name| Text::from(name.as_str()))
    }

    fn name(&self, name: NameIdx) -> Option<Name> {
        self.names.get(name.get()).map(|(text, family)| Name { text: text.as_str().into(), family: *family })
    }

    fn agent(&self, agent: AgentIdx) -> Option<(AgentKind, MachineIdx)> {
        let kind = if agent.0 == 0 { AgentKind::Cpu } else { AgentKind::Gpu };
        (agent.0 <= self.gpus).then_some((kind, MachineIdx(0)))
    }

    fn process(&self, process: ProcessIdx) -> Option<(MachineIdx, SourceIdx)> {
        (process.0 < self.processes).then_some((MachineIdx(0), SourceIdx(process.0)))
    }

    fn processes(&self) -> usize {
        self.processes as usize
    }

    fn stream_id(&self, stream: StreamIdx) -> Option<i64> {
        Some(i64::from(stream.0))
    }
}

impl Run {
    pub(super) fn new(gpus: u32, processes: u32) -> Self {
        Self { gpus, processes, ..Self::default() }
    }

    pub(super) fn kernel_index(&mut self, name: &str) -> KernelIdx {
        let at = self.kernels.iter().position(|known| known == name).unwrap_or_else(|| {
            self.kernels.push(name.to_owned());
            self.kernels.len() - 1
        });
        KernelIdx(u32::try_from(at).unwrap())
    }

    pub(super) fn name_index(&mut self, name: &str, family: Family) -> NameIdx {
        let at = self.names.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.names.push((name.to_owned(), family));
            self.names.len() - 1
        });
        NameIdx(u32::try_from(at).unwrap())
    }

    /// A dispatch on GPU 1, queue 0, stream 0, process 0.
    pub(super) fn kernel(&mut self, name: &str, start: i64, end: i64) -> &mut Dispatch {
        let kernel = self.kernel_index(name);
        let row = i64::try_from(self.dispatches.len()).unwrap() + 1;
        self.dispatches.push(Dispatch {
            start,
            end,
            process: ProcessIdx(0),
            agent: AgentIdx(1),
            kernel,
            symbol: SymbolIdx::NONE,
            queue: QueueIdx(0),
            stream: StreamIdx(0),
            thread: ThreadIdx(0),
            shape: ShapeIdx(0),
            label: NameIdx::NONE,
            dispatch_id: row,
            row,
            event: row,
            call: 0,
            graph: GraphNode { exec_id: 0, node_id: 0 },
        });
        self.dispatches.last_mut().unwrap()
    }

    /// A copy of process 0 between the host and GPU 1, or within GPU 1.
    pub(super) fn copy(&mut self, direction: Direction, bytes: u64, start: i64, end: i64) -> &mut MemoryCopy {
        let (source, destination) = match direction {
            Direction::HostToDevice => (0, 1),
            Direction::DeviceToHost => (1, 0),
            Direction::Peer => (1, 2),
            Direction::HostToHost => (0, 0),
            _ => (1, 1),
        };
        let row = i64::try_from(self.copies.len()).unwrap() + 1;
        self.copies.push(MemoryCopy {
            start,
            end,
            process: ProcessIdx(0),
            source: AgentIdx(source),
            destination: AgentIdx(destination),
            direction,
            bytes,
            source_address: 0,
            destination_address: 0,
            queue: QueueIdx::NONE,
            stream: StreamIdx(0),
            thread: ThreadIdx(0),
            row,
            call: 0,
            graph: GraphNode { exec_id: 0, node_id: 0 },
        });
        self.copies.last_mut().unwrap()
    }

    /// A HIP call of process 0.
    pub(super) fn call(&mut self, name: &str, start: i64, end: i64) -> &mut Region {
        let name = self.name_index(name, Family::HipRuntime);
        let row = i64::try_from(self.regions.len()).unwrap() + 1;
        self.regions.push(Region {
            start,
            end,
            process: ProcessIdx(0),
            thread: ThreadIdx(0),
            name,
            row,
            event: 1_000_000 + row,
            call: row,
            parent_call: 0,
        });
        self.regions.last_mut().unwrap()
    }

    pub(super) fn profile(&self) -> RunProfile {
        self.profile_with(&Limits::from_facts(), Nanos::ZERO)
    }

    pub(super) fn profile_with(&self, limits: &Limits, min_duration: Nanos) -> RunProfile {
        let mut plan = Plan::default();
        for pass in 1.. {
            let mut sweep = Sweep::new(self, limits.clone(), min_duration, plan);
            self.feed(&mut sweep);
            match sweep.finish(pass < 4) {
                Ok(profile) => return profile,
                Err(next) => plan = next,
            }
        }
        unreachable!("the last pass always answers")
    }

    fn feed(&self, sweep: &mut Sweep<'_>) {
        let mut order: Vec<(i64, u8, u32, i64, usize)> = Vec::new();
        let rows = self.regions.iter().enumerate();
        order.extend(rows.map(|(at, row)| (row.start, 0, row.process.0, row.row, at)));
        let rows = self.copies.iter().enumerate();
        order.extend(rows.map(|(at, row)| (row.start, 1, row.process.0, row.row, at)));
        let rows = self.dispatches.iter().enumerate();
        order.extend(rows.map(|(at, row)| (row.start, 2, row.process.0, row.row, at)));
        order.sort_unstable();
        for (_, kind, _, _, at) in order {
            match kind {
                0 => sweep.region(&self.regions[at]),
                1 => sweep.copy(&self.copies[at]),
                _ => sweep.dispatch(&self.dispatches[at]),
            }
        }
    }
}
