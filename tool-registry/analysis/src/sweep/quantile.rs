//! Order statistics of many durations: exact as long as it is small, then a sketch with a bounded rank error.
//!
//! Values are kept as sorted (value, count) pairs, so repeated durations cost nothing. With more than [`KEEP`] distinct
//! values they are thinned to [`THIN`] pairs of equal weight. One thinning displaces a rank by at most half a pair's
//! weight, n / (2 * THIN); at least KEEP - THIN new distinct values lie between two of them, so after N values the error is
//! below N / (KEEP - THIN) / 2 / (2 * THIN) of N: under 0.8 % for a hundred million values.

use crate::profile::Distribution;
use crate::units::Nanos;

/// Distinct values kept exactly; a quantile of up to this many values is always exact.
const KEEP: usize = 131_072;
/// Pairs left by thinning.
const THIN: usize = 32_768;
/// Values collected before they are sorted in.
const BUFFER: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair<V> {
    value: V,
    count: u32,
}

#[derive(Clone, Debug)]
struct Run<V> {
    buffer: Vec<V>,
    pairs: Vec<Pair<V>>,
    thinned: bool,
}

impl<V> Default for Run<V> {
    fn default() -> Self {
        Self { buffer: Vec::new(), pairs: Vec::new(), thinned: false }
    }
}

impl<V: Copy + Ord> Run<V> {
    fn push(&mut self, value: V) {
        self.buffer.push(value);
        if self.buffer.len() >= BUFFER && self.buffer.len() >= self.pairs.len() {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        self.buffer.sort_unstable();
        let old = std::mem::take(&mut self.pairs);
        let mut merged: Vec<Pair<V>> = Vec::with_capacity(old.len() + self.buffer.len().min(BUFFER));
        let mut add = |value: V, count: u32| match merged.last_mut() {
            Some(last) if last.value == value && last.count.checked_add(count).is_some() => {
                last.count += count
            }
            _ => merged.push(Pair { value, count }),
        };
        let mut old = old.into_iter().peekable();
        for value in self.buffer.drain(..) {
            while let Some(pair) = old.next_if(|pair| pair.value <= value) {
                add(pair.value, pair.count);
            }
            add(value, 1);
        }
        for pair in old {
            add(pair.value, pair.count);
        }
        self.pairs = merged;
        self.buffer.shrink_to(BUFFER);
        if self.pairs.len() > KEEP {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let total: u64 = self.pairs.iter().map(|pair| u64::from(pair.count)).sum();
        let step = total.div_ceil(THIN as u64).max(1);
        let mut thin: Vec<Pair<V>> = Vec::with_capacity(THIN + 1);
        let (mut weight, mut middle) = (0_u64, None);
        for pair in &self.pairs {
            weight += u64::from(pair.count);
            if middle.is_none() && weight * 2 >= step {
                middle = Some(pair.value);
            }
            if weight >= step {
                thin.push(Pair {
                    value: middle.take().unwrap_or(pair.value),
                    count: u32::try_from(weight).unwrap_or(u32::MAX),
                });
                weight = 0;
            }
        }
        if let (Some(last), true) = (self.pairs.last(), weight > 0) {
            thin.push(Pair {
                value: middle.unwrap_or(last.value),
                count: u32::try_from(weight).unwrap_or(u32::MAX),
            });
        }
        self.pairs = thin;
        self.thinned = true;
    }

    fn below_or_equal(&self, value: V) -> u64 {
        let upto = self.pairs.partition_point(|pair| pair.value <= value);
        self.pairs.iter().take(upto).map(|pair| u64::from(pair.count)).sum()
    }
}

/// Durations of one thing: count, sum, spread and quantiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    count: u64,
    total: u64,
    min: u64,
    max: u64,
    squares: u128,
    // Two widths: nearly all durations fit 32 bits, and half the memory is worth the second list.
    low: Run<u32>,
    high: Run<u64>,
}

impl Durations {
    pub(crate) fn push(&mut self, value: Nanos) {
        let value = value.0;
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.total = self.total.saturating_add(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        match u32::try_from(value) {
            Ok(value) => self.low.push(value),
            Err(_) => self.high.push(value),
        }
    }

    /// Sorts in what is still buffered; quantiles are defined afterwards.
    pub(crate) fn settle(&mut self) {
        self.low.flush();
        self.high.flush();
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The value with that many values before it (0-based), skipping one occurrence of `without`.
    fn at(&self, rank: u64, without: Option<u64>) -> Option<u64> {
        let low = self.low.pairs.iter().map(|pair| (u64::from(pair.value), pair.count));
        let high = self.high.pairs.iter().map(|pair| (pair.value, pair.count));
        let mut without = without;
        let mut before = 0_u64;
        for (value, count) in low.chain(high) {
            let mut count = u64::from(count);
            // A thinned list may not hold the value itself: then the first not below it stands for it.
            if without.is_some_and(|skip| value >= skip) {
                without = None;
                count -= 1;
            }
            before += count;
            if before > rank {
                return Some(value);
            }
        }
        None
    }

    /// Mean of the two middle values, or the middle one.
    #[expect(clippy::cast_precision_loss, reason = "a median needs no more than 53 bits")]
    fn median_of(&self, count: u64, without: Option<u64>) -> Option<f64> {
        let last = count.checked_sub(1)?;
        let (below, above) = (self.at(last / 2, without)?, self.at(last.div_ceil(2), without)?);
        Some(below as f64 / 2.0 + above as f64 / 2.0)
    }

    /// Median of all values.
    pub(crate) fn median(&self) -> Option<f64> {
        self.median_of(self.count, None)
    }

    /// Median of all values but one occurrence of `value`.
    pub(crate) fn median_without(&self, value: Nanos) -> Option<f64> {
        self.median_of(self.count.checked_sub(1)?, Some(value.0))
    }

    /// Median of the values up to a bound.
    pub(crate) fn median_up_to(&self, bound: u64) -> Option<f64> {
        self.median_of(self.below_or_equal(bound), None)
    }

    /// How many values do not exceed a bound.
    pub(crate) fn below_or_equal(&self, bound: u64) -> u64 {
        match u32::try_from(bound) {
            Ok(bound) => self.low.below_or_equal(bound),
            Err(_) => self.low.below_or_equal(u32::MAX) + self.high.below_or_equal(bound),
        }
    }

    /// Largest value.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// Everything at once.
    #[expect(clippy::cast_precision_loss, reason = "a deviation needs no more than 53 bits")]
    pub(crate) fn distribution(&self) -> Distribution {
        let count = u128::from(self.count);
        let squared = u128::from(self.total).saturating_mul(u128::from(self.total));
        let spread = count.saturating_mul(self.squares).saturating_sub(squared);
        let stddev = (self.count > 1).then(|| (spread as f64 / (count as f64 * (count - 1) as f64)).sqrt());
        let rank = (u128::from(self.count) * 95).div_ceil(100).saturating_sub(1);
        Distribution {
            count: self.count,
            total: Nanos(self.total),
            min: Nanos(self.min),
            max: Nanos(self.max),
            median: self.median().unwrap_or_default(),
            p50: Nanos(self.at(self.count.saturating_sub(1) / 2, None).unwrap_or_default()),
            p95: Nanos(u64::try_from(rank).ok().and_then(|rank| self.at(rank, None)).unwrap_or_default()),
            stddev,
            exact: !self.low.thinned && !self.high.thinned,
        }
    }
}

/// Median over several lists, by bisection on the value.
#[expect(clippy::cast_precision_loss, reason = "a median needs no more than 53 bits")]
pub(crate) fn median_over<'a>(lists: impl Iterator<Item = &'a Durations> + Clone) -> Option<f64> {
    let last = lists.clone().map(Durations::count).sum::<u64>().checked_sub(1)?;
    let largest = lists.clone().map(Durations::max).max()?;
    let at = |rank: u64| {
        let (mut low, mut high) = (0, largest);
        while low < high {
            let middle = low + (high - low) / 2;
            if lists.clone().map(|list| list.below_or_equal(middle)).sum::<u64>() > rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low as f64
    };
    Some(at(last / 2) / 2.0 + at(last.div_ceil(2)) / 2.0)
}
