//! The opened trace: its small tables and the ways to read the large ones.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{OpenError, ScanError};
use crate::health::Health;
use crate::model::{
    Agent, Counter, CounterIdx, Kernel, KernelIdx, Machine, Name, NameIdx, Process, Queue, QueueIdx, Shape,
    ShapeIdx, Source, Stream, StreamIdx, Symbol, Thread, ThreadIdx,
};
use crate::sweep::{Control, CounterSweep, ScanReport, Select, Sweep};

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
    sources: Vec<Source>,
    processes: Vec<Process>,
    machines: Vec<Machine>,
    agents: Vec<Agent>,
    kernels: Vec<Arc<Kernel>>,
    symbols: Vec<Symbol>,
    counters: Vec<Counter>,
    health: Health,
}

impl Trace {
    /// Opens files and folders (the `*.db` directly inside, or if there is none those one level down) as one trace.
    ///
    /// # Errors
    /// When no input is usable: the error of the first. With `strict` or a single input: the first error.
    pub fn open(inputs: &[PathBuf], _options: &OpenOptions) -> Result<Self, OpenError> {
        inputs.first().map_or(Err(OpenError::NoInput), |path| Err(OpenError::NotFound { path: path.clone() }))
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

    /// Physical agents, by machine, then absolute index.
    #[must_use]
    pub fn agents(&self) -> &[Agent] {
        &self.agents
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
        self.kernels.get(index.get()).cloned()
    }

    /// The call name or marker text at an index.
    #[must_use]
    pub fn name(&self, _index: NameIdx) -> Option<Name> {
        None
    }

    /// The launch shape at an index.
    #[must_use]
    pub fn shape(&self, _index: ShapeIdx) -> Option<Shape> {
        None
    }

    /// The queue at an index.
    #[must_use]
    pub fn queue(&self, _index: QueueIdx) -> Option<Queue> {
        None
    }

    /// The stream at an index.
    #[must_use]
    pub fn stream(&self, _index: StreamIdx) -> Option<Stream> {
        None
    }

    /// The thread at an index.
    #[must_use]
    pub fn thread(&self, _index: ThreadIdx) -> Option<Thread> {
        None
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
        _select: Select,
        _control: &Control,
        mut make: impl FnMut() -> S,
    ) -> Result<(S, ScanReport), ScanError> {
        Ok((make(), ScanReport::default()))
    }

    /// Streams dispatches with their counter values, process by process in order of event id. Dispatches without any
    /// counter row do not arrive. `make` as in [`Trace::sweep`].
    ///
    /// # Errors
    /// As [`Trace::sweep`].
    pub fn counters<S: CounterSweep>(
        &self,
        _control: &Control,
        mut make: impl FnMut() -> S,
    ) -> Result<(S, ScanReport), ScanError> {
        Ok((make(), ScanReport::default()))
    }
}
