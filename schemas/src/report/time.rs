//! Where the time went: integer nanoseconds whose exclusive parts add up to the window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Flat time figures under the original's names; every key is absent without a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeBreakdown {
    /// The figures, absent in a source-only report.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<TimeFigures>,
}

/// The figures of `time_breakdown`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeFigures {
    /// First start to last end over all GPUs of the longest machine, ns.
    pub total_runtime: u64,
    /// Plain sum of dispatch durations, ns.
    pub total_kernel_time: u64,
    /// Plain sum of copy durations, ns.
    pub total_memcpy_time: u64,
    /// Kernel share of the windows, percent.
    pub kernel_percent: f64,
    /// Exposed-copy share of the windows, percent.
    pub memcpy_percent: f64,
    /// Share of the windows with neither, while a host call is open, percent.
    pub overhead_percent: f64,
    /// The rest of the windows, percent.
    pub idle_percent: f64,
    /// Union of kernels, summed over GPUs, ns.
    pub kernel_busy_ns: u64,
    /// Copies without a kernel beside them, ns.
    pub exposed_memcpy_ns: u64,
    /// Neither kernel nor copy while a host call is open, ns.
    pub host_api_ns: u64,
    /// Nothing at all, ns.
    pub idle_ns: u64,
    /// Copies under a kernel, ns.
    pub overlap_ns: u64,
    /// Dispatches.
    pub kernel_count: u64,
    /// Copies.
    pub copy_count: u64,
    /// Sum of the windows, ns; present with more than one file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalized_runtime: Option<u64>,
    /// One row per GPU, equal to `execution_breakdown.per_agent`.
    pub agents: Vec<AgentTime>,
}

/// The time figures in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionBreakdown {
    /// First start to last end of the longest machine, ns.
    pub total_runtime_ns: u64,
    /// Sum of the windows, ns: what every share of the run is divided by.
    pub normalized_runtime_ns: u64,
    /// Union of kernels, ns.
    pub kernel_time_ns: u64,
    /// Percent of the windows.
    pub kernel_time_pct: f64,
    /// Exposed copies, ns.
    pub memcpy_time_ns: u64,
    /// Percent of the windows.
    pub memcpy_time_pct: f64,
    /// Exposed host calls, ns.
    pub api_overhead_ns: u64,
    /// Percent of the windows.
    pub api_overhead_pct: f64,
    /// Idle, ns.
    pub idle_time_ns: u64,
    /// Percent of the windows.
    pub idle_time_pct: f64,
    /// Whether host calls were traced; without them their time counts as idle.
    pub api_known: bool,
    /// Plain sum of dispatch durations, ns.
    pub summed_kernel_ns: u64,
    /// Plain sum of copy durations, ns.
    pub summed_copy_ns: u64,
    /// Copy time under a kernel, ns.
    pub overlapped_copy_ns: u64,
    /// Summed minus union of kernels, ns.
    pub concurrent_kernel_ns: u64,
    /// One row per GPU, in the order of `gpus`.
    pub per_agent: Vec<AgentTime>,
    /// Rows before the cut.
    pub per_agent_total: u64,
}

/// The time of one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentTime {
    /// Index in `gpus`.
    pub agent: u64,
    /// Architecture id, such as gfx942.
    pub gfx_id: Option<String>,
    /// Start of its window from the run's first event, ns.
    pub window_start_ns: u64,
    /// First start to last end of its work, ns.
    pub window_ns: u64,
    /// Union of kernels, ns.
    pub kernel_ns: u64,
    /// Percent of its window.
    pub kernel_pct: f64,
    /// Copies without a kernel, ns.
    pub exposed_copy_ns: u64,
    /// Percent of its window.
    pub exposed_copy_pct: f64,
    /// Neither, while a host call is open, ns.
    pub exposed_api_ns: u64,
    /// Percent of its window.
    pub exposed_api_pct: f64,
    /// The rest, ns.
    pub idle_ns: u64,
    /// Percent of its window.
    pub idle_pct: f64,
    /// Plain sum of dispatch durations, ns.
    pub summed_kernel_ns: u64,
    /// Copy time under a kernel, ns.
    pub overlapped_copy_ns: u64,
    /// Summed minus union of kernels, ns.
    pub concurrent_kernel_ns: u64,
    /// Dispatches on it.
    pub dispatches: u64,
    /// Copies that touch it.
    pub copies: u64,
}
