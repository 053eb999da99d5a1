//! Kernels, symbols, call names, queues, streams, launch shapes and counters.

use std::sync::Arc;

use super::{KernelIdx, ProcessIdx};

/// One kernel: every symbol with the same cleaned name.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Cleaned display name: demangled, without `.kd`, ` [clone ...]`, `.llvm.<n>`, `.__uniq.<n>`; whole, however long.
    pub name: Arc<str>,
    /// Display name of the first symbol before cleaning.
    pub full_name: Arc<str>,
    /// First 8 hex digits of the SHA-256 of `name`.
    pub id8: String,
    /// False when dispatches refer to a symbol the file does not hold (`<unknown kernel N>`).
    pub described: bool,
}

/// One kernel symbol of one process.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The process that loaded it.
    pub process: ProcessIdx,
    /// Kernel id in the process; 0 is valid.
    pub id: i64,
    /// Its kernel.
    pub kernel: KernelIdx,
    /// Linker name, usually mangled and with `.kd`.
    pub mangled: Option<Arc<str>>,
    /// Architectural vector registers, as recorded.
    pub arch_vgpr: Option<u32>,
    /// Accumulation vector registers, as recorded.
    pub accum_vgpr: Option<u32>,
    /// Scalar registers, as recorded.
    pub sgpr: Option<u32>,
    /// Static LDS per workgroup, bytes.
    pub lds_bytes: Option<u32>,
    /// Static scratch per work-item, bytes.
    pub scratch_bytes: Option<u32>,
    /// Kernel arguments, bytes.
    pub kernarg_bytes: Option<u32>,
}

/// One launch shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Work-items per workgroup, x y z.
    pub workgroup: [u32; 3],
    /// Work-items of the whole grid, x y z.
    pub grid: [u32; 3],
    /// LDS per workgroup including the dynamic part, bytes; `None` when not recorded.
    pub lds_bytes: Option<u32>,
    /// Scratch per work-item, bytes; `None` when not recorded.
    pub scratch_bytes: Option<u32>,
}

/// Which interface a host call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// HIP runtime.
    HipRuntime,
    /// HIP compiler interface (launch configuration, registration).
    HipCompiler,
    /// HSA runtime.
    Hsa,
    /// Collective communication.
    Rccl,
    /// roctx ranges and marks.
    Marker,
    /// Kernel-driver events.
    Kfd,
    /// Anything else.
    Other,
}

/// A call's function name with its family, or a marker's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The text.
    pub text: Arc<str>,
    /// The family of the category it was recorded under.
    pub family: Family,
}

/// One hardware queue of one process.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The process.
    pub process: ProcessIdx,
    /// Queue id; 0 is valid.
    pub id: i64,
    /// Name as recorded; `None` when no row describes it.
    pub name: Option<String>,
}

/// One stream of one process.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The process.
    pub process: ProcessIdx,
    /// Stream id; 0 is valid.
    pub id: i64,
    /// Name as recorded; `None` when no row describes it.
    pub name: Option<String>,
}

/// One host thread of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The process.
    pub process: ProcessIdx,
    /// Operating-system thread id, or the row id when the thread is not described.
    pub tid: i64,
}

/// One hardware counter, by name over all files.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Name (`SQ_WAVES`).
    pub name: Arc<str>,
    /// Hardware block, when recorded.
    pub block: Option<String>,
    /// Formula of a derived counter, when recorded.
    pub expression: Option<String>,
    /// Whether the writer calls it derived.
    pub derived: bool,
}
