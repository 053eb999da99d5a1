//! The `perfxpert` command line: a client of the MCP server that it starts as its own child process.
//!
//! Every number it prints comes from a tool of that server. It never opens a trace, never computes a metric and never
//! talks to a model; only the binaries in `src/bin` know the server, through the [`Serve`] function they pass in.

use std::ffi::OsString;
use std::process::ExitCode;

use perfxpert_schemas::ErrorObject;

use crate::arguments::Early;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::options::Values;
use crate::terminal::{Colour, Terminal};

pub mod arguments;
pub mod catalogue;
pub mod client;
pub mod commands;
pub mod config_edit;
pub mod discovery;
pub mod environment;
pub mod failure;
pub mod inputs;
pub mod mcp_clients;
pub mod model;
pub mod options;
pub mod output;
pub mod program;
pub mod progress;
pub mod reach;
pub mod render;
pub mod settings;
pub mod signals;
pub mod terminal;
pub mod text;

/// What `mcp serve` was told on its command line; variables are the server's own business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeRequest {
    /// `--tool-names`.
    pub tool_names: Option<String>,
    /// `--log-level`.
    pub log_level: Option<String>,
    /// `--tools`.
    pub tools: Option<String>,
    /// `--airgap`.
    pub airgap: bool,
    /// `--config`.
    pub config: Option<String>,
}

/// Runs the MCP server in this process until its input ends.
pub type Serve = fn(&ServeRequest) -> Result<ExitCode, ErrorObject>;

/// What every command has at hand.
pub struct App {
    /// The environment at the start.
    pub environment: Environment,
    /// Standard output and error.
    pub terminal: Terminal,
    /// `--config`, as given.
    pub config_flag: Option<String>,
    /// The command line after the program's name.
    pub words: Vec<String>,
    /// How to become the server.
    pub serve: Serve,
}

/// The program `perfxpert`: parses, runs one command, and returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>, serve: Serve) -> ExitCode {
    finish(commands::root(), arguments, serve, |app, matches| {
        // The server keeps the system's own handling: Ctrl-C must end it even while it waits for input.
        if !commands::mcp::serves(matches) {
            signals::install();
        }
        commands::dispatch(app, matches)
    })
}

/// The program `perfxpert-mcp`: the server alone.
pub fn run_server(arguments: impl IntoIterator<Item = OsString>, serve: Serve) -> ExitCode {
    finish(commands::mcp::server_program(), arguments, serve, commands::mcp::serve)
}

fn finish(
    root: clap::Command,
    arguments: impl IntoIterator<Item = OsString>,
    serve: Serve,
    command: fn(&App, &clap::ArgMatches) -> Result<u8, Failure>,
) -> ExitCode {
    let environment = Environment::of_process();
    let words = arguments::words(arguments);
    // Errors are shaped before the options are parsed, because parsing is what most often fails.
    let mut terminal = Terminal::new(&environment, None);
    let asked = words
        .as_ref()
        .is_ok_and(|words| words.iter().take_while(|word| *word != "--").any(|word| word == "--json-errors"));
    terminal.json_errors = asked || environment.boolean("PERFXPERT_JSON_ERRORS").ok().flatten() == Some(true);
    terminal.debug = environment.boolean("PERFXPERT_DEBUG").ok().flatten() == Some(true);
    let outcome = words.map_err(Early::from).and_then(|words| {
        let words = arguments::without_help_command(words);
        let matches = arguments::parse(&root, &words)?;
        let app = app(environment, words, &matches, &mut terminal, serve)?;
        Ok(command(&app, &matches)?)
    });
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(Early::Show(text)) => match terminal.product(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => ExitCode::from(failure.exit_code()),
        },
        Err(Early::Fail(failure)) => {
            terminal.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Reads the options that every command accepts. `terminal` is updated in place, so that errors after this obey them.
fn app(
    environment: Environment,
    words: Vec<String>,
    matches: &clap::ArgMatches,
    terminal: &mut Terminal,
    serve: Serve,
) -> Result<App, Early> {
    // The options of `call` are parsed when its tool is known; the shared ones among them count from the start.
    let shared =
        (matches.subcommand_name() == Some("call")).then(|| arguments::shared(&words)).transpose()?;
    let mut deepest = shared.as_ref().unwrap_or(matches);
    while let Some((_, inner)) = deepest.subcommand() {
        deepest = inner;
    }
    let values = Values::new(deepest, &environment);
    let colour = values.text("color").map(|word| match word {
        "always" => Colour::Always,
        "never" => Colour::Never,
        _ => Colour::Auto,
    });
    let verbosity = match values.count("verbose") {
        0 => match environment.choice("PERFXPERT_LOG", &environment::table::LOG_LEVELS)?.as_deref() {
            _ if values.switch("quiet") => 0,
            Some("info") => 1,
            Some("debug") => 2,
            Some("trace") => 3,
            _ => 0,
        },
        given => given,
    };
    *terminal = Terminal::new(&environment, colour).speaking(
        values.switch("quiet"),
        verbosity,
        values.switch_or("json-errors", "PERFXPERT_JSON_ERRORS")?,
        environment.boolean("PERFXPERT_DEBUG")?.unwrap_or(false),
    );
    let config_flag = values.path("config")?.map(str::to_owned);
    Ok(App { environment, terminal: terminal.clone(), config_flag, words, serve })
}
