//! Turns a reader of one table into an ordered stream: whole in memory, through a window in a thread, or as runs on disk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::vec::IntoIter;

use crate::error::ScanError;
use crate::open::ProcessData;
use crate::trace::Trace;

use super::order::{BATCH, Runs, Window};
use super::rows::{Key, Keyed};
use super::spill::{Run, Spill, SpillFile};
use super::tally::Tally;

/// Memory of all windows, or of all runs while they are merged, bytes.
const WINDOWS: usize = 48 << 20;
/// Memory of all pages read ahead, bytes.
const BUFFERS: usize = 8 << 20;
/// Rows sorted at once for a run, bytes.
const RUN: usize = 16 << 20;
/// Windows to try, rows: a small one stays in the processor's cache, a large one bridges the buffers of several threads.
/// A table that neither can order is written as runs.
const WINDOW_ROWS: [usize; 2] = [4 << 10, 64 << 10];
/// Batches a stream may be ahead.
const AHEAD: usize = 4;

/// Reads one table leaf by leaf.
pub(super) trait Leaves {
    type Row: Keyed + Spill;
    /// Position in [`ProcessData::disorder`].
    const SLOT: usize;
    /// Appends the rows of the next leaf. False at the end, when the last rows have been appended.
    fn leaf(&mut self, out: &mut Vec<Self::Row>) -> bool;
    /// What there is to report, once the end is reached.
    fn finish(self) -> Tally;
}

/// How a stream is put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Whole, in memory.
    Memory,
    /// In a thread: by a window, or by runs when the table is known to be far from ordered.
    Thread,
    /// As runs on disk, written before merging begins.
    Runs,
}

/// What all streams of a pass share.
pub(super) struct Pass<'t> {
    pub(super) trace: &'t Trace,
    /// Set when the pass cannot be used or is not wanted any more.
    abort: AtomicBool,
    spill: Arc<SpillFile>,
    pub(super) failure: Mutex<Option<ScanError>>,
    /// Tallies by process and table slot.
    pub(super) tallies: Mutex<Vec<(usize, usize, Tally)>>,
    streams: usize,
    /// Pages a stream may read ahead of each table it walks, bytes.
    pub(super) buffer: usize,
}

impl<'t> Pass<'t> {
    pub(super) fn new(trace: &'t Trace, streams: usize) -> Self {
        let streams = streams.max(1);
        Self {
            trace,
            abort: AtomicBool::new(false),
            spill: Arc::default(),
            failure: Mutex::default(),
            tallies: Mutex::default(),
            streams,
            // More than this leaves the processor's cache before it is decoded.
            buffer: (BUFFERS / (2 * streams)).clamp(4096, 128 << 10),
        }
    }

    fn fail(&self, data: &ProcessData, error: &std::io::Error) {
        let path = data.file.path.clone();
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(ScanError::Io { path, reason: error.to_string() });
        self.abort();
    }

    pub(super) fn abort(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }

    pub(super) fn aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    fn report<L: Leaves>(&self, data: &ProcessData, reader: L) {
        let tally = reader.finish();
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner).push((data.index.get(), L::SLOT, tally));
    }

    /// Rows of `T` that one stream may hold.
    fn share<T>(&self) -> usize {
        WINDOWS / self.streams / size_of::<T>().max(1)
    }
}

/// Rows of one stream, in order.
pub(super) struct Ordered<T: Keyed + Spill> {
    rows: IntoIter<T>,
    pub(super) head: Option<T>,
    more: More<T>,
}

enum More<T: Keyed + Spill> {
    Nothing,
    Thread(Receiver<Vec<T>>),
    Runs(Box<Runs<T, Key>>),
}

impl<T: Keyed + Spill> Ordered<T> {
    fn new(rows: Vec<T>, more: More<T>) -> Self {
        Self { rows: rows.into_iter(), head: None, more }
    }

    /// An ended stream.
    pub(super) fn empty() -> Self {
        Self::new(Vec::new(), More::Nothing)
    }

    #[inline]
    pub(super) fn step(&mut self) {
        self.head = self.rows.next();
        if self.head.is_none() {
            self.refill();
        }
    }

    fn refill(&mut self) {
        let next = match &mut self.more {
            More::Nothing => None,
            More::Thread(receiver) => receiver.recv().ok(),
            // A run that can no longer be read ends here; the check of the file after the pass says so.
            More::Runs(runs) => runs.batch().ok(),
        };
        match next {
            // Only the last batch can be empty.
            Some(rows) if !rows.is_empty() => {
                self.rows = rows.into_iter();
                self.head = self.rows.next();
            }
            _ => self.more = More::Nothing,
        }
    }
}

/// Reads a table whole and sorts it.
fn whole<L: Leaves>(pass: &Pass<'_>, data: &ProcessData, mut reader: L) -> Vec<L::Row> {
    let mut rows = Vec::new();
    while !pass.aborted() && reader.leaf(&mut rows) {}
    pass.report(data, reader);
    if !rows.is_sorted_by_key(Keyed::key) {
        rows.sort_by_key(Keyed::key);
    }
    rows
}

/// Writes a table as sorted runs.
fn runs<L: Leaves>(pass: &Pass<'_>, data: &ProcessData, mut reader: L) -> std::io::Result<Vec<Run>> {
    let mut runs = Vec::new();
    let capacity = RUN / size_of::<L::Row>();
    let mut rows: Vec<L::Row> = Vec::new();
    loop {
        let more = !pass.aborted() && reader.leaf(&mut rows);
        if rows.len() >= capacity || (!more && !rows.is_empty()) {
            rows.sort_unstable_by_key(Keyed::key);
            runs.push(pass.spill.write(&rows)?);
            rows.clear();
        }
        if !more {
            break;
        }
    }
    pass.report(data, reader);
    Ok(runs)
}

fn merged<T: Keyed + Spill>(pass: &Pass<'_>, runs: Vec<Run>) -> std::io::Result<Runs<T, Key>> {
    let rows = pass.share::<T>() / runs.len().max(1);
    Runs::new(Arc::clone(&pass.spill), runs, rows, T::key)
}

/// Streams a table through a window into `send`.
fn through_window<L: Leaves>(
    pass: &Pass<'_>,
    data: &ProcessData,
    mut reader: L,
    send: &SyncSender<Vec<L::Row>>,
) {
    let level = data.disorder.get(L::SLOT);
    let tried = level.map_or(0, |level| level.load(Ordering::Relaxed));
    let rows = WINDOW_ROWS.get(usize::from(tried)).copied().unwrap_or(BATCH);
    let mut window = Window::new(rows.min(pass.share::<L::Row>() / 3).max(BATCH), L::Row::key);
    loop {
        let more = !pass.aborted() && reader.leaf(window.rows());
        if window.full() || !more {
            let batch = window.release(!more);
            if window.violated {
                if let Some(level) = level {
                    level.store(tried + 1, Ordering::Relaxed);
                }
                pass.abort();
            }
            // The receiver is gone when the pass has ended early.
            if send.send(batch).is_err() {
                return;
            }
        }
        if !more {
            break;
        }
    }
    pass.report(data, reader);
}

/// Streams a table through runs into `send`.
fn through_runs<L: Leaves>(pass: &Pass<'_>, data: &ProcessData, reader: L, send: &SyncSender<Vec<L::Row>>) {
    let result = runs(pass, data, reader).and_then(|runs| {
        let mut merged = merged(pass, runs)?;
        while !pass.aborted() {
            let batch = merged.batch()?;
            if batch.is_empty() || send.send(batch).is_err() {
                break;
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        pass.fail(data, &error);
    }
}

/// Starts or reads a stream.
pub(super) fn ordered<'scope, L: Leaves + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    pass: &'scope Pass<'scope>,
    data: &'scope ProcessData,
    reader: L,
    mode: Mode,
) -> Ordered<L::Row>
where
    L::Row: 'scope,
{
    match mode {
        Mode::Memory => Ordered::new(whole(pass, data, reader), More::Nothing),
        Mode::Thread => {
            let (send, receive) = sync_channel(AHEAD);
            let far = data
                .disorder
                .get(L::SLOT)
                .is_some_and(|level| usize::from(level.load(Ordering::Relaxed)) >= WINDOW_ROWS.len());
            scope.spawn(move || {
                if far {
                    through_runs(pass, data, reader, &send)
                } else {
                    through_window(pass, data, reader, &send)
                }
            });
            Ordered::new(Vec::new(), More::Thread(receive))
        }
        Mode::Runs => match runs(pass, data, reader).and_then(|runs| merged(pass, runs)) {
            Ok(merged) => Ordered::new(Vec::new(), More::Runs(Box::new(merged))),
            Err(error) => {
                pass.fail(data, &error);
                Ordered::empty()
            }
        },
    }
}
