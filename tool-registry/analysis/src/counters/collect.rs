//! One pass over the counters of a trace.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use perfxpert_knowledge::counters::{Combine, combine, never_zero};
use perfxpert_knowledge::thresholds;
use perfxpert_trace::{
    AgentIdx, Control, CounterSweep, CounterValue, Dispatch, KernelIdx, ScanError, ScanReport, ShapeIdx,
    Trace,
};

use super::finish::finish;
use super::replay::{Pending, Recent, Value};
use super::{Cell, CounterProfile};
use crate::gpu::{self, Gpu};

/// Launch shapes kept apart per kernel and device; further ones are taken together.
const MAX_SHAPES: usize = 256;
/// Sets of counters kept apart; dispatches with further ones are taken together.
const MAX_SETS: usize = 512;
/// Set of the dispatches beyond [`MAX_SETS`].
pub(super) const MIXED: u32 = u32::MAX;
/// Examples of one finding.
const EXAMPLES: usize = 3;

/// How a counter's rows become the value of a dispatch, and whether it can be 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) combine: Combine,
    /// A clock of the whole dispatch: cycles while its counters ran.
    pub(super) clock: bool,
    pub(super) never_zero: bool,
}

impl Rule {
    fn of(name: &str) -> Self {
        Self {
            combine: combine(name),
            clock: matches!(name, "GRBM_COUNT" | "GRBM_GUI_ACTIVE"),
            never_zero: never_zero().iter().any(|known| known == name),
        }
    }
}

/// The value of a dispatch from its instances.
pub(super) fn combined(value: &CounterValue, rules: &[Rule]) -> f64 {
    match rules.get(value.counter.get()).map_or(Combine::Sum, |rule| rule.combine) {
        Combine::Sum => value.sum,
        Combine::Max => value.max,
        Combine::Min => value.min,
        Combine::Mean => value.sum / f64::from(value.instances.max(1)),
    }
}

/// Whether the cycles a dispatch counted can be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Clock {
    /// They can, or were not counted.
    Fine,
    /// They can, and stand in one row on a GPU of several dies.
    Single,
    /// Only as the sum over the dies.
    Summed,
    /// They cannot.
    Impossible,
    /// A counter that is never 0 reads 0.
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) kernel: KernelIdx,
    pub(super) device: u32,
    /// `NONE` beyond the limit.
    pub(super) shape: ShapeIdx,
    pub(super) set: u32,
    pub(super) clock: Clock,
}

/// Sums of the dispatches of one key.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) dispatches: u64,
    pub(super) runs: u64,
    /// Mean duration of the runs of each dispatch, added up, ns.
    pub(super) time: u128,
    /// Durations of all runs, added up, ns.
    pub(super) all_time: u128,
    pub(super) replayed: bool,
    /// By counter for a known set in its order, else ascending.
    pub(super) cells: Vec<(u32, Cell)>,
}

/// What the sink gathers.
pub(super) struct Gather<'t> {
    pub(super) trace: &'t Trace,
    /// Only dispatches with this id.
    only: Option<i64>,
    pub(super) rules: Vec<Rule>,
    agents: HashMap<AgentIdx, u32>,
    pub(super) devices: Vec<Gpu>,
    shapes: HashMap<(KernelIdx, u32), Vec<ShapeIdx>>,
    sets: HashMap<Box<[u32]>, u32>,
    /// Sets met in one run, also those of runs that were put together.
    pub(super) pass_sets: HashMap<Box<[u32]>, u64>,
    last_pass: Vec<u32>,
    keys: HashMap<Key, usize>,
    pub(super) groups: Vec<(Key, Sums)>,
    last: Option<(Key, usize)>,
    recent: Recent,
    pub(super) most_runs: u32,
    pub(super) clock_examples: Vec<String>,
    scratch: Vec<u32>,
}

impl<'t> Gather<'t> {
    fn new(trace: &'t Trace, only: Option<i64>) -> Self {
        Self {
            trace,
            only,
            rules: trace.counter_catalogue().iter().map(|counter| Rule::of(&counter.name)).collect(),
            agents: HashMap::new(),
            devices: Vec::new(),
            shapes: HashMap::new(),
            sets: HashMap::new(),
            pass_sets: HashMap::new(),
            last_pass: Vec::new(),
            keys: HashMap::new(),
            groups: Vec::new(),
            last: None,
            recent: Recent::default(),
            most_runs: 0,
            clock_examples: Vec::new(),
            scratch: Vec::new(),
        }
    }

    fn device(&mut self, agent: AgentIdx) -> u32 {
        if let Some(known) = self.agents.get(&agent) {
            return *known;
        }
        let gpu = gpu::of_agent(self.trace, agent, None);
        let at = self.devices.iter().position(|known| same_kind(known, &gpu)).unwrap_or_else(|| {
            self.devices.push(gpu);
            self.devices.len() - 1
        });
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.agents.insert(agent, at);
        at
    }

    fn shape(&mut self, kernel: KernelIdx, device: u32, shape: ShapeIdx) -> ShapeIdx {
        let known = self.shapes.entry((kernel, device)).or_default();
        match known.binary_search(&shape) {
            Ok(_) => shape,
            Err(at) if known.len() < MAX_SHAPES => {
                known.insert(at, shape);
                shape
            }
            Err(_) => ShapeIdx::NONE,
        }
    }

    fn set(&mut self, values: &[Value]) -> u32 {
        self.scratch.clear();
        self.scratch.extend(values.iter().map(|value| value.counter));
        if let Some(known) = self.sets.get(self.scratch.as_slice()) {
            return *known;
        }
        if self.sets.len() >= MAX_SETS {
            return MIXED;
        }
        let fresh = u32::try_from(self.sets.len()).unwrap_or(MIXED);
        self.sets.insert(self.scratch.as_slice().into(), fresh);
        fresh
    }

    fn clock(&mut self, pending: &Pending, device: u32) -> Clock {
        let rule = |value: &Value| self.rules.get(value.counter as usize).copied();
        if pending.values.iter().any(|value| value.mean() == 0.0 && rule(value).is_some_and(|r| r.never_zero))
        {
            return Clock::Zero;
        }
        let clocks = pending.values.iter().filter(|value| rule(value).is_some_and(|rule| rule.clock));
        let Some((cycles, instances)) = clocks
            .map(|value| (value.mean(), value.instances))
            .max_by(|one, other| one.0.total_cmp(&other.0))
        else {
            return Clock::Fine;
        };
        let Some(gpu) = self.devices.get(device as usize) else { return Clock::Fine };
        let dies = gpu.xcc_count.unwrap_or(1).max(1);
        let single = instances == 1 && dies > 1;
        let fine = if single { Clock::Single } else { Clock::Fine };
        let Some(mhz) = gpu.clock_mhz else { return fine };
        let facts = thresholds::health();
        #[expect(clippy::cast_precision_loss, reason = "compared with a limit")]
        let ns = pending.time as f64 / f64::from(pending.runs.max(1));
        #[expect(clippy::cast_precision_loss, reason = "compared with a limit")]
        let window = ns + facts.counter_window_ns as f64;
        let most = window * f64::from(mhz) / 1000.0 * facts.clock_factor;
        if cycles <= most {
            return fine;
        }
        if single && cycles / f64::from(dies) <= most {
            return Clock::Summed;
        }
        if self.clock_examples.len() < EXAMPLES {
            let name = self.trace.kernel(pending.dispatch.kernel);
            self.clock_examples.push(format!(
                "dispatch {} of {}: {cycles:.0} cycles in {ns:.0} ns, at most {most:.0} at {mhz} MHz",
                pending.dispatch.dispatch_id,
                name.map(|kernel| crate::counters::finish::short(&kernel.name)).unwrap_or_default(),
            ));
        }
        Clock::Impossible
    }

    fn add(&mut self, pending: &Pending) {
        let dispatch = &pending.dispatch;
        let device = self.device(dispatch.agent);
        let clock = self.clock(pending, device);
        let key = Key {
            kernel: dispatch.kernel,
            device,
            shape: self.shape(dispatch.kernel, device, dispatch.shape),
            set: self.set(&pending.values),
            clock,
        };
        self.most_runs = self.most_runs.max(pending.runs);
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => match self.keys.entry(key) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(free) => {
                    self.groups.push((key, Sums::default()));
                    *free.insert(self.groups.len() - 1)
                }
            },
        };
        self.last = Some((key, at));
        let Some((_, sums)) = self.groups.get_mut(at) else { return };
        sums.dispatches += 1;
        sums.runs += u64::from(pending.runs);
        sums.time += u128::from(pending.time / u64::from(pending.runs.max(1)));
        sums.all_time += u128::from(pending.time);
        sums.replayed |= pending.runs > 1;
        if key.set != MIXED && sums.cells.len() == pending.values.len() {
            for ((_, cell), value) in sums.cells.iter_mut().zip(&pending.values) {
                cell.add(&one(value));
            }
            return;
        }
        for value in &pending.values {
            match sums.cells.binary_search_by_key(&value.counter, |(counter, _)| *counter) {
                Ok(at) => {
                    if let Some((_, cell)) = sums.cells.get_mut(at) {
                        cell.add(&one(value));
                    }
                }
                Err(at) => sums.cells.insert(at, (value.counter, one(value))),
            }
        }
    }
}

fn one(value: &Value) -> Cell {
    let mean = value.mean();
    Cell { dispatches: 1, rows: value.rows, sum: mean, min: mean, max: mean, peak_sum: value.mean_peak() }
}

/// Whether two GPUs count alike: same architecture, product, size and clock.
pub(super) fn same_kind(one: &Gpu, other: &Gpu) -> bool {
    one.gfx_id == other.gfx_id
        && one.cu_count == other.cu_count
        && one.xcc_count == other.xcc_count
        && one.clock_mhz == other.clock_mhz
        && one.sku.map(|sku| &sku.sku) == other.sku.map(|sku| &sku.sku)
}

impl CounterSweep for Gather<'_> {
    fn counters(&mut self, dispatch: &Dispatch, values: &[CounterValue]) {
        if self.only.is_some_and(|id| id != dispatch.dispatch_id) {
            return;
        }
        let same = self.last_pass.len() == values.len()
            && self.last_pass.iter().zip(values).all(|(last, value)| *last == value.counter.0);
        if !same {
            self.last_pass.clear();
            self.last_pass.extend(values.iter().map(|value| value.counter.0));
            let room = self.pass_sets.len() < MAX_SETS;
            match self.pass_sets.get_mut(self.last_pass.as_slice()) {
                Some(times) => *times += 1,
                None if room => {
                    self.pass_sets.insert(self.last_pass.as_slice().into(), 1);
                }
                None => {}
            }
        }
        if let Some(complete) = self.recent.add(dispatch, values, &self.rules) {
            self.add(&complete);
            self.recent.recycle(complete);
        }
    }
}

/// Reads the counters of a trace once. Memory grows with kernels, launch shapes and counters, not with dispatches.
///
/// # Errors
/// [`ScanError`] of the trace.
pub fn collect(trace: &Trace, control: &Control) -> Result<(CounterProfile, ScanReport), ScanError> {
    gather(trace, None, control)
}

/// As [`collect`], of the dispatches with one id only.
///
/// # Errors
/// [`ScanError`] of the trace.
pub fn collect_dispatch(
    trace: &Trace,
    dispatch_id: i64,
    control: &Control,
) -> Result<(CounterProfile, ScanReport), ScanError> {
    gather(trace, Some(dispatch_id), control)
}

fn gather(
    trace: &Trace,
    only: Option<i64>,
    control: &Control,
) -> Result<(CounterProfile, ScanReport), ScanError> {
    let (mut gather, report) = trace.counters(control, || Gather::new(trace, only))?;
    let mut recent = std::mem::take(&mut gather.recent);
    recent.drain(|pending| gather.add(pending));
    Ok((finish(gather), report))
}
