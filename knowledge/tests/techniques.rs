//! Techniques, their three-valued conditions, gain models, rules and fusable names.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_knowledge::techniques::{self, Cap, Gain, MetricValue, Model, Risk, State};
use perfxpert_knowledge::{fusion, impact, rules, thresholds};

type Row = (&'static str, Gain, &'static [Cap], f64, Risk, f64);

#[test]
fn the_catalogue() {
    use Gain::{Bracket, Model as By};
    let expected: [Row; 21] = [
        ("mfma_enablement", By(Model::Predict), &[Cap::HbmUtil], 3.0, Risk::Medium, 0.75),
        ("vgpr_reduction", By(Model::Predict), &[Cap::BusiestUtil], 1.0, Risk::Low, 0.70),
        ("occupancy_tuning", By(Model::Waves), &[Cap::BusiestUtil], 1.5, Risk::Low, 0.50),
        ("block_size", By(Model::Lanes), &[Cap::HbmUtil], 0.5, Risk::Low, 0.60),
        ("larger_grid", By(Model::Fill), &[Cap::HbmUtil], 2.0, Risk::Low, 0.50),
        ("reduce_scratch", Bracket { lo: 1.05, hi: 1.25 }, &[Cap::ComputeUtil], 1.5, Risk::Low, 0.50),
        ("fast_math_flag", By(Model::Predict), &[Cap::HbmUtil], 0.5, Risk::High, 0.60),
        (
            "memory_coalescing",
            Bracket { lo: 3.0, hi: 4.25 },
            &[Cap::Coalescing, Cap::ComputeUtil],
            2.0,
            Risk::Medium,
            0.50,
        ),
        ("lds_tiling", By(Model::Predict), &[Cap::ComputeUtil], 3.0, Risk::Low, 0.65),
        ("cache_blocking", Bracket { lo: 1.20, hi: 1.70 }, &[Cap::ComputeUtil], 2.5, Risk::Low, 0.50),
        ("lds_padding", By(Model::Conflict), &[Cap::BusiestUtil], 1.0, Risk::Low, 0.60),
        (
            "warp_primitives_reduction",
            Bracket { lo: 1.30, hi: 1.53 },
            &[Cap::HbmUtil],
            2.0,
            Risk::Medium,
            0.50,
        ),
        ("pinned_memory", By(Model::Pinned), &[], 1.0, Risk::Low, 0.60),
        ("hip_stream_overlap", By(Model::Predict), &[], 2.0, Risk::Low, 0.70),
        ("batch_copies", By(Model::Batch), &[], 1.5, Risk::Low, 0.50),
        ("hip_graph", By(Model::Graph), &[], 2.0, Risk::Medium, 0.50),
        ("kernel_fusion", By(Model::Fusion), &[], 3.0, Risk::Medium, 0.50),
        ("device_sync_removal", By(Model::Sync), &[], 1.0, Risk::Medium, 0.60),
        ("host_pipelining", By(Model::Host), &[], 2.5, Risk::Medium, 0.40),
        ("concurrent_streams", By(Model::Concurrency), &[], 2.0, Risk::Medium, 0.40),
        ("comm_overlap", By(Model::Comm), &[], 3.0, Risk::Medium, 0.50),
    ];
    assert_eq!(techniques::all().len(), expected.len());
    for (technique, (id, gain, caps, effort, risk, confidence)) in techniques::all().iter().zip(expected) {
        assert_eq!(technique.id, id);
        assert_eq!((technique.model, technique.caps.as_slice()), (gain, caps), "{id}");
        assert_eq!(
            (technique.effort, technique.risk, technique.confidence),
            (effort, risk, confidence),
            "{id}"
        );
        assert!(technique.alternatives.iter().all(|other| techniques::find(other).is_some()), "{id}");
        assert!(!technique.actions.is_empty() && !technique.failure_modes.is_empty(), "{id}");
        assert!(
            technique.actions.iter().chain(&technique.failure_modes).all(|text| text.ends_with('.')),
            "{id}"
        );
        if let Some(change) = &technique.change_type {
            assert!(impact::find(change).is_some(), "{id}");
        }
    }
    for (alias, id) in [
        ("vgpr_reduction_compute_bound", "vgpr_reduction"),
        ("fast_math_compiler_flag", "fast_math_flag"),
        ("memory_coalescing_stride_fix", "memory_coalescing"),
        ("lds_tiling_matmul", "lds_tiling"),
        ("lds_blocking", "lds_tiling"),
        ("cache_blocking_kernel", "cache_blocking"),
        ("kernel_fusion_small_launches", "kernel_fusion"),
    ] {
        assert_eq!(techniques::find(alias).unwrap().id, id);
    }
    assert_eq!(techniques::find("mfma_enablement").unwrap().citation(), "techniques/mfma_enablement");
    assert!(techniques::find("hip_graph").unwrap().citation().ends_with("(rule of thumb)"));
    assert_eq!(
        techniques::find("mfma_enablement").unwrap().failure_modes,
        [
            "Shapes that are not multiples of 16 or 32.",
            "Little gain for FP32 data.",
            "Results differ in the last bits."
        ]
    );
}

fn limits(id: &str) -> Vec<(String, &'static str, Option<f64>)> {
    let conditions = techniques::find(id).unwrap().required.iter();
    conditions.map(|c| (c.metrics().join("|"), c.op().as_str(), c.number())).collect()
}

#[test]
fn shared_thresholds_are_read_from_their_fact() {
    let row = |metric: &str, op, number| (metric.to_owned(), op, Some(number));
    assert_eq!(limits("cache_blocking"), [row("l2_hit", "<", 0.50), row("hbm_util", ">=", 0.40)]);
    assert_eq!(
        limits("vgpr_reduction")[1..],
        [row("occ_frac", "<=", 0.50), row("vgpr_cut_frac", "<=", 0.25)]
    );
    assert_eq!(
        limits("hip_graph"),
        [
            row("dispatch_count", ">=", 100.0),
            row("median_kernel_us", "<", 10.0),
            row("launch_gap_frac", ">=", 0.02)
        ]
    );
    assert_eq!(limits("lds_padding"), [row("lds_conflict_frac", ">=", 0.10)]);
    assert_eq!(limits("comm_overlap"), [row("exposed_comm_frac", ">=", 0.05)]);
    assert_eq!(limits("host_pipelining")[0], row("host_gap_frac", ">=", 0.10));
    assert_eq!(
        limits("hip_stream_overlap"),
        [row("exposed_copy_frac", ">=", 0.05), row("hideable_copy_frac", ">=", 0.05)]
    );
    assert_eq!(limits("lds_tiling")[..2], [row("hbm_util", ">=", 0.60), row("lds_bytes", "<", 8192.0)]);
}

#[test]
fn conditions_know_three_states() {
    let mfma = techniques::find("mfma_enablement").unwrap();
    let lookup = |name: &str| match name {
        "category" => Some(MetricValue::Label("GEMM".to_owned())),
        "valu_util" => Some(MetricValue::Number(0.78)),
        _ => None,
    };
    let states: Vec<_> = mfma.required.iter().map(|condition| condition.state(&lookup)).collect();
    assert_eq!(states, [State::Met, State::Met, State::Unknown]);
    let elementwise = |name: &str| (name == "category").then(|| MetricValue::Label("Elementwise".to_owned()));
    assert_eq!(mfma.required[0].state(&elementwise), State::NotMet);
    // A value of the wrong kind says nothing.
    let wrong = |_: &str| Some(MetricValue::Flag(true));
    assert_eq!(mfma.required[1].state(&wrong), State::Unknown);
    assert_eq!(mfma.required[1].state(&|_| Some(MetricValue::Number(f64::NAN))), State::Unknown);

    // The largest of several: one busy unit settles it, one unknown leaves it open.
    let idle = &techniques::find("vgpr_reduction").unwrap().supporting[0];
    let with = |valu: Option<f64>, mfma: Option<f64>, hbm: Option<f64>| {
        idle.state(&move |name| match name {
            "valu_util" => valu.map(MetricValue::Number),
            "mfma_util" => mfma.map(MetricValue::Number),
            _ => hbm.map(MetricValue::Number),
        })
    };
    assert_eq!(with(Some(0.1), Some(0.2), Some(0.3)), State::Met);
    assert_eq!(with(Some(0.9), None, None), State::NotMet);
    assert_eq!(with(Some(0.1), None, Some(0.3)), State::Unknown);
    assert_eq!(with(None, None, None), State::Unknown);
}

#[test]
fn model_and_ranking_constants() {
    let m = thresholds::models();
    assert_eq!(
        (m.waves_factor, m.waves_cap, m.lanes_cap, m.fill_cap, m.lo_divisor),
        (0.55, 1.445, 4.0, 4.0, 3.0)
    );
    assert_eq!((m.conflict_lo_part, m.pinned_lo_reach, m.pinned_hi_reach), (0.5, 0.70, 0.85));
    assert_eq!((m.batch_lo, m.batch_hi, m.graph_lo, m.graph_hi), (0.5, 0.9, 0.30, 0.60));
    assert_eq!((m.fusion_lo, m.fusion_hi, m.fusion_max_speedup, m.fusion_unknown_hi), (0.5, 1.0, 5.1, 0.5));
    assert_eq!((m.sync_lo, m.sync_hi, m.sync_max_speedup, m.host_lo, m.host_hi), (0.5, 0.9, 1.53, 0.3, 0.8));
    assert_eq!((m.concurrency_lo, m.concurrency_fill_floor, m.concurrency_max_speedup), (0.1, 0.25, 1.445));
    assert_eq!((m.comm_lo, m.comm_hi), (0.3, 0.8));
    let r = thresholds::ranking();
    assert_eq!((r.risk_low, r.risk_medium, r.risk_high), (1.0, 1.25, 1.6));
    assert_eq!((r.effort_low_max, r.effort_medium_max, r.min_saved, r.no_headroom), (1.0, 2.0, 0.02, 1.05));
    assert_eq!(
        (r.score_possible, r.confidence_possible, r.evidence_unknown, r.possible_share),
        (0.5, 0.6, 0.5, 0.5)
    );
    assert_eq!((r.max_kernels, r.min_target_share, r.missing_share), (10, 0.01, 0.05));
}

#[test]
fn impact_models() {
    let rows: Vec<_> = impact::models()
        .models
        .iter()
        .map(|model| {
            (
                model.id.as_str(),
                model.hi_cap,
                model.base_confidence,
                model.scope.as_str(),
                model.preconditions.len(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("vgpr_reduction", 1.445, 0.70, "kernel", 3),
            ("lds_tiling", 5.1, 0.65, "kernel", 3),
            ("mfma_enablement", 8.5, 0.75, "kernel", 4),
            ("fast_math_flag", 2.975, 0.60, "kernel", 3),
            ("hip_stream_overlap", 1.445, 0.70, "program", 3),
        ]
    );
    assert_eq!(impact::models().version, 1);
    let tiling = &impact::find("lds_tiling").unwrap().preconditions;
    assert_eq!(
        (tiling[0].id.as_str(), tiling[0].rule().as_str()),
        ("bandwidth_high", "hbm_bw_utilization >= 0.6")
    );
    assert_eq!(tiling[2].rule(), "kernel_time_pct >= 0.05");
    assert_eq!(impact::find("vgpr_reduction").unwrap().preconditions[0].rule(), "waves_target > waves_now");
    assert!(impact::find("wave64").is_none());
    for model in &impact::models().models {
        assert!(
            model.preconditions.iter().all(|rule| rule.other.is_some() || rule.limit().is_some()),
            "{}",
            model.id
        );
    }
}

#[test]
fn rules_have_texts_and_known_techniques() {
    let others = [
        "api_hoisting",
        "warm_up",
        "rebalance",
        "collective_tuning",
        "stabilise_clocks",
        "hot_kernel_triage",
        "reduce_valu_work",
        "hide_latency",
        "reduce_divergence",
    ];
    let mut ids = std::collections::BTreeSet::new();
    for rule in rules::all() {
        assert!(ids.insert(&rule.id), "{}", rule.id);
        assert!(rule.id.starts_with("ROCPD-") && rule.id.ends_with("-001"), "{}", rule.id);
        for technique in &rule.techniques {
            assert!(
                others.contains(&technique.as_str()) || techniques::find(technique).is_some(),
                "{technique}"
            );
        }
        assert!(!rule.actions.is_empty() || !rule.actions_by.is_empty(), "{}", rule.rule);
        assert!(rule.suggestion.ends_with(['.', '_']) || !rule.suggestion_by.is_empty(), "{}", rule.rule);
    }
    let base = |rule: &str| rules::find(rule).unwrap().base_confidence;
    for (rule, confidence) in [
        ("exposed_copy", 0.90),
        ("small_copies", 0.85),
        ("copy_bandwidth", 0.75),
        ("launch_bound", 0.80),
        ("sync_bound", 0.80),
        ("host_api", 0.75),
        ("gpu_idle", 0.70),
        ("fusion", 0.60),
        ("warmup", 0.80),
        ("imbalance", 0.75),
        ("exposed_collectives", 0.80),
        ("collective_bandwidth", 0.65),
        ("throttling", 0.70),
        ("hotspot", 0.50),
        ("occupancy", 0.70),
        ("scratch", 0.60),
        ("hbm_bound", 0.80),
        ("l2_hit", 0.60),
        ("coalescing", 0.60),
        ("lds_conflict", 0.80),
        ("valu_bound", 0.85),
        ("mfma_unused", 0.70),
        ("kernel_latency", 0.60),
        ("small_grid", 0.75),
        ("partial_waves", 0.80),
        ("att_vmem", 0.85),
        ("att_divergence", 0.85),
        ("memcpy_sync", 0.60),
    ] {
        assert_eq!(base(rule), confidence, "{rule}");
    }
    let copy = rules::find("exposed_copy").unwrap();
    assert_eq!(
        (copy.id.as_str(), copy.category.as_str(), copy.citation().as_str()),
        ("ROCPD-MEMCPY-001", "Memory Transfer", "rules/exposed_copy")
    );
    assert_eq!(copy.title, "Exposed copies take {g}% of the run");
    assert_eq!(
        copy.actions[1],
        "Allocate the host buffers with hipHostMalloc (copies from pageable memory do not overlap)."
    );
    assert_eq!(rules::find("mfma_unused").unwrap().actions[0], "Call hipBLASLt or rocBLAS.");
    assert!(rules::find("mixed").is_none());
}

#[test]
fn fusable_names() {
    let pattern = |a: &str, b: &str| fusion::pattern(a, b).map(|row| row.name.as_str());
    for (first, second, expected) in [
        ("gemm_kernel", "relu_kernel", Some("gemm_epilogue")),
        ("Cijk_Ailk_Bljk", "void at::native::vectorized_elementwise_kernel<4>(int)", Some("gemm_epilogue")),
        ("bias_add", "gelu", Some("elementwise_chain")),
        ("layer_norm_fwd", "residual_kernel", Some("norm_residual")),
        ("residual_kernel", "layer_norm_fwd", Some("norm_residual")),
        ("scale_scores", "softmax_warp_forward", Some("softmax_chain")),
        ("foo", "bar", None),
        // add is a whole word only.
        ("padding", "gelu", None),
        ("address_table", "softmax", None),
        ("reluKernel", "castKernel", Some("elementwise_chain")),
        ("relu", "gemm", None),
    ] {
        assert_eq!(pattern(first, second), expected, "{first} then {second}");
    }
    assert_eq!(fusion::patterns().len(), 4);
    assert!(fusion::attention().iter().any(|row| row.id == "flash_attention_v2" && row.healthy));
}
