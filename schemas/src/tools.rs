//! One module per tool namespace; each tool's name, input and output stand there and nowhere else.

pub mod agent;
pub mod arch;
pub mod att;
pub mod bottleneck;
pub mod compiler;
pub mod counters;
pub mod dependency_graph;
pub mod gpu_runtime_monitor;
pub mod intent;
pub mod interconnect;
pub mod kernel_fusion;
pub mod memory;
pub mod metrics;
pub mod occupancy;
pub mod plateau;
pub mod pragma;
pub mod predict_impact;
pub mod profiling;
pub mod rccl_analysis;
pub mod regression;
pub mod roofline;
pub mod sol;
pub mod topdown;
pub mod trace_diff;
pub mod trace_fingerprint;
pub mod tracelens;
pub mod unified_memory;
pub mod workflow;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// The contract of one tool.
pub trait Contract: 'static {
    /// `namespace.function`.
    const NAME: &'static str;
    /// The argument object: a closed object with defaults.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// The answer: an object whose fields stand in wire order.
    type Output: Serialize + JsonSchema + Send + 'static;
}
