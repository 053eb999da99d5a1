//! Profiles against numbers made elsewhere: the generator's own account, and hand-checked facts of real recordings.
//!
//! Both lie beside the repository and not in it; where they are missing, that is printed.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use perfxpert_analysis::{Nanos, RunProfile, sweep};
use perfxpert_trace::{Control, OpenOptions, Trace};
use serde_json::Value as Json;

fn beside(variable: &str, path: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from).or_else(|| {
        let ancestors = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        ancestors.map(|dir| dir.join(path)).find(|path| path.exists())
    });
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not here (set {variable})");
    }
    found
}

fn profile(path: &Path) -> (Trace, RunProfile) {
    let options = OpenOptions { allow_partial: true, ..OpenOptions::default() };
    let trace = Trace::open(&[path.to_owned()], &options).unwrap();
    let profile = sweep::profile(&trace, Nanos::ZERO, &Control::default()).unwrap().0;
    (trace, profile)
}

fn number(value: &Json) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

/// What the profile says otherwise than the generator's account of one process.
fn differences(expected: &Json, trace: &Trace, profile: &RunProfile) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: String, seen: u64, wanted: u64| {
        if seen != wanted {
            wrong.push(format!("{what}: {seen}, expected {wanted}"));
        }
    };
    for (index, gpu) in expected["gpus"].as_object().unwrap() {
        if gpu["first_start"].is_null() {
            continue;
        }
        let of_gpu = |agent: &&perfxpert_analysis::profile::AgentProfile| {
            trace.agents()[agent.agent.get()].absolute_index.to_string() == *index
        };
        let Some(agent) = profile.agents.iter().find(of_gpu) else {
            check(format!("GPU {index}"), 0, 1);
            continue;
        };
        let times = agent.times;
        for (key, seen) in [
            ("kernel_union_ns", times.parts.kernel),
            ("compute_union_ns", times.compute_busy),
            ("comm_union_ns", times.collective_busy),
            ("copy_union_ns", times.copy_busy),
            ("busy_union_ns", times.busy()),
            ("kernel_kernel_overlap_ns", times.concurrent),
            ("exposed_comm_ns", times.exposed_collective),
            ("overlap_copy_kernel_ns", times.overlap),
            ("exposed_copy_ns", times.parts.exposed_copy),
            ("idle_in_span_ns", times.parts.waiting()),
            ("span_ns", times.window()),
            ("kernel_sum_ns", times.dispatch_sum),
            ("kernels", Nanos(times.dispatches)),
        ] {
            check(format!("GPU {index} {key}"), seen.0, number(&gpu[key]));
        }
        let both = (times.compute_busy + times.collective_busy).saturating_sub(times.parts.kernel);
        check(
            format!("GPU {index} overlap_comm_compute_ns"),
            both.0,
            number(&gpu["overlap_comm_compute_ns"]),
        );
    }
    let kernels = &expected["kernels"];
    check("dispatches".into(), profile.rows.dispatches, number(&kernels["rows_valid"]));
    check("summed time".into(), profile.kernel_sum().0, number(&kernels["total_valid_ns"]));
    let launch = &expected["launch"];
    check("linked".into(), profile.host.linked, number(&launch["linked"]));
    check(
        "latency sum".into(),
        profile.host.linked_latency.0,
        number(&launch["start_minus_api_start_total_ns"]),
    );
    let mut calls: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for call in &profile.calls {
        let entry = calls.entry(call.text.as_ref()).or_default();
        entry.0 += call.calls;
        entry.1 += call.total.0;
    }
    for (name, stat) in expected["api"]["by_name"].as_object().unwrap() {
        // Markers are no calls.
        if stat["category"].as_str().is_some_and(|category| category.starts_with("MARKER")) {
            continue;
        }
        let seen = calls.get(name.as_str()).copied().unwrap_or_default();
        check(format!("calls of {name}"), seen.0, number(&stat["calls"]));
        check(format!("time of {name}"), seen.1, number(&stat["total_ns"]));
    }
    wrong
}

#[test]
fn the_generators_account_agrees() {
    let Some(generator) = beside("PERFXPERT_GEN_ROCPD", "shared/tools/gen_rocpd.py") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (scenario, scale) in [
        ("compute_bound", 600),
        ("memory_bound", 400),
        ("latency_bound", 3000),
        ("transfer_bound", 60),
        ("idle", 200),
        ("healthy", 300),
        ("mixed", 500),
        ("multi_stream", 1000),
        ("multi_gpu", 400),
        ("fusion", 1000),
        ("graph", 2000),
        ("roctx", 200),
        ("rccl", 400),
        ("no_views", 300),
        ("old_views", 300),
    ] {
        let (db, json) = (folder.path().join(format!("{scenario}.db")), folder.path().join("expect.json"));
        let made = Command::new("python3")
            .arg(&generator)
            .args([scenario, "--scale", &scale.to_string()])
            .arg("-o")
            .arg(&db)
            .arg("--expect")
            .arg(&json)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let expected: Json = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
        let (trace, profile) = profile(&db);
        let process = &expected["processes"][0];
        wrong.extend(
            differences(process, &trace, &profile).into_iter().map(|line| format!("{scenario}: {line}")),
        );
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn real_recordings_have_their_checked_times() {
    let Some(folder) = beside("PERFXPERT_REAL_CONVERTED", "shared/real/converted") else { return };
    // Dispatches, kernels, summed time and union per GPU, counted by SQL over the base tables.
    for (file, dispatches, kernels, sum, busy) in [
        ("908_results_mi350x.db", 43_915, 80, 4_441_741_378, 4_233_112_334),
        ("decode_trace.db", 144, 17, 1_857_381, 1_857_381),
        ("prefill_trace.db", 1128, 27, 66_066_571, 66_066_571),
        ("decode_fetch_counters.db", 34, 17, 467_793, 467_793),
    ] {
        let path = folder.join(file);
        if !path.exists() {
            eprintln!("SKIPPED: {} is not here", path.display());
            continue;
        }
        let (_, profile) = profile(&path);
        // None of them holds copies, so the union of everything is the union of dispatches, copy kernels included.
        let union: Nanos = profile.agents.iter().map(|agent| agent.times.busy()).sum();
        let seen = (profile.rows.dispatches, profile.kernels.len(), profile.kernel_sum().0, union.0);
        assert_eq!(seen, (dispatches, kernels, sum, busy), "{file}");
        if file.starts_with("908") {
            let first = &profile.kernels[0];
            assert!(first.name.starts_with("ncclDevKernel_Generic_1"), "{}", first.name);
            assert_eq!((first.calls, first.total.0), (1310, 4_158_756_678));
            let durations = first.durations;
            assert_eq!((durations.min.0, durations.max.0), (70_280, 733_003_332));
            assert_eq!(profile.total_runtime(), Nanos(15_122_023_494));
        }
    }
}
