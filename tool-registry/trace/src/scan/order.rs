//! Puts rows in order: within a moving window while they are nearly sorted, else by sorted runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::vec::IntoIter;

use super::spill::{Run, Spill, SpillFile};

/// Rows handed on at once: small enough that their memory is reused, not mapped anew.
pub(super) const BATCH: usize = 1024;

/// A moving window over nearly sorted rows. Holds twice its size, sorts, and lets the earlier half go.
pub(super) struct Window<T, K> {
    size: usize,
    rows: Vec<T>,
    keys: Vec<(K, u32)>,
    last: Option<K>,
    /// Leading rows that are in order already.
    sorted: usize,
    key: fn(&T) -> K,
    /// A row came later than the window reaches: what was let go is out of order.
    pub(super) violated: bool,
}

impl<T: Copy, K: Ord + Copy> Window<T, K> {
    pub(super) fn new(size: usize, key: fn(&T) -> K) -> Self {
        let size = size.max(1);
        Self { size, rows: Vec::new(), keys: Vec::new(), last: None, sorted: 0, key, violated: false }
    }

    /// The buffer new rows are appended to.
    pub(super) fn rows(&mut self) -> &mut Vec<T> {
        &mut self.rows
    }

    pub(super) fn full(&self) -> bool {
        self.rows.len() >= 2 * self.size
    }

    /// Takes the earlier rows, or with `all` every row, in order.
    pub(super) fn release(&mut self, all: bool) -> Vec<T> {
        let count = if all { self.rows.len() } else { self.rows.len().saturating_sub(self.size) };
        let key = self.key;
        let from = self.sorted.saturating_sub(1);
        let released = if self.rows.get(from..).unwrap_or_default().is_sorted_by_key(key) {
            let mut rest = Vec::with_capacity(3 * self.size);
            rest.extend_from_slice(self.rows.get(count..).unwrap_or_default());
            self.rows.truncate(count);
            std::mem::replace(&mut self.rows, rest)
        } else {
            self.keys.clear();
            self.keys.extend(self.rows.iter().enumerate().map(|(at, row)| (key(row), at as u32)));
            // Runs of several queues or threads interleave; the stable sort merges them instead of starting over.
            self.keys.sort();
            let row = |(_, at): &(K, u32)| self.rows.get(*at as usize).copied();
            let released: Vec<T> = self.keys.iter().take(count).filter_map(row).collect();
            let mut rest = Vec::with_capacity(3 * self.size);
            rest.extend(self.keys.iter().skip(count).filter_map(row));
            self.rows = rest;
            released
        };
        self.violated |=
            matches!((self.last, released.first().map(key)), (Some(last), Some(first)) if first < last);
        self.last = released.last().map(key).or(self.last);
        self.sorted = self.rows.len();
        released
    }
}

/// Merges sorted runs of one stream.
pub(super) struct Runs<T, K> {
    file: Arc<SpillFile>,
    runs: Vec<(Run, IntoIter<T>)>,
    heap: BinaryHeap<Reverse<(K, usize)>>,
    heads: Vec<Option<T>>,
    key: fn(&T) -> K,
    rows: usize,
}

impl<T: Spill + Copy, K: Ord + Copy> Runs<T, K> {
    /// `rows`: how many rows of each run to hold.
    pub(super) fn new(
        file: Arc<SpillFile>,
        runs: Vec<Run>,
        rows: usize,
        key: fn(&T) -> K,
    ) -> std::io::Result<Self> {
        let mut merged = Self {
            file,
            heads: runs.iter().map(|_| None).collect(),
            runs: runs.into_iter().map(|run| (run, Vec::new().into_iter())).collect(),
            heap: BinaryHeap::new(),
            key,
            rows: rows.max(16),
        };
        for at in 0..merged.runs.len() {
            merged.advance(at)?;
        }
        Ok(merged)
    }

    fn advance(&mut self, at: usize) -> std::io::Result<()> {
        let Some((run, rows)) = self.runs.get_mut(at) else { return Ok(()) };
        let mut next = rows.next();
        if next.is_none() {
            let mut fresh = Vec::with_capacity(self.rows);
            self.file.read(run, self.rows, &mut fresh)?;
            *rows = fresh.into_iter();
            next = rows.next();
        }
        if let Some(row) = &next {
            self.heap.push(Reverse(((self.key)(row), at)));
        }
        if let Some(head) = self.heads.get_mut(at) {
            *head = next;
        }
        Ok(())
    }

    pub(super) fn next(&mut self) -> std::io::Result<Option<T>> {
        let Some(Reverse((_, at))) = self.heap.pop() else { return Ok(None) };
        let row = self.heads.get_mut(at).and_then(Option::take);
        self.advance(at)?;
        Ok(row)
    }

    /// The next up to [`BATCH`] rows.
    pub(super) fn batch(&mut self) -> std::io::Result<Vec<T>> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            match self.next()? {
                Some(row) => batch.push(row),
                None => break,
            }
        }
        Ok(batch)
    }
}
