//! The opened trace: its small tables and the ways to read the large ones.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{OpenError, ScanError};
use crate::health::Health;
use crate::intern::Interner;
use crate::model::{
    Agent, AgentIdx, Counter, CounterIdx, Kernel, KernelIdx, Machine, Name, NameIdx, Process, ProcessIdx,
    Queue, QueueIdx, Shape, ShapeIdx, Source, Stream, StreamIdx, Symbol, Thread, ThreadIdx,
};
use crate::open::{PrivateCopy, ProcessData};
use crate::sweep::{Argument, Control, CounterSweep, ScanReport, Select, Sweep};

/// How to treat imperfect input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpenOptions {
    /// Read what is readable of a damaged file instead of refusing it.
    pub allow_partial: bool,
    /// Refuse when any of several inputs is unusable, instead of skipping it.
    pub strict: bool,
}

/// One or several rocpd files, opened. Holds the small tables; rows of the large ones are streamed by [`Trace::sweep`] and
/// [`Trace::counters`]. No file stays open between calls.
#[derive(Debug, Default)]
pub struct Trace {
    pub(crate) sources: Vec<Source>,
    pub(crate) processes: Vec<Process>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) agents: Vec<Agent>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) counters: Vec<Counter>,
    pub(crate) health: Health,
    pub(crate) allow_partial: bool,
    pub(crate) data: Vec<ProcessData>,
    /// Private copies the processes read from, removed with the trace.
    pub(crate) copies: Vec<PrivateCopy>,
    pub(crate) kernels: Interner<Arc<str>, Arc<Kernel>>,
    pub(crate) names: Interner<Name, Name>,
    pub(crate) shapes: Interner<Shape, Shape>,
    pub(crate) queues: Interner<(u32, i64), Queue>,
    pub(crate) streams: Interner<(u32, i64), Stream>,
    pub(crate) threads: Interner<(u32, i64), Thread>,
    /// Agents rows refer to and no file describes, by process and id; numbered behind `agents`.
    pub(crate) extra_agents: Interner<(u32, i64), Agent>,
}

impl Trace {
    /// Opens files and folders (the `*.db` directly inside, or if there is none those one level down) as one trace.
    ///
    /// # Errors
    /// When no input is usable: the error of the first. With `strict` or a single input: the first error.
    pub fn open(inputs: &[PathBuf], options: &OpenOptions) -> Result<Self, OpenError> {
        crate::open::open(inputs, options)
    }

    /// Files, in order of their paths within each input.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Processes, by source, then by table suffix.
    #[must_use]
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// Machines, in order of first sight.
    #[must_use]
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Physical agents the files describe, by machine, then absolute index. Rows may refer to agents no file describes:
    /// their indices lie behind these, and [`Trace::agent`] knows them once a sweep has met them.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The agent at an index, described or not.
    #[must_use]
    pub fn agent(&self, index: AgentIdx) -> Option<Agent> {
        let described = self.agents.len();
        match index.get().checked_sub(described) {
            None => self.agents.get(index.get()).cloned(),
            Some(extra) => u32::try_from(extra).ok().and_then(|extra| self.extra_agents.get(extra)),
        }
    }

    /// Symbols described by the files.
    #[must_use]
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Counters the files describe, by name; whether any has values is in [`Process::has`].
    #[must_use]
    pub fn counter_catalogue(&self) -> &[Counter] {
        &self.counters
    }

    /// The counter at an index.
    #[must_use]
    pub fn counter(&self, index: CounterIdx) -> Option<&Counter> {
        self.counters.get(index.get())
    }

    /// Number of kernels known so far; indices are below it.
    #[must_use]
    pub fn kernel_count(&self) -> usize {
        self.kernels.len()
    }

    /// The kernel at an index.
    #[must_use]
    pub fn kernel(&self, index: KernelIdx) -> Option<Arc<Kernel>> {
        self.kernels.get(index.0)
    }

    /// The call name or marker text at an index.
    #[must_use]
    pub fn name(&self, index: NameIdx) -> Option<Name> {
        self.names.get(index.0)
    }

    /// The launch shape at an index.
    #[must_use]
    pub fn shape(&self, index: ShapeIdx) -> Option<Shape> {
        self.shapes.get(index.0)
    }

    /// The queue at an index.
    #[must_use]
    pub fn queue(&self, index: QueueIdx) -> Option<Queue> {
        self.queues.get(index.0)
    }

    /// The stream at an index.
    #[must_use]
    pub fn stream(&self, index: StreamIdx) -> Option<Stream> {
        self.streams.get(index.0)
    }

    /// The thread at an index.
    #[must_use]
    pub fn thread(&self, index: ThreadIdx) -> Option<Thread> {
        self.threads.get(index.0)
    }

    /// Problems found while opening. Problems of rows are in each [`ScanReport`].
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Whether any process has a dispatch, a copy, a region (or instant call): what decides between an empty trace, one with
    /// host calls only, and one to analyse.
    #[must_use]
    pub fn has_gpu_rows(&self) -> bool {
        self.processes.iter().any(|process| process.has.dispatches || process.has.copies)
    }

    /// Whether any process has a host call.
    #[must_use]
    pub fn has_host_rows(&self) -> bool {
        self.processes.iter().any(|process| process.has.regions || process.has.samples)
    }

    /// Streams the selected rows of all processes in time order into a receiver made by `make`. When the rows turn out to
    /// need another pass (order or validity was misjudged), the receiver is dropped and made again; the caller sees only
    /// the last one.
    ///
    /// # Errors
    /// [`ScanError`]: cancelled, damaged while partial reading is not allowed, changed underneath, or unreadable.
    pub fn sweep<S: Sweep>(
        &self,
        select: Select,
        control: &Control,
        make: impl FnMut() -> S,
    ) -> Result<(S, ScanReport), ScanError> {
        crate::scan::sweep(self, select, control, make)
    }

    /// Streams dispatches with their counter values, process by process in order of event id. Dispatches without any
    /// counter row do not arrive. `make` as in [`Trace::sweep`].
    ///
    /// # Errors
    /// As [`Trace::sweep`].
    pub fn counters<S: CounterSweep>(
        &self,
        control: &Control,
        make: impl FnMut() -> S,
    ) -> Result<(S, ScanReport), ScanError> {
        crate::scan::counters(self, control, make)
    }

    /// Recorded arguments of host calls, named by process and [`Region::event`](crate::Region::event): by process, event and
    /// position. Calls without recorded arguments are not in the answer.
    ///
    /// # Errors
    /// [`ScanError::Cancelled`].
    pub fn arguments(
        &self,
        calls: &[(ProcessIdx, i64)],
        control: &Control,
    ) -> Result<Vec<Argument>, ScanError> {
        crate::scan::arguments(self, calls, control)
    }
}
