//! Which frameworks and libraries an include or an import stands for.

use crate::model::{Framework, Library};

/// Header prefixes; the folder forms are the installed layout, the plain ones older releases.
const HEADERS: &[(&str, Library)] = &[
    ("rocblas", Library::RocBlas),
    ("hipblaslt", Library::HipBlasLt),
    ("hipblas/", Library::HipBlas),
    ("hipblas.h", Library::HipBlas),
    ("miopen", Library::MiOpen),
    ("rccl", Library::Rccl),
    ("nccl", Library::Rccl),
    ("rocfft", Library::RocFft),
    ("hipfft", Library::RocFft),
    ("rocprim", Library::RocPrim),
    ("hipcub", Library::RocPrim),
    ("ck/", Library::ComposableKernel),
    ("ck_tile/", Library::ComposableKernel),
    ("rocwmma", Library::RocWmma),
    ("Kokkos_", Library::Kokkos),
    ("RAJA/", Library::Raja),
    ("mpi.h", Library::Mpi),
];

/// Python modules that are libraries.
const MODULES: &[(&str, Library)] = &[
    ("mpi4py", Library::Mpi),
    ("cupy.cuda.nccl", Library::Rccl),
    ("hip.rccl", Library::Rccl),
    ("hip.hipblas", Library::HipBlas),
    ("hip.rocblas", Library::RocBlas),
];

/// Libraries a header belongs to.
pub(crate) fn included(header: &str) -> impl Iterator<Item = Library> + use<'_> {
    HEADERS.iter().filter(|(prefix, _)| header.starts_with(prefix)).map(|(_, library)| *library)
}

/// Libraries a dotted Python module belongs to.
pub(crate) fn imported_libraries(module: &str) -> impl Iterator<Item = Library> + use<'_> {
    MODULES.iter().filter(|(name, _)| within(module, name)).map(|(_, library)| *library)
}

/// Framework a dotted Python module belongs to.
pub(crate) fn imported_framework(module: &str) -> Option<Framework> {
    let framework = match module.split('.').next()? {
        "torch" | "torchvision" | "torchaudio" => Framework::PyTorch,
        "jax" | "jaxlib" => Framework::Jax,
        "tensorflow" => Framework::TensorFlow,
        "triton" => Framework::Triton,
        "cupy" | "cupyx" => Framework::CuPy,
        "numba" => Framework::Numba,
        _ => return None,
    };
    Some(framework)
}

fn within(module: &str, name: &str) -> bool {
    module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
