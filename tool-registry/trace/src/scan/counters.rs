//! Joins counter rows to their dispatches, combining the instances of each counter on the way.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use crate::error::ScanError;
use crate::model::{CounterIdx, CounterValue, Dispatch};
use crate::open::ProcessData;
use crate::pages::{Cursor, Layout, Value};
use crate::sweep::{Control, CounterSweep, RowCounts, ScanReport};
use crate::trace::Trace;

use super::pipeline::{Leaves, Mode, Ordered, Pass, ordered};
use super::rows::{Dispatches, Key, Keyed, Reader};
use super::spill::{Spill, record};
use super::sweep::{limits, settle};
use super::tally::Tally;

/// Fewer counter rows than this are read whole.
const MEMORY_ROWS: u64 = 1 << 20;
/// No counter is wider than 64 bits.
const WIDTH: f64 = 18_446_744_073_709_551_616.0;
const PASSES: usize = 4;

/// The combined rows of one counter of one event that lie together in the table.
#[derive(Clone, Copy, Debug)]
struct Cell {
    event: i64,
    counter: u32,
    instances: u32,
    first_row: i64,
    sum: f64,
    max: f64,
    min: f64,
}

record!(Cell { event: i64, counter: u32, instances: u32, first_row: i64, sum: f64, max: f64, min: f64 });

impl Keyed for Cell {
    #[inline]
    fn key(&self) -> Key {
        (self.event, 0, self.counter, self.first_row)
    }
}

/// A dispatch ordered by its event.
#[derive(Clone, Copy, Debug)]
struct ByEvent {
    dispatch: Dispatch,
}

record!(ByEvent { dispatch: Dispatch });

impl Keyed for ByEvent {
    #[inline]
    fn key(&self) -> Key {
        (self.dispatch.event, 0, 0, self.dispatch.row)
    }
}

/// Reads dispatches for the join.
struct DispatchReader<'t> {
    inner: Reader<'t, Dispatches>,
    rows: Vec<Dispatch>,
}

impl Leaves for DispatchReader<'_> {
    type Row = ByEvent;
    const SLOT: usize = 7;

    fn leaf(&mut self, out: &mut Vec<ByEvent>) -> bool {
        self.rows.clear();
        let more = self.inner.leaf(&mut self.rows);
        out.extend(self.rows.iter().map(|dispatch| ByEvent { dispatch: *dispatch }));
        more
    }

    fn finish(self) -> Tally {
        self.inner.finish()
    }
}

/// Reads counter rows and combines neighbours.
struct CellReader<'t> {
    data: &'t ProcessData,
    cursor: Cursor,
    layout: Layout,
    values: Vec<Value>,
    /// Cells of the current event, in order of appearance.
    block: Vec<Cell>,
    last: (i64, Option<u32>),
    tally: Tally,
}

impl<'t> CellReader<'t> {
    fn new(data: &'t ProcessData, buffer: usize) -> Option<Self> {
        let table = data.set.get("pmc_event")?;
        // Rows tied to a sample belong to a stream of samples, not to a dispatch.
        let wanted: &[&str] = if table.has("sample_id") {
            &["event_id", "pmc_id", "value", "sample_id"]
        } else {
            &["event_id", "pmc_id", "value"]
        };
        let layout = Layout::new(&table.columns, wanted);
        Some(Self {
            data,
            cursor: data.cursor(table, buffer),
            values: layout.values(),
            layout,
            block: Vec::new(),
            last: (i64::MIN, None),
            tally: Tally::default(),
        })
    }

    fn flush(&mut self, out: &mut Vec<Cell>) {
        self.block.sort_unstable_by_key(|cell| cell.counter);
        out.append(&mut self.block);
    }

    #[inline]
    fn add(&mut self, id: i64, event: i64, pmc: i64, value: f64, out: &mut Vec<Cell>) {
        if self.last.0 != pmc {
            self.last = (pmc, self.data.counters.get(&pmc).copied());
        }
        let Some(counter) = self.last.1 else {
            self.tally.dangling("counter", "counter value", id, pmc);
            return;
        };
        if self.block.first().is_some_and(|cell| cell.event != event) {
            self.flush(out);
        }
        self.tally.delivered += 1;
        // Writers list the instances of one counter together.
        if let Some(cell) = self.block.iter_mut().rev().find(|cell| cell.counter == counter) {
            cell.instances = cell.instances.saturating_add(1);
            cell.sum += value;
            cell.max = cell.max.max(value);
            cell.min = cell.min.min(value);
        } else {
            self.block.push(Cell {
                event,
                counter,
                instances: 1,
                first_row: id,
                sum: value,
                max: value,
                min: value,
            });
        }
    }
}

/// A counter value that can be used: finite, not negative, not wider than 64 bits. Text that is a number counts.
#[inline]
fn usable(value: Value, record: &[u8]) -> Option<f64> {
    let number = match value {
        Value::Real(value) => value,
        Value::Int(value) => value as f64,
        Value::Text { .. } => std::str::from_utf8(value.text(record)?).ok()?.trim().parse().ok()?,
        Value::Null | Value::Blob { .. } => return None,
    };
    (number.is_finite() && (0.0..WIDTH).contains(&number)).then_some(number)
}

impl Leaves for CellReader<'_> {
    type Row = Cell;
    const SLOT: usize = 6;

    fn leaf(&mut self, out: &mut Vec<Cell>) -> bool {
        if !self.cursor.advance() {
            self.flush(out);
            return false;
        }
        for cell in 0..self.cursor.leaf().map_or(0, |leaf| leaf.cells()) {
            let Some(row) = self.cursor.row(cell) else {
                self.tally.damaged_rows += 1;
                continue;
            };
            let id = row.id;
            if !self.layout.decode(id, row.local, row.local_len, &mut self.values) {
                self.tally.damaged_rows += 1;
                continue;
            }
            let value = |slot: usize| self.values.get(slot).copied().unwrap_or(Value::Null);
            if value(3) != Value::Null {
                continue;
            }
            let Some(number) = usable(value(2), row.local) else {
                self.tally.bad_values.note(|| format!("counter value row {id}"));
                continue;
            };
            if let (Some(event), Some(pmc)) = (value(0).int(), value(1).int()) {
                self.add(id, event, pmc, number, out);
            }
        }
        true
    }

    fn finish(mut self) -> Tally {
        self.tally.damaged_pages += self.cursor.damaged;
        self.tally
    }
}

/// The cells of the next event, one per counter.
struct Events {
    cells: Ordered<Cell>,
    event: i64,
    values: Vec<CounterValue>,
    duplicates: u64,
}

impl Events {
    /// False at the end.
    fn next(&mut self) -> bool {
        self.values.clear();
        let Some(first) = self.cells.head else { return false };
        self.event = first.event;
        while let Some(cell) = self.cells.head.filter(|cell| cell.event == self.event) {
            let fresh = CounterValue {
                counter: CounterIdx(cell.counter),
                sum: cell.sum,
                max: cell.max,
                min: cell.min,
                instances: cell.instances,
            };
            match self.values.last_mut().filter(|last| last.counter == fresh.counter) {
                // The same rows a second time, elsewhere in the table: a pass that was merged twice.
                Some(last) if *last == fresh => self.duplicates += u64::from(cell.instances),
                Some(last) => {
                    last.sum += cell.sum;
                    last.max = last.max.max(cell.max);
                    last.min = last.min.min(cell.min);
                    last.instances = last.instances.saturating_add(cell.instances);
                }
                None => self.values.push(fresh),
            }
            self.cells.step();
        }
        true
    }
}

/// What the join of one process found.
#[derive(Default)]
struct Joined {
    duplicates: u64,
    /// Events with counter rows and no valid dispatch.
    orphans: u64,
    complete: bool,
}

fn join<S: CounterSweep>(
    mut dispatches: Ordered<ByEvent>,
    cells: Ordered<Cell>,
    pass: &Pass<'_>,
    control: &Control,
    sink: &mut S,
) -> Joined {
    let mut events = Events { cells, event: 0, values: Vec::new(), duplicates: 0 };
    let mut joined = Joined::default();
    dispatches.step();
    events.cells.step();
    let mut seen = 0u64;
    while events.next() {
        seen += 1;
        if seen.is_multiple_of(4096) {
            control.rows.fetch_add(4096, Ordering::Relaxed);
            if control.stop.load(Ordering::Relaxed) {
                pass.abort();
            }
        }
        if pass.aborted() {
            return joined;
        }
        while dispatches.head.is_some_and(|row| row.dispatch.event < events.event) {
            dispatches.step();
        }
        let mut found = false;
        while let Some(row) = dispatches.head.filter(|row| row.dispatch.event == events.event) {
            sink.counters(&row.dispatch, &events.values);
            found = true;
            dispatches.step();
        }
        joined.orphans += u64::from(!found);
    }
    joined.duplicates = events.duplicates;
    joined.complete = !pass.aborted();
    joined
}

/// See [`Trace::counters`].
pub(crate) fn counters<S: CounterSweep>(
    trace: &Trace,
    control: &Control,
    mut make: impl FnMut() -> S,
) -> Result<(S, ScanReport), ScanError> {
    'pass: for pass_number in 1.. {
        let (_, longest) = limits(trace);
        let mut sink = make();
        let mut all = Tally::default();
        let mut rows = RowCounts::default();
        for ((data, process), longest) in trace.data.iter().zip(&trace.processes).zip(&longest) {
            if !process.has.counters || !process.has.dispatches {
                continue;
            }
            let pass = Pass::new(trace, 2);
            let (Some(cells), Some(inner)) =
                (CellReader::new(data, pass.buffer), Reader::new(trace, data, *longest, pass.buffer))
            else {
                continue;
            };
            let many = data
                .set
                .get("pmc_event")
                .is_some_and(|table| data.cursor(table, data.file.page_size).estimated_rows() > MEMORY_ROWS);
            let mode = if many { Mode::Thread } else { Mode::Memory };
            let joined = std::thread::scope(|scope| {
                let dispatches =
                    ordered(scope, &pass, data, DispatchReader { inner, rows: Vec::new() }, mode);
                let cells = ordered(scope, &pass, data, cells, mode);
                join(dispatches, cells, &pass, control, &mut sink)
            });
            if control.stop.load(Ordering::Relaxed) {
                return Err(ScanError::Cancelled);
            }
            if let Some(error) = pass.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(error);
            }
            if !joined.complete && pass_number < PASSES {
                continue 'pass;
            }
            let mut aside = 0;
            let mut tally = Tally::default();
            for (_, slot, part) in pass.tallies.into_inner().unwrap_or_else(PoisonError::into_inner) {
                if slot == CellReader::SLOT {
                    rows.counter_values += part.delivered;
                    tally.join(part);
                } else {
                    rows.dispatches += part.delivered;
                    aside += part.left_out() + part.suspects.len() as u64;
                    tally.damaged_pages += part.damaged_pages;
                    tally.damaged_rows += part.damaged_rows;
                }
            }
            rows.counter_values = rows.counter_values.saturating_sub(joined.duplicates);
            for _ in 0..joined.duplicates.min(1) {
                tally.duplicate_values.note(|| format!("process {}", process.guid));
            }
            tally.duplicate_values.count = joined.duplicates;
            let lost = joined.orphans.saturating_sub(aside);
            if lost > 0 {
                tally.dangling("dispatch", "counter values", 0, i64::try_from(lost).unwrap_or(i64::MAX));
                tally.dangling.entry("dispatch").or_default().count = lost;
            }
            settle(
                trace,
                std::iter::once((Arc::clone(&data.file), tally.damaged_pages + tally.damaged_rows)),
            )?;
            all.join(tally);
        }
        rows.left_out = all.left_out();
        let mut report = ScanReport { rows, ..ScanReport::default() };
        all.report(&mut report.health);
        return Ok((sink, report));
    }
    Err(ScanError::Cancelled)
}
