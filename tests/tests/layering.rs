//! Dependencies point one way: each crate may use only what the design lets it, and outside crates have one owner.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use perfxpert_tests::{files, workspace};
use serde_json::Value;

/// What each crate of ours may depend on outside its tests.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("perfxpert-schemas", &[]),
    ("perfxpert-knowledge", &[]),
    ("perfxpert-trace", &[]),
    ("perfxpert-source", &[]),
    ("perfxpert-fixtures", &[]),
    ("perfxpert-analysis", &["perfxpert-trace", "perfxpert-knowledge", "perfxpert-source"]),
    ("perfxpert-agent", &["perfxpert-schemas"]),
    (
        "perfxpert-tool-registry",
        &[
            "perfxpert-schemas",
            "perfxpert-knowledge",
            "perfxpert-trace",
            "perfxpert-source",
            "perfxpert-analysis",
            "perfxpert-agent",
        ],
    ),
    ("perfxpert-server", &["perfxpert-tool-registry", "perfxpert-schemas"]),
    ("perfxpert", &["perfxpert-schemas", "perfxpert-agent", "perfxpert-knowledge", "perfxpert-server"]),
    ("perfxpert-tests", &["*"]),
];

/// Outside crates that only their owners may use outside tests.
const OWNERS: [(&str, &[&str]); 9] = [
    ("rusqlite", &["perfxpert-trace", "perfxpert-fixtures"]),
    ("serde_yaml_ng", &["perfxpert-knowledge", "perfxpert", "perfxpert-agent"]),
    ("tree-sitter", &["perfxpert-source"]),
    ("tree-sitter-cuda", &["perfxpert-source"]),
    ("ignore", &["perfxpert-source"]),
    ("reqwest", &["perfxpert-agent"]),
    ("rmcp", &["perfxpert-server", "perfxpert"]),
    ("clap", &["perfxpert", "perfxpert-fixtures"]),
    ("ratatui", &["perfxpert"]),
];

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(workspace())
        .output()
        .expect("cargo metadata runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    metadata["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| {
            let uses = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|dependency| dependency["kind"].is_null())
                .map(|dependency| dependency["name"].as_str().expect("name").to_owned())
                .collect();
            (package["name"].as_str().expect("name").to_owned(), uses)
        })
        .collect()
}

/// Forbidden arrows of a dependency table.
fn violations(table: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (package, uses) in table {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| name == package) else {
            found.push(format!("{package} has no place in the design"));
            continue;
        };
        for used in uses {
            let ours = used == "perfxpert" || used.starts_with("perfxpert-");
            if ours && !allowed.contains(&"*") && !allowed.contains(&used.as_str()) {
                found.push(format!("{package} must not depend on {used}"));
            }
            if let Some((_, owners)) = OWNERS.iter().find(|(name, _)| name == used)
                && !owners.contains(&package.as_str())
            {
                found.push(format!("{package} must not use {used}"));
            }
        }
    }
    found
}

#[test]
fn dependencies_point_one_way() {
    let table = dependencies();
    // Control: the table was really read.
    assert!(table["perfxpert-analysis"].contains("perfxpert-trace"), "the dependency table was not read");
    assert_eq!(table.len(), ALLOWED.len());
    assert_eq!(violations(&table), Vec::<String>::new());
}

#[test]
fn a_forbidden_arrow_is_found() {
    let mut table = dependencies();
    table.get_mut("perfxpert-trace").unwrap().insert("perfxpert-schemas".to_owned());
    table.get_mut("perfxpert-analysis").unwrap().insert("rusqlite".to_owned());
    let found = violations(&table);
    assert_eq!(
        found,
        ["perfxpert-analysis must not use rusqlite", "perfxpert-trace must not depend on perfxpert-schemas"]
    );
}

#[test]
fn only_the_binaries_of_the_command_line_name_the_server() {
    let library = workspace().join("cli/src");
    let mut seen = 0;
    for file in files(&library, &[".rs"]) {
        seen += 1;
        let text = std::fs::read_to_string(&file).unwrap();
        if !file.starts_with(library.join("bin")) {
            assert!(!text.contains("perfxpert_server"), "{} names the server", file.display());
        }
    }
    assert!(seen > 10, "the sources were not read");
    let binary = std::fs::read_to_string(library.join("bin/perfxpert.rs")).unwrap();
    assert!(binary.contains("perfxpert_server"), "control: the binary names the server");
}

#[test]
fn the_top_level_is_what_the_design_fixes() {
    let allowed = [
        "Cargo.toml",
        "Cargo.lock",
        "LICENSE",
        "README.md",
        "clippy.toml",
        "cli",
        "deny.toml",
        "docs",
        "fixtures",
        "knowledge",
        "rust-toolchain.toml",
        "rustfmt.toml",
        "schemas",
        "server",
        "target",
        "tests",
        "tool-registry",
    ];
    for entry in std::fs::read_dir(workspace()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(
            name.starts_with('.') || allowed.contains(&name.as_str()),
            "{name} does not belong at the top level"
        );
    }
}
