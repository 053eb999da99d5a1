//! `gpu_runtime_monitor.*`.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ask::{ask, holds, keys, refusal, refused};

const AMD: &str = "gpu_runtime_monitor.parse_amd_smi_json";
const ROCM: &str = "gpu_runtime_monitor.parse_rocm_smi_json";
const THERMAL: &str = "gpu_runtime_monitor.analyze_thermal";

fn written(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("smi.json");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn parse(tool: &str, text: &str) -> Value {
    let (_folder, path) = written(text);
    ask(tool, &json!({ "path": path }))
}

#[test]
fn amd_smi_snapshots_become_samples() {
    let one = parse(
        AMD,
        r#"[{"gpu":0,"temperature":{"edge":"N/A","hotspot":{"value":62,"unit":"C"}},"power":{"socket_power":{"value":700,"unit":"W"}}}]"#,
    );
    holds(
        &one,
        &json!({ "source": "amd-smi", "gpu_count": 1, "total": 1, "returned": 1, "truncated": false, "problems": [] }),
    );
    holds(
        &one["samples"][0],
        &json!({ "gpu_id": 0, "temp_c": 62.0, "temp_edge_c": null, "temp_junction_c": 62.0, "power_w": 700.0,
            "sclk_mhz": null, "throttled": null }),
    );
    let single = parse(AMD, r#"{"gpu":{"id":1,"temp":55,"power":"120 W","sclk":"1.7 GHz"}}"#);
    holds(
        &single["samples"][0],
        &json!({ "gpu_id": 1, "temp_c": 55.0, "power_w": 120.0, "sclk_mhz": 1700.0 }),
    );
    assert_eq!(
        keys(&single),
        ["source", "gpu_count", "summary", "samples", "total", "returned", "truncated", "problems"]
    );
}

#[test]
fn a_watch_log_is_used_up_to_its_cut() {
    let text = "some banner\n[{\"gpu\":0,\"temp\":50,\"power\":120},{\"gpu\":1,\"temp\":51,\"power\":\"120 W\"}]\n\
                [{\"gpu\":0,\"temp\":60,\"power\":{\"value\":120,\"unit\":\"W\"}},{\"gpu\":1,\"temp\":\"N/A\",\"power\":\"N/A\"}]\n\
                [{\"gpu\":0,\"temp\":70},{\"gpu\":1,";
    let log = parse(AMD, text);
    holds(&log, &json!({ "gpu_count": 2, "total": 4 }));
    assert_eq!(log["problems"][0]["code"], "cut_off");
    holds(
        &log["summary"][0],
        &json!({ "gpu_id": 0, "samples": 2, "max_temp_edge_c": 60.0, "avg_power_w": 120.0, "max_temp_junction_c": null }),
    );
    holds(&log["summary"][1], &json!({ "gpu_id": 1, "samples": 2, "avg_power_w": 120.0 }));
    let (_folder, path) = written(text);
    let page = ask(AMD, &json!({ "path": path, "limit": 1, "offset": 1, "gpu_id": 1 }));
    holds(&page, &json!({ "total": 2, "returned": 1, "truncated": false, "gpu_count": 2 }));
    assert_eq!(page["samples"][0]["temp_c"], Value::Null);
}

#[test]
fn rocm_smi_cards_become_samples() {
    let card = parse(
        ROCM,
        r#"{"card0":{"Temperature (Sensor edge) (C)":"53.0","Temperature (Sensor junction) (C)":"55.0","sclk clock speed:":"(300Mhz)","sclk clock level:":"0","Average Graphics Package Power (W)":"36.0","GPU use (%)":"0"}}"#,
    );
    holds(&card, &json!({ "source": "rocm-smi" }));
    holds(
        &card["samples"][0],
        &json!({ "gpu_id": 0, "temp_c": 53.0, "temp_junction_c": 55.0, "sclk_mhz": 300.0, "power_w": 36.0, "gfx_busy_pct": 0.0 }),
    );
    let level = parse(ROCM, r#"{"card1":{"sclk clock level":"0 (1502Mhz)"},"cardX":{},"system":{}}"#);
    holds(&level["samples"][0], &json!({ "gpu_id": 1, "sclk_mhz": 1502.0 }));
    assert_eq!(level["problems"][0]["code"], "bad_gpu_id");
}

#[test]
fn logs_that_say_nothing_are_refused_by_kind() {
    for (tool, text, kind) in [
        (AMD, "{}", "no_evidence"),
        (AMD, "no json", "unreadable"),
        (AMD, "[{\"gpu\":0,\"temp\":5", "unreadable"),
        (ROCM, "[]", "no_evidence"),
        (THERMAL, "[]", "no_evidence"),
    ] {
        let (_folder, path) = written(text);
        assert_eq!(refusal(tool, &json!({ "path": path })), kind, "{tool} {text}");
    }
    let (folder, path) = written("{}");
    let empty = refused(AMD, &json!({ "path": path }));
    assert_eq!(empty.details["command"], "amd-smi metric --json --watch 1 > amd_smi.json");
    assert_eq!(refusal(AMD, &json!({ "path": folder.path().join("absent.json") })), "file_not_found");
    assert_eq!(refusal(AMD, &json!({ "path": folder.path() })), "unreadable");
    let broken = refused(ROCM, &json!({ "path": written("xx {oops").1 }));
    assert_eq!(broken.kind.as_str(), "file_not_found", "its folder is gone");
}

fn judged(samples: Value, extra: Value) -> Value {
    let mut arguments = json!({ "metrics": { "samples": samples } });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ask(THERMAL, &arguments)
}

#[test]
fn heat_and_power_are_judged_against_their_limits() {
    let cool = judged(json!([{ "temp_c": 60 }, { "temp_c": 62 }]), json!({}));
    holds(
        &cool,
        &json!({ "verdict": "healthy", "max_temp_c": 62.0, "avg_temp_c": 61.0, "p95_temp_c": 62.0,
            "thermal_headroom_c": 43.0, "throttle_events": 0, "throttle_evidence": [], "sensor": "edge",
            "limit_basis": "edge_vs_tjmax", "tjmax_c": 105.0, "tdp_w": 0.0, "samples": 2 }),
    );
    holds(
        &judged(json!([{ "temp_c": 100 }]), json!({})),
        &json!({ "verdict": "throttling", "throttle_events": 1, "throttle_evidence": ["temperature"] }),
    );
    holds(
        &judged(json!([{ "temp_c": 95 }]), json!({})),
        &json!({ "verdict": "hot", "throttle_evidence": [] }),
    );
    let capped = judged(json!([{ "temp_c": 60, "power_w": 720 }]), json!({ "tdp_w": 750 }));
    holds(
        &capped,
        &json!({ "verdict": "throttling", "throttle_evidence": ["power"], "power_throttle_suspected": true }),
    );
    assert!(
        capped["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str().unwrap().contains("power, not by heat"))
    );
    holds(
        &judged(json!([{ "temp_c": 60, "power_w": 712 }]), json!({ "gfx_id": "gfx942" })),
        &json!({ "verdict": "healthy", "tdp_w": 750.0 }),
    );
    let junction = judged(json!([{ "temp_edge_c": 60, "temp_junction_c": 101 }]), json!({}));
    holds(
        &junction,
        &json!({ "max_temp_c": 101.0, "sensor": "junction", "verdict": "throttling", "limit_basis": "junction_vs_tjmax" }),
    );
    holds(
        &judged(json!([{ "gpu_id": 0, "power_w": 300 }]), json!({})),
        &json!({ "verdict": "unknown", "max_temp_c": null, "sensor": "none" }),
    );
    holds(
        &judged(json!([{ "throttled": true }]), json!({})),
        &json!({ "verdict": "throttling", "throttle_evidence": ["reported"] }),
    );
    holds(&judged(json!([{ "temp_c": 84 }]), json!({ "tjmax_c": 90 })), &json!({ "verdict": "hot" }));
}

#[test]
fn the_worst_gpu_decides_and_clocks_are_compared_within_one() {
    let busy =
        |gpu: i64, clock: f64| json!({ "gpu_id": gpu, "temp_c": 60, "gfx_busy_pct": 95, "sclk_mhz": clock });
    let samples = json!([
        busy(0, 2000.0), busy(0, 2000.0), busy(0, 2000.0), busy(0, 2000.0), busy(0, 1500.0),
        busy(1, 900.0), { "gpu_id": 1, "temp_c": 101 }
    ]);
    let answer = judged(samples, json!({}));
    holds(&answer, &json!({ "verdict": "throttling", "clock_drop_pct": 25.0, "duration_s": null }));
    assert_eq!(answer["per_gpu"][0]["verdict"], "healthy");
    holds(&answer["per_gpu"][1], &json!({ "gpu_id": 1, "verdict": "throttling", "throttle_events": 1 }));
    let timed = judged(
        json!([{ "temp_c": 50, "timestamp_s": 10.5 }, { "temp_c": 50, "timestamp_s": 12 }]),
        json!({}),
    );
    holds(&timed, &json!({ "duration_s": 1.5, "clock_drop_pct": null }));
}

#[test]
fn sources_are_one_and_only_one() {
    let (_folder, path) = written(r#"{"card0":{"Temperature (Sensor junction) (C)":"99"}}"#);
    let by_path = ask(THERMAL, &json!({ "path": path }));
    holds(&by_path, &json!({ "verdict": "hot", "max_temp_c": 99.0, "sensor": "junction" }));
    for bad in [
        json!({}),
        json!({ "metrics": { "samples": [] }, "path": "x" }),
        json!({ "metrics": {} }),
        json!({ "metrics": { "samples": [] }, "tjmax_c": 20 }),
        json!({ "metrics": { "samples": [{ "temp_c": 1 }] }, "sku": "MI300X" }),
    ] {
        assert_eq!(refusal(THERMAL, &bad), "invalid_argument", "{bad}");
    }
    for empty in [json!([]), json!([5, {}, { "gpu_id": 3 }])] {
        assert_eq!(refusal(THERMAL, &json!({ "metrics": { "samples": empty } })), "no_evidence");
    }
    let mixed = judged(json!([{ "temp_c": 50 }, "x"]), json!({}));
    assert!(mixed["notes"][0].as_str().unwrap().contains("1 of 2"));
    let advertised = perfxpert_tool_registry::Registry::new().find(THERMAL).unwrap();
    assert_eq!(
        advertised.input_schema()["properties"]["tjmax_c"]["default"].as_f64(),
        Some(perfxpert_knowledge::thresholds::thermal().tjmax_c)
    );
}
