//! The small tables of one process and what its streams need to resolve ids.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU8};

use crate::intern::IdMap;
use crate::model::{AgentIdx, ProcessIdx};
use crate::pages::{Cursor, Layout, PagedFile, Value};

use super::schema::{Table, TableSet};

/// Pages read ahead while reading small tables, bytes.
const SMALL_BUFFER: usize = 64 << 10;

/// What a track row of schema 4 stands for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Track {
    pub(crate) thread: Option<i64>,
    pub(crate) agent: Option<i64>,
    pub(crate) queue: Option<i64>,
    pub(crate) stream: Option<i64>,
    pub(crate) name: Option<i64>,
}

/// Track rows by id.
pub(crate) type Tracks = HashMap<i64, Track>;

/// One process as its streams see it.
#[derive(Debug)]
pub(crate) struct ProcessData {
    pub(crate) index: ProcessIdx,
    pub(crate) file: Arc<PagedFile>,
    pub(crate) set: TableSet,
    pub(crate) tracks: Tracks,
    pub(crate) agents: HashMap<i64, AgentIdx>,
    /// From kernel ids to symbol indices.
    pub(crate) symbols: IdMap,
    /// From counter ids to counter indices.
    pub(crate) counters: HashMap<i64, u32>,
    /// From row ids of the thread table to operating-system thread ids.
    pub(crate) threads: HashMap<i64, i64>,
    pub(crate) queues: HashMap<i64, Option<String>>,
    pub(crate) streams: HashMap<i64, Option<String>>,
    /// Longest duration taken for real, ns; raised when a suspect turns out valid. `i64::MIN` until estimated.
    pub(crate) longest: AtomicI64,
    /// How many window sizes have failed to put a stream in order, by its slot.
    pub(crate) disorder: [AtomicU8; 8],
}

impl ProcessData {
    pub(crate) fn new(index: ProcessIdx, file: Arc<PagedFile>, set: TableSet) -> Self {
        Self {
            index,
            file,
            set,
            tracks: HashMap::new(),
            agents: HashMap::new(),
            symbols: IdMap::default(),
            counters: HashMap::new(),
            threads: HashMap::new(),
            queues: HashMap::new(),
            streams: HashMap::new(),
            longest: AtomicI64::new(i64::MIN),
            disorder: Default::default(),
        }
    }

    /// A cursor over a table of this process.
    pub(crate) fn cursor(&self, table: &Table, buffer_bytes: usize) -> Cursor {
        Cursor::new(&self.file, table.root, buffer_bytes)
    }
}

/// A decoded row of a small table.
pub(super) struct SmallRow<'a> {
    pub(super) id: i64,
    pub(super) values: &'a [Value],
    record: &'a [u8],
    file: &'a PagedFile,
}

impl SmallRow<'_> {
    pub(super) fn int(&self, slot: usize) -> Option<i64> {
        self.values.get(slot).and_then(|value| value.int())
    }

    /// Text, lossily; the flag says whether bytes were replaced. Empty text is `None`.
    pub(super) fn text_checked(&self, slot: usize) -> Option<(String, bool)> {
        let bytes = self.values.get(slot)?.text(self.record)?;
        (!bytes.is_empty()).then(|| self.file.text.decode(bytes))
    }

    pub(super) fn text(&self, slot: usize) -> Option<String> {
        self.text_checked(slot).map(|(text, _)| text)
    }

    pub(super) fn small(&self, slot: usize) -> Option<u32> {
        self.int(slot).and_then(|value| u32::try_from(value).ok())
    }
}

/// Visits every readable row of a table; returns the number of damaged pages met.
pub(super) fn rows(
    file: &Arc<PagedFile>,
    table: &Table,
    wanted: &[&str],
    mut visit: impl FnMut(&SmallRow<'_>),
) -> u64 {
    let mut layout = Layout::new(&table.columns, wanted);
    let mut values = layout.values();
    let mut cursor = Cursor::new(file, table.root, SMALL_BUFFER);
    while cursor.advance() {
        let cells = cursor.leaf().map_or(0, |leaf| leaf.cells());
        for cell in 0..cells {
            let Some(row) = cursor.row(cell) else {
                cursor.damaged += 1;
                continue;
            };
            let id = row.id;
            if row.overflow == 0 {
                if layout.decode(id, row.local, row.local_len, &mut values) {
                    visit(&SmallRow { id, values: &values, record: row.local, file });
                }
            } else if let Some(record) = cursor.record(cell)
                && layout.decode(id, &record, record.len(), &mut values)
            {
                visit(&SmallRow { id, values: &values, record: &record, file });
            }
        }
    }
    cursor.damaged
}

/// Text of one row of a (id, text) table, lossily; the flag says whether bytes were replaced.
pub(crate) fn text_of(
    file: &PagedFile,
    cursor: &mut Cursor,
    layout: &mut Layout,
    id: i64,
) -> Option<(String, bool)> {
    let cell = cursor.seek(id)?;
    let record = cursor.record(cell)?;
    let mut values = layout.values();
    layout.decode(id, &record, record.len(), &mut values);
    let bytes = values.first()?.text(&record)?;
    Some(file.text.decode(bytes))
}
