//! What a source scan says before, and beside, a trace: how to profile, which code patterns to look at, and in words.

mod advice;
mod commands;
mod narrative;
mod placement;

pub use advice::{CodeAdvice, code_advice};
pub use commands::{PlannedCommand, PlannedPass, ProfilingPlan, Recorded, plan};
pub use narrative::source_only_narrative;
pub use placement::{Measured, Placement, Priority, place};

#[cfg(test)]
mod tests;
