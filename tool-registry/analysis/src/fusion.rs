//! Pairs of kernels that follow each other closely enough for fusion to pay, and kernels launched again and again.

use std::collections::HashMap;

use perfxpert_knowledge::{fusion, thresholds};
use perfxpert_trace::{Control, Dispatch, KernelIdx, MemoryCopy, Region, ScanError, Select, ShapeIdx, Trace};
use sha2::{Digest, Sha256};

use crate::profile::{KernelKind, PairGaps, RepeatedKernel, Text};
use crate::stream_order::{Kinds, Launches, StreamKey, StreamKeys};
use crate::units::Nanos;

/// How often two kernels follow each other, and their summed times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences {
    /// Occurrences.
    pub count: u64,
    /// Those with equal grid and workgroup.
    pub same_shape: u64,
    /// Summed gaps.
    pub gaps: Nanos,
    /// Summed durations of the earlier kernel.
    pub first: Nanos,
    /// Summed durations of the later kernel.
    pub second: Nanos,
}

impl From<&PairGaps> for Occurrences {
    fn from(pair: &PairGaps) -> Self {
        Self {
            count: pair.count,
            same_shape: pair.same_shape,
            gaps: pair.gaps,
            first: pair.first_total,
            second: pair.second_total,
        }
    }
}

/// A pair worth a look.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The earlier kernel's name.
    pub first: Text,
    /// The later kernel's name.
    pub second: Text,
    /// How often, and their times.
    pub seen: Occurrences,
    /// Name of the fusable pattern the names form.
    pub pattern: Option<&'static str>,
    /// Whether nearly all occurrences agree in grid and workgroup.
    pub same_grid: bool,
    /// Summed gaps: what fusion saves at least.
    pub saving_lo: Nanos,
    /// With a pattern also the shorter kernel: a fused pair of bandwidth-bound kernels drops one write and one read of
    /// the intermediate, half of each kernel's traffic when they are equal.
    pub saving_hi: Nanos,
    /// Speed-up of the pair with the low saving, at most the cap.
    pub speedup_lo: f64,
    /// Speed-up of the pair with the high saving, at most the cap.
    pub speedup_hi: f64,
    /// 0 to 1; never high, since data dependence and register pressure are unknown.
    pub confidence: f64,
}

impl Candidate {
    /// Mean of a sum over the occurrences, ns, rounded.
    #[must_use]
    pub fn mean(&self, sum: Nanos) -> u64 {
        let count = self.seen.count.max(1);
        sum.0.saturating_add(count / 2) / count
    }

    /// Mean time of one occurrence, gap included, ns, rounded.
    #[must_use]
    pub fn mean_total(&self) -> u64 {
        self.mean(self.seen.first + self.seen.second + self.seen.gaps)
    }

    /// 12 hex digits that name the pair.
    #[must_use]
    pub fn signature(&self) -> String {
        let digest = Sha256::digest(format!("{}\n{}", self.first, self.second).as_bytes());
        digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Judges a pair from its names and times.
#[must_use]
pub fn judge(first: Text, second: Text, seen: Occurrences) -> Candidate {
    let facts = thresholds::fusion();
    let pattern = fusion::pattern(&first, &second).map(|pattern| pattern.name.as_str());
    #[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
    let alike = seen.same_shape as f64 / seen.count.max(1) as f64;
    let same_grid = seen.count > 0 && alike >= facts.same_shape_share;
    let saving_lo = seen.gaps;
    let saving_hi = if pattern.is_some() { seen.gaps + seen.first.min(seen.second) } else { seen.gaps };
    let total = seen.first + seen.second + seen.gaps;
    let speedup = |saving: Nanos| {
        total.fraction_of(total.saturating_sub(saving)).map_or(1.0, |ratio| ratio.min(facts.speedup_cap))
    };
    let mut confidence = facts.confidence_base;
    for (holds, more) in [
        (pattern.is_some(), facts.confidence_pattern),
        (same_grid, facts.confidence_shape),
        (seen.count >= facts.frequent_count, facts.confidence_count),
    ] {
        confidence += if holds { more } else { 0.0 };
    }
    Candidate {
        speedup_lo: speedup(saving_lo),
        speedup_hi: speedup(saving_hi),
        first,
        second,
        seen,
        pattern,
        same_grid,
        saving_lo,
        saving_hi,
        confidence: confidence.min(facts.confidence_max),
    }
}

/// How much faster a run of `wall` gets without `saving`; `None` when the saving is not below it.
#[must_use]
pub fn program_speedup(saving: Nanos, wall: Nanos) -> Option<f64> {
    wall.fraction_of(wall.saturating_sub(saving))
}

/// What can be fused in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// By high saving descending, then names.
    pub candidates: Vec<Candidate>,
    /// High savings of all of them, a dispatch taking part in one pair only.
    pub program_saving: Nanos,
    /// Kernels launched in long runs, with their names, by launches descending, then name.
    pub repeated: Vec<(Text, RepeatedKernel)>,
    /// Distinct pairs beyond the limit on what is kept.
    pub left_out: u64,
}

/// Searches a run for pairs with gaps up to `max_gap` that occur at least `min_count` times.
///
/// # Errors
/// Those of the trace's sweep.
pub fn find(trace: &Trace, max_gap: Nanos, min_count: u64, control: &Control) -> Result<Found, ScanError> {
    let select = Select { dispatches: true, copies: true, regions: true, ..Select::default() };
    let mut by_stream = Vec::new();
    loop {
        let (search, _) = trace.sweep(select, control, || Search::new(trace, max_gap, &by_stream))?;
        match search.finish(min_count) {
            Ok(found) => return Ok(found),
            Err(again) => by_stream = again,
        }
    }
}

/// Distinct pairs kept.
const PAIRS: usize = 65_536;
/// Marks the end of a chain of pairs.
const END: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Step {
    kernel: KernelIdx,
    shape: ShapeIdx,
    start: i64,
    end: i64,
}

impl Step {
    fn length(&self) -> Nanos {
        Nanos::between(self.start, self.end)
    }
}

#[derive(Debug, Default)]
struct Stream {
    last: Option<Step>,
    chain: Vec<u32>,
    run: u64,
    run_gaps: Nanos,
}

#[derive(Debug)]
struct Pair {
    first: KernelIdx,
    second: KernelIdx,
    patterned: bool,
    seen: Occurrences,
}

#[derive(Clone, Copy, Debug, Default)]
struct Repeats {
    runs: u64,
    launches: u64,
    longest: u64,
    gaps: Nanos,
}

struct Search<'t> {
    trace: &'t Trace,
    max_gap: Nanos,
    keys: StreamKeys<'t>,
    kinds: Kinds<'t>,
    launches: Launches<'t>,
    streams: HashMap<StreamKey, Stream>,
    found: Pairs<'t>,
}

/// Pairs, chains and repeats of all streams.
struct Pairs<'t> {
    trace: &'t Trace,
    pairs: Vec<Pair>,
    index: HashMap<(u32, u32), u32>,
    left_out: u64,
    /// Pairs in stream order, neighbours sharing a dispatch; chains end with [`END`].
    chains: Vec<u32>,
    repeats: HashMap<u32, Repeats>,
}

impl Pairs<'_> {
    fn pair(&mut self, first: KernelIdx, second: KernelIdx) -> Option<(u32, &mut Pair)> {
        let at = match self.index.get(&(first.0, second.0)) {
            Some(&at) => at,
            None if self.pairs.len() >= PAIRS => {
                self.left_out += 1;
                return None;
            }
            None => {
                let name = |kernel| self.trace.kernel(kernel).map(|kernel| kernel.name.clone());
                let patterned = name(first)
                    .zip(name(second))
                    .is_some_and(|(first, second)| fusion::pattern(&first, &second).is_some());
                let at = u32::try_from(self.pairs.len()).ok()?;
                self.pairs.push(Pair { first, second, patterned, seen: Occurrences::default() });
                self.index.insert((first.0, second.0), at);
                at
            }
        };
        self.pairs.get_mut(at as usize).map(|pair| (at, pair))
    }

    fn end_chain(&mut self, stream: &mut Stream) {
        if !stream.chain.is_empty() {
            self.chains.append(&mut stream.chain);
            self.chains.push(END);
        }
    }

    fn end_run(&mut self, stream: &mut Stream, kernel: KernelIdx) {
        let (launches, gaps) = (stream.run, std::mem::take(&mut stream.run_gaps));
        stream.run = 0;
        if launches >= thresholds::fusion().repeat_run {
            let repeats = self.repeats.entry(kernel.0).or_default();
            repeats.runs += 1;
            repeats.launches += launches;
            repeats.longest = repeats.longest.max(launches);
            repeats.gaps += gaps;
        }
    }

    /// Other work on the stream: nothing before it can be fused with anything after it.
    fn interrupt(&mut self, stream: &mut Stream) {
        if let Some(last) = stream.last.take() {
            self.end_run(stream, last.kernel);
        }
        self.end_chain(stream);
    }
}

impl<'t> Search<'t> {
    fn new(trace: &'t Trace, max_gap: Nanos, by_stream: &[bool]) -> Self {
        Self {
            trace,
            max_gap,
            keys: StreamKeys::new(trace, by_stream),
            kinds: Kinds::new(trace),
            launches: Launches::new(trace),
            streams: HashMap::new(),
            found: Pairs {
                trace,
                pairs: Vec::new(),
                index: HashMap::new(),
                left_out: 0,
                chains: Vec::new(),
                repeats: HashMap::new(),
            },
        }
    }

    fn finish(mut self, min_count: u64) -> Result<Found, Vec<bool>> {
        if let Some(again) = self.keys.replan() {
            return Err(again);
        }
        let mut found = self.found;
        for stream in self.streams.values_mut() {
            found.interrupt(stream);
        }
        let name = |kernel: KernelIdx| {
            self.trace.kernel(kernel).map_or_else(|| Text::from(""), |kernel| kernel.name.clone())
        };
        let mut kept: Vec<(usize, Candidate)> = found
            .pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| pair.seen.count >= min_count.max(1))
            .map(|(at, pair)| (at, judge(name(pair.first), name(pair.second), pair.seen)))
            .collect();
        kept.sort_by(|(_, a), (_, b)| {
            let names = |row: &Candidate| (row.first.clone(), row.second.clone());
            b.saving_hi.cmp(&a.saving_hi).then_with(|| names(a).cmp(&names(b)))
        });
        let mut ranks = vec![END; found.pairs.len()];
        for (rank, (at, _)) in (0_u32..).zip(&kept) {
            if let Some(place) = ranks.get_mut(*at) {
                *place = rank;
            }
        }
        let mut repeated: Vec<(Text, RepeatedKernel)> = found
            .repeats
            .iter()
            .map(|(&kernel, repeats)| {
                let kernel = KernelIdx(kernel);
                let row = RepeatedKernel {
                    kernel,
                    runs: repeats.runs,
                    launches: repeats.launches,
                    longest: repeats.longest,
                    gaps: repeats.gaps,
                };
                (name(kernel), row)
            })
            .collect();
        repeated.sort_by(|(a, left), (b, right)| right.launches.cmp(&left.launches).then_with(|| a.cmp(b)));
        let candidates: Vec<Candidate> = kept.into_iter().map(|(_, candidate)| candidate).collect();
        let taken = disjoint(&found.chains, &ranks, candidates.len());
        let program_saving = candidates
            .iter()
            .zip(&taken)
            .map(|(candidate, &taken)| share(candidate.saving_hi, taken, candidate.seen.count))
            .sum();
        Ok(Found { candidates, program_saving, repeated, left_out: found.left_out })
    }
}

/// `taken` of `count` equal parts of a saving.
fn share(saving: Nanos, taken: u64, count: u64) -> Nanos {
    let part = u128::from(saving.0) * u128::from(taken) / u128::from(count.max(1));
    Nanos(u64::try_from(part).unwrap_or(u64::MAX))
}

/// How many occurrences of each rank remain when no dispatch is in two pairs and lower ranks choose first.
///
/// Neighbours in a chain never have the same rank, so the choice runs from each lowest rank up its two slopes, taking every
/// other pair.
fn disjoint(chains: &[u32], ranks: &[u32], count: usize) -> Vec<u64> {
    let mut taken = vec![0_u64; count];
    let rank = |pair: &u32| ranks.get(*pair as usize).copied().unwrap_or(END);
    for chain in chains.split(|pair| *pair == END) {
        let chain: Vec<u32> = chain.iter().map(rank).collect();
        for part in chain.split(|rank| *rank == END) {
            for rank in chosen(part) {
                if let Some(taken) = taken.get_mut(rank as usize) {
                    *taken += 1;
                }
            }
        }
    }
    taken
}

fn chosen(part: &[u32]) -> Vec<u32> {
    // Distance from the lowest rank at the foot of the slope, seen from the left and from the right: a pair is taken when
    // it stands an even number of steps up from the foot on every slope it belongs to.
    let mut up: Vec<usize> = Vec::with_capacity(part.len());
    let mut before: Option<u32> = None;
    for &rank in part {
        let steps = up.last().copied().filter(|_| before.is_some_and(|before| before < rank));
        up.push(steps.map_or(0, |steps| steps + 1));
        before = Some(rank);
    }
    let mut taken = Vec::new();
    let (mut after, mut down) = (None, 0_usize);
    for (&rank, &left) in part.iter().zip(&up).rev() {
        down = if after.is_some_and(|after| after < rank) { down + 1 } else { 0 };
        if left.is_multiple_of(2) && down.is_multiple_of(2) {
            taken.push(rank);
        }
        after = Some(rank);
    }
    taken
}

impl perfxpert_trace::Sweep for Search<'_> {
    fn region(&mut self, row: &Region) {
        self.launches.region(row);
    }

    fn copy(&mut self, row: &MemoryCopy) {
        if let Some(key) = self.keys.copy(row)
            && let Some(stream) = self.streams.get_mut(&key)
        {
            self.found.interrupt(stream);
        }
    }

    fn dispatch(&mut self, row: &Dispatch) {
        let Some(key) = self.keys.dispatch(row) else { return };
        let stream = self.streams.entry(key).or_default();
        if self.kinds.of(row.kernel) != KernelKind::User {
            self.found.interrupt(stream);
            return;
        }
        let step = Step { kernel: row.kernel, shape: row.shape, start: row.start, end: row.end };
        let Some(last) = stream.last.replace(step) else {
            stream.run = 1;
            return;
        };
        let gap = (step.start >= last.end).then(|| Nanos::between(last.end, step.start));
        let gap = gap.filter(|gap| *gap <= self.max_gap);
        if last.kernel == step.kernel {
            self.found.end_chain(stream);
            if let (true, Some(gap)) = (last.shape == step.shape, gap) {
                stream.run += 1;
                stream.run_gaps += gap;
            } else {
                self.found.end_run(stream, last.kernel);
                stream.run = 1;
            }
            return;
        }
        self.found.end_run(stream, last.kernel);
        stream.run = 1;
        // The host waited for the earlier kernel before it launched the later one: they cannot become one.
        let call = self.launches.of(row.process, row.call);
        let waited = call.is_some_and(|call| call.waited.0 <= last.end && last.end <= call.waited.1);
        let Some(gap) = gap.filter(|_| !waited) else {
            self.found.end_chain(stream);
            return;
        };
        let limit = Nanos(thresholds::fusion().short_ns);
        let short = last.length() < limit && step.length() < limit;
        let pair = self.found.pair(last.kernel, step.kernel).filter(|(_, pair)| short || pair.patterned);
        let Some((at, pair)) = pair else {
            self.found.end_chain(stream);
            return;
        };
        pair.seen.count += 1;
        pair.seen.same_shape += u64::from(last.shape == step.shape);
        pair.seen.gaps += gap;
        pair.seen.first += last.length();
        pair.seen.second += step.length();
        stream.chain.push(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lowest rank first, whole chain again each time.
    fn slowly(part: &[u32]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..part.len()).collect();
        order.sort_by_key(|&at| part[at]);
        let mut taken: Vec<usize> = Vec::new();
        for at in order {
            if !taken.contains(&(at + 1)) && (at == 0 || !taken.contains(&(at - 1))) {
                taken.push(at);
            }
        }
        let mut ranks: Vec<u32> = taken.into_iter().map(|at| part[at]).collect();
        ranks.sort_unstable();
        ranks
    }

    #[test]
    fn a_dispatch_is_in_one_pair_only() {
        for part in [
            vec![0],
            vec![0, 1],
            vec![0, 1, 0],
            vec![2, 0, 1],
            vec![3, 2, 1, 0],
            vec![0, 1, 2, 1, 0],
            vec![4, 1, 3, 2, 0, 5, 6, 1, 9, 2],
            vec![0, 3, 2, 5, 1, 4],
        ] {
            let mut found = chosen(&part);
            found.sort_unstable();
            assert_eq!(found, slowly(&part), "{part:?}");
        }
    }

    #[test]
    fn the_speedup_of_a_pair_is_capped() {
        let seen =
            Occurrences { count: 1, gaps: Nanos(900), first: Nanos(50), second: Nanos(50), same_shape: 1 };
        assert_eq!(judge(Text::from("foo"), Text::from("bar"), seen).speedup_lo, 3.0);
        assert_eq!(program_speedup(Nanos(10), Nanos(10)), None);
        assert_eq!(program_speedup(Nanos(0), Nanos(0)), None);
    }
}
