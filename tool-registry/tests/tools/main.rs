//! Every tool against its contract: one module a namespace, one binary because linking dominates the time.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod ask;
mod databases;
mod lint;
mod runs;

mod agent;
mod arch;
mod att;
mod bottleneck;
mod compiler;
mod counters;
mod dependency_graph;
mod gpu_runtime_monitor;
mod intent;
mod interconnect;
mod kernel_fusion;
mod memory;
mod metrics;
mod occupancy;
mod plateau;
mod pragma;
mod predict_impact;
mod profiling;
mod rccl_analysis;
mod regression;
mod roofline;
mod sol;
mod topdown;
mod trace_diff;
mod trace_fingerprint;
mod tracelens;
mod unified_memory;
mod workflow;
