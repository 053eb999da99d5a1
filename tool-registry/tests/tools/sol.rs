//! `sol.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal, refused};

fn check(flops: f64, kind: &str, gfx: &str) -> Value {
    ask("sol.sanity_check", &json!({ "achieved_flops_per_sec": flops, "kernel_type": kind, "gfx_id": gfx }))
}

#[test]
fn claims_are_held_against_the_best_pipe_of_their_format() {
    let absurd = check(1e20, "fp32", "gfx942");
    holds(
        &absurd,
        &json!({ "plausible": false, "sol_peak": 1.634e14, "absolute_peak": 1.634e14, "needs_matrix": false }),
    );
    assert!(absurd["reason"].as_str().unwrap().contains("163.4"), "{absurd}");
    holds(
        &check(5e14, "fp64", "gfx942"),
        &json!({ "plausible": false, "sol_peak": 8.17e13, "absolute_peak": 1.634e14 }),
    );
    holds(
        &check(1.2e14, "fp64", "gfx942"),
        &json!({ "plausible": true, "needs_matrix": true, "fraction_of_peak": 0.7344 }),
    );
    holds(&check(8.17e13, "fp64", "gfx942"), &json!({ "plausible": true, "needs_matrix": false }));
    let near = check(1.66e14, "fp32", "gfx942");
    holds(&near, &json!({ "plausible": true }));
    assert!(near["notes"][0].as_str().unwrap().contains("rarely sustained"));
    holds(&check(1.67e14, "fp32", "gfx942"), &json!({ "plausible": false }));
}

#[test]
fn devices_and_bandwidth_count() {
    let two = json!({ "achieved_flops_per_sec": 3e14, "kernel_type": "fp32", "gfx_id": "gfx942", "devices": 2,
        "achieved_bytes_per_sec": 1e13 });
    holds(
        &ask("sol.sanity_check", &two),
        &json!({ "plausible": true, "sol_peak": 3.268e14, "bandwidth_plausible": true }),
    );
    let fast = json!({ "achieved_flops_per_sec": 0, "kernel_type": "fp32", "gfx_id": "gfx942",
        "achieved_bytes_per_sec": 6e12 });
    holds(&ask("sol.sanity_check", &fast), &json!({ "plausible": true, "bandwidth_plausible": false }));
    holds(&check(1.0, "fp32", "gfx942"), &json!({ "bandwidth_plausible": null }));
}

#[test]
fn architecture_then_type_then_support_are_refused() {
    let name = "sol.sanity_check";
    let asked =
        |kind: &str, gfx: &str| json!({ "achieved_flops_per_sec": 1, "kernel_type": kind, "gfx_id": gfx });
    assert_eq!(refused(name, &asked("fp9", "gfx9999")).details["field"], "gfx_id");
    assert_eq!(refused(name, &asked("fp9", "gfx942")).details["field"], "kernel_type");
    assert_eq!(refusal(name, &asked("fp9", "gfx942")), "unknown_name");
    let missing = refused(name, &asked("fp8", "gfx90a"));
    assert_eq!(missing.kind.as_str(), "invalid_argument");
    assert!(missing.details["known"].as_array().unwrap().contains(&json!("bf16")), "{missing:?}");
    assert_eq!(
        refusal(name, &json!({ "achieved_flops_per_sec": -1, "kernel_type": "fp32", "gfx_id": "gfx942" })),
        "invalid_argument"
    );
}

#[test]
fn utilisations_fall_into_the_buckets_of_their_metric() {
    let bucket = |pct: f64, metric: Option<&str>| {
        ask("sol.classify_utilization", &json!({ "pct": pct, "metric": metric }))
    };
    holds(
        &bucket(0.8, None),
        &json!({ "category": "high", "headroom_pct": 0.2, "thresholds": { "high": 0.8, "medium": 0.5 } }),
    );
    holds(&bucket(0.5, None), &json!({ "category": "medium" }));
    holds(&bucket(0.4999, None), &json!({ "category": "low", "headroom_pct": 0.5001 }));
    holds(&bucket(0.55, Some("MFMA_UTIL")), &json!({ "category": "high" }));
    holds(&bucket(0.75, Some("OCCUPANCY")), &json!({ "category": "high" }));
    holds(&bucket(0.75, Some("L2_UTIL")), &json!({ "category": "medium" }));
    assert_eq!(refusal("sol.classify_utilization", &json!({ "pct": 1.05 })), "invalid_argument");
    assert_eq!(
        refusal("sol.classify_utilization", &json!({ "pct": 0.5, "metric": "FOO" })),
        "invalid_argument"
    );
}
