//! `perfxpert ci`: the regression gate of a CI job; never a pass on runs that measured nothing.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use perfxpert_schemas::diff::{DiffDocument, Gate};
use serde_json::{Map, Value, json};

use crate::client::{Launch, Server};
use crate::commands::analyze;
use crate::commands::diff::{self, Asked};
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::output::{Destination, Routing, Target, same_file};
use crate::progress::Progress;
use crate::render::gate::{github, junit, markdown, verdict_line};
use crate::render::{Format, Layout};
use crate::settings::{Settings, Source};
use crate::{App, inputs};

/// Formats with their extensions.
const FORMATS: [(&str, &str); 6] = [
    ("text", "txt"),
    ("json", "json"),
    ("markdown", "md"),
    ("junit", "xml"),
    ("github", "txt"),
    ("webview", "html"),
];
const SHOWN: [&str; 5] = ["text", "json", "markdown", "junit", "github"];
const WRITTEN: [&str; 5] = ["text", "json", "markdown", "webview", "junit"];
/// Most runs per side.
const RUNS: usize = 50;

/// The table of `ci`.
pub fn table() -> Command {
    let many = |arg: Arg| arg.num_args(1..).action(ArgAction::Append);
    let examples = [
        "perfxpert ci baseline.db candidate.db --threshold 5",
        "perfxpert ci --baseline base/*.db --candidate new/*.db --kernel-threshold 8 --write junit=gate.xml",
    ];
    options::command("ci", "Fail a CI job on a real regression", examples)
        .args([
            Arg::new("runs").value_name("BASELINE NEW").help("One run per side").num_args(0..),
            many(options::value("baseline", "RUN", "Runs of the baseline, 1 to 50", Absent::NOTHING)),
            many(options::value("candidate", "RUN", "Runs of the candidate, 1 to 50", Absent::NOTHING)),
            options::value(
                "threshold",
                "PERCENT",
                "Slow-down of elapsed time that is tolerated",
                Absent::is("5.0").or_variable("PERFXPERT_CI_REGRESSION_THRESHOLD"),
            ),
            options::value(
                "kernel-threshold",
                "PERCENT",
                "Slow-down of one kernel that is tolerated",
                Absent::is("off"),
            ),
            options::value(
                "min-time-share",
                "PERCENT",
                "Gate kernels with at least this share of kernel time",
                Absent::is("1.0"),
            ),
            options::value(
                "min-delta-ms",
                "MS",
                "A smaller slow-down of elapsed time never fails",
                Absent::is("0"),
            ),
            options::word("confidence", &["90", "95", "99"], "Of the interval, percent", Absent::is("95")),
            options::switch("allow-no-verdict", "Exit 0 when only noise prevented a verdict", None),
            options::switch("allow-kernel-changes", "Other kernels or less work do not block", None),
            options::switch("allow-different-gpu", "Different GPUs do not block", None),
            options::word("format", &SHOWN, "What is printed", Absent::is("text")),
            options::value("output", "NAME", "File instead of stdout", Absent::NOTHING)
                .short('o')
                .allow_hyphen_values(true),
            options::value(
                "write",
                "FORMAT=PATH",
                "Extra output: text, json, markdown, webview or junit",
                Absent::NOTHING,
            )
            .action(ArgAction::Append),
            options::value("title", "TEXT", "Name in junit, github and markdown", Absent::is("perfxpert ci")),
        ])
        .args(diff::shared_arguments())
}

/// The limits of the gate.
struct Limits {
    threshold: f64,
    source: &'static str,
    kernel_threshold: Option<f64>,
    min_time_share: Option<f64>,
    min_delta_ms: f64,
    confidence: i64,
}

impl Limits {
    fn read(app: &App, values: &Values<'_>, settings: &Settings) -> Result<Self, Failure> {
        let flag = values.number("threshold", 0.0..=1000.0)?;
        let (threshold, source) = match flag {
            Some(threshold) => (threshold, "flag"),
            None => {
                app.environment.number(
                    "PERFXPERT_CI_REGRESSION_THRESHOLD",
                    0.0..=1000.0,
                    "a percentage such as 5",
                )?;
                let (threshold, source) = settings.number(&app.environment, "ci_threshold_pct")?;
                let source = match source {
                    Source::Variable => "env",
                    Source::File => "config",
                    Source::Default => "default",
                };
                (threshold, source)
            }
        };
        let kernel_threshold = values.number("kernel-threshold", 0.0..=1000.0)?;
        let min_time_share = values.number("min-time-share", 0.0..=100.0)?;
        if min_time_share.is_some() && kernel_threshold.is_none() {
            return Err(Failure::usage(
                "--min-time-share",
                "--min-time-share: has no effect without --kernel-threshold.",
                "Add --kernel-threshold PERCENT or leave it out.",
            ));
        }
        Ok(Self {
            threshold,
            source,
            kernel_threshold,
            min_time_share,
            min_delta_ms: values.number("min-delta-ms", 0.0..=f64::MAX)?.unwrap_or_default(),
            confidence: values.integer("confidence", 90..=99)?.unwrap_or(95),
        })
    }

    fn request(&self, values: &Values<'_>) -> Value {
        let mut gate = Map::new();
        gate.insert("threshold".to_owned(), json!(self.threshold));
        gate.insert("threshold_source".to_owned(), json!(self.source));
        let optional = [("kernel_threshold", self.kernel_threshold), ("min_time_share", self.min_time_share)];
        for (key, value) in optional {
            if let Some(value) = value {
                gate.insert(key.to_owned(), json!(value));
            }
        }
        gate.insert("min_delta_ms".to_owned(), json!(self.min_delta_ms));
        gate.insert("confidence".to_owned(), json!(self.confidence));
        for name in ["allow-kernel-changes", "allow-different-gpu"] {
            gate.insert(name.replace('-', "_"), json!(values.switch(name)));
        }
        Value::Object(gate)
    }
}

/// The runs of both sides.
fn sides(app: &App, values: &Values<'_>) -> Result<(Vec<String>, Vec<String>), Failure> {
    let pair = values.paths("runs", "BASELINE NEW")?;
    let (baseline, candidate) =
        (values.paths("baseline", "--baseline")?, values.paths("candidate", "--candidate")?);
    let usage = |field: &str, message: &str| {
        let hint = "Write ci BASELINE NEW, or ci --baseline A1 [A2 …] --candidate B1 [B2 …].";
        Err(Failure::usage(field, message, hint))
    };
    let (baseline, candidate) = match (pair.as_slice(), baseline.is_empty(), candidate.is_empty()) {
        ([one, other], true, true) => (vec![one.clone()], vec![other.clone()]),
        ([], false, false) => (baseline, candidate),
        ([], true, true) => return usage("BASELINE", "ci: both sides are missing."),
        ([], true, false) => return usage("--baseline", "ci: the baseline has no run."),
        ([], false, true) => return usage("--candidate", "ci: the candidate has no run."),
        (_, true, true) => return usage("NEW", "ci: exactly one run per side goes without options."),
        _ => return usage("BASELINE", "ci: runs stand both with and without options."),
    };
    let baseline = inputs::databases(&baseline, "--baseline")?;
    let candidate = inputs::databases(&candidate, "--candidate")?;
    for (field, runs) in [("--baseline", &baseline), ("--candidate", &candidate)] {
        if runs.len() > RUNS {
            let message = format!("{field}: {} runs, at most {RUNS} count.", runs.len());
            return Err(Failure::usage(field, message, "Leave some out."));
        }
        for (at, run) in runs.iter().enumerate() {
            if runs.iter().take(at).any(|known| same_file(Path::new(known), Path::new(run))) {
                let message = format!("{field}: {run} is given twice, which would fake precision.");
                return Err(Failure::usage(field, message, "Give every run once."));
            }
        }
    }
    if let Some(run) =
        baseline.iter().find(|run| candidate.iter().any(|other| same_file(Path::new(run), Path::new(other))))
    {
        app.terminal.warn(&format!("{run} stands on both sides"));
    }
    Ok((baseline, candidate))
}

/// One output: its format, and the file it goes to; `None` is standard output.
struct Product {
    format: &'static str,
    file: Option<(PathBuf, Target)>,
}

fn products(values: &Values<'_>, protected: &[PathBuf]) -> Result<Vec<Product>, Failure> {
    let word = values.text("format").unwrap_or("text");
    let (format, extension) = known(word);
    let routing = Routing {
        name: values.text("output"),
        folder: values.path("dir")?,
        stem: "ci_report",
        extension,
        shown_by_default: true,
    };
    let check = |path: PathBuf| -> Result<(PathBuf, Target), Failure> {
        let target = Target::check(&path, protected, !values.switch("no-clobber"))?;
        Ok((path, target))
    };
    let file = match routing.destination()? {
        Destination::Stdout => None,
        Destination::File(path) => Some(check(path)?),
    };
    let mut products = vec![Product { format, file }];
    for written in values.texts("write") {
        let Some((word, path)) = written.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            let message = format!("--write: '{written}' is not FORMAT=PATH.");
            return Err(Failure::usage("--write", message, "Write such as --write junit=gate.xml."));
        };
        if !WRITTEN.contains(&word) {
            return Err(Failure::choice("--write", word, &WRITTEN));
        }
        products.push(Product { format: known(word).0, file: Some(check(PathBuf::from(path))?) });
    }
    Ok(products)
}

fn known(word: &str) -> (&'static str, &'static str) {
    FORMATS.into_iter().find(|(name, _)| *name == word).unwrap_or(("text", "txt"))
}

/// Holds the candidate against the baseline; the exit code is the verdict.
///
/// # Errors
/// Whatever ended it early; nothing is written then.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let settings = Settings::read(app)?;
    let limits = Limits::read(app, &values, &settings)?;
    let mut asked = Asked::read(app, &values, &settings)?;
    asked.threshold_pct = limits.threshold;
    let (baseline, candidate) = sides(app, &values)?;
    let every: Vec<String> = baseline.iter().chain(&candidate).cloned().collect();
    let products = products(&values, &inputs::protected(&every))?;
    let shown =
        if values.text("format").is_none_or(|word| word == "text") { Format::Text } else { Format::Json };
    let layout = analyze::layout(app, &values, shown)?;
    let title = values.text("title").unwrap_or("perfxpert ci");
    let server = Server::start(app, &Launch::default())?;
    let progress = Progress::start(app, &values, false)?;
    let listening = progress.clone();
    let mut request = asked.request(&baseline, &candidate);
    request.insert("gate".to_owned(), limits.request(&values));
    let outcome = server.call("trace_diff.diff_runs", request, None, move |phase| listening.phase(phase));
    progress.end();
    let answer = asked.shown(outcome?.structured);
    let document = diff::document(&answer)?;
    let Some(gate) = &document.gate else {
        return Err(Failure::internal("The server answered without a gate.", "Report this."));
    };
    diff::warn(app, &document);
    let moment = junit::moment(app.environment.get("SOURCE_DATE_EPOCH"));
    // Everything is rendered before the first file is touched.
    let rendered: Vec<String> = products
        .iter()
        .map(|product| {
            let layout = if product.file.is_some() { Layout { colour: false, ..layout } } else { layout };
            content(app, product, &answer, &document, gate, title, &moment, layout)
        })
        .collect();
    for (product, content) in products.iter().zip(&rendered) {
        match &product.file {
            Some((path, target)) => {
                target.write(content.as_bytes())?;
                let path = diff::absolute(path);
                app.terminal.remark(&format!("Wrote {} ci report to {path}", product.format));
            }
            None => app.terminal.product(content)?,
        }
    }
    if values.text("format") == Some("github") {
        for (variable, text) in [
            ("GITHUB_STEP_SUMMARY", markdown(&document, gate, title)),
            ("GITHUB_OUTPUT", github::outputs(gate)),
        ] {
            if let Some(path) = app.environment.get(variable) {
                append(path, &text)?;
            }
        }
    }
    app.terminal.remark(&verdict_line(gate));
    let only_noise =
        gate.reasons.iter().all(|reason| matches!(reason.code.as_str(), "noise" | "kernel_unclear"));
    let lifted = gate.verdict == "no_verdict" && only_noise && values.switch("allow-no-verdict");
    Ok(if lifted { 0 } else { gate.exit_code })
}

#[expect(clippy::too_many_arguments, reason = "one place that knows every format")]
fn content(
    app: &App,
    product: &Product,
    answer: &Value,
    document: &DiffDocument,
    gate: &Gate,
    title: &str,
    moment: &str,
    layout: Layout,
) -> String {
    match product.format {
        "json" => diff::rendered(answer, document, Format::Json, layout),
        "webview" => diff::rendered(answer, document, Format::Webview, layout),
        "markdown" => markdown(document, gate, title),
        "junit" => junit::report(gate, title, moment),
        "github" => {
            let commands = github::commands(gate, title);
            match app.environment.get("GITHUB_STEP_SUMMARY") {
                Some(_) => commands,
                None => format!("{commands}{}", markdown(document, gate, title)),
            }
        }
        _ => diff::rendered(answer, document, Format::Text, layout),
    }
}

fn append(path: &str, text: &str) -> Result<(), Failure> {
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::output(path, error))
}
