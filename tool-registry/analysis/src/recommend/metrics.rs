//! What counters and source say about one kernel, as advice uses it.

use crate::units::BytesPerSecond;

/// Metrics of one kernel; fractions unless said. `None` is not measured, never zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelMetrics {
    /// Vector units busy, of the kernel's time.
    pub valu: Option<f64>,
    /// Matrix units busy, of the kernel's time.
    pub mfma: Option<f64>,
    /// HBM bandwidth, of peak.
    pub hbm: Option<f64>,
    /// HBM bandwidth.
    pub hbm_bandwidth: Option<BytesPerSecond>,
    /// Hits of the first-level vector cache, of its requests.
    pub l1_hit: Option<f64>,
    /// L2 hits, of its requests.
    pub l2_hit: Option<f64>,
    /// Ideal over actual cache lines per access.
    pub coalescing: Option<f64>,
    /// Cache lines per wave access, a number of lines.
    pub lines_per_access: Option<f64>,
    /// LDS bank conflicts, of the kernel's time.
    pub lds_conflict: Option<f64>,
    /// Active lanes of vector instructions.
    pub lane_efficiency: Option<f64>,
    /// Transcendental instructions, of vector work.
    pub transcendental: Option<f64>,
    /// Resident waves, of wave slots.
    pub resident: Option<f64>,
    /// Matrix instructions per dispatch, a number.
    pub matrix_instructions: Option<f64>,
    /// Arithmetic intensity, FLOP per byte.
    pub intensity: Option<f64>,
    /// Arithmetic intensity over the ridge of its data type, a ratio.
    pub intensity_over_ridge: Option<f64>,
    /// Data type with most work, from type counters.
    pub dtype: Option<String>,
    /// Whether that type has a matrix form on the GPU, from type counters.
    pub matrix_dtype: Option<bool>,
    /// Matrix peak of the type over the plain FP32 vector peak, a ratio.
    pub matrix_ratio: Option<f64>,
}

impl KernelMetrics {
    /// Whether anything says what limits the kernel.
    #[must_use]
    pub fn tells_limit(&self) -> bool {
        self.valu.is_some() || self.mfma.is_some() || self.hbm.is_some()
    }
}
