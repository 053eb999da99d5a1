//! `occupancy.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

fn with(gfx: &str, vgprs: u64, extra: Value) -> Value {
    let mut arguments = json!({ "gfx_id": gfx, "vgpr_count": vgprs });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    arguments
}

fn waves(gfx: &str, vgprs: u64, extra: Value) -> Value {
    ask("occupancy.lookup_waves_per_eu", &with(gfx, vgprs, extra))
}

#[test]
fn registers_decide_waves_on_every_architecture() {
    for (gfx, vgprs, expected) in [
        ("gfx942", 64, 8),
        ("gfx942", 65, 7),
        ("gfx942", 72, 7),
        ("gfx942", 73, 6),
        ("gfx942", 80, 6),
        ("gfx942", 96, 5),
        ("gfx942", 97, 4),
        ("gfx942", 128, 4),
        ("gfx942", 161, 3),
        ("gfx942", 168, 3),
        ("gfx942", 169, 2),
        ("gfx942", 256, 2),
        ("gfx942", 257, 1),
        ("gfx942", 512, 1),
        ("gfx942", 0, 8),
        ("gfx908", 24, 10),
        ("gfx908", 25, 9),
        ("gfx908", 84, 3),
        ("gfx908", 129, 1),
        ("gfx1030", 64, 16),
        ("gfx1030", 65, 12),
        ("gfx1030", 80, 12),
        ("gfx1030", 128, 8),
        ("gfx1100", 96, 16),
        ("gfx1100", 256, 5),
    ] {
        holds(&waves(gfx, vgprs, json!({})), &json!({ "waves_per_eu": expected, "vgpr_waves": expected }));
    }
    for (gfx, vgprs, agprs, expected) in
        [("gfx942", 61, 4, 7), ("gfx942", 64, 8, 7), ("gfx942", 64, 9, 6), ("gfx908", 20, 64, 4)]
    {
        holds(&waves(gfx, vgprs, json!({ "agpr_count": agprs })), &json!({ "waves_per_eu": expected }));
    }
    holds(&waves("gfx942", 61, json!({ "agpr_count": 4 })), &json!({ "allocated_vgprs": 72 }));
}

#[test]
fn workgroups_decide_where_they_do_not_fit_evenly() {
    holds(
        &waves("gfx942", 128, json!({ "workgroup_size": 256 })),
        &json!({ "waves_per_eu": 4, "occupancy": 0.5, "limiter": "vgpr", "waves_per_workgroup": 4,
            "workgroups_per_unit": 4, "waves_per_unit": 16, "allocation_unit": "CU", "unit": "waves",
            "limits": { "registers": 4, "lds": null, "barriers": 16, "wave_slots": 8 },
            "next_step_down": { "vgprs": 96, "waves": 5 } }),
    );
    holds(
        &waves("gfx942", 32, json!({ "workgroup_size": 256, "lds_bytes": 65_536 })),
        &json!({ "waves_per_eu": 1, "occupancy": 0.125, "limiter": "lds" }),
    );
    holds(
        &waves("gfx942", 32, json!({ "workgroup_size": 1024 })),
        &json!({ "waves_per_eu": 8, "occupancy": 1.0, "limiter": "none" }),
    );
    holds(
        &waves("gfx942", 72, json!({ "workgroup_size": 192 })),
        &json!({ "waves_per_unit": 27, "waves_per_eu": 6, "occupancy": 0.8438 }),
    );
    holds(
        &waves("gfx950", 64, json!({ "workgroup_size": 256, "lds_bytes": 54_528 })),
        &json!({ "workgroups_per_unit": 2, "occupancy": 0.25, "limiter": "lds" }),
    );
    holds(
        &waves("gfx1100", 96, json!({ "workgroup_size": 256, "lds_bytes": 18_688 })),
        &json!({ "workgroups_per_unit": 6, "waves_per_unit": 48, "waves_per_eu": 12, "occupancy": 0.75,
            "allocation_unit": "WGP" }),
    );
    // In CU mode the workgroup has one CU's two SIMDs and 64 KiB for itself.
    holds(
        &waves("gfx1100", 96, json!({ "workgroup_size": 256, "lds_bytes": 18_688, "cu_mode": true })),
        &json!({ "workgroups_per_unit": 3, "waves_per_unit": 24, "waves_per_eu": 12, "allocation_unit": "CU" }),
    );
    let unknown = waves("gfx942", 64, json!({}));
    holds(
        &unknown,
        &json!({ "limits": null, "waves_per_unit": null, "next_step_down": null, "sgpr_waves": null }),
    );
    assert_eq!(keys(&unknown)[..4], ["waves_per_eu", "limiter", "max_waves_per_eu", "vgpr_waves"]);
}

#[test]
fn scalar_registers_follow_each_architectures_steps() {
    for (gfx, sgprs, expected) in [
        ("gfx908", 76, json!(10)),
        ("gfx908", 77, json!(9)),
        ("gfx908", 97, json!(7)),
        ("gfx90a", 96, json!(8)),
        ("gfx90a", 97, json!(7)),
        ("gfx942", 94, json!(8)),
        ("gfx950", 95, json!(7)),
        ("gfx1100", 128, Value::Null),
    ] {
        assert_eq!(waves(gfx, 1, json!({ "sgpr_count": sgprs }))["sgpr_waves"], expected, "{gfx} {sgprs}");
    }
    holds(&waves("gfx942", 1, json!({ "sgpr_count": 95 })), &json!({ "waves_per_eu": 7, "limiter": "sgpr" }));
    // Equal limits are named after vector registers.
    holds(
        &waves("gfx942", 72, json!({ "sgpr_count": 95 })),
        &json!({ "waves_per_eu": 7, "limiter": "vgpr" }),
    );
}

#[test]
fn what_the_hardware_cannot_run_is_refused() {
    let name = "occupancy.lookup_waves_per_eu";
    for (gfx, vgprs, extra, field) in [
        ("gfx942", 513, json!({}), "vgpr_count"),
        ("gfx942", 257, json!({ "agpr_count": 1 }), "vgpr_count"),
        ("gfx908", 257, json!({}), "vgpr_count"),
        ("gfx1100", 257, json!({}), "vgpr_count"),
        ("gfx1100", 10, json!({ "agpr_count": 1 }), "agpr_count"),
        ("gfx942", 10, json!({ "lds_bytes": 1 }), "workgroup_size"),
        ("gfx942", 10, json!({ "lds_bytes": 65_537, "workgroup_size": 64 }), "lds_bytes"),
        ("gfx942", 10, json!({ "wave_size": 32 }), "wave_size"),
        ("gfx1100", 10, json!({ "wave_size": 48 }), "wave_size"),
        ("gfx942", 10, json!({ "cu_mode": true }), "cu_mode"),
        ("gfx942", 10, json!({ "workgroup_size": 1025 }), "workgroup_size"),
    ] {
        let error = refused(name, &with(gfx, vgprs, extra.clone()));
        assert_eq!(
            (error.kind.as_str(), &error.details["field"]),
            ("invalid_argument", &json!(field)),
            "{gfx} {extra}"
        );
    }
    assert_eq!(refusal(name, &with("gfx1151", 10, json!({}))), "unknown_name");
}

fn suggest(extra: Value) -> Value {
    let mut arguments = json!({ "gfx_id": "gfx942", "kernel_time_pct": 0.30 });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ask("occupancy.suggest_vgpr_reduction", &arguments)
}

#[test]
fn a_reduction_names_every_step_up() {
    let answer = suggest(json!({ "current_vgpr": 128 }));
    holds(
        &answer,
        &json!({ "applicable": true, "current_vgpr": 128, "target_vgpr": 96, "current_waves": 4, "target_waves": 5,
            "expected_occupancy_multiplier": 1.25, "suggested_flag": "__launch_bounds__(256, 5)", "spill_risk": "medium" }),
    );
    assert_eq!(
        answer["steps"],
        json!([
            { "waves": 5, "max_vgprs": 96, "reduction": 32 },
            { "waves": 6, "max_vgprs": 80, "reduction": 48 },
            { "waves": 7, "max_vgprs": 72, "reduction": 56 },
            { "waves": 8, "max_vgprs": 64, "reduction": 64 }
        ])
    );
    assert!(answer.get("reason").is_none());
    holds(
        &suggest(json!({ "current_vgpr": 100 })),
        &json!({ "target_vgpr": 96, "target_waves": 5, "spill_risk": "low" }),
    );
}

#[test]
fn where_fewer_registers_do_not_help_the_reason_is_a_code() {
    for (extra, code) in [
        (json!({ "current_vgpr": 64 }), "at_maximum"),
        (json!({ "current_vgpr": 128, "kernel_time_pct": 0.04 }), "too_small"),
        (json!({ "current_vgpr": 128, "lds_bytes": 65_536 }), "other_limiter"),
        (json!({ "current_vgpr": 128, "occupancy_pct": 0.2 }), "not_occupancy_bound"),
    ] {
        let answer = suggest(extra.clone());
        holds(&answer, &json!({ "applicable": false, "reason_code": code }));
        assert_eq!(keys(&answer), ["applicable", "reason", "reason_code"], "{extra}");
    }
    // 0 means that occupancy was not measured.
    holds(&suggest(json!({ "current_vgpr": 128, "occupancy_pct": 0 })), &json!({ "applicable": true }));
    assert_eq!(
        refusal("occupancy.suggest_vgpr_reduction", &json!({ "current_vgpr": 128, "kernel_time_pct": 30 })),
        "invalid_argument"
    );
    assert_eq!(
        refusal("occupancy.suggest_vgpr_reduction", &json!({ "current_vgpr": 128 })),
        "invalid_argument"
    );
}
