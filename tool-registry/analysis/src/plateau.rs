//! Tells a stalled optimisation loop from one that still moves, from its run times alone.

/// Direction of the judged runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// Every step faster, and together by at least the threshold.
    Improving,
    /// Every step slower, and together by at least the threshold.
    Regressing,
    /// Every step smaller than the threshold.
    Flat,
    /// Neither of these.
    Noisy,
}

/// What the latest runs say.
#[derive(Debug, Clone, PartialEq)]
pub struct Plateau {
    /// Direction of the judged runs.
    pub trend: Trend,
    /// (this − previous) ÷ previous of every step of the window.
    pub deltas: Vec<f64>,
    /// (last − first) ÷ first of the window.
    pub cumulative: f64,
}

impl Plateau {
    /// Whether the loop has stopped improving.
    pub fn detected(&self) -> bool {
        self.trend == Trend::Flat
    }
}

/// Judges the last `window` run times (any unit, all above 0); `None` with fewer runs or a window below 2.
///
/// A slow but steady gain is not a plateau: steps below `threshold` of one sign count together first.
pub fn judge(runtimes: &[f64], window: usize, threshold: f64) -> Option<Plateau> {
    let latest = runtimes.get(runtimes.len().checked_sub(window)?..)?;
    let (first, last) = (*latest.first()?, *latest.last()?);
    let deltas: Vec<f64> = latest
        .iter()
        .zip(latest.iter().skip(1))
        .map(|(previous, this)| (this - previous) / previous)
        .collect();
    if deltas.is_empty() {
        return None;
    }
    let cumulative = (last - first) / first;
    let moved = cumulative.abs() >= threshold;
    let trend = if moved && deltas.iter().all(|delta| *delta < 0.0) {
        Trend::Improving
    } else if moved && deltas.iter().all(|delta| *delta > 0.0) {
        Trend::Regressing
    } else if deltas.iter().all(|delta| delta.abs() < threshold) {
        Trend::Flat
    } else {
        Trend::Noisy
    };
    Some(Plateau { trend, deltas, cumulative })
}

/// Index of the smallest run time, the first on ties.
pub fn best(runtimes: &[f64]) -> Option<usize> {
    let fastest = runtimes.iter().copied().min_by(f64::total_cmp)?;
    runtimes.iter().position(|runtime| *runtime == fastest)
}
