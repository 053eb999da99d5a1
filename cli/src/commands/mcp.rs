//! `perfxpert mcp`: the server itself.

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use crate::commands::mcp_setup;
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::{App, ServeRequest};

/// The table of `mcp`.
pub fn table() -> Command {
    let examples = ["perfxpert mcp", "perfxpert mcp serve --tools agents --tool-names bare"];
    let command = options::command("mcp", "Run the MCP server, or set it up in a client", examples);
    with_serve_options(command)
        .args_conflicts_with_subcommands(true)
        .subcommand(serve_table("serve"))
        .subcommands(mcp_setup::tables())
}

/// The program `perfxpert-mcp`: the same options as `mcp serve`.
pub fn server_program() -> Command {
    options::with_shared(serve_table("perfxpert-mcp").version(env!("CARGO_PKG_VERSION")))
}

fn serve_table(name: &'static str) -> Command {
    let examples = if name == "serve" {
        ["perfxpert mcp serve", "perfxpert mcp serve --tools agents --tool-names bare"]
    } else {
        ["perfxpert-mcp", "perfxpert-mcp --tools agents --tool-names bare"]
    };
    with_serve_options(options::command(name, "Serve MCP on stdin and stdout until stdin ends", examples))
}

fn with_serve_options(command: Command) -> Command {
    command.args([
        options::word(
            "tool-names",
            &["prefixed", "bare"],
            "Names in tools/list",
            Absent::is("prefixed").or_variable("PERFXPERT_MCP_TOOL_NAMES"),
        ),
        options::word(
            "log-level",
            &crate::environment::table::LOG_LEVELS,
            "Log on stderr",
            Absent::is("warn").or_variable("PERFXPERT_LOG"),
        ),
        options::switch("airgap", "Never use a model or the network", Some("PERFXPERT_AIRGAP")),
        options::value(
            "tools",
            "LIST",
            "all, agents, or a comma list of names and namespaces",
            Absent::is("all"),
        ),
    ])
}

/// Runs the action; without one it serves.
///
/// # Errors
/// Whatever ended it early.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    match matches.subcommand() {
        Some(("serve", matches)) => serve(app, matches),
        Some((action, matches)) => mcp_setup::run(app, action, matches),
        None => serve(app, matches),
    }
}

/// Whether these matches ask this process to be the server.
pub fn serves(matches: &ArgMatches) -> bool {
    let inner =
        matches.subcommand().filter(|(name, _)| *name == "mcp").map(|(_, inner)| inner.subcommand_name());
    matches!(inner, Some(None | Some("serve")))
}

/// Becomes the server.
///
/// # Errors
/// `unknown_name` for `--tools` that names no tool.
pub fn serve(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let own = |name: &str| values.text(name).map(str::to_owned);
    let request = ServeRequest {
        tool_names: own("tool-names"),
        // The switch of every command counts as well, so that `mcp -vv` does what it says.
        log_level: own("log-level").or_else(|| match values.count("verbose") {
            0 => None,
            1 => Some("info".to_owned()),
            _ => Some("debug".to_owned()),
        }),
        tools: own("tools"),
        airgap: values.switch("airgap"),
        config: app.config_flag.clone(),
    };
    let code = (app.serve)(&request)?;
    Ok(u8::from(code != ExitCode::SUCCESS))
}
