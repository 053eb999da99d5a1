//! Every published figure of every GPU, and every threshold, pinned.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;

use perfxpert_knowledge::arch::{self, RegisterFiles};
use perfxpert_knowledge::thresholds::bottleneck;
use perfxpert_knowledge::{Compare, FactValue, fact, files};

const NO: Option<f64> = None;

fn some(value: f64) -> Option<f64> {
    Some(value)
}

// gfx, product, CUs, [FP64, FP32, FP32 max], [FP16, BF16, FP8, INT8], [FP64 m, FP32 m, XF32 m, FP4 m], FP16 v, plain
// FP32, TB/s, W. Sources: AMD ROCm hardware specifications, microarchitecture pages, matrix instruction calculator,
// vendor launch figures; the files name the one of each row.
type Peaks =
    (&'static str, &'static str, u32, [f64; 3], [Option<f64>; 4], [Option<f64>; 4], f64, f64, f64, f64);

#[test]
fn every_peak() {
    let rows: [Peaks; 14] = [
        (
            "gfx908",
            "MI100",
            120,
            [11.5, 23.1, 23.1],
            [some(184.6), some(92.3), NO, some(184.6)],
            [NO, some(46.1), NO, NO],
            46.1,
            23.1,
            1.2288,
            300.0,
        ),
        (
            "gfx90a",
            "MI250X",
            110,
            [23.9, 23.9, 47.9],
            [some(191.5), some(191.5), NO, some(191.5)],
            [some(47.9), some(47.9), NO, NO],
            47.9,
            23.95,
            1.6384,
            500.0,
        ),
        (
            "gfx90a",
            "MI210",
            104,
            [22.6, 22.6, 45.3],
            [some(181.0), some(181.0), NO, some(181.0)],
            [some(45.3), some(45.3), NO, NO],
            45.3,
            22.65,
            1.6384,
            300.0,
        ),
        (
            "gfx942",
            "MI300X",
            304,
            [81.7, 163.4, 163.4],
            [some(1307.4), some(1307.4), some(2614.9), some(2614.9)],
            [some(163.4), some(163.4), some(653.7), NO],
            163.4,
            81.7,
            5.3248,
            750.0,
        ),
        (
            "gfx942",
            "MI325X",
            304,
            [81.7, 163.4, 163.4],
            [some(1307.4), some(1307.4), some(2614.9), some(2614.9)],
            [some(163.4), some(163.4), some(653.7), NO],
            163.4,
            81.7,
            6.0,
            1000.0,
        ),
        (
            "gfx942",
            "MI300A",
            228,
            [61.3, 122.6, 122.6],
            [some(980.6), some(980.6), some(1961.2), some(1961.2)],
            [some(122.6), some(122.6), some(490.3), NO],
            122.6,
            61.3,
            5.3248,
            550.0,
        ),
        (
            "gfx950",
            "MI350X",
            256,
            [72.1, 144.2, 144.2],
            [some(2306.9), some(2306.9), some(4613.7), some(4613.7)],
            [some(72.1), some(144.2), NO, some(9227.5)],
            144.2,
            72.1,
            8.0,
            1000.0,
        ),
        (
            "gfx950",
            "MI355X",
            256,
            [78.6, 157.3, 157.3],
            [some(2516.6), some(2516.6), some(5033.2), some(5033.2)],
            [some(78.6), some(157.3), NO, some(10066.3)],
            157.3,
            78.65,
            8.0,
            1400.0,
        ),
        (
            "gfx1030",
            "RX 6900 XT",
            80,
            [1.44, 23.04, 23.04],
            [some(46.08), NO, NO, some(92.2)],
            [NO; 4],
            46.08,
            23.04,
            0.512,
            300.0,
        ),
        (
            "gfx1100",
            "RX 7900 XTX",
            96,
            [1.92, 61.44, 61.44],
            [some(122.88), some(122.88), NO, some(122.88)],
            [NO; 4],
            122.88,
            30.72,
            0.96,
            355.0,
        ),
        (
            "gfx1101",
            "RX 7800 XT",
            60,
            [1.17, 37.3, 37.3],
            [some(74.6), some(74.6), NO, some(74.6)],
            [NO; 4],
            74.6,
            18.65,
            0.624,
            263.0,
        ),
        (
            "gfx1102",
            "RX 7600",
            32,
            [0.68, 21.75, 21.75],
            [some(43.5), some(43.5), NO, some(43.5)],
            [NO; 4],
            43.5,
            10.88,
            0.288,
            165.0,
        ),
        (
            "gfx1200",
            "RX 9060 XT",
            32,
            [0.40, 25.6, 25.6],
            [some(102.6), some(102.6), some(205.1), some(205.1)],
            [NO; 4],
            51.3,
            12.8,
            0.32,
            182.0,
        ),
        (
            "gfx1201",
            "RX 9070 XT",
            64,
            [0.76, 48.66, 48.66],
            [some(194.6), some(194.6), some(389.3), some(389.3)],
            [NO; 4],
            97.3,
            24.33,
            0.64,
            304.0,
        ),
    ];
    assert_eq!(arch::all().map(|gpu| gpu.skus.len()).sum::<usize>(), rows.len());
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for (gfx, name, cus, vector, best, matrix, fp16_vector, plain, tbs, watts) in rows {
        first.entry(gfx).or_insert(name);
        let gpu = arch::find(gfx).unwrap();
        let sku = gpu.sku(name).unwrap();
        let p = &sku.peaks;
        assert_eq!(sku.cu_count, cus, "{name}");
        assert_eq!([p.fp64, p.fp32, p.fp32_max], vector, "{name}");
        assert_eq!([p.fp16, p.bf16, p.fp8, p.int8], best, "{name}");
        assert_eq!([p.fp64_matrix, p.fp32_matrix, p.xf32_matrix, p.fp4_matrix], matrix, "{name}");
        assert_eq!(p.fp16_vector, some(fp16_vector), "{name}");
        assert_eq!(gpu.fp32_unpacked(sku), plain, "{name}");
        assert_eq!((sku.memory_bandwidth_tbs, sku.tdp_w), (tbs, watts), "{name}");
        assert!(sku.source.len() > 10, "{name}");
    }
    for (gfx, name) in first {
        assert_eq!(arch::find(gfx).unwrap().default_sku().unwrap().sku, name);
    }
    let package = arch::find("gfx90a").unwrap().package.clone().unwrap();
    assert_eq!((package.name.as_str(), package.devices, package.cu_count), ("MI250X", 2, 220));
    assert_eq!(
        [package.memory_bandwidth_tbs, package.peak_fp64_tflops, package.peak_fp16_tflops],
        [3.2768, 47.9, 383.0]
    );
}

#[test]
fn peaks_follow_from_units_clock_and_rate() {
    // CUs x operations per CU and clock x clock, within the rounding of the vendor's clock.
    for (gfx, sku, rate, peak) in [
        ("gfx908", "MI100", 128.0, 23.1),
        ("gfx90a", "MI250X", 128.0, 23.9),
        ("gfx942", "MI300X", 256.0, 163.4),
        ("gfx942", "MI300A", 256.0, 122.6),
        ("gfx950", "MI350X", 256.0, 144.2),
        ("gfx950", "MI355X", 256.0, 157.3),
        ("gfx1030", "RX 6900 XT", 128.0, 23.04),
        ("gfx1100", "RX 7900 XTX", 256.0, 61.44),
        ("gfx1101", "RX 7800 XT", 256.0, 37.3),
        ("gfx1102", "RX 7600", 256.0, 21.75),
        ("gfx1200", "RX 9060 XT", 256.0, 25.6),
        ("gfx1201", "RX 9070 XT", 256.0, 48.66),
    ] {
        let sku = arch::find(gfx).unwrap().sku(sku).unwrap();
        let computed = f64::from(sku.cu_count) * f64::from(sku.peak_clock_mhz) * rate / 1e6;
        assert!((computed / peak - 1.0).abs() < 0.005, "{}: {computed} against {peak}", sku.sku);
    }
}

#[test]
fn ridge_points() {
    let ridge = |gfx: &str, sku: &str, of: fn(&arch::Peaks) -> Option<f64>| {
        let sku = arch::find(gfx).unwrap().sku(sku).unwrap();
        of(&sku.peaks).map(|peak| (peak / sku.memory_bandwidth_tbs * 10.0).round() / 10.0)
    };
    assert_eq!(ridge("gfx942", "MI300X", |p| Some(p.fp64)), some(15.3));
    assert_eq!(ridge("gfx942", "MI300X", |p| Some(p.fp32)), some(30.7));
    assert_eq!(ridge("gfx942", "MI300X", |p| p.fp16), some(245.5));
    assert_eq!(ridge("gfx942", "MI300X", |p| p.fp8), some(491.1));
    assert_eq!(ridge("gfx950", "MI350X", |p| Some(p.fp64)), some(9.0));
    assert_eq!(ridge("gfx950", "MI350X", |p| Some(p.fp32)), some(18.0));
    assert_eq!(ridge("gfx950", "MI350X", |p| p.fp16), some(288.4));
    assert_eq!(ridge("gfx950", "MI350X", |p| p.fp8), some(576.7));
    assert_eq!(ridge("gfx90a", "MI250X", |p| p.fp8), NO);
    assert_eq!(ridge("gfx1100", "RX 7900 XTX", |p| Some(p.fp32)), some(64.0));
}

#[test]
fn structure() {
    for (gfx, simds, waves, file, granule, lds, sizes, acc) in [
        ("gfx908", 4, 10, (None, 256), (None, 4), 65_536, &[64][..], 256),
        ("gfx90a", 4, 8, (None, 512), (None, 8), 65_536, &[64], 256),
        ("gfx942", 4, 8, (None, 512), (None, 8), 65_536, &[64], 256),
        ("gfx950", 4, 8, (None, 512), (None, 8), 163_840, &[64], 256),
        ("gfx1030", 2, 16, (Some(1024), 512), (Some(16), 8), 65_536, &[32, 64], 0),
        ("gfx1102", 2, 16, (Some(1024), 512), (Some(16), 8), 65_536, &[32, 64], 0),
        ("gfx1100", 2, 16, (Some(1536), 768), (Some(24), 12), 65_536, &[32, 64], 0),
        ("gfx1101", 2, 16, (Some(1536), 768), (Some(24), 12), 65_536, &[32, 64], 0),
        ("gfx1200", 2, 16, (Some(1536), 768), (Some(24), 12), 65_536, &[32, 64], 0),
        ("gfx1201", 2, 16, (Some(1536), 768), (Some(24), 12), 65_536, &[32, 64], 0),
    ] {
        let gpu = arch::find(gfx).unwrap();
        assert_eq!((gpu.simds_per_cu, gpu.max_waves_per_simd), (simds, waves), "{gfx}");
        assert_eq!((gpu.vgprs_per_simd.get(32), gpu.vgprs_per_simd.get(64)), (file.0, Some(file.1)), "{gfx}");
        assert_eq!(
            (gpu.vgpr_granule.get(32), gpu.vgpr_granule.get(64)),
            (granule.0, Some(granule.1)),
            "{gfx}"
        );
        assert_eq!(gpu.vgprs_per_simd.get(48), None);
        assert_eq!(gpu.lds_bytes_per_cu, lds, "{gfx}");
        assert_eq!(gpu.wave_sizes, sizes, "{gfx}");
        assert_eq!((gpu.native_wave, gpu.max_arch_vgprs, gpu.max_acc_vgprs), (sizes[0], 256, acc), "{gfx}");
        let cdna = gpu.family.is_cdna();
        assert_eq!(gpu.lds_bytes_per_wgp, (!cdna).then_some(131_072), "{gfx}");
        assert_eq!((gpu.barriers_per_cu, gpu.barriers_per_wgp), (16, (!cdna).then_some(32)), "{gfx}");
        assert_eq!(gpu.lds_granule_bytes, if gfx == "gfx950" { 1280 } else { 512 }, "{gfx}");
        let files = match gfx {
            "gfx908" => RegisterFiles::Separate,
            _ if cdna => RegisterFiles::Unified,
            _ => RegisterFiles::Arch,
        };
        assert_eq!(gpu.registers, files, "{gfx}");
    }
    assert_eq!(arch::find("gfx908").unwrap().max_waves_per_cu(), 40);
    for gfx in ["gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1201"] {
        assert_eq!(arch::find(gfx).unwrap().max_waves_per_cu(), 32, "{gfx}");
    }
}

// Largest register count per wave count, measured with the compiler's own occupancy figure.
#[test]
fn registers_give_the_measured_waves() {
    let cdna3: &[(u32, u32)] = &[(64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2), (512, 1)];
    let rdna2: &[(u32, u32)] =
        &[(64, 16), (80, 12), (96, 10), (112, 9), (128, 8), (144, 7), (160, 6), (192, 5), (256, 4)];
    let rdna3: &[(u32, u32)] =
        &[(96, 16), (120, 12), (144, 10), (168, 9), (192, 8), (216, 7), (240, 6), (256, 5)];
    let cdna1: &[(u32, u32)] =
        &[(24, 10), (28, 9), (32, 8), (36, 7), (40, 6), (48, 5), (64, 4), (84, 3), (128, 2), (256, 1)];
    let rdna2_64: &[(u32, u32)] = &[
        (32, 16),
        (40, 12),
        (48, 10),
        (56, 9),
        (64, 8),
        (72, 7),
        (80, 6),
        (96, 5),
        (128, 4),
        (168, 3),
        (256, 2),
    ];
    let rdna3_64: &[(u32, u32)] = &[
        (48, 16),
        (60, 12),
        (72, 10),
        (84, 9),
        (96, 8),
        (108, 7),
        (120, 6),
        (144, 5),
        (192, 4),
        (252, 3),
        (256, 2),
    ];
    for (gfx, wave, table) in [
        ("gfx908", 64, cdna1),
        ("gfx90a", 64, cdna3),
        ("gfx942", 64, cdna3),
        ("gfx950", 64, cdna3),
        ("gfx1030", 32, rdna2),
        ("gfx1102", 32, rdna2),
        ("gfx1030", 64, rdna2_64),
        ("gfx1100", 32, rdna3),
        ("gfx1101", 32, rdna3),
        ("gfx1200", 32, rdna3),
        ("gfx1201", 32, rdna3),
        ("gfx1100", 64, rdna3_64),
        ("gfx1201", 64, rdna3_64),
    ] {
        let gpu = arch::find(gfx).unwrap();
        let (file, granule) = (gpu.vgprs_per_simd.get(wave).unwrap(), gpu.vgpr_granule.get(wave).unwrap());
        let mut from = 1;
        for (up_to, waves) in table {
            for count in from..=*up_to {
                let fits = file / count.next_multiple_of(granule);
                assert_eq!(fits.min(gpu.max_waves_per_simd), *waves, "{gfx} wave{wave} {count}");
            }
            from = up_to + 1;
        }
    }
}

#[test]
fn scalar_registers_limit_cdna_only() {
    let waves = |gfx: &str, used| arch::find(gfx).unwrap().sgpr_waves(used);
    for (used, expected) in [(0, 10), (76, 10), (77, 9), (84, 9), (85, 8), (96, 8), (97, 7), (102, 7)] {
        assert_eq!(waves("gfx908", used), Some(expected), "{used}");
    }
    for (used, expected) in [(94, 8), (95, 7), (102, 7)] {
        assert_eq!((waves("gfx942", used), waves("gfx950", used)), (Some(expected), Some(expected)));
    }
    assert_eq!((waves("gfx90a", 96), waves("gfx90a", 97)), (Some(8), Some(7)));
    assert_eq!(waves("gfx1100", 128), None);
}

#[test]
fn register_counts_of_a_database_are_decoded() {
    let decode = |gfx: &str, arch_count, acc| arch::find(gfx).unwrap().decode_vgprs(arch_count, acc);
    assert_eq!(decode("gfx942", 4, 4), (4, 4));
    // The same kernel recorded on gfx950 shows half of the total and no accumulation registers.
    assert_eq!(decode("gfx950", 4, 0), (8, 0));
    assert_eq!(decode("gfx950", 64, 8), (64, 8));
    assert_eq!(decode("gfx908", 32, 32), (32, 0));
    assert_eq!(decode("gfx1100", 96, 0), (96, 0));
    assert_eq!(decode("gfx950", u32::MAX, 0), (u32::MAX, 0));
}

#[test]
fn signatures() {
    let rules: Vec<_> = bottleneck::signatures()
        .signatures
        .iter()
        .flat_map(|signature| {
            signature.rules.iter().map(|rule| (signature.name, rule.metric.as_str(), rule.op, rule.threshold))
        })
        .collect();
    use Compare::{Above, AtLeast, Below, Equal};
    assert_eq!(
        rules,
        [
            ("compute", "valu_util_pct", AtLeast, 0.60),
            ("compute", "mfma_util_pct", AtLeast, 0.60),
            ("compute", "arithmetic_intensity_above_ridge", Equal, 1.0),
            ("memory_transfer", "memcpy_pct", Above, 0.20),
            ("memory_transfer", "hbm_bw_utilization", AtLeast, 0.60),
            ("memory_transfer", "arithmetic_intensity_below_ridge", Equal, 1.0),
            ("latency", "avg_waves_per_cu", Below, 16.0),
            ("latency", "gpu_util_pct", Below, 0.50),
            ("latency", "occupancy_pct", Below, 0.50),
            ("api_overhead", "api_overhead_pct", Above, 0.10),
            ("api_overhead", "avg_kernel_duration_us", Below, 10.0),
            ("api_overhead", "total_kernel_calls", Above, 1000.0),
        ]
    );
    let alias = |name: &str| bottleneck::signatures().alias(name);
    for (foreign, own) in [
        ("gpu_utilization_percent", "gpu_util_pct"),
        ("gpu_utilization_pct", "gpu_util_pct"),
        ("valu_utilization_pct", "valu_util_pct"),
        ("mfma_utilization_pct", "mfma_util_pct"),
        ("hbm_bandwidth_utilization", "hbm_bw_utilization"),
        ("memory_controller_percent_busy", "hbm_bw_utilization"),
        ("wave_occupancy_pct", "occupancy_pct"),
    ] {
        assert_eq!(alias(foreign), Some(own));
    }
    assert_eq!(alias("foo"), None);
    assert!(
        Compare::Equal.holds(1.0, 1.0) && !Compare::Equal.holds(0.0, 1.0) && !Compare::Above.holds(0.2, 0.2)
    );
}

#[test]
fn thresholds_by_id() {
    let expected: &[(&str, f64)] = &[
        ("att#critical", 0.80),
        ("att#high", 0.60),
        ("att#medium", 0.40),
        ("att#min_hits", 100.0),
        ("amdahl#high", 0.10),
        ("amdahl#low", 0.05),
        ("cache#l1_good", 0.80),
        ("cache#l1_warn", 0.50),
        ("cache#l2_good", 0.70),
        ("cache#l2_warn", 0.40),
        ("cache#impact_likely", 0.60),
        ("cache#impact_unlikely", 0.40),
        ("dag#min_gap_ns", 2000.0),
        ("dag#host_call_cover", 0.50),
        ("dag#max_parent_steps", 16.0),
        ("fusion#short_ns", 10_000.0),
        ("fusion#max_gap_ns", 500.0),
        ("fusion#min_count", 2.0),
        ("fusion#repeat_run", 8.0),
        ("fusion#speedup_cap", 3.0),
        ("fusion#confidence_base", 0.30),
        ("fusion#confidence_pattern", 0.30),
        ("fusion#confidence_shape", 0.20),
        ("fusion#confidence_count", 0.10),
        ("fusion#confidence_max", 0.90),
        ("fusion#same_shape_share", 0.90),
        ("fusion#frequent_count", 100.0),
        ("fusion#whole_word_letters", 4.0),
        ("metrics#window_saturated", 0.99),
        ("occupancy#spill_low", 0.10),
        ("occupancy#spill_medium", 0.25),
        ("occupancy#not_bound_ratio", 0.50),
        ("occupancy#workgroup_size", 256.0),
        ("occupancy#max_workgroup_size", 1024.0),
        ("plateau#delta", 0.02),
        ("plateau#window", 3.0),
        ("plateau#window_max", 20.0),
        ("pragma#amdahl_gate_pct", 5.0),
        ("pragma#full_max_trip", 32.0),
        ("pragma#full_min_hotspot_pct", 10.0),
        ("pragma#count_min_valu", 0.50),
        ("pragma#count_max_vgpr", 64.0),
        ("pragma#count_max_body", 20.0),
        ("pragma#disable_vgpr_share", 0.80),
        ("pragma#disable_max_waves", 2.0),
        ("pragma#default_max_vgpr", 256.0),
        ("pragma#default_waves", 8.0),
        ("hot#coverage", 0.80),
        ("hot#min_share", 0.03),
        ("diff#total_limit_pct", 3.0),
        ("diff#kernel_limit_pct", 10.0),
        ("diff#wall_limit", 0.05),
        ("diff#min_contribution", 0.01),
        ("diff#significance_factor", 2.0),
        ("diff#call_ratio_low", 0.5),
        ("diff#call_ratio_high", 2.0),
        ("diff#call_ratio_tolerance", 0.10),
        ("diff#elapsed_limit_pct", 5.0),
        ("diff#row_limit_pct", 3.0),
        ("diff#row_min_contribution_pct", 0.5),
        ("diff#hot_coverage_pct", 80.0),
        ("roofline#balanced", 0.05),
        ("roofline#estimate_factor", 4.0),
        ("sol#tolerance", 0.02),
        ("sol#rare", 0.90),
        ("sol#high", 0.80),
        ("sol#medium", 0.50),
        ("sol#mfma_high", 0.50),
        ("sol#mfma_medium", 0.25),
        ("sol#occupancy_high", 0.75),
        ("sol#occupancy_medium", 0.50),
        ("topdown#memcpy_dominant", 0.20),
        ("topdown#api_heavy", 0.10),
        ("topdown#idle_heavy", 0.10),
        ("topdown#idle_high", 0.20),
        ("tracelens#idle_high", 0.20),
        ("tracelens#idle_medium", 0.10),
        ("tracelens#wasted_high", 0.05),
        ("tracelens#wasted_medium", 0.025),
        ("tracelens#short_kernel_us", 10.0),
        ("paging#repeat", 8.0),
        ("paging#small_bytes", 65_536.0),
        ("paging#repeat_share", 0.05),
        ("paging#exposed", 0.20),
        ("paging#small_share", 0.50),
        ("paging#small_count", 100.0),
        ("rccl#fair", 40.0),
        ("rccl#good", 70.0),
        ("rccl#latency_bytes", 1_048_576.0),
        ("rccl#bandwidth_bytes", 16_777_216.0),
        ("rccl#ring_bytes", 1_048_576.0),
        ("rccl#node_ranks", 8.0),
        ("rccl#straggler_ranks", 2.0),
        ("rccl#straggler_collectives", 20.0),
        ("rccl#clock_samples", 1000.0),
        ("rccl#clock_percentile", 0.90),
        ("rccl#clock_residual", 0.25),
        ("thermal#tjmax_c", 105.0),
        ("thermal#throttle_margin_c", 5.0),
        ("thermal#hot_margin_c", 10.0),
        ("thermal#power_ratio", 0.95),
        ("thermal#clock_busy_pct", 90.0),
        ("thermal#clock_min_samples", 5.0),
        ("thermal#p95", 0.95),
        ("intent#further_rule", 0.03),
        ("intent#score_max", 0.95),
        ("intent#close", 0.10),
        ("intent#close_penalty", 0.20),
        ("intent#fallback", 0.30),
        ("gate#MAX_OPTIMIZATION_CYCLES_PER_KERNEL", 5.0),
        ("gate#MAX_CONSECUTIVE_FAILURES", 3.0),
        ("gate#MAX_SESSION_LLM_TURNS", 100.0),
        ("gate#REGRESSION_NOISE_THRESHOLD_PCT", 3.0),
        ("gate#HOT_KERNEL_INDIVIDUAL_THRESHOLD_PCT", 10.0),
        ("gate#TAIL_GEOMEAN_THRESHOLD_PCT", 5.0),
        ("gate#SOL_MAX_REASONABLE_SPEEDUP", 50.0),
        ("gate#output_tolerance", 1e-5),
        ("gate#limiting_metric_pct", 10.0),
        ("verdict#hbm_share_below_ridge", 0.40),
        ("verdict#exposed_peer_copy_share", 0.20),
        ("verdict#compute_share_above_ridge", 0.40),
        ("verdict#host_and_idle_share", 0.30),
        ("verdict#launch_part", 0.50),
        ("verdict#sync_part", 0.50),
        ("verdict#idle_share", 0.30),
        ("verdict#low_occupancy", 0.25),
        ("verdict#low_occupancy_busy", 0.40),
        ("verdict#exposed_collective_share", 0.20),
        ("verdict#kernel_dominated", 0.70),
        ("verdict#min_support", 0.50),
        ("verdict#mixed_distance", 0.10),
        ("verdict#mixed_confidence", 0.50),
        ("verdict#hot_coverage", 0.50),
        ("verdict#health_warning", 0.80),
        ("verdict#health_data_loss", 0.60),
        ("verdict#share_sum_tolerance", 0.02),
        ("health#absurd_duration_ns", 86_400_000_000_000.0),
        ("health#absurd_timestamp_ns", 4_611_686_018_427_387_904.0),
        ("health#absurd_span_factor", 10.0),
        ("health#absurd_span_events", 100.0),
        ("health#left_out_rows", 0.05),
        ("gap#queue_lead_ns", 10_000.0),
        ("gap#short_ns", 20_000.0),
        ("gap#cover", 0.50),
        ("hotspots#critical_pct", 20.0),
        ("hotspots#hot_pct", 5.0),
        ("hotspots#warm_pct", 1.0),
        ("hotspots#short_kernel_ns", 10_000.0),
        ("hotspots#warmup_extra_ns", 10_000.0),
        ("hotspots#exact_quantile_calls", 100_000.0),
        ("hotspots#quantile_rank_error", 0.01),
        ("hotspots#long_name_bytes", 4096.0),
        ("report#copies.small_bytes", 65_536.0),
        ("report#copies.large_bytes", 1_048_576.0),
        ("report#copies.exposed_min_pct", 5.0),
        ("report#copies.small_min_count", 100.0),
        ("report#copies.small_min_pct", 2.0),
        ("report#copies.link_low_ratio", 0.50),
        ("report#copies.link_achievable_ratio", 0.85),
        ("report#copies.both_ways_share", 0.20),
        ("report#copies.split_bytes", 4_194_304.0),
        ("report#launch.short_ns", 10_000.0),
        ("report#launch.min_dispatches", 100.0),
        ("report#gaps.min_pct", 2.0),
        ("report#idle.min_pct", 10.0),
        ("report#fusion.min_saving_pct", 2.0),
        ("report#fusion.max_gap_ns", 10_000.0),
        ("report#fusion.min_count", 10.0),
        ("report#warmup.ratio", 2.0),
        ("report#warmup.min_calls", 3.0),
        ("report#warmup.min_extra_pct", 1.0),
        ("report#imbalance.min_pct", 10.0),
        ("report#imbalance.common_share", 0.80),
        ("report#comm.exposed_min_pct", 5.0),
        ("report#comm.poor_pct", 40.0),
        ("report#comm.large_bytes", 16_777_216.0),
        ("report#comm.slow_min_pct", 2.0),
        ("report#comm.good_pct", 70.0),
        ("report#hotspot.dominant_pct", 50.0),
        ("report#occupancy.low_pct", 50.0),
        ("report#occupancy.latency_bound_ratio", 0.80),
        ("report#hbm.high_ratio", 0.70),
        ("report#valu.high_ratio", 0.80),
        ("report#mfma.high_ratio", 0.50),
        ("report#under.valu_ratio", 0.40),
        ("report#under.mfma_ratio", 0.25),
        ("report#under.hbm_ratio", 0.40),
        ("report#l2.low_ratio", 0.50),
        ("report#l2.hbm_min_ratio", 0.40),
        ("report#lds.stall_min_pct", 10.0),
        ("report#coalesce.low_ratio", 0.50),
        ("report#coalesce.floor_ratio", 0.25),
        ("report#coalesce.lines_per_access", 2.0),
        ("report#wave.waste_min_ratio", 0.10),
        ("report#compute.lane_low_ratio", 0.80),
        ("report#compute.many_vgprs", 96.0),
        ("report#compute.few_waves", 4.0),
        ("report#matrix.valu_min_ratio", 0.60),
        ("report#grid.beside_share", 0.50),
        ("report#att.ratio", 0.40),
        ("report#att.min_hits", 100.0),
        ("report#att.share_min", 0.20),
        ("report#att.high_ratio", 0.60),
        ("report#code.demote_below_pct", 2.0),
        ("report#priority.high_pct", 20.0),
        ("report#priority.medium_pct", 5.0),
        ("report#priority.low_pct", 2.0),
        ("report#confidence.unknown_penalty", 0.20),
        ("report#confidence.floor", 0.20),
        ("report#kernels.min_share_pct", 5.0),
        ("report#kernels.per_rule", 3.0),
        ("report#kernels.max_unknown", 2.0),
        ("comparability#common_time", 0.50),
        ("comparability#common_names", 0.30),
        ("comparability#less_work", 0.90),
        ("comparability#more_work", 1.10),
        ("comparability#calls_differ", 0.01),
        ("comparability#impossible_speed", 1.05),
        ("comparability#degraded_rows", 0.05),
        ("comparability#runs_common_time", 0.90),
        ("ci#threshold_pct", 5.0),
        ("ci#min_time_share_pct", 1.0),
        ("ci#confidence_pct", 95.0),
        ("ci#min_arrangements", 20.0),
        ("ci#runs_for_interval", 3.0),
        ("ci#max_runs", 50.0),
        ("diff_confidence#same_from", 0.8),
        ("diff_confidence#similar_from", 0.5),
        ("diff_confidence#same", 0.90),
        ("diff_confidence#similar", 0.70),
        ("diff_confidence#different", 0.55),
        ("diff_confidence#calls_from", 0.05),
        ("diff_confidence#calls_factor", 0.9),
    ];
    for (id, value) in expected {
        let found = fact(&format!("thresholds/{id}")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.value, FactValue::Number(*value), "{id}");
        assert!(found.unit.is_some() && !found.source.is_empty(), "{id}");
    }
    // No file escaped the list.
    for file in files().iter().filter_map(|file| file.strip_prefix("thresholds/").map(str::to_owned)) {
        let listed = expected.iter().any(|(id, _)| id.split('#').next() == Some(file.as_str()));
        assert!(listed || file == "bottleneck", "{file}");
    }
}
