//! `profiling.fill_gap`.

use perfxpert_knowledge::commands::check;
use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal};

fn gap(tokens: Value, goal: &str) -> Value {
    ask("profiling.fill_gap", &json!({ "current_fingerprint": tokens, "goal": goal }))
}

#[test]
fn the_cheapest_step_that_helps_comes_first() {
    holds(
        &gap(json!([]), "stall analysis"),
        &json!({ "complete": false, "name": "rocprofv3 --pc-sampling-beta-enabled", "cost_s": 180.0,
            "adds": ["--pc-sampling"], "goal": "stall", "goal_recognised": true, "missing": ["--pc-sampling"] }),
    );
    holds(
        &gap(json!(["--sys-trace"]), "timeline"),
        &json!({ "complete": true, "name": null, "cost_s": null, "adds": [], "command": null, "missing": [] }),
    );
    let classify = gap(json!([]), "classify");
    holds(&classify, &json!({ "name": "rocprofv3 --sys-trace", "cost_s": 30.0 }));
    assert_eq!(
        classify["remaining"],
        json!(["rocprofv3 --pmc (classify set)", "rocprofv3 --pmc FETCH_SIZE", "rocprofv3 --pmc WRITE_SIZE"])
    );
    let counters = gap(json!(["--sys-trace"]), "classify");
    holds(&counters, &json!({ "name": "rocprofv3 --pmc (classify set)", "cost_s": 90.0 }));
    assert!(counters["adds"].as_array().unwrap().contains(&json!("pmc:SQ_WAVES")));
    holds(
        &gap(json!(["pmc:FETCH_SIZE"]), "memory bandwidth"),
        &json!({ "name": "rocprofv3 --pmc WRITE_SIZE", "cost_s": 120.0, "adds": ["pmc:WRITE_SIZE"],
            "command": "rocprofv3 --pmc WRITE_SIZE -d perfxpert_out_pmc3 -- ./app" }),
    );
    holds(&gap(json!(["--att"]), "stall"), &json!({ "complete": true }));
    holds(
        &gap(Value::Null, "make coffee"),
        &json!({ "goal": "any", "goal_recognised": false, "name": "rocprofv3 --sys-trace" }),
    );
}

#[test]
fn goals_are_found_by_whole_words_in_table_order() {
    for (text, goal) in [
        ("Roofline please", "roofline"),
        ("PC sampling", "stall"),
        ("where is the page fault?", "paging"),
        ("why is it slow", "classify"),
        ("memory_bandwidth", "memory_bandwidth"),
        ("matter", "any"),
    ] {
        assert_eq!(gap(json!([]), text)["goal"], goal, "{text}");
    }
}

#[test]
fn tokens_are_read_in_every_spelling_and_unknown_ones_are_named() {
    holds(&gap(json!(["-s"]), "timeline"), &json!({ "complete": true, "unknown_tokens": [] }));
    holds(&gap(json!(["--pc-sampling-beta-enabled"]), "stall"), &json!({ "complete": true }));
    holds(&gap(json!(["--foo", "bar"]), "timeline"), &json!({ "unknown_tokens": ["--foo", "bar"] }));
    assert_eq!(refusal("profiling.fill_gap", &json!({ "goal": "stall" })), "invalid_argument");
    assert_eq!(
        refusal("profiling.fill_gap", &json!({ "goal": "stall", "current_fingerprint": "x" })),
        "invalid_argument"
    );
    let absent = json!({ "goal": "stall", "current_fingerprint": [], "db_path": "no such file.db" });
    assert_eq!(refusal("profiling.fill_gap", &absent), "file_not_found");
}

#[test]
fn the_architecture_decides_what_can_be_collected() {
    let on = |gfx: &str, goal: &str| {
        ask("profiling.fill_gap", &json!({ "current_fingerprint": [], "goal": goal, "gfx_id": gfx }))
    };
    holds(&on("gfx1100", "stall"), &json!({ "name": "rocprofv3 --att", "missing": ["--att"] }));
    holds(&on("gfx908", "stall"), &json!({ "complete": false, "name": null, "command": null }));
    holds(
        &on("gfx1201", "hbm"),
        &json!({ "missing": ["pmc:FETCH_SIZE", "pmc:GL2C_EA_WRREQ_64B_sum", "pmc:GL2C_EA_WRREQ_sum"] }),
    );
    let typed = ask(
        "profiling.fill_gap",
        &json!({ "current_fingerprint": ["pmc:FETCH_SIZE", "pmc:WRITE_SIZE"], "goal": "roofline", "gfx_id": "gfx942" }),
    );
    holds(&typed, &json!({ "name": "rocprofv3 --pmc (typed operation counters)", "cost_s": 450.0 }));
}

#[test]
fn every_printed_command_holds_real_options_only() {
    for gfx in [None, Some("gfx908"), Some("gfx942"), Some("gfx1100"), Some("gfx1201")] {
        let goals = gap(json!([]), "any")["known_goals"].clone();
        for goal in goals.as_array().unwrap() {
            let mut have: Vec<String> = Vec::new();
            for round in 0.. {
                assert!(round < 10, "{goal} never completes");
                let answer = ask(
                    "profiling.fill_gap",
                    &json!({ "current_fingerprint": have, "goal": goal, "gfx_id": gfx }),
                );
                for line in answer["command"]
                    .as_str()
                    .unwrap_or_default()
                    .split(" && ")
                    .filter(|line| !line.is_empty())
                {
                    check(line).unwrap_or_else(|error| panic!("{line}: {error}"));
                }
                if answer["name"].is_null() {
                    break;
                }
                have.extend(
                    answer["adds"].as_array().unwrap().iter().map(|token| token.as_str().unwrap().to_owned()),
                );
            }
        }
    }
}

#[test]
fn what_a_trace_holds_counts_as_collected() {
    let planted = perfxpert_fixtures::scenario("valu_bound").unwrap();
    let names: Vec<String> = {
        let mut names: Vec<String> =
            planted.truth.counters.values().flat_map(|counters| counters.keys().cloned()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert!(names.contains(&"SQ_WAVES".to_owned()), "control: {names:?}");
    let answer = ask(
        "profiling.fill_gap",
        &json!({ "current_fingerprint": [], "goal": "counters", "gfx_id": "gfx942", "db_path": planted.path() }),
    );
    let missing: Vec<&str> =
        answer["missing"].as_array().unwrap().iter().map(|token| token.as_str().unwrap()).collect();
    for name in &names {
        assert!(!missing.contains(&format!("pmc:{name}").as_str()), "{name} is there: {missing:?}");
    }
    assert!(answer["trace_health"]["status"].is_string());
    let bare = perfxpert_fixtures::scenario("no_api_trace").unwrap();
    let answer = ask(
        "profiling.fill_gap",
        &json!({ "current_fingerprint": [], "goal": "launch", "db_path": bare.path() }),
    );
    holds(&answer, &json!({ "missing": ["--hip-runtime-trace"], "name": "rocprofv3 --sys-trace" }));
}
