//! The worked examples of the techniques.

use super::*;

fn kernel(handle: &str, name: &str, numbers: &[(&str, f64)]) -> Subject {
    let mut subject = Subject {
        handle: handle.to_owned(),
        label: name.to_owned(),
        key: name.to_owned(),
        ..Subject::default()
    };
    for (metric, value) in numbers {
        subject.values.number(metric, Some(*value));
    }
    subject.values.flag("is_library", Some(false));
    subject
}

fn run(numbers: &[(&str, f64)]) -> Subject {
    let mut run = kernel("run", "", numbers);
    run.values.0.remove("is_library");
    run.values.flag("api_traced", Some(true));
    run
}

/// Everything a kernel's counters can say, well below every trigger.
const CALM: [(&str, f64); 7] = [
    ("l2_hit", 0.9),
    ("coalescing", 0.96),
    ("lds_conflict_frac", 0.0),
    ("trans_frac", 0.0),
    ("idle_lanes", 0.0),
    ("grid_fill", 13.0),
    ("scratch_bytes", 0.0),
];

/// A run whose timeline has nothing to offer.
const QUIET: [(&str, f64); 14] = [
    ("exposed_copy_frac", 0.03),
    ("hideable_copy_frac", 0.03),
    ("small_copy_count", 0.0),
    ("small_copy_share", 0.0),
    ("dispatch_count", 1000.0),
    ("median_kernel_us", 500.0),
    ("launch_gap_frac", 0.0),
    ("sync_gap_frac", 0.0),
    ("host_gap_frac", 0.0),
    ("exposed_comm_frac", 0.0),
    ("fusion_saving_frac", 0.0),
    ("mean_grid_fill", 1.0),
    ("kernel_frac", 0.9),
    ("work_streams", 1.0),
];

type Row = (String, Option<(f64, f64)>, Option<f64>, (f64, f64), (f64, f64), f64, f64, f64);

fn rows(judgement: &Judgement) -> Vec<Row> {
    judgement
        .fitting
        .iter()
        .map(|found| {
            let gain = &found.gain;
            let (lo, hi) = gain.run();
            (
                format!("{}@{}", found.technique.id, found.subject.handle),
                gain.local.map(|(lo, hi)| (round(lo, 3), round(hi, 3))),
                gain.cap.limit().map(|limit| round(limit, 3)),
                (round(100.0 * gain.saved_lo, 2), round(100.0 * gain.saved_hi, 2)),
                (round(lo, 3), round(hi, 3)),
                round(found.evidence, 4),
                found.score,
                found.confidence,
            )
        })
        .collect()
}

fn why(judgement: &Judgement, technique: &str, handle: &str) -> (Rejection, String) {
    let found = judgement.rejected.iter().find(|one| one.technique.id == technique && one.handle == handle);
    let found = found.unwrap_or_else(|| panic!("{technique}@{handle} is not rejected"));
    (found.kind, found.reason.clone())
}

fn matrix_product_on_vector_units() -> Subjects {
    let mut gemm = kernel(
        "k1",
        "gemm",
        &[
            ("share", 0.85),
            ("avg_us", 800.0),
            ("valu_util", 0.86),
            ("mfma_util", 0.01),
            ("hbm_util", 0.11),
            ("vgpr_total", 104.0),
            ("waves_per_simd", 4.0),
            ("waves_target", 5.0),
            ("occ_frac", 0.5),
            ("vgpr_cut_frac", 1.0 - 96.0 / 104.0),
            ("lds_bytes", 0.0),
            ("matrix_ratio", 16.0),
        ],
    );
    for (metric, value) in CALM {
        gemm.values.number(metric, Some(value));
    }
    gemm.values.label("category", Some("GEMM"));
    gemm.values.flag("matrix_dtype", Some(true));
    gemm.values.label("matrix_pipe", Some("mfma"));
    gemm.values.label("occ_limiter", Some("vgpr"));
    gemm.values.flag("reuse_pattern", Some(true));
    let mut run = run(&QUIET);
    run.values.number("exposed_copy_frac", Some(0.04));
    Subjects { run, kernels: vec![gemm], copies: Vec::new(), health: 1.0 }
}

#[test]
fn a_matrix_product_with_idle_matrix_units() {
    let found = judge(&matrix_product_on_vector_units(), None);
    assert_eq!(
        rows(&found),
        [
            (
                "mfma_enablement@k1".to_owned(),
                Some((3.5, 8.5)),
                Some(9.091),
                (60.71, 75.0),
                (2.545, 4.0),
                1.0,
                0.180952,
                0.75
            ),
            (
                "vgpr_reduction@k1".to_owned(),
                Some((1.046, 1.138)),
                Some(1.163),
                (3.73, 10.27),
                (1.039, 1.115),
                0.8333,
                0.058333,
                0.58
            ),
        ]
    );
    for (technique, handle) in [("fast_math_flag", "k1"), ("lds_tiling", "k1"), ("hip_stream_overlap", "run")]
    {
        assert_eq!(why(&found, technique, handle).0, Rejection::Blocked, "{technique}");
    }
    assert_eq!(why(&found, "lds_tiling", "k1").1, "HBM utilization 11.0% (>= 60.0%)");
    let first = &found.fitting[0];
    assert!(matches!(&first.gain.cap, Cap::Known { by, .. } if by == "HBM 11.0% busy"));
    assert_eq!(first.title, "Use matrix cores (MFMA) in `gemm`");
    assert_eq!(
        first.rationale,
        "`gemm` (85.0% of the run): category GEMM (in GEMM, CONV, SDPA); VALU utilization 86.0% (>= 60.0%); MFMA utilization 1.0% (< 5.0%)."
    );
    assert_eq!(found.fitting[1].title, "Give `gemm` one more wave per SIMD: 104 to 96 VGPRs");
    assert_eq!((first.effort(), found.fitting[1].effort()), ("high", "low"));
}

#[test]
fn a_stencil_at_its_bandwidth() {
    let mut stencil = kernel(
        "k1",
        "stencil3d",
        &[
            ("share", 0.91),
            ("avg_us", 800.0),
            ("vgpr_cut_frac", 0.0),
            ("waves_per_simd", 8.0),
            ("occ_frac", 1.0),
        ],
    );
    for (metric, value) in CALM {
        stencil.values.number(metric, Some(value));
    }
    for (metric, value) in [
        ("valu_util", 0.22),
        ("mfma_util", 0.0),
        ("hbm_util", 0.82),
        ("ai_ratio", 0.16),
        ("l2_hit", 0.44),
        ("lds_bytes", 0.0),
    ] {
        stencil.values.number(metric, Some(value));
    }
    stencil.values.label("category", Some("Other"));
    stencil.values.label("occ_limiter", Some("none"));
    stencil
        .values
        .flag("reuse_pattern", subjects::reuses("stencil3d", perfxpert_knowledge::kernels::Category::Other));
    let found =
        judge(&Subjects { run: run(&QUIET), kernels: vec![stencil], copies: Vec::new(), health: 1.0 }, None);
    assert_eq!(
        rows(&found),
        [
            (
                "lds_tiling@k1".to_owned(),
                Some((2.367, 4.545)),
                Some(4.545),
                (52.55, 70.98),
                (2.107, 3.446),
                1.0,
                0.205882,
                0.65
            ),
            (
                "cache_blocking@k1".to_owned(),
                Some((1.2, 1.7)),
                Some(4.545),
                (15.17, 37.47),
                (1.179, 1.599),
                1.0,
                0.105275,
                0.5
            ),
        ]
    );
    assert_eq!(why(&found, "hip_stream_overlap", "run").0, Rejection::Blocked);
    assert_eq!(why(&found, "mfma_enablement", "k1").0, Rejection::Blocked);
}

#[test]
fn ten_thousand_short_kernels() {
    let plain =
        [("avg_us", 4.0), ("idle_lanes", 0.0), ("scratch_bytes", 0.0), ("lds_bytes", 0.0), ("occ_frac", 1.0)];
    let kernels = [("k1", 0.15, 256.0), ("k2", 0.10, 320.0)]
        .map(|(handle, share, groups)| {
            let mut kernel = kernel(handle, handle, &plain);
            kernel.values.number("share", Some(share));
            kernel.values.number("grid_fill", Some(groups / 304.0));
            kernel.values.label("category", Some("Other"));
            kernel.values.label("occ_limiter", Some("none"));
            kernel
        })
        .to_vec();
    let run = run(&[
        ("kernel_frac", 0.25),
        ("exposed_copy_frac", 0.01),
        ("hideable_copy_frac", 0.01),
        ("small_copy_count", 0.0),
        ("small_copy_share", 0.0),
        ("dispatch_count", 10_000.0),
        ("median_kernel_us", 4.0),
        ("launch_gap_frac", 0.62),
        ("sync_gap_frac", 0.03),
        ("host_gap_frac", 0.07),
        ("exposed_comm_frac", 0.0),
        ("repeat_frac", 0.98),
        ("graph_launch_frac", 0.0),
        ("fusion_saving_frac", 0.30),
        ("syncs_per_dispatch", 0.01),
        ("mean_grid_fill", 0.926),
        ("work_streams", 1.0),
    ]);
    let found = judge(&Subjects { run, kernels, copies: Vec::new(), health: 1.0 }, None);
    let row = |id: &str, saved, run, evidence, score, confidence| {
        (id.to_owned(), None, None, saved, run, evidence, score, confidence)
    };
    let mut grid = row("larger_grid@k1", (0.88, 2.37), (1.009, 1.024), 0.5, 0.004063, 0.25);
    grid.1 = Some((1.063, 1.188));
    assert_eq!(
        rows(&found),
        [
            row("hip_graph@run", (18.6, 37.2), (1.229, 1.592), 1.0, 0.1116, 0.5),
            row("kernel_fusion@run", (15.0, 30.0), (1.176, 1.429), 1.0, 0.06, 0.5),
            row("device_sync_removal@run", (1.5, 2.7), (1.015, 1.028), 0.5, 0.0084, 0.3),
            grid,
        ]
    );
    assert_eq!(
        why(&found, "concurrent_streams", "run"),
        (Rejection::Blocked, "mean grid fill 92.6% (< 50.0%)".to_owned())
    );
    assert_eq!(why(&found, "host_pipelining", "run").0, Rejection::Blocked);
    for technique in ["memory_coalescing", "fast_math_flag"] {
        assert_eq!(why(&found, technique, "k1").0, Rejection::Unknown, "{technique}");
    }
    let missing = found.missing();
    assert!(missing.contains(&"coalescing") && missing.contains(&"trans_frac"), "{missing:?}");
}

#[test]
fn a_run_of_copies() {
    let copy = |handle: &str, label: &str, share: f64, rate: f64| {
        let mut copy = kernel(handle, label, &[("large_copy_share", share), ("link_eff", rate / 63.0)]);
        copy.values.0.remove("is_library");
        copy
    };
    let mut gather = kernel(
        "k1",
        "gather",
        &[
            ("share", 0.24),
            ("avg_us", 400.0),
            ("waves_per_simd", 4.0),
            ("waves_target", 5.0),
            ("occ_frac", 0.5),
            ("idle_lanes", 0.0),
            ("scratch_bytes", 0.0),
            ("lds_bytes", 16_384.0),
            ("grid_fill", 4.0),
        ],
    );
    gather.values.label("category", Some("Other"));
    gather.values.label("occ_limiter", Some("lds"));
    let run = run(&[
        ("kernel_frac", 0.28),
        ("exposed_copy_frac", 0.62),
        ("hideable_copy_frac", 0.28),
        ("small_copy_count", 0.0),
        ("small_copy_share", 0.0),
        ("avg_copy_bytes", 16_777_216.0),
        ("blocking_copy_calls", 60.0),
        ("dispatch_count", 120.0),
        ("median_kernel_us", 400.0),
        ("launch_gap_frac", 0.0),
        ("sync_gap_frac", 0.04),
        ("host_gap_frac", 0.04),
        ("exposed_comm_frac", 0.0),
        ("fusion_saving_frac", 0.0),
        ("syncs_per_dispatch", 0.5),
        ("mean_grid_fill", 1.0),
        ("work_streams", 1.0),
    ]);
    let copies = vec![copy("h2d", "Host-to-Device", 0.50, 12.0), copy("d2h", "Device-to-Host", 0.12, 11.2)];
    let found = judge(&Subjects { run, kernels: vec![gather], copies, health: 1.0 }, None);
    let got: Vec<_> = rows(&found)
        .into_iter()
        .map(|(id, _, _, saved, run, evidence, score, confidence)| {
            (id, saved, run, evidence, score, confidence)
        })
        .collect();
    let row = |id: &str, saved, run, evidence, score, confidence| {
        (id.to_owned(), saved, run, evidence, score, confidence)
    };
    assert_eq!(
        got,
        [
            row("pinned_memory@h2d", (36.39, 38.8), (1.572, 1.634), 0.8333, 0.313292, 0.5),
            row("hip_stream_overlap@run", (11.48, 28.0), (1.13, 1.389), 1.0, 0.098689, 0.7),
            row("pinned_memory@d2h", (8.95, 9.49), (1.098, 1.105), 0.8333, 0.076844, 0.5),
            row("device_sync_removal@run", (2.0, 3.6), (1.02, 1.037), 0.8333, 0.018667, 0.5),
            row("occupancy_tuning@k1", (1.05, 2.9), (1.011, 1.03), 0.75, 0.009882, 0.38),
        ]
    );
    assert_eq!(found.fitting[0].title, "Use pinned host memory for Host-to-Device copies");
}

#[test]
fn examples_that_callers_give_without_a_trace() {
    let mut gemm = kernel(
        "gemm_k0",
        "gemm_k0",
        &[
            ("share", 1.0),
            ("vgpr_total", 128.0),
            ("waves_per_simd", 4.0),
            ("waves_target", 5.0),
            ("occ_frac", 0.5),
            ("vgpr_cut_frac", 0.25),
        ],
    );
    gemm.values.label("category", Some("GEMM"));
    gemm.values.label("occ_limiter", Some("vgpr"));
    let only = |kernel: Subject| Subjects {
        run: Subject::default(),
        kernels: vec![kernel],
        copies: Vec::new(),
        health: 1.0,
    };
    let found = judge(&only(gemm), Some(Specialist::Compute));
    let vgpr = &found.fitting[0];
    assert_eq!(
        (vgpr.technique.id.as_str(), vgpr.status, vgpr.score),
        ("vgpr_reduction", Status::Applicable, 0.068627)
    );
    assert!(
        why(&found, "mfma_enablement", "gemm_k0").0 == Rejection::Unknown
            && found.missing().contains(&"valu_util")
    );
    let mut stream = kernel("stream_copy", "stream_copy", &[("share", 1.0), ("l2_hit", 0.41)]);
    stream.values.label("category", Some("Copy"));
    stream.values.flag("reuse_pattern", Some(false));
    let found = judge(&only(stream), Some(Specialist::Memory));
    let cache = found
        .fitting
        .iter()
        .find(|found| found.technique.id == "cache_blocking")
        .expect("cache blocking fits");
    assert_eq!((cache.status, cache.score), (Status::Possible, 0.028922));
    let mut run = kernel(
        "run",
        "",
        &[("dispatch_count", 10_000.0), ("launch_gap_frac", 0.342), ("median_kernel_us", 6.4)],
    );
    run.values.0.remove("is_library");
    let found = judge(&Subjects { run, health: 1.0, ..Subjects::default() }, Some(Specialist::Latency));
    let got: Vec<_> =
        found.fitting.iter().map(|found| (found.technique.id.as_str(), found.status, found.score)).collect();
    assert_eq!(
        got,
        [("hip_graph", Status::Applicable, 0.053865), ("kernel_fusion", Status::Possible, 0.0095)]
    );
}

#[test]
fn library_kernels_are_not_the_callers_to_change() {
    let mut subjects = matrix_product_on_vector_units();
    subjects.kernels[0].values.flag("is_library", Some(true));
    let found = judge(&subjects, Some(Specialist::Compute));
    assert!(found.fitting.is_empty() && found.required == 0);
    assert_eq!(why(&found, "mfma_enablement", "k1").1, "library kernel");
}

#[test]
fn without_headroom_there_is_nothing_to_gain() {
    let mut subjects = matrix_product_on_vector_units();
    subjects.kernels[0].values.number("hbm_util", Some(0.97));
    let found = judge(&subjects, Some(Specialist::Compute));
    assert_eq!(why(&found, "mfma_enablement", "k1").1, "no headroom: HBM is already 97.0% busy");
}

#[test]
fn hashes_are_those_callers_know() {
    // Digests made with: printf '{"name": "hip_graph"}' | sha256sum
    assert_eq!(hash("hip_graph"), "c13996f4200ab50ba990768aa92dad9bc803511886edff0bbc65c7b0fe2c6014");
    assert_eq!(
        target_hash("lds_tiling", "gemm"),
        "58bd9a4b9a0a620bcb9c25d19d3c229785a7aee51554f79fcbd926af6f61a67e"
    );
}
