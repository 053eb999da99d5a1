//! `predict_impact.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

const PREDICT: &str = "predict_impact.predict_change_impact";
const EXPLAIN: &str = "predict_impact.explain_prediction";
const ID: &str = "pp1.WzEsInZncHJfcmVkdWN0aW9uIiwiZ2VtbSIsMSx7ImNvdW50ZXJfZGF0YV9hdmFpbGFibGUiOjEwMDAwMDAsImtlcm5lbF90aW1lX3BjdCI6NDAwMDAwfV0.c85d68f29d25";

fn asked(change: &str, extra: Value) -> Value {
    let mut params = json!({ "kernel_time_pct": 0.40, "counter_data_available": true });
    params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    json!({ "baseline_db": "no such file.db", "kernel_name": "gemm", "change_type": change, "change_params": params })
}

fn predict(change: &str, extra: Value) -> Value {
    ask(PREDICT, &asked(change, extra))
}

#[test]
fn the_models_are_listed_in_order() {
    let answer = ask("predict_impact.list_supported_changes", &json!({}));
    let ids: Vec<&str> =
        answer["items"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["vgpr_reduction", "lds_tiling", "mfma_enablement", "fast_math_flag", "hip_stream_overlap"]
    );
    holds(&answer, &json!({ "total": 5, "truncated": false, "models_version": 1 }));
    assert_eq!(answer["items"][1]["preconditions"][0]["rule"], "hbm_bw_utilization >= 0.6");
    holds(&answer["items"][4], &json!({ "scope": "program", "hi_cap": 1.445, "base_confidence": 0.7 }));
}

#[test]
fn unknown_inputs_leave_the_cap_and_no_lower_gain() {
    let answer = predict("vgpr_reduction", json!({}));
    holds(
        &answer,
        &json!({ "predicted_speedup_range": [1.0, 1.445], "program_speedup_range": [1.0, 1.14], "confidence": 0.467,
            "status": "predicted", "database_read": false, "prediction_id": ID, "models_version": 1,
            "baseline_db": "no such file.db", "unknown_params": [] }),
    );
    assert_eq!(answer["assumptions"][0], "kernel_time_pct=0.4000");
    assert!(
        answer["assumptions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|text| text.as_str().unwrap().contains("file_not_found"))
    );
    assert!(answer.get("trace_health").is_none());
    assert_eq!(
        keys(&answer)[..5],
        ["predicted_speedup_range", "program_speedup_range", "confidence", "status", "rationale"]
    );
}

#[test]
fn known_inputs_give_a_bracket() {
    let waves = |target: u64| json!({ "waves_now": 4, "waves_target": target, "occupancy_pct": 0.45 });
    holds(
        &predict("vgpr_reduction", waves(5)),
        &json!({ "predicted_speedup_range": [1.046, 1.138], "program_speedup_range": [1.018, 1.051], "confidence": 0.7 }),
    );
    holds(&predict("vgpr_reduction", waves(8)), &json!({ "predicted_speedup_range": [1.148, 1.445] }));
    // 128 registers give 4 waves on gfx942, the first step up is 5.
    holds(
        &predict(
            "vgpr_reduction",
            json!({ "vgpr_per_thread": 128, "gfx_id": "gfx942", "occupancy_pct": 0.45 }),
        ),
        &json!({ "predicted_speedup_range": [1.046, 1.138] }),
    );
    let overlap = json!({ "exposed_copy_pct": 0.35, "kernel_window_pct": 0.55, "num_streams_used": 1, "avg_memcpy_size_mb": 4 });
    let overlap = predict("hip_stream_overlap", overlap);
    holds(
        &overlap,
        &json!({ "predicted_speedup_range": [1.148, 1.445], "program_speedup_range": [1.148, 1.445], "confidence": 0.7 }),
    );
    let mfma = |dtype: &str| {
        predict(
            "mfma_enablement",
            json!({ "gfx_id": "gfx942", "dtype": dtype, "mfma_util_pct": 0.0, "valu_util_pct": 0.8 }),
        )
    };
    assert_eq!(mfma("fp32")["predicted_speedup_range"][1], 2.0);
    assert_eq!(mfma("fp16")["predicted_speedup_range"][1], 8.5);
    holds(
        &predict(
            "mfma_enablement",
            json!({ "gfx_id": "gfx1100", "mfma_util_pct": 0.0, "valu_util_pct": 0.8 }),
        ),
        &json!({ "status": "precondition_not_met", "predicted_speedup_range": null }),
    );
}

#[test]
fn gates_refuse_with_a_reason_and_an_id() {
    let small = predict("vgpr_reduction", json!({ "kernel_time_pct": 0.02 }));
    holds(
        &small,
        &json!({ "predicted_speedup_range": null, "program_speedup_range": null, "confidence": 0.0, "status": "below_amdahl_gate" }),
    );
    assert_eq!(small["assumptions"][0], "kernel_time_pct=0.0200");
    assert!(small["rationale"].as_str().unwrap().contains("Amdahl"));
    assert!(small["prediction_id"].as_str().unwrap().starts_with("pp1."));
    let tiling = predict("lds_tiling", json!({ "hbm_bw_utilization": 0.18 }));
    holds(&tiling, &json!({ "status": "precondition_not_met" }));
    assert!(tiling["rationale"].as_str().unwrap().contains("bandwidth_high"));
    let blind = predict("vgpr_reduction", json!({ "counter_data_available": false }));
    holds(&blind, &json!({ "status": "no_counters" }));
    assert!(blind["rationale"].as_str().unwrap().contains("rocprofv3 --pmc"));
}

#[test]
fn wrong_arguments_are_refused() {
    let error = refused(PREDICT, &asked("wave64", json!({})));
    assert_eq!((error.kind.as_str(), &error.details["known_total"]), ("unknown_name", &json!(5)));
    for bad in [
        json!({ "occupancy_pct": 45 }),
        json!({ "waves_now": 0 }),
        json!({ "counter_data_available": 1 }),
        json!({ "dtype": "fp7" }),
        json!({ "avg_memcpy_size_mb": -1 }),
    ] {
        assert_eq!(refusal(PREDICT, &asked("vgpr_reduction", bad.clone())), "invalid_argument", "{bad}");
    }
    assert_eq!(refusal(PREDICT, &asked("vgpr_reduction", json!({ "gfx_id": "gfx1" }))), "unknown_name");
    // Without both gates known the database decides, and there is none.
    let bare =
        json!({ "baseline_db": "no such file.db", "kernel_name": "gemm", "change_type": "vgpr_reduction" });
    assert_eq!(refusal(PREDICT, &bare), "file_not_found");
    let odd = predict("vgpr_reduction", json!({ "zzz": 1, "aaa": "x" }));
    assert_eq!(odd["unknown_params"], json!(["aaa", "zzz"]));
}

#[test]
fn an_id_alone_gives_the_same_answer() {
    for (change, extra) in [
        ("vgpr_reduction", json!({})),
        ("vgpr_reduction", json!({ "waves_now": 4, "waves_target": 5, "occupancy_pct": 0.45 })),
        ("vgpr_reduction", json!({ "kernel_time_pct": 0.02 })),
        ("mfma_enablement", json!({ "gfx_id": "gfx942", "dtype": "fp16", "kernel_matmul_like": true })),
        ("hip_stream_overlap", json!({ "exposed_copy_pct": 0.351_234_9, "num_streams_used": 1 })),
    ] {
        let first = predict(change, extra);
        let again = ask(EXPLAIN, &json!({ "prediction_id": first["prediction_id"] }));
        for key in [
            "predicted_speedup_range",
            "program_speedup_range",
            "confidence",
            "rationale",
            "status",
            "preconditions",
            "prediction_id",
        ] {
            assert_eq!(again[key], first[key], "{change} {key}");
        }
        holds(&again, &json!({ "stale": false, "baseline_db": null, "database_read": false }));
    }
    let answer = ask(EXPLAIN, &json!({ "prediction_id": ID }));
    holds(
        &answer,
        &json!({ "predicted_speedup_range": [1.0, 1.445], "confidence": 0.467, "kernel_name": "gemm" }),
    );
    holds(&answer["inputs"], &json!({ "kernel_time_pct": 0.4, "counter_data_available": true }));
    assert!(answer["formula"].as_str().unwrap().contains("1.445"), "{answer}");
}

#[test]
fn a_changed_id_is_refused() {
    let mut changed = ID.to_owned();
    changed.replace_range(10..11, "X");
    for bad in [changed.as_str(), "pp2.x.y", "", "pp1.", "pp1.!!.c85d68f29d25", &ID[..ID.len() - 1]] {
        assert_eq!(refusal(EXPLAIN, &json!({ "prediction_id": bad })), "invalid_argument", "{bad}");
    }
    let long = "k".repeat(5_000);
    let mut arguments = asked("vgpr_reduction", json!({}));
    arguments["kernel_name"] = json!(long);
    let id = ask(PREDICT, &arguments)["prediction_id"].as_str().unwrap().to_owned();
    assert!(id.len() < 400, "{id}");
    assert!(
        ask(EXPLAIN, &json!({ "prediction_id": id }))["kernel_name"].as_str().unwrap().starts_with("sha256:")
    );
}

#[test]
fn the_trace_gives_what_the_caller_did_not_say() {
    let planted = perfxpert_fixtures::scenario("valu_bound").unwrap();
    let (name, stat) = planted.truth.kernels.iter().max_by_key(|(_, stat)| stat.total_ns).unwrap();
    let all: i64 = planted.truth.kernels.values().map(|stat| stat.total_ns).sum();
    let arguments =
        json!({ "baseline_db": planted.path(), "kernel_name": name, "change_type": "vgpr_reduction" });
    let answer = ask(PREDICT, &arguments);
    holds(&answer, &json!({ "database_read": true, "kernel_name": name }));
    let share = format!("kernel_time_pct={:.4}", stat.total_ns as f64 / all as f64);
    assert_eq!(answer["assumptions"][0], share);
    assert!(answer["trace_health"]["status"].is_string());
    assert_ne!(answer["status"], "no_counters", "the trace has counter values");
    let again = ask(EXPLAIN, &json!({ "prediction_id": answer["prediction_id"] }));
    assert_eq!(again["predicted_speedup_range"], answer["predicted_speedup_range"]);
    let mut misspelt = arguments.clone();
    misspelt["kernel_name"] = json!(format!("{name}x"));
    let error = refused(PREDICT, &misspelt);
    assert_eq!((error.kind.as_str(), &error.details["did_you_mean"]), ("unknown_name", &json!(name)));
    // What the caller says wins.
    let mut told = arguments;
    told["change_params"] = json!({ "kernel_time_pct": 0.02 });
    holds(&ask(PREDICT, &told), &json!({ "status": "below_amdahl_gate", "database_read": true }));
}

#[test]
fn a_trace_without_counters_asks_for_them() {
    let planted = perfxpert_fixtures::scenario("transfer_bound").unwrap();
    let (name, _) = planted.truth.kernels.iter().max_by_key(|(_, stat)| stat.total_ns).unwrap();
    let arguments =
        json!({ "baseline_db": planted.path(), "kernel_name": name, "change_type": "fast_math_flag" });
    holds(&ask(PREDICT, &arguments), &json!({ "status": "no_counters", "confidence": 0.0 }));
    let overlap = json!({ "baseline_db": planted.path(), "kernel_name": name, "change_type": "hip_stream_overlap",
        "change_params": { "num_streams_used": 1 } });
    let answer = ask(PREDICT, &overlap);
    assert_eq!(answer["preconditions"][0]["id"], "copy_exposed");
    assert!(answer["preconditions"][0]["value"].is_number(), "{answer}");
}
