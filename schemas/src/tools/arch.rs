//! `arch`: peaks and structural limits of one GPU device.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `arch.lookup_peaks`.
pub struct LookupPeaks;

impl Contract for LookupPeaks {
    const NAME: &'static str = "arch.lookup_peaks";
    type Input = LookupPeaksInput;
    type Output = LookupPeaksOutput;
}

/// Arguments of `arch.lookup_peaks`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupPeaksInput {
    /// Architecture such as gfx942; feature suffixes are ignored.
    pub gfx_id: String,
    /// Product such as MI300A, when the architecture has several.
    pub sku: Option<String>,
    /// Compute units of the device, a count; picks the product.
    #[schemars(range(min = 1, max = 1024))]
    pub cu_count: Option<u32>,
    /// Kept for old callers; the local machine is never read.
    #[serde(default)]
    pub prefer_runtime: bool,
}

/// How the product was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkuSelectedBy {
    /// By the `sku` argument.
    Sku,
    /// By the number of compute units.
    CuCount,
    /// The architecture's default product.
    Default,
}

/// FLOP per byte at which compute and memory take equally long, per number format; null = format not supported.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RidgePoints {
    /// 64-bit floats, vector.
    pub fp64: Option<f64>,
    /// 32-bit floats, vector.
    pub fp32: Option<f64>,
    /// 16-bit floats.
    pub fp16: Option<f64>,
    /// 16-bit brain floats.
    pub bf16: Option<f64>,
    /// 8-bit floats.
    pub fp8: Option<f64>,
    /// 8-bit integers.
    pub int8: Option<f64>,
}

/// One product of an architecture.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SkuVariant {
    /// Product name.
    pub sku: String,
    /// Compute units of the device.
    pub cu_count: u32,
    /// TB/s, decimal.
    pub memory_bandwidth_tbs: f64,
    /// Vector, TFLOP/s.
    pub peak_fp64_tflops: f64,
    /// Vector, TFLOP/s.
    pub peak_fp32_tflops: f64,
    /// Fastest pipe, TFLOP/s.
    pub peak_fp16_tflops: Option<f64>,
    /// Board power, W.
    pub tdp_w: f64,
}

/// A package that the runtime shows as several devices.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Package {
    /// Product name.
    pub name: String,
    /// Devices in the package.
    pub devices: u32,
    /// Compute units of all devices.
    pub cu_count: u32,
    /// TB/s of all devices.
    pub memory_bandwidth_tbs: f64,
    /// Vector, TFLOP/s of all devices.
    pub peak_fp64_tflops: f64,
    /// TFLOP/s of all devices.
    pub peak_fp16_tflops: f64,
}

/// Answer of `arch.lookup_peaks`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupPeaksOutput {
    /// Product.
    pub name: String,
    /// Family, such as CDNA3.
    pub codename: String,
    /// Normalised architecture.
    pub gfx_id: String,
    /// Product the figures are of.
    pub sku: String,
    /// How the product was chosen.
    pub sku_selected_by: SkuSelectedBy,
    /// Vector, TFLOP/s.
    pub peak_fp64_tflops: f64,
    /// Vector, TFLOP/s.
    pub peak_fp32_tflops: f64,
    /// Fastest pipe, TFLOP/s.
    pub peak_fp16_tflops: Option<f64>,
    /// Fastest pipe, TFLOP/s; null = not supported.
    pub peak_bf16_tflops: Option<f64>,
    /// Fastest pipe, TFLOP/s; null = not supported.
    pub peak_fp8_tflops: Option<f64>,
    /// Fastest pipe, TOP/s; null = not supported.
    pub peak_int8_tops: Option<f64>,
    /// TB/s, decimal.
    pub memory_bandwidth_tbs: f64,
    /// Compute units of this device.
    pub cu_count: u32,
    /// FP32 ridge, FLOP/byte.
    pub ridge_point: f64,
    /// FLOP/byte per format.
    pub ridge_points: RidgePoints,
    /// Matrix pipe, TFLOP/s.
    pub peak_fp64_matrix_tflops: Option<f64>,
    /// Matrix pipe, TFLOP/s.
    pub peak_fp32_matrix_tflops: Option<f64>,
    /// Packed or dual issue, TFLOP/s.
    pub peak_fp32_max_tflops: f64,
    /// Plain FP32 FMA only, TFLOP/s.
    pub peak_fp32_unpacked_tflops: f64,
    /// Vector pipe, TFLOP/s.
    pub peak_fp16_vector_tflops: Option<f64>,
    /// Matrix pipe, TFLOP/s.
    pub peak_xf32_matrix_tflops: Option<f64>,
    /// Matrix pipe, TFLOP/s.
    pub peak_fp4_matrix_tflops: Option<f64>,
    /// LDS per CU, KiB.
    pub lds_kb: u32,
    /// LDS per CU, KiB.
    pub lds_per_cu_kb: u32,
    /// Native wave.
    pub wave_size: u32,
    /// Allowed waves.
    pub wave_sizes: Vec<u32>,
    /// Registers per lane, native wave.
    pub vgprs_per_simd: u32,
    /// SIMDs per CU.
    pub simds_per_cu: u32,
    /// Wave slots of a SIMD.
    pub max_waves_per_simd: u32,
    /// Wave slots of a CU.
    pub max_waves_per_cu: u32,
    /// Registers are allocated in steps of.
    pub vgpr_granule: u32,
    /// Arch and acc.
    pub max_vgprs_per_thread: u32,
    /// Arch registers.
    pub max_arch_vgprs_per_thread: u32,
    /// Accumulation registers.
    pub max_acc_vgprs_per_thread: u32,
    /// Always null: no single value exists.
    pub mfma_flops_per_inst: Option<f64>,
    /// What to use instead.
    pub mfma_flops_per_inst_reason: &'static str,
    /// Products of this architecture.
    pub sku_variants: Vec<SkuVariant>,
    /// The package of several devices; null when it is one device.
    pub package: Option<Package>,
    /// Why there is no package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_reason: Option<&'static str>,
    /// Always false.
    pub runtime_discovered: bool,
    /// Always empty.
    pub static_fallback_keys: Vec<String>,
    /// Key to fact id.
    pub spec_sources: BTreeMap<String, String>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
