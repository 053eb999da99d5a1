//! `topdown.classify_overhead`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refused};

fn overhead(memcpy: f64, api: f64, idle: f64) -> Value {
    ask("topdown.classify_overhead", &json!({ "memcpy_pct": memcpy, "api_pct": api, "idle_pct": idle }))
}

fn names(answer: &Value) -> Vec<(&str, &str)> {
    let rows = answer["items"].as_array().unwrap();
    rows.iter()
        .map(|row| (row["red_flag_name"].as_str().unwrap(), row["priority"].as_str().unwrap()))
        .collect()
}

#[test]
fn breached_limits_are_named_in_order() {
    let copies = overhead(0.30, 0.05, 0.05);
    assert_eq!(names(&copies), [("memcpy_dominant", "high")]);
    holds(&copies, &json!({ "healthy": false, "total": 1, "returned": 1, "truncated": false }));
    holds(
        &copies["items"][0],
        &json!({ "metric": "memcpy_pct", "value": 0.3, "current_value": 0.3, "threshold": 0.2, "max_speedup": 1.429 }),
    );
    assert_eq!(
        overhead(0.05, 0.05, 0.05),
        json!({ "healthy": true, "items": [], "total": 0, "returned": 0, "truncated": false })
    );
    let waiting = overhead(0.0, 0.10, 0.25);
    assert_eq!(names(&waiting), [("api_heavy", "medium"), ("idle_heavy", "high")]);
    assert_eq!(waiting["items"][0]["metric"], "api_overhead_pct");
    assert_eq!(waiting["items"][1]["metric"], "gpu_idle_pct");
    assert_eq!(names(&overhead(0.0, 0.0, 0.10)), [("idle_heavy", "medium")]);
    holds(&overhead(1.0, 0.0, 0.0)["items"][0], &json!({ "max_speedup": null }));
}

#[test]
fn shares_beyond_the_window_are_refused() {
    let error =
        refused("topdown.classify_overhead", &json!({ "memcpy_pct": 0.5, "api_pct": 0.4, "idle_pct": 0.2 }));
    assert_eq!(error.kind.as_str(), "invalid_argument");
    let percent =
        refused("topdown.classify_overhead", &json!({ "memcpy_pct": 30, "api_pct": 0, "idle_pct": 0 }));
    assert_eq!(
        percent.envelope()["error"],
        json!({ "kind": "invalid_argument", "message": "memcpy_pct is 30, but it is a fraction from 0 to 1.",
            "hint": "Send 0.30 for 30 %.", "field": "memcpy_pct", "value": "30" })
    );
}
