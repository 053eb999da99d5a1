//! `trace_diff.diff_runs`: the diff document and its gate.

use perfxpert_fixtures::{KernelSpec, TraceBuilder, TraceFile};
use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refused};
use crate::runs::{elapsed, path, run, single, without_gpu_work};

fn diff_with(baseline: &TraceFile, new: &TraceFile, more: &Value) -> Value {
    let mut arguments = json!({ "baseline_db": path(baseline), "new_db": path(new) });
    for (key, value) in more.as_object().unwrap() {
        arguments[key] = value.clone();
    }
    ask("trace_diff.diff_runs", &arguments)
}

fn diff(baseline: &TraceFile, new: &TraceFile) -> Value {
    diff_with(baseline, new, &json!({}))
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

fn codes(answer: &Value) -> Vec<&str> {
    let issues = answer["comparability"]["issues"].as_array().unwrap();
    issues.iter().map(|issue| issue["code"].as_str().unwrap()).collect()
}

#[test]
fn regressions_come_from_all_kernels_not_from_the_rows_shown() {
    let answer = diff_with(
        &single(&[("k1", 300), ("k2", 200), ("k3", 100)]),
        &single(&[("k1", 300), ("k2", 200), ("k3", 125)]),
        &json!({ "top_kernels": 1 }),
    );
    assert_eq!(names(&answer["per_kernel"]), ["k1"]);
    holds(
        &answer,
        &json!({ "schema_version": "0.3.1", "verdict": "neutral", "verdict_threshold_pct": 5.0, "wall_delta_pct": 4.1667,
            "kernel_time_delta_pct": 4.1667, "kernel_verdict": "regressed", "kernel_rule": "hot_kernel",
            "per_kernel_total": 3, "truncated": true, "trustworthy": true, "noise_known": false,
            "runs": { "baseline": 1, "new": 1 }, "primary_regressions_total": 1 }),
    );
    holds(
        &answer["primary_regressions"][0],
        &json!({ "name": "k3", "status": "changed", "delta_ns": 25, "delta_pct": 25.0, "contribution_pct": 4.1667,
            "per_call_delta_pct": 25.0, "regressed": true, "was_hot": true, "significant": null }),
    );
    assert_eq!(
        keys(&answer),
        [
            "schema_version",
            "verdict",
            "verdict_threshold_pct",
            "wall_delta_ns",
            "wall_delta_pct",
            "baseline_wall_ns",
            "new_wall_ns",
            "kernel_time_delta_ns",
            "kernel_time_delta_pct",
            "baseline_kernel_ns",
            "new_kernel_ns",
            "trustworthy",
            "noise_known",
            "kernel_verdict",
            "kernel_rule",
            "narrative",
            "comparability",
            "runs",
            "hot_set_jaccard",
            "impossible_speed",
            "impossible_speed_reason",
            "primary_regressions",
            "primary_regressions_total",
            "primary_improvements",
            "primary_improvements_total",
            "per_kernel",
            "per_kernel_total",
            "truncated",
            "added_kernels",
            "added_kernels_total",
            "removed_kernels",
            "removed_kernels_total",
            "possible_renames",
            "baseline_db",
            "new_db",
            "warnings",
            "trace_health"
        ]
    );
}

#[test]
fn a_steady_elapsed_time_can_hide_a_slower_kernel() {
    let answer = diff(
        &single(&[("k1", 100), ("k2", 100), ("k3", 100)]),
        &single(&[("k1", 98), ("k2", 98), ("k3", 104)]),
    );
    holds(&answer, &json!({ "wall_delta_pct": 0.0, "verdict": "neutral" }));
    assert_eq!(names(&answer["primary_regressions"]), ["k3"]);
    holds(&answer["primary_regressions"][0], &json!({ "delta_pct": 4.0, "contribution_pct": 1.3333 }));
    holds(&answer, &json!({ "kernel_verdict": "regressed" }));
}

#[test]
fn tiny_kernels_and_exact_limits_are_not_listed() {
    let answer = diff(&single(&[("A", 1_000_000), ("B", 1_000)]), &single(&[("A", 600_000), ("B", 1_500)]));
    holds(&answer, &json!({ "verdict": "improved", "wall_delta_pct": -39.9101, "primary_regressions": [] }));
    let exact = diff(&single(&[("k", 1000)]), &single(&[("k", 1030)]));
    holds(&exact, &json!({ "primary_regressions": [], "primary_regressions_total": 0 }));
    let one = single(&[("k", 1000)]);
    holds(
        &diff(&one, &one),
        &json!({ "verdict": "neutral", "primary_regressions": [], "primary_improvements": [] }),
    );
}

#[test]
fn the_worked_example() {
    let answer = diff(
        &elapsed(&[("gemm", 400_000), ("relu", 40_000)], 1_000_000),
        &elapsed(&[("gemm", 430_000), ("relu", 40_000), ("fused", 5_000)], 1_060_000),
    );
    holds(
        &answer,
        &json!({ "verdict": "regressed", "wall_delta_pct": 6.0, "wall_delta_ns": 60_000, "baseline_wall_ns": 1_000_000,
            "new_wall_ns": 1_060_000, "baseline_kernel_ns": 440_000, "new_kernel_ns": 475_000,
            "kernel_time_delta_pct": 7.9545, "narrative":
            "Elapsed time went from 1.000 ms to 1.060 ms (+6.00%); kernel time +7.95%. 1 kernel regressed by more than 3.0%: `gemm` +7.50% (+0.030 ms). 1 kernel was added (0.005 ms) and 0 removed (0.000 ms). One run per side: how much of this is noise is unknown." }),
    );
    holds(
        &answer["primary_regressions"][0],
        &json!({ "name": "gemm", "delta_pct": 7.5, "contribution_pct": 6.8182 }),
    );
    holds(
        &answer["added_kernels"][0],
        &json!({ "name": "fused", "status": "added", "delta_pct": null, "regressed": false }),
    );
    assert_eq!(answer["primary_regressions_total"], 1);
}

#[test]
fn a_kernel_that_went_away_has_lost_all_its_time() {
    let answer = diff(&single(&[("A", 900), ("B", 100)]), &single(&[("A", 900)]));
    holds(
        &answer["removed_kernels"][0],
        &json!({ "name": "B", "status": "removed", "delta_pct": -100.0, "delta_ns": -100,
        "per_call_delta_pct": null, "contribution_pct": -10.0 }),
    );
    holds(&answer, &json!({ "hot_set_jaccard": 0.5, "impossible_speed": null }));
    assert!(answer["impossible_speed_reason"].as_str().unwrap().contains("no bytes"));
}

#[test]
fn sides_that_cannot_be_read_are_refused_without_a_gate() {
    let (good, empty) = (single(&[("k", 1000)]), without_gpu_work());
    let error =
        refused("trace_diff.diff_runs", &json!({ "baseline_db": path(&good), "new_db": path(&empty) }));
    assert_eq!(error.kind.as_str(), "empty_trace");
    assert_eq!(error.details["which"], "new");
    let missing =
        refused("trace_diff.diff_runs", &json!({ "baseline_db": path(&good), "new_db": "/nowhere/n.db" }));
    assert_eq!(missing.kind.as_str(), "file_not_found");
    let twice = refused(
        "trace_diff.diff_runs",
        &json!({ "baseline_db": path(&good), "new_db": path(&good), "new_runs": [path(&good)] }),
    );
    assert_eq!(twice.kind.as_str(), "invalid_argument");
    assert_eq!(twice.details["field"], "new_runs[0]");
}

fn gate(baseline: &TraceFile, new: &TraceFile, options: Value) -> Value {
    diff_with(baseline, new, &json!({ "gate": options }))
}

#[test]
fn an_empty_side_never_passes() {
    let (good, empty) = (single(&[("k", 1000)]), without_gpu_work());
    for (baseline, new, code) in [(&good, &empty, "empty_candidate"), (&empty, &good, "empty_baseline")] {
        let answer =
            gate(baseline, new, json!({ "allow_kernel_changes": true, "allow_different_gpu": true }));
        holds(
            &answer["gate"],
            &json!({ "verdict": "no_verdict", "exit_code": 3, "trustworthy": false, "noise_known": false }),
        );
        assert_eq!(answer["gate"]["reasons"][0]["code"], code);
        holds(
            &answer,
            &json!({ "verdict": "inconclusive", "wall_delta_pct": null, "wall_delta_ns": null, "trustworthy": false,
                "kernel_verdict": "inconclusive" }),
        );
        holds(&answer["gate"]["wall"], &json!({ "verdict": "no_verdict", "delta_pct": null }));
        assert_eq!(codes(&answer), [code]);
    }
    let both = gate(&empty, &empty, json!({}));
    assert_eq!(codes(&both), ["empty_baseline", "empty_candidate"]);
}

#[test]
fn one_run_per_side_is_judged_at_a_point() {
    for (new, options, delta, verdict, exit) in [
        (1_050_000, json!({ "threshold": 5 }), 5.0, "pass", 0),
        (1_050_001, json!({ "threshold": 5 }), 5.0001, "regressed", 1),
        (1_050_001, json!({ "threshold": 5, "min_delta_ms": 1 }), 5.0001, "pass", 0),
        (900_000, json!({ "threshold": 0 }), -10.0, "pass", 0),
        (1_000_001, json!({ "threshold": 0 }), 0.0001, "regressed", 1),
    ] {
        let answer = gate(&single(&[("k", 1_000_000)]), &single(&[("k", new)]), options);
        holds(
            &answer["gate"],
            &json!({ "verdict": verdict, "exit_code": exit, "method": "point", "noise_known": false, "trustworthy": true,
                "runs": { "baseline": 1, "candidate": 1, "needed_for_interval": 3 } }),
        );
        holds(
            &answer["gate"]["wall"],
            &json!({ "delta_pct": delta, "ci_low_pct": null, "confidence": null, "baseline_spread_pct": null }),
        );
        assert_eq!(answer["gate"]["reasons"].as_array().unwrap().is_empty(), verdict == "pass");
    }
}

fn sides(baseline: &[TraceFile], new: &[TraceFile], gate: Value) -> Value {
    diff_with(
        &baseline[0],
        &new[0],
        &json!({ "baseline_runs": baseline[1..].iter().map(path).collect::<Vec<_>>(),
            "new_runs": new[1..].iter().map(path).collect::<Vec<_>>(), "gate": gate }),
    )
}

/// Two kernels, and a copy that ends the run.
fn three(gemm: i64, relu: i64, wall: i64) -> TraceFile {
    elapsed(&[("gemm", gemm), ("relu", relu)], wall)
}

pub(crate) fn worked_runs() -> (Vec<TraceFile>, Vec<TraceFile>) {
    let walls = [[10_000, 10_100, 9_950, 10_050, 10_020], [10_700, 10_650, 10_800, 10_720, 10_690]];
    let gemm = [[7_000, 7_070, 6_965, 7_035, 7_014], [7_700, 7_660, 7_790, 7_715, 7_680]];
    let relu = [[1_000, 1_004, 998, 1_002, 1_001], [1_003, 999, 1_001, 1_004, 1_000]];
    let side = |at: usize| {
        (0..5).map(|run| three(gemm[at][run] * 1000, relu[at][run] * 1000, walls[at][run] * 1000)).collect()
    };
    (side(0), side(1))
}

#[test]
fn five_runs_per_side_give_an_interval_for_the_wall_and_each_kernel() {
    let (baseline, new) = worked_runs();
    let answer =
        sides(&baseline, &new, json!({ "threshold": 5, "threshold_source": "flag", "kernel_threshold": 8 }));
    let gate = &answer["gate"];
    holds(
        gate,
        &json!({ "verdict": "regressed", "exit_code": 1, "method": "rank_interval", "trustworthy": true,
            "noise_known": true, "threshold_source": "flag", "kernels_total": 2, "kernels_gated": 2,
            "reasons": [{ "code": "wall", "text": "wall time +6.90% is above 5.00%" },
                { "code": "kernel", "text": "kernel gemm +9.78% is above 8.00%" }] }),
    );
    holds(
        &gate["wall"],
        &json!({ "baseline_median_ns": 10_020_000, "candidate_median_ns": 10_700_000, "delta_pct": 6.9, "ci_low_pct": 5.9406,
            "ci_high_pct": 7.7844, "confidence": 0.9683, "smallest_detectable_change_pct": 0.9594, "verdict": "regressed" }),
    );
    holds(
        &gate["kernels"][0],
        &json!({ "name": "gemm", "delta_pct": 9.7804, "ci_low_pct": 8.628, "ci_high_pct": 11.2857, "confidence": 0.9841,
            "verdict": "regressed", "calls_changed": false }),
    );
    holds(
        &gate["kernels"][1],
        &json!({ "name": "relu", "delta_pct": 0.0, "ci_low_pct": -0.3984, "ci_high_pct": 0.501, "verdict": "pass" }),
    );
    // The diff and the gate never show two numbers for one change.
    assert_eq!(answer["wall_delta_pct"], gate["wall"]["delta_pct"]);
    assert_eq!(answer["per_kernel"][0]["delta_pct"], gate["kernels"][0]["delta_pct"]);
    holds(
        &answer,
        &json!({ "noise_known": true, "trustworthy": true, "warnings": [], "narrative":
        "Elapsed time went from 10.020 ms to 10.700 ms (+6.90%); kernel time +8.58%. 1 kernel regressed by more than 3.0%: `gemm` +9.78% (+0.686 ms)." }),
    );
}

#[test]
fn noise_gives_no_verdict() {
    let side = |walls: [i64; 5]| walls.map(|wall| three(7_000_000, 1_000_000, wall * 100_000));
    let answer = sides(&side([100, 120, 90, 110, 105]), &side([109, 125, 98, 116, 112]), json!({}));
    holds(
        &answer["gate"],
        &json!({ "verdict": "no_verdict", "exit_code": 3, "trustworthy": false, "noise_known": true }),
    );
    assert_eq!(answer["gate"]["reasons"][0]["code"], "noise");
    holds(
        &answer["gate"]["wall"],
        &json!({ "delta_pct": 6.6667, "ci_low_pct": -9.1667, "ci_high_pct": 25.0, "smallest_detectable_change_pct": 18.3333 }),
    );
}

/// Kernels on a GPU of this kind.
fn on(product: &str, gpus: usize, kernels: &[(&str, i64)], groups: u32, calls: usize) -> TraceFile {
    let mut trace = TraceBuilder::new();
    let mut now = 0;
    for _ in 0..gpus {
        let gpu = trace.gpu(product);
        for (name, time) in kernels {
            let kernel = trace.kernel(KernelSpec::new(name));
            for _ in 0..calls {
                trace.dispatch(gpu, kernel, now..now + time).shape(256, groups);
                now += time;
            }
        }
    }
    trace.build().unwrap()
}

#[test]
fn different_gpus_give_no_verdict_unless_allowed() {
    let k = [("k", 1_000_000)];
    let (old, new) = (on("mi250x", 1, &k, 4096, 1), on("mi300x", 1, &k, 4096, 1));
    let answer = gate(&old, &new, json!({}));
    assert_eq!(codes(&answer), ["different_gpu"]);
    holds(
        &answer,
        &json!({ "verdict": "inconclusive", "trustworthy": false, "kernel_verdict": "inconclusive", "kernel_rule": "comparability" }),
    );
    holds(&answer["gate"], &json!({ "verdict": "no_verdict", "exit_code": 3 }));
    assert_eq!(answer["comparability"]["status"], "incomparable");
    let allowed = gate(&old, &new, json!({ "allow_different_gpu": true }));
    holds(&allowed["gate"], &json!({ "verdict": "pass", "exit_code": 0 }));
    assert_eq!(allowed["comparability"]["issues"][0]["severity"], "warning");
    let two = gate(&on("mi300x", 1, &k, 4096, 2), &on("mi300x", 2, &k, 4096, 1), json!({}));
    assert_eq!(codes(&two), ["different_gpu"]);
}

#[test]
fn another_program_does_not_pass_but_may_regress() {
    let old = single(&[("a", 100_000), ("b", 900_000)]);
    let other = gate(&old, &single(&[("a", 100_000), ("c", 800_000)]), json!({}));
    assert_eq!(codes(&other), ["kernel_set_changed"]);
    holds(&other["gate"], &json!({ "verdict": "no_verdict", "exit_code": 3 }));
    let slower = gate(&old, &single(&[("a", 100_000), ("c", 990_000)]), json!({}));
    holds(&slower["gate"], &json!({ "verdict": "regressed", "exit_code": 1 }));
    let allowed =
        gate(&old, &single(&[("a", 100_000), ("c", 800_000)]), json!({ "allow_kernel_changes": true }));
    holds(&allowed["gate"], &json!({ "verdict": "pass" }));
}

#[test]
fn half_the_work_is_no_improvement() {
    let (whole, half) = ([("k", 1_000_000)], [("k", 550_000)]);
    let answer = gate(&on("mi300x", 1, &whole, 1000, 1), &on("mi300x", 1, &half, 520, 1), json!({}));
    assert_eq!(codes(&answer), ["less_work"]);
    assert_eq!(
        answer["comparability"]["issues"][0]["text"],
        "The candidate launched 52.0% of the baseline's work-items in the same kernels: the runs did not do the same work."
    );
    holds(&answer["gate"], &json!({ "verdict": "no_verdict", "exit_code": 3 }));
    holds(&answer, &json!({ "verdict": "inconclusive", "kernel_verdict": "inconclusive" }));
    let slower =
        gate(&on("mi300x", 1, &whole, 1000, 1), &on("mi300x", 1, &[("k", 1_060_000)], 500, 1), json!({}));
    holds(&slower["gate"], &json!({ "verdict": "regressed", "exit_code": 1 }));
    let more = gate(&on("mi300x", 1, &whole, 1000, 1), &on("mi300x", 1, &whole, 1200, 1), json!({}));
    assert_eq!(codes(&more), ["more_work"]);
    holds(&more["gate"], &json!({ "verdict": "pass" }));
    holds(&more["comparability"], &json!({ "status": "limited", "work_ratio": 1.2 }));
}

#[test]
fn more_dispatches_for_the_same_work_are_only_noted() {
    let answer = gate(
        &on("mi300x", 1, &[("k", 1_000_000)], 1000, 1),
        &on("mi300x", 1, &[("k", 500_000)], 500, 2),
        json!({}),
    );
    assert_eq!(codes(&answer), ["calls_differ"]);
    holds(&answer["gate"], &json!({ "verdict": "pass" }));
    assert_eq!(answer["comparability"]["status"], "ok");
}

#[test]
fn lost_rows_block_a_pass_and_not_a_regression() {
    let sound = run(&[("k", &[100_000; 20])]);
    let mut trace = TraceBuilder::new();
    let gpu = trace.gpu("mi300x");
    let kernel = trace.kernel(KernelSpec::new("k"));
    for at in 0..18 {
        trace.dispatch(gpu, kernel, at * 100_000..(at + 1) * 100_000).shape(256, 5000);
    }
    for at in 0..2 {
        trace.dispatch(gpu, kernel, 2_000_000 + at * 100..1_900_000).flawed("reversed_interval");
    }
    let broken = trace.build().unwrap();
    let answer = gate(&sound, &broken, json!({}));
    assert!(codes(&answer).contains(&"trace_degraded"), "{:?}", codes(&answer));
    holds(&answer["gate"], &json!({ "verdict": "no_verdict", "exit_code": 3 }));
    assert!(answer["trace_health"]["new"]["items_total"].as_u64().unwrap() > 0);
}

#[test]
fn runs_of_one_side_that_disagree_are_named() {
    let same = || single(&[("k", 1_000_000)]);
    let odd = single(&[("k", 700_000), ("other", 300_000)]);
    let answer = sides(&[same(), same(), odd], &[same(), same(), same()], json!({}));
    assert_eq!(codes(&answer), ["runs_differ"]);
    holds(&answer["comparability"]["issues"][0], &json!({ "severity": "warning", "side": "baseline" }));
}

#[test]
fn a_kernel_gate_sees_what_the_wall_hides() {
    let answer = gate(
        &elapsed(&[("gemm", 700_000), ("relu", 5_000), ("gone", 90_000)], 1_000_000),
        &elapsed(&[("gemm", 770_000), ("relu", 50_000), ("new", 90_000)], 1_000_000),
        json!({ "kernel_threshold": 8 }),
    );
    holds(&answer["gate"], &json!({ "verdict": "regressed", "kernels_total": 4, "kernels_gated": 1 }));
    let verdicts: Vec<(&str, &str)> = answer["gate"]["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        verdicts,
        [("gemm", "regressed"), ("new", "added"), ("gone", "removed"), ("relu", "not_gated")]
    );
    holds(&answer["gate"]["wall"], &json!({ "verdict": "pass" }));
}

#[test]
fn five_hundred_regressions_are_ordered_by_time_lost() {
    let names_of: Vec<String> = (0..500).map(|at| format!("k{at:03}")).collect();
    let before: Vec<(&str, i64)> = names_of.iter().map(|name| (name.as_str(), 1_000_000)).collect();
    let after: Vec<(&str, i64)> =
        names_of.iter().zip(0_i64..).map(|(name, at)| (name.as_str(), 1_040_000 + at * 100)).collect();
    let answer =
        diff_with(&single(&before), &single(&after), &json!({ "top_kernels": 500, "hot_coverage_pct": 100 }));
    holds(&answer, &json!({ "primary_regressions_total": 500, "per_kernel_total": 500 }));
    let shown = names(&answer["primary_regressions"]);
    assert_eq!(shown[..3], ["k499", "k498", "k497"]);
}

#[test]
fn the_gate_refuses_what_is_no_limit() {
    let k = single(&[("k", 1000)]);
    for gate in [
        json!({ "threshold": -1 }),
        json!({ "threshold": 1001 }),
        json!({ "confidence": 91 }),
        json!({ "threshhold": 5 }),
    ] {
        let error = refused(
            "trace_diff.diff_runs",
            &json!({ "baseline_db": path(&k), "new_db": path(&k), "gate": gate }),
        );
        assert_eq!(error.kind.as_str(), "invalid_argument", "{gate}");
    }
}

#[test]
fn advertised_defaults_are_the_facts() {
    use perfxpert_knowledge::thresholds;
    let tool = perfxpert_tool_registry::Registry::new().find("trace_diff.diff_runs").unwrap();
    let default = |place: &str| tool.input_schema().pointer(place).and_then(Value::as_f64);
    let (diff, ci) = (thresholds::diff(), thresholds::ci());
    assert_eq!(default("/properties/threshold_pct/default"), Some(diff.elapsed_limit_pct));
    assert_eq!(default("/properties/kernel_threshold_pct/default"), Some(diff.row_limit_pct));
    assert_eq!(default("/properties/hot_coverage_pct/default"), Some(diff.hot_coverage_pct));
    let gate = "/properties/gate/properties";
    assert_eq!(default(&format!("{gate}/threshold/default")), Some(ci.threshold_pct));
    assert_eq!(default(&format!("{gate}/min_time_share/default")), Some(ci.min_time_share_pct));
    assert_eq!(default(&format!("{gate}/confidence/default")), Some(ci.confidence_pct));
    let compare = perfxpert_tool_registry::Registry::new().find("regression.compare_runs").unwrap();
    let total = compare.input_schema().pointer("/properties/threshold_pct/default").and_then(Value::as_f64);
    assert_eq!(total, Some(diff.total_limit_pct));
}
