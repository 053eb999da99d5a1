//! `perfxpert providers`: which model services could be asked, without asking any unless told to.

use clap::{ArgMatches, Command};
use perfxpert_agent::{ProviderStatus, probe};
use perfxpert_schemas::tools::agent::run::ProviderName;
use serde_json::{Value, json};

use crate::commands::tools::pretty;
use crate::failure::Failure;
use crate::options::{self, Values};
use crate::settings::Settings;
use crate::{App, reach, text};

/// The table of `providers`.
pub fn table() -> Command {
    let list = options::command(
        "list",
        "List the model services and whether they are set up",
        ["perfxpert providers list", "perfxpert providers list --online"],
    )
    .args([
        options::switch("json", "JSON instead of a table", None),
        options::switch("online", "Also ask whether each configured service answers", None),
    ]);
    options::command(
        "providers",
        "List the model services that could word an answer",
        ["perfxpert providers list", "perfxpert providers list --json"],
    )
    .subcommand_required(true)
    .subcommand(list)
}

/// One service as it is shown.
pub struct Row {
    /// What the settings say.
    pub status: ProviderStatus,
    /// Whether it answered, when it was asked.
    pub reachable: Option<bool>,
}

impl Row {
    fn word(&self, airgap: bool) -> &'static str {
        match (airgap, self.status.configured, self.reachable) {
            (true, ..) => "blocked (air-gap)",
            (_, false, _) => "missing",
            (_, true, None) => "configured",
            (_, true, Some(true)) => "reachable",
            (_, true, Some(false)) => "unreachable",
        }
    }
}

/// Every service, sorted by name.
///
/// # Errors
/// `config` for a bad file.
pub fn rows(app: &App, settings: &Settings, online: bool) -> Vec<Row> {
    let mut rows: Vec<Row> = probe(&settings.of_models(&app.environment))
        .into_iter()
        .map(|status| {
            let asks = online && status.configured;
            let reachable = asks.then(|| reach::answers(&app.environment, &status));
            Row { status, reachable }
        })
        .collect();
    rows.sort_by_key(|row| row.status.name.as_str());
    rows
}

/// What a service is, in one line.
pub fn description(name: ProviderName) -> &'static str {
    match name.as_str() {
        "anthropic" => "Anthropic's Messages API",
        "ollama" => "models served on your own machine or network",
        "openai" => "OpenAI's Chat Completions API",
        "opencode" => "the opencode program with the account it is logged in to",
        _ => "any endpoint that speaks the Chat Completions API",
    }
}

/// Lists the services.
///
/// # Errors
/// `usage` or `config`.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let Some((_, matches)) = matches.subcommand() else { return Ok(0) };
    let values = Values::new(matches, &app.environment);
    let settings = Settings::read(app)?;
    let airgap = settings.airgap(&app.environment, false);
    let rows = rows(app, &settings, values.switch("online") && airgap.is_none());
    let product =
        if values.switch("json") { as_json(&rows, airgap) } else { as_table(&rows, airgap.is_some()) };
    app.terminal.product(&product)?;
    Ok(0)
}

fn as_json(rows: &[Row], airgap: Option<&str>) -> String {
    let row = |row: &Row| {
        json!({
            "name": row.status.name.as_str(),
            "status": row.word(airgap.is_some()),
            "configured": row.status.configured,
            "reachable": row.reachable,
            "model": row.status.model,
            "model_source": row.status.model_source,
            "host": row.status.host,
            "env_hint": row.status.name.credential_hint(),
            "description": description(row.status.name),
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    pretty(&json!({ "airgap": airgap.is_some(), "airgap_source": airgap, "providers": rows }))
}

fn as_table(rows: &[Row], airgap: bool) -> String {
    let head = ["Provider", "Status", "Model", "Env hint"].map(str::to_owned);
    let cells = |row: &Row| {
        [
            row.status.name.as_str().to_owned(),
            row.word(airgap).to_owned(),
            row.status.model.clone().unwrap_or_else(|| "its own".to_owned()),
            row.status.name.credential_hint().to_owned(),
        ]
    };
    let table: Vec<[String; 4]> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| {
        table.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let mut lines: Vec<String> = Vec::new();
    for row in &table {
        let padded: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        lines.push(padded.join("  ").trim_end().to_owned());
    }
    lines.push(String::new());
    lines.extend(rows.iter().map(|row| format!("{}: {}", row.status.name, description(row.status.name))));
    text::escape(&lines.join("\n"))
}
