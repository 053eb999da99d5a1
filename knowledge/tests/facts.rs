//! Facts by id, and the mistakes of earlier fact tables that must stay out.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_knowledge::counters::{self, Column, Combine};
use perfxpert_knowledge::thresholds::{self, bottleneck};
use perfxpert_knowledge::{
    Confidence, FactError, FactValue, arch, att, collect, compiler, fact, formulas, interconnect,
};

#[test]
fn every_named_fact_exists() {
    for id in [
        "arch/gfx908#sgpr_steps",
        "arch/gfx90a#sgpr_steps",
        "arch/gfx942#sgpr_steps",
        "arch/gfx950#sgpr_steps",
        "arch/gfx1030#sgpr_steps",
        "arch/gfx1100#sgpr_steps",
        "arch/gfx1101",
        "arch/gfx1102",
        "arch/gfx1200",
        "arch/gfx1201",
        "att/stall_reasons",
        "collect/counter_sets",
        "collect/goals",
        "collect/implied",
        "collect/rocprofv3_options",
        "collect/rocprof_compute",
        "collect/rocprof_sys",
        "collect/steps",
        "compiler/flags",
        "compiler/pragmas",
        "counters/aliases",
        "counters/derived",
        "counters/limits",
        "counters/raw",
        "fusion/patterns",
        "impact/models",
        "intent/rules",
        "interconnect/links",
        "llm/models",
        "mcp/injected_arguments",
        "techniques/models",
        "techniques/ranking",
        "techniques/lds_tiling",
        "rules/mfma_unused",
        "rules/exposed_copy",
        "thresholds/amdahl#high",
        "thresholds/amdahl#low",
        "thresholds/att#critical",
        "thresholds/att#high",
        "thresholds/att#medium",
        "thresholds/att#min_hits",
        "thresholds/bottleneck#aliases",
        "thresholds/bottleneck#compute.valu_util_pct",
        "thresholds/bottleneck#latency.occupancy_pct",
        "thresholds/cache#l1_good",
        "thresholds/cache#l1_warn",
        "thresholds/cache#l2_good",
        "thresholds/cache#l2_warn",
        "thresholds/dag#min_gap_ns",
        "thresholds/diff#min_contribution",
        "thresholds/diff#wall_limit",
        "thresholds/fusion#short_ns",
        "thresholds/gap#queue_lead_ns",
        "thresholds/gap#short_ns",
        "thresholds/gate",
        "thresholds/gate#limiting_metric_pct",
        "thresholds/hot#coverage",
        "thresholds/hot#min_share",
        "thresholds/paging#repeat",
        "thresholds/paging#small_bytes",
        "thresholds/paging#repeat_share",
        "thresholds/paging#exposed",
        "thresholds/paging#small_share",
        "thresholds/paging#small_count",
        "thresholds/plateau#delta",
        "thresholds/pragma#amdahl_gate_pct",
        "thresholds/rccl#fair",
        "thresholds/rccl#good",
        "thresholds/report#att.ratio",
        "thresholds/roofline#balanced",
        "thresholds/sol",
        "thresholds/sol#tolerance",
        "thresholds/thermal#tjmax_c",
        "thresholds/thermal#throttle_margin_c",
        "thresholds/thermal#hot_margin_c",
        "thresholds/thermal#power_ratio",
        "thresholds/topdown",
        "thresholds/tracelens#idle_high",
        "thresholds/tracelens#idle_medium",
        "thresholds/tracelens#wasted_high",
        "thresholds/tracelens#wasted_medium",
        "code/launchers",
        "code/writable",
        "code/clients",
    ] {
        let found = fact(id).unwrap_or_else(|error| panic!("{error}"));
        assert!(!found.source.is_empty(), "{id}");
    }
}

#[test]
fn ids_reach_into_tables_and_inherit_the_source() {
    let peak = fact("arch/gfx942#skus.MI300A.peaks.fp64").unwrap();
    assert_eq!(peak.value, FactValue::Number(61.3));
    assert!(peak.source.contains("MI300 series"));
    assert_eq!(fact("arch/gfx950#skus.MI350X.tdp_w").unwrap().confidence, Confidence::Published);
    assert_eq!(fact("interconnect/links#gfx942.peer_one_way_gbps").unwrap().value, FactValue::Number(448.0));
    assert_eq!(fact("counters/raw#SQ_WAVES.block").unwrap().value, FactValue::Text("SQ".into()));
    assert_eq!(fact("thresholds/att#critical").unwrap().unit.as_deref(), Some("fraction"));
    assert_eq!(fact("thresholds/att#nope"), Err(FactError::NoKey { id: "thresholds/att#nope".into() }));
    assert_eq!(fact("thresholds/none"), Err(FactError::NoFile { file: "thresholds/none".into() }));
    assert_eq!(fact("../Cargo.toml"), Err(FactError::NoFile { file: "../Cargo.toml".into() }));
    assert_eq!(thresholds::verdict().exposed_copy_share, 0.20);
    assert_eq!(
        thresholds::verdict::ID.exposed_copy_share,
        "thresholds/bottleneck#memory_transfer.memcpy_pct"
    );
    assert_eq!(thresholds::amdahl().speedup_table, [1.5, 2.0, 4.0, 10.0]);
}

fn expression(metric: &str, gfx: &str) -> &'static str {
    &formulas::of(metric, gfx)[0].row.expression
}

// One test per group of mistakes found in earlier tables; the names say what must not come back.

#[test]
fn traffic_is_not_thirty_two_bytes_per_request() {
    assert_eq!(
        expression("hbm_read_bytes", "gfx942"),
        "128 * TCC_BUBBLE + 64 * (TCC_EA0_RDREQ - TCC_BUBBLE - TCC_EA0_RDREQ_32B) + 32 * TCC_EA0_RDREQ_32B"
    );
    assert_eq!(
        expression("hbm_write_bytes", "gfx942"),
        "64 * TCC_EA0_WRREQ_64B + 32 * (TCC_EA0_WRREQ - TCC_EA0_WRREQ_64B)"
    );
    assert_eq!(
        expression("hbm_read_bytes", "gfx950"),
        "32 * TCC_EA0_RDREQ_32B + 64 * TCC_EA0_RDREQ_64B + 128 * TCC_EA0_RDREQ_128B"
    );
    // EA0 names exist from gfx94x on only.
    assert!(
        expression("hbm_read_bytes", "gfx90a").contains("TCC_EA_RDREQ")
            && !expression("hbm_read_bytes", "gfx90a").contains("EA0")
    );
}

#[test]
fn memory_size_counters_need_no_clock_and_may_share_passes() {
    let column = |gfx| Column::of(gfx).unwrap().column;
    for (gfx, together) in
        [("gfx908", true), ("gfx90a", true), ("gfx942", false), ("gfx950", false), ("gfx1100", false)]
    {
        let column = column(gfx);
        let mut events: Vec<_> = ["FETCH_SIZE", "WRITE_SIZE"]
            .iter()
            .flat_map(|name| counters::resolve(name).unwrap().events(column))
            .collect();
        assert!(events.iter().all(|event| event.block != "GRBM" && event.block != "SQ"), "{gfx}");
        events.dedup_by_key(|event| event.name.clone());
        assert_eq!(events.len() <= column.limit(&events[0].block) as usize, together, "{gfx}");
    }
}

#[test]
fn sixteen_l2_channels_per_die_and_four_mebibytes() {
    for gfx in ["gfx942", "gfx950"] {
        let gpu = arch::find(gfx).unwrap();
        assert_eq!(gpu.l2_channels_per_die, Some(16));
        for sku in &gpu.skus {
            assert_eq!(sku.l2_mib, 4 * sku.xcd_count, "{}", sku.sku);
            assert_eq!(sku.infinity_cache_mib, Some(256), "{}", sku.sku);
        }
    }
}

#[test]
fn waves_launched_are_not_waves_resident() {
    for gfx in arch::KNOWN {
        for formula in formulas::of("waves_per_cu", gfx) {
            assert!(!formula.counters().contains(&"SQ_WAVES"), "{gfx}");
        }
    }
    assert!(!counters::caveats("SQ_WAVES", None).is_empty());
}

#[test]
fn wave_slots_registers_and_lds_are_the_hardware_s() {
    for gfx in ["gfx90a", "gfx942", "gfx950"] {
        let gpu = arch::find(gfx).unwrap();
        assert_eq!(
            (gpu.max_waves_per_simd, gpu.vgprs_per_simd.get(64), gpu.vgpr_granule.get(64)),
            (8, Some(512), Some(8))
        );
    }
    assert_eq!(arch::find("gfx908").unwrap().max_waves_per_simd, 10);
    for gfx in ["gfx1030", "gfx1100"] {
        let gpu = arch::find(gfx).unwrap();
        assert_eq!(
            (gpu.native_wave, gpu.max_vgprs_per_thread(), gpu.lds_bytes_per_cu),
            (32, 256, 65_536),
            "{gfx}"
        );
    }
    // 160 KiB is two and a half times, not twice.
    assert_eq!(
        arch::find("gfx950").unwrap().lds_bytes_per_cu * 2,
        arch::find("gfx942").unwrap().lds_bytes_per_cu * 5
    );
}

#[test]
fn peaks_are_per_device_dense_and_per_format() {
    let peaks = |gfx: &str, sku: &str| arch::find(gfx).unwrap().sku(sku).unwrap().peaks;
    assert_eq!(peaks("gfx950", "MI350X").fp64, 72.1);
    assert_eq!(peaks("gfx950", "MI350X").fp64_matrix, Some(72.1));
    assert_eq!(peaks("gfx908", "MI100").int8, Some(184.6));
    assert_eq!(peaks("gfx1030", "RX 6900 XT").fp64, 1.44);
    assert_eq!(peaks("gfx90a", "MI250X").fp64, 23.9);
    assert_eq!(peaks("gfx950", "MI355X").fp16, Some(2516.6));
    assert_eq!(peaks("gfx942", "MI300A").fp64, 61.3);
    // A format the hardware lacks has no peak.
    assert_eq!((peaks("gfx90a", "MI250X").fp8, peaks("gfx1030", "RX 6900 XT").bf16), (None, None));
    assert_eq!(peaks("gfx1030", "RX 6900 XT").fp32_matrix, None);
    // Several products per id.
    assert_eq!(arch::find("gfx942").unwrap().skus.len(), 3);
    let bandwidth = |gfx: &str| arch::find(gfx).unwrap().default_sku().unwrap().memory_bandwidth_tbs;
    assert_eq!((bandwidth("gfx908"), bandwidth("gfx90a"), bandwidth("gfx942")), (1.2288, 1.6384, 5.3248));
}

#[test]
fn counters_that_do_not_exist_are_not_named() {
    for name in ["SQ_INSTS_VALU_MFMA", "TCP_TCC_HIT_sum", "TCP_TCC_MISS_sum"] {
        assert!(counters::resolve(name).is_none(), "{name}");
    }
    assert!(counters::resolve("TCP_TOTAL_CACHE_ACCESSES").is_some());
    let bubble = counters::resolve("TCC_BUBBLE").unwrap();
    assert_eq!(bubble.unit(), counters::Unit::Count);
}

#[test]
fn block_limits_are_not_the_guide_s() {
    let gfx9 = Column::of("gfx942").unwrap().column;
    let limit = |block| gfx9.limit(block);
    assert_eq!(["SQ", "GRBM", "TA", "TD", "TCP", "TCC", "SPI"].map(limit), [8, 2, 2, 2, 4, 4, 6]);
}

#[test]
fn no_compiler_option_that_compilation_rejects_is_suggested() {
    for flag in compiler::flags().iter().filter(|flag| flag.allowlist) {
        for rejected in
            ["amdgpu-num-vgpr", "amdgpu-num-sgpr", "amdgpu-waves-per-eu", "amdgpu-enable-promote-alloca"]
        {
            assert!(!flag.flag.contains(rejected), "{}", flag.flag);
        }
    }
    let cumode = compiler::flags().iter().find(|flag| flag.flag == "-mcumode").unwrap();
    assert!(cumode.arches.iter().all(|gfx| !arch::find(gfx).unwrap().family.is_cdna()));
}

#[test]
fn stall_reasons_are_not_invented_and_sampling_starts_at_gfx90a() {
    let sdk = att::stall_reasons().iter().filter(|row| row.legacy_of.is_none());
    assert!(sdk.clone().all(|row| !row.code.starts_with("INTERLOCK")));
    use arch::PcSampling::{HostTrap, None as No, Stochastic};
    for (gfx, sampling, trace) in [
        ("gfx908", No, false),
        ("gfx90a", HostTrap, true),
        ("gfx942", Stochastic, true),
        ("gfx950", Stochastic, true),
        ("gfx1100", No, true),
        ("gfx1201", No, true),
    ] {
        let gpu = arch::find(gfx).unwrap();
        assert_eq!((gpu.pc_sampling, gpu.thread_trace), (sampling, trace), "{gfx}");
    }
}

#[test]
fn profiler_settings_have_their_real_names_and_defaults() {
    let default = |name: &str| {
        collect::environment().iter().find(|row| row.name == name).map(|row| row.default.as_str())
    };
    assert_eq!(default("ROCPROFSYS_SAMPLING_FREQ"), Some("300"));
    assert_eq!(default("ROCPROFSYS_USE_ROCM"), Some("true"));
    for wrong in ["ROCPROFSYS_USE_ROCPROFILER", "ROCM_VISIBLE_DEVICES"] {
        assert_eq!(default(wrong), None);
    }
    assert!(default("ROCR_VISIBLE_DEVICES").is_some());
}

#[test]
fn board_power_is_per_product() {
    let watts = |gfx: &str, sku: &str| arch::find(gfx).unwrap().sku(sku).unwrap().tdp_w;
    assert_eq!(
        [
            watts("gfx942", "MI300A"),
            watts("gfx942", "MI325X"),
            watts("gfx950", "MI350X"),
            watts("gfx950", "MI355X"),
            watts("gfx90a", "MI250X"),
            watts("gfx90a", "MI210")
        ],
        [550.0, 1000.0, 1000.0, 1400.0, 500.0, 300.0]
    );
    assert!(arch::find("gfx940").is_none(), "pre-production silicon is no product");
}

#[test]
fn link_figures_say_their_direction_and_achievable_ones_their_confidence() {
    let mi300x = interconnect::find("gfx942").unwrap();
    assert_eq!((mi300x.peer_links, mi300x.peer_one_way_gbps), (Some(7), Some(448.0)));
    assert_eq!(interconnect::find("gfx950").unwrap().peer_both_ways_gbps, Some(1075.2));
    let gpus = interconnect::all().iter().filter(|row| row.nic_line_rate_gbps.is_none());
    for row in gpus {
        assert!(row.achievable_confidence > Confidence::Published, "{}: nobody measured it", row.id);
    }
}

#[test]
fn high_bandwidth_use_not_low_points_to_memory() {
    let memory = &bottleneck::signatures().signatures[1];
    assert_eq!((memory.rules[1].metric.as_str(), memory.rules[1].op.as_str()), ("hbm_bw_utilization", ">="));
}

#[test]
fn hit_rates_and_utilisation_use_matching_units() {
    assert!(expression("l1_hit", "gfx942").ends_with("/ TCP_TOTAL_CACHE_ACCESSES"));
    assert!(!expression("l1_hit", "gfx942").contains("TCP_TOTAL_READ"));
    assert_eq!(expression("valu_util", "gfx942"), "SQ_ACTIVE_INST_VALU / (CUS * CYCLES)");
    assert_eq!(expression("mfma_util", "gfx942"), "SQ_VALU_MFMA_BUSY_CYCLES / (SIMDS * CYCLES)");
    // Utilisation of the GPU is taken from the timeline, never from clocks inside one dispatch.
    assert!(formulas::all().iter().all(|formula| !formula.row.expression.contains("GRBM_COUNT")));
}

#[test]
fn operations_are_counted_once_and_by_type() {
    let vector = formulas::all().iter().filter(|formula| formula.row.metric.starts_with("vector_"));
    for formula in vector {
        assert!(!formula.counters().contains(&"SQ_INSTS_VALU"), "{}", formula.row.metric);
    }
    // A multiply-add counts twice, a move or conversion not at all.
    assert!(expression("vector_fp32_flops", "gfx942").contains("2 * SQ_INSTS_VALU_FMA_F32"));
    // Integer matrix operations are no floating-point operations.
    assert!(formulas::of("matrix_int8_flops", "gfx942").is_empty());
    assert!(!formulas::of("matrix_fp4_flops", "gfx950").is_empty());
    for gfx in ["gfx908", "gfx90a"] {
        assert_eq!(arch::find(gfx).unwrap().matrix_pipe, arch::MatrixPipe::Mfma, "{gfx}");
    }
}

#[test]
fn clock_instances_are_not_added_up() {
    for name in ["GRBM_COUNT", "GRBM_GUI_ACTIVE"] {
        assert_eq!(counters::combine(name), Combine::Max);
    }
}

#[test]
fn cache_limits_exist_once() {
    assert_eq!((thresholds::cache().l2_good, thresholds::cache().l2_warn), (0.70, 0.40));
    assert_eq!(thresholds::topdown().api_heavy, 0.10);
}
