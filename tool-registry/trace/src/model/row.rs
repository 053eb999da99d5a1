//! Rows of the timeline: small, `Copy`, integer nanoseconds of the machine's clock.

use super::{
    AgentIdx, CounterIdx, KernelIdx, NameIdx, ProcessIdx, QueueIdx, ShapeIdx, StreamIdx, SymbolIdx, ThreadIdx,
};

/// Which node of which instantiated graph a dispatch or copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphNode {
    /// Instantiated graph; 0 when the row is not part of one.
    pub exec_id: i64,
    /// Node in the graph; 0 when the row is not part of one.
    pub node_id: i64,
}

/// One kernel dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Start on the GPU, ns.
    pub start: i64,
    /// End on the GPU, ns; never before `start`.
    pub end: i64,
    /// Process that launched it.
    pub process: ProcessIdx,
    /// GPU it ran on.
    pub agent: AgentIdx,
    /// Kernel by cleaned name.
    pub kernel: KernelIdx,
    /// Its symbol; `NONE` when the file does not describe it.
    pub symbol: SymbolIdx,
    /// Hardware queue.
    pub queue: QueueIdx,
    /// Stream.
    pub stream: StreamIdx,
    /// Launching thread.
    pub thread: ThreadIdx,
    /// Launch shape.
    pub shape: ShapeIdx,
    /// roctx text given by kernel renaming; `NONE` without.
    pub label: NameIdx,
    /// Dispatch id of the process; repeated when a kernel was replayed for more counters.
    pub dispatch_id: i64,
    /// Row id in the base table.
    pub row: i64,
    /// Its event's row id; 0 when NULL.
    pub event: i64,
    /// Internal correlation id: equals [`Region::call`] of the launching call in the same process; 0 when unknown.
    pub call: i64,
    /// Graph node, where recorded.
    pub graph: GraphNode,
}

/// Where a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Host memory to a GPU.
    HostToDevice,
    /// A GPU to host memory.
    DeviceToHost,
    /// Within one GPU.
    DeviceToDevice,
    /// Within host memory.
    HostToHost,
    /// Between two different GPUs.
    Peer,
    /// Neither the name nor the agents tell.
    Unknown,
}

impl Direction {
    /// The label used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::HostToDevice => "Host-to-Device",
            Self::DeviceToHost => "Device-to-Host",
            Self::DeviceToDevice => "Device-to-Device",
            Self::HostToHost => "Host-to-Host",
            Self::Peer => "Peer",
            Self::Unknown => "Unknown",
        }
    }
}

/// One memory copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryCopy {
    /// Start, ns.
    pub start: i64,
    /// End, ns; never before `start`.
    pub end: i64,
    /// Process that asked for it.
    pub process: ProcessIdx,
    /// Source agent; `NONE` when NULL.
    pub source: AgentIdx,
    /// Destination agent; `NONE` when NULL.
    pub destination: AgentIdx,
    /// Direction by the copy's name, else by the agents.
    pub direction: Direction,
    /// Bytes moved.
    pub bytes: u64,
    /// Source address as stored; 0 when not recorded. Not a number to calculate with.
    pub source_address: i64,
    /// Destination address, as `source_address`.
    pub destination_address: i64,
    /// Hardware queue; usually `NONE`.
    pub queue: QueueIdx,
    /// Stream.
    pub stream: StreamIdx,
    /// Thread that asked for it.
    pub thread: ThreadIdx,
    /// Row id in the base table.
    pub row: i64,
    /// Internal correlation id of the call that asked for it; 0 when unknown.
    pub call: i64,
    /// Graph node, where recorded.
    pub graph: GraphNode,
}

/// One host call. Instant calls have `start == end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Start on the host, ns.
    pub start: i64,
    /// End on the host, ns; never before `start`.
    pub end: i64,
    /// Calling process.
    pub process: ProcessIdx,
    /// Calling thread.
    pub thread: ThreadIdx,
    /// Function and family. Instant calls of schema 3 lost their function: the text is then the category.
    pub name: NameIdx,
    /// Row id in the base table.
    pub row: i64,
    /// Its event's row id, the key of its arguments; 0 when NULL.
    pub event: i64,
    /// Its own internal correlation id; 0 when unknown.
    pub call: i64,
    /// Internal correlation id of the enclosing call; 0 when there is none.
    pub parent_call: i64,
}

/// One roctx range or mark (then `start == end`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Start on the host, ns.
    pub start: i64,
    /// End on the host, ns; never before `start`.
    pub end: i64,
    /// Process.
    pub process: ProcessIdx,
    /// Thread.
    pub thread: ThreadIdx,
    /// Text; the operation's name when no text was recorded.
    pub message: NameIdx,
    /// Row id in the base table.
    pub row: i64,
    /// Its own internal correlation id; 0 when unknown.
    pub call: i64,
    /// Internal correlation id of the enclosing call; 0 when there is none.
    pub parent_call: i64,
}

/// What an allocation row did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AllocationKind {
    /// Memory was taken.
    Alloc,
    /// Memory was given back.
    Free,
    /// Memory was resized.
    Realloc,
    /// Memory was reclaimed by the driver.
    Reclaim,
    /// Not told.
    Unknown,
}

/// Which memory an allocation row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AllocationLevel {
    /// Memory with pages behind it.
    Real,
    /// Address space only.
    Virtual,
    /// Scratch of a queue.
    Scratch,
    /// Not told.
    Unknown,
}

/// One allocation or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Start, ns.
    pub start: i64,
    /// End, ns; never before `start`.
    pub end: i64,
    /// Process.
    pub process: ProcessIdx,
    /// Agent; `NONE` for releases.
    pub agent: AgentIdx,
    /// What was done.
    pub kind: AllocationKind,
    /// Which memory.
    pub level: AllocationLevel,
    /// Bytes; 0 for releases.
    pub bytes: u64,
    /// Address as stored; 0 when NULL. Not a number to calculate with.
    pub address: i64,
    /// Row id in the base table.
    pub row: i64,
    /// Internal correlation id of the call; 0 when unknown.
    pub call: i64,
}

/// One launch of an instantiated graph, as recorded by newer writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLaunch {
    /// Start, ns.
    pub start: i64,
    /// End, ns; never before `start`.
    pub end: i64,
    /// Process.
    pub process: ProcessIdx,
    /// GPU.
    pub agent: AgentIdx,
    /// Instantiated graph.
    pub exec_id: i64,
    /// Kernel dispatches of this launch according to the writer.
    pub kernel_count: i64,
    /// Row id in the base table.
    pub row: i64,
    /// Internal correlation id of the launching call; 0 when unknown.
    pub call: i64,
}

/// One counter of one dispatch, combined over its instance rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterValue {
    /// The counter.
    pub counter: CounterIdx,
    /// Sum over instances.
    pub sum: f64,
    /// Largest instance: what counts for clocks.
    pub max: f64,
    /// Smallest instance.
    pub min: f64,
    /// Instance rows that count.
    pub instances: u32,
}
