//! Per-kernel totals of a sweep.

use std::collections::HashMap;

use perfxpert_trace::{Dispatch, ShapeIdx, SymbolIdx};

use super::catalog::KernelTraits;
use super::limits::Limits;
use super::quantile::Durations;
use crate::profile::{LaunchShape, ShortKernels};
use crate::units::Nanos;

/// One kernel over all GPUs.
#[derive(Clone, Debug, Default)]
pub(crate) struct KernelStats {
    pub(crate) traits: Option<KernelTraits>,
    /// Calls the filter kept.
    pub(crate) kept: Durations,
    /// Calls it dropped.
    pub(crate) dropped: Durations,
    pub(crate) calls: u64,
    pub(crate) total: Nanos,
    pub(crate) clipped: u64,
    pub(crate) short: ShortKernels,
    pub(crate) first: Option<Nanos>,
    pub(crate) shapes: Shapes,
}

impl KernelStats {
    pub(crate) fn call(&mut self, row: &Dispatch, length: Nanos, min_duration: Nanos, limits: &Limits) {
        self.calls += 1;
        self.total += length;
        if length >= min_duration {
            self.kept.push(length);
            self.first.get_or_insert(length);
        } else {
            self.dropped.push(length);
        }
        if length < limits.short_kernel {
            self.short.count += 1;
            self.short.total += length;
        }
        self.shapes.call(row.symbol, row.shape, length, limits);
    }
}

/// Launch shapes of one kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    rows: Vec<LaunchShape>,
    index: HashMap<(u32, u32), usize>,
    last: usize,
}

/// Up to this many a plain scan is faster than a map.
const SCAN: usize = 8;

impl Shapes {
    fn call(&mut self, symbol: SymbolIdx, shape: ShapeIdx, length: Nanos, limits: &Limits) {
        let same = |row: &LaunchShape| row.symbol == symbol && row.shape == shape;
        if let Some(row) = self.rows.get_mut(self.last).filter(|row| same(row)) {
            row.calls += 1;
            row.total += length;
            return;
        }
        let known = if self.rows.len() <= SCAN {
            self.rows.iter().position(same)
        } else {
            self.index.get(&(symbol.0, shape.0)).copied()
        };
        if let Some(row) = known.and_then(|at| self.rows.get_mut(at)) {
            row.calls += 1;
            row.total += length;
            self.last = known.unwrap_or_default();
            return;
        }
        // Grids that differ at every launch must not fill the memory.
        if self.rows.len() >= limits.max_shapes.saturating_mul(8) {
            return;
        }
        self.last = self.rows.len();
        self.rows.push(LaunchShape { symbol, shape, calls: 1, total: length });
        if self.rows.len() > SCAN {
            if self.index.is_empty() {
                self.index
                    .extend(self.rows.iter().enumerate().map(|(at, row)| ((row.symbol.0, row.shape.0), at)));
            } else {
                self.index.insert((symbol.0, shape.0), self.last);
            }
        }
    }

    /// The most frequent first, and the number of distinct shapes.
    pub(crate) fn finish(mut self, limits: &Limits) -> (Vec<LaunchShape>, u64) {
        let mut shapes: Vec<ShapeIdx> = self.rows.iter().map(|row| row.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        self.rows
            .sort_by(|a, b| b.calls.cmp(&a.calls).then(a.symbol.cmp(&b.symbol)).then(a.shape.cmp(&b.shape)));
        self.rows.truncate(limits.max_shapes);
        (self.rows, shapes.len() as u64)
    }
}
