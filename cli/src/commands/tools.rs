//! `perfxpert tools`: what the server offers, from its own list.

use clap::{ArgMatches, Command};
use perfxpert_schemas::ErrorKind;
use serde_json::{Map, Value, json};

use crate::catalogue::{Catalogue, Entry, Spelling};
use crate::client::{Launch, Server};
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::{App, text};

const NAMES: [&str; 3] = ["dotted", "bare", "prefixed"];
/// Columns of a tool's summary in the list.
const SUMMARY: usize = 80;

/// The table of `tools`.
pub fn table() -> Command {
    let list = options::command(
        "list",
        "List the tools",
        ["perfxpert tools list --namespace roofline", "perfxpert tools list --json"],
    )
    .args([
        options::switch("json", "JSON instead of a table", None),
        options::value("namespace", "NS", "Only the tools of this namespace", Absent::NOTHING),
        options::word("names", &NAMES, "Spelling of the names", Absent::is("dotted")),
    ]);
    let schema = options::command(
        "schema",
        "Print the JSON Schema of the report, of the diff, or of a tool's answer",
        ["perfxpert tools schema report", "perfxpert tools schema arch.lookup_peaks"],
    )
    .arg(positional("subject", "SUBJECT", "report, diff, or a tool's name"));
    let describe = options::command(
        "describe",
        "Describe a tool: what it answers, its inputs and outputs",
        ["perfxpert tools describe arch.lookup_peaks", "perfxpert tools describe agent.root --json"],
    )
    .args([
        positional("tool", "TOOL", "The tool's name in any spelling"),
        options::switch("json", "The tool's entry as clients get it", None),
    ]);
    options::command(
        "tools",
        "List and describe the analysis tools",
        ["perfxpert tools list", "perfxpert tools describe roofline.plot_points"],
    )
    .subcommand_required(true)
    .subcommands([list, schema, describe])
}

fn positional(name: &'static str, shown: &'static str, help: &'static str) -> clap::Arg {
    clap::Arg::new(name).value_name(shown).help(help).required(true)
}

/// Runs the action.
///
/// # Errors
/// `unknown_name` for a tool, namespace or subject that is not there.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let Some((action, matches)) = matches.subcommand() else { return Ok(0) };
    let values = Values::new(matches, &app.environment);
    let server = Server::start(app, &Launch::default())?;
    let catalogue = Catalogue::read(&server)?;
    let product = match action {
        "list" => list(&catalogue, &values)?,
        "schema" => schema(&server, &catalogue, values.text("subject").unwrap_or_default())?,
        _ => {
            let entry = catalogue.find(values.text("tool").unwrap_or_default())?;
            if values.switch("json") {
                pretty(&entry.raw)
            } else {
                describe(entry, &full_output(&server, entry)?)
            }
        }
    };
    app.terminal.product(&product)?;
    Ok(0)
}

/// JSON for people: two spaces, safe for a terminal.
pub fn pretty(value: &Value) -> String {
    text::escape_json(&serde_json::to_string_pretty(value).unwrap_or_default())
}

fn list(catalogue: &Catalogue, values: &Values<'_>) -> Result<String, Failure> {
    let namespace = values.text("namespace");
    let mut entries: Vec<&Entry> = catalogue
        .entries()
        .iter()
        .filter(|entry| namespace.is_none_or(|ns| entry.namespace() == ns))
        .collect();
    if let (true, Some(namespace)) = (entries.is_empty(), namespace) {
        let known: Vec<&str> = catalogue.entries().iter().map(Entry::namespace).collect();
        return Err(unknown("--namespace", &format!("No namespace {namespace}."), namespace, known));
    }
    let spelling = match values.text("names") {
        Some("bare") => Spelling::Bare,
        Some("prefixed") => Spelling::Prefixed,
        _ => Spelling::Dotted,
    };
    entries.sort_by_key(|entry| entry.spelled(spelling));
    if values.switch("json") {
        let rows: Vec<Value> = entries.iter().map(|entry| row(entry, spelling)).collect();
        return Ok(pretty(&Value::Array(rows)));
    }
    let width = entries.iter().map(|entry| entry.spelled(spelling).len()).max().unwrap_or(4).max(4);
    let mut lines = vec![format!("{:<width$}  {:<5}  Summary", "Name", "Kind")];
    for entry in &entries {
        let summary = cut(&entry.summary(), SUMMARY);
        lines.push(format!("{:<width$}  {:<5}  {summary}", entry.spelled(spelling), entry.kind()));
    }
    lines.push(String::new());
    lines.push(catalogue.count_line(&entries));
    Ok(text::escape(&lines.join("\n")))
}

fn row(entry: &Entry, spelling: Spelling) -> Value {
    json!({
        "name": entry.spelled(spelling),
        "wire_name": entry.wire_name(),
        "kind": entry.kind(),
        "title": entry.raw.get("title"),
        "summary": entry.summary(),
    })
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn unknown(field: &str, message: &str, given: &str, mut known: Vec<&str>) -> Failure {
    known.sort_unstable();
    known.dedup();
    let failure = Failure::new(ErrorKind::UnknownName, message, "Use one of the known names.");
    let near = known.clone();
    let error = failure.error.field(field).value(given).known(known);
    Failure::from(error).near(given, near)
}

fn schema(server: &Server, catalogue: &Catalogue, subject: &str) -> Result<String, Failure> {
    let tool = match subject {
        "report" => "agent.root",
        "diff" => "trace_diff.diff_runs",
        tool => tool,
    };
    let entry = catalogue.find(tool)?;
    full_output(server, entry).map(|schema| pretty(&schema))
}

/// The schema of the whole answer; the listed one, which may be shortened, from a server that knows no other.
fn full_output(server: &Server, entry: &Entry) -> Result<Value, Failure> {
    let answer = server.ask("perfxpert/schema", json!({ "name": entry.wire_name() }))?;
    let full = answer.as_ref().and_then(|answer| answer.get("schema"));
    Ok(full.or_else(|| entry.raw.get("outputSchema")).cloned().unwrap_or_default())
}

fn describe(entry: &Entry, output: &Value) -> String {
    let mut lines = vec![entry.dotted.clone()];
    if let Some(title) = entry.raw.get("title").and_then(Value::as_str) {
        lines.push(format!("  {title}"));
    }
    lines.push(String::new());
    lines.push(entry.description().to_owned());
    let input = entry.raw.get("inputSchema").unwrap_or(&Value::Null);
    for (heading, schema, show_required) in [("Inputs", input, true), ("Outputs", output, false)] {
        lines.push(String::new());
        lines.push(format!("{heading}:"));
        let fields = fields(schema, show_required);
        if fields.is_empty() {
            lines.push("  none".to_owned());
        }
        lines.extend(fields);
    }
    let hints = entry.raw.get("annotations").and_then(Value::as_object);
    let hints: Vec<String> =
        hints.into_iter().flatten().map(|(key, value)| format!("{key}: {value}")).collect();
    lines.push(String::new());
    lines.push(format!("Annotations: {}", hints.join(", ")));
    lines.push(String::new());
    lines.push("Example:".to_owned());
    lines.push(format!("  {}", example(entry)));
    text::escape(&lines.join("\n"))
}

fn fields(schema: &Value, show_required: bool) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let width = properties.keys().map(String::len).max().unwrap_or(0);
    let line = |(name, inner): (&String, &Value)| {
        let kind = kind_of(inner);
        let need = match inner.get("default") {
            _ if show_required && required.contains(&json!(name)) => "required".to_owned(),
            Some(default) => format!("default {default}"),
            None => String::new(),
        };
        let range = range(inner);
        let about = inner.get("description").and_then(Value::as_str).unwrap_or_default();
        let notes: Vec<&str> =
            [need.as_str(), range.as_str()].into_iter().filter(|s| !s.is_empty()).collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" [{}]", notes.join("; ")) };
        format!("  {name:<width$}  {kind:<7}  {about}{notes}").trim_end().to_owned()
    };
    properties.iter().map(line).collect()
}

/// The type of a value in words: `text or null` is a union of the full schemas.
fn kind_of(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => {
            let variants = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
            let mut kinds: Vec<String> = variants.into_iter().flatten().map(kind_of).collect();
            kinds.dedup();
            if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
        }
    }
}

/// The bounds or the words that a value may have.
pub fn range(schema: &Value) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return words.join(" | ");
    }
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!("{least}..{most}"),
        (Some(least), None) => format!(">= {least}"),
        (None, Some(most)) => format!("<= {most}"),
        (None, None) => String::new(),
    }
}

/// A call with a placeholder for every required input.
fn example(entry: &Entry) -> String {
    let empty = Map::new();
    let schema = entry.raw.get("inputSchema");
    let properties = schema.and_then(|s| s.get("properties")).and_then(Value::as_object).unwrap_or(&empty);
    let required = schema.and_then(|s| s.get("required")).and_then(Value::as_array);
    let mut words = vec![format!("perfxpert call {}", entry.dotted)];
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let kind = properties.get(name).and_then(|inner| inner.get("type")).and_then(Value::as_str);
        let option = name.replace('_', "-");
        words.push(match kind {
            Some("boolean") => format!("--{option}"),
            Some("integer" | "number") => format!("--{option} N"),
            Some("object") => format!("--{option} '{{…}}'"),
            Some("array") => format!("--{option} VALUE"),
            _ => format!("--{option} {}", name.to_uppercase()),
        });
    }
    words.join(" ")
}
