//! Thresholds and bounds of a sweep.

use perfxpert_knowledge::thresholds;

use crate::units::{Bytes, Nanos};

/// Thresholds (facts) and bounds on what is kept.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Calls shorter than this are short kernels.
    pub short_kernel: Nanos,
    /// Copies smaller than this are small.
    pub small_copy: Bytes,
    /// Copies of at least this are large.
    pub large_copy: Bytes,
    /// Several copies of at most this from one call mean that the runtime split it.
    pub split_copy: Bytes,
    /// Work whose launch call ended this long before a gap was already queued.
    pub queue_lead: Nanos,
    /// A shorter gap is explained by a blocking call however little of it is covered.
    pub short_gap: Nanos,
    /// Part of a gap calls must cover to be its cause.
    pub gap_cover: f64,
    /// Gap bounds for which pairs of kernels are counted, ascending.
    pub pair_gaps: Vec<Nanos>,
    /// Launches in a row from which a kernel counts as repeated, with gaps up to the first of `pair_gaps`.
    pub repeat_run: u64,
    /// Later dispatches of the queue that must lie inside a dispatch for its end to be doubted.
    pub overlong_followers: u64,
    /// How many times the median of its kernel such a dispatch must last.
    pub overlong_ratio: f64,
    /// Calls of that kernel needed to judge.
    pub overlong_calls: u64,
    /// Distinct pairs kept.
    pub max_pairs: usize,
    /// Launch shapes kept per kernel.
    pub max_shapes: usize,
    /// Collective dispatches kept.
    pub max_collectives: usize,
    /// Gaps listed.
    pub max_gaps: usize,
    /// Host calls remembered to link GPU work to, over all processes.
    pub max_calls: usize,
    /// Slices of the timeline.
    pub slices: u64,
}

impl Limits {
    /// The facts, with pairs counted up to the fusion tool's and the report's gap bounds.
    #[must_use]
    pub fn from_facts() -> Self {
        let (report, gap, fusion, health) =
            (thresholds::report(), thresholds::gap(), thresholds::fusion(), thresholds::health());
        let mut pair_gaps = vec![Nanos(fusion.max_gap_ns), Nanos(report.fusion_max_gap_ns)];
        pair_gaps.sort_unstable();
        Self {
            short_kernel: Nanos(thresholds::hotspots().short_kernel_ns),
            small_copy: Bytes(report.copies_small_bytes),
            large_copy: Bytes(report.copies_large_bytes),
            split_copy: Bytes(report.copies_split_bytes),
            queue_lead: Nanos(gap.queue_lead_ns),
            short_gap: Nanos(gap.short_ns),
            gap_cover: gap.cover,
            pair_gaps,
            repeat_run: fusion.repeat_run,
            overlong_followers: health.overlong_followers,
            overlong_ratio: health.overlong_ratio,
            overlong_calls: health.overlong_calls,
            max_pairs: 65_536,
            max_shapes: 1024,
            max_collectives: 100_000,
            max_gaps: 10,
            max_calls: 1 << 18,
            slices: 100,
        }
    }
}
