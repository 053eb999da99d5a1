//! Amounts over the runs of both sides: medians, pairwise changes, and the one way a change meets a limit.

/// One quantity of every run, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// One value per baseline run.
    pub baseline: Vec<u64>,
    /// One value per new run.
    pub new: Vec<u64>,
}

impl Series {
    /// Zeros.
    #[must_use]
    pub fn zeros(baseline: usize, new: usize) -> Self {
        Self { baseline: vec![0; baseline], new: vec![0; new] }
    }

    /// Adds run by run.
    pub(crate) fn add(&mut self, other: &Self) {
        let pairs = |sums: &mut [u64], values: &[u64]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(*value));
        };
        pairs(&mut self.baseline, &other.baseline);
        pairs(&mut self.new, &other.new);
    }

    /// Pairwise changes in percent, ascending: `100·(b − a) ÷ a` of every baseline value a above zero and every new value b.
    #[must_use]
    pub fn pairwise(&self) -> Vec<f64> {
        let mut pairs: Vec<f64> = self
            .baseline
            .iter()
            .flat_map(|&a| self.new.iter().filter_map(move |&b| quotient(wide(b) - wide(a), a)))
            .collect();
        pairs.sort_by(f64::total_cmp);
        pairs
    }

    /// Medians and the median pairwise change.
    #[must_use]
    pub fn change(&self) -> Change {
        Change {
            baseline: median(&self.baseline),
            new: median(&self.new),
            percent: median_of_sorted(&self.pairwise()),
        }
    }

    /// Median of the new side ÷ median of the baseline.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let (a, b) = (median(&self.baseline), median(&self.new));
        (a > 0).then(|| float(wide(b)) / float(wide(a)))
    }
}

/// A quantity on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Median of the baseline.
    pub baseline: u64,
    /// Median of the new side.
    pub new: u64,
    /// Median of the pairwise changes, percent, unrounded; `None` when the baseline is 0.
    pub percent: Option<f64>,
}

impl Change {
    /// New minus baseline.
    #[must_use]
    pub fn delta(&self) -> i64 {
        let wide = self.delta_wide();
        i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
    }

    pub(crate) fn delta_wide(&self) -> i128 {
        wide(self.new) - wide(self.baseline)
    }

    /// As a fraction, unrounded, from the medians for one run per side.
    #[must_use]
    pub fn fraction(&self, single: bool) -> Option<f64> {
        // One division of two integers: 30 of 1000 is the double nearest to 0.03, which a detour over percent is not.
        if single && self.baseline > 0 {
            Some(float(self.delta_wide()) / float(wide(self.baseline)))
        } else {
            self.percent.map(|percent| percent / 100.0)
        }
    }

    /// Whether it grew by more than `limit` percent, strictly.
    #[must_use]
    pub fn above(&self, limit_pct: f64) -> bool {
        self.percent.is_some_and(|percent| percent > limit_pct)
    }

    /// Whether it shrank by more than `limit` percent, strictly.
    #[must_use]
    pub fn below(&self, limit_pct: f64) -> bool {
        self.percent.is_some_and(|percent| percent < -limit_pct)
    }
}

pub(crate) fn wide(value: u64) -> i128 {
    i128::from(value)
}

#[expect(clippy::cast_precision_loss, reason = "ratios need no more than 53 bits")]
pub(crate) fn float(value: i128) -> f64 {
    value as f64
}

/// `100·part ÷ whole`: the multiplication comes first, so that a quotient equal to a decimal limit is that very number.
pub(crate) fn quotient(part: i128, whole: u64) -> Option<f64> {
    (whole > 0).then(|| float(part * 100) / float(wide(whole)))
}

/// Percent of a whole.
pub(crate) fn percent_of(part: u64, whole: u64) -> Option<f64> {
    quotient(wide(part), whole)
}

/// Median; of an even count the mean of the two middle values, rounded down. 0 of nothing.
pub(crate) fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let upper = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    if sorted.len() % 2 == 1 {
        return upper;
    }
    let lower = sorted.len().checked_sub(2).and_then(|even| sorted.get(even / 2)).copied().unwrap_or(upper);
    lower.midpoint(upper)
}

/// Median of values in order; of an even count the mean of the two middle ones.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    sorted.get(sorted.len() / 2 - 1).map(|lower| (lower + upper) / 2.0)
}
