//! `metrics`: ratios of counter values that were already summed over instances.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `metrics.compute_gpu_utilization`.
pub struct ComputeGpuUtilization;

impl Contract for ComputeGpuUtilization {
    const NAME: &'static str = "metrics.compute_gpu_utilization";
    type Input = GpuUtilizationInput;
    type Output = GpuUtilizationOutput;
}

/// Arguments of `metrics.compute_gpu_utilization`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuUtilizationInput {
    /// GRBM_GUI_ACTIVE, cycles.
    #[schemars(range(min = 0.0))]
    pub grbm_gui_active: f64,
    /// GRBM_COUNT, cycles, above 0.
    #[schemars(range(min = 0.0))]
    pub grbm_count: f64,
}

/// Answer of `metrics.compute_gpu_utilization`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GpuUtilizationOutput {
    /// Busy share of the window, a fraction.
    pub gpu_utilization: f64,
    /// `fraction`.
    pub unit: &'static str,
    /// What the figure cannot tell; only when it is about 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Contract of `metrics.compute_l1_miss_rate`.
pub struct ComputeL1MissRate;

impl Contract for ComputeL1MissRate {
    const NAME: &'static str = "metrics.compute_l1_miss_rate";
    type Input = L1MissRateInput;
    type Output = L1MissRateOutput;
}

/// Arguments of `metrics.compute_l1_miss_rate`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L1MissRateInput {
    /// TCP_TCC_READ_REQ_sum, a count of read requests to L2.
    #[schemars(range(min = 0.0))]
    pub tcp_tcc_read_req: f64,
    /// TCP_TOTAL_READ_sum, a count; needed without tcp_total_cache_accesses.
    #[schemars(range(min = 0.0))]
    pub tcp_total_read: Option<f64>,
    /// TCP_TOTAL_CACHE_ACCESSES_sum, a count; the better base.
    #[schemars(range(min = 0.0))]
    pub tcp_total_cache_accesses: Option<f64>,
    /// TCP_TCC_WRITE_REQ_sum, a count.
    #[schemars(range(min = 0.0))]
    pub tcp_tcc_write_req: Option<f64>,
    /// TCP_TCC_ATOMIC_WITH_RET_REQ_sum and its like, a count.
    #[schemars(range(min = 0.0))]
    pub tcp_tcc_atomic_req: Option<f64>,
}

/// How a miss rate was formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissRateMethod {
    /// Requests to L2 over cache accesses.
    CacheAccesses,
    /// Read requests to L2 over reads, of different granularity.
    ReadRequests,
}

/// Answer of `metrics.compute_l1_miss_rate`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct L1MissRateOutput {
    /// Misses over accesses, a fraction.
    pub l1_miss_rate: f64,
    /// `fraction`.
    pub unit: &'static str,
    /// Which counters formed the rate.
    pub method: MissRateMethod,
    /// Both counters have one granularity.
    pub reliable: bool,
    /// Why it is not reliable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Contract of `metrics.compute_l2_hit_rate`.
pub struct ComputeL2HitRate;

impl Contract for ComputeL2HitRate {
    const NAME: &'static str = "metrics.compute_l2_hit_rate";
    type Input = L2HitRateInput;
    type Output = L2HitRateOutput;
}

/// Arguments of `metrics.compute_l2_hit_rate`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2HitRateInput {
    /// TCC_HIT_sum (RDNA: GL2C_HIT_sum), a count.
    #[schemars(range(min = 0.0))]
    pub tcc_hit: f64,
    /// TCC_MISS_sum (RDNA: GL2C_MISS_sum), a count.
    #[schemars(range(min = 0.0))]
    pub tcc_miss: f64,
}

/// Answer of `metrics.compute_l2_hit_rate`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct L2HitRateOutput {
    /// Hits over hits and misses, a fraction.
    pub l2_hit_rate: f64,
    /// `fraction`.
    pub unit: &'static str,
}

/// Contract of `metrics.compute_hbm_bandwidth`.
pub struct ComputeHbmBandwidth;

impl Contract for ComputeHbmBandwidth {
    const NAME: &'static str = "metrics.compute_hbm_bandwidth";
    type Input = HbmBandwidthInput;
    type Output = HbmBandwidthOutput;
}

/// Arguments of `metrics.compute_hbm_bandwidth`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HbmBandwidthInput {
    /// FETCH_SIZE, KiB.
    #[schemars(range(min = 0.0))]
    pub fetch_kib: f64,
    /// WRITE_SIZE, KiB.
    #[schemars(range(min = 0.0))]
    pub write_kib: f64,
    /// Duration of the dispatch that was counted, ns.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration_ns: f64,
    /// Duration in the run that counted the writes, if another, ns.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub write_duration_ns: Option<f64>,
    /// Architecture such as gfx942, for the share of its peak.
    pub gfx_id: Option<String>,
    /// Product such as MI300A, when the architecture has several.
    pub sku: Option<String>,
    /// Compute units of the device, a count; picks the product.
    #[schemars(range(min = 1, max = 1024))]
    pub cu_count: Option<u32>,
}

/// Answer of `metrics.compute_hbm_bandwidth`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HbmBandwidthOutput {
    /// Achieved, 1e9 bytes per second.
    pub gb_per_s: f64,
    /// Achieved, 2^30 bytes per second.
    pub gib_per_s: f64,
    /// Share of the peak, a fraction; null without gfx_id, or when it would exceed 1.
    pub utilization: Option<f64>,
    /// Why there is no share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_reason: Option<String>,
    /// Peak of the device, 1e9 bytes per second; null without gfx_id.
    pub peak_gb_per_s: Option<f64>,
    /// Why there is no peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_gb_per_s_reason: Option<String>,
    /// What the figure does and does not include.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Contract of `metrics.compute_latency`.
pub struct ComputeLatency;

impl Contract for ComputeLatency {
    const NAME: &'static str = "metrics.compute_latency";
    type Input = LatencyInput;
    type Output = LatencyOutput;
}

/// The level counter whose value was accumulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum LevelCounter {
    /// Vector-memory instructions in flight.
    #[serde(rename = "SQ_INST_LEVEL_VMEM")]
    Vmem,
    /// LDS instructions in flight.
    #[serde(rename = "SQ_INST_LEVEL_LDS")]
    Lds,
}

/// Arguments of `metrics.compute_latency`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyInput {
    /// SQ_ACCUM_PREV_HIRES, instruction cycles.
    #[schemars(range(min = 0.0))]
    pub accum_prev_hires: f64,
    /// SQ_INSTS_VMEM, a count of instructions.
    #[schemars(range(min = 0.0))]
    pub insts_vmem: f64,
    /// SQ_INSTS_LDS, a count of instructions.
    #[schemars(range(min = 0.0))]
    pub insts_lds: f64,
    /// Busy cycles of the same pass, such as SQ_BUSY_CYCLES, cycles.
    #[schemars(range(min = 0.0))]
    pub busy_cycles: f64,
    /// Which level counter was accumulated, a counter name.
    pub level_counter: Option<LevelCounter>,
}

/// Answer of `metrics.compute_latency`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LatencyOutput {
    /// Mean cycles of a vector-memory instruction.
    pub vmem_latency_cycles: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vmem_latency_cycles_reason: Option<String>,
    /// Mean cycles of an LDS instruction.
    pub lds_latency_cycles: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lds_latency_cycles_reason: Option<String>,
    /// Always null: these inputs hold no such ratio.
    pub busy_ratio: Option<f64>,
    /// Why it is null.
    pub busy_ratio_reason: &'static str,
    /// Mean instructions in flight while busy; null when no cycle was busy.
    pub mean_in_flight: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_in_flight_reason: Option<String>,
    /// What the figures rest on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
