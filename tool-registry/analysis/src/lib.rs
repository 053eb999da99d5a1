//! Turns a trace and facts into metrics, findings, verdicts and recommendations. It never opens a file, never reads the
//! clock and never talks to a model: rows come from the trace's streams, facts from the knowledge crate.
//!
//! [`sweep::profile`] reads a run once and returns a [`RunProfile`]; everything else is a pure function of values.

pub mod collection;
pub mod communication;
pub mod compare;
pub mod counter_passes;
pub mod counters;
pub mod evidence;
pub mod fingerprint;
pub mod fusion;
pub mod gpu;
pub mod graph;
pub mod health;
pub mod hotspots;
pub mod impact;
pub mod intent;
pub mod loop_hints;
pub mod missing;
pub mod naming;
pub mod narrative;
pub mod occupancy;
pub mod plateau;
pub mod profile;
pub mod recommend;
pub mod resources;
pub mod roofline;
pub mod rounding;
pub mod smi;
pub mod source_plan;
mod stream_order;
pub mod sweep;
pub mod thermal;
pub mod thread_trace;
pub mod unified_memory;
pub mod units;
pub mod verdict;
pub mod words;

pub use profile::RunProfile;
pub use units::{Bytes, BytesPerSecond, Nanos, Percent, shares};
