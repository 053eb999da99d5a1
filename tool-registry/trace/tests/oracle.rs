//! Reads generated databases and compares every sum with the generator's own accounts.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use perfxpert_trace::{
    Allocation, Control, CounterSweep, CounterValue, Dispatch, Family, Marker, MemoryCopy, OpenOptions,
    ProcessIdx, Region, Select, Sweep, Trace,
};
use serde_json::Value as Json;

/// The generator, when this checkout has it.
fn generator() -> Option<PathBuf> {
    let path = std::env::var_os("PERFXPERT_GEN_ROCPD").map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .ancestors()
                .map(|dir| dir.join("shared/tools/gen_rocpd.py"))
                .find(|path| path.exists())
        },
        |path| Some(PathBuf::from(path)),
    );
    if path.is_none() {
        eprintln!("SKIPPED: gen_rocpd.py is not here (set PERFXPERT_GEN_ROCPD)");
    }
    path
}

/// Everything the generator keeps account of, as the reader delivers it.
#[derive(Default)]
struct Seen {
    dispatches: Vec<Dispatch>,
    copies: Vec<MemoryCopy>,
    regions: Vec<Region>,
    instants: Vec<Region>,
    markers: Vec<Marker>,
    allocations: Vec<Allocation>,
    last: i64,
}

impl Seen {
    fn in_order(&mut self, start: i64) {
        assert!(start >= self.last, "{start} after {}", self.last);
        self.last = start;
    }
}

impl Sweep for Seen {
    fn dispatch(&mut self, row: &Dispatch) {
        self.in_order(row.start);
        self.dispatches.push(*row);
    }
    fn copy(&mut self, row: &MemoryCopy) {
        self.in_order(row.start);
        self.copies.push(*row);
    }
    fn region(&mut self, row: &Region) {
        self.in_order(row.start);
        self.regions.push(*row);
    }
    fn instant(&mut self, row: &Region) {
        self.in_order(row.start);
        self.instants.push(*row);
    }
    fn marker(&mut self, row: &Marker) {
        self.in_order(row.start);
        self.markers.push(*row);
    }
    fn allocation(&mut self, row: &Allocation) {
        self.in_order(row.start);
        self.allocations.push(*row);
    }
}

#[derive(Default)]
struct Counted(BTreeMap<(String, String), f64>, BTreeMap<String, f64>);

struct CounterTest<'t>(&'t Trace, Counted);

impl CounterSweep for CounterTest<'_> {
    fn counters(&mut self, dispatch: &Dispatch, values: &[CounterValue]) {
        let kernel = self.0.kernel(dispatch.kernel).unwrap();
        for value in values {
            let name = self.0.counter(value.counter).unwrap().name.to_string();
            *self.1.0.entry((kernel.name.to_string(), name.clone())).or_default() += value.sum;
            *self.1.1.entry(name).or_default() += value.sum;
        }
    }
}

fn int(json: &Json) -> i64 {
    json.as_i64().unwrap_or(0)
}

fn spelled(name: &str) -> String {
    match name {
        "<NULL>" | "" => "<unnamed kernel>".into(),
        _ => name
            .strip_prefix("<no symbol ")
            .map_or_else(|| name.trim().to_owned(), |id| format!("<unknown kernel {id}")),
    }
}

fn check(arguments: &[&str]) {
    let Some(generator) = generator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (db, expect) = (folder.path().join("t.db"), folder.path().join("t.json"));
    let made = Command::new("python3")
        .arg(generator)
        .args(arguments)
        .arg("-o")
        .arg(&db)
        .arg("--expect")
        .arg(&expect)
        .output();
    let Ok(made) = made else {
        eprintln!("SKIPPED: python3 is not here");
        return;
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let expected: Json = serde_json::from_str(&std::fs::read_to_string(&expect).unwrap()).unwrap();
    let trace = Trace::open(&[folder.path().to_path_buf()], &OpenOptions::default()).unwrap();
    let (seen, report) = trace.sweep(Select::ALL, &Control::default(), Seen::default).unwrap();
    let processes = expected["processes"].as_array().unwrap();
    assert_eq!(trace.processes().len(), processes.len());
    for process in processes {
        let index = trace.processes().iter().position(|p| process["guid"] == p.guid.as_str()).unwrap();
        compare(&trace, ProcessIdx(index as u32), &seen, process, arguments);
    }
    let sum = |part: &str, of: &str| processes.iter().map(|p| int(&p[part][of])).sum::<i64>();
    assert_eq!(report.rows.dispatches as i64, sum("kernels", "rows_valid"));
    let bad = |id: &str| report.health.get(id).map_or(0, |item| item.count);
    let put_aside = bad("reversed_interval") + bad("zero_timestamp") + bad("absurd_duration");
    assert_eq!(report.rows.left_out, put_aside);
    let all = seen.dispatches.len()
        + seen.copies.len()
        + seen.regions.len()
        + seen.instants.len()
        + seen.markers.len();
    let tables = ["kernel_dispatch", "memory_copy", "region", "sample", "memory_allocate"];
    assert_eq!(
        (all + seen.allocations.len()) as i64 + put_aside as i64,
        tables.iter().map(|table| sum("rows", table)).sum::<i64>()
    );
    if arguments.contains(&"--counters") {
        let (counted, report) =
            trace.counters(&Control::default(), || CounterTest(&trace, Counted::default())).unwrap();
        let mut rows = 0;
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        let mut kernels: BTreeMap<(String, String), f64> = BTreeMap::new();
        for process in processes {
            for (name, counter) in process["counters"].as_object().unwrap() {
                rows += counter["rows"].as_u64().unwrap();
                *sums.entry(name.clone()).or_default() += counter["sum"].as_f64().unwrap();
            }
            for (kernel, values) in process["counters_by_kernel"].as_object().unwrap() {
                for (name, value) in values.as_object().unwrap() {
                    *kernels.entry((kernel.clone(), name.clone())).or_default() += value.as_f64().unwrap();
                }
            }
        }
        assert_eq!(report.rows.counter_values, rows);
        assert_eq!(counted.1.1, sums);
        assert_eq!(counted.1.0, kernels);
    }
}

fn compare(trace: &Trace, process: ProcessIdx, seen: &Seen, expected: &Json, arguments: &[&str]) {
    let name = |index| trace.name(index).unwrap();
    let mut kernels: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in seen.dispatches.iter().filter(|row| row.process == process) {
        let entry = kernels.entry(trace.kernel(row.kernel).unwrap().name.to_string()).or_default();
        *entry = (entry.0 + 1, entry.1 + row.end - row.start);
    }
    let mut wanted: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (name, stats) in expected["kernels"]["by_name"].as_object().unwrap() {
        if stats["valid"].is_object() {
            let entry = wanted.entry(spelled(name)).or_default();
            *entry = (entry.0 + int(&stats["valid"]["calls"]), entry.1 + int(&stats["valid"]["total_ns"]));
        }
    }
    assert_eq!(kernels, wanted, "{arguments:?}");

    let mut directions: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for row in seen.copies.iter().filter(|row| row.process == process) {
        let key = match row.direction.label() {
            "Host-to-Device" => "MEMORY_COPY_HOST_TO_DEVICE",
            "Device-to-Host" => "MEMORY_COPY_DEVICE_TO_HOST",
            "Device-to-Device" | "Peer" => "MEMORY_COPY_DEVICE_TO_DEVICE",
            other => panic!("{other}"),
        };
        let entry = directions.entry(key).or_default();
        *entry = (entry.0 + 1, entry.1 + row.bytes as i64);
    }
    if expected["copies"]["rows_invalid"] == 0 {
        let wanted: BTreeMap<&str, (i64, i64)> = expected["copies"]["by_direction"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, stats)| (name.as_str(), (int(&stats["count"]), int(&stats["bytes"]))))
            .collect();
        assert_eq!(directions, wanted, "{arguments:?}");
    }

    let odd = expected["notes"].get("regions_hidden_from_view").is_some();
    if !odd {
        let mut calls: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for row in seen.regions.iter().filter(|row| row.process == process) {
            let entry = calls.entry(name(row.name).text.to_string()).or_default();
            *entry = (entry.0 + 1, entry.1 + row.end - row.start);
        }
        let mut wanted: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for (call, stats) in expected["api"]["by_name"].as_object().unwrap() {
            let marker = stats["category"].as_str().unwrap().contains("MARKER");
            if !marker && int(&stats["min_ns"]) >= 0 {
                wanted.insert(call.clone(), (int(&stats["calls"]), int(&stats["total_ns"])));
            } else if !marker {
                calls.remove(call);
            }
        }
        assert_eq!(calls, wanted, "{arguments:?}");
        assert!(seen.regions.iter().all(|row| name(row.name).family != Family::Other));
    }

    let mut messages: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in seen.markers.iter().filter(|row| row.process == process) {
        // Profiler control calls have no text of their own and go by their operation's name.
        if expected["api"]["by_name"].get(&*name(row.message).text).is_some() {
            continue;
        }
        let entry = messages.entry(name(row.message).text.to_string()).or_default();
        *entry = (entry.0 + 1, entry.1 + row.end - row.start);
    }
    let wanted: BTreeMap<String, (i64, i64)> = expected["markers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(message, stats)| (message.clone(), (int(&stats["calls"]), int(&stats["total_ns"]))))
        .collect();
    assert_eq!(messages, wanted, "{arguments:?}");

    let instants = seen.instants.iter().filter(|row| row.process == process).count() as i64;
    let marks =
        seen.markers.iter().filter(|row| row.process == process && row.start == row.end).count() as i64;
    let samples: i64 = expected["samples_by_category"].as_object().unwrap().values().map(int).sum();
    assert_eq!(instants + marks, samples, "{arguments:?}");

    let calls: BTreeMap<i64, i64> =
        seen.regions.iter().filter(|row| row.process == process).map(|row| (row.call, row.start)).collect();
    let linked: Vec<i64> = seen
        .dispatches
        .iter()
        .filter(|row| row.process == process && row.call != 0)
        .filter_map(|row| calls.get(&row.call).map(|start| row.start - start))
        .collect();
    if expected["kernels"]["rows_valid"] == expected["rows"]["kernel_dispatch"] && !odd {
        assert_eq!(linked.len() as i64, int(&expected["launch"]["linked"]), "{arguments:?}");
        assert_eq!(
            linked.iter().sum::<i64>(),
            int(&expected["launch"]["start_minus_api_start_total_ns"]),
            "{arguments:?}"
        );
    }

    let mut kinds: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in seen.allocations.iter().filter(|row| row.process == process) {
        let key = format!("{:?}/{:?}", row.level, row.kind).to_uppercase();
        let entry = kinds.entry(key).or_default();
        *entry = (entry.0 + 1, entry.1 + row.bytes as i64);
    }
    let wanted: BTreeMap<String, (i64, i64)> = expected["allocations"]["by_kind"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(kind, stats)| (kind.clone(), (int(&stats["count"]), int(&stats["bytes"]))))
        .collect();
    assert_eq!(kinds, wanted, "{arguments:?}");

    let mut gpus: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in seen.dispatches.iter().filter(|row| row.process == process) {
        let agent = trace.agent(row.agent).unwrap();
        let entry = gpus.entry(agent.absolute_index.to_string()).or_default();
        *entry = (entry.0 + 1, entry.1 + row.end - row.start);
    }
    for (gpu, stats) in expected["gpus"].as_object().unwrap() {
        let got = gpus.get(gpu).copied().unwrap_or_default();
        assert_eq!(got, (int(&stats["kernels"]), int(&stats["kernel_sum_ns"])), "{arguments:?} gpu {gpu}");
    }
    for agent in expected["agents"].as_array().unwrap().iter().filter(|agent| agent["type"] == "GPU") {
        let index = int(&agent["abs_index"]);
        let found = trace
            .agents()
            .iter()
            .find(|a| a.absolute_index == index && a.processes.contains(&process))
            .unwrap();
        assert_eq!(found.gfx_id.as_deref(), agent["name"].as_str());
        assert_eq!(found.product_name.as_deref(), agent["product_name"].as_str());
        assert_eq!(found.properties.cu_count.map(i64::from), agent["cu_count"].as_i64());
    }
}

#[test]
fn every_scenario_of_schema_3() {
    for scenario in [
        "compute_bound",
        "latency_bound",
        "transfer_bound",
        "idle",
        "healthy",
        "mixed",
        "multi_stream",
        "multi_gpu",
        "fusion",
        "graph",
        "empty",
        "bare",
        "unicode",
        "bad_times",
        "bad_times_overflow",
        "missing_refs",
        "roctx",
        "rccl",
        "multi_uuid",
        "multi_rank",
    ] {
        check(&[scenario]);
    }
}

#[test]
fn the_same_rows_in_every_schema_and_with_any_views() {
    for extra in [
        &["--schema", "3.0.2"][..],
        &["--schema", "4.1.0"],
        &["--views", "none"],
        &["--views", "old"],
        &["--wal"],
    ] {
        for scenario in ["mixed", "roctx", "graph", "multi_gpu"] {
            check(&[&[scenario], extra].concat());
        }
    }
}

#[test]
fn counters_are_summed_over_instances() {
    check(&["compute_bound", "--counters", "--per-xcd", "--scale", "400"]);
    check(&["compute_bound", "--counters", "--schema", "4.1.0", "--scale", "400"]);
    check(&["multi_uuid", "--counters", "--per-xcd"]);
}

#[test]
fn many_names_stay_apart() {
    check(&["many_names", "--scale", "3000"]);
}

#[test]
fn renamed_dispatches_carry_their_label() {
    let Some(generator) = generator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("t.db");
    let arguments = ["roctx", "--kernel-rename", "-o"];
    let Ok(made) = Command::new("python3").arg(generator).args(arguments).arg(&db).output() else { return };
    assert!(made.status.success());
    let sql = rusqlite::Connection::open(&db).unwrap();
    let wanted: i64 =
        sql.query_row("SELECT COUNT(*) FROM kernels WHERE region <> ''", [], |row| row.get(0)).unwrap();
    let trace = Trace::open(&[db], &OpenOptions::default()).unwrap();
    let (seen, _) = trace.sweep(Select::GPU, &Control::default(), Seen::default).unwrap();
    assert!(wanted > 0);
    assert_eq!(seen.dispatches.iter().filter(|row| row.label.is_some()).count() as i64, wanted);
}

#[test]
fn arguments_are_those_of_the_calls_asked_for() {
    let Some(generator) = generator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("t.db");
    let Ok(made) = Command::new("python3").arg(generator).args(["mixed", "-o"]).arg(&db).output() else {
        return;
    };
    assert!(made.status.success());
    let trace = Trace::open(std::slice::from_ref(&db), &OpenOptions::default()).unwrap();
    let (seen, _) = trace.sweep(Select::ALL, &Control::default(), Seen::default).unwrap();
    let calls: Vec<(ProcessIdx, i64)> = seen
        .regions
        .iter()
        .filter(|row| &*trace.name(row.name).unwrap().text == "hipMemcpy")
        .map(|row| (row.process, row.event))
        .collect();
    let found = trace.arguments(&calls, &Control::default()).unwrap();
    let sql = rusqlite::Connection::open(&db).unwrap();
    let mut statement = sql
        .prepare(
            "SELECT a.event_id, a.position, a.name, a.value FROM rocpd_arg a JOIN rocpd_region r ON r.event_id = a.event_id
             JOIN rocpd_string s ON s.id = r.name_id WHERE s.string = 'hipMemcpy' ORDER BY 1, 2",
        )
        .unwrap();
    let wanted: Vec<(i64, i64, String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(!wanted.is_empty());
    let found: Vec<_> = found.into_iter().map(|arg| (arg.event, arg.position, arg.name, arg.value)).collect();
    assert_eq!(found, wanted);
}
