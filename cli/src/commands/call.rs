//! `perfxpert call`: any tool, with options made from its own schema.

use std::io::Read;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::{Map, Value};

use crate::arguments::{self, Early};
use crate::catalogue::{Catalogue, Entry};
use crate::client::{Launch, Server};
use crate::commands::tools::{pretty, range};
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::progress::Progress;
use crate::{App, environment, text};

/// Options of `call` itself that take a value, besides the shared ones.
const WITH_VALUE: [&str; 5] = ["--args", "--format", "--timeout", "--color", "--config"];

/// The table of `call`. The tool's own options are only known once the server has listed them.
pub fn table() -> Command {
    let examples = [
        "perfxpert call arch.lookup_peaks --gfx-id gfx942",
        "perfxpert call bottleneck.classify_from_metrics --args '{\"metrics\":{\"memcpy_pct\":0.4}}'",
    ];
    options::command("call", "Call any tool; its inputs are the options", examples)
        .disable_help_flag(true)
        .arg(
            Arg::new("words")
                .value_name("TOOL [OPTIONS]")
                .help("The tool's name in any spelling, then its options; TOOL --help lists them")
                .num_args(0..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true),
        )
        .args(reserved())
}

fn reserved() -> [Arg; 3] {
    [
        options::value(
            "args",
            "JSON",
            "All arguments as one JSON object, @FILE, or - for stdin",
            Absent::NOTHING,
        )
        .allow_hyphen_values(true),
        options::word("format", &["pretty", "compact", "text"], "Form of the answer", Absent::is("pretty")),
        options::value("timeout", "SECONDS", "Give up after this time", Absent::NOTHING),
    ]
}

/// Calls the tool and prints its answer.
///
/// # Errors
/// `usage` for options that do not fit the tool; whatever the tool answered.
pub fn run(app: &App, _matches: &ArgMatches) -> Result<u8, Failure> {
    let mut words: Vec<String> = app.words.iter().skip(1).cloned().collect();
    let Some(place) = tool_place(&words) else {
        if words.iter().any(|word| word == "--help" || word == "-h") {
            app.terminal.product(
                &options::with_shared(table()).bin_name("perfxpert call").render_help().to_string(),
            )?;
            return Ok(0);
        }
        return Err(Failure::usage(
            "call",
            "call: the tool's name is missing.",
            "List the tools with perfxpert tools list.",
        ));
    };
    let name = words.remove(place);
    let server = Server::start(app, &Launch::default())?;
    let catalogue = Catalogue::read(&server)?;
    let entry = catalogue.find(&name)?;
    let command = command_of(entry);
    let matches = match arguments::parse(&command, &words) {
        Ok(matches) => matches,
        Err(Early::Show(help)) => {
            app.terminal.product(&help)?;
            return Ok(0);
        }
        Err(Early::Fail(failure)) => return Err(with_options(*failure, entry)),
    };
    let values = Values::new(&matches, &app.environment);
    let limit = values.number("timeout", 0.0..=f64::MAX)?;
    if limit == Some(0.0) {
        return Err(Failure::usage("--timeout", "--timeout: 0 is out of range.", "Write a number above 0."));
    }
    let call = arguments_of(entry, &values)?;
    let progress = Progress::start(app, &values, call.contains_key("provider"))?;
    let shown = progress.clone();
    let outcome = server.call(
        entry.wire_name(),
        call,
        limit.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
        move |phase| shown.phase(phase),
    );
    progress.end();
    let answer = outcome?;
    let product = match values.text("format") {
        Some("compact") => text::escape_json(&answer.structured.to_string()),
        Some("text") => text::escape(&answer.text),
        _ => pretty(&answer.structured),
    };
    app.terminal.product(&product)?;
    Ok(0)
}

/// Where the tool's name stands: the first word that is neither an option nor an option's value.
fn tool_place(words: &[String]) -> Option<usize> {
    let mut place = 0;
    while let Some(word) = words.get(place) {
        if WITH_VALUE.contains(&word.as_str()) {
            place += 2;
        } else if word.starts_with('-') && word != "-" {
            place += 1;
        } else {
            return Some(place);
        }
    }
    None
}

fn inputs(entry: &Entry) -> Map<String, Value> {
    entry.raw.pointer("/inputSchema/properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// `gfx_id` → `gfx-id`.
fn option_name(property: &str) -> String {
    property.replace('_', "-")
}

/// The command line of one tool.
fn command_of(entry: &Entry) -> Command {
    let required =
        entry.raw.pointer("/inputSchema/required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut command = Command::new(format!("perfxpert call {}", entry.dotted))
        .about(entry.description().to_owned())
        .term_width(100)
        .color(clap::ColorChoice::Never);
    for (property, schema) in inputs(entry) {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("string");
        let mut help =
            text::escape_line(schema.get("description").and_then(Value::as_str).unwrap_or_default());
        let bounds = range(&schema);
        if !bounds.is_empty() {
            help.push_str(&format!(" [{bounds}]"));
        }
        if required.contains(&Value::from(property.as_str())) {
            help.push_str(" [required]");
        } else if let Some(default) = schema.get("default") {
            help.push_str(&format!(" [default: {default}]"));
        }
        let long = option_name(&property);
        let mut arg = Arg::new(property.clone()).long(long.clone()).help(help).allow_hyphen_values(true);
        if long != property {
            arg = arg.alias(property);
        }
        arg = match kind {
            "boolean" => arg
                .value_name("true|false")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true"),
            "integer" | "number" => arg.value_name("N").num_args(1),
            "array" => arg.value_name("VALUE").num_args(1).action(ArgAction::Append),
            "object" => arg.value_name("JSON").num_args(1),
            _ => arg.value_name("TEXT").num_args(1),
        };
        command = command.arg(arg);
    }
    options::with_shared(command.args(reserved()))
}

/// Adds the tool's options to a refusal, for whoever reads it as JSON.
fn with_options(failure: Failure, entry: &Entry) -> Failure {
    let known =
        inputs(entry).keys().map(|property| format!("--{}", option_name(property))).collect::<Vec<_>>();
    let see = format!("See perfxpert call {} --help.", entry.dotted);
    failure.map(|error| ErrorObject { hint: see, ..error.known(known) })
}

/// The argument object: `--args` first, single options over it.
fn arguments_of(entry: &Entry, values: &Values<'_>) -> Result<Map<String, Value>, Failure> {
    let mut object = match values.text("args") {
        None => Map::new(),
        Some(text) => match json("--args", text)? {
            Value::Object(object) => object,
            _ => {
                let message = "--args: the JSON is not an object.";
                return Err(Failure::usage("--args", message, "Write {\"name\": value, …}."));
            }
        },
    };
    for (property, schema) in inputs(entry) {
        let texts = values.texts(&property);
        if texts.is_empty() {
            continue;
        }
        let option = format!("--{}", option_name(&property));
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("string");
        object.insert(property, value(&option, kind, &schema, &texts)?);
    }
    Ok(object)
}

fn value(option: &str, kind: &str, schema: &Value, texts: &[String]) -> Result<Value, Failure> {
    let text = texts.first().map(String::as_str).unwrap_or_default();
    match kind {
        "boolean" => match environment::boolean(text).filter(|_| !text.is_empty()) {
            Some(value) => Ok(Value::Bool(value)),
            None => Err(Failure::usage(
                option,
                format!("{option}: '{text}' is neither true nor false."),
                format!("Write {option} or {option}=false."),
            )),
        },
        "integer" => options::integer(option, text, i64::MIN..=i64::MAX).map(Value::from),
        "number" => match environment::integer(text) {
            Some(whole) => Ok(Value::from(whole)),
            None => options::number(option, text, f64::MIN..=f64::MAX).map(Value::from),
        },
        "object" => json(option, text),
        "array" => {
            let row = schema.pointer("/items/type").and_then(Value::as_str).unwrap_or("string");
            if row == "object"
                || text.starts_with('[')
                || text.starts_with('@') && texts.len() == 1 && row != "string"
            {
                return json(option, text);
            }
            let rows = texts.iter().map(|text| value(option, row, &Value::Null, std::slice::from_ref(text)));
            rows.collect::<Result<Vec<Value>, Failure>>().map(Value::Array)
        }
        // A text that is a JSON list passes as it is: the server knows which of its texts may be lists.
        _ => Ok(Value::from(text)),
    }
}

/// JSON from the text itself, from `@FILE`, or from standard input.
fn json(option: &str, text: &str) -> Result<Value, Failure> {
    let unreadable = |path: &str, error: std::io::Error| {
        Failure::new(
            ErrorKind::FileNotFound,
            format!("{option}: {path} cannot be read: {error}."),
            "Give the path of a file that holds JSON.",
        )
        .map(|error| error.field(option).path(path))
    };
    let source = match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?,
        None if text == "-" => {
            let mut source = String::new();
            std::io::stdin().read_to_string(&mut source).map_err(|error| unreadable("stdin", error))?;
            source
        }
        None => text.to_owned(),
    };
    serde_json::from_str(&source).map_err(|error| {
        Failure::usage(option, format!("{option}: not JSON: {error}."), "Write JSON, @FILE, or - for stdin.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry() -> Entry {
        let raw = json!({"name": "perfxpert_test_tool", "description": "Does it. Really.", "inputSchema": {
            "type": "object", "required": ["gfx_id"], "properties": {
                "gfx_id": {"type": "string", "description": "Architecture"},
                "limit": {"type": "integer", "minimum": 0, "maximum": 500, "default": 20, "description": "Rows"},
                "share": {"type": "number", "description": "A fraction"},
                "deep": {"type": "boolean", "description": "Look deeper"},
                "names": {"type": "array", "items": {"type": "string"}, "description": "Names"},
                "metrics": {"type": "object", "description": "Metrics"}}}});
        Entry { dotted: "test.tool".to_owned(), raw }
    }

    fn built(words: &[&str]) -> Result<Value, Failure> {
        let entry = entry();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let environment = environment::Environment::default();
        match arguments::parse(&command_of(&entry), &words) {
            Ok(matches) => arguments_of(&entry, &Values::new(&matches, &environment)).map(Value::Object),
            Err(Early::Fail(failure)) => Err(with_options(*failure, &entry)),
            Err(Early::Show(help)) => Ok(Value::from(help)),
        }
    }

    #[test]
    fn every_schema_type_has_its_option_form() {
        assert_eq!(
            built(&[
                "--gfx-id",
                "gfx942",
                "--limit=5",
                "--share",
                "-0.5",
                "--deep",
                "--names",
                "a",
                "--names",
                "-b",
                "--metrics",
                "{\"x\":1}"
            ])
            .unwrap(),
            json!({"gfx_id": "gfx942", "limit": 5, "share": -0.5, "deep": true, "names": ["a", "-b"], "metrics": {"x": 1}})
        );
        assert_eq!(
            built(&["--gfx_id", "g", "--deep=false", "--names", "[\"a\",\"b\"]", "--share", "1"]).unwrap(),
            json!({"gfx_id": "g", "deep": false, "names": ["a", "b"], "share": 1})
        );
    }

    #[test]
    fn single_options_override_the_object() {
        assert_eq!(
            built(&["--args", "{\"gfx_id\":\"a\",\"limit\":1}", "--limit", "2"]).unwrap(),
            json!({"gfx_id": "a", "limit": 2})
        );
    }

    #[test]
    fn mistakes_are_refused_with_the_known_options() {
        for words in [
            &["--gfx", "x"][..],
            &["--limit", "many"],
            &["--share", "nan"],
            &["--deep=perhaps"],
            &["--metrics", "{"],
            &["--args", "[]"],
            &["--limit", "1", "--limit", "2"],
            &["stray"],
        ] {
            assert_eq!(built(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
        let failure = built(&["--gfxid", "x"]).unwrap_err();
        assert_eq!(failure.error.details["did_you_mean"], "--gfx-id");
        assert_eq!(failure.error.details["known_total"], 6);
    }

    #[test]
    fn help_comes_from_the_schema() {
        let help = built(&["--help"]).unwrap();
        let help = help.as_str().unwrap();
        for part in
            ["Does it. Really.", "--gfx-id <TEXT>", "[required]", "0..500", "[default: 20]", "--timeout"]
        {
            assert!(help.contains(part), "{part} in {help}");
        }
    }

    #[test]
    fn the_tool_is_the_first_word_that_is_no_option() {
        let place = |words: &[&str]| tool_place(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(place(&["arch.x", "--gfx-id", "g"]), Some(0));
        assert_eq!(place(&["--format", "text", "-v", "arch.x"]), Some(3));
        assert_eq!(place(&["--help"]), None);
    }
}
