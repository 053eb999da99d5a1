//! Turns the sums of a pass into a profile: what cannot be true is put aside, indices of the trace become names.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_trace::Shape;

use super::collect::{Clock, Gather, Key, MIXED, Sums};
use super::{Cell, CounterProfile, Group, KernelCounters, PutAside, Unmatched};
use crate::profile::Text;
use crate::units::Nanos;

/// How the clock counters of one device stand in the file.
#[derive(Clone, Copy, Debug, Default)]
struct Clocks {
    plausible: u64,
    single: u64,
    summed: u64,
    impossible: u64,
}

impl Clocks {
    /// Single rows are sums over the dies: as values of one die most of them would be impossible.
    fn sums_in_rows(self) -> bool {
        self.summed > self.single
    }

    fn put_aside(self) -> u64 {
        self.impossible + if self.sums_in_rows() { 0 } else { self.summed }
    }

    /// Impossible clocks are the rule: then the clock is not to be trusted, the other counters are.
    fn untrusted(self) -> bool {
        let single = self.single + if self.sums_in_rows() { self.summed } else { 0 };
        self.put_aside() > self.plausible + single
    }
}

/// What is to be done with the dispatches of a key.
enum Fate {
    Keep,
    DivideClocks,
    DropClocks,
    PutAside,
}

pub(super) fn finish(gather: Gather<'_>) -> CounterProfile {
    let clocks = clocks(&gather);
    let names = names(&gather);
    let at_of: BTreeMap<u32, usize> =
        names.iter().enumerate().map(|(at, (_, counter))| (*counter, at)).collect();
    let zero_counters = zero_counters(&gather, &names);
    let all_zero = !names.is_empty() && zero_counters.len() == names.len();
    let mut profile = CounterProfile {
        names: names.iter().map(|(name, _)| Text::clone(name)).collect(),
        passes: passes(&gather),
        pass_sets: gather
            .pass_sets
            .keys()
            .map(|set| {
                let mut set: Vec<usize> =
                    set.iter().filter_map(|counter| at_of.get(counter).copied()).collect();
                set.sort_unstable();
                set
            })
            .collect(),
        zero_counters,
        put_aside: PutAside {
            clock: clocks.iter().map(|device| device.put_aside()).sum(),
            clock_examples: gather.clock_examples,
            zero: 0,
        },
        unmatched: Unmatched::default(),
        ..CounterProfile::default()
    };
    profile.pass_sets.sort_unstable();
    let mut kernels: BTreeMap<Text, KernelCounters> = BTreeMap::new();
    let mut groups: BTreeMap<(Text, usize, Option<Shape>, Vec<usize>), Group> = BTreeMap::new();
    for (key, sums) in gather.groups {
        let Some(name) = gather.trace.kernel(key.kernel).map(|kernel| Text::clone(&kernel.name)) else {
            continue;
        };
        let time = Nanos(u64::try_from(sums.all_time).unwrap_or(u64::MAX));
        profile.runs += sums.runs;
        profile.time += time;
        let kernel = kernels.entry(Text::clone(&name)).or_insert_with(|| KernelCounters {
            name: Text::clone(&name),
            runs: 0,
            time: Nanos::ZERO,
            groups: Vec::new(),
        });
        kernel.runs += sums.runs;
        kernel.time += time;
        if key.clock == Clock::Zero {
            profile.put_aside.zero += sums.dispatches;
        }
        let device = key.device as usize;
        let state = clocks.get(device).copied().unwrap_or_default();
        let dies = gather.devices.get(device).and_then(|gpu| gpu.xcc_count).unwrap_or(1).max(1);
        let fate = if all_zero { Fate::PutAside } else { fate(key.clock, state) };
        let scale = |counter: u32| -> Option<f64> {
            let clock = gather.rules.get(counter as usize).is_some_and(|rule| rule.clock);
            match fate {
                Fate::PutAside => None,
                Fate::DropClocks if clock => None,
                Fate::DivideClocks if clock => Some(1.0 / f64::from(dies)),
                _ => Some(1.0),
            }
        };
        let mut cells: Vec<(usize, Cell)> = sums
            .cells
            .iter()
            .filter_map(|(counter, cell)| Some((*at_of.get(counter)?, scaled(cell, scale(*counter)?))))
            .collect();
        if cells.is_empty() {
            continue;
        }
        cells.sort_unstable_by_key(|(at, _)| *at);
        let fresh = group(&key, &sums, gather.trace.shape(key.shape), cells);
        let place = (name, device, fresh.shape, fresh.set.clone());
        groups.entry(place).and_modify(|known| join(known, &fresh)).or_insert(fresh);
    }
    for ((name, ..), group) in groups {
        if let Some(kernel) = kernels.get_mut(&name) {
            kernel.groups.push(group);
        }
    }
    profile.kernels = kernels.into_values().collect();
    profile.devices = gather.devices;
    profile
}

fn clocks(gather: &Gather<'_>) -> Vec<Clocks> {
    let mut clocks = vec![Clocks::default(); gather.devices.len()];
    for (key, sums) in &gather.groups {
        let clocked = sums
            .cells
            .iter()
            .any(|(counter, _)| gather.rules.get(*counter as usize).is_some_and(|rule| rule.clock));
        let Some(device) = clocks.get_mut(key.device as usize).filter(|_| clocked) else { continue };
        match key.clock {
            Clock::Fine => device.plausible += sums.dispatches,
            Clock::Single => device.single += sums.dispatches,
            Clock::Summed => device.summed += sums.dispatches,
            Clock::Impossible => device.impossible += sums.dispatches,
            Clock::Zero => {}
        }
    }
    clocks
}

fn fate(clock: Clock, state: Clocks) -> Fate {
    let impossible = if state.untrusted() { Fate::DropClocks } else { Fate::PutAside };
    match clock {
        Clock::Fine => Fate::Keep,
        Clock::Single if state.sums_in_rows() => Fate::DivideClocks,
        Clock::Single => Fate::Keep,
        Clock::Summed if state.sums_in_rows() => Fate::DivideClocks,
        Clock::Summed | Clock::Impossible => impossible,
        Clock::Zero => Fate::PutAside,
    }
}

/// Counters with any value, by name.
fn names(gather: &Gather<'_>) -> Vec<(Text, u32)> {
    let used: BTreeSet<u32> =
        gather.groups.iter().flat_map(|(_, sums)| sums.cells.iter().map(|(counter, _)| *counter)).collect();
    let mut names: Vec<(Text, u32)> = used
        .into_iter()
        .filter_map(|counter| {
            let known = gather.trace.counter(perfxpert_trace::CounterIdx(counter))?;
            Some((Text::clone(&known.name), counter))
        })
        .collect();
    names.sort();
    names
}

/// All counters when all are 0; else those that are 0 throughout although no dispatch can read 0 in them.
fn zero_counters(gather: &Gather<'_>, names: &[(Text, u32)]) -> Vec<Text> {
    let mut largest: BTreeMap<u32, f64> = BTreeMap::new();
    for (counter, cell) in gather.groups.iter().flat_map(|(_, sums)| &sums.cells) {
        let known = largest.entry(*counter).or_default();
        *known = known.max(cell.max);
    }
    let all = largest.values().all(|value| *value == 0.0);
    let never = |counter: &u32| gather.rules.get(*counter as usize).is_some_and(|rule| rule.never_zero);
    names
        .iter()
        .filter(|(_, counter)| largest.get(counter).is_some_and(|value| *value == 0.0))
        .filter(|(_, counter)| all || never(counter))
        .map(|(name, _)| Text::clone(name))
        .collect()
}

/// Sets of counters that are part of no other set, or the most runs of one dispatch.
fn passes(gather: &Gather<'_>) -> u64 {
    let sets: Vec<BTreeSet<u32>> = gather.pass_sets.keys().map(|set| set.iter().copied().collect()).collect();
    let part = |set: &BTreeSet<u32>| sets.iter().any(|other| set.len() < other.len() && set.is_subset(other));
    let whole = sets.iter().filter(|set| !part(set)).count() as u64;
    whole.max(u64::from(gather.most_runs))
}

fn scaled(cell: &Cell, by: f64) -> Cell {
    Cell { sum: cell.sum * by, min: cell.min * by, max: cell.max * by, peak_sum: cell.peak_sum * by, ..*cell }
}

fn group(key: &Key, sums: &Sums, shape: Option<Shape>, cells: Vec<(usize, Cell)>) -> Group {
    let (set, cells) = cells.into_iter().unzip();
    Group {
        device: key.device as usize,
        shape,
        set,
        cells,
        dispatches: sums.dispatches,
        runs: sums.runs,
        time: Nanos(u64::try_from(sums.time).unwrap_or(u64::MAX)),
        replayed: sums.replayed,
        together: key.set != MIXED,
    }
}

/// Adds a group of the same set.
pub(super) fn join(known: &mut Group, other: &Group) {
    known.dispatches += other.dispatches;
    known.runs += other.runs;
    known.time += other.time;
    known.replayed |= other.replayed;
    known.together &= other.together;
    for (cell, more) in known.cells.iter_mut().zip(&other.cells) {
        cell.add(more);
    }
}

/// A name short enough for a message.
pub(super) fn short(name: &str) -> String {
    const LONGEST: usize = 80;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or(name)),
        None => name.to_owned(),
    }
}
