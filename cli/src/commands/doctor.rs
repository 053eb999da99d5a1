//! `perfxpert doctor`: is everything that an analysis needs in its place? It creates and changes nothing.

use clap::{ArgMatches, Command};
use serde_json::{Value, json};

use crate::App;
use crate::commands::tools::pretty;
use crate::failure::Failure;
use crate::options::{self, Values};

mod checks;
mod server;

/// The table of `doctor`.
pub fn table() -> Command {
    let examples = ["perfxpert doctor", "perfxpert doctor --json --online"];
    options::command("doctor", "Check this installation", examples).args([
        options::switch("json", "JSON instead of lines", None),
        options::switch("online", "Also ask whether each configured model service answers", None),
    ])
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    Info,
    Warn,
    Fail,
}

impl Status {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Self::Ok => "✓",
            Self::Info => "·",
            Self::Warn => "⚠",
            Self::Fail => "✗",
        }
    }
}

/// One check: what was looked at and what was found.
#[derive(Clone, Debug)]
struct Check {
    id: &'static str,
    status: Status,
    message: String,
    hint: Option<String>,
    details: Value,
}

impl Check {
    fn new(id: &'static str, status: Status, message: impl Into<String>) -> Self {
        Self { id, status, message: message.into(), hint: None, details: json!({}) }
    }

    fn ok(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(id, Status::Ok, message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    fn as_json(&self) -> Value {
        json!({
            "id": self.id, "status": self.status.word(), "message": self.message, "hint": self.hint,
            "details": self.details,
        })
    }
}

/// Runs every check and prints what it found: 0 when nothing failed, 1 otherwise.
///
/// # Errors
/// `output` when standard output cannot be written.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let online = values.switch("online");
    let mut list = vec![checks::version()];
    list.extend(server::all(app));
    list.extend([checks::config(app), checks::task_store(app)]);
    list.extend([checks::providers(app, online), checks::opencode(app), checks::mode(app)]);
    list.push(checks::environment(app));
    list.extend([
        checks::profilers(app),
        checks::att_decoder(app),
        checks::mcp_clients(app),
        checks::gpus(app),
    ]);
    let count = |status: Status| list.iter().filter(|check| check.status == status).count();
    let clean = count(Status::Fail) == 0;
    let product = if values.switch("json") {
        let rows: Vec<Value> = list.iter().map(Check::as_json).collect();
        pretty(&json!({
            "schema_version": "1.0",
            "ok": clean,
            "summary": {
                "ok": count(Status::Ok), "info": count(Status::Info),
                "warn": count(Status::Warn), "fail": count(Status::Fail),
            },
            "checks": rows,
        }))
    } else {
        let mut lines = Vec::new();
        for check in &list {
            lines.push(format!("{} {}", check.status.mark(), check.message));
            lines.extend(check.hint.iter().map(|hint| format!("  {hint}")));
        }
        lines.push(if clean { "ALL CLEAN" } else { "Issues found" }.to_owned());
        crate::text::escape(&lines.join("\n"))
    };
    app.terminal.product(&product)?;
    Ok(u8::from(!clean))
}
