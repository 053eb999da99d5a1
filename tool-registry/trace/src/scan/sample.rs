//! Estimates a process's span from a sample of rows, so that absurdly long rows can be told while streaming.

use crate::model::ProcessIdx;
use crate::open::ProcessData;
use crate::pages::Layout;

use super::tally::Span;

/// Leaves sampled per table.
const LEAVES: usize = 48;
/// Rows are absurd when they are longer than this many times the span of all others, and there are at least
/// [`MIN_OTHERS`] others.
pub(super) const SPAN_FACTOR: i64 = 10;
/// See [`SPAN_FACTOR`].
pub(super) const MIN_OTHERS: u64 = 100;
const FAR: i64 = 1 << 62;
const DAY: i64 = 86_400_000_000_000;

/// Spans of a process's tables as sampled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampled {
    /// Span of the rows whose length is beyond doubt; empty when there are too few.
    pub(super) span: Span,
}

impl Sampled {
    /// The longest duration taken for real while streaming, ns.
    pub(super) fn longest(&self) -> i64 {
        if self.span.count < MIN_OTHERS { i64::MAX } else { self.span.length().saturating_mul(SPAN_FACTOR) }
    }
}

/// Samples dispatches, copies and regions of one process.
pub(super) fn sample(data: &ProcessData) -> Sampled {
    let mut rows: Vec<(i64, i64)> = Vec::new();
    for base in ["kernel_dispatch", "memory_copy", "region"] {
        let Some(table) = data.set.get(base) else { continue };
        let mut layout = Layout::new(&table.columns, &["start", "end"]);
        let mut values = layout.values();
        data.cursor(table, data.file.page_size).spread(LEAVES, |cursor| {
            for cell in 0..cursor.leaf().map_or(0, |leaf| leaf.cells()) {
                let Some(row) = cursor.row(cell) else { continue };
                if !layout.decode(row.id, row.local, row.local_len, &mut values) {
                    continue;
                }
                let at = |slot: usize| values.get(slot).and_then(|value| value.int()).unwrap_or(0);
                let (start, end) = (at(0), at(1));
                if start > 0 && end >= start && end < FAR && end - start <= DAY {
                    rows.push((end - start, start));
                }
            }
        });
    }
    rows.sort_unstable();
    let mut span = Span::default();
    for (duration, start) in rows {
        if span.count >= MIN_OTHERS && duration > span.length().saturating_mul(SPAN_FACTOR) {
            break;
        }
        span.add(start, start + duration);
    }
    tracing::debug!(
        process = ProcessIdx::get(data.index),
        rows = span.count,
        length = span.length(),
        "sampled"
    );
    Sampled { span }
}
