//! Python clients: our own package, and the MCP SDKs where they are installed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::process::Command;

use perfxpert_tests::process::programs;
use perfxpert_tests::workspace;
use perfxpert_tool_registry::Registry;

/// Runs a script; variables of the surroundings that could change an answer are taken away.
fn run(python: &str, script: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(python);
    for (name, _) in std::env::vars() {
        if name.starts_with("PERFXPERT_") || name.ends_with("_API_KEY") {
            command.env_remove(name);
        }
    }
    let output = command
        .arg(workspace().join("tests/scripts").join(script))
        .args(arguments)
        .env("PERFXPERT_PROGRAM", programs().join("perfxpert"))
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script} failed:\n{out}\n{err}");
    out.into_owned()
}

fn python3() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: python3 is not installed");
    }
    found
}

#[test]
fn our_package_serves_a_program() {
    if !python3() {
        return;
    }
    let trace = perfxpert_fixtures::scenario("transfer_bound").unwrap();
    let package = workspace().join("cli/python");
    let said =
        run("python3", "python_package.py", &[package.to_str().unwrap(), trace.path().to_str().unwrap()]);
    assert!(said.contains(&format!("{} functions, memory_transfer", Registry::new().len())), "{said}");
}

#[test]
fn the_mcp_sdks_list_and_call_in_every_mode() {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let venv = std::env::var_os("PERFXPERT_TEST_VENV")
        .map_or_else(|| home.join(".cache/perfxpert-tests/venv"), PathBuf::from);
    let python = venv.join("bin/python");
    let installed = Command::new(&python).args(["-c", "import mcp, fastmcp"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: the packages mcp and fastmcp are not installed in {}", venv.display());
        return;
    }
    let trace = perfxpert_fixtures::scenario("transfer_bound").unwrap();
    let program = programs().join("perfxpert");
    let said = run(
        python.to_str().unwrap(),
        "mcp_sdk.py",
        &[program.to_str().unwrap(), trace.path().to_str().unwrap()],
    );
    let tools = Registry::new().len();
    for client in ["mcp auto", "mcp legacy", "mcp 2026-07-28", "fastmcp"] {
        assert!(said.contains(&format!("{client} {tools} memory_transfer")), "{client}: {said}");
    }
}
