//! From a trace to the page a person reads: the report of a small run, to the letter.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert::render::{Format, Layout, render};
use perfxpert_tool_registry::{Context, Registry};
use serde_json::{Value, json};

/// The page, written by hand from the run's events.
const PAGE: &str = include_str!("expected/two_kernels.txt");

fn report(folder: &std::path::Path) -> Value {
    let planted = perfxpert_fixtures::scenario("we1").unwrap();
    let path = folder.join("results_results.db");
    std::fs::copy(planted.path(), &path).unwrap();
    let tool = Registry::new().find("agent.root").unwrap();
    let arguments = json!({ "database_path": path, "options": { "detail": "full", "redact_paths": true } });
    let mut report = tool.call(&Context::detached(), arguments.as_object().cloned()).unwrap();
    report["metadata"]["analysis_timestamp"] = json!("2026-01-15T09:30:00Z");
    report
}

#[test]
fn the_text_report_of_two_kernels_between_copies() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(folder.path());
    let page = render(&report, Format::Text, Layout::default()).unwrap();
    for (line, (seen, wanted)) in page.lines().zip(PAGE.lines()).enumerate() {
        assert_eq!(seen, wanted, "line {}", line + 1);
    }
    assert_eq!(page, PAGE);
}

#[test]
fn every_format_renders_it_and_markdown_has_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let report = report(folder.path());
    for format in [Format::Text, Format::Json, Format::Markdown, Format::Webview] {
        assert!(render(&report, format, Layout::default()).unwrap().len() > 1000, "{format:?}");
    }
    let markdown = render(&report, Format::Markdown, Layout::default()).unwrap();
    for part in [
        "**Primary bottleneck:** memory_transfer (host_device_copy), confidence 71%",
        "**Database:** results\\_results.db  ",
        "| Memory Copies (exposed) | 0.530 | 53.0% |",
        "| 1 | `gemm<float, 16>` | 2 | 0.400 | 200.0 | 90.9% | CRITICAL |",
    ] {
        assert!(markdown.contains(part), "{part} is not in\n{markdown}");
    }
}
