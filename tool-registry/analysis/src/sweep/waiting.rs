//! Host calls as one GPU sees them: which are open while it has nothing to do, and why it has nothing to do.

use super::cover::{HoleCover, Owned, Owners};
use super::limits::Limits;
use super::link::Call;
use crate::profile::{CallClass, GapCause};
use crate::units::Nanos;

#[derive(Clone, Copy, Debug)]
struct Wait {
    end: i64,
    name: u32,
}

const NO_WAIT: Wait = Wait { end: i64::MIN, name: 0 };

/// Calls of the processes that use a GPU, relative to its current gap. A gap begins where the GPU's busy time ends, which is
/// not known to be final until later work or a later call starts: everything is kept relative to that end and cut when it moves.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    owners: Owners<u32>,
    launch: HoleCover,
    alloc: HoleCover,
    module: HoleCover,
    copy: HoleCover,
    /// The longest-lasting blocking call open at the begin of the gap.
    at_start: Wait,
    /// The longest-lasting blocking call of all.
    latest: Wait,
    /// Covered so far by any call.
    covered: Nanos,
    /// The call that covers most so far.
    longest: Option<(Nanos, u32)>,
}

/// A finished gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed {
    pub(crate) cause: GapCause,
    /// The call that covers most.
    pub(crate) call: Option<u32>,
    /// The blocking call, for [`GapCause::Sync`].
    pub(crate) wait: Option<u32>,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self {
            owners: Owners::new(),
            launch: HoleCover::default(),
            alloc: HoleCover::default(),
            module: HoleCover::default(),
            copy: HoleCover::default(),
            at_start: NO_WAIT,
            latest: NO_WAIT,
            covered: Nanos::ZERO,
            longest: None,
        }
    }

    /// A call starts; `exposed` receives stretches of waiting time with the call they belong to.
    pub(crate) fn call(
        &mut self,
        (start, end): (i64, i64),
        name: u32,
        class: CallClass,
        blocking: bool,
        mut exposed: impl FnMut(Owned<u32>),
    ) {
        let base = self.owners.base();
        if end <= base {
            return;
        }
        if blocking {
            if end > self.latest.end {
                self.latest = Wait { end, name };
            }
            if start <= base && end > self.at_start.end {
                self.at_start = Wait { end, name };
            }
        }
        match class {
            CallClass::Launch => self.launch.add(base, start, end),
            CallClass::Alloc => self.alloc.add(base, start, end),
            CallClass::Module => self.module.add(base, start, end),
            CallClass::Copy if !blocking => self.copy.add(base, start, end),
            CallClass::Copy | CallClass::Sync | CallClass::Other => {}
        }
        let (covered, longest) = (&mut self.covered, &mut self.longest);
        self.owners.open(start, end, name, |owned| {
            note(covered, longest, base, owned);
            exposed(owned);
        });
    }

    /// Work starts at `end` after a gap from the base; decides why there was a gap.
    pub(crate) fn close(
        &mut self,
        end: i64,
        launched_by: Option<&Call>,
        limits: &Limits,
        mut exposed: impl FnMut(Owned<u32>),
    ) -> Closed {
        let start = self.owners.base();
        let (covered, longest) = (&mut self.covered, &mut self.longest);
        self.owners.settle_until(end, |owned| {
            note(covered, longest, start, owned);
            exposed(owned);
        });
        let length = Nanos::between(start, end);
        let most = |covered: Nanos| covered.as_f64() >= limits.gap_cover * length.as_f64();
        let lead = i64::try_from(limits.queue_lead.0).unwrap_or(i64::MAX);
        let waited = Nanos::between(start, self.at_start.end.min(end));
        let cause = if launched_by.is_some_and(|call| call.end.saturating_add(lead) <= start) {
            GapCause::Queued
        } else if self.at_start.end > start && (most(waited) || length < limits.short_gap) {
            GapCause::Sync
        } else if most(self.launch.until(end)) {
            GapCause::Launch
        } else if most(self.alloc.until(end)) {
            GapCause::Alloc
        } else if most(self.module.until(end)) {
            GapCause::Module
        } else if most(self.copy.until(end)) {
            GapCause::CopyCall
        } else if most(self.covered) {
            GapCause::ApiOther
        } else {
            GapCause::Host
        };
        Closed {
            cause,
            call: self.longest.map(|(_, name)| name),
            wait: (cause == GapCause::Sync).then_some(self.at_start.name),
        }
    }

    /// The GPU is busy up to `base` from now on.
    pub(crate) fn restart(&mut self, base: i64) {
        self.owners.cover(base);
        self.launch.restart(base);
        self.alloc.restart(base);
        self.module.restart(base);
        self.copy.restart(base);
        self.at_start = if self.latest.end > base { self.latest } else { NO_WAIT };
        self.covered = Nanos::ZERO;
        self.longest = None;
    }
}

fn note(covered: &mut Nanos, longest: &mut Option<(Nanos, u32)>, base: i64, owned: Owned<u32>) {
    *covered += Nanos::between(owned.start, owned.end);
    let reach = Nanos::between(owned.since.max(base), owned.end);
    if longest.is_none_or(|(best, _)| reach > best) {
        *longest = Some((reach, owned.owner));
    }
}
