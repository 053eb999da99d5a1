//! `plateau.check`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refused};

fn history(runtimes: &[f64]) -> Value {
    json!({ "history": runtimes.iter().map(|r| json!({ "total_runtime_ns": r })).collect::<Vec<_>>() })
}

#[test]
fn small_steps_that_lead_nowhere_are_a_plateau() {
    let answer = ask("plateau.check", &history(&[100.0, 99.0, 98.5]));
    holds(&answer, &json!({ "plateau_detected": true, "trend": "flat", "best_index": 2, "entries": 3 }));
    let deltas: Vec<f64> =
        answer["recent_deltas"].as_array().unwrap().iter().map(|d| d.as_f64().unwrap()).collect();
    assert!((deltas[0] - 0.01).abs() < 1e-12 && (deltas[1] - 0.005_050_505_05).abs() < 1e-9, "{deltas:?}");
    assert_eq!(
        keys(&answer),
        [
            "plateau_detected",
            "reason",
            "trend",
            "recent_deltas",
            "signed_deltas",
            "cumulative_delta",
            "best_index",
            "entries"
        ]
    );
}

#[test]
fn steady_movement_is_no_plateau_however_small_the_steps() {
    for (runtimes, trend) in [
        (&[100.0, 101.9, 103.8][..], "regressing"),
        (&[100.0, 98.0, 96.04], "improving"),
        (&[100.0, 80.0, 79.0], "improving"),
        (&[100.0, 90.0, 100.0], "noisy"),
    ] {
        let answer = ask("plateau.check", &history(runtimes));
        holds(&answer, &json!({ "plateau_detected": false, "trend": trend }));
    }
    let slower = ask("plateau.check", &history(&[100.0, 101.9, 103.8]));
    assert!((slower["cumulative_delta"].as_f64().unwrap() - 0.038).abs() < 1e-12);
}

#[test]
fn too_little_history_says_so_and_has_no_deltas() {
    let answer = ask("plateau.check", &history(&[100.0, 99.0]));
    holds(&answer, &json!({ "plateau_detected": false, "trend": "unknown", "best_index": 1, "entries": 2 }));
    assert!(answer["reason"].as_str().unwrap().starts_with("insufficient history"));
    assert!(answer.get("recent_deltas").is_none());
    holds(&ask("plateau.check", &json!({ "history": [] })), &json!({ "best_index": null, "entries": 0 }));
}

#[test]
fn window_and_threshold_are_the_callers() {
    let mut arguments = history(&[100.0, 50.0, 49.9, 49.8, 49.7]);
    arguments["window"] = json!(4);
    holds(&ask("plateau.check", &arguments), &json!({ "plateau_detected": true, "trend": "flat" }));
    arguments["threshold"] = json!(0.001);
    holds(&ask("plateau.check", &arguments), &json!({ "trend": "improving" }));
}

#[test]
fn the_index_of_an_unusable_run_is_named() {
    for bad in [
        json!({}),
        json!({ "total_runtime_ns": 0 }),
        json!({ "total_runtime_ns": -5 }),
        json!({ "total_runtime_ns": "9" }),
    ] {
        let error = refused("plateau.check", &json!({ "history": [{ "total_runtime_ns": 5 }, bad] }));
        assert_eq!(error.kind.as_str(), "invalid_argument");
        assert_eq!(error.details["field"], "history[1].total_runtime_ns");
    }
}

#[test]
fn the_advertised_default_is_the_fact() {
    let tool = perfxpert_tool_registry::Registry::new().find("plateau.check").unwrap();
    let advertised = tool.input_schema()["properties"]["threshold"]["default"].as_f64();
    assert_eq!(advertised, Some(perfxpert_knowledge::thresholds::plateau().delta));
}
