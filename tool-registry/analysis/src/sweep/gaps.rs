//! Gaps of all GPUs.

use perfxpert_trace::NameIdx;

use super::limits::Limits;
use super::quantile::Durations;
use super::table::Table;
use crate::profile::{CauseTotal, Gap, GapCause};

/// Lengths, the longest and the waits that opened them.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) lengths: Durations,
    pub(crate) largest: Vec<Gap>,
    pub(crate) waits: Table<CauseTotal>,
    /// Short gaps of cause host by GPU: unknown when its processes recorded no calls.
    pub(crate) short_host: Table<CauseTotal>,
}

impl Gaps {
    pub(crate) fn add(&mut self, gap: Gap, wait: Option<NameIdx>, limits: &Limits) {
        self.lengths.push(gap.length);
        if let Some(wait) = wait {
            let total = self.waits.at(wait.get());
            total.count += 1;
            total.total += gap.length;
        }
        if gap.cause == GapCause::Host && gap.length < limits.short_gap {
            let total = self.short_host.at(gap.agent.get());
            total.count += 1;
            total.total += gap.length;
        }
        let key = |gap: &Gap| (std::cmp::Reverse(gap.length), gap.agent, gap.start);
        if self.largest.len() < limits.max_gaps
            || self.largest.last().is_some_and(|last| key(&gap) < key(last))
        {
            let at = self.largest.partition_point(|known| key(known) < key(&gap));
            self.largest.insert(at, gap);
            self.largest.truncate(limits.max_gaps);
        }
    }
}
