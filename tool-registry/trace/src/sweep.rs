//! What a caller sees of the timeline: one pass over the valid rows of all processes.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::health::Health;
use crate::model::{Allocation, CounterValue, Dispatch, GraphLaunch, Marker, MemoryCopy, ProcessIdx, Region};

/// Which rows a sweep delivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Select {
    /// Kernel dispatches.
    pub dispatches: bool,
    /// Memory copies.
    pub copies: bool,
    /// Host calls with a duration, other than markers.
    pub regions: bool,
    /// Instant host calls, other than marks.
    pub instants: bool,
    /// roctx ranges and marks.
    pub markers: bool,
    /// Allocations and releases.
    pub allocations: bool,
    /// Graph launches.
    pub graph_launches: bool,
}

impl Select {
    /// Every kind of row.
    pub const ALL: Self = Self {
        dispatches: true,
        copies: true,
        regions: true,
        instants: true,
        markers: true,
        allocations: true,
        graph_launches: true,
    };
    /// Dispatches and copies.
    pub const GPU: Self = Self {
        dispatches: true,
        copies: true,
        regions: false,
        instants: false,
        markers: false,
        allocations: false,
        graph_launches: false,
    };
}

/// Receives the rows of a sweep, all kinds and processes merged: by start; at equal starts host calls, instants, markers,
/// graph launches, allocations, copies, dispatches in this order, then by process, then by row id.
/// Rows that health puts aside never arrive.
pub trait Sweep {
    /// A kernel dispatch.
    fn dispatch(&mut self, _row: &Dispatch) {}
    /// A memory copy.
    fn copy(&mut self, _row: &MemoryCopy) {}
    /// A host call with a duration.
    fn region(&mut self, _row: &Region) {}
    /// An instant host call (`start == end`).
    fn instant(&mut self, _row: &Region) {}
    /// A roctx range or mark.
    fn marker(&mut self, _row: &Marker) {}
    /// An allocation or release.
    fn allocation(&mut self, _row: &Allocation) {}
    /// A graph launch.
    fn graph_launch(&mut self, _row: &GraphLaunch) {}
}

/// Receives dispatches together with their counters.
pub trait CounterSweep {
    /// A dispatch and its combined counter values, by counter index.
    fn counters(&mut self, dispatch: &Dispatch, values: &[CounterValue]);
}

/// One recorded argument of a host call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Argument {
    /// Process of the call.
    pub process: ProcessIdx,
    /// [`Region::event`] of the call.
    pub event: i64,
    /// Position among the call's arguments; 0 is the first.
    pub position: i64,
    /// Name as recorded.
    pub name: String,
    /// Type as recorded.
    pub kind: String,
    /// Value as text, at most 256 bytes.
    pub value: String,
}

/// How many rows were delivered or put aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Dispatches delivered.
    pub dispatches: u64,
    /// Copies delivered.
    pub copies: u64,
    /// Host calls and markers with a duration delivered.
    pub regions: u64,
    /// Instant host calls and marks delivered.
    pub instants: u64,
    /// Allocations delivered.
    pub allocations: u64,
    /// Graph launches delivered.
    pub graph_launches: u64,
    /// Counter rows that count.
    pub counter_values: u64,
    /// Rows put aside, of every kind read.
    pub left_out: u64,
    /// Dispatch rows among them, by their own times; what only shows beside other rows is not told apart by kind.
    pub dispatches_left_out: u64,
}

/// What a finished sweep knows beyond its rows.
#[derive(Clone, Debug, Default)]
pub struct ScanReport {
    /// Rows delivered and put aside.
    pub rows: RowCounts,
    /// Problems of the rows read by this sweep (the trace's own are in [`Trace::health`](crate::Trace::health)).
    pub health: Health,
}

/// Lets another thread stop a sweep and watch it.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to stop: the sweep ends with [`ScanError::Cancelled`](crate::ScanError::Cancelled) within a few milliseconds.
    pub stop: AtomicBool,
    /// Rows delivered so far, updated every few thousand rows.
    pub rows: AtomicU64,
}
