//! Which kernels matter: severity, the hot set, and the few a verdict rests on.

use perfxpert_knowledge::thresholds;

use crate::RunProfile;
use crate::profile::{KernelKind, KernelProfile};
use crate::units::Nanos;

/// How much of the summed kernel time a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heat {
    /// Little.
    Cool,
    /// Some.
    Warm,
    /// Much.
    Hot,
    /// Most.
    Critical,
}

impl Heat {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Cool => "COOL",
            Self::Warm => "WARM",
            Self::Hot => "HOT",
            Self::Critical => "CRITICAL",
        }
    }

    /// Heat of a kernel that takes `part` of `whole`, on the unrounded share.
    #[must_use]
    pub fn of(part: Nanos, whole: Nanos) -> Self {
        let facts = thresholds::hotspots();
        // Cross-multiplied: a share of exactly the threshold must not fall below it by rounding.
        let reaches = |percent: f64| part.as_f64() * 100.0 >= percent * whole.as_f64();
        if whole == Nanos::ZERO {
            Self::Cool
        } else if reaches(facts.critical_pct) {
            Self::Critical
        } else if reaches(facts.hot_pct) {
            Self::Hot
        } else if reaches(facts.warm_pct) {
            Self::Warm
        } else {
            Self::Cool
        }
    }
}

/// Why a kernel is in the hot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HotReason {
    /// Among the first that cover most of the kernel time.
    Coverage,
    /// Beyond these, with a share of its own that matters.
    Share,
}

/// Which of some amounts, in descending order, are hot: the first ones until they cover `coverage_pct` percent of their sum
/// (the crossing one included), then every other with at least the minimum share.
pub fn hot<'a>(
    amounts: impl Iterator<Item = u64> + Clone + 'a,
    coverage_pct: f64,
) -> impl Iterator<Item = Option<HotReason>> + 'a {
    let min_share = thresholds::hot().min_share;
    #[expect(clippy::cast_precision_loss, reason = "compared with a share")]
    let float = |amount: u128| amount as f64;
    let whole = float(amounts.clone().map(u128::from).sum::<u128>());
    let mut running = 0_u128;
    amounts.map(move |amount| {
        // Cross-multiplied: exactly the coverage is covered.
        let covered = float(running) * 100.0 >= coverage_pct * whole;
        running += u128::from(amount);
        if !covered {
            Some(HotReason::Coverage)
        } else if amount > 0 && float(u128::from(amount)) >= min_share * whole {
            Some(HotReason::Share)
        } else {
            None
        }
    })
}

/// The hot kernels of a run by the coverage fact, in the order of [`RunProfile::kernels`].
#[must_use]
pub fn hot_set(profile: &RunProfile) -> Vec<(&KernelProfile, HotReason)> {
    let kernels = profile.kernels.iter().filter(|kernel| kernel.calls > 0);
    let marks = hot(kernels.clone().map(|kernel| kernel.total.0), thresholds::hot().coverage * 100.0);
    kernels.zip(marks).filter_map(|(kernel, mark)| Some((kernel, mark?))).collect()
}

/// The kernels a verdict rests on: by time until they hold the coverage fact of the verdict. Copy kernels of the runtime are
/// copies and do not take part.
pub fn decisive(kernels: &[KernelProfile]) -> impl Iterator<Item = &KernelProfile> {
    let coverage = thresholds::verdict().hot_coverage;
    let kernels = kernels.iter().filter(|kernel| kernel.kind != KernelKind::RuntimeCopy && kernel.calls > 0);
    let whole: Nanos = kernels.clone().map(|kernel| kernel.total).sum();
    let mut running = Nanos::ZERO;
    kernels.take_while(move |kernel| {
        let wanted = running.as_f64() < coverage * whole.as_f64();
        running += kernel.total;
        wanted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_at_its_thresholds() {
        let of = |part| Heat::of(Nanos(part), Nanos(1000)).label();
        assert_eq!(
            [of(200), of(199), of(50), of(49), of(10), of(9)],
            ["CRITICAL", "HOT", "HOT", "WARM", "WARM", "COOL"]
        );
        assert_eq!(Heat::of(Nanos::ZERO, Nanos::ZERO), Heat::Cool);
    }
}
