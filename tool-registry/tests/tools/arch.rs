//! `arch.lookup_peaks`.

use perfxpert_knowledge::fact;
use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

fn peaks(arguments: &Value) -> Value {
    ask("arch.lookup_peaks", arguments)
}

#[test]
fn figures_are_of_one_device() {
    holds(
        &peaks(&json!({ "gfx_id": "gfx942" })),
        &json!({
            "gfx_id": "gfx942", "codename": "CDNA3", "sku": "MI300X", "sku_selected_by": "default",
            "peak_fp64_tflops": 81.7, "peak_fp32_tflops": 163.4, "ridge_point": 30.7,
            "ridge_points": { "fp64": 15.3, "fp32": 30.7, "fp16": 245.5, "bf16": 245.5, "fp8": 491.1, "int8": 491.1 },
            "mfma_flops_per_inst": null, "max_waves_per_cu": 32, "max_vgprs_per_thread": 512,
            "peak_fp32_unpacked_tflops": 81.7, "peak_xf32_matrix_tflops": 653.7, "package": null
        }),
    );
    holds(
        &peaks(&json!({ "gfx_id": "gfx950" })),
        &json!({
            "peak_fp64_tflops": 72.1, "peak_fp32_tflops": 144.2, "lds_kb": 160, "peak_fp4_matrix_tflops": 9227.5,
            "ridge_points": { "fp64": 9.0, "fp32": 18.0, "fp16": 288.4, "bf16": 288.4, "fp8": 576.7, "int8": 576.7 }
        }),
    );
    let mi250x = peaks(&json!({ "gfx_id": "gfx90a" }));
    holds(&mi250x, &json!({ "peak_fp64_tflops": 23.9, "cu_count": 110, "peak_fp8_tflops": null }));
    assert_eq!(mi250x["ridge_points"]["fp8"], Value::Null);
    holds(
        &mi250x["package"],
        &json!({ "devices": 2, "cu_count": 220, "memory_bandwidth_tbs": 3.2768, "peak_fp64_tflops": 47.9,
            "peak_fp16_tflops": 383.0 }),
    );
}

#[test]
fn the_product_follows_name_or_cu_count() {
    holds(
        &peaks(&json!({ "gfx_id": "gfx942", "cu_count": 228 })),
        &json!({ "sku": "MI300A", "sku_selected_by": "cu_count", "peak_fp64_tflops": 61.3 }),
    );
    let shared = peaks(&json!({ "gfx_id": "gfx942", "cu_count": 304 }));
    holds(&shared, &json!({ "sku": "MI300X", "sku_selected_by": "cu_count" }));
    assert!(shared["notes"][0].as_str().unwrap().contains("MI325X"), "{shared}");
    let none = peaks(&json!({ "gfx_id": "gfx942", "cu_count": 100 }));
    holds(&none, &json!({ "sku": "MI300X", "sku_selected_by": "default" }));
    assert!(none["notes"][0].as_str().unwrap().contains("100"));
    for name in ["mi300a", " MI300A ", "mi 300 a"] {
        holds(
            &peaks(&json!({ "gfx_id": "gfx942", "sku": name })),
            &json!({ "sku": "MI300A", "sku_selected_by": "sku" }),
        );
    }
    holds(
        &peaks(&json!({ "gfx_id": "gfx90a", "sku": "MI250" })),
        &json!({ "sku": "MI210", "cu_count": 104 }),
    );
    holds(
        &peaks(&json!({ "gfx_id": "gfx90a", "cu_count": 104 })),
        &json!({ "sku": "MI210", "package": null }),
    );
    assert_eq!(refusal("arch.lookup_peaks", &json!({ "gfx_id": "gfx942", "sku": "MI100" })), "unknown_name");
}

#[test]
fn ids_are_read_as_runtimes_write_them() {
    let plain = peaks(&json!({ "gfx_id": "gfx942" }));
    for id in [" GFX942:sramecc+:xnack-", "GFX942", "gfx942 ", "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"] {
        assert_eq!(peaks(&json!({ "gfx_id": id })), plain, "{id}");
    }
}

#[test]
fn an_unknown_id_is_refused_with_the_known_ones_and_never_guessed() {
    let error = refused("arch.lookup_peaks", &json!({ "gfx_id": "gfx9999" }));
    assert_eq!(
        error.envelope()["error"],
        json!({
            "kind": "unknown_name", "message": "No architecture gfx9999.", "hint": "Use one of the known ids.",
            "field": "gfx_id", "value": "gfx9999",
            "known": ["gfx1030","gfx1100","gfx1101","gfx1102","gfx1200","gfx1201","gfx908","gfx90a","gfx942","gfx950"],
            "known_total": 10
        })
    );
    for id in ["gfx9-4-generic", "gfx1250", "gfx1151", "gfx1103", "", "gfx"] {
        assert_eq!(refusal("arch.lookup_peaks", &json!({ "gfx_id": id })), "unknown_name", "{id}");
    }
}

#[test]
fn rdna_has_no_matrix_figures_of_cdna() {
    holds(
        &peaks(&json!({ "gfx_id": "gfx1100" })),
        &json!({
            "codename": "RDNA3", "wave_size": 32, "wave_sizes": [32, 64], "vgprs_per_simd": 1536, "vgpr_granule": 24,
            "peak_fp64_matrix_tflops": null, "peak_fp8_tflops": null, "peak_fp32_unpacked_tflops": 30.72,
            "max_acc_vgprs_per_thread": 0, "lds_kb": 64
        }),
    );
}

#[test]
fn every_source_is_a_fact() {
    for id in perfxpert_knowledge::arch::KNOWN {
        let answer = peaks(&json!({ "gfx_id": id, "prefer_runtime": true }));
        holds(&answer, &json!({ "runtime_discovered": false, "static_fallback_keys": [] }));
        assert!(answer["notes"][0].as_str().unwrap().contains("prefer_runtime"));
        for (key, source) in answer["spec_sources"].as_object().unwrap() {
            assert!(answer.get(key).is_some(), "{key}");
            fact(source.as_str().unwrap()).unwrap_or_else(|error| panic!("{key}: {error}"));
        }
        assert_eq!(keys(&answer)[0..3], ["name", "codename", "gfx_id"]);
    }
}
