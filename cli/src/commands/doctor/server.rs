//! Checks that need the analysis server: its build, its tools, and an analysis whose result is known.

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::{Check, Status};
use crate::App;
use crate::catalogue::{Catalogue, Entry};
use crate::client::{Launch, Server};
use crate::commands::demo::Sample;
use crate::failure::Failure;

/// What the sample trace was made to show: its bottleneck and its kernels, longest first.
const KNOWN_BOTTLENECK: &str = "memory_transfer";
const KNOWN_KERNELS: [&str; 4] = ["bilateral_denoise", "tone_map", "demosaic", "pack_rgb8"];
/// Longest full name that model services accept, and what clients put in front.
const LONGEST_NAME: usize = 64;
const CLIENT_PREFIX: &str = "mcp__perfxpert__";
/// Size above which clients begin to cut the list, KB.
const LARGEST_LIST_KB: f64 = 60.0;

/// Build, server, tool list and self-test.
pub(super) fn all(app: &App) -> Vec<Check> {
    let launch = |folder| Launch { folder, ..Launch::default() };
    let sample = Sample::unpack();
    let folder = sample.as_ref().ok().map(|sample| sample.folder.path().to_path_buf());
    let server = match Server::start(app, &launch(folder)) {
        Ok(server) => server,
        Err(failure) => {
            let causes = failure.causes.join("; ");
            return vec![
                Check::new("build", Status::Fail, "build: unknown, the server does not run"),
                Check::new(
                    "mcp_server",
                    Status::Fail,
                    format!("MCP server not reachable: {}", failure.error.message),
                )
                .hint(if causes.is_empty() { failure.error.hint } else { causes }),
                Check::new("tool_list", Status::Fail, "tool list: none"),
                Check::new("self_test", Status::Fail, "self-test: not run"),
            ];
        }
    };
    let catalogue = Catalogue::read(&server);
    let registry = server.ask("perfxpert/registry", json!({})).ok().flatten().unwrap_or_default();
    let mut checks = vec![build(registry.pointer("/registry/build"))];
    match &catalogue {
        Ok(catalogue) => {
            let own = registry.pointer("/registry/tools").and_then(Value::as_array).map(Vec::len);
            checks.push(reachable(app, &server, catalogue, own));
            checks.push(listing(catalogue));
        }
        Err(failure) => {
            checks.push(Check::new("mcp_server", Status::Fail, failure.error.message.clone()));
            checks.push(Check::new("tool_list", Status::Fail, "tool list: none"));
        }
    }
    checks.push(self_test(app, &server, sample.as_ref().err()));
    checks
}

fn build(info: Option<&Value>) -> Check {
    let Some(info) = info else {
        let message = "build: unknown, the server is not this program's own";
        return Check::new("build", Status::Info, message);
    };
    let text = |key: &str| info.get(key).and_then(Value::as_str).unwrap_or("unknown").to_owned();
    let number = |key: &str| info.get(key).and_then(Value::as_u64).unwrap_or(0);
    let message =
        format!("build: SQLite {}, {} facts, {} GPUs known", text("sqlite"), number("facts"), number("gpus"));
    match info.get("problem").and_then(Value::as_str) {
        Some(problem) => {
            Check::new("build", Status::Fail, format!("build: the embedded facts do not load: {problem}"))
        }
        None => Check::ok("build", message),
    }
    .with(json!({ "sqlite": text("sqlite"), "facts": number("facts"), "gpus": number("gpus") }))
}

/// Milliseconds since a moment; 0 in a reproducible run.
fn milliseconds(app: &App, elapsed: std::time::Duration) -> u64 {
    if app.environment.get("SOURCE_DATE_EPOCH").is_some() {
        return 0;
    }
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn reachable(app: &App, server: &Server, catalogue: &Catalogue, own: Option<usize>) -> Check {
    let count = |kind: &str| catalogue.entries().iter().filter(|entry| entry.kind() == kind).count();
    let (agents, tools, diff) = (count("agent"), count("tool"), count("diff"));
    let all = catalogue.entries().len();
    let ms = milliseconds(app, server.startup);
    let message = format!(
        "MCP server reachable ({all} tools registered: {agents} agents + {tools} tools + {diff} diff, {ms} ms)"
    );
    let details =
        json!({ "tools": all, "agents": agents, "classifiers": tools, "diff": diff, "startup_ms": ms });
    let check = match own {
        Some(own) if own != all => Check::new("mcp_server", Status::Fail, message)
            .hint(format!("its registry holds {own} tools, but it lists {all}")),
        _ => Check::ok("mcp_server", message),
    };
    check.with(details)
}

fn listing(catalogue: &Catalogue) -> Check {
    let bytes: usize = catalogue.entries().iter().map(|entry| entry.raw.to_string().len() + 1).sum();
    let kb = bytes as f64 / 1000.0;
    let full = |entry: &Entry| CLIENT_PREFIX.len() + entry.wire_name().len();
    let longest = catalogue.entries().iter().map(full).max().unwrap_or(0);
    let message = format!("tool list: {kb:.1} KB, longest full name {longest} characters");
    let check = if kb > LARGEST_LIST_KB || longest > LONGEST_NAME {
        Check::new("tool_list", Status::Warn, message)
            .hint("some clients cut the list; narrow it with --tools")
    } else {
        Check::ok("tool_list", message)
    };
    check.with(json!({ "bytes": bytes, "longest_name": longest }))
}

fn self_test(app: &App, server: &Server, unpacked: Option<&Failure>) -> Check {
    if let Some(failure) = unpacked {
        return Check::new("self_test", Status::Fail, format!("self-test: {}", failure.error.message));
    }
    let mut arguments = Map::new();
    arguments.insert("database_path".to_owned(), json!("demo.db"));
    arguments.insert("airgap".to_owned(), json!(true));
    arguments.insert("options".to_owned(), json!({ "detail": "full" }));
    let began = Instant::now();
    let report = match server.call("agent.root", arguments, None, |_| {}) {
        Ok(answer) => answer.structured,
        Err(failure) => {
            return Check::new("self_test", Status::Fail, format!("self-test: {}", failure.error.message));
        }
    };
    let ms = milliseconds(app, began.elapsed());
    let bottleneck = report.get("primary_bottleneck").and_then(Value::as_str).unwrap_or("none");
    let rows = report.get("hotspots").and_then(Value::as_array).cloned().unwrap_or_default();
    let names: Vec<&str> = rows.iter().filter_map(|row| row.get("name").and_then(Value::as_str)).collect();
    let in_order = names.len() == KNOWN_KERNELS.len()
        && names.iter().zip(KNOWN_KERNELS).all(|(name, known)| name.contains(known));
    let check = if bottleneck == KNOWN_BOTTLENECK && in_order {
        Check::ok("self_test", format!("self-test: demo trace analysed in {ms} ms"))
    } else {
        let message = format!("self-test: the demo trace gives {bottleneck}, {}", names.join(", "));
        Check::new("self_test", Status::Fail, message)
            .hint(format!("it should give {KNOWN_BOTTLENECK}, {}", KNOWN_KERNELS.join(", ")))
    };
    check.with(json!({ "ms": ms, "primary_bottleneck": bottleneck }))
}
