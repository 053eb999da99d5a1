//! `perfxpert analyze`: one call of the root agent, rendered and delivered.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value, json};

use crate::client::{Launch, Server};
use crate::failure::Failure;
use crate::model::Model;
use crate::options::{self, Absent, Values};
use crate::output::{self, Destination, Routing, Target};
use crate::progress::{self, Progress};
use crate::render::{self, Format, Layout};
use crate::settings::Settings;
use crate::{App, inputs, text};

/// The question when none is asked.
const QUESTION: &str = "Analyze this GPU performance trace.";
/// Columns of `--wide` when standard output is no terminal.
const WIDE: usize = 160;
/// Formats with their extensions.
const FORMATS: [(&str, &str, Format); 4] = [
    ("text", "txt", Format::Text),
    ("json", "json", Format::Json),
    ("markdown", "md", Format::Markdown),
    ("webview", "html", Format::Webview),
];
const FORMAT_WORDS: [&str; 4] = ["text", "json", "markdown", "webview"];
/// Priorities from the highest.
const PRIORITIES: [&str; 3] = ["high", "medium", "low"];

/// The table of `analyze`.
pub fn table() -> Command {
    let examples = [
        "perfxpert analyze -i ./out --format markdown -o report",
        "perfxpert analyze -i trace.db --counters pmc.db --source-dir src --fail-on high",
    ];
    let many = |arg: Arg| arg.num_args(1..).action(ArgAction::Append);
    options::command("analyze", "Analyse a trace, a source tree, or both", examples)
        .args([
            many(options::value(
                "input",
                "PATH",
                "rocpd databases or folders, analysed as one trace",
                Absent::NOTHING,
            ))
            .short('i'),
            many(options::value(
                "counters",
                "PATH",
                "Databases of extra counter passes; needs -i",
                Absent::NOTHING,
            )),
            options::value(
                "source-dir",
                "DIR",
                "Source tree to scan; alone: a source-only report",
                Absent::NOTHING,
            ),
            options::value(
                "baseline",
                "PATH",
                "Run to compare with: adds \"Changed vs baseline\"",
                Absent::NOTHING,
            ),
            options::value("att-dir", "DIR", "Folder with thread-trace stats_*.csv files", Absent::NOTHING),
            options::value(
                "gpu-monitor-log",
                "PATH",
                "Captured amd-smi or rocm-smi JSON",
                Absent::NOTHING.or_variable("PERFXPERT_GPU_MONITOR_LOG"),
            ),
        ])
        .args(report_arguments())
}

/// The options that `demo` shares: everything but the inputs.
pub fn report_arguments() -> Vec<Arg> {
    let mut arguments = vec![
        options::value("prompt", "TEXT", "The question", Absent::is(QUESTION)).allow_hyphen_values(true),
        options::value("top-kernels", "N", "Hotspot rows, 1 to 1000", Absent::is("10")),
        options::value(
            "min-duration",
            "US",
            "Leave shorter dispatches out of the hotspot rows, microseconds",
            Absent::is("0"),
        ),
        options::word("format", &FORMAT_WORDS, "Rendering", Absent::is("text")),
        options::value("output", "NAME", "File name, or - for stdout", Absent::NOTHING)
            .short('o')
            .allow_hyphen_values(true),
        options::value("dir", "DIR", "Folder of the file", Absent::NOTHING)
            .short('d')
            .visible_alias("output-dir"),
        options::switch("no-clobber", "Do not replace an existing file", None),
        options::switch("advanced", "Show advanced recommendations", Some("PERFXPERT_ADVANCED_RECS")),
        options::switch("strict", "A damaged or skipped file is an error instead of a warning", None),
        options::value(
            "arch",
            "GFXID",
            "Architecture when the trace does not name its GPU",
            Absent::is("from the trace"),
        ),
        options::word(
            "fail-on",
            &PRIORITIES,
            "Exit 1 on a recommendation of at least this priority",
            Absent::NOTHING,
        ),
        options::switch(
            "redact-paths",
            "Base names instead of folders in the report",
            Some("PERFXPERT_REDACT_PATHS"),
        ),
        options::switch("wide", "Text: the terminal's width, 160 columns in a pipe", None)
            .conflicts_with("width"),
        options::value("width", "COLUMNS", "Text: this width, 80 to 400", Absent::is("80")),
    ];
    arguments.extend(crate::model::arguments(true));
    arguments.extend(progress::arguments());
    arguments
}

/// The inputs of a run.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// `-i`.
    pub databases: Vec<String>,
    /// `--counters`.
    pub counters: Vec<String>,
    /// `--source-dir`.
    pub source: Option<String>,
    /// `--baseline`, expanded.
    pub baseline: Vec<String>,
    /// `--att-dir`.
    pub att: Option<String>,
    /// `--gpu-monitor-log`.
    pub monitor: Option<String>,
}

impl Inputs {
    fn read(app: &App, values: &Values<'_>) -> Result<Self, Failure> {
        let databases = inputs::databases(&values.paths("input", "-i")?, "-i")?;
        let counters = inputs::databases(&values.paths("counters", "--counters")?, "--counters")?;
        let baseline: Vec<String> = values.path("baseline")?.map(str::to_owned).into_iter().collect();
        let given = |name: &str| values.path(name).map(|path| path.map(str::to_owned));
        let monitor = given("gpu-monitor-log")?
            .or_else(|| app.environment.get("PERFXPERT_GPU_MONITOR_LOG").map(str::to_owned));
        let read = Self {
            databases,
            counters,
            source: given("source-dir")?.map(|path| inputs::folder(&path, "--source-dir")).transpose()?,
            baseline: inputs::databases(&baseline, "--baseline")?,
            att: given("att-dir")?.map(|path| inputs::folder(&path, "--att-dir")).transpose()?,
            monitor: monitor.map(|path| inputs::file(&path, "--gpu-monitor-log")).transpose()?,
        };
        if read.databases.is_empty() && read.source.is_none() {
            return Err(Failure::usage(
                "-i",
                "analyze: nothing to analyse.",
                "Pass -i TRACE.db, --source-dir DIR, or both.",
            ));
        }
        if !read.counters.is_empty() && read.databases.is_empty() {
            let message = "--counters: needs a trace to add counters to.";
            return Err(Failure::usage("--counters", message, "Pass -i TRACE.db as well."));
        }
        Ok(read)
    }

    fn stem(&self) -> String {
        self.databases.first().map_or_else(|| "analysis".to_owned(), |path| output::stem(path.as_ref()))
    }

    /// Files a report must not replace.
    fn protected(&self) -> Vec<PathBuf> {
        let lists = [&self.databases, &self.counters, &self.baseline];
        let paths: Vec<String> =
            lists.into_iter().flatten().chain(&self.att).chain(&self.monitor).cloned().collect();
        inputs::protected(&paths)
    }
}

/// Analyses what the options name.
///
/// # Errors
/// Whatever ended it early; nothing is written then.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let wishes = Wishes::read(app, &values)?;
    let inputs = Inputs::read(app, &values)?;
    let stem = inputs.stem();
    deliver(app, &values, &wishes, &inputs, &stem, None)
}

/// Runs the analysis and delivers its report under a name. `folder` is where the inputs' paths begin, when not here.
///
/// # Errors
/// Whatever ended it early; nothing is written then.
pub fn deliver(
    app: &App,
    values: &Values<'_>,
    wishes: &Wishes,
    inputs: &Inputs,
    stem: &str,
    folder: Option<PathBuf>,
) -> Result<u8, Failure> {
    let model = &wishes.model;
    let (_, extension, format) = wishes.format;
    let layout = layout(app, values, format)?;
    let routing = Routing {
        name: values.text("output"),
        folder: values.path("dir")?,
        stem,
        extension,
        shown_by_default: format == Format::Text,
    };
    let destination = routing.destination()?;
    let target = match &destination {
        Destination::Stdout => None,
        Destination::File(path) => {
            Some(Target::check(path, &inputs.protected(), !values.switch("no-clobber"))?)
        }
    };
    let arguments = request(values, wishes, inputs);
    let server = Server::start(app, &Launch { api_key: model.api_key.clone(), folder })?;
    let progress = Progress::start(app, values, model.provider.is_some())?;
    let shown = progress.clone();
    let began = std::time::Instant::now();
    let outcome = server.call("agent.root", arguments, None, move |phase| shown.phase(phase));
    let report = match outcome {
        Ok(answer) => answer.structured,
        Err(failure) => {
            progress.end();
            return Err(failure);
        }
    };
    if inputs.databases.is_empty() && began.elapsed().as_millis() > 500 {
        progress.say("Source scan done");
    }
    progress.say("report");
    let rendered = render::render(&report, format, layout).map_err(Failure::from);
    progress.end();
    let rendered = rendered?;
    let rendered = if format == Format::Json { text::escape_json(&rendered) } else { rendered };
    warn(app, &report);
    match (&destination, target) {
        (Destination::File(path), Some(target)) => {
            target.write(rendered.as_bytes())?;
            app.terminal.remark(&format!("Analysis written to: {}", output::shown(path)));
            if format == Format::Text {
                app.terminal.remark("Tip: --format webview writes a one-file HTML report.");
            }
        }
        _ => app.terminal.product(&rendered)?,
    }
    Ok(verdict(app, values, &report))
}

/// How text is laid out.
///
/// # Errors
/// `usage` for a width that has no effect.
pub(crate) fn layout(app: &App, values: &Values<'_>, format: Format) -> Result<Layout, Failure> {
    let width = values.integer("width", 80..=400)?;
    if format != Format::Text && (width.is_some() || values.switch("wide")) {
        let option = if width.is_some() { "--width" } else { "--wide" };
        let message = format!("{option}: only --format text has columns.");
        return Err(Failure::usage(option, message, format!("Leave {option} out.")));
    }
    let columns = match width.and_then(|width| usize::try_from(width).ok()) {
        Some(width) => width,
        None if values.switch("wide") => app.terminal.columns().unwrap_or(WIDE).max(80),
        None => Layout::default().columns,
    };
    // Files never hold colour; on a terminal only the report that is shown there does.
    let shown = values.text("output").is_none_or(|name| name == "-") && values.text("dir").is_none();
    Ok(Layout { columns, colour: shown && app.terminal.colours_stdout() })
}

/// The options that do not depend on the inputs, checked before any file is looked at.
pub struct Wishes {
    model: Model,
    format: (&'static str, &'static str, Format),
    top_kernels: i64,
    least_us: f64,
    advanced: bool,
    redact_paths: bool,
}

impl Wishes {
    /// Reads and checks them.
    ///
    /// # Errors
    /// `usage` or `config`.
    pub fn read(app: &App, values: &Values<'_>) -> Result<Self, Failure> {
        let word = values.text("format").unwrap_or("text");
        let format = FORMATS.into_iter().find(|(name, ..)| *name == word);
        let top_kernels = values.integer("top-kernels", 1..=1000)?.unwrap_or(10);
        let least_us = values.number("min-duration", 0.0..=f64::MAX)?.unwrap_or(0.0);
        let advanced = values.switch_or("advanced", "PERFXPERT_ADVANCED_RECS")?;
        let settings = Settings::read(app)?;
        Ok(Self {
            redact_paths: values.switch("redact-paths")
                || settings.boolean(&app.environment, "redact_paths")?,
            model: Model::read(app, values, &settings)?,
            format: format.unwrap_or(("text", "txt", Format::Text)),
            top_kernels,
            least_us,
            advanced,
        })
    }
}

/// The arguments of the root agent.
fn request(values: &Values<'_>, wishes: &Wishes, inputs: &Inputs) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut more = Map::new();
    arguments.insert("user_query".to_owned(), json!(values.text("prompt").unwrap_or(QUESTION)));
    if let Some(first) = inputs.databases.first() {
        arguments.insert("database_path".to_owned(), json!(first));
        more.insert("database_paths".to_owned(), json!(inputs.databases));
    }
    if let Some(source) = &inputs.source {
        arguments.insert("source_dir".to_owned(), json!(source));
    }
    for (key, paths) in [("counter_paths", &inputs.counters), ("baseline_paths", &inputs.baseline)] {
        if !paths.is_empty() {
            more.insert(key.to_owned(), json!(paths));
        }
    }
    let optional = [
        ("att_dir", inputs.att.as_deref()),
        ("gpu_monitor_log", inputs.monitor.as_deref()),
        ("gfx_id", values.text("arch")),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            more.insert(key.to_owned(), json!(value));
        }
    }
    more.insert("top_kernels".to_owned(), json!(wishes.top_kernels));
    // Nanoseconds on the wire.
    more.insert("min_duration".to_owned(), json!(wishes.least_us * 1000.0));
    more.insert("advanced".to_owned(), json!(wishes.advanced));
    more.insert("redact_paths".to_owned(), json!(wishes.redact_paths));
    more.insert("allow_partial".to_owned(), json!(!values.switch("strict")));
    more.insert("detail".to_owned(), json!("full"));
    wishes.model.fill(&mut arguments, &mut more);
    arguments.insert("options".to_owned(), Value::Object(more));
    arguments
}

/// Repeats on standard error what the reader of a file would miss: lost data and doubtful numbers.
fn warn(app: &App, report: &Value) {
    let details = report.get("warning_details").and_then(Value::as_array);
    for detail in details.into_iter().flatten() {
        let severity = detail.get("severity").and_then(Value::as_str).unwrap_or_default();
        if let ("warning" | "data_loss", Some(message)) =
            (severity, detail.get("message").and_then(Value::as_str))
        {
            app.terminal.warn(message);
        }
    }
}

/// The exit code: a provider failure, then what `--fail-on` found.
fn verdict(app: &App, values: &Values<'_>, report: &Value) -> u8 {
    let error = report.pointer("/metadata/run/error").cloned().unwrap_or_default();
    if let Ok(error) = serde_json::from_value::<ErrorObject>(error) {
        let failure = Failure::from(error);
        app.terminal.failure(&failure);
        return failure.exit_code();
    }
    let Some(least) = values.text("fail-on") else { return 0 };
    let gates: Vec<String> = PRIORITIES
        .iter()
        .take_while(|word| **word != least)
        .chain(std::iter::once(&least))
        .map(|word| word.to_ascii_uppercase())
        .collect();
    let rows = report.get("recommendations").and_then(Value::as_array);
    let found = rows.into_iter().flatten().any(|row| {
        row.get("priority")
            .and_then(Value::as_str)
            .is_some_and(|priority| gates.iter().any(|gate| gate == priority))
    });
    u8::from(found)
}
