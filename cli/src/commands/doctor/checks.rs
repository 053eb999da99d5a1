//! Checks of files, variables and programs on this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Check, Status};
use crate::App;
use crate::commands::providers::rows;
use crate::environment::table::{self, DEPRECATED, Standing};
use crate::mcp_clients::json_file::JsonFile;
use crate::mcp_clients::{CLIENTS, Client, Scope, home, launcher_of, toml_file};
use crate::settings::{self, Settings};
use crate::{discovery, program, text};

/// Where ROCm installs its programs and libraries.
const ROCM_PROGRAMS: [&str; 1] = ["/opt/rocm/bin"];
const ROCM_LIBRARIES: &str = "/opt/rocm/lib";
/// How long a program may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

pub(super) fn version() -> Check {
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let commit = option_env!("PERFXPERT_COMMIT").unwrap_or("unknown commit");
    let version = env!("CARGO_PKG_VERSION");
    Check::ok("version", format!("perfxpert {version} ({target}, {commit})"))
        .with(json!({ "version": version, "target": target, "commit": commit }))
}

pub(super) fn config(app: &App) -> Check {
    let path = settings::place(app).map(|place| place.path);
    let details = json!({ "path": path });
    match (Settings::read(app), path.filter(|path| path.exists())) {
        (Err(failure), _) => {
            Check::new("config", Status::Fail, format!("configuration: {}", failure.error.message))
                .hint(failure.error.hint)
        }
        (Ok(_), Some(path)) => Check::ok("config", format!("configuration: {}", path.display())),
        (Ok(_), None) => Check::ok("config", "configuration: none (defaults)"),
    }
    .with(details)
}

pub(super) fn task_store(app: &App) -> Check {
    let named = app.environment.get("PERFXPERT_TASK_ROOT").map(PathBuf::from);
    let Some(path) = named.or_else(|| home(&app.environment).ok().map(|home| home.join(".perfxpert"))) else {
        return Check::new("task_store", Status::Info, "task store: none, there is no home folder");
    };
    let shown = path.display().to_string();
    let details = json!({ "path": shown, "exists": path.exists() });
    match std::fs::metadata(&path) {
        Err(_) => Check::ok("task_store", format!("task store: {shown} (not created yet)")),
        Ok(metadata) if metadata.is_dir() && !metadata.permissions().readonly() => {
            Check::ok("task_store", format!("task store: {shown}"))
        }
        Ok(_) => {
            Check::new("task_store", Status::Fail, format!("task store: {shown} is not a writable folder"))
                .hint("remove it, or set PERFXPERT_TASK_ROOT")
        }
    }
    .with(details)
}

pub(super) fn providers(app: &App, online: bool) -> Check {
    let settings = Settings::read(app).unwrap_or_else(|_| Settings::of_variables());
    let airgap = settings.airgap(&app.environment, false).is_some();
    let online = online && !airgap;
    let rows = rows(app, &settings, online);
    let names = |configured: bool| -> Vec<&str> {
        rows.iter()
            .filter(|row| row.status.configured == configured)
            .map(|row| row.status.name.as_str())
            .collect()
    };
    let (set, missing) = (names(true), names(false));
    let reachable: serde_json::Map<String, Value> = rows
        .iter()
        .filter_map(|row| Some((row.status.name.as_str().to_owned(), json!(row.reachable?))))
        .collect();
    let lost: Vec<&str> =
        rows.iter().filter(|row| row.reachable == Some(false)).map(|row| row.status.name.as_str()).collect();
    let shown = if set.is_empty() { String::new() } else { format!(" ({})", set.join(", ")) };
    let mut message = format!("{}/{} LLM providers configured{shown}", set.len(), rows.len());
    if !missing.is_empty() {
        message.push_str(&format!("\n  missing: {}", missing.join(", ")));
    }
    let details = json!({
        "configured": set, "missing": missing,
        "reachable": if online { Value::Object(reachable) } else { Value::Null },
    });
    let check = if !lost.is_empty() {
        Check::new("providers", Status::Warn, message).hint(format!("unreachable: {}", lost.join(", ")))
    } else if set.is_empty() && !airgap {
        Check::new("providers", Status::Warn, message).hint("analysis works without one")
    } else {
        Check::ok("providers", message)
    };
    check.with(details)
}

pub(super) fn opencode(app: &App) -> Check {
    let named = app.environment.get("PERFXPERT_OPENCODE_PATH").map(PathBuf::from);
    let found = named.filter(|path| program::is_executable(path)).or_else(|| {
        app.environment
            .get("PERFXPERT_OPENCODE_PATH")
            .is_none()
            .then(|| program::find("opencode", &app.environment, &[]))?
    });
    match found {
        Some(path) => {
            let version = version_of(&path);
            Check::ok(
                "opencode",
                format!("opencode: {} {}", path.display(), version.as_deref().unwrap_or("?")),
            )
            .with(json!({ "path": path, "version": version }))
        }
        None => Check::new("opencode", Status::Warn, "opencode: not found")
            .hint("only needed for --llm opencode")
            .with(json!({ "path": null, "version": null })),
    }
}

/// The first word with a digit and a dot in what the program says of its version.
fn version_of(path: &Path) -> Option<String> {
    let said = program::output(path, &["--version"], VERSION_LIMIT)?;
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit() || c == 'v');
    said.split_whitespace().find(is_version).map(|word| text::escape_line(word.trim_end_matches(',')))
}

pub(super) fn mode(app: &App) -> Check {
    let why = match Settings::read(app) {
        Ok(settings) => settings.airgap(&app.environment, false),
        Err(_) => Some("the configuration file cannot be read"),
    };
    let message = match why {
        Some(why) => format!("Mode: air-gapped ({why})"),
        None => "Mode: deterministic, LLM on request".to_owned(),
    };
    Check::ok("mode", message).with(json!({ "airgap": why.is_some(), "airgap_source": why }))
}

pub(super) fn environment(app: &App) -> Check {
    let mut faults = Vec::new();
    let mut unknown = Vec::new();
    let mut remarks = Vec::new();
    let mut count = 0_usize;
    for name in app.environment.names().filter(|name| name.starts_with("PERFXPERT_")) {
        count += 1;
        match table::standing(name) {
            Standing::Known(holds) => {
                let value = app.environment.get(name).unwrap_or_default();
                faults.extend(table::fault(holds, value).map(|fault| format!("{name}: {fault}")));
            }
            Standing::OfCode => {}
            Standing::OfInstaller => remarks.push(format!("{name} has no effect here")),
            Standing::Unknown => {
                let near = text::nearest(name, table::KNOWN.iter().map(|(known, _)| *known));
                unknown.push(match near {
                    Some(near) => format!("{name} is unknown, did you mean {near}?"),
                    None => format!("{name} is unknown"),
                });
            }
        }
    }
    for (old, new) in DEPRECATED {
        if app.environment.get(old).is_some() {
            unknown.push(format!("{old} is deprecated, set {new}"));
        }
    }
    let details = json!({ "variables": count, "faults": faults, "warnings": unknown, "remarks": remarks });
    let hint =
        |lists: [&Vec<String>; 3]| lists.into_iter().flatten().cloned().collect::<Vec<_>>().join("\n  ");
    let counted = format!("environment: {count} PERFXPERT_* variables");
    let check = if !faults.is_empty() {
        Check::new("environment", Status::Fail, format!("{counted}, {} with a bad value", faults.len()))
    } else if !unknown.is_empty() {
        Check::new("environment", Status::Warn, format!("{counted}, {} to look at", unknown.len()))
    } else {
        Check::ok("environment", format!("{counted}, all known"))
    };
    let hints = hint([&faults, &unknown, &remarks]);
    if hints.is_empty() { check.with(details) } else { check.hint(hints).with(details) }
}

pub(super) fn profilers(app: &App) -> Check {
    let mut found = Vec::new();
    let mut rows = serde_json::Map::new();
    for name in ["rocprofv3", "rocprof-sys-run", "rocprof-compute"] {
        if let Some(path) = program::find(name, &app.environment, &ROCM_PROGRAMS) {
            let version = version_of(&path);
            found.push(format!("{name} {}", version.as_deref().unwrap_or("?")));
            rows.insert(name.to_owned(), json!(version));
        }
    }
    let check = if found.is_empty() {
        Check::new("profilers", Status::Info, "profilers: not found").hint("only needed to record")
    } else {
        Check::ok("profilers", format!("profilers: {}", found.join(", ")))
    };
    check.with(Value::Object(rows))
}

pub(super) fn att_decoder(app: &App) -> Check {
    let is_decoder = |name: &str| name.starts_with("librocprof-trace-decoder.so");
    let inside = |folder: &Path| {
        let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
            .ok()?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_decoder))
            .collect();
        names.sort();
        names.into_iter().next()
    };
    let found = match app.environment.get("PERFXPERT_ROCPROF_TRACE_DECODER_PATH").map(PathBuf::from) {
        Some(path) if path.is_file() => Some(path),
        Some(folder) => inside(&folder),
        None => inside(Path::new(ROCM_LIBRARIES)),
    };
    match &found {
        Some(path) => Check::ok("att_decoder", format!("thread-trace decoder: {}", path.display())),
        None => Check::new("att_decoder", Status::Info, "thread-trace decoder: not found")
            .hint("only needed to record"),
    }
    .with(json!({ "path": found }))
}

pub(super) fn mcp_clients(app: &App) -> Check {
    let mut ok = Vec::new();
    let mut broken = Vec::new();
    for (name, client) in CLIENTS {
        for scope in [Scope::User, Scope::Project] {
            let Ok(Some(file)) = client.file(scope, &app.environment) else { continue };
            let Some(program) = installed(client, &file) else { continue };
            let there = Path::new(&program).is_absolute() && Path::new(&program).is_file()
                || program::find(&program, &app.environment, &[]).is_some();
            match (there, ok.contains(&name)) {
                (true, false) => ok.push(name),
                (true, true) => {}
                (false, _) => broken.push(format!("{}: {program} does not exist", file.display())),
            }
        }
    }
    let shown: Vec<String> = ok.iter().map(|name| format!("{name} ok")).collect();
    let details = json!({ "ok": ok, "broken": broken });
    let check = if !broken.is_empty() {
        let message = format!("MCP clients: {} broken", broken.len());
        Check::new("mcp_clients", Status::Warn, message).hint(broken.join("\n  "))
    } else if ok.is_empty() {
        Check::new("mcp_clients", Status::Info, "MCP clients: not set up")
            .hint("perfxpert mcp install CLIENT")
    } else {
        Check::ok("mcp_clients", format!("MCP clients: {}", shown.join(", ")))
    };
    check.with(details)
}

/// The program of our entry in a client's file.
fn installed(client: Client, file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let entry = if client.is_toml() {
        toml_file::entry(&toml_file::read(&text).ok()?, client.parent(), "perfxpert")?
    } else {
        JsonFile::read(&text).ok()?.entry(client.parent(), "perfxpert").ok()??
    };
    launcher_of(&entry).map(|launcher| launcher.program)
}

pub(super) fn gpus(app: &App) -> Check {
    match discovery::discover(&app.environment) {
        Err(failure) => Check::new("gpus", Status::Fail, failure.error.message).hint(failure.error.hint),
        Ok(None) => {
            Check::new("gpus", Status::Info, "GPUs: not looked for (PERFXPERT_DISABLE_RUNTIME_GPU_SPECS)")
        }
        Ok(Some(gpus)) if gpus.is_empty() => {
            Check::new("gpus", Status::Info, "GPUs: none").with(json!({ "count": 0 }))
        }
        Ok(Some(gpus)) => {
            let groups = discovery::groups(&gpus);
            let shown: Vec<String> =
                groups.iter().map(|(count, gpu)| format!("{count} x {}", gpu.shown())).collect();
            Check::ok("gpus", format!("GPUs: {}", shown.join(", "))).with(json!({ "count": gpus.len() }))
        }
    }
}
