//! `tracelens.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refused};

fn overhead(idle: f64, wasted: f64) -> Value {
    ask("tracelens.classify_overhead", &json!({ "idle_pct": idle, "wasted_pct": wasted }))
}

#[test]
fn severities_follow_both_limits() {
    let idle = overhead(0.25, 0.02);
    holds(
        &idle,
        &json!({ "idle_severity": "high", "wasted_severity": "low", "idle_pct": 0.25, "wasted_pct": 0.02 }),
    );
    assert!(!idle["recommended_actions"].as_array().unwrap().is_empty());
    holds(
        &overhead(0.05, 0.02),
        &json!({ "idle_severity": "low", "wasted_severity": "low", "recommended_actions": [],
            "thresholds": { "idle_high": 0.2, "idle_medium": 0.1, "wasted_high": 0.05, "wasted_medium": 0.025 } }),
    );
    holds(&overhead(0.12, 0.03), &json!({ "idle_severity": "medium", "wasted_severity": "medium" }));
    holds(&overhead(0.20, 0.05), &json!({ "idle_severity": "high", "wasted_severity": "high" }));
    let error = refused("tracelens.classify_overhead", &json!({ "idle_pct": 0.1, "wasted_pct": 5.0 }));
    assert_eq!((error.kind.as_str(), error.hint.as_str()), ("invalid_argument", "Send 0.05 for 5 %."));
}

#[test]
fn the_catalogue_lists_metrics_categories_and_limits() {
    let answer = ask("tracelens.lookup_metrics", &json!({}));
    assert_eq!(answer["thresholds"]["idle_high"], 0.2);
    let names: Vec<&str> = answer["kernel_categories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["NCCL", "SDPA", "GEMM", "CONV", "Normalization", "Reduction", "Copy", "Elementwise", "Other"]
    );
    assert_eq!(answer["interval_timeline"][0]["name"], "true_compute_pct");
    assert_eq!(
        answer["short_kernels"],
        json!({ "threshold_us": 10.0, "metrics": ["wasted_pct_of_kernel_time"], "warn": 0.05 })
    );
    assert_eq!(refused("tracelens.lookup_metrics", &json!({ "x": 1 })).kind.as_str(), "invalid_argument");
}
