//! Puts together the runs of a dispatch that was replayed for more counters.

use perfxpert_trace::{CounterValue, Dispatch};

use super::collect::{Rule, combined};

/// Dispatches looked back for another run of the same one. A profiler replays a dispatch at once, so runs lie close.
const WINDOW: u64 = 4096;

/// One counter of one dispatch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// Position in the trace's catalogue.
    pub(super) counter: u32,
    /// Runs that carry it.
    pub(super) runs: u32,
    pub(super) rows: u64,
    /// Sum over the runs.
    pub(super) sum: f64,
    /// Sum over the runs of the largest instance.
    pub(super) peak: f64,
    /// Most instances of a run.
    pub(super) instances: u32,
}

impl Value {
    pub(super) fn mean(&self) -> f64 {
        self.sum / f64::from(self.runs.max(1))
    }

    pub(super) fn mean_peak(&self) -> f64 {
        self.peak / f64::from(self.runs.max(1))
    }
}

/// A dispatch with the counters of all its runs so far.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) dispatch: Dispatch,
    pub(super) runs: u32,
    /// Summed durations of the runs, ns.
    pub(super) time: u64,
    /// Ascending by counter.
    pub(super) values: Vec<Value>,
}

impl Pending {
    fn same(&self, other: &Dispatch) -> bool {
        let own = &self.dispatch;
        own.dispatch_id == other.dispatch_id
            && own.process == other.process
            && own.agent == other.agent
            && own.kernel == other.kernel
            && own.shape == other.shape
    }
}

/// The last dispatches, one per slot; a slot is freed when a dispatch with another id needs it.
#[derive(Default)]
pub(super) struct Recent {
    slots: Vec<Option<Box<Pending>>>,
    spare: Option<Box<Pending>>,
}

impl Recent {
    /// Adds a run. Returns the dispatch that is now known to be complete, if any.
    pub(super) fn add(
        &mut self,
        dispatch: &Dispatch,
        values: &[CounterValue],
        rules: &[Rule],
    ) -> Option<Box<Pending>> {
        if self.slots.is_empty() {
            self.slots.resize_with(usize::try_from(WINDOW).unwrap_or(1), || None);
        }
        let at = usize::try_from(dispatch.dispatch_id.unsigned_abs() % WINDOW).ok()?;
        let slot = self.slots.get_mut(at)?;
        let ns = dispatch.end.abs_diff(dispatch.start);
        // Id 0 is what files without dispatch ids say: it names nothing.
        if let Some(known) = slot.as_mut().filter(|known| dispatch.dispatch_id != 0 && known.same(dispatch)) {
            known.runs = known.runs.saturating_add(1);
            known.time = known.time.saturating_add(ns);
            for value in values {
                add_value(&mut known.values, value, rules);
            }
            return None;
        }
        let mut fresh = self.spare.take().unwrap_or_else(|| {
            Box::new(Pending { dispatch: *dispatch, runs: 1, time: ns, values: Vec::new() })
        });
        fresh.dispatch = *dispatch;
        fresh.runs = 1;
        fresh.time = ns;
        fresh.values.clear();
        fresh.values.extend(values.iter().map(|value| first(value, rules)));
        slot.replace(fresh)
    }

    /// Takes the memory of a dispatch back, for the next one.
    pub(super) fn recycle(&mut self, complete: Box<Pending>) {
        self.spare = Some(complete);
    }

    /// Hands over every dispatch that is still open.
    pub(super) fn drain(&mut self, mut done: impl FnMut(&Pending)) {
        for slot in &mut self.slots {
            if let Some(complete) = slot.take() {
                done(&complete);
            }
        }
    }
}

fn first(value: &CounterValue, rules: &[Rule]) -> Value {
    Value {
        counter: value.counter.0,
        runs: 1,
        rows: u64::from(value.instances),
        sum: combined(value, rules),
        peak: value.max,
        instances: value.instances,
    }
}

fn add_value(known: &mut Vec<Value>, value: &CounterValue, rules: &[Rule]) {
    match known.binary_search_by_key(&value.counter.0, |known| known.counter) {
        Ok(at) => {
            if let Some(sum) = known.get_mut(at) {
                sum.runs = sum.runs.saturating_add(1);
                sum.rows += u64::from(value.instances);
                sum.sum += combined(value, rules);
                sum.peak += value.max;
                sum.instances = sum.instances.max(value.instances);
            }
        }
        Err(at) => known.insert(at, first(value, rules)),
    }
}
