//! `trace_fingerprint.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal};

fn of(cmd: &str) -> Value {
    ask("trace_fingerprint.fingerprint", &json!({ "cmd": cmd }))
}

fn covers(answer: &Value, token: &str) -> bool {
    answer["covers"].as_array().unwrap().iter().any(|covered| covered == token)
}

#[test]
fn a_group_option_covers_its_parts() {
    let answer = of("rocprofv3 --sys-trace -d out -- ./app");
    holds(
        &answer,
        &json!({ "items": ["--sys-trace"], "total": 1, "tool": "rocprofv3", "recognised": true, "complete": true,
                 "application": "./app" }),
    );
    for token in ["--kernel-trace", "--hip-runtime-trace", "--rccl-trace"] {
        assert!(covers(&answer, token), "{token}");
    }
    let without = of("rocprofv3 -s --hsa-trace=false -- x");
    for token in
        ["--hsa-trace", "--hsa-core-trace", "--hsa-amd-trace", "--hsa-image-trace", "--hsa-finalizer-trace"]
    {
        assert!(!covers(&without, token), "{token}");
    }
}

#[test]
fn the_programs_own_options_do_not_count() {
    holds(
        &of("rocprofv3 --pmc SQ_WAVES GRBM_COUNT -- ./app --hip-trace"),
        &json!({ "items": ["pmc:GRBM_COUNT", "pmc:SQ_WAVES"], "pmc_groups": [["SQ_WAVES", "GRBM_COUNT"]] }),
    );
    let passes = of("rocprofv3 --pmc=SQ_WAVES,GRBM_COUNT --pmc FETCH_SIZE -- x");
    assert_eq!(passes["pmc_groups"].as_array().unwrap().len(), 2);
    holds(&of("mpirun -n 4 rocprofv3 --rccl-trace -- ./a"), &json!({ "items": ["--rccl-trace"] }));
}

#[test]
fn what_cannot_be_known_is_left_open() {
    holds(
        &of("rocprofv3 -i in.txt -- ./a"),
        &json!({ "items": [], "complete": false, "unresolved_inputs": ["in.txt"] }),
    );
    for cmd in ["ls -l", ""] {
        holds(&of(cmd), &json!({ "items": [], "recognised": false, "tool": "unknown", "application": null }));
    }
    holds(
        &of("rocprofv3 --output-dir x --hip-api-trace -- ./a"),
        &json!({ "unknown_options": ["--output-dir", "--hip-api-trace"], "complete": false }),
    );
    assert_eq!(
        refusal("trace_fingerprint.fingerprint", &json!({ "cmd": "rocprofv3 \"x" })),
        "invalid_argument"
    );
}

#[test]
fn the_id_is_the_same_for_the_same_collection_only() {
    let id = |cmd| of(cmd)["fingerprint_id"].as_str().unwrap().to_owned();
    let plain = id("rocprofv3 --sys-trace -d a -- ./app");
    assert_eq!(plain.len(), 12);
    assert_eq!(plain, id("ROCR_VISIBLE_DEVICES=0 /opt/rocm/bin/rocprofv3 -s -d b -- ./other"));
    assert_ne!(plain, id("rocprofv3 --sys-trace --kernel-include-regex k -- ./app"));
    assert_ne!(plain, id("rocprofv3 --runtime-trace -- ./app"));
}
