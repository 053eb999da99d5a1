//! Turns a trace and facts into metrics, findings, verdicts and recommendations.

pub mod occupancy;
pub mod plateau;
pub mod roofline;
pub mod rounding;
pub mod verdict;
