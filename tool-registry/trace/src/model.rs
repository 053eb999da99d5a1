//! The vocabulary of a trace: who ran (sources, processes, agents), what ran (kernels, calls) and the rows of the timeline.
//!
//! Small things are interned once and referred to by index types; rows are `Copy` and carry integer nanoseconds.

mod agent;
mod index;
mod kernel;
mod row;
mod source;

pub use agent::{Agent, AgentKind, AgentProperties, IoLink, Machine};
pub use index::{
    AgentIdx, CounterIdx, KernelIdx, MachineIdx, NameIdx, ProcessIdx, QueueIdx, ShapeIdx, SourceIdx,
    StreamIdx, SymbolIdx, ThreadIdx,
};
pub use kernel::{Counter, Family, Kernel, Name, Queue, Shape, Stream, Symbol, Thread};
pub use row::{
    Allocation, AllocationKind, AllocationLevel, CounterValue, Direction, Dispatch, GraphLaunch, GraphNode,
    Marker, MemoryCopy, Region,
};
pub use source::{FileIdentity, Presence, Process, RankOrigin, Source};
