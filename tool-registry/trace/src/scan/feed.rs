//! Resolves the ids in a process's rows: events, names, agents, queues, streams, threads, kernels and shapes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::intern::IdMap;
use crate::model::{
    Agent, AgentIdx, AgentKind, Family, Kernel, KernelIdx, Name, NameIdx, Queue, QueueIdx, Shape, ShapeIdx,
    Stream, StreamIdx, SymbolIdx, Thread, ThreadIdx,
};
use crate::names;
use crate::open::{ProcessData, text_of};
use crate::pages::{Cursor, Layout, Value};
use crate::trace::Trace;

use super::tally::{Aside, Tally};

/// One day, ns: nothing on a GPU's timeline is longer.
const DAY: i64 = 86_400_000_000_000;
/// Times from here on cannot be sums without overflow and are not real.
const FAR: i64 = 1 << 62;
/// Distinct marker texts kept; later ones share one entry.
const MAX_MARKERS: usize = 1 << 16;
/// Longest marker text kept, bytes.
const MAX_MARKER_TEXT: usize = 4096;
/// Set on numbers of things no row describes.
const UNDESCRIBED: u32 = 1 << 31;

/// The event of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event {
    pub(super) category: Option<i64>,
    pub(super) call: i64,
    pub(super) parent: i64,
}

/// Walks the event table beside a stream: events have no index, but their id is the row id and both sides ascend.
struct Events {
    cursor: Cursor,
    layout: Layout,
    values: Vec<Value>,
    message: Layout,
}

/// What a call's name and category stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    category: Option<i64>,
    pub(super) name: NameIdx,
    pub(super) family: Family,
}

/// Resolves ids for one stream of one process.
pub(super) struct Feed<'t> {
    pub(super) trace: &'t Trace,
    pub(super) data: &'t ProcessData,
    pub(super) tally: Tally,
    /// Longer rows are suspects.
    longest: i64,
    events: Option<Events>,
    strings: Option<(Cursor, Layout)>,
    categories: Option<(Cursor, Layout)>,
    agents: IdMap,
    queues: IdMap,
    streams: IdMap,
    threads: IdMap,
    kernels: HashMap<i64, KernelIdx>,
    labels: IdMap,
    calls: IdMap,
    call_entries: Vec<Vec<Call>>,
    markers: HashMap<String, NameIdx>,
    /// The last shape of each symbol.
    shapes: Vec<(Shape, u32)>,
    track: (i64, Option<crate::open::Track>),
}

fn texts(data: &ProcessData, base: &str, column: &str) -> Option<(Cursor, Layout)> {
    let table = data.set.get(base)?;
    Some((data.cursor(table, data.file.page_size), Layout::new(&table.columns, &[column])))
}

impl<'t> Feed<'t> {
    /// `event_columns`: what of each event is needed, in the order category, call, parent; the shorter, the faster.
    pub(super) fn new(
        trace: &'t Trace,
        data: &'t ProcessData,
        longest: i64,
        event_columns: &[&str],
        buffer: usize,
    ) -> Self {
        let events = data.set.get("event").map(|table| {
            let layout = Layout::new(&table.columns, event_columns);
            Events {
                cursor: data.cursor(table, buffer),
                values: layout.values(),
                layout,
                message: Layout::new(&table.columns, &["extdata"]),
            }
        });
        let mut agents = IdMap::default();
        for (id, agent) in &data.agents {
            agents.insert(*id, agent.0);
        }
        // Schema 4 keeps categories in a table of their own.
        let own = data.set.get("info_category").is_some();
        Self {
            trace,
            data,
            tally: Tally::default(),
            longest,
            events,
            strings: texts(data, "string", "string"),
            categories: if own {
                texts(data, "info_category", "name")
            } else {
                texts(data, "string", "string")
            },
            agents,
            queues: IdMap::default(),
            streams: IdMap::default(),
            threads: IdMap::default(),
            kernels: HashMap::new(),
            labels: IdMap::default(),
            calls: IdMap::default(),
            call_entries: Vec::new(),
            markers: HashMap::new(),
            shapes: Vec::new(),
            track: (i64::MIN, None),
        }
    }

    /// Whether an interval counts; if not, why is noted.
    #[inline]
    pub(super) fn valid(&mut self, what: &'static str, row: i64, start: i64, end: i64) -> bool {
        if start > 0 && end >= start && end < FAR && end - start <= self.longest.min(DAY) {
            self.tally.span.add(start, end);
            self.tally.delivered += 1;
            return true;
        }
        if start <= 0 || end <= 0 {
            self.tally.aside(Aside::Zero, what, row, start, end);
        } else if end < start {
            self.tally.aside(Aside::Reversed, what, row, start, end);
        } else if end >= FAR || end - start > DAY {
            self.tally.aside(Aside::Absurd, what, row, start, end);
        } else {
            self.tally.suspect(end - start, what, row);
        }
        false
    }

    /// The event of a row; a reference that leads nowhere is noted.
    #[inline]
    pub(super) fn event(&mut self, what: &'static str, row: i64, id: Option<i64>) -> Event {
        let Some(id) = id else { return Event::default() };
        let found = self.events.as_mut().and_then(|events| {
            let cell = events.cursor.seek(id)?;
            let row = events.cursor.row(cell)?;
            if !events.layout.decode(row.id, row.local, row.local_len, &mut events.values) {
                let record = events.cursor.record(cell)?;
                events.layout.decode(id, &record, record.len(), &mut events.values);
            }
            let int = |slot: usize| events.values.get(slot).and_then(|value| value.int());
            Some(match events.values.len() {
                1 => Event { category: None, call: int(0).unwrap_or(0), parent: 0 },
                _ => Event { category: int(0), call: int(1).unwrap_or(0), parent: int(2).unwrap_or(0) },
            })
        });
        match found {
            Some(event) => event,
            None => {
                self.tally.dangling("event", what, row, id);
                Event::default()
            }
        }
    }

    /// What a track id stands for.
    pub(super) fn track(
        &mut self,
        what: &'static str,
        row: i64,
        id: Option<i64>,
    ) -> Option<crate::open::Track> {
        let id = id?;
        if self.track.0 != id {
            self.track = (id, self.data.tracks.get(&id).copied());
        }
        if self.track.1.is_none() {
            self.tally.dangling("track", what, row, id);
        }
        self.track.1
    }

    /// The agent of an id. An undescribed one gets an entry of its own; `kind` says what it must be.
    #[inline]
    pub(super) fn agent(
        &mut self,
        what: &'static str,
        row: i64,
        id: Option<i64>,
        kind: AgentKind,
    ) -> AgentIdx {
        let Some(id) = id else { return AgentIdx::NONE };
        let described = self.trace.agents.len() as u32;
        let (trace, data) = (self.trace, self.data);
        let agent = self.agents.get_or(id, || {
            let process = trace.processes.get(data.index.get());
            described
                + trace.extra_agents.intern((data.index.0, id), || Agent {
                    machine: process.map_or(crate::model::MachineIdx(0), |process| process.machine),
                    kind,
                    absolute_index: id,
                    type_index: None,
                    gfx_id: None,
                    name: None,
                    product_name: None,
                    vendor_name: None,
                    properties: Default::default(),
                    processes: vec![data.index],
                    described: false,
                })
        });
        if agent >= described {
            self.tally.dangling("agent", what, row, id);
        }
        AgentIdx(agent)
    }

    #[inline]
    pub(super) fn queue(&mut self, what: &'static str, row: i64, id: Option<i64>) -> QueueIdx {
        let Some(id) = id else { return QueueIdx::NONE };
        let (trace, data) = (self.trace, self.data);
        let found = self.queues.get_or(id, || {
            let name = data.queues.get(&id).cloned();
            let flag = if name.is_some() { 0 } else { UNDESCRIBED };
            flag | trace.queues.intern((data.index.0, id), || Queue {
                process: data.index,
                id,
                name: name.flatten(),
            })
        });
        if found & UNDESCRIBED != 0 {
            self.tally.dangling("queue", what, row, id);
        }
        QueueIdx(found & !UNDESCRIBED)
    }

    #[inline]
    pub(super) fn stream(&mut self, what: &'static str, row: i64, id: Option<i64>) -> StreamIdx {
        let Some(id) = id else { return StreamIdx::NONE };
        let (trace, data) = (self.trace, self.data);
        let found = self.streams.get_or(id, || {
            let name = data.streams.get(&id).cloned();
            let flag = if name.is_some() { 0 } else { UNDESCRIBED };
            flag | trace.streams.intern((data.index.0, id), || Stream {
                process: data.index,
                id,
                name: name.flatten(),
            })
        });
        if found & UNDESCRIBED != 0 {
            self.tally.dangling("stream", what, row, id);
        }
        StreamIdx(found & !UNDESCRIBED)
    }

    #[inline]
    pub(super) fn thread(&mut self, what: &'static str, row: i64, id: Option<i64>) -> ThreadIdx {
        let Some(id) = id else { return ThreadIdx::NONE };
        let (trace, data) = (self.trace, self.data);
        let found = self.threads.get_or(id, || {
            let tid = data.threads.get(&id).copied();
            let flag = if tid.is_some() { 0 } else { UNDESCRIBED };
            flag | trace
                .threads
                .intern((data.index.0, id), || Thread { process: data.index, tid: tid.unwrap_or(id) })
        });
        if found & UNDESCRIBED != 0 {
            self.tally.dangling("thread", what, row, id);
        }
        ThreadIdx(found & !UNDESCRIBED)
    }

    /// Kernel and symbol of a kernel id; an unknown one gets a name that says so.
    #[inline]
    pub(super) fn kernel(&mut self, row: i64, id: Option<i64>) -> (KernelIdx, SymbolIdx) {
        if let Some(symbol) = id.and_then(|id| self.data.symbols.get(id))
            && let Some(entry) = self.trace.symbols.get(symbol as usize)
        {
            return (entry.kernel, SymbolIdx(symbol));
        }
        let id = id.unwrap_or(-1);
        self.tally.dangling("kernel symbol", "dispatch", row, id);
        let trace = self.trace;
        let kernel = *self.kernels.entry(id).or_insert_with(|| {
            let name: Arc<str> = Arc::from(format!("<unknown kernel {id}>"));
            KernelIdx(trace.kernels.intern(Arc::clone(&name), || {
                Arc::new(Kernel {
                    id8: names::id8(&name),
                    full_name: Arc::clone(&name),
                    name: Arc::clone(&name),
                    described: false,
                })
            }))
        });
        (kernel, SymbolIdx::NONE)
    }

    #[inline]
    pub(super) fn shape(&mut self, symbol: SymbolIdx, shape: Shape) -> ShapeIdx {
        let at = if symbol.is_some() { symbol.get() + 1 } else { 0 };
        if let Some((last, index)) = self.shapes.get(at)
            && *last == shape
        {
            return ShapeIdx(*index);
        }
        let index = self.trace.shapes.intern(shape, || shape);
        if self.shapes.len() <= at && at < 1 << 20 {
            self.shapes.resize(
                at + 1,
                (Shape { workgroup: [0; 3], grid: [0; 3], lds_bytes: None, scratch_bytes: None }, u32::MAX),
            );
        }
        if let Some(slot) = self.shapes.get_mut(at) {
            *slot = (shape, index);
        }
        ShapeIdx(index)
    }

    fn string(&mut self, id: i64, what: &'static str) -> Option<String> {
        let (cursor, layout) = self.strings.as_mut()?;
        let (text, bad) = text_of(&self.data.file, cursor, layout, id)?;
        if bad {
            self.tally.invalid_text.note(|| format!("{what} name {id}"));
        }
        Some(text)
    }

    fn intern(&self, text: &str, family: Family) -> NameIdx {
        let name = Name { text: Arc::from(text), family };
        NameIdx(self.trace.names.intern(name.clone(), || name))
    }

    /// The text a dispatch was renamed to; the empty text is none.
    #[inline]
    pub(super) fn label(&mut self, row: i64, id: Option<i64>) -> NameIdx {
        let Some(id) = id else { return NameIdx::NONE };
        // NONE is also the map's mark for absent, so "no label" is kept as the undescribed flag alone.
        if let Some(known) = self.labels.get(id) {
            return if known == UNDESCRIBED { NameIdx::NONE } else { NameIdx(known) };
        }
        let label = match self.string(id, "dispatch") {
            None => {
                self.tally.dangling("label", "dispatch", row, id);
                return NameIdx::NONE;
            }
            Some(text) if text.is_empty() => UNDESCRIBED,
            Some(text) => self.intern(&text, Family::Marker).0,
        };
        self.labels.insert(id, label);
        if label == UNDESCRIBED { NameIdx::NONE } else { NameIdx(label) }
    }

    /// Name and family of a host call from its name id and category id.
    #[inline]
    pub(super) fn call(
        &mut self,
        what: &'static str,
        row: i64,
        name: Option<i64>,
        category: Option<i64>,
    ) -> Call {
        let key = name.unwrap_or(i64::MIN);
        let entry = self.calls.get_or(key, || {
            self.call_entries.push(Vec::new());
            (self.call_entries.len() - 1) as u32
        }) as usize;
        if let Some(known) =
            self.call_entries.get(entry).and_then(|calls| calls.iter().find(|call| call.category == category))
        {
            return *known;
        }
        self.new_call(what, row, name, category, entry)
    }

    fn new_call(
        &mut self,
        what: &'static str,
        row: i64,
        name: Option<i64>,
        category: Option<i64>,
        entry: usize,
    ) -> Call {
        let category_text = category.and_then(|id| {
            let (cursor, layout) = self.categories.as_mut()?;
            text_of(&self.data.file, cursor, layout, id).map(|(text, _)| text)
        });
        let text = name.and_then(|id| self.string(id, what));
        if let (None, Some(id)) = (&text, name) {
            self.tally.dangling("name", what, row, id);
        }
        let family = names::family(category_text.as_deref(), text.as_deref().unwrap_or_default());
        let text = text.or(category_text).unwrap_or_else(|| "<unknown call>".into());
        let call = Call { category, name: self.intern(&text, family), family };
        // A missing name is looked up again, so that every such row is counted.
        if let Some(calls) = self.call_entries.get_mut(entry)
            && (name.is_none() || !text.starts_with("<unknown"))
        {
            calls.push(call);
        }
        call
    }

    /// The text of a marker's event; `fallback` when it has none.
    pub(super) fn message(&mut self, event: Option<i64>, fallback: NameIdx) -> NameIdx {
        let Some(text) = event.and_then(|id| self.event_json(id)) else { return fallback };
        if let Some(&known) = self.markers.get(&text) {
            return known;
        }
        let index = if self.trace.names.len() >= MAX_MARKERS {
            self.intern("<other markers>", Family::Marker)
        } else {
            self.intern(&text, Family::Marker)
        };
        if self.markers.len() < MAX_MARKERS {
            self.markers.insert(text, index);
        }
        index
    }

    fn event_json(&mut self, id: i64) -> Option<String> {
        let events = self.events.as_mut()?;
        let cell = events.cursor.seek(id)?;
        let record = events.cursor.record(cell)?;
        let mut values = events.message.values();
        events.message.decode(id, &record, record.len(), &mut values);
        let (text, bad) = self.data.file.text.decode(values.first()?.text(&record)?);
        if bad {
            self.tally.invalid_text.note(|| format!("marker text of event {id}"));
        }
        let json: serde_json::Value = serde_json::from_str(&text).ok()?;
        let message = json.get("message")?.as_str()?;
        let mut end = message.len().min(MAX_MARKER_TEXT);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.get(..end).map(str::to_owned)
    }

    /// Damaged pages of the tables walked beside the stream.
    pub(super) fn damaged(&self) -> u64 {
        self.events.as_ref().map_or(0, |events| events.cursor.damaged)
    }
}
