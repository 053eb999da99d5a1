//! `bottleneck.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

fn classify(metrics: Value) -> Value {
    ask("bottleneck.classify_from_metrics", &json!({ "metrics": metrics }))
}

#[test]
fn signatures_decide_without_the_window() {
    for (metrics, kind, detail, confidence, coverage) in [
        (
            json!({ "valu_util_pct": 0.85, "mfma_util_pct": 0.60, "arithmetic_intensity_above_ridge": 1, "memcpy_pct": 0.05 }),
            "compute",
            json!("mfma"),
            1.0,
            1.0,
        ),
        (
            json!({ "valu_util_pct": 0.85, "arithmetic_intensity_above_ridge": true }),
            "compute",
            json!("valu"),
            0.667,
            0.667,
        ),
        (
            json!({ "valu_util_pct": 0.85, "mfma_util_pct": 0.70, "arithmetic_intensity_above_ridge": true }),
            "compute",
            json!("mfma"),
            1.0,
            1.0,
        ),
        (json!({ "valu_util_pct": 0.85 }), "mixed", Value::Null, 0.125, 0.083),
        (
            json!({ "valu_util_pct": 0.35, "memcpy_pct": 0.45, "hbm_bw_utilization": 0.18, "arithmetic_intensity_below_ridge": 1 }),
            "memory_transfer",
            json!("host_device_copy"),
            0.667,
            1.0,
        ),
        (
            json!({ "memcpy_pct": 0.02, "hbm_bw_utilization": 0.85, "arithmetic_intensity_below_ridge": 1, "valu_util_pct": 0.30 }),
            "memory_transfer",
            json!("hbm_bandwidth"),
            0.667,
            1.0,
        ),
        (
            json!({ "avg_waves_per_cu": 8, "gpu_util_pct": 0.40, "occupancy_pct": 0.35 }),
            "latency",
            json!("gpu_idle"),
            1.0,
            1.0,
        ),
        (
            json!({ "api_overhead_pct": 0.30, "avg_kernel_duration_us": 4, "total_kernel_calls": 5000 }),
            "latency",
            json!("launch_overhead"),
            1.0,
            1.0,
        ),
        (
            json!({ "valu_util_pct": 0.40, "memcpy_pct": 0.10, "gpu_util_pct": 0.65, "api_overhead_pct": 0.05 }),
            "mixed",
            Value::Null,
            0.5,
            0.333,
        ),
        (json!({ "memcpy_pct": 0.25 }), "mixed", Value::Null, 0.125, 0.083),
    ] {
        let answer = classify(metrics);
        holds(
            &answer,
            &json!({ "type": kind, "bottleneck_detail": detail, "confidence": confidence, "coverage": coverage,
                "decided_by": "signatures" }),
        );
        let reasoning = answer["reasoning"].as_str().unwrap();
        assert!(reasoning.contains(kind), "{reasoning}");
    }
}

#[test]
fn contradictions_candidates_and_missing_metrics_are_named() {
    let full = classify(
        json!({ "valu_util_pct": 0.85, "mfma_util_pct": 0.60, "arithmetic_intensity_above_ridge": 1, "memcpy_pct": 0.05 }),
    );
    holds(
        &full,
        &json!({ "contradictions": [], "signature": "compute", "missing_metrics": [], "match_ratio": 1.0 }),
    );
    assert_eq!(
        full["all_scores"],
        json!({ "compute": 1.0, "memory_transfer": 0.0, "latency": 0.0, "api_overhead": 0.0 })
    );
    assert!(full["reasoning"].as_str().unwrap().contains("1.00"));
    let partial = classify(json!({ "valu_util_pct": 0.85, "arithmetic_intensity_above_ridge": true }));
    holds(&partial, &json!({ "match_ratio": 1.0, "missing_metrics": ["mfma_util_pct"] }));
    let alone = classify(json!({ "valu_util_pct": 0.85 }));
    holds(
        &alone,
        &json!({ "best_candidate": { "label": "compute", "detail": null, "score": 0.333 }, "signature": null }),
    );
    assert_eq!(alone["missing_metrics"][0], "mfma_util_pct");
    assert_eq!(alone["missing_metrics"].as_array().unwrap().len(), 8);
    let copies = classify(
        json!({ "valu_util_pct": 0.35, "memcpy_pct": 0.45, "hbm_bw_utilization": 0.18, "arithmetic_intensity_below_ridge": 1 }),
    );
    assert_eq!(
        copies["contradictions"],
        json!([{ "metric": "hbm_bw_utilization", "value": 0.18, "op": ">=", "threshold": 0.6 }])
    );
    let hbm = classify(
        json!({ "memcpy_pct": 0.02, "hbm_bw_utilization": 0.85, "arithmetic_intensity_below_ridge": 1, "valu_util_pct": 0.30 }),
    );
    assert_eq!(hbm["contradictions"][0]["metric"], "memcpy_pct");
    holds(
        &classify(
            json!({ "api_overhead_pct": 0.30, "avg_kernel_duration_us": 4, "total_kernel_calls": 5000 }),
        ),
        &json!({ "signature": "api_overhead" }),
    );
    holds(
        &classify(json!({ "memcpy_pct": 0.25 })),
        &json!({ "best_candidate": { "label": "memory_transfer", "detail": null, "score": 0.333 } }),
    );
    // Exposed copies say more than copies.
    let exposed = classify(json!({ "memcpy_pct": 0.9, "exposed_copy_pct": 0.1, "hbm_bw_utilization": 0.1 }));
    assert_eq!(exposed["evidence"][0]["metric"], "exposed_copy_pct");
    assert_eq!(exposed["all_scores"]["memory_transfer"], 0.0);
}

#[test]
fn the_window_decides_when_its_four_parts_are_known() {
    let window = |kernel: f64, copy: f64, host: f64, idle: f64, extra: Value| {
        let mut metrics = json!({ "kernel_time_pct": kernel, "exposed_copy_pct": copy, "exposed_host_pct": host, "gpu_idle_pct": idle });
        metrics.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        classify(metrics)
    };
    for (answer, kind, detail, confidence) in [
        (window(0.30, 0.45, 0.05, 0.20, json!({})), "memory_transfer", "host_device_copy", 0.66),
        (
            window(
                0.25,
                0.05,
                0.50,
                0.20,
                json!({ "api_overhead_pct": 0.50, "avg_kernel_duration_us": 4, "total_kernel_calls": 5000 }),
            ),
            "latency",
            "launch_overhead",
            0.71,
        ),
        (window(0.60, 0.05, 0.05, 0.30, json!({})), "latency", "gpu_idle", 0.5),
        (
            window(
                0.74,
                0.14,
                0.08,
                0.04,
                json!({ "valu_util_pct": 0.78, "arithmetic_intensity_above_ridge": 1 }),
            ),
            "compute",
            "valu",
            0.82,
        ),
        (
            window(
                0.95,
                0.02,
                0.01,
                0.02,
                json!({ "hbm_bw_utilization": 0.55, "arithmetic_intensity_below_ridge": 1 }),
            ),
            "memory_transfer",
            "hbm_bandwidth",
            0.63,
        ),
        (
            window(
                0.95,
                0.02,
                0.01,
                0.02,
                json!({ "occupancy_pct": 0.10, "valu_util_pct": 0.20, "hbm_bw_utilization": 0.15 }),
            ),
            "latency",
            "low_occupancy",
            0.75,
        ),
    ] {
        holds(
            &answer,
            &json!({ "type": kind, "bottleneck_detail": detail, "confidence": confidence, "decided_by": "window",
                "signature": null, "match_ratio": null }),
        );
    }
    let bound = window(0.92, 0.03, 0.02, 0.03, json!({}));
    holds(&bound, &json!({ "type": "data_insufficient", "confidence": 0.0, "bottleneck_detail": null }));
    assert!(
        bound["reasoning"]
            .as_str()
            .unwrap()
            .contains("kernel-bound; collect counters to tell compute from memory")
    );
    let waiting = window(0.05, 0.46, 0.02, 0.47, json!({}));
    assert_eq!(waiting["type"], "latency", "copies below the lost time are no candidate: {waiting}");
    let apart = window(
        0.70,
        0.05,
        0.05,
        0.20,
        json!({ "exposed_collective_pct": 0.50, "valu_util_pct": 0.80, "arithmetic_intensity_above_ridge": 1 }),
    );
    // Communication: 0.5 + 0.5 x 0.3 / 0.8 = 0.6875; valu: 0.5 + 0.5 x 0.4 / 0.6 = 0.8333: apart by more than 0.10.
    holds(
        &apart,
        &json!({ "type": "compute", "runner_up": { "label": "latency", "detail": "communication", "score": 0.688 } }),
    );
    let close = window(
        0.70,
        0.05,
        0.05,
        0.20,
        json!({ "exposed_collective_pct": 0.70, "valu_util_pct": 0.80, "arithmetic_intensity_above_ridge": 1 }),
    );
    // Communication: 0.8125, within 0.10 of 0.8333.
    holds(
        &close,
        &json!({ "type": "mixed", "confidence": 0.5, "best_candidate": { "label": "compute", "detail": "valu", "score": 0.833 } }),
    );
    assert_eq!(
        refusal(
            "bottleneck.classify_from_metrics",
            &json!({ "metrics": { "kernel_time_pct": 0.5, "exposed_copy_pct": 0.1, "exposed_host_pct": 0.1, "gpu_idle_pct": 0.1 } })
        ),
        "invalid_argument"
    );
}

#[test]
fn nothing_and_foreign_names_are_insufficient() {
    for metrics in [
        json!({}),
        json!({ "valu_util_pct": null, "memcpy_pct": null }),
        json!({ "no_dominant_bottleneck": "x" }),
    ] {
        holds(
            &classify(metrics),
            &json!({ "type": "data_insufficient", "confidence": 0.0, "decided_by": "none", "unknown_metrics": [] }),
        );
    }
    let foreign = classify(json!({ "gpu_utilization_percent": 95, "valu_util": 0.5, "xyzzy": 1 }));
    assert_eq!(
        foreign["unknown_metrics"],
        json!([
            { "name": "gpu_utilization_percent", "did_you_mean": "gpu_util_pct" },
            { "name": "valu_util", "did_you_mean": null },
            { "name": "xyzzy", "did_you_mean": null }
        ])
    );
    holds(&foreign, &json!({ "type": "data_insufficient", "unknown_metrics_total": 3 }));
}

#[test]
fn values_that_cannot_be_meant_are_refused() {
    let name = "bottleneck.classify_from_metrics";
    let percent = refused(name, &json!({ "metrics": { "valu_util_pct": 85 } }));
    assert_eq!((percent.kind.as_str(), percent.hint.as_str()), ("invalid_argument", "Send 0.85 for 85 %."));
    for bad in [
        json!({ "valu_util_pct": "0.85" }),
        json!({ "valu_util_pct": true }),
        json!({ "anything": [1] }),
        json!({ "arithmetic_intensity_above_ridge": 2 }),
        json!({ "arithmetic_intensity_above_ridge": 1, "arithmetic_intensity_below_ridge": true }),
        json!({ "avg_waves_per_cu": -1 }),
        json!({ "total_kernel_calls": 1.5 }),
    ] {
        assert_eq!(refusal(name, &json!({ "metrics": bad })), "invalid_argument", "{bad}");
    }
    assert_eq!(refusal(name, &json!({ "metrics": [1] })), "invalid_argument");
    let keys = keys(&classify(json!({}))).join(" ");
    assert!(
        keys.starts_with(
            "type bottleneck_detail confidence reasoning all_scores decided_by signature coverage"
        ),
        "{keys}"
    );
}

#[test]
fn rules_are_shown_with_their_reasons() {
    let rules = |name: &str| ask("bottleneck.lookup_signatures", &json!({ "bottleneck_type": name }));
    let compute = rules("compute");
    holds(
        &compute,
        &json!({ "name": "compute", "reported_as": "compute", "priority_hint": "high", "details": ["valu", "mfma"] }),
    );
    assert_eq!(compute["signatures"].as_array().unwrap().len(), 3);
    holds(
        &compute["signatures"][0],
        &json!({ "metric": "valu_util_pct", "op": ">=", "threshold": 0.6, "unit": "fraction" }),
    );
    holds(&rules("api_overhead"), &json!({ "reported_as": "latency", "priority_hint": "medium" }));
    let nothing = rules("data_insufficient");
    holds(&nothing, &json!({ "signatures": [], "priority_hint": "low" }));
    assert!(
        nothing["how_to_resolve"].as_str().unwrap().starts_with("rocprofv3 --pmc SQ_WAVES GRBM_COUNT"),
        "{nothing}"
    );
    let error = refused("bottleneck.lookup_signatures", &json!({ "bottleneck_type": "nonexistent" }));
    assert_eq!(error.kind.as_str(), "unknown_name");
    assert_eq!(
        error.details["known"],
        json!(["compute", "memory_transfer", "latency", "api_overhead", "mixed", "data_insufficient"])
    );
}

#[test]
fn amdahl_bounds_what_a_part_can_bring() {
    let worth = |share: f64| ask("bottleneck.prioritize_by_amdahl", &json!({ "execution_time_pct": share }));
    let high = worth(0.35);
    holds(&high, &json!({ "priority": "high", "max_speedup": 1.538, "program_speedup": null }));
    let table: Vec<&Value> =
        high["speedup_table"].as_array().unwrap().iter().map(|row| &row["program_speedup"]).collect();
    assert_eq!(table, [&json!(1.132), &json!(1.212), &json!(1.356), &json!(1.46)]);
    assert!(high["rationale"].as_str().unwrap().contains("35.0 %"));
    holds(&worth(0.07), &json!({ "priority": "medium", "max_speedup": 1.075 }));
    holds(&worth(0.03), &json!({ "priority": "low", "max_speedup": 1.031 }));
    holds(&worth(0.10), &json!({ "priority": "high" }));
    holds(&worth(0.05), &json!({ "priority": "medium" }));
    holds(&worth(1.0), &json!({ "max_speedup": null }));
    let known =
        ask("bottleneck.prioritize_by_amdahl", &json!({ "execution_time_pct": 0.5, "local_speedup": 2 }));
    holds(&known, &json!({ "program_speedup": 1.333 }));
    assert_eq!(
        refusal("bottleneck.prioritize_by_amdahl", &json!({ "execution_time_pct": 35 })),
        "invalid_argument"
    );
    assert_eq!(
        refusal(
            "bottleneck.prioritize_by_amdahl",
            &json!({ "execution_time_pct": 0.3, "local_speedup": 0.5 })
        ),
        "invalid_argument"
    );
}
