//! `pragma.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

#[test]
fn the_catalogue_shows_what_may_be_suggested() {
    let allowed = ask("pragma.lookup_pragmas", &json!({}));
    holds(&allowed, &json!({ "total": 3, "returned": 3, "truncated": false }));
    assert_eq!(allowed["items"][0]["pragma"], "clang_loop_unroll_full");
    assert_eq!(
        keys(&allowed["items"][0]),
        [
            "pragma",
            "syntax",
            "description",
            "gpu_applicable",
            "allowlist",
            "trigger_signal",
            "trigger_threshold",
            "factor_sweep",
            "expected_impact",
            "risk",
            "applies_to_gfx",
            "reason"
        ]
    );
    let all = ask("pragma.lookup_pragmas", &json!({ "gpu_only": false }));
    holds(&all, &json!({ "total": 10 }));
    for row in all["items"].as_array().unwrap() {
        assert_eq!(row["allowlist"] == json!(true), row["reason"].is_null(), "{row}");
    }
}

#[test]
fn a_hint_is_found_by_id_and_by_text() {
    let explain = |name: &str| ask("pragma.explain_pragma", &json!({ "pragma_name": name }));
    let rejected = explain("clang_loop_pipeline");
    holds(&rejected, &json!({ "allowlist": false }));
    assert!(rejected["reason"].is_string());
    for (written, id, is_short) in [
        ("#pragma clang loop unroll(full)", "clang_loop_unroll_full", false),
        ("unroll(full)", "clang_loop_unroll_full", false),
        ("#pragma  clang loop  unroll_count( 4 )", "clang_loop_unroll_count", false),
        ("#pragma clang loop unroll_count(N)", "clang_loop_unroll_count", false),
        ("vectorize_width(8)", "clang_loop_vectorize_width", false),
        ("#pragma unroll 4", "clang_loop_unroll_count", true),
        ("#pragma unroll(4)", "clang_loop_unroll_count", true),
        ("#pragma nounroll", "clang_loop_unroll_disable", true),
        ("#pragma unroll", "clang_loop_unroll_full", true),
    ] {
        let found = explain(written);
        assert_eq!(found["pragma"], id, "{written}");
        assert_eq!(
            found["note"].as_str().unwrap().contains("prefer the clang loop form"),
            is_short,
            "{written}"
        );
    }
    for bad in ["#pragma clang loop unroll 4", "#pragma omp parallel", "", "unroll_countx(4)"] {
        let error = refused("pragma.explain_pragma", &json!({ "pragma_name": bad }));
        assert_eq!(
            (error.kind.as_str(), &error.details["known_total"]),
            ("unknown_name", &json!(10)),
            "{bad}"
        );
    }
}

fn suggest(signals: Value) -> Value {
    ask("pragma.suggest_pragmas_for_kernel", &json!({ "kernel_name": "gemm", "signals": signals }))
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|row| row["pragma"].as_str().unwrap()).collect()
}

#[test]
fn evidence_fires_rules() {
    let full = suggest(json!({ "loop_trip_count": 16, "hotspot_pct": 25 }));
    assert_eq!(ids(&full), ["clang_loop_unroll_full"]);
    holds(
        &full["items"][0],
        &json!({ "actionable": false, "anchor": null, "kernel_name": "gemm", "verify": "perfxpert diff before.db after.db" }),
    );
    let placed = suggest(
        json!({ "loop_trip_count": 16, "hotspot_pct": 25, "source_path": "a.hip", "source_line": 42 }),
    );
    holds(&placed["items"][0], &json!({ "actionable": true, "anchor": { "file": "a.hip", "line": 42 } }));
    let count = suggest(
        json!({ "valu_util_pct": 0.6, "vgpr_per_thread": 48, "loop_body_size": 12, "hotspot_pct": 15 }),
    );
    assert_eq!(ids(&count), ["clang_loop_unroll_count"]);
    let disable = suggest(
        json!({ "vgpr_per_thread": 208, "arch_max_vgpr": 256, "scratch_size": 64, "waves_per_eu": 1, "hotspot_pct": 20 }),
    );
    assert_eq!(ids(&disable), ["clang_loop_unroll_disable"]);
}

#[test]
fn exhausted_registers_rule_unrolling_out() {
    let both = suggest(
        json!({ "loop_trip_count": 8, "vgpr_per_thread": 208, "arch_max_vgpr": 256, "waves_per_eu": 1, "hotspot_pct": 20 }),
    );
    assert_eq!(ids(&both), ["clang_loop_unroll_disable"]);
    assert_eq!(both["suppressed"][0]["pragma"], "clang_loop_unroll_full");
    let full = suggest(
        json!({ "loop_trip_count": 8, "valu_util_pct": 0.6, "vgpr_per_thread": 48, "loop_body_size": 12,
        "hotspot_pct": 15 }),
    );
    assert_eq!(ids(&full), ["clang_loop_unroll_full"]);
    assert_eq!(full["suppressed"][0]["pragma"], "clang_loop_unroll_count");
}

#[test]
fn nothing_to_suggest_has_a_reason() {
    for (signals, reason) in [
        (json!({ "loop_trip_count": 16, "hotspot_pct": 4.9 }), "below_amdahl_gate"),
        (json!({ "loop_trip_count": 16, "hotspot_pct": 9.9 }), "no_trigger"),
        (json!({ "loop_trip_count": 16 }), "hotspot_unknown"),
        (
            json!({ "vgpr_per_thread": 208, "gfx_id": "gfx942", "waves_per_eu": 1, "hotspot_pct": 20 }),
            "no_trigger",
        ),
        (json!({ "loop_trip_count": 16, "hotspot_pct": 25, "source_path": "k.py" }), "generated_source"),
        (
            json!({ "loop_trip_count": 16, "hotspot_pct": 25, "source_path": "/x/.triton/cache/a.cpp" }),
            "generated_source",
        ),
    ] {
        holds(&suggest(signals), &json!({ "items": [], "total": 0, "reason": reason }));
    }
    let unknown = suggest(json!({ "hotspot_pct": 20, "foo": 1, "bar": "x" }));
    assert_eq!(unknown["unknown_signals"], json!(["bar", "foo"]));
}

#[test]
fn wrong_signals_are_refused_by_name() {
    for (signals, field) in [
        (json!({ "hotspot_pct": 101 }), "signals.hotspot_pct"),
        (json!({ "hotspot_pct": "25" }), "signals.hotspot_pct"),
        (json!({ "hotspot_pct": 20, "loop_trip_count": 0 }), "signals.loop_trip_count"),
        (json!({ "hotspot_pct": 20, "loop_trip_count": 1.5 }), "signals.loop_trip_count"),
        (json!({ "hotspot_pct": 20, "valu_util_pct": 60 }), "signals.valu_util_pct"),
        (json!({ "hotspot_pct": 20, "source_line": 0 }), "signals.source_line"),
        (json!({ "hotspot_pct": 20, "source_path": 5 }), "signals.source_path"),
    ] {
        let error =
            refused("pragma.suggest_pragmas_for_kernel", &json!({ "kernel_name": "k", "signals": signals }));
        assert_eq!((error.kind.as_str(), &error.details["field"]), ("invalid_argument", &json!(field)));
    }
    let arch = json!({ "kernel_name": "k", "signals": { "hotspot_pct": 20, "gfx_id": "gfx1" } });
    assert_eq!(refusal("pragma.suggest_pragmas_for_kernel", &arch), "unknown_name");
}
