//! The report of the root agent against worked examples and what the scenarios plant.

use perfxpert_fixtures::{Knobs, Planted, scenario, scenarios};
use serde_json::{Value, json};

use crate::ask::{ask, call, holds, keys, refused, same};

fn report(planted: &Planted, detail: &str) -> Value {
    let paths: Vec<&str> = planted.paths.iter().map(|path| path.to_str().unwrap()).collect();
    ask(
        "agent.root",
        &json!({ "database_path": paths, "options": { "detail": detail, "top_kernels": 1000 } }),
    )
}

fn full(name: &str) -> Value {
    report(&scenario(name).unwrap(), "full")
}

#[test]
fn copies_around_two_kernels_exactly() {
    let report = full("we1");
    let row = json!({
        "agent": 0, "gfx_id": "gfx942", "window_start_ns": 0, "window_ns": 1000000, "kernel_ns": 440000,
        "kernel_pct": 44.0, "exposed_copy_ns": 530000, "exposed_copy_pct": 53.0, "exposed_api_ns": 28000,
        "exposed_api_pct": 2.8, "idle_ns": 2000, "idle_pct": 0.2, "summed_kernel_ns": 440000,
        "overlapped_copy_ns": 170000, "concurrent_kernel_ns": 0, "dispatches": 4, "copies": 3
    });
    assert!(same(
        &report["time_breakdown"],
        &json!({
            "total_runtime": 1000000, "total_kernel_time": 440000, "total_memcpy_time": 700000,
            "kernel_percent": 44.0, "memcpy_percent": 53.0, "overhead_percent": 2.8, "idle_percent": 0.2,
            "kernel_busy_ns": 440000, "exposed_memcpy_ns": 530000, "host_api_ns": 28000, "idle_ns": 2000,
            "overlap_ns": 170000, "kernel_count": 4, "copy_count": 3, "agents": [row]
        })
    ));
    holds(
        &report["execution_breakdown"],
        &json!({
            "normalized_runtime_ns": 1000000, "overlapped_copy_ns": 170000, "concurrent_kernel_ns": 0,
            "api_known": true, "per_agent_total": 1
        }),
    );
    assert!(
        same(
            &report["hotspots"][0],
            &json!({
                "rank": 1, "name": "void gemm<float, 16>(float const*, float const*, float*, int)",
                "short_name": "gemm<float, 16>", "calls": 2, "total_duration_ns": 400000,
                "avg_duration_ns": 200000.0, "min_duration_ns": 200000, "max_duration_ns": 200000,
                "median_duration_ns": 200000, "p95_duration_ns": 200000, "stddev_ns": 0.0, "pct_of_total": 90.91,
                "pct_of_runtime": 40.0, "severity": "CRITICAL", "category": "GEMM", "kind": "user", "agents": 1,
                "busy_share": 0.9091,
                "launch_bounds": { "workgroup": "256x1x1", "grid": "4096x1x1", "shapes": 1 }, "slug": "gemm",
                "total_duration": 400000, "avg_duration": 200000.0, "min_duration": 200000,
                "max_duration": 200000, "percent_of_total": 90.91
            })
        ),
        "{:#}",
        report["hotspots"][0]
    );
    holds(
        &report["hotspots"][1],
        &json!({
            "short_name": "relu", "calls": 2, "total_duration_ns": 40000, "avg_duration_ns": 20000.0,
            "pct_of_total": 9.09, "pct_of_runtime": 4.0, "severity": "HOT", "category": "Elementwise"
        }),
    );
    let copies = &report["memory_analysis"];
    assert_eq!(keys(copies), ["Host-to-Device", "Device-to-Host"]);
    holds(
        &copies["Host-to-Device"],
        &json!({
            "count": 2, "total_bytes": 33554432, "total_duration_ns": 620000, "bandwidth_gbps": 54.1201,
            "exposed_ns": 450000, "exposed_pct": 45.0, "link_peak_gbps": 63.0, "link_utilization_pct": 85.9
        }),
    );
    holds(
        &copies["Device-to-Host"],
        &json!({
            "count": 1, "total_bytes": 4194304, "total_duration_ns": 80000, "bandwidth_gbps": 52.4288,
            "exposed_ns": 80000, "exposed_pct": 8.0, "link_utilization_pct": 83.22
        }),
    );
    let api = &report["api_overhead"];
    holds(api, &json!({ "total_api_ns": 606000, "launch_overhead_ns": 14000, "exposed_api_ns": 28000 }));
    let exposed: Vec<(&str, u64)> = api["api_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["exposed_ns"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        exposed,
        [
            ("hipMemcpy", 14000),
            ("hipDeviceSynchronize", 4000),
            ("hipLaunchKernel", 10000),
            ("hipMemcpyAsync", 0)
        ]
    );
    let line = &report["interval_timeline"];
    assert_eq!(line["copy_overlap_pct"], 24.29);
    holds(
        &line["gaps"],
        &json!({
            "count": 4, "total_ns": 30000, "max_ns": 10000, "p50_ns": 8000, "p95_ns": 10000,
            "by_cause": {
                "sync": { "count": 3, "total_ns": 28000, "pct": 2.8 },
                "queued": { "count": 1, "total_ns": 2000, "pct": 0.2 }
            }
        }),
    );
    holds(
        &report,
        &json!({
            "schema_version": "0.3.0", "features": [], "primary_bottleneck": "memory_transfer",
            "bottleneck_detail": "host_device_copy", "confidence": 0.71, "warnings": [], "errors": [],
            "hotspots_total": 2, "gpus_total": 1, "warnings_total": 0, "omitted": []
        }),
    );
    assert_eq!(report["llm_enhanced_explanation"], report["narrative"]);
    assert_eq!(report["summary"]["confidence"], 0.71);
    let advice: Vec<Value> = report["recommendations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["id"], row["priority"], row["gain_bound_pct"], row["confidence"]]))
        .collect();
    assert_eq!(
        advice,
        [
            json!(["ROCPD-MEMCPY-001", "HIGH", 53.0, 0.9]),
            json!(["ROCPD-SYNC-001", "LOW", 2.8, 0.8]),
            json!(["ROCPD-HOTSPOT-001", "LOW", null, 0.5])
        ]
    );
    assert!(
        report["narrative"]
            .as_str()
            .unwrap()
            .contains("Largest bounded gain: Memory Transfer, at most 53.0% of the run (2.13x).")
    );
}

#[test]
fn keys_stand_in_the_documents_order() {
    let report = full("we1");
    assert_eq!(
        keys(&report),
        [
            "schema_version",
            "features",
            "primary_bottleneck",
            "bottleneck_detail",
            "confidence",
            "narrative",
            "llm_enhanced_explanation",
            "summary",
            "evidence",
            "recommendations",
            "warnings",
            "warning_details",
            "errors",
            "profiling_info",
            "gpus",
            "time_breakdown",
            "execution_breakdown",
            "hotspots",
            "memory_analysis",
            "hardware_counters",
            "kernel_resources",
            "api_overhead",
            "api_breakdown",
            "warmup_issues",
            "interval_timeline",
            "kernel_categories",
            "short_kernels",
            "trace_health",
            "provenance",
            "metadata",
            "hotspots_total",
            "recommendations_total",
            "gpus_total",
            "warnings_total",
            "omitted"
        ]
    );
}

#[test]
fn two_thousand_short_kernels_behind_launches() {
    let report = full("we2");
    holds(
        &report["time_breakdown"],
        &json!({
            "kernel_percent": 40.01, "memcpy_percent": 0.0, "overhead_percent": 49.99, "idle_percent": 10.0
        }),
    );
    holds(&report, &json!({ "primary_bottleneck": "latency", "bottleneck_detail": "launch_overhead" }));
    assert!(report["narrative"].as_str().unwrap().starts_with(
        "Limited by latency (launch_overhead): the GPU waits for launches 60.0% of the 19.994 ms run, between 2,000 \
         kernels with a median of 4.0 μs."
    ));
    let causes = &report["interval_timeline"]["gaps"]["by_cause"];
    assert_eq!(keys(causes), ["launch"]);
    holds(&causes["launch"], &json!({ "count": 1999, "total_ns": 11994000, "pct": 59.99 }));
}

#[test]
fn shares_of_the_examples() {
    let shares = |part: &Value, names: [&str; 4]| names.map(|name| part[name].as_f64().unwrap());
    let flat = ["kernel_percent", "memcpy_percent", "overhead_percent", "idle_percent"];
    let rows = ["kernel_pct", "exposed_copy_pct", "exposed_api_pct", "idle_pct"];
    assert_eq!(shares(&full("thirds")["time_breakdown"], flat), [33.34, 33.33, 33.33, 0.0]);
    let two = full("two_agents");
    assert_eq!(shares(&two["time_breakdown"], flat), [70.0, 6.67, 3.33, 20.0]);
    let agents = &two["execution_breakdown"]["per_agent"];
    assert_eq!(shares(&agents[0], rows), [60.0, 10.0, 5.0, 25.0]);
    assert_eq!(shares(&agents[1], rows), [90.0, 0.0, 0.0, 10.0]);
    assert_eq!(shares(&full("example_b")["time_breakdown"], flat), [100.0, 0.0, 0.0, 0.0]);
    assert_eq!(shares(&full("example_c")["time_breakdown"], flat), [58.34, 25.0, 8.33, 8.33]);
    let files = full("two_files");
    assert_eq!(shares(&files["time_breakdown"], flat), [100.0, 0.0, 0.0, 0.0]);
    // Both files name one physical GPU, so there is one window.
    holds(&files["time_breakdown"], &json!({ "total_runtime": 100, "normalized_runtime": 100 }));
    assert_eq!(files["profiling_info"]["files"], 2);
}

/// Differences between a report and what its scenario planted.
fn differences(planted: &Planted, report: &Value) -> Vec<String> {
    let truth = &planted.truth;
    let mut found = Vec::new();
    let mut check = |what: String, seen: &Value, wanted: Value| {
        if !same(seen, &wanted) {
            found.push(format!("{what}: {seen}, planted {wanted}"));
        }
    };
    // Planted per process: a GPU that several processes share is one GPU of the report.
    let gpus = report["gpus"].as_array().unwrap();
    let alone = gpus.len() == truth.gpus.len() && gpus.iter().all(|gpu| gpu["processes"] == 1);
    if alone && truth.gpus.iter().any(|gpu| gpu.dispatches + gpu.copies > 0) {
        let flat = &report["time_breakdown"];
        check("total_runtime".into(), &flat["total_runtime"], json!(truth.total_runtime_ns));
        let sum = |of: fn(&perfxpert_fixtures::GpuTruth) -> i64| truth.gpus.iter().map(of).sum::<i64>();
        check("kernel_busy".into(), &flat["kernel_busy_ns"], json!(sum(|gpu| gpu.kernel_busy_ns)));
        check("exposed".into(), &flat["exposed_memcpy_ns"], json!(sum(|gpu| gpu.exposed_copy_ns)));
        check("host".into(), &flat["host_api_ns"], json!(sum(|gpu| gpu.host_api_ns)));
        check("idle".into(), &flat["idle_ns"], json!(sum(|gpu| gpu.idle_ns)));
        for row in report["hotspots"].as_array().unwrap() {
            let name = row["full_name"].as_str().or(row["name"].as_str()).unwrap();
            let Some(stat) = truth.kernels.get(name) else { continue };
            check(format!("calls of {name}"), &row["calls"], json!(stat.calls));
            check(format!("time of {name}"), &row["total_duration_ns"], json!(stat.total_ns));
        }
    }
    let share = ["kernel_percent", "memcpy_percent", "overhead_percent", "idle_percent"]
        .iter()
        .filter_map(|key| report["time_breakdown"][key].as_f64())
        .map(|share| (share * 100.0).round() as i64)
        .sum::<i64>();
    if report["profiling_info"]["dispatches"].as_u64() > Some(0) && share != 10_000 {
        found.push(format!("shares add up to {share} hundredths"));
    }
    if let (Some(wanted), false) =
        (&truth.verdict, report["evidence"]["coverage"]["counters_collected"] != json!([]))
    {
        let seen = (report["primary_bottleneck"].as_str().unwrap(), report["bottleneck_detail"].as_str());
        let detail = wanted.detail.as_deref().filter(|detail| !detail.is_empty());
        if seen.0 != wanted.label || (detail.is_some() && seen.1 != detail) {
            found.push(format!("verdict {seen:?}, planted {wanted:?}"));
        }
    }
    // What only counters show is held against them where they are evaluated.
    let shown = |id: &str| {
        !["partial_counters", "zero_counters", "implausible_value", "implausible_clock"].contains(&id)
    };
    for (id, count) in truth.health.iter().filter(|(id, _)| shown(id)) {
        let items = report["trace_health"]["items"].as_array().unwrap();
        if !items.iter().any(|item| item["id"] == json!(id)) {
            found.push(format!("health lacks {id} ({count})"));
        }
    }
    found
}

#[test]
fn every_scenario_gives_its_planted_report_or_its_planted_error() {
    let mut faults: Vec<String> = Vec::new();
    let mut reports = 0;
    // What can be read of a damaged file is the reader's to say; here it must not end the process.
    let sound = |name: &str| !name.starts_with("damaged");
    for entry in scenarios() {
        let planted = entry.plan(&Knobs::default()).build().unwrap();
        let paths: Vec<&str> = planted.paths.iter().map(|path| path.to_str().unwrap()).collect();
        let asked = json!({
            "database_path": paths, "options": { "detail": "full", "top_kernels": 1000 }
        });
        match (call("agent.root", &asked), &planted.truth.error) {
            _ if !sound(entry.name) => {}
            (Ok(report), _) => {
                reports += 1;
                for fault in differences(&planted, &report).into_iter().take(5) {
                    faults.push(format!("{}: {fault}", entry.name));
                }
                let narrative = report["narrative"].as_str().unwrap();
                if narrative.chars().count() > 1300 || narrative.is_empty() {
                    faults.push(format!("{}: narrative of {} characters", entry.name, narrative.len()));
                }
            }
            (Err(error), Some(kind)) if error.kind.as_str() == kind => {}
            (Err(error), wanted) => faults.push(format!("{}: {error:?}, planted {wanted:?}", entry.name)),
        }
    }
    assert!(reports > 60, "control: {reports} reports");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn brief_answers_stay_within_twelve_thousand_characters() {
    for name in ["many_names", "long_names", "hostile_names", "ranks_many", "architectures", "rccl", "we1"] {
        let brief = report(&scenario(name).unwrap(), "brief");
        let length = brief.to_string().chars().count();
        assert!(length <= 12_000, "{name}: {length} characters");
        assert!(!brief["hotspots"].as_array().unwrap().is_empty(), "{name} lost its kernels");
        assert!(brief["omitted"].as_array().unwrap().contains(&json!("warning_details")));
    }
}

/// What may differ between two answers to one question.
fn timeless(mut report: Value) -> String {
    report["metadata"]["analysis_timestamp"] = Value::Null;
    report["metadata"]["analysis_duration_ms"] = Value::Null;
    report.to_string()
}

#[test]
fn two_answers_are_the_same_bytes() {
    let planted = scenario("multi_gpu").unwrap();
    assert_eq!(timeless(report(&planted, "full")), timeless(report(&planted, "full")));
}

#[test]
fn a_scanned_source_is_linked_and_its_patterns_are_folded_in() {
    let planted = scenario("we1").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tree = concat!(
        "#include <hip/hip_runtime.h>\n",
        "// hipMemcpy( in a comment never counts\n",
        "namespace ops {\n",
        "template <typename T, int TILE>\n",
        "__global__ void __launch_bounds__(256, 2) gemm(const T* a, const T* b, T* c, int n) {\n",
        "  __shared__ T tile[TILE][TILE];\n",
        "  c[n] = a[n] * b[n];\n",
        "}\n",
        "}\n",
        "__global__ void relu(float* x, int n) { x[n] = x[n] > 0 ? x[n] : 0; }\n",
        "const char* text = \"relu<<<1, 1>>>(x)\";\n",
        "void step(float* h, float* d, int n, hipStream_t s) {\n",
        "  for (int i = 0; i < 100; ++i) {\n",
        "    hipMemcpy(d, h, n * sizeof(float), hipMemcpyHostToDevice);\n",
        "    ops::gemm<float, 16><<<dim3(n / 256), dim3(256), 0, s>>>(d, d, d, n);\n",
        "    hipLaunchKernelGGL(HIP_KERNEL_NAME(relu), dim3(n / 256), dim3(256), 0, s, d, n);\n",
        "    hipDeviceSynchronize();\n",
        "  }\n",
        "  hipMemcpy(h, d, n * sizeof(float), hipMemcpyDeviceToHost);\n",
        "}\n",
    );
    std::fs::write(folder.path().join("step.hip"), tree).unwrap();
    let source = folder.path().to_str().unwrap();
    let report = ask(
        "agent.root",
        &json!({
            "database_path": planted.path(), "source_dir": source, "options": { "detail": "full" }
        }),
    );
    holds(&report, &json!({ "schema_version": "0.3.1", "features": ["source_locations", "tier0"] }));
    let places = |row: usize| -> Vec<String> {
        report["hotspots"][row]["source_locations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|place| {
                let text = |key: &str| place[key].as_str().unwrap().to_owned();
                format!("{}:{} {} {}", text("file"), place["line"], text("kind"), text("match"))
            })
            .collect()
    };
    assert_eq!(places(0), ["step.hip:5 definition base_name", "step.hip:15 launch base_name"]);
    assert_eq!(places(1), ["step.hip:10 definition exact", "step.hip:16 launch exact"]);
    let scan = &report["tier0_findings"];
    holds(
        scan,
        &json!({
            "files_scanned": 1, "programming_model": "HIP", "kernel_count": 2, "definition_count": 2,
            "launch_count": 2
        }),
    );
    assert_eq!(scan["profiling_plan"]["already_profiled"], true);
    assert_eq!(report["recommendations"].as_array().unwrap().len(), 3);
    assert_eq!(report["recommendations"][0]["merged_ids"], json!(["ROCPD-T0-MEMCPY-001"]));
    assert_eq!(report["recommendations"][1]["merged_ids"], json!(["ROCPD-T0-SYNC-001"]));

    let alone = ask("agent.root", &json!({ "source_dir": source, "options": { "detail": "full" } }));
    holds(
        &alone,
        &json!({
            "schema_version": "0.3.0", "features": ["tier0"], "primary_bottleneck": "data_insufficient",
            "bottleneck_detail": null, "confidence": 0.0, "time_breakdown": {}, "execution_breakdown": null,
            "hotspots": [], "gpus": []
        }),
    );
    let ids: Vec<&Value> =
        alone["recommendations"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["ROCPD-T0-MEMCPY-001", "ROCPD-T0-SYNC-001"]);
    assert_eq!(alone["recommendations"][0]["target"], "step.hip:14");
    assert!(
        alone["narrative"]
            .as_str()
            .unwrap()
            .starts_with("Source scan only: 1 file, 2 kernel definitions, 2 launches (HIP).")
    );
}

#[test]
fn a_thread_trace_lifts_the_tier() {
    let planted = scenario("we1").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/side/att/stats_run.csv");
    std::fs::copy(tables, folder.path().join("stats_run.csv")).unwrap();
    let asked = |folder: &str| {
        let options = json!({ "detail": "full", "att_dir": folder });
        ask("agent.root", &json!({ "database_path": planted.path(), "options": options }))
    };
    let report = asked(folder.path().to_str().unwrap());
    holds(&report, &json!({ "schema_version": "0.4.0", "features": ["att"] }));
    assert_eq!(report["profiling_info"]["analysis_tier"], 3);
    let kernel = &report["thread_trace"]["kernels"][0];
    holds(
        kernel,
        &json!({
            "name": "gemm", "slug": "gemm", "instruction_count": 4, "total_latency_cycles": 100000,
            "total_stall_cycles": 60000, "stall_pct": 60.0, "stall_category": "att_vmem_latency",
            "categories": {
                "att_vmem_latency": { "stall_cycles": 55000, "pct_of_latency": 55.0 },
                "att_lds_conflict": { "stall_cycles": 3000, "pct_of_latency": 3.0 },
                "att_dependency_chain": { "stall_cycles": 2000, "pct_of_latency": 2.0 }
            }
        }),
    );
    assert_eq!(kernel["top_stalling_instructions"][0]["stall_ratio"], 0.7);
    assert_eq!(report["thread_trace"]["summary"]["high_stall_kernels"], 1);
    assert_eq!(report["att_trace"], report["thread_trace"]);
    let traced = report["recommendations"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["id"] == "ROCPD-ATT-VMEM-001")
        .expect("the traced kernel is advised on");
    holds(traced, &json!({ "gain_bound_pct": 22.0, "priority": "HIGH", "target_kind": "kernel" }));
    let nothing = asked("/nowhere/at/all");
    holds(&nothing["thread_trace"], &json!({ "has_att_data": false, "reason": "it is not a folder" }));
    assert_eq!(nothing["profiling_info"]["analysis_tier"], 1);
}

#[test]
fn a_monitor_log_gets_its_section_and_a_bad_one_is_never_healthy() {
    let planted = scenario("we1").unwrap();
    let asked = |log: &str| {
        let options = json!({ "detail": "full", "gpu_monitor_log": log });
        ask("agent.root", &json!({ "database_path": planted.path(), "options": options }))
    };
    let report = asked("/nowhere/log.json");
    holds(&report["gpu_monitor"], &json!({ "verdict": "unknown", "samples": 0, "per_gpu": [] }));
    assert_eq!(report["features"], json!(["gpu_monitor"]));
}

#[test]
fn the_analysis_says_what_the_report_says_without_advice() {
    let planted = scenario("we1").unwrap();
    let answer =
        ask("agent.analysis", &json!({ "input": { "database_path": planted.path(), "top_kernels": 1 } }));
    assert_eq!(
        keys(&answer),
        [
            "primary_bottleneck",
            "confidence",
            "counter_data_available",
            "time_breakdown",
            "hot_kernels",
            "details"
        ]
    );
    holds(
        &answer,
        &json!({
            "primary_bottleneck": "memory_transfer", "confidence": 0.71, "counter_data_available": false,
            "time_breakdown": {
                "kernel_pct": 44.0, "memcpy_pct": 53.0, "api_pct": 2.8, "idle_pct": 0.2, "overlap_pct": 17.0,
                "communication_pct": 0.0, "window_ns": 1000000, "total_runtime_ns": 1000000,
                "kernel_sum_ns": 440000
            }
        }),
    );
    let kernel = &answer["hot_kernels"][0];
    holds(
        kernel,
        &json!({
            "handle": "k1", "calls": 2, "total_duration": 400000, "percent_of_total": 90.91,
            "pct_of_runtime": 40.0, "severity": "CRITICAL", "category": "GEMM", "kind": "user",
            "resources": {
                "vgpr": 128, "agpr": 0, "sgpr": 48, "lds_bytes": 8192, "scratch_bytes": 0,
                "workgroup": "256x1x1", "grid": "4096x1x1", "waves_per_simd": 4, "occ_frac": 0.5,
                "occ_limiter": "vgpr"
            },
            "metrics": { "grid_fill": 13.47 }
        }),
    );
    let details = &answer["details"];
    holds(
        details,
        &json!({
            "narrative": "Limited by memory_transfer (host_device_copy): copies with no kernel beside them take 53.0% of the 1.000 ms run, kernels 44.0%. The dominant kernel is `gemm<float, 16>` with 90.9% of kernel time in 2 calls. What limits `gemm<float, 16>` is not known, because the trace holds no hardware counters.",
            "hot_kernels_total": 2, "warnings": []
        }),
    );
    assert_eq!(details["verdict"]["coverage"], 1.0);
    assert_eq!(
        details["verdict"]["reasons"],
        json!(["Copies with no kernel beside them take 53.0% of the run"])
    );
    assert_eq!(details["missing"][0]["what"], "hardware_counters");
    holds(
        &details["trace"],
        &json!({ "gfx_id": "gfx942", "product": "AMD Instinct MI300X", "gpu_count": 1, "health": "ok" }),
    );
    let ids: Vec<&str> =
        details["evidence"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "m.api_pct",
            "m.idle_pct",
            "m.kernel_pct",
            "m.memcpy_pct",
            "m.percent_of_total@k1",
            "m.primary_bottleneck",
            "m.window_ns"
        ]
    );
    assert_eq!(details["run"]["agent"], "agent.analysis");
    let misplaced = json!({ "input": { "database_path": "x" }, "options": { "detail": "full" } });
    assert_eq!(refused("agent.analysis", &misplaced).details["field"], "options.detail");
}

#[test]
fn collectives_have_their_section_and_equal_those_of_their_tool() {
    let planted = scenario("communication").unwrap();
    let report = report(&planted, "full");
    let (section, tool) = (
        &report["communication"],
        ask("rccl_analysis.analyze_collectives", &json!({ "db_path": planted.path() })),
    );
    assert_eq!(report["schema_version"], "0.3.2");
    assert_eq!(report["features"], json!(["communication"]));
    assert_eq!(section["summary"]["op_count"], tool["summary"]["op_count"]);
    assert_eq!(section["summary"]["total_ns"], tool["summary"]["total_device_ns"]);
    assert_eq!(section["collectives"][0]["total_ns"], tool["collectives"][0]["total_ns"]);
    assert_eq!(section["summary"]["exposed_pct"], report["interval_timeline"]["exposed_communication_pct"]);
    assert!(full("we1").get("communication").is_none());
}

#[test]
fn redacted_reports_hold_no_folder() {
    let planted = scenario("we1").unwrap();
    let options = json!({ "detail": "full", "redact_paths": true });
    let report = ask("agent.root", &json!({ "database_path": planted.path(), "options": options }));
    let folder = planted.folder().to_str().unwrap();
    assert!(!report.to_string().contains(folder), "{folder} is in the report");
    assert_eq!(report["metadata"]["database_file"], "results.db");
    assert_eq!(report["memory_analysis"].as_object().unwrap().keys().next().unwrap(), "Host-to-Device");
}

#[test]
fn arguments_are_refused_with_what_to_do() {
    assert_eq!(refused("agent.root", &json!({})).details["field"], "database_path");
    let both = json!({ "database_path": "x", "options": {}, "analysis_options": {} });
    assert_eq!(refused("agent.root", &both).details["field"], "analysis_options");
    let two =
        json!({ "database_path": "x", "analysis_options": { "min_duration": 1, "min_duration_us": 1 } });
    assert_eq!(refused("agent.root", &two).details["field"], "options.min_duration");
    let unknown = json!({ "database_path": "x", "options": { "top_kernel": 3 } });
    assert_eq!(refused("agent.root", &unknown).details["did_you_mean"], "top_kernels");
    let missing = refused("agent.root", &json!({ "database_path": "/nowhere/x.db" }));
    assert_eq!(missing.kind.as_str(), "file_not_found");
}

#[test]
fn the_question_changes_sentences_only() {
    let planted = scenario("we1").unwrap();
    let asked = |hint: &str| {
        ask("agent.root", &json!({ "database_path": planted.path(), "options": { "intent_hint": hint } }))
    };
    let (plain, optimize) = (asked("analyze"), asked("optimize"));
    assert_eq!(plain["metadata"]["intent"], "analyze");
    assert!(
        optimize["narrative"]
            .as_str()
            .unwrap()
            .starts_with("First: Exposed copies take 53.0% of the run. Limited by")
    );
    assert_eq!(plain["time_breakdown"], optimize["time_breakdown"]);
}

#[test]
fn an_air_gap_answers_without_a_model_and_says_so() {
    let planted = scenario("we1").unwrap();
    let report = ask(
        "agent.root",
        &json!({ "database_path": planted.path(), "provider": "anthropic", "airgap": true }),
    );
    let run = &report["metadata"]["run"];
    holds(run, &json!({ "mode": "deterministic", "airgap": true, "requested_provider": "anthropic" }));
    assert_eq!(run["notices"][0]["code"], "airgap_overrides_provider");
}
