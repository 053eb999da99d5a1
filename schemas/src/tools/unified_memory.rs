//! `unified_memory`: traffic between host and GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;
use crate::TraceHealth;

/// Contract of `unified_memory.analyze_paging`.
pub struct AnalyzePaging;

impl Contract for AnalyzePaging {
    const NAME: &'static str = "unified_memory.analyze_paging";
    type Input = AnalyzePagingInput;
    type Output = AnalyzePagingOutput;
}

/// Arguments of `unified_memory.analyze_paging`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalyzePagingInput {
    /// rocpd file or folder, a path.
    #[schemars(length(max = 4096))]
    pub db_path: String,
    /// Repeated copies to return, a count.
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: usize,
    /// Repeated copies to skip, a count.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub offset: usize,
}

const fn ten() -> usize {
    10
}

/// Copies of one direction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Traffic {
    /// Copies.
    pub count: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Summed durations, ns.
    pub duration_ns: u64,
    /// Union of their times, ns.
    pub busy_ns: u64,
    /// Bytes over summed durations, 1e9 bytes per second; null without duration.
    pub gbps: Option<f64>,
    /// Mean size, bytes; null without copies.
    pub mean_bytes: Option<f64>,
    /// Copies below 65,536 bytes.
    pub small_count: u64,
    /// Bytes these moved.
    pub small_bytes: u64,
}

/// Copies of one size to or from one address on a GPU.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RepeatedCopy {
    /// host_to_device or device_to_host.
    pub direction: String,
    /// Size of each, bytes.
    pub bytes_each: u64,
    /// Copies.
    pub count: u64,
    /// Bytes of all.
    pub total_bytes: u64,
    /// Summed durations, ns.
    pub total_ns: u64,
    /// Address on the GPU, hexadecimal.
    pub address: String,
}

/// Answer of `unified_memory.analyze_paging`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnalyzePagingOutput {
    /// Page migrations; null when not recorded.
    pub paging_events: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paging_events_reason: Option<String>,
    /// Page faults; null when not recorded.
    pub page_faults: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_faults_reason: Option<String>,
    /// Always null.
    pub cross_die_bytes: Option<u64>,
    /// Why it is null.
    pub cross_die_bytes_reason: String,
    /// Time of migrations and faults, ns; null when none has a duration.
    pub estimated_penalty_ns: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_penalty_ns_reason: Option<String>,
    /// Copies to GPUs.
    pub host_to_device: Traffic,
    /// Copies from GPUs.
    pub device_to_host: Traffic,
    /// Copies within and between GPUs.
    pub device_to_device: Traffic,
    /// Copies within host memory.
    pub host_to_host: Traffic,
    /// Bytes between different GPUs.
    pub peer_bytes: u64,
    /// Copies of unnamed direction.
    pub unknown_direction: Traffic,
    /// Time of host copies over the window, 0 to 1.
    pub host_traffic_share: f64,
    /// Its part under no kernel, 0 to 1.
    pub exposed_host_copy_share: f64,
    /// Copies repeated to one address.
    pub repeated_copies: Vec<RepeatedCopy>,
    /// Repeated copies in all.
    pub total: u64,
    /// Repeated copies returned.
    pub returned: u64,
    /// Whether more exist.
    pub truncated: bool,
    /// What to do, at most 5.
    pub recommendations: Vec<String>,
    /// State of the trace.
    pub trace_health: TraceHealth,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
