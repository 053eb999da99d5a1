//! `counters.*`.

use perfxpert_analysis::collection;
use perfxpert_knowledge::arch;
use perfxpert_knowledge::commands::check;
use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

fn info(name: &str, gfx: Option<&str>) -> Value {
    ask("counters.lookup_info", &json!({ "name": name, "gfx_id": gfx }))
}

#[test]
fn a_counter_says_what_it_is_and_what_it_costs() {
    holds(
        &info("SQ_WAVES", None),
        &json!({ "block": "SQ", "unit": "count", "derived": false, "available": null, "expression": null,
            "components": ["SQ_WAVES"], "cost": { "SQ": 1 }, "caveats": ["launch total, not a concurrency level"] }),
    );
    holds(
        &info("TCC_HIT_sum", Some("gfx1100")),
        &json!({ "block": "TCC", "available": false, "alternatives": ["GL2C_HIT_sum"] }),
    );
    let fetch = info("FETCH_SIZE", Some("gfx942"));
    holds(
        &fetch,
        &json!({ "derived": true, "unit": "KiB", "cost": { "TCC": 3 }, "available": true, "block": "TCC",
            "components": ["TCC_BUBBLE", "TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B"] }),
    );
    assert!(fetch["expression"].as_str().unwrap().contains("TCC_BUBBLE_sum*128"));
    holds(&info("FETCH_SIZE", Some("gfx90a")), &json!({ "cost": { "TCC": 2 } }));
    holds(&info("FETCH_SIZE", Some("gfx1100")), &json!({ "block": "GL2C", "cost": { "GL2C": 4 } }));
    assert!(info("FETCH_SIZE", Some("gfx950"))["caveats"][0].as_str().unwrap().contains("half"));
    holds(
        &info("TCC_HIT[3]", Some("gfx940")),
        &json!({ "block": "TCC", "available": true, "cost": { "TCC": 1 } }),
    );
    assert_ne!(info("LDSBankConflict", None)["name"], info("LdsBankConflict", None)["name"]);
    assert_eq!(
        keys(&info("SQ_WAVES", Some("gfx942"))),
        [
            "name",
            "block",
            "unit",
            "description",
            "derived",
            "available_on",
            "available",
            "expression",
            "expression_reason",
            "components",
            "cost",
            "alternatives",
            "caveats"
        ]
    );
}

#[test]
fn names_that_exist_nowhere_are_refused() {
    let name = "counters.lookup_info";
    let alias = refused(name, &json!({ "name": "SQ_INSTS_VALU_MFMA" }));
    assert_eq!(alias.kind.as_str(), "unknown_name");
    assert_eq!(alias.details["did_you_mean"], "SQ_INSTS_MFMA");
    assert_eq!(refused(name, &json!({ "name": "TCP_TCC_HIT_sum" })).details["did_you_mean"], "TCC_HIT_sum");
    let nothing = refused(name, &json!({ "name": "DEFINITELY_NOT_A_COUNTER" }));
    assert_eq!(nothing.details["known"].as_array().unwrap().len(), 50);
    assert!(nothing.details["known_total"].as_u64().unwrap() > 486);
    assert_eq!(refusal(name, &json!({ "name": "SQ_WAVES", "gfx_id": "gfx9999" })), "unknown_name");
    assert_eq!(refusal(name, &json!({ "name": "sq_waves" })), "unknown_name");
}

fn passes(gfx: &str, list: &[&str], isolate: bool) -> Value {
    ask(
        "counters.validate_for_gpu",
        &json!({ "counter_list": list, "gpu_arch": gfx, "isolate_memory_counters": isolate }),
    )
}

#[test]
fn counters_are_packed_into_the_fewest_passes() {
    let one = passes("gfx942", &["SQ_WAVES", "GRBM_COUNT"], true);
    holds(
        &one,
        &json!({ "ok": true, "pass_count": 1, "fixed_passes": [["SQ_WAVES", "GRBM_COUNT"]], "escalation": null,
            "minimal": true, "limits_source": "arch", "duplicates": [], "violations_total": 0 }),
    );
    let four = passes("gfx942", &["SQ_WAVES", "GRBM_COUNT", "FETCH_SIZE", "WRITE_SIZE"], true);
    holds(
        &four,
        &json!({ "fixed_passes": [["SQ_WAVES", "GRBM_COUNT"], ["FETCH_SIZE"], ["WRITE_SIZE"]], "minimal": true }),
    );
    let plan = &four["escalation"];
    holds(
        plan,
        &json!({ "required": true, "gpu_arch": "gfx942", "pass_count": 3, "pmc_groups_path": "pmc_groups.txt",
        "pmc_groups": ["pmc: SQ_WAVES GRBM_COUNT", "pmc: FETCH_SIZE", "pmc: WRITE_SIZE"] }),
    );
    assert_eq!(plan["passes"][0]["command"], "rocprofv3 --pmc SQ_WAVES GRBM_COUNT -d pmc_pass1 -- ./app");
    assert_eq!(plan["commands"][0]["full_command"], "rocprof-compute profile -n perfxpert -- ./app");
    assert_eq!(plan["commands"][1]["full_command"], "rocprofv3 -i pmc_groups.txt -- ./app");
    for command in plan["passes"].as_array().unwrap() {
        check(command["command"].as_str().unwrap()).unwrap();
    }
    for command in plan["commands"].as_array().unwrap() {
        check(command["full_command"].as_str().unwrap()).unwrap();
    }
    let eight = [
        "TCC_HIT_sum",
        "TCC_MISS_sum",
        "TCC_REQ_sum",
        "TCC_READ_sum",
        "TCC_WRITE_sum",
        "GRBM_COUNT",
        "GRBM_GUI_ACTIVE",
        "GRBM_CPC_BUSY",
    ];
    let packed = passes("gfx942", &eight, true);
    holds(&packed, &json!({ "pass_count": 2, "minimal": true }));
    assert_eq!(
        packed["per_block"],
        json!([
            { "block": "GRBM", "limit": 2, "requested": 3, "passes_needed": 2 },
            { "block": "TCC", "limit": 4, "requested": 5, "passes_needed": 2 }
        ])
    );
    let mixed = ["FETCH_SIZE", "WRITE_SIZE", "TCC_HIT_sum", "TCC_MISS_sum", "SQ_WAVES"];
    holds(
        &passes("gfx942", &mixed, false),
        &json!({ "fixed_passes": [["FETCH_SIZE", "TCC_HIT_sum", "SQ_WAVES"], ["WRITE_SIZE", "TCC_MISS_sum"]] }),
    );
    holds(&passes("gfx90a", &["FETCH_SIZE", "WRITE_SIZE", "SQ_WAVES"], false), &json!({ "pass_count": 1 }));
}

#[test]
fn what_cannot_be_collected_is_named() {
    let none = passes("gfx1100", &["TCC_HIT_sum"], true);
    holds(&none, &json!({ "ok": false, "pass_count": 0, "fixed_passes": [], "violations_total": 1 }));
    holds(
        &none["violations"][0],
        &json!({ "counter": "TCC_HIT_sum", "kind": "not_available", "alternatives": ["GL2C_HIT_sum"] }),
    );
    let unknown = passes("gfx942", &["SQ_INSTS_VALU_MFMA", "SQ_WAVES"], true);
    holds(
        &unknown["violations"][0],
        &json!({ "kind": "unknown_counter", "alternatives": ["SQ_INSTS_MFMA"] }),
    );
    holds(&unknown, &json!({ "ok": false, "fixed_passes": [["SQ_WAVES"]] }));
    holds(
        &passes("gfx942", &[], true),
        &json!({ "ok": true, "pass_count": 0, "fixed_passes": [], "minimal": true }),
    );
    holds(
        &passes("gfx942", &["SQ_WAVES", " SQ_WAVES ", "SQ_WAVES"], true),
        &json!({ "pass_count": 1, "duplicates": ["SQ_WAVES"] }),
    );
    holds(&passes("gfx1150", &["SQ_WAVES"], true), &json!({ "limits_source": "family", "pass_count": 1 }));
    let error = refused("counters.validate_for_gpu", &json!({ "counter_list": [], "gpu_arch": "gfx7000" }));
    assert_eq!((error.kind.as_str(), &error.details["field"]), ("unknown_name", &json!("gpu_arch")));
    assert_eq!(
        refusal(
            "counters.validate_for_gpu",
            &json!({ "counter_list": vec!["A"; 513], "gpu_arch": "gfx942" })
        ),
        "invalid_argument"
    );
}

#[test]
fn every_set_we_suggest_fits_the_hardware() {
    for arch in arch::all() {
        let sets = collection::classify_passes(Some(arch))
            .into_iter()
            .chain(collection::typed_operation_passes(Some(arch)));
        for set in sets {
            let answer = passes(&arch.gfx_id, &set.iter().map(String::as_str).collect::<Vec<_>>(), true);
            holds(&answer, &json!({ "ok": true, "pass_count": 1 }));
        }
    }
}
