//! The kinds of timeline rows: which columns each needs and how it is made of them.

use crate::model::{
    AgentKind, Allocation, AllocationKind, AllocationLevel, Direction, Dispatch, Family, GraphLaunch,
    GraphNode, Marker, MemoryCopy, NameIdx, Region, Shape,
};
use crate::pages::{Cursor, Layout, Value};
use crate::sweep::{RowCounts, Sweep};

use super::feed::Feed;
use super::pipeline::Leaves;
use super::tally::Tally;

/// Position of a row in a sweep: start, kind, process, row id.
pub(super) type Key = (i64, u8, u32, i64);

/// A row that can be ordered.
pub(super) trait Keyed: Copy + Send + Sync {
    fn key(&self) -> Key;
}

/// A row of the timeline.
pub(super) trait Timed: Keyed {
    fn deliver<S: Sweep>(&self, sink: &mut S);
}

/// A table's rows as a kind.
pub(super) trait Kind {
    type Row: Timed + super::spill::Spill;
    /// Position in [`crate::open::ProcessData::disorder`].
    const SLOT: usize;
    const TABLE: &'static str;
    const COLUMNS: &'static [&'static str];
    const EVENT: &'static [&'static str];
    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], record: &[u8]) -> Option<Self::Row>;
    fn count(counts: &mut RowCounts) -> &mut u64;
}

#[inline]
fn int(values: &[Value], slot: usize) -> Option<i64> {
    values.get(slot).and_then(|value| value.int())
}

#[inline]
fn size(values: &[Value], slot: usize) -> Option<u32> {
    int(values, slot).and_then(|value| u32::try_from(value).ok())
}

#[inline]
fn graph(values: &[Value], slot: usize) -> GraphNode {
    GraphNode { exec_id: int(values, slot).unwrap_or(0), node_id: int(values, slot + 1).unwrap_or(0) }
}

pub(super) struct Dispatches;

impl Kind for Dispatches {
    type Row = Dispatch;
    const SLOT: usize = 0;
    const TABLE: &'static str = "kernel_dispatch";
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "kernel_id",
        "agent_id",
        "queue_id",
        "stream_id",
        "tid",
        "track_id",
        "dispatch_id",
        "event_id",
        "group_segment_size",
        "private_segment_size",
        "region_name_id",
        "workgroup_size_x",
        "workgroup_size_y",
        "workgroup_size_z",
        "grid_size_x",
        "grid_size_y",
        "grid_size_z",
        "graph_exec_id",
        "graph_node_id",
    ];
    const EVENT: &'static [&'static str] = &["stack_id"];

    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], _record: &[u8]) -> Option<Dispatch> {
        const WHAT: &str = "dispatch";
        let (start, end) = (int(values, 0).unwrap_or(0), int(values, 1).unwrap_or(0));
        if !feed.valid(WHAT, id, start, end) {
            return None;
        }
        let track = feed.track(WHAT, id, int(values, 7)).unwrap_or_default();
        let (kernel, symbol) = feed.kernel(id, int(values, 2));
        let event = int(values, 9);
        let side = |slot: usize| size(values, slot).unwrap_or(0);
        let shape = Shape {
            workgroup: [side(13), side(14), side(15)],
            grid: [side(16), side(17), side(18)],
            lds_bytes: size(values, 10),
            scratch_bytes: size(values, 11),
        };
        Some(Dispatch {
            start,
            end,
            process: feed.data.index,
            agent: feed.agent(WHAT, id, int(values, 3).or(track.agent), AgentKind::Gpu),
            kernel,
            symbol,
            queue: feed.queue(WHAT, id, int(values, 4).or(track.queue)),
            stream: feed.stream(WHAT, id, int(values, 5).or(track.stream)),
            thread: feed.thread(WHAT, id, int(values, 6).or(track.thread)),
            shape: feed.shape(symbol, shape),
            label: feed.label(id, int(values, 12)),
            dispatch_id: int(values, 8).unwrap_or(id),
            row: id,
            event: event.unwrap_or(0),
            call: feed.event(WHAT, id, event).call,
            graph: graph(values, 19),
        })
    }

    fn count(counts: &mut RowCounts) -> &mut u64 {
        &mut counts.dispatches
    }
}

impl Keyed for Dispatch {
    #[inline]
    fn key(&self) -> Key {
        (self.start, 6, self.process.0, self.row)
    }
}

impl Timed for Dispatch {
    #[inline]
    fn deliver<S: Sweep>(&self, sink: &mut S) {
        sink.dispatch(self);
    }
}

/// Direction by the copy's name.
fn named(name: &str) -> Option<Direction> {
    let name = name.to_ascii_uppercase();
    [
        ("HOST_TO_DEVICE", Direction::HostToDevice),
        ("DEVICE_TO_HOST", Direction::DeviceToHost),
        ("DEVICE_TO_DEVICE", Direction::DeviceToDevice),
        ("HOST_TO_HOST", Direction::HostToHost),
        ("PEER", Direction::Peer),
    ]
    .into_iter()
    .find_map(|(word, direction)| name.contains(word).then_some(direction))
}

pub(super) struct Copies;

impl Kind for Copies {
    type Row = MemoryCopy;
    const SLOT: usize = 1;
    const TABLE: &'static str = "memory_copy";
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "size",
        "name_id",
        "src_agent_id",
        "dst_agent_id",
        "queue_id",
        "stream_id",
        "tid",
        "track_id",
        "event_id",
        "graph_exec_id",
        "graph_node_id",
        "src_address",
        "dst_address",
    ];
    const EVENT: &'static [&'static str] = &["stack_id"];

    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], _record: &[u8]) -> Option<MemoryCopy> {
        const WHAT: &str = "copy";
        let (start, end) = (int(values, 0).unwrap_or(0), int(values, 1).unwrap_or(0));
        if !feed.valid(WHAT, id, start, end) {
            return None;
        }
        let track = feed.track(WHAT, id, int(values, 9)).unwrap_or_default();
        let source = feed.agent(WHAT, id, int(values, 4), AgentKind::Other);
        let destination = feed.agent(WHAT, id, int(values, 5), AgentKind::Other);
        let name = int(values, 3);
        let text = name.and_then(|name| {
            let call = feed.call(WHAT, id, Some(name), None);
            feed.trace.name(call.name)
        });
        let kind = |agent: crate::model::AgentIdx| feed.trace.agents.get(agent.get()).map(|agent| agent.kind);
        let by_agents = match (kind(source), kind(destination)) {
            (Some(AgentKind::Cpu), Some(AgentKind::Gpu)) => Direction::HostToDevice,
            (Some(AgentKind::Gpu), Some(AgentKind::Cpu)) => Direction::DeviceToHost,
            (Some(AgentKind::Cpu), Some(AgentKind::Cpu)) => Direction::HostToHost,
            (Some(AgentKind::Gpu), Some(AgentKind::Gpu)) if source == destination => {
                Direction::DeviceToDevice
            }
            (Some(AgentKind::Gpu), Some(AgentKind::Gpu)) => Direction::Peer,
            _ => Direction::Unknown,
        };
        let direction = match (text.as_ref().and_then(|name| named(&name.text)), by_agents) {
            (None, by_agents) => by_agents,
            (Some(Direction::DeviceToDevice), Direction::Peer) => Direction::Peer,
            (Some(named), by_agents) => {
                if by_agents != Direction::Unknown && by_agents != named {
                    feed.tally.direction.note(|| {
                        format!("copy row {id}: {} by name, {} by agents", named.label(), by_agents.label())
                    });
                }
                named
            }
        };
        let event = int(values, 10);
        Some(MemoryCopy {
            start,
            end,
            process: feed.data.index,
            source,
            destination,
            direction,
            bytes: int(values, 2).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
            source_address: int(values, 13).unwrap_or(0),
            destination_address: int(values, 14).unwrap_or(0),
            queue: feed.queue(WHAT, id, int(values, 6).or(track.queue)),
            stream: feed.stream(WHAT, id, int(values, 7).or(track.stream)),
            thread: feed.thread(WHAT, id, int(values, 8).or(track.thread)),
            row: id,
            call: feed.event(WHAT, id, event).call,
            graph: graph(values, 11),
        })
    }

    fn count(counts: &mut RowCounts) -> &mut u64 {
        &mut counts.copies
    }
}

impl Keyed for MemoryCopy {
    #[inline]
    fn key(&self) -> Key {
        (self.start, 5, self.process.0, self.row)
    }
}

impl Timed for MemoryCopy {
    #[inline]
    fn deliver<S: Sweep>(&self, sink: &mut S) {
        sink.copy(self);
    }
}

/// A host call or marker; for markers the region's name is the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRow {
    pub(super) region: Region,
    /// 0 call, 1 instant call, 2 marker.
    pub(super) kind: u8,
}

impl Keyed for HostRow {
    #[inline]
    fn key(&self) -> Key {
        (self.region.start, self.kind, self.region.process.0, self.region.row)
    }
}

impl Timed for HostRow {
    #[inline]
    fn deliver<S: Sweep>(&self, sink: &mut S) {
        match self.kind {
            0 => sink.region(&self.region),
            1 => sink.instant(&self.region),
            _ => sink.marker(&Marker {
                start: self.region.start,
                end: self.region.end,
                process: self.region.process,
                thread: self.region.thread,
                message: self.region.name,
                row: self.region.row,
                call: self.region.call,
                parent_call: self.region.parent_call,
            }),
        }
    }
}

const EVENT_COLUMNS: &[&str] = &["category_id", "stack_id", "parent_stack_id"];

pub(super) struct Regions;

impl Kind for Regions {
    type Row = HostRow;
    const SLOT: usize = 2;
    const TABLE: &'static str = "region";
    const COLUMNS: &'static [&'static str] = &["start", "end", "name_id", "tid", "track_id", "event_id"];
    const EVENT: &'static [&'static str] = EVENT_COLUMNS;

    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], _record: &[u8]) -> Option<HostRow> {
        const WHAT: &str = "region";
        let (start, end) = (int(values, 0).unwrap_or(0), int(values, 1).unwrap_or(0));
        if !feed.valid(WHAT, id, start, end) {
            return None;
        }
        let track = feed.track(WHAT, id, int(values, 4)).unwrap_or_default();
        let event_id = int(values, 5);
        let event = feed.event(WHAT, id, event_id);
        let call = feed.call(WHAT, id, int(values, 2), event.category);
        let marker = call.family == Family::Marker;
        let name: NameIdx = if marker { feed.message(event_id, call.name) } else { call.name };
        let region = Region {
            start,
            end,
            process: feed.data.index,
            thread: feed.thread(WHAT, id, int(values, 3).or(track.thread)),
            name,
            row: id,
            event: event_id.unwrap_or(0),
            call: event.call,
            parent_call: event.parent,
        };
        Some(HostRow { region, kind: if marker { 2 } else { u8::from(start == end) } })
    }

    fn count(counts: &mut RowCounts) -> &mut u64 {
        &mut counts.regions
    }
}

pub(super) struct Samples;

impl Kind for Samples {
    type Row = HostRow;
    const SLOT: usize = 3;
    const TABLE: &'static str = "sample";
    const COLUMNS: &'static [&'static str] = &["timestamp", "track_id", "name_id", "event_id"];
    const EVENT: &'static [&'static str] = EVENT_COLUMNS;

    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], _record: &[u8]) -> Option<HostRow> {
        const WHAT: &str = "sample";
        let at = int(values, 0).unwrap_or(0);
        if !feed.valid(WHAT, id, at, at) {
            return None;
        }
        let track = feed.track(WHAT, id, int(values, 1)).unwrap_or_default();
        let event_id = int(values, 3);
        let event = feed.event(WHAT, id, event_id);
        let call = feed.call(WHAT, id, int(values, 2).or(track.name), event.category);
        let marker = call.family == Family::Marker;
        let name = if marker { feed.message(event_id, call.name) } else { call.name };
        let region = Region {
            start: at,
            end: at,
            process: feed.data.index,
            thread: feed.thread(WHAT, id, track.thread),
            name,
            row: id,
            event: event_id.unwrap_or(0),
            call: event.call,
            parent_call: event.parent,
        };
        Some(HostRow { region, kind: if marker { 2 } else { 1 } })
    }

    fn count(counts: &mut RowCounts) -> &mut u64 {
        &mut counts.instants
    }
}

pub(super) struct Allocations;

impl Kind for Allocations {
    type Row = Allocation;
    const SLOT: usize = 4;
    const TABLE: &'static str = "memory_allocate";
    const COLUMNS: &'static [&'static str] =
        &["start", "end", "type", "level", "agent_id", "size", "address", "event_id", "track_id"];
    const EVENT: &'static [&'static str] = &["stack_id"];

    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], record: &[u8]) -> Option<Allocation> {
        const WHAT: &str = "allocation";
        let (start, end) = (int(values, 0).unwrap_or(0), int(values, 1).unwrap_or(0));
        if !feed.valid(WHAT, id, start, end) {
            return None;
        }
        let track = feed.track(WHAT, id, int(values, 8)).unwrap_or_default();
        let text = |slot: usize| {
            values
                .get(slot)
                .and_then(|value| value.text(record))
                .map(|bytes| feed.data.file.text.decode(bytes).0.to_ascii_uppercase())
        };
        let kind = match text(2).as_deref() {
            Some("ALLOC") => AllocationKind::Alloc,
            Some("FREE") => AllocationKind::Free,
            Some("REALLOC") => AllocationKind::Realloc,
            Some("RECLAIM") => AllocationKind::Reclaim,
            _ => AllocationKind::Unknown,
        };
        let level = match text(3).as_deref() {
            Some("REAL") => AllocationLevel::Real,
            Some("VIRTUAL") => AllocationLevel::Virtual,
            Some("SCRATCH") => AllocationLevel::Scratch,
            _ => AllocationLevel::Unknown,
        };
        Some(Allocation {
            start,
            end,
            process: feed.data.index,
            agent: feed.agent(WHAT, id, int(values, 4).or(track.agent), AgentKind::Other),
            kind,
            level,
            bytes: int(values, 5).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
            address: int(values, 6).unwrap_or(0),
            row: id,
            call: feed.event(WHAT, id, int(values, 7)).call,
        })
    }

    fn count(counts: &mut RowCounts) -> &mut u64 {
        &mut counts.allocations
    }
}

impl Keyed for Allocation {
    #[inline]
    fn key(&self) -> Key {
        (self.start, 4, self.process.0, self.row)
    }
}

impl Timed for Allocation {
    #[inline]
    fn deliver<S: Sweep>(&self, sink: &mut S) {
        sink.allocation(self);
    }
}

pub(super) struct Graphs;

impl Kind for Graphs {
    type Row = GraphLaunch;
    const SLOT: usize = 5;
    const TABLE: &'static str = "graph_launch";
    const COLUMNS: &'static [&'static str] =
        &["start", "end", "agent_id", "graph_exec_id", "kernel_dispatch_count", "event_id"];
    const EVENT: &'static [&'static str] = &["stack_id"];

    fn row(feed: &mut Feed<'_>, id: i64, values: &[Value], _record: &[u8]) -> Option<GraphLaunch> {
        const WHAT: &str = "graph launch";
        let (start, end) = (int(values, 0).unwrap_or(0), int(values, 1).unwrap_or(0));
        if !feed.valid(WHAT, id, start, end) {
            return None;
        }
        Some(GraphLaunch {
            start,
            end,
            process: feed.data.index,
            agent: feed.agent(WHAT, id, int(values, 2), AgentKind::Gpu),
            exec_id: int(values, 3).unwrap_or(0),
            kernel_count: int(values, 4).unwrap_or(0),
            row: id,
            call: feed.event(WHAT, id, int(values, 5)).call,
        })
    }

    fn count(counts: &mut RowCounts) -> &mut u64 {
        &mut counts.graph_launches
    }
}

impl Keyed for GraphLaunch {
    #[inline]
    fn key(&self) -> Key {
        (self.start, 3, self.process.0, self.row)
    }
}

impl Timed for GraphLaunch {
    #[inline]
    fn deliver<S: Sweep>(&self, sink: &mut S) {
        sink.graph_launch(self);
    }
}

/// Reads one table of one process in row order.
pub(super) struct Reader<'t, K: Kind> {
    pub(super) feed: Feed<'t>,
    cursor: Cursor,
    layout: Layout,
    values: Vec<Value>,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<'t, K: Kind> Reader<'t, K> {
    /// `None`: the process has no such table. `buffer` bounds the pages read ahead of each of the two tables walked.
    pub(super) fn new(
        trace: &'t crate::trace::Trace,
        data: &'t crate::open::ProcessData,
        longest: i64,
        buffer: usize,
    ) -> Option<Self> {
        let table = data.set.get(K::TABLE)?;
        let layout = Layout::new(&table.columns, K::COLUMNS);
        Some(Self {
            feed: Feed::new(trace, data, longest, K::EVENT, buffer),
            cursor: data.cursor(table, buffer),
            values: layout.values(),
            layout,
            kind: std::marker::PhantomData,
        })
    }
}

impl<K: Kind> Leaves for Reader<'_, K> {
    type Row = K::Row;
    const SLOT: usize = K::SLOT;

    fn leaf(&mut self, out: &mut Vec<K::Row>) -> bool {
        if !self.cursor.advance() {
            return false;
        }
        let cells = self.cursor.leaf().map_or(0, |leaf| leaf.cells());
        for cell in 0..cells {
            let Some(row) = self.cursor.row(cell) else {
                self.feed.tally.damaged_rows += 1;
                continue;
            };
            let id = row.id;
            if self.layout.decode(id, row.local, row.local_len, &mut self.values) {
                if let Some(row) = K::row(&mut self.feed, id, &self.values, row.local) {
                    out.push(row);
                }
                continue;
            }
            match self.cursor.record(cell) {
                Some(record) if self.layout.decode(id, &record, record.len(), &mut self.values) => {
                    out.extend(K::row(&mut self.feed, id, &self.values, &record));
                }
                _ => self.feed.tally.damaged_rows += 1,
            }
        }
        true
    }

    fn finish(mut self) -> Tally {
        self.feed.tally.damaged_pages += self.cursor.damaged + self.feed.damaged();
        self.feed.tally
    }
}
