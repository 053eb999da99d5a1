//! Scans a source tree for GPU kernels, launches and code patterns.
//!
//! The scan reads files and nothing else: it runs nothing, writes nothing and follows no link. What it returns is
//! typed and ordered; the same tree gives the same result.

pub mod limits;
mod locate;
mod model;
mod names;
mod scan;

pub use limits::ScanOptions;
pub use model::{
    Bound, CodeFeatures, Framework, Kernel, KernelLoop, Launch, LaunchBounds, LaunchType, Library, Location,
    LoopContext, MatchKind, Occurrence, Pattern, PatternId, PatternSeverity, ProgrammingModel, RowKind, Site,
    SkipReason, Skipped, StreamUse, Usage,
};
pub use names::qualified_name;
pub use scan::{Counts, PlanInputs, Scan};
