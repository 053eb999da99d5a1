//! Number formats of operations, and the peak of each on each pipe.

use perfxpert_knowledge::arch::Peaks;
use perfxpert_knowledge::kernels;

/// Number format of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dtype {
    /// 64-bit floats.
    Fp64,
    /// 32-bit floats, XF32 among them.
    Fp32,
    /// 16-bit floats.
    Fp16,
    /// 16-bit brain floats.
    Bf16,
    /// 8-bit floats.
    Fp8,
    /// 8-bit integers.
    Int8,
    /// 6- and 4-bit floats.
    Fp4,
}

impl Dtype {
    /// The formats of a table of peaks, in its order.
    pub const TABLE: [Self; 6] = [Self::Fp64, Self::Fp32, Self::Fp16, Self::Bf16, Self::Fp8, Self::Int8];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Int8 => "int8",
            Self::Fp4 => "fp4",
        }
    }

    /// The format of a word, in any case.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::TABLE.into_iter().find(|dtype| dtype.as_str().eq_ignore_ascii_case(word.trim()))
    }

    /// The format a kernel's name speaks of.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        kernels::dtype(name).and_then(Self::parse)
    }

    /// Highest peak a kernel of this format is held against, operations per second: vector units for FP64 and FP32, the
    /// fastest pipe for the others. `None` where the GPU lacks the format.
    #[must_use]
    pub fn peak(self, peaks: &Peaks) -> Option<f64> {
        tera(match self {
            Self::Fp64 => Some(peaks.fp64),
            Self::Fp32 => Some(peaks.fp32),
            Self::Fp16 => peaks.fp16,
            Self::Bf16 => peaks.bf16,
            Self::Fp8 => peaks.fp8,
            Self::Int8 => peaks.int8,
            Self::Fp4 => peaks.fp4_matrix,
        })
    }
}

fn tera(peak: Option<f64>) -> Option<f64> {
    peak.filter(|peak| *peak > 0.0).map(|peak| peak * 1e12)
}

/// Operations of one format on one pipe, as counters name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Metric of the formula table.
    pub(super) metric: &'static str,
    pub(super) dtype: Dtype,
    pub(super) matrix: bool,
    pub(super) xf32: bool,
}

const fn vector(metric: &'static str, dtype: Dtype) -> Kind {
    Kind { metric, dtype, matrix: false, xf32: false }
}

const fn matrix(metric: &'static str, dtype: Dtype) -> Kind {
    Kind { metric, dtype, matrix: true, xf32: false }
}

/// Every kind of operation that is counted by format.
pub(super) const KINDS: [Kind; 11] = [
    vector("vector_fp64_flops", Dtype::Fp64),
    vector("vector_fp32_flops", Dtype::Fp32),
    vector("vector_fp16_flops", Dtype::Fp16),
    matrix("matrix_fp64_flops", Dtype::Fp64),
    matrix("matrix_fp32_flops", Dtype::Fp32),
    Kind { metric: "matrix_xf32_flops", dtype: Dtype::Fp32, matrix: true, xf32: true },
    matrix("matrix_fp16_flops", Dtype::Fp16),
    matrix("matrix_bf16_flops", Dtype::Bf16),
    matrix("matrix_fp8_flops", Dtype::Fp8),
    matrix("matrix_fp4_flops", Dtype::Fp4),
    matrix("matrix_int8_ops", Dtype::Int8),
];

impl Kind {
    /// Peak of the pipe these operations run on.
    pub(super) fn peak(self, peaks: &Peaks) -> Option<f64> {
        let own = match (self.matrix, self.dtype) {
            (false, Dtype::Fp16) => peaks.fp16_vector.or(peaks.fp16),
            (true, Dtype::Fp64) => peaks.fp64_matrix,
            // Without XF32 units the matrix cores do such products as FP32.
            (true, Dtype::Fp32) if self.xf32 => peaks.xf32_matrix.or(peaks.fp32_matrix),
            (true, Dtype::Fp32) => peaks.fp32_matrix,
            _ => return self.dtype.peak(peaks),
        };
        tera(own)
    }
}
