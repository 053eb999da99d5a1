//! Side of the roofline: compute- or memory-bound from operations and bytes, and the points of a run.

mod dtype;
mod means;
mod points;

pub use dtype::Dtype;
pub use points::{Ask, DtypeSource, Pipe, Plot, Point, Roofs, Skip, plot, roofs};

use perfxpert_knowledge::thresholds;

/// Side of the ridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Regime {
    /// Above it: the compute roof is lower.
    Compute,
    /// Below it: the memory roof is lower.
    Memory,
    /// At it.
    Balanced,
}

impl Regime {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Balanced => "balanced",
        }
    }
}

/// The two roofs of a kernel: compute peak in FLOP/s, memory bandwidth in bytes/s, both above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roof {
    /// FLOP/s.
    pub peak: f64,
    /// Bytes/s.
    pub bandwidth: f64,
}

impl Roof {
    /// FLOP/byte at which both roofs meet.
    pub fn ridge(self) -> f64 {
        self.peak / self.bandwidth
    }

    /// Side of an arithmetic intensity (FLOP/byte), with a band around the ridge that counts as neither.
    pub fn regime(self, intensity: f64) -> Regime {
        let ridge = self.ridge();
        if (intensity - ridge).abs() / ridge <= thresholds::roofline().balanced {
            Regime::Balanced
        } else if intensity > ridge {
            Regime::Compute
        } else {
            Regime::Memory
        }
    }

    /// FLOP/s that the lower roof allows at an arithmetic intensity.
    pub fn attainable(self, intensity: f64) -> f64 {
        self.peak.min(intensity * self.bandwidth)
    }
}

/// What a rate says against a roof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distance {
    /// 1 − achieved ÷ attainable, at least 0.
    Below(f64),
    /// More than the roof allows: one of the two numbers is wrong.
    Impossible,
}

/// Distance of an achieved rate to what is attainable (same unit, above 0). Clock boost and timer error may lift
/// a real rate slightly above a roof; within that tolerance the distance is 0.
pub fn distance(achieved: f64, attainable: f64) -> Distance {
    if achieved > attainable * (1.0 + thresholds::sol().tolerance) {
        Distance::Impossible
    } else {
        Distance::Below((1.0 - achieved / attainable).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MI300X_FP32: Roof = Roof { peak: 163.4e12, bandwidth: 5.3248e12 };

    #[test]
    fn the_band_around_the_ridge_is_five_percent_on_either_side() {
        assert_eq!(MI300X_FP32.regime(29.15), Regime::Memory);
        assert_eq!(MI300X_FP32.regime(29.16), Regime::Balanced);
        assert_eq!(MI300X_FP32.regime(32.22), Regime::Balanced);
        assert_eq!(MI300X_FP32.regime(32.23), Regime::Compute);
    }

    #[test]
    fn the_lower_roof_is_attainable() {
        assert_eq!(MI300X_FP32.attainable(10.0), 5.3248e13);
        assert_eq!(MI300X_FP32.attainable(1e6), 163.4e12);
        assert!(matches!(distance(4e13, 5.3248e13), Distance::Below(d) if (d - 0.2488).abs() < 5e-5));
        assert_eq!(distance(1.02e12, 1e12), Distance::Below(0.0));
        assert_eq!(distance(1.03e12, 1e12), Distance::Impossible);
    }
}
