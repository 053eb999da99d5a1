//! Properties that tell architectures apart.

use serde::Deserialize;

/// Architecture generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Family {
    /// MI100.
    CDNA1,
    /// MI200 series.
    CDNA2,
    /// MI300 series.
    CDNA3,
    /// MI350 series.
    CDNA4,
    /// RX 6000 series.
    RDNA2,
    /// RX 7000 series.
    RDNA3,
    /// RX 9000 series.
    RDNA4,
}

impl Family {
    /// The name as printed, `CDNA3`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CDNA1 => "CDNA1",
            Self::CDNA2 => "CDNA2",
            Self::CDNA3 => "CDNA3",
            Self::CDNA4 => "CDNA4",
            Self::RDNA2 => "RDNA2",
            Self::RDNA3 => "RDNA3",
            Self::RDNA4 => "RDNA4",
        }
    }

    /// Whether it is a compute (CDNA) part; the others are RDNA.
    pub fn is_cdna(self) -> bool {
        matches!(self, Self::CDNA1 | Self::CDNA2 | Self::CDNA3 | Self::CDNA4)
    }
}

/// Which matrix instructions a GPU has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatrixPipe {
    /// CDNA matrix cores.
    Mfma,
    /// RDNA wave matrix instructions.
    Wmma,
    /// None.
    None,
}

impl MatrixPipe {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mfma => "mfma",
            Self::Wmma => "wmma",
            Self::None => "none",
        }
    }
}

/// How arch and accumulation VGPRs share the register file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegisterFiles {
    /// One file holds both: arch rounded up to 4, plus acc.
    Unified,
    /// Two files of equal size; the larger use decides.
    Separate,
    /// No accumulation registers.
    Arch,
}

/// How rocprofv3 writes register counts into a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegisterEncoding {
    /// `arch_vgpr_count` is where the accumulation registers start, `accum_vgpr_count` the rest; the sum is
    /// already rounded to the granule.
    ArchPlusAccum,
    /// `accum_vgpr_count` is 0 and `arch_vgpr_count` is half of the unified total.
    Halved,
    /// `accum_vgpr_count` repeats `arch_vgpr_count`.
    AccumRepeatsArch,
    /// `arch_vgpr_count` is the total; `sgpr_count` is the constant 128.
    ArchOnly,
}

/// PC sampling a GPU supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PcSampling {
    /// None.
    None,
    /// Host-trap only: where waves are, not why they wait.
    HostTrap,
    /// Also stochastic, with stall reasons.
    Stochastic,
}
