//! `arch`: shows the facts of one GPU device.

use std::collections::BTreeMap;

use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::arch::{Arch, SelectedBy, Sku};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::arch as wire;

use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::LookupPeaks>(
        "GPU peaks",
        "Peak compute rates, memory bandwidth and structural limits of one GPU device (one agent). Use interconnect_lookup_peaks for links, roofline_classify to judge a kernel, sol_sanity_check to test a claim.",
        lookup_peaks,
    )]
}

const KIB: u64 = 1024;
/// Products an answer lists.
const VARIANTS: usize = 8;

fn lookup_peaks(_: &Context, input: wire::LookupPeaksInput) -> Result<wire::LookupPeaksOutput, ErrorObject> {
    let device = device::device(&input.gfx_id, input.sku.as_deref(), input.cu_count)?;
    let (arch, sku, peaks) = (device.arch, device.sku, &device.sku.peaks);
    let mut notes = device.notes;
    if input.prefer_runtime {
        notes.push("prefer_runtime has no effect: the local machine is never read.".to_owned());
    }
    let ridge = |peak: f64| round(peak / sku.memory_bandwidth_tbs, 1);
    let native = |per_wave: perfxpert_knowledge::arch::PerWave| per_wave.get(arch.native_wave).unwrap_or(0);
    let lds_kib = u32::try_from(arch.lds_bytes_per_cu / KIB).unwrap_or(u32::MAX);
    let package = arch.package.as_ref().filter(|package| package.name.contains(&sku.sku));
    Ok(wire::LookupPeaksOutput {
        name: sku.name.clone(),
        codename: arch.family.as_str().to_owned(),
        gfx_id: arch.gfx_id.clone(),
        sku: sku.sku.clone(),
        sku_selected_by: match device.by {
            SelectedBy::Name => wire::SkuSelectedBy::Sku,
            SelectedBy::CuCount => wire::SkuSelectedBy::CuCount,
            SelectedBy::DeviceId | SelectedBy::Default => wire::SkuSelectedBy::Default,
        },
        peak_fp64_tflops: peaks.fp64,
        peak_fp32_tflops: peaks.fp32,
        peak_fp16_tflops: peaks.fp16,
        peak_bf16_tflops: peaks.bf16,
        peak_fp8_tflops: peaks.fp8,
        peak_int8_tops: peaks.int8,
        memory_bandwidth_tbs: sku.memory_bandwidth_tbs,
        cu_count: sku.cu_count,
        ridge_point: ridge(peaks.fp32),
        ridge_points: wire::RidgePoints {
            fp64: Some(ridge(peaks.fp64)),
            fp32: Some(ridge(peaks.fp32)),
            fp16: peaks.fp16.map(ridge),
            bf16: peaks.bf16.map(ridge),
            fp8: peaks.fp8.map(ridge),
            int8: peaks.int8.map(ridge),
        },
        peak_fp64_matrix_tflops: peaks.fp64_matrix,
        peak_fp32_matrix_tflops: peaks.fp32_matrix,
        peak_fp32_max_tflops: peaks.fp32_max,
        peak_fp32_unpacked_tflops: arch.fp32_unpacked(sku),
        peak_fp16_vector_tflops: peaks.fp16_vector,
        peak_xf32_matrix_tflops: peaks.xf32_matrix,
        peak_fp4_matrix_tflops: peaks.fp4_matrix,
        lds_kb: lds_kib,
        lds_per_cu_kb: lds_kib,
        wave_size: arch.native_wave,
        wave_sizes: arch.wave_sizes.clone(),
        vgprs_per_simd: native(arch.vgprs_per_simd),
        simds_per_cu: arch.simds_per_cu,
        max_waves_per_simd: arch.max_waves_per_simd,
        max_waves_per_cu: arch.max_waves_per_cu(),
        vgpr_granule: native(arch.vgpr_granule),
        max_vgprs_per_thread: arch.max_vgprs_per_thread(),
        max_arch_vgprs_per_thread: arch.max_arch_vgprs,
        max_acc_vgprs_per_thread: arch.max_acc_vgprs,
        mfma_flops_per_inst: None,
        mfma_flops_per_inst_reason: "it depends on the instruction's shape; use the SQ_INSTS_VALU_MFMA_MOPS counters x 512",
        sku_variants: arch.skus.iter().take(VARIANTS).map(variant).collect(),
        package: package.map(|package| wire::Package {
            name: package.name.clone(),
            devices: package.devices,
            cu_count: package.cu_count,
            memory_bandwidth_tbs: package.memory_bandwidth_tbs,
            peak_fp64_tflops: package.peak_fp64_tflops,
            peak_fp16_tflops: package.peak_fp16_tflops,
        }),
        package_reason: package.is_none().then_some("the product is one device"),
        runtime_discovered: false,
        static_fallback_keys: Vec::new(),
        spec_sources: sources(arch, sku),
        notes,
    })
}

fn variant(sku: &Sku) -> wire::SkuVariant {
    wire::SkuVariant {
        sku: sku.sku.clone(),
        cu_count: sku.cu_count,
        memory_bandwidth_tbs: sku.memory_bandwidth_tbs,
        peak_fp64_tflops: sku.peaks.fp64,
        peak_fp32_tflops: sku.peaks.fp32,
        peak_fp16_tflops: sku.peaks.fp16,
        tdp_w: sku.tdp_w,
    }
}

/// Which fact stands behind which key.
fn sources(arch: &Arch, sku: &Sku) -> BTreeMap<String, String> {
    let of_sku = ["cu_count", "memory_bandwidth_tbs"].map(|key| (key, format!("skus.{}.{key}", sku.sku)));
    let peaks = [
        ("peak_fp64_tflops", Some(sku.peaks.fp64), "fp64"),
        ("peak_fp32_tflops", Some(sku.peaks.fp32), "fp32"),
        ("peak_fp16_tflops", sku.peaks.fp16, "fp16"),
        ("peak_bf16_tflops", sku.peaks.bf16, "bf16"),
        ("peak_fp8_tflops", sku.peaks.fp8, "fp8"),
        ("peak_int8_tops", sku.peaks.int8, "int8"),
    ];
    let peaks = peaks
        .into_iter()
        .filter(|(_, peak, _)| peak.is_some())
        .map(|(key, _, fact)| (key, format!("skus.{}.peaks.{fact}", sku.sku)));
    let of_arch = [
        ("lds_per_cu_kb", "lds_bytes_per_cu"),
        ("max_waves_per_simd", "max_waves_per_simd"),
        ("vgprs_per_simd", "vgprs_per_simd"),
        ("vgpr_granule", "vgpr_granule"),
    ]
    .map(|(key, fact)| (key, fact.to_owned()));
    of_sku
        .into_iter()
        .chain(peaks)
        .chain(of_arch)
        .map(|(key, fact)| (key.to_owned(), arch.fact_id(&fact)))
        .collect()
}
