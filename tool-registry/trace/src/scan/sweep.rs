//! One pass over the selected rows of all processes, merged by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread::Scope;

use rayon::prelude::*;

use crate::error::ScanError;
use crate::model::{Allocation, Dispatch, GraphLaunch, MemoryCopy};
use crate::open::ProcessData;
use crate::pages::PagedFile;
use crate::sweep::{Control, RowCounts, ScanReport, Select, Sweep};
use crate::trace::Trace;

use super::pipeline::{Mode, Ordered, Pass, ordered};
use super::rows::{
    Allocations, Copies, Dispatches, Graphs, HostRow, Key, Keyed, Kind, Reader, Regions, Samples, Timed,
};
use super::sample::{MIN_OTHERS, SPAN_FACTOR, Sampled, sample};
use super::spill::Spill;
use super::tally::Tally;

/// Below this much in all, every stream is read whole and sorted in memory, bytes.
const MEMORY: usize = 64 << 20;
/// More streams than this are not given a thread each.
const MAX_THREADS: usize = 24;
/// Passes before disorder or suspects are taken as they are; each pass settles at least one of them.
const MAX_PASSES: usize = 16;

/// A stream of any kind.
enum Stream {
    Dispatches(Ordered<Dispatch>),
    Copies(Ordered<MemoryCopy>),
    Host(Ordered<HostRow>),
    Allocations(Ordered<Allocation>),
    Graphs(Ordered<GraphLaunch>),
}

macro_rules! each {
    ($stream:expr, $rows:ident => $body:expr) => {
        match $stream {
            Stream::Dispatches($rows) => $body,
            Stream::Copies($rows) => $body,
            Stream::Host($rows) => $body,
            Stream::Allocations($rows) => $body,
            Stream::Graphs($rows) => $body,
        }
    };
}

impl Stream {
    fn key(&self) -> Option<Key> {
        each!(self, rows => rows.head.as_ref().map(Keyed::key))
    }

    fn deliver<S: Sweep>(&mut self, limit: Option<Key>, sink: &mut S, budget: &mut u64) {
        each!(self, rows => deliver(rows, limit, sink, budget));
    }
}

/// A table to stream: process, table and its size in memory.
struct Plan {
    process: usize,
    slot: usize,
    bytes: usize,
}

/// Delivers rows while their key is not above `limit`.
fn deliver<T: Timed + Spill, S: Sweep>(
    rows: &mut Ordered<T>,
    limit: Option<Key>,
    sink: &mut S,
    budget: &mut u64,
) {
    while let Some(row) = &rows.head {
        if *budget == 0 || limit.is_some_and(|limit| row.key() > limit) {
            return;
        }
        row.deliver(sink);
        *budget -= 1;
        rows.step();
    }
}

fn open<'scope, K: Kind + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    pass: &'scope Pass<'scope>,
    data: &'scope ProcessData,
    longest: i64,
    mode: Mode,
) -> Ordered<K::Row>
where
    K::Row: 'scope,
{
    Reader::<K>::new(pass.trace, data, longest, pass.buffer)
        .map_or_else(Ordered::empty, |reader| ordered(scope, pass, data, reader, mode))
}

fn stream<'scope>(
    scope: &'scope Scope<'scope, '_>,
    pass: &'scope Pass<'scope>,
    plan: &Plan,
    longest: &[i64],
    mode: Mode,
) -> Option<Stream> {
    let data = pass.trace.data.get(plan.process)?;
    let longest = longest.get(plan.process).copied().unwrap_or(i64::MAX);
    Some(match plan.slot {
        Dispatches::SLOT => Stream::Dispatches(open::<Dispatches>(scope, pass, data, longest, mode)),
        Copies::SLOT => Stream::Copies(open::<Copies>(scope, pass, data, longest, mode)),
        Regions::SLOT => Stream::Host(open::<Regions>(scope, pass, data, longest, mode)),
        Samples::SLOT => Stream::Host(open::<Samples>(scope, pass, data, longest, mode)),
        Allocations::SLOT => Stream::Allocations(open::<Allocations>(scope, pass, data, longest, mode)),
        _ => Stream::Graphs(open::<Graphs>(scope, pass, data, longest, mode)),
    })
}

fn plans(trace: &Trace, select: Select) -> Vec<Plan> {
    let host = select.regions || select.markers || select.instants;
    let mut plans = Vec::new();
    for (process, (data, entry)) in trace.data.iter().zip(&trace.processes).enumerate() {
        let wanted = [
            (
                select.dispatches && entry.has.dispatches,
                Dispatches::SLOT,
                Dispatches::TABLE,
                size_of::<Dispatch>(),
            ),
            (select.copies && entry.has.copies, Copies::SLOT, Copies::TABLE, size_of::<MemoryCopy>()),
            (host && entry.has.regions, Regions::SLOT, Regions::TABLE, size_of::<HostRow>()),
            (
                (select.instants || select.markers) && entry.has.samples,
                Samples::SLOT,
                Samples::TABLE,
                size_of::<HostRow>(),
            ),
            (
                select.allocations && entry.has.allocations,
                Allocations::SLOT,
                Allocations::TABLE,
                size_of::<Allocation>(),
            ),
            (
                select.graph_launches && entry.has.graph_launches,
                Graphs::SLOT,
                Graphs::TABLE,
                size_of::<GraphLaunch>(),
            ),
        ];
        for (wanted, slot, table, size) in wanted {
            if let Some(table) = data.set.get(table)
                && wanted
            {
                let rows = data.cursor(table, data.file.page_size).estimated_rows();
                plans.push(Plan {
                    process,
                    slot,
                    bytes: usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(size),
                });
            }
        }
    }
    plans
}

/// Delivers only what was selected of streams that carry several kinds.
struct Chosen<'s, S> {
    sink: &'s mut S,
    select: Select,
}

impl<S: Sweep> Sweep for Chosen<'_, S> {
    #[inline]
    fn dispatch(&mut self, row: &Dispatch) {
        self.sink.dispatch(row);
    }
    #[inline]
    fn copy(&mut self, row: &MemoryCopy) {
        self.sink.copy(row);
    }
    #[inline]
    fn region(&mut self, row: &crate::model::Region) {
        if self.select.regions {
            self.sink.region(row);
        }
    }
    fn instant(&mut self, row: &crate::model::Region) {
        if self.select.instants {
            self.sink.instant(row);
        }
    }
    fn marker(&mut self, row: &crate::model::Marker) {
        if self.select.markers {
            self.sink.marker(row);
        }
    }
    fn allocation(&mut self, row: &Allocation) {
        self.sink.allocation(row);
    }
    fn graph_launch(&mut self, row: &GraphLaunch) {
        self.sink.graph_launch(row);
    }
}

/// Which stream is next, and how far it may go before another one is.
trait Front {
    fn set(&mut self, stream: usize, key: Option<Key>);
    /// The stream with the smallest key, taken out, and the smallest key of the others.
    fn take(&mut self) -> Option<(usize, Option<Key>)>;
}

/// For a handful of streams: looking at each is cheaper than keeping a heap.
struct Few(Vec<Option<Key>>);

impl Front for Few {
    #[inline]
    fn set(&mut self, stream: usize, key: Option<Key>) {
        if let Some(slot) = self.0.get_mut(stream) {
            *slot = key;
        }
    }

    #[inline]
    fn take(&mut self) -> Option<(usize, Option<Key>)> {
        let mut best: Option<(Key, usize)> = None;
        let mut second: Option<Key> = None;
        for (at, key) in self.0.iter().enumerate() {
            let Some(key) = *key else { continue };
            match best {
                Some((smallest, _)) if key >= smallest => {
                    second = Some(second.map_or(key, |second| second.min(key)));
                }
                _ => {
                    second = best.map(|(key, _)| key).or(second);
                    best = Some((key, at));
                }
            }
        }
        best.map(|(_, at)| (at, second))
    }
}

/// For many streams.
struct Many(BinaryHeap<Reverse<(Key, usize)>>);

impl Front for Many {
    fn set(&mut self, stream: usize, key: Option<Key>) {
        self.0.extend(key.map(|key| Reverse((key, stream))));
    }

    fn take(&mut self) -> Option<(usize, Option<Key>)> {
        let Reverse((_, at)) = self.0.pop()?;
        Some((at, self.0.peek().map(|Reverse((key, _))| *key)))
    }
}

/// Up to this many streams are looked at one by one.
const FEW: usize = 12;

fn merge<S: Sweep>(streams: &mut [Stream], pass: &Pass<'_>, control: &Control, sink: &mut S) -> bool {
    if streams.len() <= FEW {
        merge_by(Few(vec![None; streams.len()]), streams, pass, control, sink)
    } else {
        merge_by(Many(BinaryHeap::new()), streams, pass, control, sink)
    }
}

fn merge_by<S: Sweep>(
    mut front: impl Front,
    streams: &mut [Stream],
    pass: &Pass<'_>,
    control: &Control,
    sink: &mut S,
) -> bool {
    /// Rows between two looks at the controls.
    const STRIDE: u64 = 4096;
    for (at, stream) in streams.iter_mut().enumerate() {
        each!(stream, rows => rows.step());
        front.set(at, stream.key());
    }
    let mut budget = STRIDE;
    while let Some((at, limit)) = front.take() {
        let Some(stream) = streams.get_mut(at) else { continue };
        stream.deliver(limit, sink, &mut budget);
        front.set(at, stream.key());
        if budget == 0 {
            control.rows.fetch_add(STRIDE, Ordering::Relaxed);
            budget = STRIDE;
            if control.stop.load(Ordering::Relaxed) {
                pass.abort();
            }
            if pass.aborted() {
                return false;
            }
        }
    }
    control.rows.fetch_add(STRIDE - budget, Ordering::Relaxed);
    !pass.aborted()
}

/// Judges the suspects of a process once all its rows are known. True: one is valid after all, and the pass must be
/// repeated with a longer limit.
fn judge(data: &ProcessData, sampled: &Sampled, tally: &mut Tally) -> bool {
    let mut span = tally.span;
    span.join(sampled.span);
    let mut suspects = std::mem::take(&mut tally.suspects);
    suspects.sort_by_key(|suspect| (suspect.duration, suspect.row));
    if let Some(first) = suspects.first()
        && (span.count < MIN_OTHERS || first.duration <= span.length().saturating_mul(SPAN_FACTOR))
    {
        data.longest.store(first.duration.max(span.length().saturating_mul(SPAN_FACTOR)), Ordering::Relaxed);
        return true;
    }
    for suspect in suspects {
        tally.absurd.note(|| format!("{} row {}: {} ns", suspect.what, suspect.row, suspect.duration));
    }
    false
}

/// The limits of all processes: sampled once, raised by [`judge`].
pub(super) fn limits(trace: &Trace) -> (Vec<Sampled>, Vec<i64>) {
    let sampled: Vec<Sampled> = trace.data.par_iter().map(sample).collect();
    let longest = trace
        .data
        .iter()
        .zip(&sampled)
        .map(|(data, sampled)| sampled.longest().max(data.longest.load(Ordering::Relaxed)))
        .collect();
    (sampled, longest)
}

/// Checks that no file changed or proved damaged against the options.
pub(super) fn settle(
    trace: &Trace,
    files: impl Iterator<Item = (Arc<PagedFile>, u64)>,
) -> Result<(), ScanError> {
    for (file, damaged) in files {
        if !file.unchanged() {
            return Err(ScanError::Changed { path: file.path.clone() });
        }
        if damaged > 0 && !trace.allow_partial {
            return Err(ScanError::Damaged { path: file.path.clone(), pages: damaged });
        }
    }
    Ok(())
}

/// See [`Trace::sweep`].
pub(crate) fn sweep<S: Sweep>(
    trace: &Trace,
    select: Select,
    control: &Control,
    make: impl FnMut() -> S,
) -> Result<(S, ScanReport), ScanError> {
    sweep_in(trace, select, control, make, None)
}

/// A sweep in a given mode, or in the one its size asks for.
pub(super) fn sweep_in<S: Sweep>(
    trace: &Trace,
    select: Select,
    control: &Control,
    mut make: impl FnMut() -> S,
    mode: Option<Mode>,
) -> Result<(S, ScanReport), ScanError> {
    let plans = plans(trace, select);
    let bytes = plans.iter().fold(0usize, |sum, plan| sum.saturating_add(plan.bytes));
    let mode = mode.unwrap_or(if bytes <= MEMORY {
        Mode::Memory
    } else if plans.len() <= MAX_THREADS {
        Mode::Thread
    } else {
        Mode::Runs
    });
    for attempt in 1.. {
        let (sampled, longest) = limits(trace);
        let pass = Pass::new(trace, plans.len());
        let mut sink = make();
        let finished = std::thread::scope(|scope| {
            let parallel = mode != Mode::Thread;
            let build = |plan: &Plan| stream(scope, &pass, plan, &longest, mode);
            let mut streams: Vec<Stream> = if parallel {
                plans.par_iter().filter_map(build).collect()
            } else {
                plans.iter().filter_map(build).collect()
            };
            merge(&mut streams, &pass, control, &mut Chosen { sink: &mut sink, select })
        });
        if control.stop.load(Ordering::Relaxed) {
            return Err(ScanError::Cancelled);
        }
        if let Some(error) = pass.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        if !finished && attempt < MAX_PASSES {
            continue;
        }
        let tallies = pass.tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(report) = report(trace, &sampled, tallies, attempt >= MAX_PASSES)? else { continue };
        return Ok((sink, report));
    }
    Err(ScanError::Cancelled)
}

/// Joins the tallies of a pass. `None`: the pass must be repeated.
fn report(
    trace: &Trace,
    sampled: &[Sampled],
    mut tallies: Vec<(usize, usize, Tally)>,
    last: bool,
) -> Result<Option<ScanReport>, ScanError> {
    tallies.sort_by_key(|(process, slot, _)| (*process, *slot));
    let mut tallies = tallies.into_iter().peekable();
    let mut report = ScanReport::default();
    let mut rows = RowCounts::default();
    let mut all = Tally::default();
    let mut again = false;
    for (process, data) in trace.data.iter().enumerate() {
        let mut joined = Tally::default();
        while let Some((_, slot, tally)) = tallies.next_if(|(owner, _, _)| *owner == process) {
            let count = match slot {
                Dispatches::SLOT => Dispatches::count(&mut rows),
                Copies::SLOT => Copies::count(&mut rows),
                Regions::SLOT => Regions::count(&mut rows),
                Samples::SLOT => Samples::count(&mut rows),
                Allocations::SLOT => Allocations::count(&mut rows),
                _ => Graphs::count(&mut rows),
            };
            *count += tally.delivered;
            if slot == Dispatches::SLOT {
                rows.dispatches_left_out += tally.left_out();
            }
            joined.join(tally);
        }
        settle(trace, std::iter::once((Arc::clone(&data.file), joined.damaged_pages + joined.damaged_rows)))?;
        if let Some(sampled) = sampled.get(process) {
            again |= judge(data, sampled, &mut joined);
        }
        all.join(joined);
    }
    if again && !last {
        return Ok(None);
    }
    rows.left_out = all.left_out();
    report.rows = rows;
    all.report(&mut report.health);
    Ok(Some(report))
}
