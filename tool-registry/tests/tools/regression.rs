//! `regression`: hot kernels, kernel times and the kernel-aware verdict.

use perfxpert_fixtures::TraceFile;
use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refused};
use crate::runs::{elapsed, path, run, single, without_gpu_work};

fn compare(before: &TraceFile, after: &TraceFile) -> Value {
    ask("regression.compare_runs", &json!({ "db_before": path(before), "db_after": path(after) }))
}

fn names(rows: &Value, key: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn kernels_are_hot_by_coverage_and_then_by_share() {
    let trace = single(&[("matmul", 700), ("conv2d", 200), ("add", 100)]);
    let answer = ask("regression.identify_hot_kernels", &json!({ "db_path": path(&trace) }));
    holds(
        &answer,
        &json!({ "total": 3, "returned": 3, "truncated": false, "kernel_sum_ns": 1000, "kernel_count": 3, "hot_share": 1.0 }),
    );
    let reasons: Vec<(String, String)> =
        names(&answer["items"], "name").into_iter().zip(names(&answer["items"], "reason")).collect();
    assert_eq!(
        reasons,
        [("matmul", "coverage"), ("conv2d", "coverage"), ("add", "share")]
            .map(|(name, reason)| (name.to_owned(), reason.to_owned()))
    );
    holds(&answer["items"][2], &json!({ "pct_total": 0.1, "calls": 1, "mean_ns": 100, "kind": "user" }));
    assert_eq!(
        keys(&answer),
        [
            "total",
            "returned",
            "truncated",
            "kernel_sum_ns",
            "kernel_count",
            "hot_share",
            "items",
            "trace_health"
        ]
    );
}

#[test]
fn many_small_kernels_are_hot_up_to_the_coverage_only() {
    let names: Vec<String> = (0..98).map(|at| format!("k{at:02}")).collect();
    let mut kernels: Vec<(&str, i64)> = names.iter().map(|name| (name.as_str(), 1000)).collect();
    kernels.push(("two", 2000));
    let trace = single(&kernels);
    let answer = ask("regression.identify_hot_kernels", &json!({ "db_path": path(&trace), "limit": 500 }));
    holds(&answer, &json!({ "total": 79, "kernel_count": 99, "hot_share": 0.8 }));
    assert!(names_of(&answer, "reason").iter().all(|reason| reason == "coverage"));
    let paged =
        ask("regression.identify_hot_kernels", &json!({ "db_path": path(&trace), "limit": 2, "offset": 1 }));
    assert_eq!(names_of(&paged, "name"), ["k00", "k01"]);
    holds(&paged, &json!({ "total": 79, "returned": 2, "truncated": true }));
}

fn names_of(answer: &Value, key: &str) -> Vec<String> {
    names(&answer["items"], key)
}

#[test]
fn kernel_times_have_their_spread() {
    let trace = run(&[("k", &[100, 100, 130]), ("j", &[70])]);
    let answer = ask("regression.extract_kernel_runtimes_from_db", &json!({ "db_path": path(&trace) }));
    holds(&answer, &json!({ "total": 2, "kernel_sum_ns": 400, "gpu_busy_ns": 400, "wall_ns": 400 }));
    holds(
        &answer["items"][0],
        &json!({ "kernel_name": "k", "total_runtime_ns": 330, "share": 0.825, "calls": 3, "min_ns": 100,
            "mean_ns": 110, "median_ns": 100, "max_ns": 130, "stddev_ns": 17.3, "kind": "user" }),
    );
    holds(
        &answer["items"][1],
        &json!({ "kernel_name": "j", "total_runtime_ns": 70, "share": 0.175, "stddev_ns": null }),
    );
}

#[test]
fn without_kernels_there_is_nothing_to_rank() {
    let empty = without_gpu_work();
    for tool in ["regression.identify_hot_kernels", "regression.extract_kernel_runtimes_from_db"] {
        let error = refused(tool, &json!({ "db_path": path(&empty) }));
        assert_eq!(error.kind.as_str(), "empty_trace");
    }
}

const BEFORE: [(&str, i64); 3] = [("matmul", 700), ("conv2d", 200), ("add", 100)];

#[test]
fn a_faster_matmul_improves_the_total() {
    let (before, after) = (single(&BEFORE), single(&[("matmul", 560), BEFORE[1], BEFORE[2]]));
    let answer = compare(&before, &after);
    holds(
        &answer,
        &json!({ "verdict": "improved", "rule": "total", "total_delta_pct": -0.14, "threshold_pct": 0.03,
            "weighted_geomean_delta_pct": -0.144_612_320_007_049_5_f64 }),
    );
    assert_eq!(names(&answer["per_kernel_deltas"], "kernel"), ["add", "conv2d", "matmul"]);
    assert_eq!(
        keys(&answer),
        [
            "verdict",
            "total_delta_pct",
            "weighted_geomean_delta_pct",
            "wall_delta_pct",
            "common_delta_pct",
            "normalized_delta_pct",
            "threshold_pct",
            "decided_by",
            "rule",
            "comparability",
            "wall_ns",
            "kernel_sum_ns",
            "per_kernel_deltas",
            "hot_regressions",
            "hot_regressions_total",
            "added_kernels",
            "added_kernels_total",
            "added_kernels_ns",
            "removed_kernels",
            "removed_kernels_total",
            "removed_kernels_ns",
            "possible_renames",
            "warnings",
            "total",
            "returned",
            "truncated",
            "trace_health"
        ]
    );
}

#[test]
fn one_hot_kernel_can_decide_where_the_total_does_not() {
    let before = single(&BEFORE);
    let answer = compare(&before, &single(&[BEFORE[0], ("conv2d", 230), BEFORE[2]]));
    holds(
        &answer,
        &json!({ "verdict": "regressed", "rule": "hot_kernel", "total_delta_pct": 0.03,
            "weighted_geomean_delta_pct": 0.028_346_722_100_213_606_f64 }),
    );
    holds(
        &answer["hot_regressions"][0],
        &json!({ "kernel": "conv2d", "delta_pct": 0.15, "contribution_pct": 0.03, "was_hot": true, "significant": null }),
    );
    let exactly = compare(&before, &single(&[BEFORE[0], ("conv2d", 220), BEFORE[2]]));
    holds(
        &exactly,
        &json!({ "verdict": "neutral", "rule": "none", "total_delta_pct": 0.02, "hot_regressions": [] }),
    );
    let itself = compare(&before, &before);
    holds(
        &itself,
        &json!({ "verdict": "neutral", "total_delta_pct": 0.0, "weighted_geomean_delta_pct": 0.0, "wall_delta_pct": 0.0,
            "common_delta_pct": 0.0, "normalized_delta_pct": 0.0 }),
    );
    assert!(itself["warnings"][0].as_str().unwrap().contains("both sides"), "{}", itself["warnings"]);
}

#[test]
fn added_and_removed_kernels_are_neither_hidden_nor_regressions() {
    let gone = compare(&single(&[("A", 50), ("B", 50)]), &single(&[("A", 55)]));
    holds(
        &gone,
        &json!({ "verdict": "regressed", "rule": "common", "common_delta_pct": 0.1, "total_delta_pct": -0.45,
            "removed_kernels": [{ "kernel": "B", "ns": 50, "calls": 1 }], "removed_kernels_ns": 50 }),
    );
    let new = compare(&single(&[("A", 100)]), &single(&[("A", 100), ("B", 100)]));
    holds(
        &new,
        &json!({ "verdict": "regressed", "rule": "total", "total_delta_pct": 1.0,
            "added_kernels": [{ "kernel": "B", "ns": 100, "calls": 1 }], "added_kernels_ns": 100 }),
    );
    let fused = compare(&single(&[("A", 40), ("B", 60), ("C", 100)]), &single(&[("AB", 70), ("C", 100)]));
    holds(
        &fused,
        &json!({ "verdict": "improved", "rule": "total", "total_delta_pct": -0.15, "common_delta_pct": 0.0,
            "added_kernels_total": 1, "removed_kernels_total": 2, "warnings": [] }),
    );
    assert_eq!(names(&fused["removed_kernels"], "kernel"), ["B", "A"]);
    let vanished = compare(&single(&[("A", 80), ("B", 20)]), &single(&[("A", 80)]));
    holds(&vanished, &json!({ "verdict": "improved", "rule": "total" }));
    assert!(vanished["warnings"][0].as_str().unwrap().contains("check that the output"), "{vanished}");
}

#[test]
fn time_lost_outside_kernels_counts() {
    let answer = compare(&elapsed(&[("A", 100)], 120), &elapsed(&[("A", 100)], 160));
    holds(
        &answer,
        &json!({ "verdict": "regressed", "rule": "wall", "wall_delta_pct": 0.333_333_333_333_333_3_f64,
            "wall_ns": { "before": 120, "after": 160 }, "kernel_sum_ns": { "before": 100, "after": 100 } }),
    );
}

#[test]
fn different_programs_and_different_iterations_are_inconclusive() {
    let other = compare(&single(&[("A", 100)]), &single(&[("Z", 90)]));
    holds(
        &other,
        &json!({ "verdict": "inconclusive", "rule": "comparability", "common_delta_pct": null,
        "weighted_geomean_delta_pct": null, "normalized_delta_pct": null }),
    );
    assert_eq!(other["comparability"]["issues"][0]["code"], "kernel_set_changed");
    let thrice =
        compare(&run(&[("A", &[100]), ("B", &[50])]), &run(&[("A", &[100, 100, 100]), ("B", &[50, 50, 50])]));
    holds(&thrice, &json!({ "verdict": "inconclusive", "rule": "per_call", "normalized_delta_pct": 0.0 }));
    holds(&thrice["comparability"], &json!({ "call_ratio": 3.0, "work_ratio": 3.0 }));
    let renamed = compare(&single(&[("gemm<float>(int)", 100)]), &single(&[("gemm<double>(int)", 100)]));
    assert_eq!(
        renamed["possible_renames"],
        json!([{ "from": "gemm<float>(int)", "to": "gemm<double>(int)" }])
    );
}

#[test]
fn a_noisy_mean_is_no_hot_regression() {
    let before = run(&[("noisy", &[100, 300, 100, 300]), ("rest", &[10_000])]);
    let after = run(&[("noisy", &[150, 350, 150, 350]), ("rest", &[9_800])]);
    let answer = compare(&before, &after);
    // Mean 200 to 250, sample deviation 115.47: 50 is not more than 2·sqrt(2·115.47²÷4) = 163.3.
    let row =
        answer["per_kernel_deltas"].as_array().unwrap().iter().find(|row| row["kernel"] == "noisy").unwrap();
    assert_eq!(row["significant"], false);
    assert_eq!(answer["verdict"], "neutral");
}

#[test]
fn a_side_that_cannot_be_read_is_named() {
    let (good, empty) = (single(&BEFORE), without_gpu_work());
    let error =
        refused("regression.compare_runs", &json!({ "db_before": path(&good), "db_after": path(&empty) }));
    assert_eq!(error.kind.as_str(), "empty_trace");
    assert_eq!(error.details["which"], "after");
    let missing = refused(
        "regression.compare_runs",
        &json!({ "db_before": path(&good), "db_after": "/nowhere/new.db" }),
    );
    assert_eq!(missing.kind.as_str(), "file_not_found");
    assert_eq!(missing.details["field"], "db_after");
}
