//! `roofline.classify`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal, refused};

fn classify(extra: Value) -> Value {
    let mut arguments = json!({ "gfx_id": "gfx942" });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ask("roofline.classify", &arguments)
}

#[test]
fn intensity_and_ridge_decide_the_side() {
    let plain = classify(json!({ "flops": 1e12, "bytes": 1e11 }));
    holds(
        &plain,
        &json!({ "arithmetic_intensity": 10.0, "ridge_point": 30.7, "regime": "memory", "distance_to_roof": null,
            "ridge_ratio": 0.3259, "dtype": "fp32", "achieved_flops_per_s": null, "sku": "MI300X" }),
    );
    let timed = classify(json!({ "flops": 1e12, "bytes": 1e11, "duration_ns": 25e6 }));
    holds(
        &timed,
        &json!({ "achieved_flops_per_s": 4e13, "attainable_flops_per_s": 5.3248e13, "distance_to_roof": 0.2488 }),
    );
    let half = classify(json!({ "flops": 100, "bytes": 1, "dtype": "bf16" }));
    holds(&half, &json!({ "ridge_point": 245.5, "regime": "memory", "ridge_ratio": 0.4073 }));
    holds(&classify(json!({ "flops": 100, "bytes": 1 })), &json!({ "regime": "compute" }));
    for (flops, regime) in [(2914, "memory"), (2916, "balanced"), (3222, "balanced"), (3223, "compute")] {
        holds(&classify(json!({ "flops": flops, "bytes": 100 })), &json!({ "regime": regime }));
    }
}

#[test]
fn above_the_roof_is_no_distance() {
    let answer = classify(json!({ "flops": 1e12, "bytes": 1e11, "duration_ns": 1e6 }));
    holds(&answer, &json!({ "distance_to_roof": null }));
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.contains("1.000e15") && note.contains("5.325e13"), "{note}");
    holds(
        &classify(json!({ "flops": 0, "bytes": 1, "duration_ns": 1 })),
        &json!({ "distance_to_roof": null, "regime": "memory" }),
    );
}

#[test]
fn no_bytes_and_unsupported_formats_are_refused() {
    let name = "roofline.classify";
    assert_eq!(refusal(name, &json!({ "flops": 1, "bytes": 0, "gfx_id": "gfx942" })), "invalid_argument");
    let error = refused(name, &json!({ "flops": 1, "bytes": 1, "gfx_id": "gfx90a", "dtype": "fp8" }));
    assert_eq!(error.kind.as_str(), "invalid_argument");
    assert_eq!(error.details["known"], json!(["bf16", "fp16", "fp32", "fp64", "int8"]));
    assert_eq!(
        refusal(name, &json!({ "flops": 1e300, "bytes": 1e-300, "gfx_id": "gfx942" })),
        "invalid_argument"
    );
    assert_eq!(refusal(name, &json!({ "flops": 1, "bytes": 1, "gfx_id": "gfx1151" })), "unknown_name");
}
