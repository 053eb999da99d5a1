//! `att.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal, refused};

fn reason(code: &str, instruction: Option<&str>) -> Value {
    ask("att.classify_stall_reason", &json!({ "stall_code": code, "instruction": instruction }))
}

#[test]
fn reasons_are_found_in_every_spelling() {
    let legacy = reason("INTERLOCK_VMEM", None);
    holds(
        &legacy,
        &json!({ "code": "INTERLOCK_VMEM", "sdk_code": "WAITCNT", "matched_as": "legacy", "waits_on": null }),
    );
    assert!(legacy["name"].as_str().unwrap().contains("VMEM"));
    assert!(!legacy["mitigation"].as_str().unwrap().is_empty());
    assert_eq!(legacy["mitigations"][0], legacy["mitigation"]);
    holds(
        &reason("ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT", None),
        &json!({ "code": "BARRIER_WAIT", "matched_as": "sdk", "actionable": true, "valid_when": "wave did not issue" }),
    );
    for spelling in [" barrier-wait ", "Barrier Wait", "BARRIER_WAIT"] {
        assert_eq!(reason(spelling, None)["code"], "BARRIER_WAIT", "{spelling}");
    }
    let error = refused("att.classify_stall_reason", &json!({ "stall_code": "BARRIER_WAITS" }));
    assert_eq!(error.kind.as_str(), "unknown_name");
    assert_eq!(error.details["did_you_mean"], "BARRIER_WAIT");
    assert_eq!(error.details["known_total"], 18);
}

#[test]
fn a_wait_names_what_it_waits_on() {
    for (instruction, waits_on) in [
        ("s_waitcnt vmcnt(0)", "vector_memory"),
        ("S_WAIT_LOADCNT 0x0", "vector_memory"),
        ("s_waitcnt lgkmcnt(0)", "lds_or_scalar_memory"),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", "vector_memory+lds_or_scalar_memory"),
        ("s_waitcnt expcnt(0) vmcnt(1)", "vector_memory+export"),
    ] {
        assert_eq!(reason("waitcnt", Some(instruction))["waits_on"], waits_on, "{instruction}");
    }
    holds(&reason("BARRIER", Some("s_waitcnt vmcnt(0)")), &json!({ "waits_on": null }));
}

#[test]
fn every_catalogued_reason_answers_in_full() {
    for row in perfxpert_knowledge::att::stall_reasons() {
        let found = reason(&row.code, None);
        assert!(!found["root_cause"].as_str().unwrap().is_empty(), "{}", row.code);
        assert!((2..=5).contains(&found["mitigations"].as_array().unwrap().len()), "{}", row.code);
    }
    assert_eq!(perfxpert_knowledge::att::stall_reasons().len(), 18);
}

#[test]
fn ratios_have_a_severity_and_a_reliability() {
    let ratio = |value: f64, hits: Option<u64>| {
        ask("att.classify_stall_ratio", &json!({ "stall_ratio": value, "hitcount": hits }))
    };
    for (value, severity) in
        [(0.85, "critical"), (0.80, "critical"), (0.60, "high"), (0.59999, "medium"), (0.20, "low")]
    {
        holds(&ratio(value, None), &json!({ "severity": severity, "stall_ratio": value, "reliable": null }));
    }
    holds(
        &ratio(0.20, Some(99)),
        &json!({ "severity": "low", "reliable": false, "thresholds": { "critical": 0.8, "high": 0.6, "medium": 0.4 } }),
    );
    holds(&ratio(0.20, Some(100)), &json!({ "reliable": true }));
    assert_eq!(refusal("att.classify_stall_ratio", &json!({ "stall_ratio": 85 })), "invalid_argument");
}
