//! What follows what on a stream: pairs of kernels with short gaps, and one kernel launched again and again.

use std::collections::HashMap;

use perfxpert_trace::{KernelIdx, ShapeIdx};

use super::limits::Limits;
use super::link::Call;
use super::quantile::Durations;
use super::table::Table;
use crate::profile::{KernelPair, PairGaps, RepeatedKernel};
use crate::units::Nanos;

/// A dispatch of a user kernel on its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) kernel: KernelIdx,
    pub(crate) shape: ShapeIdx,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The last work of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    last: Option<Step>,
    run: u64,
    run_gaps: Nanos,
}

#[derive(Clone, Copy, Debug, Default)]
struct Within {
    count: u64,
    short: u64,
    same_shape: u64,
    gaps: Nanos,
    first: Nanos,
    second: Nanos,
}

#[derive(Clone, Debug)]
struct Pair {
    first: KernelIdx,
    second: KernelIdx,
    within: Vec<Within>,
    gaps: Durations,
}

#[derive(Clone, Copy, Debug, Default)]
struct Repeats {
    runs: u64,
    launches: u64,
    longest: u64,
    gaps: Nanos,
}

/// Pairs and repeats of all streams.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    pairs: Vec<Pair>,
    index: HashMap<(u32, u32), usize>,
    // Programs repeat themselves: the second kernel and pair seen last after each first one, to spare the look-up.
    recent: Table<Option<(u32, usize)>>,
    left_out: HashMap<(u32, u32), ()>,
    repeats: HashMap<u32, Repeats>,
}

impl Sequences {
    /// A user kernel starts on a stream. `call` is the one that launched it.
    pub(crate) fn step(&mut self, stream: &mut Stream, step: Step, call: Option<&Call>, limits: &Limits) {
        let last = stream.last.replace(step);
        let Some(last) = last else {
            stream.run = 1;
            return;
        };
        let gap = (step.start >= last.end).then(|| Nanos::between(last.end, step.start));
        let tight = limits.pair_gaps.first().copied().unwrap_or_default();
        if last.kernel == step.kernel {
            if let (true, Some(gap)) = (last.shape == step.shape, gap.filter(|&gap| gap <= tight)) {
                stream.run += 1;
                stream.run_gaps += gap;
                return;
            }
            self.end_run(stream, last.kernel, limits);
            return;
        }
        self.end_run(stream, last.kernel, limits);
        let widest = limits.pair_gaps.last().copied().unwrap_or_default();
        let Some(gap) = gap.filter(|&gap| gap <= widest) else { return };
        // The host waited for the earlier kernel before it launched the later one: they cannot become one.
        if call.is_some_and(|call| call.waited.0 <= last.end && last.end <= call.waited.1) {
            return;
        }
        let Some(pair) = self.pair(last.kernel, step.kernel, limits) else { return };
        let (first, second) = (Nanos::between(last.start, last.end), Nanos::between(step.start, step.end));
        pair.gaps.push(gap);
        for (within, &bound) in pair.within.iter_mut().zip(&limits.pair_gaps) {
            if gap <= bound {
                within.count += 1;
                within.short += u64::from(first < limits.short_kernel && second < limits.short_kernel);
                within.same_shape += u64::from(last.shape == step.shape);
                within.gaps += gap;
                within.first += first;
                within.second += second;
            }
        }
    }

    /// Other work on the stream: nothing before it can be fused with anything after it.
    pub(crate) fn interrupt(&mut self, stream: &mut Stream, limits: &Limits) {
        if let Some(last) = stream.last.take() {
            self.end_run(stream, last.kernel, limits);
        }
    }

    fn end_run(&mut self, stream: &mut Stream, kernel: KernelIdx, limits: &Limits) {
        let (launches, gaps) = (stream.run, stream.run_gaps);
        stream.run = 1;
        stream.run_gaps = Nanos::ZERO;
        if launches >= limits.repeat_run {
            let repeats = self.repeats.entry(kernel.0).or_default();
            repeats.runs += 1;
            repeats.launches += launches;
            repeats.longest = repeats.longest.max(launches);
            repeats.gaps += gaps;
        }
    }

    fn pair(&mut self, first: KernelIdx, second: KernelIdx, limits: &Limits) -> Option<&mut Pair> {
        let recent = self.recent.at(first.get());
        if let Some((known, at)) = *recent
            && known == second.0
        {
            return self.pairs.get_mut(at);
        }
        let key = (first.0, second.0);
        let at = match self.index.get(&key) {
            Some(&at) => at,
            None if self.pairs.len() >= limits.max_pairs => {
                if self.left_out.len() < limits.max_pairs {
                    self.left_out.insert(key, ());
                }
                return None;
            }
            None => {
                let within = vec![Within::default(); limits.pair_gaps.len()];
                self.pairs.push(Pair { first, second, within, gaps: Durations::default() });
                let at = self.pairs.len() - 1;
                self.index.insert(key, at);
                at
            }
        };
        *recent = Some((second.0, at));
        self.pairs.get_mut(at)
    }

    /// Pairs, how many distinct ones were left out, and repeated kernels.
    pub(crate) fn finish(mut self, limits: &Limits) -> (Vec<KernelPair>, u64, Vec<RepeatedKernel>) {
        let left_out = self.left_out.len() as u64;
        let pairs = self
            .pairs
            .iter_mut()
            .map(|pair| {
                pair.gaps.settle();
                let within = pair.within.iter().zip(&limits.pair_gaps).map(|(within, &max_gap)| PairGaps {
                    max_gap,
                    count: within.count,
                    short: within.short,
                    same_shape: within.same_shape,
                    gaps: within.gaps,
                    median_gap: pair.gaps.median_up_to(max_gap.0).unwrap_or_default(),
                    first_total: within.first,
                    second_total: within.second,
                });
                KernelPair { first: pair.first, second: pair.second, within: within.collect() }
            })
            .collect();
        let repeated = self
            .repeats
            .iter()
            .map(|(&kernel, repeats)| RepeatedKernel {
                kernel: KernelIdx(kernel),
                runs: repeats.runs,
                launches: repeats.launches,
                longest: repeats.longest,
                gaps: repeats.gaps,
            })
            .collect();
        (pairs, left_out, repeated)
    }
}
