//! `perfxpert config`: shows and edits the configuration file.

use clap::{ArgMatches, Command};
use perfxpert_agent::config::{self, Config, KEYS, Key, Place, Value};
use serde_json::{Map, Value as Json, json};

use crate::commands::tools::pretty;
use crate::failure::Failure;
use crate::options::{self, Values};
use crate::settings::{self, Settings, Source};
use crate::{App, config_edit, output, text};

/// The table of `config`.
pub fn table() -> Command {
    let positional = |name: &'static str, shown: &'static str, help: &'static str| {
        clap::Arg::new(name).value_name(shown).help(help).required(true)
    };
    let key = || positional("key", "KEY", "The key");
    let show = options::command(
        "show",
        "Print the effective values",
        ["perfxpert config show", "perfxpert config show --sources"],
    )
    .args([
        options::switch("json", "JSON instead of YAML", None),
        options::switch("sources", "Say where each value comes from", None),
    ]);
    let get = options::command(
        "get",
        "Print one effective value",
        ["perfxpert config get provider", "perfxpert config get airgap"],
    )
    .arg(key());
    let set = options::command(
        "set",
        "Write one key into the file",
        ["perfxpert config set provider ollama", "perfxpert config set fallback_chain openai,ollama"],
    )
    .args([
        key(),
        positional("value", "VALUE", "The value; lists are comma-separated").allow_hyphen_values(true),
    ]);
    let unset = options::command(
        "unset",
        "Remove one key from the file",
        ["perfxpert config unset model", "perfxpert config unset airgap"],
    )
    .arg(key());
    let path = options::command(
        "path",
        "Print the file's path, whether or not it exists",
        ["perfxpert config path", "perfxpert config path --config ./my.yaml"],
    );
    options::command(
        "config",
        "Show and edit the configuration file",
        ["perfxpert config show --sources", "perfxpert config set airgap true"],
    )
    .subcommand_required(true)
    .subcommands([show, get, set, unset, path])
}

/// Runs the action.
///
/// # Errors
/// `usage` for an unknown key or a bad value, `config` for a bad file, `output` when it cannot be written.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let Some((action, matches)) = matches.subcommand() else { return Ok(0) };
    let values = Values::new(matches, &app.environment);
    let product = match action {
        "show" => show(app, &values)?,
        "get" => {
            let key = known(values.text("key").unwrap_or_default())?;
            line(&Settings::read(app)?.value_of(&app.environment, key)?.0)
        }
        "set" => {
            let key = known(values.text("key").unwrap_or_default())?;
            let given = values.text("value").unwrap_or_default();
            let value = key.read(given).map_err(|why| {
                Failure::usage(
                    key.name,
                    format!("{}: '{given}' {why}.", key.name),
                    "Write one of the accepted values.",
                )
            })?;
            edit(app, |text| config_edit::set(text, key.name, &value.to_string()))?;
            format!("set {}={}", key.name, line(&value))
        }
        "unset" => {
            let key = known(values.text("key").unwrap_or_default())?;
            edit(app, |text| config_edit::unset(text, key.name))?;
            format!("unset {}", key.name)
        }
        _ => place(app)?.path.display().to_string(),
    };
    app.terminal.product(&text::escape(&product))?;
    Ok(0)
}

fn known(name: &str) -> Result<&'static Key, Failure> {
    config::find(name).ok_or_else(|| {
        let names = || KEYS.iter().map(|key| key.name);
        let secret = ["key", "token", "secret"].iter().any(|part| name.to_lowercase().contains(part));
        let hint = if secret && name != "max_tokens" {
            "Credentials are read from the environment.".to_owned()
        } else {
            format!("Use one of {}.", names().collect::<Vec<_>>().join(", "))
        };
        let failure =
            Failure::usage(name, format!("{name}: unknown key."), hint).map(|error| error.known(names()));
        // A wrong guess beside the advice about credentials would hide it.
        if secret { failure } else { failure.near(name, names()) }
    })
}

/// One value on one line: lists with commas, texts bare.
fn line(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(words) => words.join(","),
        other => other.to_string(),
    }
}

fn show(app: &App, values: &Values<'_>) -> Result<String, Failure> {
    let settings = Settings::read(app)?;
    let sources = values.switch("sources");
    let mut lines = Vec::new();
    let mut object = Map::new();
    for key in &KEYS {
        let (value, source) = settings.value_of(&app.environment, key)?;
        let origin = match source {
            Source::Default => "default".to_owned(),
            Source::File => "file".to_owned(),
            Source::Variable => format!("env {}", key.variable),
        };
        let json = as_json(&value);
        object.insert(
            key.name.to_owned(),
            if sources { json!({ "value": json, "source": origin }) } else { json },
        );
        lines.push(if sources {
            format!("{}: {value} # {origin}", key.name)
        } else {
            format!("{}: {value}", key.name)
        });
    }
    Ok(if values.switch("json") { pretty(&Json::Object(object)) } else { lines.join("\n") })
}

fn as_json(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Boolean(value) => json!(value),
        Value::Number(value) => json!(value),
        Value::Integer(value) => json!(value),
        Value::List(words) => json!(words),
        Value::Null => Json::Null,
    }
}

fn place(app: &App) -> Result<Place, Failure> {
    settings::place(app).ok_or_else(|| {
        Failure::output("the configuration file", "there is no home folder").map(|error| {
            perfxpert_schemas::ErrorObject {
                hint: "Set HOME or name a file with --config.".to_owned(),
                ..error
            }
        })
    })
}

/// Reads the file, changes it and writes it back; a file that cannot be read is never rewritten.
fn edit(app: &App, change: impl Fn(&str) -> String) -> Result<(), Failure> {
    let place = place(app)?;
    let old = if place.path.exists() {
        place.text().map_err(|fault| settings::failure(&place, &fault))?.unwrap_or_default()
    } else {
        String::new()
    };
    Config::parse(&old).map_err(|fault| settings::failure(&place, &fault))?;
    let new = change(&old);
    Config::parse(&new).map_err(|fault| settings::failure(&place, &fault))?;
    if new != old {
        output::write_private(&place.path, new.as_bytes())?;
    }
    Ok(())
}
