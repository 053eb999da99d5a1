//! `compiler.*`.

use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refusal, refused};

fn flags(filters: Value) -> Vec<String> {
    let answer = ask("compiler.lookup_flags", &filters);
    answer["items"].as_array().unwrap().iter().map(|row| row["flag"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn filters_keep_catalogue_order() {
    holds(
        &ask("compiler.lookup_flags", &json!({})),
        &json!({ "total": 20, "returned": 20, "truncated": false }),
    );
    assert_eq!(flags(json!({ "goal": "throughput" })), ["-O3"]);
    assert_eq!(flags(json!({ "goal": "occupancy", "arch": "gfx942" })), ["--gpu-max-threads-per-block="]);
    assert_eq!(
        flags(json!({ "goal": "occupancy", "arch": "GFX1100" })),
        ["--gpu-max-threads-per-block=", "-mcumode"]
    );
    assert_eq!(
        flags(json!({ "kernel_class": "reduction" })),
        [
            "-O0",
            "-O1",
            "-O2",
            "-O3",
            "-ffast-math",
            "-fno-math-errno",
            "-ffp-contract=fast",
            "-Rpass-analysis=kernel-resource-usage",
            "--save-temps",
            "-gline-tables-only"
        ]
    );
    let page = ask("compiler.lookup_flags", &json!({ "limit": 2, "offset": 1 }));
    holds(&page, &json!({ "total": 20, "returned": 2, "truncated": true }));
    assert_eq!(page["items"][0]["flag"], "-O1");
    holds(
        &ask("compiler.lookup_flags", &json!({ "limit": 0 })),
        &json!({ "total": 20, "returned": 0, "truncated": true }),
    );
}

#[test]
fn nothing_applies_differs_from_misspelt() {
    let none = ask(
        "compiler.lookup_flags",
        &json!({ "goal": "throughput", "kernel_class": "matrix", "arch": "gfx942" }),
    );
    assert_eq!(none["total"], 1, "-O3 is for any kernel");
    let none = ask("compiler.lookup_flags", &json!({ "goal": "atomics", "arch": "gfx1100" }));
    holds(
        &none,
        &json!({ "items": [], "total": 0, "filters": { "goal": "atomics", "arch": "gfx1100", "kernel_class": null } }),
    );
    assert!(none["note"].as_str().unwrap().starts_with("arch gfx1100 removed the last"));
    for bad in [json!({ "goal": "speed" }), json!({ "kernel_class": "fast" }), json!({ "arch": "gfx9999" })] {
        assert_eq!(refusal("compiler.lookup_flags", &bad), "unknown_name", "{bad}");
    }
}

fn explain(flag: &str) -> Value {
    ask("compiler.explain_flag", &json!({ "flag_name": flag }))
}

#[test]
fn flags_are_read_as_people_write_them() {
    let arch = explain("--offload-arch=gfx942");
    holds(
        &arch,
        &json!({ "flag": "--offload-arch=", "matched_flag": "--offload-arch=", "value": "gfx942", "value_ok": true, "alternative": null }),
    );
    assert_eq!(keys(&arch)[..4], ["flag", "category", "description", "allowlist"]);
    holds(&explain("--offload-arch=gfx942:xnack-"), &json!({ "value_ok": true }));
    let unknown = explain("--offload-arch=gfx9999");
    holds(&unknown, &json!({ "value_ok": false }));
    assert!(unknown["value_hint"].as_str().unwrap().contains("gfx950"));
    holds(&explain("--gpu-max-threads-per-block=1024"), &json!({ "value_ok": true }));
    holds(&explain("--gpu-max-threads-per-block=1025"), &json!({ "value_ok": false }));
    holds(&explain("  -O3 "), &json!({ "matched_flag": "-O3", "value": null, "value_ok": null }));
    holds(&explain("-ffp-contract=fast"), &json!({ "matched_flag": "-ffp-contract=fast", "value": null }));
}

#[test]
fn denied_flags_name_what_to_use_instead() {
    let vgpr = explain("-mllvm   -amdgpu-num-vgpr=64");
    holds(&vgpr, &json!({ "allowlist": false, "matched_flag": "-mllvm -amdgpu-num-vgpr=", "value": "64" }));
    assert!(vgpr["alternative"].as_str().unwrap().contains("__launch_bounds__"));
    holds(&explain("-mllvm -foo"), &json!({ "allowlist": false, "matched_flag": "-mllvm" }));
    holds(&explain("-Wl,-rpath,lib"), &json!({ "allowlist": false, "matched_flag": "-Wl,-rpath" }));
    holds(&explain("-Xlinker -z"), &json!({ "allowlist": false }));
    for unknown in ["-O9", "-mllvmfoo", "", "rm -rf"] {
        assert_eq!(
            refusal("compiler.explain_flag", &json!({ "flag_name": unknown })),
            "unknown_name",
            "{unknown}"
        );
    }
    assert_eq!(
        refused("compiler.explain_flag", &json!({ "flag_name": "-ffast-maths" })).details["did_you_mean"],
        "-ffast-math"
    );
}
