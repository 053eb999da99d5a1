//! Verdicts on a comparison: by elapsed time, and by kernels, where regressions may hide under a steady elapsed time.

use perfxpert_knowledge::thresholds;

use super::rows::{Row, Status};
use super::series::Change;
use super::words::{limit, milliseconds, signed};
use super::{Code, Comparison, Shorten};

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Faster than the limit.
    Improved,
    /// Slower than the limit.
    Regressed,
    /// Neither.
    Neutral,
    /// It cannot be told.
    Inconclusive,
}

impl Verdict {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Neutral => "neutral",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Which rule decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The sides cannot be compared.
    Comparability,
    /// The numbers of calls differ, so the mean calls were compared.
    PerCall,
    /// Time of the kernels on both sides.
    Common,
    /// Time of all kernels.
    Total,
    /// Elapsed time.
    Wall,
    /// One hot kernel.
    HotKernel,
    /// Nothing passed a limit.
    None,
}

impl Rule {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Comparability => "comparability",
            Self::PerCall => "per_call",
            Self::Common => "common",
            Self::Total => "total",
            Self::Wall => "wall",
            Self::HotKernel => "hot_kernel",
            Self::None => "none",
        }
    }
}

/// A verdict of the kernel-aware rules.
#[derive(Clone, Debug)]
pub struct KernelVerdict<'a> {
    /// What.
    pub verdict: Verdict,
    /// By which rule.
    pub rule: Rule,
    /// One sentence with both numbers.
    pub decided_by: String,
    /// Hot kernels beyond their limit: by cost descending, then name.
    pub hot_regressions: Vec<&'a Row>,
    /// What to check before believing it.
    pub warnings: Vec<String>,
}

/// By elapsed time: what forbids any verdict comes first, then a regression beyond `limit_pct` percent, then what blocks a
/// pass, then an improvement.
#[must_use]
pub fn by_elapsed_time(comparison: &Comparison, limit_pct: f64) -> Verdict {
    let comparability = &comparison.comparability;
    if comparability.forbidding().next().is_some() {
        Verdict::Inconclusive
    } else if comparison.wall_change.above(limit_pct) {
        Verdict::Regressed
    } else if comparability.blocking().next().is_some() {
        Verdict::Inconclusive
    } else if comparison.wall_change.below(limit_pct) {
        Verdict::Improved
    } else {
        Verdict::Neutral
    }
}

/// Kernels beyond `limit_pct` percent that matter: on both sides, and hot or with a share of the baseline's kernel time that
/// counts. Regressions by time lost, improvements by time won, then by name.
#[must_use]
pub fn movers(comparison: &Comparison, limit_pct: f64) -> (Vec<&Row>, Vec<&Row>) {
    let least = thresholds::diff().row_min_contribution_pct;
    let matters = |row: &&Row| {
        row.status == Status::Changed
            && (row.was_hot || comparison.contribution_pct(row).is_some_and(|cost| cost.abs() >= least))
    };
    let rows = || comparison.rows.iter().filter(matters);
    let mut regressed: Vec<&Row> = rows().filter(|row| row.change.above(limit_pct)).collect();
    let mut improved: Vec<&Row> = rows().filter(|row| row.change.below(limit_pct)).collect();
    regressed.sort_by(|a, b| b.change.delta().cmp(&a.change.delta()).then_with(|| a.name.cmp(&b.name)));
    improved.sort_by(|a, b| a.change.delta().cmp(&b.change.delta()).then_with(|| a.name.cmp(&b.name)));
    (regressed, improved)
}

/// By kernels: the first rule that holds decides. `total_pct` limits sums, `kernel_pct` one hot kernel, both in percent;
/// `short` shortens names in sentences.
#[must_use]
pub fn by_kernels<'a>(
    comparison: &'a Comparison,
    total_pct: f64,
    kernel_pct: f64,
    short: Shorten<'_>,
) -> KernelVerdict<'a> {
    let hot_regressions = hot_regressions(comparison, kernel_pct);
    let judge = Judge { comparison, total_pct, kernel_pct, hot: &hot_regressions, short };
    let decided = judge
        .forbidden()
        .or_else(|| judge.per_call())
        .or_else(|| judge.slower())
        .or_else(|| judge.blocked())
        .unwrap_or_else(|| judge.faster());
    let mut warnings = Vec::new();
    let has = |status| comparison.rows.iter().any(|row| row.status == status);
    if decided.0 == Verdict::Improved
        && decided.1 == Rule::Total
        && has(Status::Removed)
        && !has(Status::Added)
    {
        warnings.push(
            "Kernels disappeared and none took their place: check that the output is still right.".to_owned(),
        );
    }
    let (verdict, rule, decided_by) = decided;
    KernelVerdict { verdict, rule, decided_by, hot_regressions, warnings }
}

fn hot_regressions(comparison: &Comparison, kernel_pct: f64) -> Vec<&Row> {
    let least = thresholds::diff().min_contribution * 100.0;
    let mut rows: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| {
            row.status == Status::Changed
                && row.was_hot
                && row.change.above(kernel_pct)
                && comparison.contribution_pct(row).is_some_and(|cost| cost >= least)
                && row.significant != Some(false)
        })
        .collect();
    rows.sort_by(|a, b| b.change.delta().cmp(&a.change.delta()).then_with(|| a.name.cmp(&b.name)));
    rows
}

type Decided = (Verdict, Rule, String);

struct Judge<'a> {
    comparison: &'a Comparison,
    total_pct: f64,
    kernel_pct: f64,
    hot: &'a [&'a Row],
    short: Shorten<'a>,
}

impl Judge<'_> {
    fn wall_pct(&self) -> f64 {
        self.total_pct.max(thresholds::diff().wall_limit * 100.0)
    }

    fn moved(what: &str, change: &Change, limit_pct: f64) -> String {
        format!(
            "{what} went from {} to {} ({}); the limit is {}.",
            milliseconds(change.baseline),
            milliseconds(change.new),
            change.percent.map_or_else(|| "no percentage of 0".to_owned(), signed),
            limit(limit_pct)
        )
    }

    fn forbidden(&self) -> Option<Decided> {
        let issue = self.comparison.comparability.forbidding().next()?;
        Some((Verdict::Inconclusive, Rule::Comparability, issue.text.clone()))
    }

    fn per_call(&self) -> Option<Decided> {
        let facts = thresholds::diff();
        let (ratio, normalized) = (self.comparison.call_ratio?, self.comparison.normalized?);
        let far = ratio < facts.call_ratio_low || ratio > facts.call_ratio_high;
        if !far && (ratio - 1.0).abs() <= facts.call_ratio_tolerance {
            return None;
        }
        let percent = normalized * 100.0;
        let numbers = format!(
            "The common kernels were called {ratio:.2} times as often; at equal calls their time changes by {}, with a limit of {}",
            signed(percent),
            limit(self.total_pct)
        );
        Some(if !far && percent > self.total_pct {
            (Verdict::Regressed, Rule::PerCall, format!("{numbers}."))
        } else if !far && percent < -self.total_pct {
            (Verdict::Improved, Rule::PerCall, format!("{numbers}."))
        } else {
            (Verdict::Inconclusive, Rule::PerCall, format!("{numbers}: run the same number of iterations."))
        })
    }

    /// Regressions, the least ambiguous first.
    fn slower(&self) -> Option<Decided> {
        let compared = self.comparison;
        let total = &compared.kernel_change;
        let added = compared.rows.iter().any(|row| row.status == Status::Added);
        let replaced = total.below(self.total_pct) && added;
        if let Some(common) = &compared.common_change
            && common.above(self.total_pct)
            && !replaced
        {
            let text = Self::moved("Time of the kernels on both sides", common, self.total_pct);
            return Some((Verdict::Regressed, Rule::Common, text));
        }
        if total.above(self.total_pct) {
            let text = Self::moved("Kernel time", total, self.total_pct);
            return Some((Verdict::Regressed, Rule::Total, text));
        }
        if compared.wall_change.above(self.wall_pct()) {
            let text = Self::moved("Elapsed time", &compared.wall_change, self.wall_pct());
            return Some((Verdict::Regressed, Rule::Wall, text));
        }
        let worst = self.hot.first()?;
        if total.below(self.total_pct) {
            return None;
        }
        let what = format!("Time of the hot kernel `{}`", (self.short)(&worst.name));
        Some((Verdict::Regressed, Rule::HotKernel, Self::moved(&what, &worst.change, self.kernel_pct)))
    }

    fn blocked(&self) -> Option<Decided> {
        let blocks = |code| {
            matches!(
                code,
                Code::KernelSetChanged | Code::LessWork | Code::ImpossibleSpeed | Code::TraceDegraded
            )
        };
        let issue = self.comparison.comparability.blocking().find(|issue| blocks(issue.code))?;
        Some((Verdict::Inconclusive, Rule::Comparability, issue.text.clone()))
    }

    fn faster(&self) -> Decided {
        let (total, wall) = (&self.comparison.kernel_change, &self.comparison.wall_change);
        if total.below(self.total_pct) {
            (Verdict::Improved, Rule::Total, Self::moved("Kernel time", total, self.total_pct))
        } else if wall.below(self.wall_pct()) {
            (Verdict::Improved, Rule::Wall, Self::moved("Elapsed time", wall, self.wall_pct()))
        } else {
            (Verdict::Neutral, Rule::None, Self::moved("Kernel time", total, self.total_pct))
        }
    }
}
