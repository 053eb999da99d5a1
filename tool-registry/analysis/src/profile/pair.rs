//! Kernels that follow each other on one stream.

use perfxpert_trace::KernelIdx;

use crate::units::Nanos;

/// Two different user kernels with nothing between them on their stream, the second starting after the first has ended.
#[derive(Clone, Debug)]
pub struct KernelPair {
    /// The earlier kernel.
    pub first: KernelIdx,
    /// The later kernel.
    pub second: KernelIdx,
    /// Occurrences by gap bound, in the order of [`crate::sweep::Limits::pair_gaps`]: each holds those up to its bound.
    pub within: Vec<PairGaps>,
}

/// Occurrences of a pair with a gap up to a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGaps {
    /// The bound.
    pub max_gap: Nanos,
    /// Occurrences.
    pub count: u64,
    /// Occurrences with both calls shorter than the short-kernel threshold.
    pub short: u64,
    /// Occurrences with equal grid and workgroup.
    pub same_shape: u64,
    /// Summed gaps.
    pub gaps: Nanos,
    /// Median gap, ns.
    pub median_gap: f64,
    /// Summed durations of the earlier calls.
    pub first_total: Nanos,
    /// Summed durations of the later calls.
    pub second_total: Nanos,
}

/// One kernel launched many times in a row on one stream with one shape and short gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedKernel {
    /// The kernel.
    pub kernel: KernelIdx,
    /// Runs of at least the run-length threshold.
    pub runs: u64,
    /// Launches in these runs.
    pub launches: u64,
    /// Longest run.
    pub longest: u64,
    /// Summed gaps inside the runs.
    pub gaps: Nanos,
}
