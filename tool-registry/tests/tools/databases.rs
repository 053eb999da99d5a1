//! Rules that hold for every tool that reads a trace: what it refuses, and how long its answer may be.

use std::path::Path;

use perfxpert_fixtures::{TraceFile, scenario};
use serde_json::{Value, json};

use crate::ask::{ask, call, refused};

/// Tools that read one trace, with the argument that names it and the totals that clients showing only the beginning of
/// an answer must still see.
const READERS: [(&str, &str, &[&str]); 3] = [
    (
        "dependency_graph.reconstruct_dag",
        "db_path",
        &["critical_path_ns", "total_bubble_ns", "bubbles_total", "node_count", "order_conflicts"],
    ),
    (
        "kernel_fusion.find_fusion_candidates",
        "db_path",
        &["total", "returned", "truncated", "program_saving_hi_ns"],
    ),
    (
        "unified_memory.analyze_paging",
        "db_path",
        &["paging_events", "page_faults", "host_to_device", "device_to_host"],
    ),
];

/// Tools that read one trace, and need more of it than kernels and copies.
const PARTICULAR: [(&str, &str); 1] = [("rccl_analysis.analyze_collectives", "db_path")];

/// Path of a built trace as an argument.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// Asks a tool about a trace with further arguments.
pub(crate) fn about(tool: &str, file: &TraceFile, more: &Value) -> Value {
    ask(tool, &with_path(&text(file.path()), more))
}

/// `more` with the path in front.
pub(crate) fn with_path(path: &str, more: &Value) -> Value {
    let mut arguments = more.as_object().expect("an object").clone();
    arguments.insert("db_path".to_owned(), json!(path));
    Value::Object(arguments)
}

fn beside(path: &Path) -> Vec<(String, u64)> {
    let mut names: Vec<(String, u64)> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().len()))
        .collect();
    names.sort();
    names
}

#[test]
fn unusable_inputs_are_refused_by_kind_and_left_alone() {
    let readers = READERS.into_iter().map(|(tool, field, _)| (tool, field));
    for (tool, field) in readers.chain(PARTICULAR) {
        let missing = refused(tool, &json!({ field: "/nowhere/run.db" }));
        assert_eq!(
            (missing.kind.as_str(), missing.details["field"].as_str()),
            ("file_not_found", Some(field))
        );
        for (name, kind) in [("text_file", "not_a_database"), ("foreign_sqlite", "not_rocpd")] {
            let planted = scenario(name).unwrap();
            let before = beside(planted.folder());
            assert_eq!(refused(tool, &json!({ field: text(planted.path()) })).kind.as_str(), kind, "{tool}");
            assert_eq!(beside(planted.folder()), before, "{tool} changed something beside {name}");
        }
        let empty = scenario("empty").unwrap();
        assert_eq!(
            refused(tool, &json!({ field: text(empty.path()) })).kind.as_str(),
            "empty_trace",
            "{tool}"
        );
    }
}

#[test]
fn a_cut_file_gives_a_bounded_answer_that_says_so_or_is_refused() {
    let cut = scenario("damaged_half").unwrap();
    for (tool, field, _) in READERS {
        match call(tool, &json!({ field: text(cut.path()) })) {
            Ok(answer) => {
                let items = answer["trace_health"]["items"].as_array().unwrap();
                assert!(items.iter().any(|item| item["severity"] == "data_loss"), "{tool}: {items:?}");
            }
            Err(error) => assert_eq!(error.kind.as_str(), "unreadable", "{tool}"),
        }
    }
}

#[test]
fn answers_stay_short_with_thousands_of_long_names() {
    let planted = scenario("many_names").unwrap();
    for (tool, field) in PARTICULAR {
        let error = refused(tool, &json!({ field: text(planted.path()) }));
        assert_eq!(error.kind.as_str(), "no_evidence", "{tool}");
    }
    for (tool, field, totals) in READERS {
        let answer = ask(tool, &json!({ field: text(planted.path()) }));
        let whole = serde_json::to_string(&answer).unwrap();
        let begin: String = whole.chars().take(1_500).collect();
        for key in totals {
            assert!(begin.contains(&format!("\"{key}\":")), "{tool}: {key} comes late in {begin}");
        }
        let length = whole.chars().count();
        assert!(length <= 12_000, "{tool}: {length} characters");
        assert!(answer["trace_health"]["items"].as_array().unwrap().len() <= 5, "{tool}");
        assert_eq!(
            answer,
            ask(tool, &json!({ field: text(planted.path()) })),
            "{tool} differs when asked twice"
        );
    }
}
