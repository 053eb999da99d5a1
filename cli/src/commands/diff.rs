//! `perfxpert diff`: two runs compared, informational.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::diff::DiffDocument;
use serde_json::{Map, Value, json};

use crate::client::{Launch, Server};
use crate::commands::analyze;
use crate::failure::Failure;
use crate::model::Model;
use crate::options::{self, Absent, Values};
use crate::output::{self, Destination, Routing, Target};
use crate::progress::{self, Progress};
use crate::render::{self, Format, Layout};
use crate::settings::Settings;
use crate::{App, inputs, text};

const FORMATS: [(&str, &str, Format); 4] = [
    ("text", "txt", Format::Text),
    ("json", "json", Format::Json),
    ("markdown", "md", Format::Markdown),
    ("webview", "html", Format::Webview),
];
const FORMAT_WORDS: [&str; 4] = ["text", "json", "markdown", "webview"];

/// The table of `diff`.
pub fn table() -> Command {
    let examples =
        ["perfxpert diff before.db after.db", "perfxpert diff base/ new/ --format webview -o report"];
    options::command("diff", "Compare two runs", examples)
        .args([
            Arg::new("baseline").value_name("BASELINE").help("Run compared against").required(true),
            Arg::new("new").value_name("NEW").help("Run compared").required(true),
            options::word("format", &FORMAT_WORDS, "Rendering", Absent::is("text")),
            options::value("output", "NAME", "File name, or - for stdout", Absent::NOTHING)
                .short('o')
                .allow_hyphen_values(true),
            options::value(
                "threshold",
                "PERCENT",
                "When a kernel counts as regressed or improved",
                Absent::is("3.0").or_variable("PERFXPERT_REGRESSION_THRESHOLD_PCT"),
            ),
            options::value("source-dir", "DIR", "Accepted for compatibility; no effect", Absent::NOTHING),
        ])
        .args(shared_arguments())
        .args(crate::model::arguments(false))
}

/// The options that `ci` shares.
pub(crate) fn shared_arguments() -> Vec<Arg> {
    let mut arguments = vec![
        options::value("dir", "DIR", "Folder of the file", Absent::NOTHING)
            .short('d')
            .visible_alias("output-dir"),
        options::value("top-kernels", "N", "Rows of kernels, 1 to 500", Absent::is("20")),
        options::switch("allow-partial", "Compare what can be read of a damaged file", None),
        options::switch("no-clobber", "Do not replace an existing file", None),
        options::switch(
            "redact-paths",
            "Base names instead of folders in the report",
            Some("PERFXPERT_REDACT_PATHS"),
        ),
        options::switch("wide", "Text: the terminal's width, 160 columns in a pipe", None)
            .conflicts_with("width"),
        options::value("width", "COLUMNS", "Text: this width, 80 to 400", Absent::is("80")),
    ];
    arguments.extend(progress::arguments());
    arguments
}

/// What both commands ask of the comparison besides its sides.
pub(crate) struct Asked {
    /// Rows of kernels.
    pub(crate) top_kernels: i64,
    /// Limit of elapsed time, percent.
    pub(crate) threshold_pct: f64,
    /// Limit of one kernel's row, percent.
    pub(crate) kernel_threshold_pct: f64,
    /// Share of kernel time the hot kernels cover, percent.
    pub(crate) hot_coverage_pct: f64,
    /// Read what can be read of a damaged file.
    pub(crate) allow_partial: bool,
    /// Base names instead of folders.
    pub(crate) redact_paths: bool,
}

impl Asked {
    /// Reads the options and settings.
    ///
    /// # Errors
    /// `usage` or `config`.
    pub(crate) fn read(app: &App, values: &Values<'_>, settings: &Settings) -> Result<Self, Failure> {
        let environment = &app.environment;
        Ok(Self {
            top_kernels: values.integer("top-kernels", 1..=500)?.unwrap_or(20),
            threshold_pct: settings.number(environment, "ci_threshold_pct")?.0,
            kernel_threshold_pct: settings.number(environment, "regression_threshold_pct")?.0,
            hot_coverage_pct: settings.number(environment, "hot_kernel_coverage_pct")?.0,
            allow_partial: values.switch("allow-partial"),
            redact_paths: values.switch("redact-paths") || settings.boolean(environment, "redact_paths")?,
        })
    }

    /// The arguments of the comparison; each side holds at least one path.
    pub(crate) fn request(&self, baseline: &[String], new: &[String]) -> Map<String, Value> {
        let mut arguments = Map::new();
        for (first, further, paths) in
            [("baseline_db", "baseline_runs", baseline), ("new_db", "new_runs", new)]
        {
            if let Some((path, more)) = paths.split_first() {
                arguments.insert(first.to_owned(), json!(path));
                if !more.is_empty() {
                    arguments.insert(further.to_owned(), json!(more));
                }
            }
        }
        arguments.insert("top_kernels".to_owned(), json!(self.top_kernels));
        arguments.insert("threshold_pct".to_owned(), json!(self.threshold_pct));
        arguments.insert("kernel_threshold_pct".to_owned(), json!(self.kernel_threshold_pct));
        arguments.insert("hot_coverage_pct".to_owned(), json!(self.hot_coverage_pct));
        arguments.insert("allow_partial".to_owned(), json!(self.allow_partial));
        arguments
    }

    /// The answer as it is shown: with base names when paths are redacted.
    pub(crate) fn shown(&self, mut answer: Value) -> Value {
        if self.redact_paths {
            for key in ["baseline_db", "new_db"] {
                if let Some(Value::String(path)) = answer.get_mut(key)
                    && let Some(name) = std::path::Path::new(path.as_str()).file_name()
                {
                    *path = name.to_string_lossy().into_owned();
                }
            }
        }
        answer
    }
}

/// The document behind an answer.
///
/// # Errors
/// `internal` when it does not have that shape.
pub(crate) fn document(answer: &Value) -> Result<DiffDocument, Failure> {
    serde_json::from_value(answer.clone()).map_err(|fault| {
        Failure::internal(
            format!("The diff cannot be rendered: {fault}."),
            "Use --format json and report this.",
        )
    })
}

/// One of the four renderings.
pub(crate) fn rendered(answer: &Value, document: &DiffDocument, format: Format, layout: Layout) -> String {
    match format {
        Format::Json => text::escape_json(&render::pretty_json(answer)),
        Format::Text => render::diff::text::report(document, layout),
        Format::Markdown => render::diff::markdown::report(document),
        Format::Webview => render::diff::webview::report(document, answer),
    }
}

/// Repeats on standard error what a reader of a file would miss.
pub(crate) fn warn(app: &App, document: &DiffDocument) {
    for warning in &document.warnings {
        app.terminal.warn(warning);
    }
}

/// The path of a written file, absolute, for a line on standard error.
pub(crate) fn absolute(path: &std::path::Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

/// Compares the two runs.
///
/// # Errors
/// Whatever ended it early; nothing is written then.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let settings = Settings::read(app)?;
    let mut asked = Asked::read(app, &values, &settings)?;
    if let Some(threshold) = values.number("threshold", 0.0..=100.0)? {
        asked.kernel_threshold_pct = threshold;
    }
    let model = Model::read(app, &values, &settings)?;
    if values.is_given("source-dir") {
        app.terminal.warn("--source-dir has no effect in diff");
    }
    let side = |name: &str, shown: &str| -> Result<String, Failure> {
        let paths = inputs::databases(&values.paths(name, shown)?, shown)?;
        match paths.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(Failure::usage(
                shown,
                format!("{shown}: the pattern matches {} paths, but diff takes one run.", paths.len()),
                "Name one file or folder; several runs per side are for perfxpert ci.",
            )),
        }
    };
    let (baseline, new) = (side("baseline", "BASELINE")?, side("new", "NEW")?);
    let word = values.text("format").unwrap_or("text");
    let (name, extension, format) =
        FORMATS.into_iter().find(|(name, ..)| *name == word).unwrap_or(("text", "txt", Format::Text));
    let layout = analyze::layout(app, &values, format)?;
    let routing = Routing {
        name: values.text("output"),
        folder: values.path("dir")?,
        stem: "diff_report",
        extension,
        shown_by_default: format != Format::Webview,
    };
    let destination = routing.destination()?;
    let protected = inputs::protected(&[baseline.clone(), new.clone()]);
    let target = target(&destination, &protected, &values)?;
    let server = Server::start(app, &Launch { api_key: model.api_key.clone(), folder: None })?;
    let progress = Progress::start(app, &values, model.provider.is_some())?;
    let outcome = ask(&server, &progress, &model, &asked, &baseline, &new);
    progress.end();
    let (answer, provider) = outcome?;
    let answer = asked.shown(answer);
    let document = document(&answer)?;
    let rendered = rendered(&answer, &document, format, layout);
    warn(app, &document);
    match (&destination, target) {
        (Destination::File(path), Some(target)) => {
            target.write(rendered.as_bytes())?;
            app.terminal.remark(&format!("Wrote {name} diff report to {}", absolute(path)));
        }
        _ => app.terminal.product(&rendered)?,
    }
    Ok(provider.map_or(0, |failure| {
        app.terminal.failure(&failure);
        failure.exit_code()
    }))
}

/// The checked file behind a destination.
pub(crate) fn target(
    destination: &Destination,
    protected: &[PathBuf],
    values: &Values<'_>,
) -> Result<Option<Target>, Failure> {
    match destination {
        Destination::Stdout => Ok(None),
        Destination::File(path) => {
            output::Target::check(path, protected, !values.switch("no-clobber")).map(Some)
        }
    }
}

/// The diff, its narrative worded by a model when one was asked for, and why that failed.
fn ask(
    server: &Server,
    progress: &Progress,
    model: &Model,
    asked: &Asked,
    baseline: &str,
    new: &str,
) -> Result<(Value, Option<Failure>), Failure> {
    let listen = |progress: &Progress| {
        let progress = progress.clone();
        move |phase: &crate::client::Phase| progress.phase(phase)
    };
    let request = asked.request(&[baseline.to_owned()], &[new.to_owned()]);
    let mut answer = server.call("trace_diff.diff_runs", request, None, listen(progress))?.structured;
    if model.provider.is_none() {
        return Ok((answer, None));
    }
    let mut arguments = Map::new();
    let mut more = Map::new();
    arguments.insert("baseline_db".to_owned(), json!(baseline));
    arguments.insert("new_db".to_owned(), json!(new));
    more.insert("allow_partial".to_owned(), json!(asked.allow_partial));
    model.fill(&mut arguments, &mut more);
    arguments.insert("options".to_owned(), Value::Object(more));
    let worded = server.call("agent.diff_specialist", arguments, None, listen(progress))?.structured;
    // Only the words may be the model's; every number stays the document's own.
    if let (Some(narrative), Some(object)) =
        (worded.get("narrative").filter(|text| text.is_string()), answer.as_object_mut())
    {
        object.insert("narrative".to_owned(), narrative.clone());
    }
    let error = worded.pointer("/details/run/error").cloned().unwrap_or_default();
    Ok((answer, serde_json::from_value::<ErrorObject>(error).ok().map(Failure::from)))
}
