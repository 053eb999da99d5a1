//! Units as types: durations, sizes and percentages that cannot be mixed up.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A duration in integer nanoseconds. Sums saturate instead of overflowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// Time from `start` to `end`; zero when `end` is not after `start`.
    #[must_use]
    #[inline]
    pub const fn between(start: i64, end: i64) -> Self {
        if end > start { Self(end.abs_diff(start)) } else { Self(0) }
    }

    /// The difference, zero when `other` is longer.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The number as a float, for ratios.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "ratios need no more than 53 bits")]
    #[inline]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// `self` as a fraction of `whole`; `None` when `whole` is zero.
    #[must_use]
    pub fn fraction_of(self, whole: Self) -> Option<f64> {
        (whole.0 > 0).then(|| self.as_f64() / whole.as_f64())
    }
}

impl Add for Nanos {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

/// A number of bytes. Sums saturate instead of overflowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The number as a float, for ratios.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "ratios need no more than 53 bits")]
    #[inline]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Bandwidth over `time`; `None` when no time passed.
    #[must_use]
    pub fn per(self, time: Nanos) -> Option<BytesPerSecond> {
        (time.0 > 0).then(|| BytesPerSecond(self.as_f64() * 1e9 / time.as_f64()))
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

/// A bandwidth in bytes per second; finite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

impl BytesPerSecond {
    /// In units of 1e9 bytes per second.
    #[must_use]
    pub const fn gbps(self) -> f64 {
        self.0 / 1e9
    }
}

/// A percentage 0 to 100 in steps of a hundredth: exact where parts have to add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent {
    /// Hundredths of a percent, 0 to 10000.
    pub hundredths: u32,
}

impl Percent {
    /// `part / whole`, rounded half away from zero on the exact quotient; `None` when `whole` is 0 or `part` exceeds it.
    #[must_use]
    pub fn of(part: u64, whole: u64) -> Option<Self> {
        if whole == 0 || part > whole {
            return None;
        }
        let (part, whole) = (u128::from(part), u128::from(whole));
        let hundredths = (part * 20_000 + whole) / (whole * 2);
        u32::try_from(hundredths).ok().map(|hundredths| Self { hundredths })
    }

    /// The percentage as a number with at most two decimals.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.hundredths) / 100.0
    }
}

/// Shares of a whole, rounded to hundredths of a percent by largest remainder (ties: earlier part first), so that they add
/// up to exactly 100.00. All zero when the parts are.
#[must_use]
pub fn shares<const N: usize>(parts: [u64; N]) -> [Percent; N] {
    let whole: u128 = parts.iter().map(|&part| u128::from(part)).sum();
    let mut shares = [Percent::default(); N];
    if whole == 0 {
        return shares;
    }
    let mut left = 10_000_u32;
    let mut order: Vec<(u128, usize)> = Vec::with_capacity(N);
    for (at, (share, part)) in shares.iter_mut().zip(parts).enumerate() {
        let scaled = u128::from(part) * 10_000;
        share.hundredths = u32::try_from(scaled / whole).unwrap_or(10_000);
        left = left.saturating_sub(share.hundredths);
        order.push((scaled % whole, at));
    }
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, at) in order.iter().take(left as usize) {
        if let Some(share) = shares.get_mut(at) {
            share.hundredths += 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_add_up_to_a_hundred() {
        let got = shares([1, 1, 1, 0]).map(|share| share.hundredths);
        assert_eq!(got, [3334, 3333, 3333, 0]);
    }

    #[test]
    fn kernel_then_copy_then_api_then_idle_of_120() {
        let got = shares([70, 30, 10, 10]).map(Percent::value);
        assert_eq!(got, [58.34, 25.0, 8.33, 8.33]);
    }

    #[test]
    fn nothing_has_no_shares() {
        assert_eq!(shares([0, 0]), [Percent::default(); 2]);
        assert_eq!(Percent::of(0, 0), None);
    }

    #[test]
    fn halves_of_a_hundredth_round_away_from_zero() {
        assert_eq!(Percent::of(1, 20_000).map(|share| share.hundredths), Some(1));
        assert_eq!(Percent::of(u64::MAX, u64::MAX).map(Percent::value), Some(100.0));
        assert_eq!(Percent::of(2, 1), None);
    }
}
