//! Nesting of host calls of one thread: own time, outermost time and the last wait.

use crate::units::Nanos;

#[derive(Clone, Copy, Debug)]
struct Open {
    start: i64,
    end: i64,
    name: u32,
}

/// What a new call means for the ones around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nested {
    /// Calls that enclose others, and the time they lose to these.
    pub(crate) losses: [Option<(u32, Nanos)>; 2],
    /// The call is outermost for this long.
    pub(crate) outermost: Nanos,
    /// The thread is blocked for this long more.
    pub(crate) blocked: Nanos,
}

/// One host thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    open: Vec<Open>,
    outer_end: i64,
    blocked_end: i64,
    /// The last blocking call that was over when the latest call started.
    pub(crate) waited: (i64, i64),
    pending_wait: (i64, i64),
    /// Whether its process knows of it.
    pub(crate) known: bool,
    /// Where the last dispatch of this thread went.
    pub(crate) last_stream: Option<usize>,
}

impl Default for Thread {
    fn default() -> Self {
        let never = (i64::MIN, i64::MIN);
        Self {
            open: Vec::new(),
            outer_end: i64::MIN,
            blocked_end: i64::MIN,
            waited: never,
            pending_wait: never,
            known: false,
            last_stream: None,
        }
    }
}

/// Deeper nesting than this is not real; it keeps hostile input linear.
const DEPTH: usize = 64;

impl Thread {
    /// Calls that may still be open, as (start, end, name).
    pub(crate) fn open(&self) -> impl Iterator<Item = (i64, i64, u32)> + '_ {
        self.open.iter().map(|open| (open.start, open.end, open.name))
    }

    /// A call begins; calls of the thread come in order of their start.
    pub(crate) fn call(&mut self, start: i64, end: i64, name: u32, blocking: bool) -> Nested {
        while self.open.last().is_some_and(|last| last.end <= start) {
            self.open.pop();
        }
        if self.pending_wait.1 <= start {
            self.waited = self.pending_wait;
        }
        let mut blocked = Nanos::ZERO;
        if blocking {
            blocked = Nanos::between(start.max(self.blocked_end), end);
            self.blocked_end = self.blocked_end.max(end);
            if end >= self.pending_wait.1 {
                self.pending_wait = (start, end);
            }
        }
        let outermost = Nanos::between(start.max(self.outer_end), end);
        self.outer_end = self.outer_end.max(end);
        // Two calls may share a start; the longer one is the outer one, whichever row comes first.
        let inner = self.open.iter().rev().take_while(|open| open.start == start && open.end < end).count();
        let at = self.open.len() - inner;
        let child = self.open.get(at).map_or(Nanos::ZERO, |child| Nanos::between(child.start, child.end));
        let above = at.checked_sub(1).and_then(|above| self.open.get(above)).copied();
        // What the call above had lost to the child it now loses to the whole call.
        let lost =
            above.map(|above| (above.name, Nanos::between(start, end.min(above.end)).saturating_sub(child)));
        let own = (inner > 0).then_some((name, child));
        if self.open.len() < DEPTH && end > start {
            self.open.insert(at, Open { start, end, name });
        }
        Nested { losses: [lost, own], outermost, blocked }
    }
}
