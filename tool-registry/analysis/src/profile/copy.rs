//! Copies of one direction.

use perfxpert_trace::Direction;

use super::kernel::Distribution;
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Copies of one direction over the whole run.
#[derive(Clone, Debug)]
pub struct CopyProfile {
    /// Where they go.
    pub direction: Direction,
    /// How many, and their durations.
    pub durations: Distribution,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Union per GPU (the destination of a copy between two), added up.
    pub busy: Nanos,
    /// Time with no kernel beside them; an instant under several copies belongs to the one that started first. Added up over
    /// GPUs: a copy between two GPUs counts in both windows.
    pub exposed: Nanos,
    /// Copies smaller than the small-copy threshold.
    pub small: SizeClass,
    /// Median size of the small ones; `None` without any.
    pub small_median: Option<Bytes>,
    /// Copies of at least the large-copy threshold.
    pub large: SizeClass,
    /// Calls that produced more than one copy of this direction of at most the split threshold.
    pub split_calls: u64,
}

impl CopyProfile {
    /// Bytes over the union.
    #[must_use]
    pub fn bandwidth(&self) -> Option<BytesPerSecond> {
        self.bytes.per(self.busy)
    }

    /// Bandwidth of the large copies alone.
    #[must_use]
    pub fn large_bandwidth(&self) -> Option<BytesPerSecond> {
        self.large.bytes.per(self.large.busy)
    }

    /// Mean size; `None` without copies.
    #[must_use]
    pub fn mean_bytes(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
        let count = self.durations.count as f64;
        (self.durations.count > 0).then(|| self.bytes.as_f64() / count)
    }
}

/// Copies of one direction within a range of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeClass {
    /// How many.
    pub count: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Union per GPU, added up.
    pub busy: Nanos,
    /// Their share of [`CopyProfile::exposed`].
    pub exposed: Nanos,
}
