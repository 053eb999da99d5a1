//! Counters, registers, roofline and thread trace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counter metrics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HardwareCounters {
    /// Whether any usable counter was recorded.
    pub has_counters: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Over the whole run.
    pub metrics: CounterMetrics,
    /// Raw values by counter, per dispatch.
    pub counters: BTreeMap<String, CounterRow>,
    /// Counters before the cut.
    pub counters_total: u64,
    /// For the listed hotspots.
    pub per_kernel: Vec<KernelCounterRow>,
    /// Dispatches with counters.
    pub coverage: CounterCoverage,
}

/// Derived values; null when the trace cannot support them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterMetrics {
    /// Kernel share of the windows, percent, from the timeline.
    pub gpu_utilization_pct: Option<f64>,
    /// Always timeline.
    pub gpu_utilization_source: String,
    /// Waves resident per CU, mean weighted by kernel time.
    pub avg_waves: Option<f64>,
    /// Highest kernel.
    pub max_waves: Option<f64>,
    /// Lowest kernel.
    pub min_waves: Option<f64>,
    /// What a CU can hold.
    pub max_waves_per_cu: Option<u64>,
    /// Waves launched.
    pub waves_launched: Option<u64>,
    /// Device memory traffic, 1e9 bytes per second.
    pub hbm_bandwidth_gbps: Option<f64>,
    /// Percent of peak.
    pub hbm_utilization_pct: Option<f64>,
    /// L2 hits, percent of requests.
    pub l2_hit_rate_pct: Option<f64>,
    /// Vector ALU, percent of its time.
    pub valu_busy_pct: Option<f64>,
    /// Matrix units, percent of their time.
    pub mfma_utilization_pct: Option<f64>,
    /// LDS bank conflicts, percent of LDS time.
    pub lds_conflict_pct: Option<f64>,
    /// Active lanes, percent.
    pub lane_efficiency_pct: Option<f64>,
}

/// One counter, per dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterRow {
    /// Rows read.
    pub sample_count: u64,
    /// Dispatches that carry it.
    pub dispatches: u64,
    /// Mean per dispatch.
    pub avg_value: f64,
    /// Lowest dispatch.
    pub min_value: f64,
    /// Highest dispatch.
    pub max_value: f64,
    /// Sum over dispatches.
    pub total_value: f64,
    /// Unit.
    pub unit: Option<String>,
    /// What it counts.
    pub description: Option<String>,
}

/// Counters of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCounterRow {
    /// The kernel.
    pub name: String,
    /// Dispatches with counters.
    pub dispatches: u64,
    /// Derived values.
    pub metrics: CounterMetrics,
    /// Mean per dispatch by counter.
    pub counters: BTreeMap<String, f64>,
}

/// Dispatches with counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterCoverage {
    /// Dispatches with any counter.
    pub dispatches_with_counters: u64,
    /// All dispatches.
    pub dispatches_total: u64,
    /// Counter passes.
    pub passes: u64,
}

/// Registers, LDS and occupancy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelResources {
    /// First GPU's architecture id.
    pub arch: Option<String>,
    /// Rows in hotspot order.
    pub kernels: Vec<KernelResourceRow>,
}

/// One kernel's resources at its most frequent shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelResourceRow {
    /// The kernel.
    pub name: String,
    /// Architecture it ran on.
    pub gfx_id: Option<String>,
    /// Work-items per workgroup, such as 256x1x1.
    pub block: String,
    /// Workgroups, such as 1024x1x1.
    pub grid: String,
    /// Workgroups in all.
    pub workgroups: u64,
    /// Distinct shapes.
    pub launch_shapes: u64,
    /// Vector registers per work-item.
    pub vgpr: Option<u64>,
    /// Accumulation registers per work-item.
    pub accum_vgpr: Option<u64>,
    /// Scalar registers per wave.
    pub sgpr: Option<u64>,
    /// LDS per workgroup, bytes.
    pub lds_bytes: u64,
    /// Scratch per work-item, bytes.
    pub scratch_bytes: u64,
    /// Theoretical occupancy, null when the architecture is unknown.
    pub occupancy: Option<OccupancyRow>,
}

/// Theoretical occupancy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OccupancyRow {
    /// Waves a SIMD holds.
    pub waves_per_simd: u64,
    /// Waves it could hold.
    pub max_waves_per_simd: u64,
    /// Percent of the maximum.
    pub percent: f64,
    /// none, VGPR, SGPR, LDS, barrier or workgroup.
    pub limiting_resource: String,
    /// What vector registers alone allow.
    pub vgpr_limited: Option<u64>,
    /// What scalar registers alone allow.
    pub sgpr_limited: Option<u64>,
    /// What LDS alone allows.
    pub lds_limited: Option<u64>,
    /// What the workgroup size alone allows.
    pub block_limited: Option<u64>,
    /// Always theoretical.
    pub basis: String,
}

/// Roofline points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roofline {
    /// Version of this section.
    pub schema_version: String,
    /// Architecture id.
    pub arch: Option<String>,
    /// Peaks by type, operations per second.
    pub arch_peaks: Option<Peaks>,
    /// Device memory, bytes per second.
    pub hbm_bandwidth_bytes_per_s: Option<f64>,
    /// Type with most kernel time.
    pub dtype: Option<String>,
    /// from_counters, from_kernel_name, default or hint.
    pub dtype_confidence: Option<String>,
    /// The points.
    pub kernels: Vec<RooflinePoint>,
    /// Points before the cut.
    pub kernels_total: u64,
    /// Ridge of the dominant type.
    pub ridge_point: Option<Ridge>,
    /// Type to intensity, FLOP per byte.
    pub ridge_points: Option<Peaks>,
    /// Kernels without a point.
    pub skipped: Vec<SkippedPoint>,
    /// Skipped before the cut.
    pub skipped_total: u64,
}

/// A value per data type; null where the hardware has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peaks {
    /// 64-bit float.
    pub fp64: Option<f64>,
    /// 32-bit float.
    pub fp32: Option<f64>,
    /// 16-bit float.
    pub fp16: Option<f64>,
    /// bfloat16.
    pub bf16: Option<f64>,
    /// 8-bit float.
    pub fp8: Option<f64>,
    /// 8-bit integer.
    pub int8: Option<f64>,
}

/// Where the memory roof meets the compute roof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ridge {
    /// FLOP per byte.
    pub ai: f64,
    /// FLOP per second.
    pub flops_per_s: f64,
}

/// One kernel on the roofline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RooflinePoint {
    /// The kernel.
    pub name: String,
    /// Name as used in anchors.
    pub slug: String,
    /// Arithmetic intensity, FLOP per byte.
    pub ai: f64,
    /// FLOP per second.
    pub achieved_flops_per_s: f64,
    /// Operations.
    pub flops: f64,
    /// Bytes.
    pub bytes: u64,
    /// Time, ns.
    pub duration_ns: u64,
    /// Percent of all kernel time.
    pub duration_pct: f64,
    /// Data type.
    pub fp_type: String,
    /// compute, memory, balanced or unknown.
    pub bottleneck_class: String,
    /// What the roof allows at this intensity, FLOP per second.
    pub roof_flops_per_s: Option<f64>,
    /// Percent of that.
    pub pct_of_roof: Option<f64>,
    /// high or low.
    pub confidence: String,
}

/// A kernel without a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedPoint {
    /// The kernel.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Stalls by instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTrace {
    /// Whether there are usable rows.
    pub has_att_data: bool,
    /// Why not.
    pub reason: Option<String>,
    /// By total stall.
    pub kernels: Vec<TracedKernel>,
    /// Kernels before the cut.
    pub kernels_total: u64,
    /// Totals.
    pub summary: ThreadTraceSummary,
}

/// One kernel of the thread trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracedKernel {
    /// The kernel.
    pub name: String,
    /// Name as used in anchors.
    pub slug: String,
    /// File it came from.
    pub csv_file: String,
    /// Instructions.
    pub instruction_count: u64,
    /// Summed latency, cycles.
    pub total_latency_cycles: u64,
    /// Summed stall, cycles.
    pub total_stall_cycles: u64,
    /// Summed idle, cycles.
    pub total_idle_cycles: u64,
    /// Stall, percent of latency.
    pub stall_pct: f64,
    /// Stall ÷ latency, 4 decimals.
    pub avg_stall_ratio: f64,
    /// The category with most stall.
    pub stall_category: Option<String>,
    /// By category.
    pub categories: BTreeMap<String, StallCategory>,
    /// Ten by stall.
    pub top_stalling_instructions: Vec<StallingInstruction>,
    /// Equal to `total_stall_cycles`.
    pub total_weighted_stall: u64,
    /// Rows that did not parse.
    pub rows_left_out: u64,
    /// Why the file gave nothing.
    pub error: Option<String>,
}

/// Stall of one category.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StallCategory {
    /// Cycles.
    pub stall_cycles: u64,
    /// Percent of the kernel's latency.
    pub pct_of_latency: f64,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StallingInstruction {
    /// Its text.
    pub instruction: String,
    /// The same text, the original's name.
    pub pc_offset: String,
    /// Wave executions.
    pub hitcount: u64,
    /// Summed latency, cycles.
    pub total_latency_cycles: u64,
    /// Summed stall, cycles.
    pub stall_cycles: u64,
    /// Stall ÷ latency, 4 decimals.
    pub stall_ratio: f64,
    /// Equal to `stall_cycles`.
    pub weighted_stall: u64,
    /// Stall category.
    pub category: String,
    /// file:line.
    pub source_line: Option<String>,
}

/// Totals of the thread trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadTraceSummary {
    /// Kernels.
    pub kernel_count: u64,
    /// Kernels whose top instruction stalls most of its time.
    pub high_stall_kernels: u64,
    /// Files read.
    pub files_read: u64,
    /// Files left out.
    pub files_skipped: Vec<SkippedFile>,
}

/// A file that gave nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// Its name.
    pub file: String,
    /// Why.
    pub reason: String,
}
