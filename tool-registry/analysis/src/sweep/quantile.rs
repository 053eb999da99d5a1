//! Order statistics of many durations: exact up to [`KEEP`] values, from a sample beyond.
//!
//! The sample takes every value with the same chance, by a fixed hash of its position, so the same trace gives the same
//! answer. It holds between KEEP / 2 and KEEP values; the standard error of a rank is then at most
//! 0.5 / sqrt(KEEP / 2) = 0.2 %, so that an error of 1 % is five of them away.

use crate::profile::Distribution;
use crate::units::Nanos;

/// Values kept at most.
const KEEP: usize = 131_072;

/// Durations of one thing: count, sum, spread and quantiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    count: u64,
    total: u64,
    min: u64,
    max: u64,
    squares: u128,
    // Two widths: nearly all durations fit 32 bits, and half the memory is worth the second list.
    low: Vec<u32>,
    high: Vec<u64>,
    /// One of 2^level values is kept.
    level: u32,
}

/// Spreads positions over all bits (the finaliser of SplitMix64).
const fn hash(position: u64) -> u64 {
    let mixed = (position ^ (position >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Durations {
    #[inline]
    pub(crate) fn push(&mut self, value: Nanos) {
        let value = value.0;
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.total = self.total.saturating_add(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        if self.level > 0 && hash(self.count).trailing_zeros() < self.level {
            return;
        }
        match u32::try_from(value) {
            Ok(value) => self.low.push(value),
            Err(_) => self.high.push(value),
        }
        if self.low.len() + self.high.len() >= KEEP {
            self.halve();
        }
    }

    /// Keeps every value of the sample with a chance of one half.
    fn halve(&mut self) {
        let salt = u64::from(self.level) << 56;
        self.level += 1;
        let mut position = salt;
        let mut keep = || {
            position += 1;
            hash(position) & 1 == 0
        };
        self.low.retain(|_| keep());
        self.high.retain(|_| keep());
    }

    /// Sorts what is kept; quantiles are defined afterwards.
    pub(crate) fn settle(&mut self) {
        self.low.sort_unstable();
        self.high.sort_unstable();
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    fn kept(&self) -> usize {
        self.low.len() + self.high.len()
    }

    fn at(&self, index: usize) -> Option<u64> {
        match self.low.get(index) {
            Some(&value) => Some(u64::from(value)),
            None => self.high.get(index - self.low.len()).copied(),
        }
    }

    /// Mean of the two middle ones of the first `kept` values, `index` telling where each stands.
    #[expect(clippy::cast_precision_loss, reason = "a median needs no more than 53 bits")]
    fn middle(&self, kept: usize, index: impl Fn(usize) -> usize) -> Option<f64> {
        let last = kept.checked_sub(1)?;
        let (below, above) = (self.at(index(last / 2))?, self.at(index(last.div_ceil(2)))?);
        Some(below as f64 / 2.0 + above as f64 / 2.0)
    }

    /// Median of all values.
    pub(crate) fn median(&self) -> Option<f64> {
        self.middle(self.kept(), |index| index)
    }

    /// Median of all values but one occurrence of `value`.
    pub(crate) fn median_without(&self, value: Nanos) -> Option<f64> {
        let place = self.below(value.0);
        let kept = self.kept();
        // In a sample the value may be missing; one value more or less is nothing there.
        let gone = usize::from(place < kept);
        self.middle(kept - gone, |index| if index < place { index } else { index + gone })
    }

    /// Median of the values up to a bound.
    pub(crate) fn median_up_to(&self, bound: u64) -> Option<f64> {
        self.middle(self.below(bound.saturating_add(1)), |index| index)
    }

    /// How many of the kept values are below a bound.
    fn below(&self, bound: u64) -> usize {
        match u32::try_from(bound) {
            Ok(bound) => self.low.partition_point(|&value| value < bound),
            Err(_) => self.low.len() + self.high.partition_point(|&value| value < bound),
        }
    }

    /// Everything at once.
    #[expect(clippy::cast_precision_loss, reason = "a deviation needs no more than 53 bits")]
    pub(crate) fn distribution(&self) -> Distribution {
        let count = u128::from(self.count);
        let squared = u128::from(self.total).saturating_mul(u128::from(self.total));
        let spread = count.saturating_mul(self.squares).saturating_sub(squared);
        let stddev = (self.count > 1).then(|| (spread as f64 / (count as f64 * (count - 1) as f64)).sqrt());
        let nearest = |percent: usize| {
            let rank = (self.kept() * percent).div_ceil(100).saturating_sub(1);
            Nanos(self.at(rank).unwrap_or_default())
        };
        Distribution {
            count: self.count,
            total: Nanos(self.total),
            min: Nanos(self.min),
            max: Nanos(self.max),
            median: self.median().unwrap_or_default(),
            p50: nearest(50),
            p95: nearest(95),
            stddev,
            exact: self.level == 0,
        }
    }
}

/// Median over several lists, by bisection on the value.
#[expect(clippy::cast_precision_loss, reason = "a median needs no more than 53 bits")]
pub(crate) fn median_over<'a>(lists: impl Iterator<Item = &'a Durations> + Clone) -> Option<f64> {
    let below = |bound: u64| lists.clone().map(|list| (list.below(bound) as u64) << list.level).sum::<u64>();
    let last = lists.clone().map(|list| (list.kept() as u64) << list.level).sum::<u64>().checked_sub(1)?;
    let largest = lists.clone().map(|list| list.max).max()?;
    let at = |rank: u64| {
        let (mut low, mut high) = (0, largest);
        while low < high {
            let middle = low + (high - low) / 2;
            if below(middle + 1) > rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low as f64
    };
    Some(at(last / 2) / 2.0 + at(last.div_ceil(2)) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Durations {
        let mut found = Durations::default();
        for value in values {
            found.push(Nanos(value));
        }
        found.settle();
        found
    }

    #[test]
    fn small_lists_are_exact() {
        let found = of([100, 100, 130]).distribution();
        assert_eq!((found.median, found.p50, found.p95), (100.0, Nanos(100), Nanos(130)));
        assert_eq!(found.stddev.map(|deviation| (deviation * 10.0).round() / 10.0), Some(17.3));
        assert_eq!(of([1, 2]).median(), Some(1.5));
        assert_eq!(of([]).distribution(), Distribution { exact: true, ..Distribution::default() });
        assert_eq!(of([7]).distribution().stddev, None);
    }

    #[test]
    fn long_durations_stand_behind_short_ones() {
        let found = of([u64::MAX >> 2, 5, 1 << 40]);
        assert_eq!(found.median(), Some((1_u64 << 40) as f64));
        assert_eq!(found.distribution().max, Nanos(u64::MAX >> 2));
        assert_eq!(found.median_up_to(1 << 33), Some(5.0));
    }

    #[test]
    fn a_median_can_leave_one_value_out() {
        assert_eq!(of([900, 100, 100, 110]).median_without(Nanos(900)), Some(100.0));
        assert_eq!(of([5, 5]).median_without(Nanos(5)), Some(5.0));
        assert_eq!(of([5]).median_without(Nanos(5)), None);
    }

    #[test]
    fn a_hundred_thousand_values_are_exact() {
        let found = of((0..100_000).rev()).distribution();
        assert!(found.exact);
        assert_eq!((found.median, found.p95), (49_999.5, Nanos(94_999)));
    }

    #[test]
    fn ranks_of_a_sample_are_within_one_percent() {
        // Orders a sketch could trip over: rising, falling, and two alternating populations.
        let count = 1_500_000_u64;
        let rising = of(0..count).distribution();
        let falling = of((0..count).rev()).distribution();
        let mixed = of((0..count).map(|at| if at % 2 == 0 { at / 2 } else { count - at / 2 })).distribution();
        for (found, median) in [(rising, count / 2), (falling, count / 2), (mixed, count / 2)] {
            assert!(!found.exact);
            let off = (found.median - median as f64).abs() / count as f64;
            assert!(off < 0.01, "median off by {off}");
            let off = (found.p95.0 as f64 - 0.95 * count as f64).abs() / count as f64;
            assert!(off < 0.01, "95th percentile off by {off}");
        }
    }

    #[test]
    fn one_median_over_several_lists() {
        let lists = [of([200, 200]), of([20, 20])];
        assert_eq!(median_over(lists.iter()), Some(110.0));
        assert_eq!(median_over([of([])].iter()), None);
    }
}
