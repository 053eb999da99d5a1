//! `workflow.next_step`.

use perfxpert_knowledge::commands::check;
use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal, refused};

fn step(tier: u8, goal: &str, extra: Value) -> Value {
    let mut arguments = json!({ "tier": tier, "goal": goal });
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ask("workflow.next_step", &arguments)
}

const GOALS: [&str; 8] =
    ["collect", "classify", "measure", "deep", "pc_sampling", "optimize", "build", "verify"];

#[test]
fn every_pair_answers_with_tier_and_phase() {
    // next_tier and phase per goal for tiers 0 to 3.
    let table = [
        ["1 profile", "1 analyze", "2 analyze", "3 optimize"],
        ["1 profile", "1 analyze", "2 analyze", "3 optimize"],
        ["1 profile", "2 profile", "2 analyze", "3 optimize"],
        ["1 profile", "3 profile", "3 profile", "3 optimize"],
        ["1 profile", "3 profile", "3 profile", "3 optimize"],
        ["1 profile", "1 optimize", "2 optimize", "3 optimize"],
        ["0 build", "1 build", "2 build", "3 build"],
        ["1 profile", "1 reprofile", "1 reprofile", "1 reprofile"],
    ];
    for (goal, row) in GOALS.iter().zip(table) {
        for (tier, expected) in (0..).zip(row) {
            let answer = step(tier, goal, json!({}));
            let found = format!("{} {}", answer["next_tier"], answer["phase"].as_str().unwrap());
            assert_eq!(found, expected, "tier {tier}, {goal}");
            assert!(GOALS.contains(&answer["then"]["goal"].as_str().unwrap()));
            // What to ask next must itself have an answer.
            step(
                u8::try_from(answer["then"]["tier"].as_u64().unwrap()).unwrap(),
                answer["then"]["goal"].as_str().unwrap(),
                json!({}),
            );
        }
    }
}

#[test]
fn commands_are_exact() {
    let first = step(0, "collect", json!({}));
    holds(
        &first,
        &json!({ "action": "rocprofv3 --sys-trace",
            "command": "rocprofv3 --sys-trace --output-format rocpd -d perfxpert_out -- ./app" }),
    );
    holds(&step(1, "classify", json!({})), &json!({ "command": "perfxpert analyze -i perfxpert_out" }));
    let counters = step(1, "measure", json!({}));
    assert!(counters["action"].as_str().unwrap().starts_with("rocprofv3 --pmc SQ_WAVES GRBM_COUNT"));
    assert_eq!(
        counters["commands"],
        json!([
            "rocprofv3 --pmc SQ_WAVES GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVE_CYCLES SQ_INSTS_VALU -d perfxpert_out_pmc1 -- ./app",
            "rocprofv3 --pmc FETCH_SIZE -d perfxpert_out_pmc2 -- ./app",
            "rocprofv3 --pmc WRITE_SIZE -d perfxpert_out_pmc3 -- ./app"
        ])
    );
    assert_eq!(
        step(2, "deep", json!({}))["command"],
        "rocprofv3 --att --att-library-path /opt/rocm/lib --att-target-cu 1 -d perfxpert_out_att -- ./app"
    );
    assert_eq!(
        step(2, "pc_sampling", json!({}))["command"],
        "rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method host_trap --pc-sampling-unit time \
         --pc-sampling-interval 1 -d perfxpert_out_pcs -- ./app"
    );
    assert_eq!(
        step(3, "optimize", json!({}))["command"],
        "perfxpert analyze -i perfxpert_out --att-dir perfxpert_out_att"
    );
    holds(
        &step(1, "optimize", json!({})),
        &json!({ "command": null, "commands": [], "then": { "tier": 1, "goal": "build" } }),
    );
    let verify = step(1, "verify", json!({}));
    assert_eq!(
        verify["commands"],
        json!([
            "rocprofv3 --sys-trace --output-format rocpd -d perfxpert_out_after -- ./app",
            "perfxpert diff perfxpert_out perfxpert_out_after"
        ])
    );
    holds(&verify, &json!({ "then": { "tier": 1, "goal": "classify" } }));
    let own = step(0, "collect", json!({ "app": "./bench --n 5", "out": "my out" }));
    assert_eq!(own["command"], "rocprofv3 --sys-trace --output-format rocpd -d 'my out' -- ./bench --n 5");
}

#[test]
fn the_architecture_picks_what_it_supports() {
    let stochastic = step(2, "pc_sampling", json!({ "gfx_id": "gfx942" }));
    assert!(stochastic["command"].as_str().unwrap().contains(
        "--pc-sampling-method stochastic --pc-sampling-unit cycles --pc-sampling-interval 1048576"
    ));
    let rdna = step(2, "pc_sampling", json!({ "gfx_id": "gfx1100" }));
    assert!(rdna["command"].as_str().unwrap().starts_with("rocprofv3 --att "), "{rdna}");
    assert!(rdna["reason"].as_str().unwrap().contains("gfx90a"));
    for goal in ["deep", "pc_sampling"] {
        let old = step(1, goal, json!({ "gfx_id": "gfx908" }));
        holds(&old, &json!({ "next_tier": 2, "phase": "profile" }));
        assert!(old["action"].as_str().unwrap().contains("SQ_INSTS_MFMA"), "{old}");
        assert!(old["reason"].as_str().unwrap().contains("gfx908"));
    }
    let gfx12 = step(1, "measure", json!({ "gfx_id": "gfx1201" }));
    assert_eq!(
        gfx12["commands"][2],
        "rocprofv3 --pmc GL2C_EA_WRREQ_sum GL2C_EA_WRREQ_64B_sum -d perfxpert_out_pmc3 -- ./app"
    );
}

#[test]
fn a_kernels_name_is_escaped_and_quoted() {
    let answer = step(1, "measure", json!({ "kernel": "foo<int>(float*) [clone .kd]" }));
    for command in answer["commands"].as_array().unwrap() {
        let command = command.as_str().unwrap();
        assert!(
            command.contains(r"--kernel-include-regex 'foo<int>\(float\*\) \[clone \.kd\]' -d"),
            "{command}"
        );
    }
}

#[test]
fn every_printed_command_holds_real_options_only() {
    let kernel = "a'b; rm -rf $HOME\n`x`";
    for goal in GOALS {
        for tier in 0..4 {
            for gfx in
                [None, Some("gfx908"), Some("gfx90a"), Some("gfx942"), Some("gfx1100"), Some("gfx1201")]
            {
                let answer = step(tier, goal, json!({ "gfx_id": gfx, "kernel": kernel }));
                for command in answer["commands"].as_array().unwrap() {
                    let command = command.as_str().unwrap();
                    check(command).unwrap_or_else(|error| panic!("{command}: {error}"));
                    assert!(!command.contains('\n'), "{command}");
                }
            }
        }
    }
}

#[test]
fn tiers_and_goals_outside_the_table_are_refused() {
    assert_eq!(refusal("workflow.next_step", &json!({ "tier": 4, "goal": "collect" })), "invalid_argument");
    let error = refused("workflow.next_step", &json!({ "tier": 1, "goal": "speed" }));
    assert_eq!(error.kind.as_str(), "unknown_name");
    assert_eq!(error.details["known_total"], 8);
    assert_eq!(
        refusal("workflow.next_step", &json!({ "tier": 1, "goal": "deep", "gfx_id": "gfx1" })),
        "unknown_name"
    );
}
