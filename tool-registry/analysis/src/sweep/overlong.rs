//! Dispatches that seem to run on while later work of their queue comes and goes: their end was never recorded.
//!
//! Queues may run kernels side by side, so a long kernel around short ones proves nothing. A dispatch is doubted only when
//! many later dispatches of its queue lie wholly inside it, these follow each other without overlap, and it lasts many
//! times the median of its own kernel.

use perfxpert_trace::{Dispatch, KernelIdx, ProcessIdx};

use super::limits::Limits;
use crate::units::Nanos;

/// A dispatch whose end is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) process: ProcessIdx,
    pub(crate) row: i64,
    pub(crate) kernel: KernelIdx,
    pub(crate) length: Nanos,
    /// Start of the first later dispatch inside it: where its work must have been over.
    pub(crate) clip: i64,
    pub(crate) start: i64,
    followers: u64,
    last_end: i64,
    serial: bool,
}

/// One hardware queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    widest: Option<Suspect>,
}

/// More are not worth clipping: the file is broken in another way.
const MAX: usize = 4096;

impl Queue {
    /// A dispatch of the queue, in order of start.
    pub(crate) fn dispatch(&mut self, row: &Dispatch, suspects: &mut Vec<Suspect>, limits: &Limits) {
        if let Some(wide) = &mut self.widest
            && row.end < wide.start.saturating_add(i64::try_from(wide.length.0).unwrap_or(i64::MAX))
        {
            if row.start >= wide.last_end {
                wide.followers += 1;
                if wide.followers == 1 {
                    wide.clip = row.start;
                }
            } else {
                wide.serial = false;
            }
            wide.last_end = wide.last_end.max(row.end);
            return;
        }
        self.settle(suspects, limits);
        self.widest = Some(Suspect {
            process: row.process,
            row: row.row,
            kernel: row.kernel,
            length: Nanos::between(row.start, row.end),
            clip: row.end,
            start: row.start,
            followers: 0,
            last_end: i64::MIN,
            serial: true,
        });
    }

    /// No more dispatches will lie inside the widest one.
    pub(crate) fn settle(&mut self, suspects: &mut Vec<Suspect>, limits: &Limits) {
        if let Some(wide) = self.widest.take()
            && wide.serial
            && wide.followers >= limits.overlong_followers
            && suspects.len() < MAX
        {
            suspects.push(wide);
        }
    }
}
