//! Unions, intersections and ownership of intervals that arrive ordered by start, each in constant state.
//!
//! Ahead of the latest start the union of everything seen is one stretch up to the largest end; that is why no list of
//! running intervals is needed.

use std::collections::VecDeque;

use crate::units::Nanos;

/// Length of the union of intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    total: u64,
    end: i64,
}

impl Default for Cover {
    fn default() -> Self {
        Self { total: 0, end: i64::MIN }
    }
}

impl Cover {
    /// Adds an interval; returns the part of it that was not covered before, when there is any.
    #[inline]
    pub(crate) fn add(&mut self, start: i64, end: i64) -> Option<(i64, i64)> {
        if end <= self.end {
            return None;
        }
        let from = start.max(self.end);
        self.end = end;
        self.total = self.total.saturating_add(Nanos::between(from, end).0);
        Some((from, end))
    }

    pub(crate) fn total(&self) -> Nanos {
        Nanos(self.total)
    }

    /// Largest end seen.
    pub(crate) fn end(&self) -> i64 {
        self.end
    }

    /// Length of the part before `instant`, which must not be before the latest start.
    #[inline]
    pub(crate) fn until(&self, instant: i64) -> Nanos {
        Nanos(self.total).saturating_sub(Nanos::between(instant, self.end))
    }
}

/// Time during which at least two intervals overlap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twofold {
    first: i64,
    second: i64,
    total: u64,
}

impl Default for Twofold {
    fn default() -> Self {
        Self { first: i64::MIN, second: i64::MIN, total: 0 }
    }
}

impl Twofold {
    #[inline]
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        // Two or more run from the latest start up to the second largest end.
        let to = end.min(self.first);
        let from = start.max(self.second);
        self.total = self.total.saturating_add(Nanos::between(from, to).0);
        self.second = self.second.max(to);
        self.first = self.first.max(end);
    }

    pub(crate) fn total(&self) -> Nanos {
        Nanos(self.total)
    }
}

/// Time during which intervals of one tag only run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    tag: usize,
    end: i64,
    others: i64,
    seen: i64,
}

impl Default for Alone {
    fn default() -> Self {
        Self { tag: usize::MAX, end: i64::MIN, others: i64::MIN, seen: i64::MIN }
    }
}

impl Alone {
    /// Adds an interval; returns a tag and the time it was alone since the last call.
    #[inline]
    pub(crate) fn add(&mut self, tag: usize, start: i64, end: i64) -> (usize, Nanos) {
        let settled = self.settle(start);
        if tag == self.tag {
            self.end = self.end.max(end);
        } else if end > self.end {
            self.others = self.end;
            (self.tag, self.end) = (tag, end);
        } else {
            self.others = self.others.max(end);
        }
        settled
    }

    /// Time alone up to `instant` since the last call.
    #[inline]
    pub(crate) fn settle(&mut self, instant: i64) -> (usize, Nanos) {
        let alone = Nanos::between(self.seen.max(self.others), instant.min(self.end));
        self.seen = self.seen.max(instant);
        (self.tag, alone)
    }
}

/// A stretch of time and who it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned<T> {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) owner: T,
    /// Start of the owner itself, before it became the first of those open.
    pub(crate) since: i64,
}

/// Time outside a base cover during which owners are open; an instant under several belongs to the one that started first.
///
/// The base (say: a GPU is busy) only ever extends; what lies under it belongs to nobody.
#[derive(Clone, Debug)]
pub(crate) struct Owners<T> {
    base: i64,
    open: VecDeque<Owned<T>>,
}

impl<T: Copy> Owners<T> {
    pub(crate) fn new() -> Self {
        Self { base: i64::MIN, open: VecDeque::new() }
    }

    /// End of the base cover.
    pub(crate) fn base(&self) -> i64 {
        self.base
    }

    /// An owner opens. Stretches that are over by then are handed to `settle`.
    pub(crate) fn open(&mut self, start: i64, end: i64, owner: T, settle: impl FnMut(Owned<T>)) {
        if end <= self.base {
            return;
        }
        if start > self.base {
            self.settle_until(start, settle);
        }
        let from = self.open.back().map_or(self.base, |last| last.end.max(self.base)).max(start);
        if end > from {
            self.open.push_back(Owned { start: from, end, owner, since: start });
        }
    }

    /// Hands over what is owned before `instant` and forgets it.
    pub(crate) fn settle_until(&mut self, instant: i64, mut settle: impl FnMut(Owned<T>)) {
        while let Some(front) = self.open.front_mut() {
            if front.start >= instant {
                return;
            }
            if front.end > instant {
                settle(Owned { end: instant, ..*front });
                front.start = instant;
                return;
            }
            settle(*front);
            self.open.pop_front();
        }
    }

    /// The base cover reaches `end` from now on; what lies before must have been settled.
    pub(crate) fn cover(&mut self, end: i64) {
        self.base = self.base.max(end);
        while let Some(front) = self.open.front_mut() {
            if front.end > self.base {
                front.start = front.start.max(self.base);
                return;
            }
            self.open.pop_front();
        }
    }
}

/// Union of intervals outside a base cover that only ever extends, within the current hole of the base.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoleCover {
    closed: u64,
    start: i64,
    end: i64,
}

impl Default for HoleCover {
    fn default() -> Self {
        Self { closed: 0, start: i64::MIN, end: i64::MIN }
    }
}

impl HoleCover {
    #[inline]
    pub(crate) fn add(&mut self, base: i64, start: i64, end: i64) {
        if end <= base {
            return;
        }
        let start = start.max(base);
        if start > self.end {
            self.closed = self.closed.saturating_add(Nanos::between(self.start, self.end).0);
            self.start = start;
            self.end = end;
        } else {
            self.end = self.end.max(end);
        }
    }

    /// Length covered before `instant`.
    #[inline]
    pub(crate) fn until(&self, instant: i64) -> Nanos {
        Nanos(self.closed) + Nanos::between(self.start, self.end.min(instant))
    }

    /// A new hole begins at `base`.
    pub(crate) fn restart(&mut self, base: i64) {
        self.closed = 0;
        if self.end > base {
            self.start = self.start.max(base);
        } else {
            (self.start, self.end) = (i64::MIN, i64::MIN);
        }
    }
}
