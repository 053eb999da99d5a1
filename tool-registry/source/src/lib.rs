//! Scans a source tree for GPU kernels, launches and code patterns.
//!
//! The scan reads files and nothing else: it runs nothing, writes nothing and follows no link. What it returns is
//! typed and ordered; the same tree gives the same result.

mod apis;
mod clike;
mod ecosystem;
mod file_scan;
mod intervals;
pub mod limits;
mod locate;
mod model;
mod names;
mod patterns;
mod python;
mod scan;
mod scanner;
mod text;
mod walk;

pub use limits::ScanOptions;
pub use model::{
    Bound, CodeFeatures, Framework, Kernel, KernelLoop, Launch, LaunchBounds, LaunchType, Library, Location,
    LoopContext, MatchKind, Occurrence, Pattern, PatternId, PatternSeverity, ProgrammingModel, RowKind, Site,
    SkipReason, Skipped, StreamUse, Usage,
};
pub use names::qualified_name;
pub use scan::{Counts, PlanInputs, Scan};
pub use scanner::{ScanError, scan};
