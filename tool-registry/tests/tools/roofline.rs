//! `roofline.classify`.

use perfxpert_fixtures::{KernelSpec, Product, TraceBuilder, TraceFile};
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

/// One kernel with counters: name, counters with values, duration in ns.
fn traced(name: &str, counters: &[(&str, f64)], ns: i64) -> TraceFile {
    traced_on("mi300x", name, counters, ns, 1)
}

fn traced_on(gpu: &str, name: &str, counters: &[(&str, f64)], ns: i64, instances: u32) -> TraceFile {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu(gpu);
    let kernel = t.kernel(KernelSpec::new(name));
    let ids: Vec<_> = counters.iter().map(|(name, value)| (t.counter(gpu, name), *value)).collect();
    let dispatch = t.dispatch(gpu, kernel, 0..ns).dispatch_id(1);
    for (id, value) in ids {
        dispatch.counter_instances(id, instances, value / f64::from(instances));
    }
    t.build().unwrap()
}

fn plot(file: &TraceFile, extra: Value) -> Value {
    let mut arguments = json!({ "db_path": file.path() });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ask("roofline.plot_points", &arguments)
}

fn point(file: &TraceFile) -> Value {
    plot(file, json!({}))["kernels"][0].clone()
}

fn near(found: &Value, wanted: f64, within: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is no number"));
    assert!((found - wanted).abs() <= within, "{found}, expected {wanted}");
}

const MS: i64 = 1_000_000;

#[test]
fn operations_estimated_from_instructions_decide_nothing() {
    let file = traced(
        "gemm_bf16_kernel",
        &[("SQ_INSTS_VALU", 1e6), ("FETCH_SIZE", 1024.0), ("WRITE_SIZE", 512.0)],
        MS,
    );
    let row = point(&file);
    holds(
        &row,
        &json!({ "flops": 64_000_000.0, "flops_source": "estimate", "bytes": 1_572_864, "fp_type": "bf16",
            "dtype_source": "from_kernel_name", "bottleneck_class": "unknown", "confidence": "low", "dispatches": 1 }),
    );
    near(&row["ai"], 40.69, 0.005);
    let file =
        traced("matmul_kernel", &[("SQ_INSTS_VALU", 1e6), ("FETCH_SIZE", 1024.0), ("WRITE_SIZE", 512.0)], MS);
    holds(&point(&file), &json!({ "fp_type": "fp32", "dtype_source": "default" }));
    let hinted = plot(&file, json!({ "dtype_hint": "FP64" }));
    holds(&hinted["kernels"][0], &json!({ "fp_type": "fp64", "dtype_source": "hint" }));
    holds(&hinted, &json!({ "dtype": "fp64", "dtype_confidence": "hint" }));
    let error = refused("roofline.plot_points", &json!({ "db_path": file.path(), "dtype_hint": "fp2" }));
    assert_eq!(error.kind.as_str(), "invalid_argument");
}

#[test]
fn even_the_most_an_estimate_can_be_may_lie_below_the_ridge() {
    let file = traced(
        "k",
        &[
            ("SQ_INSTS_VALU", 1000.0),
            ("SQ_INSTS_VALU_MFMA_MOPS_BF16", 10_000.0),
            ("FETCH_SIZE", 1024.0),
            ("WRITE_SIZE", 512.0),
        ],
        MS,
    );
    let row = point(&file);
    holds(
        &row,
        &json!({ "flops": 5_184_000.0, "fp_type": "bf16", "dtype_source": "from_counters", "bottleneck_class": "memory" }),
    );
    near(&row["ai"], 3.30, 0.005);
}

#[test]
fn typed_operations_and_bytes_are_sure() {
    let counters = [
        ("SQ_INSTS_VALU_FMA_F32", 1e6),
        ("SQ_INSTS_VALU_ADD_F32", 2e5),
        ("SQ_INSTS_VALU_MUL_F32", 1e5),
        ("FETCH_SIZE", 8192.0),
        ("WRITE_SIZE", 8192.0),
    ];
    let file = traced("k(float*)", &counters, 20_000);
    let row = point(&file);
    holds(
        &row,
        &json!({ "flops": 147_200_000.0, "bytes": 16_777_216, "bottleneck_class": "memory", "pct_of_roof": 15.8,
            "confidence": "high", "achieved_flops_per_s": 7.36e12, "flops_source": "typed", "pipe": "vector",
            "duration_ns": 20_000, "duration_pct": 100.0, "ridge_ai": 30.7 }),
    );
    near(&row["ai"], 8.77, 0.005);
    let many = traced_on("mi300x", "k(float*)", &counters, 20_000, 32);
    assert_eq!(point(&many), row, "instance rows of one dispatch are one value");
    let whole = plot(&file, json!({}));
    holds(
        &whole,
        &json!({ "schema_version": "0.3.4", "arch": "gfx942", "sku": "MI300X", "total": 1, "returned": 1, "truncated": false,
            "hbm_bandwidth_bytes_per_s": 5.3248e12, "dtype": "fp32", "dtype_confidence": "from_counters",
            "ridge_point": { "ai": 30.7, "flops_per_s": 1.634e14 } }),
    );
    holds(
        &plot(&file, json!({ "top_k": 0 })),
        &json!({ "total": 1, "returned": 0, "truncated": true, "kernels": [] }),
    );
    assert_eq!(plot(&file, json!({ "sku": "MI325X" }))["sku_selected_by"], "sku");
}

#[test]
fn a_mix_of_pipes_has_a_ridge_of_its_own() {
    let file = traced(
        "k",
        &[
            ("SQ_INSTS_VALU_MFMA_MOPS_BF16", 4e6),
            ("SQ_INSTS_VALU_FMA_F32", 1e6),
            ("FETCH_SIZE", 8192.0),
            ("WRITE_SIZE", 8192.0),
        ],
        10_000,
    );
    let row = point(&file);
    holds(
        &row,
        &json!({ "flops": 2.176e9, "ridge_ai": 173.9, "bottleneck_class": "memory", "pipe": "mixed", "fp_type": "bf16" }),
    );
    near(&row["ai"], 129.7, 0.05);
}

#[test]
fn bytes_that_are_missing_or_halved_are_said_to_be() {
    let file = traced("k", &[("SQ_INSTS_VALU_FMA_F32", 1e6)], MS);
    let answer = plot(&file, json!({}));
    holds(
        &answer,
        &json!({ "kernels": [], "skipped": [{ "name": "k", "reason": "no_bytes" }], "skipped_total": 1 }),
    );
    assert_eq!(answer["missing"][0], "FETCH_SIZE");
    let file = traced("k", &[("SQ_INSTS_VALU_FMA_F32", 1e6), ("FETCH_SIZE", 65_536.0)], MS);
    holds(&point(&file), &json!({ "confidence": "low", "bottleneck_class": "memory" }));
    let file = traced("k", &[("SQ_INSTS_VALU_FMA_F32", 1e6), ("FETCH_SIZE", 64.0)], MS);
    holds(&point(&file), &json!({ "confidence": "low", "bottleneck_class": "unknown" }));
    let raw = [
        ("SQ_INSTS_VALU_FMA_F32", 1e6),
        ("TCC_EA0_RDREQ_sum", 1.0),
        ("TCC_EA0_RDREQ_32B_sum", 1000.0),
        ("TCC_BUBBLE_sum", 0.0),
    ];
    let answer = plot(&traced("k", &raw, MS), json!({}));
    holds(&answer, &json!({ "skipped": [{ "name": "k", "reason": "negative_bytes" }] }));
}

#[test]
fn no_counters_and_zero_counters_are_no_evidence() {
    let file = traced("k", &[], MS);
    let error = refused("roofline.plot_points", &json!({ "db_path": file.path() }));
    assert_eq!(error.kind.as_str(), "no_evidence");
    assert_eq!(
        error.details["partial"],
        json!({ "arch": "gfx942", "ridge_point": { "ai": 30.7, "flops_per_s": 1.634e14 } })
    );
    assert!(error.details["command"].as_str().unwrap().contains("--pmc SQ_INSTS_VALU_ADD_F32"), "{error:?}");
    let zeros = traced("k", &[("SQ_INSTS_VALU", 0.0), ("FETCH_SIZE", 0.0), ("WRITE_SIZE", 0.0)], MS);
    let error = refused("roofline.plot_points", &json!({ "db_path": zeros.path() }));
    assert!(error.message.contains("all counter values are 0"), "{}", error.message);
}

#[test]
fn an_unknown_gpu_keeps_intensity_and_borrows_no_peaks() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu_of(Product::by_key("mi300x").renamed("gfx1250", "AMD Something"));
    let kernel = t.kernel(KernelSpec::new("k"));
    let counters = ["SQ_INSTS_VALU_FMA_F32", "FETCH_SIZE", "WRITE_SIZE"].map(|name| t.counter(gpu, name));
    let dispatch = t.dispatch(gpu, kernel, 0..MS);
    for (id, value) in counters.into_iter().zip([1e6, 8192.0, 8192.0]) {
        dispatch.counter(id, value);
    }
    let file = t.build().unwrap();
    let answer = plot(&file, json!({}));
    holds(
        &answer,
        &json!({ "arch": "gfx1250", "arch_peaks": null, "ridge_point": null, "ridge_points": null, "sku": null,
            "hbm_bandwidth_bytes_per_s": null }),
    );
    holds(
        &answer["kernels"][0],
        &json!({ "bottleneck_class": "unknown", "flops": 1.28e8, "bytes": 16_777_216, "ridge_ai": null, "pct_of_roof": null }),
    );
}

#[test]
fn a_dispatch_asked_for_gives_its_own_point() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k"));
    let counters = ["SQ_INSTS_VALU_FMA_F32", "FETCH_SIZE", "WRITE_SIZE"].map(|name| t.counter(gpu, name));
    for id in 1..=600_i64 {
        let dispatch = t.dispatch(gpu, kernel, id * MS..id * MS + 1000 + id).dispatch_id(id);
        let values = [1e4 * f64::from(i32::try_from(id).unwrap()), 8192.0, 8192.0];
        for (counter, value) in counters.into_iter().zip(values) {
            dispatch.counter(counter, value);
        }
    }
    let file = t.build().unwrap();
    let one = plot(&file, json!({ "dispatch_id": 546 }));
    holds(
        &one["kernels"][0],
        &json!({ "dispatches": 1, "duration_ns": 1546, "flops": 128.0 * 1e4 * 546.0, "bytes": 16_777_216 }),
    );
    holds(&plot(&file, json!({}))["kernels"][0], &json!({ "dispatches": 600 }));
    assert_eq!(
        refusal("roofline.plot_points", &json!({ "db_path": file.path(), "dispatch_id": 601 })),
        "no_evidence"
    );
    assert_eq!(
        refusal("roofline.plot_points", &json!({ "db_path": file.path(), "kernel": "other" })),
        "unknown_name"
    );
}

#[test]
fn matrix_instructions_without_their_operations_leave_the_class_open() {
    let counters = [
        ("SQ_INSTS_VALU_FMA_F32", 1e6),
        ("SQ_INSTS_MFMA", 5e5),
        ("FETCH_SIZE", 8192.0),
        ("WRITE_SIZE", 8192.0),
    ];
    holds(
        &point(&traced("k", &counters, MS)),
        &json!({ "bottleneck_class": "unknown", "reason": "matrix_counters_missing", "confidence": "low" }),
    );
}

#[test]
fn more_than_the_roof_is_no_percentage() {
    let counters = [("SQ_INSTS_VALU_FMA_F32", 1e8), ("FETCH_SIZE", 8192.0), ("WRITE_SIZE", 8192.0)];
    let row = point(&traced("k", &counters, 1000));
    holds(&row, &json!({ "pct_of_roof": null, "bottleneck_class": "compute" }));
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("1.280e16") && reason.contains("1.634e14"), "{reason}");
}

#[test]
fn integer_matrix_operations_are_no_flops() {
    let counters = [
        ("SQ_INSTS_VALU_MFMA_MOPS_I8", 1e6),
        ("SQ_INSTS_VALU_FMA_F32", 1e5),
        ("FETCH_SIZE", 8192.0),
        ("WRITE_SIZE", 8192.0),
    ];
    let row = point(&traced("k", &counters, MS));
    holds(
        &row,
        &json!({ "fp_type": "int8", "int_ops": 5.12e8, "flops": 1.28e7, "achieved_flops_per_s": 5.12e11 }),
    );
    near(&row["ai"], 5.12e8 / 16_777_216.0, 1e-4);
}
