//! Real recordings, when they are at hand, against their hand-checked facts.
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

use perfxpert_trace::{
    Control, CounterSweep, CounterValue, Dispatch, OpenOptions, Region, Select, Sweep, Trace,
};
use serde_json::Value as Json;

fn folder() -> Option<PathBuf> {
    let found = std::env::var_os("PERFXPERT_REAL").map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .ancestors()
                .map(|dir| dir.join("shared/real/converted"))
                .find(|dir| dir.is_dir())
        },
        |path| Some(PathBuf::from(path).join("converted")),
    );
    if found.is_none() {
        eprintln!("SKIPPED: no real recordings here (set PERFXPERT_REAL)");
    }
    found
}

#[derive(Default)]
struct Seen {
    dispatches: Vec<Dispatch>,
    regions: Vec<Region>,
    counter_rows: u64,
}

impl Sweep for Seen {
    fn dispatch(&mut self, row: &Dispatch) {
        self.dispatches.push(*row);
    }
    fn region(&mut self, row: &Region) {
        self.regions.push(*row);
    }
}

impl CounterSweep for Seen {
    fn counters(&mut self, _dispatch: &Dispatch, values: &[CounterValue]) {
        self.counter_rows += values.iter().map(|value| u64::from(value.instances)).sum::<u64>();
    }
}

#[test]
fn real_recordings_have_the_facts_checked_by_hand() {
    let Some(folder) = folder() else { return };
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ext| ext != "db") {
            continue;
        }
        files += 1;
        let facts = std::fs::read_to_string(format!("{}.facts.json", path.display())).unwrap();
        let facts: Json = serde_json::from_str(&facts).unwrap();
        let trace = Trace::open(&[path], &OpenOptions::default()).unwrap();
        assert!(trace.health().items().is_empty(), "{:?}", trace.health());
        let (seen, report) = trace.sweep(Select::ALL, &Control::default(), Seen::default).unwrap();
        assert!(report.health.items().is_empty(), "{:?}", report.health);
        let kernels = &facts["kernels"];
        assert_eq!(seen.dispatches.len() as u64, kernels["dispatches"].as_u64().unwrap());
        assert_eq!(
            seen.dispatches.iter().map(|row| row.end - row.start).sum::<i64>(),
            kernels["total_ns"].as_i64().unwrap()
        );
        let mut by_name: BTreeMap<String, (u64, i64)> = BTreeMap::new();
        for row in &seen.dispatches {
            let entry = by_name.entry(trace.kernel(row.kernel).unwrap().name.to_string()).or_default();
            *entry = (entry.0 + 1, entry.1 + row.end - row.start);
        }
        assert_eq!(by_name.len() as u64, kernels["distinct_display_names"].as_u64().unwrap());
        for top in kernels["top5"].as_array().unwrap() {
            let wanted = (top["calls"].as_u64().unwrap(), top["total_ns"].as_i64().unwrap());
            assert_eq!(by_name[top["name"].as_str().unwrap()], wanted);
        }
        let counts = &facts["row_counts"];
        assert_eq!(seen.regions.len() as u64, counts["region"].as_u64().unwrap());
        assert_eq!(trace.processes().len(), facts["table_suffixes"].as_array().unwrap().len());
        for agent in facts["agents"].as_array().unwrap().iter().filter(|agent| agent["type"] == "GPU") {
            assert!(trace.agents().iter().any(|known| known.gfx_id.as_deref() == agent["name"].as_str()));
        }
        let (counted, report) = trace.counters(&Control::default(), Seen::default).unwrap();
        assert_eq!(counted.counter_rows, counts["pmc_event"].as_u64().unwrap());
        assert_eq!(report.rows.counter_values, counted.counter_rows);
    }
    assert!(files > 0);
}
