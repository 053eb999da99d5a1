//! Packs counters into passes the hardware accepts: first fit over the events of each block.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::counters::{Column, Resolved, resolve};

/// Counters that get a pass of their own when memory counters are isolated: their events crowd the L2 block, and a run
/// that measures bytes alone is the least disturbed.
pub const ISOLATED: [&str; 2] = ["FETCH_SIZE", "WRITE_SIZE"];

struct Counter<'a> {
    /// Place in the request.
    place: usize,
    name: &'a str,
    events: BTreeSet<(&'static str, &'static str)>,
    accumulates: bool,
}

#[derive(Default)]
struct Pass<'a> {
    counters: Vec<(usize, &'a str)>,
    events: BTreeSet<(&'static str, &'static str)>,
    accumulates: bool,
}

impl<'a> Pass<'a> {
    fn accepts(&self, counter: &Counter<'_>, column: Column) -> bool {
        !(self.accumulates && counter.accumulates)
            && fits(
                self.events.union(&counter.events).copied(),
                self.accumulates || counter.accumulates,
                column,
            )
    }

    fn add(&mut self, counter: Counter<'a>) {
        self.counters.push((counter.place, counter.name));
        self.events.extend(counter.events);
        self.accumulates |= counter.accumulates;
    }
}

/// Passes for counters in the order of the request, each name once. A counter that the GPU lacks, or that alone needs
/// more than a pass has, is left out. With `isolate_memory` each of [`ISOLATED`] comes last in a pass of its own.
pub fn pack<'a>(counters: &[&'a str], column: Column, isolate_memory: bool) -> Vec<Vec<&'a str>> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut wanted: Vec<Counter<'a>> = counters
        .iter()
        .enumerate()
        .filter(|(_, name)| seen.insert(name))
        .filter_map(|(place, name)| {
            let found = resolve(name).filter(|found| found.available(column))?;
            let counter = counter(place, name, &found, column);
            fits(counter.events.iter().copied(), counter.accumulates, column).then_some(counter)
        })
        .collect();
    let alone = |counter: &Counter<'_>| isolate_memory && ISOLATED.contains(&counter.name);
    let isolated: Vec<Vec<&str>> =
        wanted.iter().filter(|c| alone(c)).map(|counter| vec![counter.name]).collect();
    wanted.retain(|counter| !alone(counter));
    // Bulky counters first, so that the single events fill the gaps they leave.
    wanted.sort_by_key(|counter| (std::cmp::Reverse(counter.events.len().max(1)), counter.place));

    let mut passes: Vec<Pass<'a>> = Vec::new();
    for counter in wanted {
        match passes.iter_mut().find(|pass| pass.accepts(&counter, column)) {
            Some(pass) => pass.add(counter),
            None => {
                let mut pass = Pass::default();
                pass.add(counter);
                passes.push(pass);
            }
        }
    }
    let in_order = |mut pass: Pass<'a>| {
        pass.counters.sort_unstable();
        pass.counters.into_iter().map(|(_, name)| name).collect()
    };
    passes.into_iter().map(in_order).chain(isolated).collect()
}

fn counter<'a>(place: usize, name: &'a str, found: &Resolved, column: Column) -> Counter<'a> {
    let events =
        found.events(column).into_iter().map(|event| (event.block.as_str(), event.name.as_str())).collect();
    Counter { place, name, events, accumulates: found.accumulates(column).is_some() }
}

/// Whether distinct events stay within every block's limit; an accumulating counter takes one more SQ slot.
fn fits(
    events: impl Iterator<Item = (&'static str, &'static str)>,
    accumulates: bool,
    column: Column,
) -> bool {
    let mut used: BTreeMap<&str, u32> = BTreeMap::new();
    if accumulates {
        used.insert("SQ", 1);
    }
    for (block, _) in events {
        *used.entry(block).or_default() += 1;
    }
    used.into_iter().all(|(block, count)| count <= column.limit(block))
}

#[cfg(test)]
mod tests {
    //! The worked examples of counter validation.

    use super::*;

    const MI300: Column = Column::Gfx942;

    #[test]
    fn worked_examples() {
        let sq: Vec<String> = [
            "SQ_WAVES",
            "SQ_BUSY_CYCLES",
            "SQ_WAVE_CYCLES",
            "SQ_INSTS_VALU",
            "SQ_INSTS_SALU",
            "SQ_INSTS_LDS",
            "SQ_INSTS_MFMA",
            "SQ_WAIT_ANY",
            "SQ_INSTS_SMEM",
        ]
        .map(str::to_owned)
        .to_vec();
        let nine: Vec<&str> = sq.iter().map(String::as_str).collect();
        let sizes: Vec<usize> = pack(&nine, MI300, true).iter().map(Vec::len).collect();
        assert_eq!(sizes, [8, 1]);
        assert_eq!(pack(nine.get(..6).unwrap(), MI300, true).len(), 1);
        assert_eq!(
            pack(&["SQ_WAVES", "GRBM_COUNT", "FETCH_SIZE", "WRITE_SIZE"], MI300, true),
            [vec!["SQ_WAVES", "GRBM_COUNT"], vec!["FETCH_SIZE"], vec!["WRITE_SIZE"]]
        );
        let five_and_three = [
            "TCC_HIT_sum",
            "TCC_MISS_sum",
            "TCC_REQ_sum",
            "TCC_READ_sum",
            "TCC_WRITE_sum",
            "GRBM_COUNT",
            "GRBM_GUI_ACTIVE",
            "GRBM_CPC_BUSY",
        ];
        let sizes: Vec<usize> = pack(&five_and_three, MI300, true).iter().map(Vec::len).collect();
        assert_eq!(sizes, [6, 2]);
        assert_eq!(
            pack(&["FETCH_SIZE", "WRITE_SIZE", "TCC_HIT_sum", "TCC_MISS_sum", "SQ_WAVES"], MI300, false),
            [vec!["FETCH_SIZE", "TCC_HIT_sum", "SQ_WAVES"], vec!["WRITE_SIZE", "TCC_MISS_sum"]]
        );
        assert_eq!(pack(&["FETCH_SIZE", "WRITE_SIZE", "SQ_WAVES"], Column::Gfx90a, false).len(), 1);
        assert!(pack(&["TCC_HIT_sum"], Column::Gfx11, true).is_empty());
        assert!(pack(&[], MI300, true).is_empty());
        assert_eq!(pack(&["SQ_WAVES", "SQ_WAVES"], MI300, true), [vec!["SQ_WAVES"]]);
    }
}
