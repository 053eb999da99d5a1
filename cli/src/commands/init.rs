//! `perfxpert init`: the first-run wizard, four steps that end in one configuration file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Command};
use perfxpert_agent::config::{Config, KEYS, Place, Value};
use perfxpert_agent::probe;
use perfxpert_knowledge::commands::{Command as Profiler, Opt};
use perfxpert_schemas::tools::agent::run::ProviderName;
use serde_json::{Map, Value as Json, json};

use crate::client::{Launch, Server};
use crate::discovery::{self, Gpu};
use crate::environment::table::PROVIDERS;
use crate::failure::Failure;
use crate::mcp_clients::tilde;
use crate::options::{self, Absent, Values};
use crate::settings::{self, Settings};
use crate::{App, config_edit, inputs, output, program, text};

/// Keys that a new file leaves out: they have no default worth writing.
const LEFT_OUT: [&str; 2] = ["fallback_chain", "model"];
/// Looks the frameworks up without importing them.
const LOOK_UP: &str = "import importlib.util as u\n\
                       print(next((n for n in ('torch','tensorflow','jax','cupy') if u.find_spec(n)), ''))";
/// How long Python may take.
const PYTHON_LIMIT: Duration = Duration::from_secs(5);
/// Counters of the second command.
const COUNTERS: [&str; 3] = ["SQ_WAVES", "GRBM_COUNT", "GRBM_GUI_ACTIVE"];

/// The table of `init`.
pub fn table() -> Command {
    let examples = ["perfxpert init", "perfxpert init --non-interactive --provider ollama --source-dir src"];
    options::command("init", "Set up perfxpert on this machine, step by step", examples).args([
        options::value("source-dir", "DIR", "Source tree for step 2", Absent::is(".")),
        options::word("provider", &PROVIDERS, "Model service", Absent::is("detected")),
        options::value("arch", "GFXID", "Architecture; skips looking for GPUs", Absent::is("detected")),
        options::switch("non-interactive", "Never ask", None),
        options::value("config-path", "PATH", "File to write", Absent::is("as --config")),
        options::switch("reset", "Write defaults for every key instead of merging", None),
    ])
}

/// Runs the four steps.
///
/// # Errors
/// `usage`, `config` for a file that cannot be read, `output` when it cannot be written.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let source = inputs::folder(values.path("source-dir")?.unwrap_or("."), "--source-dir")?;
    let target = Target::read(app, &values)?;
    let server = Server::start(app, &Launch::default())?;
    let mut page =
        Page { app, lines: vec!["== perfxpert init — first-run wizard ==".to_owned(), String::new()] };
    let gpus = gpu_step(app, &values, &server, &mut page)?;
    let tree = source_step(app, &source, &server, &mut page);
    drop(server);
    let kept = config_step(app, &values, &target, &mut page)?;
    command_step(&source, &tree, gpus, &mut page);
    page.line(if kept {
        "Wizard complete. The existing configuration was kept."
    } else {
        "Wizard complete. Your setup is ready."
    });
    page.show()?;
    Ok(0)
}

/// The transcript; shown in whole paragraphs, and before a question.
struct Page<'a> {
    app: &'a App,
    lines: Vec<String>,
}

impl Page<'_> {
    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn show(&mut self) -> Result<(), Failure> {
        let text = text::escape(&self.lines.join("\n"));
        self.lines.clear();
        self.app.terminal.product(&text)
    }
}

fn gpu_step(app: &App, values: &Values<'_>, server: &Server, page: &mut Page<'_>) -> Result<usize, Failure> {
    page.line("Step 1/4 — GPU detection");
    let mut count = 0;
    if let Some(arch) = values.text("arch") {
        page.line(format!("  selected: {arch} (--arch)"));
        page.lines.extend(peaks(server, &Gpu { gfx_id: Some(arch.to_owned()), ..Gpu::default() }).1);
    } else {
        match discovery::discover(&app.environment)? {
            None => page.line("  skipped (PERFXPERT_DISABLE_RUNTIME_GPU_SPECS)"),
            Some(gpus) if gpus.is_empty() => {
                page.line("  detected: none");
                page.line("  hint: pass --arch GFXID when you profile on another machine");
            }
            Some(gpus) => {
                count = gpus.len();
                for (equal, gpu) in discovery::groups(&gpus) {
                    let (product, lines) = peaks(server, &gpu);
                    let gpu = Gpu { product: gpu.product.clone().or(product), ..gpu };
                    page.line(format!("  detected: {}", discovery::shown(equal, &gpu)));
                    page.lines.extend(lines);
                }
            }
        }
    }
    page.line("");
    Ok(count)
}

/// The product and the lines of the peaks, from the server's facts.
fn peaks(server: &Server, gpu: &Gpu) -> (Option<String>, Vec<String>) {
    let mut arguments = Map::new();
    arguments.insert("gfx_id".to_owned(), json!(gpu.gfx_id.as_deref().unwrap_or_default()));
    if let Some(count) = gpu.cu_count {
        arguments.insert("cu_count".to_owned(), json!(count));
    }
    let answer = server.call("arch.lookup_peaks", arguments, None, |_| {}).map(|answer| answer.structured);
    let number = |key: &str| answer.as_ref().ok().and_then(|facts| facts.get(key)).and_then(Json::as_f64);
    match (number("peak_fp32_tflops"), number("memory_bandwidth_tbs")) {
        (Some(fp32), Some(memory)) => {
            let product = answer.as_ref().ok().and_then(|facts| facts.get("sku")).and_then(Json::as_str);
            let lines =
                vec![format!("    peak FP32: {fp32:.1} TFLOPS"), format!("    peak HBM : {memory:.1} TB/s")];
            (product.map(str::to_owned), lines)
        }
        _ => (None, vec!["    no peak spec available".to_owned()]),
    }
}

/// What the source tree holds.
struct Tree {
    framework: Option<&'static str>,
    kernels: u64,
}

fn source_step(app: &App, source: &str, server: &Server, page: &mut Page<'_>) -> Tree {
    page.line("Step 2/4 — Framework detection");
    page.line(format!("  source dir: {source}"));
    let python = program::find("python3", &app.environment, &[]);
    let found = python.as_ref().and_then(|python| program::output(python, &["-c", LOOK_UP], PYTHON_LIMIT));
    let framework = found.as_deref().and_then(|name| match name.trim() {
        "torch" => Some("PyTorch"),
        "tensorflow" => Some("TensorFlow"),
        "jax" => Some("JAX"),
        "cupy" => Some("CuPy"),
        _ => None,
    });
    page.line(match (python.is_some(), framework) {
        (false, _) => "  python deps: python3 not found".to_owned(),
        (true, None) => "  python deps: none found".to_owned(),
        (true, Some(name)) => format!("  python deps: {name} importable ⇒ framework: {name}"),
    });
    let mut arguments = Map::new();
    arguments.insert("source_dir".to_owned(), json!(source));
    arguments.insert("airgap".to_owned(), json!(true));
    let scan = server.call("agent.root", arguments, None, |_| {}).map(|answer| answer.structured);
    let findings = scan.as_ref().ok().and_then(|report| report.get("tier0_findings"));
    let count = |key: &str| findings.and_then(|found| found.get(key)).and_then(Json::as_u64).unwrap_or(0);
    let kernels = count("kernel_count");
    match (&scan, findings) {
        (Err(failure), _) => page.line(format!("  source scan: failed ({})", failure.error.message)),
        (_, None) => page.line("  source scan: 0 file(s), 0 kernel(s)"),
        (_, Some(found)) => {
            let model = found.get("programming_model").and_then(Json::as_str).unwrap_or_default();
            let files = count("files_scanned");
            page.line(if kernels > 0 {
                format!("  source scan: {files} file(s), {kernels} kernel(s) ⇒ programming model: {model}")
            } else {
                format!("  source scan: {files} file(s), 0 kernel(s)")
            });
        }
    }
    if framework.is_some() && kernels > 0 {
        page.line("  (both detected ⇒ mixed python+kernel workload)");
    }
    page.line("");
    Tree { framework, kernels }
}

/// The file to write and what it holds now.
struct Target {
    place: Place,
    old: Option<String>,
}

impl Target {
    fn read(app: &App, values: &Values<'_>) -> Result<Self, Failure> {
        let place = match values.path("config-path")? {
            Some(path) => Place { path: PathBuf::from(path), named: true },
            None => settings::place(app)
                .ok_or_else(|| Failure::output("the configuration file", "there is no home folder"))?,
        };
        let old = match (place.path.exists(), values.switch("reset")) {
            (false, _) => None,
            (true, true) => Some(
                fs::read(&place.path)
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                    .unwrap_or_default(),
            ),
            (true, false) => {
                let text =
                    place.text().map_err(|fault| settings::failure(&place, &fault))?.unwrap_or_default();
                Config::parse(&text).map_err(|fault| settings::failure(&place, &fault))?;
                Some(text)
            }
        };
        Ok(Self { place, old })
    }
}

/// Decides and writes the file; whether an existing one was kept on the user's word.
fn config_step(
    app: &App,
    values: &Values<'_>,
    target: &Target,
    page: &mut Page<'_>,
) -> Result<bool, Failure> {
    let provider = match values.text("provider") {
        Some(name) => Some(name.to_owned()),
        None => detected_provider(app),
    };
    let new = match &target.old {
        Some(old) if !values.switch("reset") => merged(old, provider.as_deref()),
        _ => fresh(provider.as_deref()),
    };
    let config = Config::parse(&new).unwrap_or_default();
    let shown = |name: &str| {
        let default = || {
            KEYS.iter()
                .find(|key| key.name == name)
                .map_or(Value::Null, perfxpert_agent::config::Key::default_value)
        };
        config.get(name).cloned().unwrap_or_else(default).to_string()
    };
    let path = tilde(&target.place.path, &app.environment);
    page.line("Step 3/4 — Config generation");
    page.line(match &provider {
        Some(name) => format!("  provider  : {name}"),
        None => "  provider  : none detected (analysis works without one)".to_owned(),
    });
    page.line(format!("  airgap    : {}", shown("airgap")));
    page.line(format!("  max_tokens: {}", shown("max_tokens")));
    page.line(format!("  target    : {path}"));
    let mut kept = false;
    match &target.old {
        None => output::write_private(&target.place.path, new.as_bytes())?,
        Some(old) if *old == new => page.line("  result    : no change"),
        Some(old) => {
            if values.switch("non-interactive") || asked(page, old, &new, &path)? {
                let backup = PathBuf::from(format!("{}.bak", target.place.path.display()));
                if !backup.exists() {
                    fs::copy(&target.place.path, &backup)
                        .map_err(|error| Failure::output(&backup.display().to_string(), error))?;
                }
                output::write_private(&target.place.path, new.as_bytes())?;
                page.line(format!("  result    : updated (backup: {})", tilde(&backup, &app.environment)));
            } else {
                kept = true;
                page.line("  result    : kept the existing file");
            }
        }
    }
    page.line("");
    Ok(kept)
}

/// Shows the change and asks; anything but yes keeps the file.
fn asked(page: &mut Page<'_>, old: &str, new: &str, path: &str) -> Result<bool, Failure> {
    page.line(text::unified_diff(old, new, path, path).trim_end());
    page.show()?;
    page.app.terminal.prompt("  overwrite? [y/N] ")?;
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer).unwrap_or(0);
    if read == 0 {
        // The question stands on a line of its own even when nobody answers.
        page.app.terminal.prompt("\n")?;
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// The first service that is set up: hosted ones before private, local and command-line ones.
fn detected_provider(app: &App) -> Option<String> {
    let settings = Settings::of_variables();
    let status = probe(&settings.of_models(&app.environment));
    let order = ["anthropic", "openai", "private", "ollama", "opencode"];
    order
        .into_iter()
        .filter_map(ProviderName::parse)
        .find(|name| status.iter().any(|row| row.name == *name && row.configured))
        .map(|name| name.as_str().to_owned())
}

fn fresh(provider: Option<&str>) -> String {
    let mut text = String::new();
    for key in KEYS.iter().filter(|key| !LEFT_OUT.contains(&key.name)) {
        match (key.name, provider) {
            ("provider", None) => {}
            ("provider", Some(name)) => text.push_str(&format!("provider: {name}\n")),
            _ => text.push_str(&format!("{}: {}\n", key.name, key.default)),
        }
    }
    text
}

fn merged(old: &str, provider: Option<&str>) -> String {
    let config = Config::parse(old).unwrap_or_default();
    let mut text = old.to_owned();
    if let Some(name) =
        provider.filter(|name| config.get("provider") != Some(&Value::Text((*name).to_owned())))
    {
        text = config_edit::set(&text, "provider", name);
    }
    for key in KEYS.iter().filter(|key| ["airgap", "max_tokens"].contains(&key.name)) {
        if config.get(key.name).is_none() {
            text = config_edit::set(&text, key.name, key.default);
        }
    }
    text
}

fn command_step(source: &str, tree: &Tree, gpus: usize, page: &mut Page<'_>) {
    let program = match tree.framework {
        Some("CuPy") => "python run.py",
        Some(_) => "python train.py",
        None => "./your_app",
    };
    let profile = |option, values: &[&str], folder: &str| {
        let command = Profiler::rocprofv3().option(option, values).option(Opt::OutputDirectory, &[folder]);
        command.app(program).full_command()
    };
    page.line("Step 4/4 — Suggested first profiling command");
    page.line(format!("  primary : {}", profile(Opt::SysTrace, &[], "./profile_out")));
    if tree.kernels > 0 {
        page.line(format!("  extra   : {}", profile(Opt::Pmc, &COUNTERS, "./profile_out_pmc")));
    }
    if gpus > 1 {
        page.line(format!(
            "  many ranks: mpirun -n {gpus} rocprofv3 --sys-trace -d ./profile_out -o results_%env{{OMPI_COMM_WORLD_RANK}}% -- ./your_app"
        ));
    }
    page.line("  (--pc-sampling / --att are second-tier — run after Tier-1 identifies hot kernels)");
    page.line("");
    page.line("Then:");
    page.line(format!(
        "  perfxpert analyze -i ./profile_out/*.db --source-dir {} --format webview -o report",
        shell_word(Path::new(source))
    ));
    page.line("");
}

fn shell_word(path: &Path) -> String {
    let word = path.display().to_string();
    let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./~+:@%=,".contains(&byte));
    if plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_holds_every_key_but_two_in_order() {
        let text = fresh(Some("anthropic"));
        assert_eq!(
            text,
            "agent_creativity: strict\nairgap: false\nci_threshold_pct: 5.0\nfence_profile: standard\n\
             hot_kernel_coverage_pct: 80.0\nmax_tokens: 2048\nprovider: anthropic\nredact_paths: false\n\
             regression_threshold_pct: 3.0\n"
        );
        assert!(Config::parse(&text).is_ok());
        assert!(!fresh(None).contains("provider"));
    }

    #[test]
    fn merging_touches_what_it_must() {
        assert_eq!(
            merged("# mine\nprovider: openai # paid\nairgap: true\n", Some("ollama")),
            "# mine\nprovider: ollama # paid\nairgap: true\nmax_tokens: 2048\n"
        );
        let whole = fresh(Some("ollama"));
        assert_eq!(merged(&whole, Some("ollama")), whole);
        assert_eq!(merged(&whole, None), whole);
    }
}
