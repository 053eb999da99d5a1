//! `memory.classify_cache_performance`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal};

const NAME: &str = "memory.classify_cache_performance";

fn rates(l1: Option<f64>, l2: Option<f64>, hbm: Option<f64>) -> Value {
    ask(NAME, &json!({ "l1_hit_rate": l1, "l2_hit_rate": l2, "hbm_bw_utilization": hbm }))
}

#[test]
fn the_worse_level_decides() {
    let good = rates(Some(0.85), Some(0.75), None);
    holds(&good, &json!({ "overall_severity": "good", "impact": "unknown" }));
    assert_eq!(
        good["l1"],
        json!({ "severity": "good", "hit_rate": 0.85, "threshold_used": 0.8, "thresholds": { "good": 0.8, "warn": 0.5 } })
    );
    let bad = rates(Some(0.85), Some(0.30), None);
    holds(&bad, &json!({ "overall_severity": "critical", "impact": "unknown" }));
    holds(&bad["l2"], &json!({ "severity": "critical", "threshold_used": 0.4 }));
    let only = rates(None, Some(0.55), None);
    holds(&only, &json!({ "overall_severity": "warn", "l1": null, "l1_reason": "l1_hit_rate was not sent" }));
}

#[test]
fn misses_matter_only_when_bandwidth_is_used_up() {
    holds(&rates(Some(0.85), Some(0.30), Some(0.85)), &json!({ "impact": "likely" }));
    holds(&rates(Some(0.85), Some(0.30), Some(0.10)), &json!({ "impact": "unlikely" }));
    holds(&rates(Some(0.85), Some(0.30), Some(0.50)), &json!({ "impact": "unknown" }));
    holds(&rates(Some(0.85), Some(0.75), Some(0.85)), &json!({ "impact": "unknown" }));
}

#[test]
fn percentages_and_nothing_at_all_are_refused() {
    assert_eq!(refusal(NAME, &json!({ "l1_hit_rate": 85 })), "invalid_argument");
    assert_eq!(refusal(NAME, &json!({})), "invalid_argument");
}
