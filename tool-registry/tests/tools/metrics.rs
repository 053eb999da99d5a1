//! `metrics.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

#[test]
fn gpu_utilization_is_active_over_count() {
    let ask = |active: u64, count: u64| {
        ask("metrics.compute_gpu_utilization", &json!({ "grbm_gui_active": active, "grbm_count": count }))
    };
    assert_eq!(ask(90, 100), json!({ "gpu_utilization": 0.9, "unit": "fraction" }));
    assert_eq!(keys(&ask(99, 100)), ["gpu_utilization", "unit", "note"]);
    let refused = |active: i64, count: u64| {
        refused("metrics.compute_gpu_utilization", &json!({ "grbm_gui_active": active, "grbm_count": count }))
    };
    assert_eq!(refused(1, 0).details["field"], "grbm_count");
    let above = refused(101, 100).message;
    assert!(above.contains("101") && above.contains("100"), "{above}");
    assert_eq!(refused(-1, 100).details["field"], "grbm_gui_active");
}

#[test]
fn l1_miss_rate_prefers_cache_accesses() {
    let name = "metrics.compute_l1_miss_rate";
    let good = ask(name, &json!({ "tcp_tcc_read_req": 196_608, "tcp_total_cache_accesses": 524_288 }));
    holds(
        &good,
        &json!({ "l1_miss_rate": 0.375, "unit": "fraction", "method": "cache_accesses", "reliable": true }),
    );
    let all = ask(
        name,
        &json!({ "tcp_tcc_read_req": 1, "tcp_tcc_write_req": 2, "tcp_tcc_atomic_req": 3, "tcp_total_cache_accesses": 12 }),
    );
    holds(&all, &json!({ "l1_miss_rate": 0.5 }));
    let rough = ask(name, &json!({ "tcp_tcc_read_req": 6, "tcp_total_read": 100 }));
    holds(&rough, &json!({ "l1_miss_rate": 0.06, "method": "read_requests", "reliable": false }));
    assert_eq!(keys(&rough), ["l1_miss_rate", "unit", "method", "reliable", "note"]);
    // Zero accesses say nothing, so the second method answers.
    let idle = json!({ "tcp_tcc_read_req": 6, "tcp_total_read": 100, "tcp_total_cache_accesses": 0 });
    holds(&ask(name, &idle), &json!({ "method": "read_requests" }));
    for bad in [
        json!({ "tcp_tcc_read_req": 6 }),
        json!({ "tcp_tcc_read_req": 6, "tcp_total_read": 0 }),
        json!({ "tcp_tcc_read_req": 101, "tcp_total_read": 100 }),
        json!({ "tcp_tcc_read_req": 101, "tcp_total_cache_accesses": 100 }),
        json!({ "tcp_tcc_read_req": -1, "tcp_total_read": 100 }),
        json!({ "tcp_total_read": 100 }),
    ] {
        assert_eq!(refusal(name, &bad), "invalid_argument", "{bad}");
    }
}

#[test]
fn l2_hit_rate_is_not_rounded() {
    let name = "metrics.compute_l2_hit_rate";
    let answer = ask(name, &json!({ "tcc_hit": 66_160, "tcc_miss": 131_309 }));
    assert_eq!(answer, json!({ "l2_hit_rate": 0.335_039_930_318_176_5, "unit": "fraction" }));
    assert_eq!(refusal(name, &json!({ "tcc_hit": 0, "tcc_miss": 0 })), "invalid_argument");
}

const HBM: &str = "metrics.compute_hbm_bandwidth";

#[test]
fn bandwidth_counts_kib_and_nanoseconds() {
    let answer = ask(HBM, &json!({ "fetch_kib": 1_048_576, "write_kib": 0, "duration_ns": 1e9 }));
    holds(
        &answer,
        &json!({ "gb_per_s": 1.073_741_824, "gib_per_s": 1.0, "utilization": null, "peak_gb_per_s": null,
            "utilization_reason": "gfx_id was not given" }),
    );
    // Two passes with durations of their own: 1 GiB in 1 s and 1 GiB in half a second.
    let two = json!({ "fetch_kib": 1_048_576, "write_kib": 1_048_576, "duration_ns": 1e9, "write_duration_ns": 5e8 });
    assert!((ask(HBM, &two)["gib_per_s"].as_f64().unwrap() - 3.0).abs() < 1e-12);
    assert_eq!(
        refusal(HBM, &json!({ "fetch_kib": 1, "write_kib": 0, "duration_ns": 0 })),
        "invalid_argument"
    );
    assert_eq!(
        refusal(HBM, &json!({ "fetch_kib": 1e300, "write_kib": 1e300, "duration_ns": 1e-300 })),
        "invalid_argument"
    );
}

#[test]
fn bandwidth_is_held_against_the_device_and_never_exceeds_it() {
    // gfx90a: 1.6384 TB/s a device and no Infinity Cache.
    let half = json!({ "fetch_kib": 800_000, "write_kib": 0, "duration_ns": 1e6, "gfx_id": "gfx90a" });
    let answer = ask(HBM, &half);
    holds(&answer, &json!({ "gb_per_s": 819.2, "utilization": 0.5, "peak_gb_per_s": 1638.4 }));
    assert!(answer.get("note").is_none());
    let over = json!({ "fetch_kib": 8_000_000, "write_kib": 0, "duration_ns": 1e6, "gfx_id": "gfx90a" });
    let answer = ask(HBM, &over);
    holds(&answer, &json!({ "utilization": null }));
    let note = answer["note"].as_str().unwrap();
    assert!(note.contains("8192.0") && note.contains("1638.4"), "{note}");
    let fabric =
        json!({ "fetch_kib": 1, "write_kib": 1, "duration_ns": 1e6, "gfx_id": "gfx942:sramecc+:xnack-" });
    assert!(ask(HBM, &fabric)["note"].as_str().unwrap().contains("fabric"));
    let unknown = json!({ "fetch_kib": 1, "write_kib": 1, "duration_ns": 1, "gfx_id": "gfx9999" });
    assert_eq!(refusal(HBM, &unknown), "unknown_name");
}

#[test]
fn latency_belongs_to_one_level_counter() {
    let name = "metrics.compute_latency";
    let values = |vmem: u64, lds: u64| -> Value {
        json!({ "accum_prev_hires": 1_000_000, "insts_vmem": vmem, "insts_lds": lds, "busy_cycles": 50_000 })
    };
    let one = ask(name, &values(2_000, 0));
    holds(
        &one,
        &json!({ "vmem_latency_cycles": 500.0, "lds_latency_cycles": null, "busy_ratio": null, "mean_in_flight": 20.0 }),
    );
    let unclear = ask(name, &values(2_000, 500));
    holds(
        &unclear,
        &json!({ "vmem_latency_cycles": null, "lds_latency_cycles": null,
            "vmem_latency_cycles_reason": "ambiguous: say which level counter was accumulated" }),
    );
    let mut told = values(2_000, 500);
    told["level_counter"] = json!("SQ_INST_LEVEL_LDS");
    holds(&ask(name, &told), &json!({ "vmem_latency_cycles": null, "lds_latency_cycles": 2_000.0 }));
    holds(&ask(name, &values(0, 0)), &json!({ "vmem_latency_cycles": 0.0, "lds_latency_cycles": 0.0 }));
    let mut idle = values(10, 0);
    idle["busy_cycles"] = json!(0);
    holds(&ask(name, &idle), &json!({ "mean_in_flight": null, "mean_in_flight_reason": "busy_cycles is 0" }));
    told["level_counter"] = json!("SQ_WAVES");
    assert_eq!(refusal(name, &told), "invalid_argument");
}
