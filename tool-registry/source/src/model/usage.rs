//! Frameworks, libraries and features a tree uses.

use super::Site;

/// A Python framework or a GPU library the tree uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage<T> {
    /// What is used.
    pub what: T,
    /// Number of files that use it.
    pub files: u64,
    /// First use in file order.
    pub first: Site,
}

/// A Python framework.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framework {
    /// `torch`.
    PyTorch,
    /// `jax`.
    Jax,
    /// `tensorflow`.
    TensorFlow,
    /// `triton`.
    Triton,
    /// `cupy`.
    CuPy,
    /// `numba`.
    Numba,
}

impl Framework {
    /// Name as shown and as written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::PyTorch => "PyTorch",
            Self::Jax => "JAX",
            Self::TensorFlow => "TensorFlow",
            Self::Triton => "Triton",
            Self::CuPy => "CuPy",
            Self::Numba => "Numba",
        }
    }
}

/// A GPU or parallel library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Library {
    /// rocBLAS.
    RocBlas,
    /// hipBLAS.
    HipBlas,
    /// hipBLASLt.
    HipBlasLt,
    /// MIOpen.
    MiOpen,
    /// RCCL (or NCCL, which it replaces).
    Rccl,
    /// rocFFT (or hipFFT, its front).
    RocFft,
    /// rocPRIM, hipCUB or rocThrust.
    RocPrim,
    /// Composable Kernel.
    ComposableKernel,
    /// rocWMMA.
    RocWmma,
    /// Kokkos.
    Kokkos,
    /// RAJA.
    Raja,
    /// MPI.
    Mpi,
    /// OpenMP target offload.
    OpenMpOffload,
}

impl Library {
    /// Name as shown and as written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::RocBlas => "rocBLAS",
            Self::HipBlas => "hipBLAS",
            Self::HipBlasLt => "hipBLASLt",
            Self::MiOpen => "MIOpen",
            Self::Rccl => "RCCL",
            Self::RocFft => "rocFFT",
            Self::RocPrim => "rocPRIM/hipCUB",
            Self::ComposableKernel => "Composable Kernel",
            Self::RocWmma => "rocWMMA",
            Self::Kokkos => "Kokkos",
            Self::Raja => "RAJA",
            Self::Mpi => "MPI",
            Self::OpenMpOffload => "OpenMP offload",
        }
    }
}

/// Counts of constructs that decide which counters are worth collecting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeFeatures {
    /// `__shared__` declarations, `HIP_DYNAMIC_SHARED`, OpenCL `__local`.
    pub lds_arrays: u64,
    /// MFMA, SMFMAC and WMMA builtins.
    pub mfma_builtins: u64,
    /// Atomic operations on memory.
    pub atomics: u64,
    /// `double` in device code.
    pub double_precision: u64,
    /// `__launch_bounds__` attributes.
    pub launch_bounds: u64,
    /// `#pragma unroll` and kin.
    pub unroll_pragmas: u64,
}
