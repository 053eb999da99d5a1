//! The interval of a change by inversion of the exact two-sided rank-sum test, without random numbers.

use perfxpert_knowledge::thresholds;

/// Null distribution of the rank-sum statistic of n and m values.
#[derive(Clone, Debug)]
pub struct RankSum {
    pairs: usize,
    arrangements: u128,
    /// Entry u: arrangements with a statistic of at most u, up to half of the largest statistic.
    cumulative: Vec<u128>,
}

/// Where the interval lies in the sorted pairwise changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// The interval runs from the k-th smallest to the k-th largest pairwise change; counted from 1.
    pub k: usize,
    /// Confidence it reaches, fraction.
    pub confidence: f64,
}

/// Ends of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end, percent, unrounded.
    pub low: f64,
    /// Upper end, percent, unrounded.
    pub high: f64,
    /// Confidence reached, fraction.
    pub confidence: f64,
}

impl RankSum {
    /// `None` when the runs are too few for an interval of 90 %.
    #[must_use]
    pub fn new(n: usize, m: usize) -> Option<Self> {
        let pairs = n.checked_mul(m).filter(|pairs| *pairs > 0)?;
        if n.max(m) as u64 > thresholds::ci().max_runs {
            return None;
        }
        let half = pairs / 2;
        let counts = gaussian_binomial(n, m, half);
        let arrangements = binomial(n + m, n)?;
        if arrangements < u128::from(thresholds::ci().min_arrangements) {
            return None;
        }
        let cumulative = counts
            .iter()
            .scan(0_u128, |sum, count| {
                *sum += count.unsigned_abs();
                Some(*sum)
            })
            .collect();
        Some(Self { pairs, arrangements, cumulative })
    }

    /// The tightest interval of at least `confidence_pct` percent when `tests` intervals are looked at together; the widest
    /// there is when none reaches it.
    #[must_use]
    pub fn reach(&self, confidence_pct: u8, tests: usize) -> Reach {
        // Tail ÷ arrangements <= (100 − confidence) ÷ 100 ÷ 2 ÷ tests, in whole numbers: 1 of 20 must meet 5 %.
        let allowed = u128::from(100_u8.saturating_sub(confidence_pct)).saturating_mul(self.arrangements);
        let per_tail = 200_u128.saturating_mul(tests.max(1) as u128);
        let fitting = self.cumulative.iter().take_while(|tail| tail.saturating_mul(per_tail) <= allowed);
        let k = fitting.count().max(1);
        let tail = self.cumulative.get(k - 1).copied().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "a probability")]
        let confidence = 1.0 - 2.0 * tail as f64 / self.arrangements as f64;
        Reach { k, confidence }
    }

    /// The interval in `pairwise`, all pairwise changes in ascending order.
    #[must_use]
    pub fn interval(&self, pairwise: &[f64], confidence_pct: u8, tests: usize) -> Option<Interval> {
        if pairwise.len() != self.pairs {
            return None;
        }
        let Reach { k, confidence } = self.reach(confidence_pct, tests);
        let low = *pairwise.get(k - 1)?;
        let high = *pairwise.get(pairwise.len().checked_sub(k)?)?;
        Some(Interval { low, high, confidence })
    }
}

/// Coefficients up to q^`last` of the Gaussian binomial of n + m over n: entry u counts the arrangements of n and m items
/// with rank-sum statistic u.
fn gaussian_binomial(n: usize, m: usize, last: usize) -> Vec<i128> {
    let mut counts = vec![0_i128; last + 1];
    if let Some(first) = counts.first_mut() {
        *first = 1;
    }
    let at = |counts: &[i128], place: usize| counts.get(place).copied().unwrap_or_default();
    for i in 1..=n {
        // Times (1 − q^(m+i)), from the end so that every read is of the old value.
        for place in (m + i..=last).rev() {
            let moved = at(&counts, place - m - i);
            if let Some(count) = counts.get_mut(place) {
                *count -= moved;
            }
        }
        // Divided by (1 − q^i).
        for place in i..=last {
            let moved = at(&counts, place - i);
            if let Some(count) = counts.get_mut(place) {
                *count += moved;
            }
        }
    }
    counts
}

/// n over k; `None` beyond 128 bits.
fn binomial(n: usize, k: usize) -> Option<u128> {
    (1..=k as u128).try_fold(1_u128, |product, i| {
        let factor = n as u128 - k as u128 + i;
        Some(product.checked_mul(factor)? / i)
    })
}
