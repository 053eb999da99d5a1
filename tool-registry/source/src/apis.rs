//! Names of the GPU APIs a scan looks for.

use crate::model::PatternId;

/// What a call is, as far as patterns and counts are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Occurrence of a pattern.
    Pattern(PatternId),
    /// `clEnqueueReadBuffer` and kin: blocking or not by their third argument.
    ClTransfer,
    /// A copy that does not wait.
    AsyncCopy,
    /// A stream is made; in a loop that is also [`PatternId::CreateInLoop`].
    StreamCreate,
    /// A roctx or nvtx range or mark.
    Marker,
}

/// Copies that wait, after the prefix `hip`, `cuda` or `cu`.
const COPIES: &[&str] = &[
    "Memcpy",
    "MemcpyHtoD",
    "MemcpyDtoH",
    "MemcpyDtoD",
    "MemcpyAtoH",
    "MemcpyHtoA",
    "MemcpyAtoD",
    "MemcpyDtoA",
    "MemcpyAtoA",
    "Memcpy2D",
    "Memcpy3D",
    "MemcpyParam2D",
    "Memcpy2DToArray",
    "Memcpy2DFromArray",
    "MemcpyToArray",
    "MemcpyFromArray",
    "MemcpyToSymbol",
    "MemcpyFromSymbol",
    "MemcpyWithStream",
    "MemcpyPeer",
    "Memcpy3DPeer",
    "Memcpy2DUnaligned",
];

/// Calls that wait for the GPU.
const SYNCHRONISATIONS: &[&str] =
    &["DeviceSynchronize", "StreamSynchronize", "EventSynchronize", "CtxSynchronize", "ThreadSynchronize"];

/// Calls that allocate, free or register memory and so enter the driver; stream-ordered forms are left out, they are
/// the remedy.
const ALLOCATIONS: &[&str] = &[
    "Malloc",
    "Free",
    "HostMalloc",
    "HostFree",
    "HostAlloc",
    "MallocHost",
    "FreeHost",
    "MallocManaged",
    "MallocPitch",
    "Malloc3D",
    "MallocArray",
    "Malloc3DArray",
    "FreeArray",
    "HostRegister",
    "HostUnregister",
    "MemAlloc",
    "MemFree",
    "MemAllocHost",
    "MemFreeHost",
    "MemHostAlloc",
    "MemAllocManaged",
    "MemAllocPitch",
    "MemHostRegister",
    "MemHostUnregister",
];

/// Objects that are costly to make, by the start of the call's name.
const CREATIONS: &[&str] = &[
    "hipStreamCreate",
    "cudaStreamCreate",
    "cuStreamCreate",
    "hipEventCreate",
    "cudaEventCreate",
    "cuEventCreate",
    "hipModuleLoad",
    "cuModuleLoad",
    "hiprtcCompileProgram",
    "nvrtcCompileProgram",
    "hipblasCreate",
    "cublasCreate",
    "hipblasLtCreate",
    "cublasLtCreate",
    "rocblas_create_handle",
    "ncclCommInit",
];

/// Classifies the name of a call in C or C++.
pub(crate) fn classify(name: &str) -> Option<Call> {
    // Later versions of a driver function carry its version, per-thread-stream forms their mode.
    let plain = ["_v2", "_v3", "_spt", "_ptsz", "_ptds"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    if let Some(suffix) = gpu_suffix(plain) {
        if suffix.starts_with("StreamCreate") {
            return Some(Call::StreamCreate);
        }
        if suffix.starts_with("Mem") && suffix.contains("cpy") && suffix.ends_with("Async") {
            return Some(Call::AsyncCopy);
        }
        for (table, pattern) in [
            (COPIES, PatternId::MemcpySync),
            (SYNCHRONISATIONS, PatternId::DeviceSync),
            (ALLOCATIONS, PatternId::AllocInLoop),
        ] {
            if table.contains(&suffix) {
                return Some(Call::Pattern(pattern));
            }
        }
    }
    if CREATIONS.iter().any(|start| plain.starts_with(start)) {
        return Some(Call::Pattern(PatternId::CreateInLoop));
    }
    match plain {
        "clFinish" => Some(Call::Pattern(PatternId::DeviceSync)),
        "clEnqueueReadBuffer" | "clEnqueueWriteBuffer" => Some(Call::ClTransfer),
        "hipExtMallocWithFlags" => Some(Call::Pattern(PatternId::AllocInLoop)),
        _ if is_marker(plain) => Some(Call::Marker),
        _ => None,
    }
}

/// Rest of a name after `hip`, `cuda` or `cu` when an upper-case letter follows.
pub(crate) fn gpu_suffix(name: &str) -> Option<&str> {
    ["hip", "cuda", "cu"]
        .iter()
        .filter_map(|prefix| name.strip_prefix(prefix))
        .find(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn is_marker(name: &str) -> bool {
    ["roctx", "nvtx"].iter().filter_map(|prefix| name.strip_prefix(prefix)).any(|rest| {
        rest.starts_with("Range")
            || rest.starts_with("Mark")
            || rest.starts_with("DomainRange")
            || rest.starts_with("DomainMark")
    })
}

/// How a launch call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchCall {
    /// The kernel is named by the argument at this position.
    Kernel(usize),
    /// The argument is a module's function handle.
    Module(usize),
    /// The argument is an executable graph.
    Graph(usize),
    /// The argument is an OpenCL kernel object.
    OpenCl(usize),
}

/// Form of a launch call and the position of its stream argument, when it has one.
pub(crate) fn launch_call(name: &str) -> Option<(LaunchCall, Option<usize>)> {
    let form = match name {
        "hipLaunchKernelGGL" | "hipExtLaunchKernelGGL" | "hipLaunchKernelGGLInternal" => {
            (LaunchCall::Kernel(0), Some(4))
        }
        "hipLaunchKernel"
        | "hipExtLaunchKernel"
        | "hipLaunchCooperativeKernel"
        | "cudaLaunchKernel"
        | "cudaLaunchCooperativeKernel"
        | "hipLaunchKernel_spt" => (LaunchCall::Kernel(0), Some(5)),
        "cudaLaunchKernelEx" | "cudaLaunchKernelExC" | "hipLaunchKernelEx" | "hipLaunchKernelExC" => {
            (LaunchCall::Kernel(1), None)
        }
        "hipModuleLaunchKernel"
        | "hipExtModuleLaunchKernel"
        | "hipHccModuleLaunchKernel"
        | "hipModuleLaunchCooperativeKernel"
        | "cuLaunchKernel"
        | "cuLaunchCooperativeKernel" => (LaunchCall::Module(0), Some(8)),
        "hipGraphLaunch" | "cudaGraphLaunch" | "cuGraphLaunch" => (LaunchCall::Graph(0), Some(1)),
        "clEnqueueNDRangeKernel" => (LaunchCall::OpenCl(1), Some(0)),
        _ => return None,
    };
    Some(form)
}

/// Values of a stream argument that mean the default stream.
pub(crate) const DEFAULT_STREAMS: &[&str] = &[
    "0",
    "nullptr",
    "NULL",
    "hipStreamDefault",
    "cudaStreamDefault",
    "hipStreamLegacy",
    "cudaStreamLegacy",
    "{}",
];

/// Atomic operations of HIP and CUDA device code, without the ending for their scope.
const ATOMICS: &[&str] = &[
    "atomicAdd",
    "atomicSub",
    "atomicExch",
    "atomicMin",
    "atomicMax",
    "atomicInc",
    "atomicDec",
    "atomicCAS",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
];
/// The same, by the start of the name.
const ATOMIC_STARTS: &[&str] = &[
    "unsafeAtomic",
    "safeAtomic",
    "__hip_atomic_",
    "__builtin_amdgcn_global_atomic",
    "__builtin_amdgcn_flat_atomic",
];

/// True for an atomic operation of device code. OpenCL's names count in OpenCL files only: host C has the same ones.
pub(crate) fn is_atomic(name: &str, opencl: bool) -> bool {
    let base = name.trim_end_matches("_system").trim_end_matches("_block").trim_end_matches("_noret");
    ATOMICS.contains(&base)
        || ATOMIC_STARTS.iter().any(|start| name.starts_with(start))
        || (opencl && (name.starts_with("atomic_") || name.starts_with("atom_")))
}

/// True for a builtin of the matrix units.
pub(crate) fn is_matrix_builtin(name: &str) -> bool {
    name.strip_prefix("__builtin_amdgcn_")
        .is_some_and(|rest| ["mfma", "smfmac", "wmma", "swmmac"].iter().any(|unit| rest.starts_with(unit)))
}

/// True for a call that waits for the GPU in Python, by the name of its last attribute.
pub(crate) fn is_python_sync(attribute: &str) -> bool {
    matches!(attribute, "item" | "cpu" | "numpy" | "tolist" | "block_until_ready")
}
