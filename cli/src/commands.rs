//! The commands in help order, and which function runs which.

use clap::{ArgMatches, Command};

use crate::App;
use crate::failure::Failure;
use crate::options;

pub mod analyze;
pub mod call;
pub mod ci;
pub mod completions;
pub mod config;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod init;
pub mod mcp;
pub mod mcp_setup;
pub mod providers;
pub mod tools;

/// One command: how it is declared and what runs it.
struct Entry {
    table: fn() -> Command,
    run: fn(&App, &ArgMatches) -> Result<u8, Failure>,
}

/// Every command, in the order of the help.
const COMMANDS: &[Entry] = &[
    Entry { table: analyze::table, run: analyze::run },
    Entry { table: diff::table, run: diff::run },
    Entry { table: ci::table, run: ci::run },
    Entry { table: init::table, run: init::run },
    Entry { table: doctor::table, run: doctor::run },
    Entry { table: config::table, run: config::run },
    Entry { table: providers::table, run: providers::run },
    Entry { table: mcp::table, run: mcp::run },
    Entry { table: call::table, run: call::run },
    Entry { table: tools::table, run: tools::run },
    Entry { table: demo::table, run: demo::run },
    Entry { table: completions::table, run: completions::run },
];

/// The whole command line.
pub fn root() -> Command {
    let examples = ["perfxpert analyze -i trace.db", "perfxpert tools list"];
    options::command("perfxpert", "Tells why a program is slow on AMD GPUs and what to do about it", examples)
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(COMMANDS.iter().map(|entry| options::with_shared((entry.table)())))
}

/// Runs the command that was parsed; returns its exit code.
///
/// # Errors
/// Whatever ended it early.
pub fn dispatch(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(0) };
    match COMMANDS.iter().find(|entry| (entry.table)().get_name() == name) {
        Some(entry) => (entry.run)(app, matches),
        None => Err(Failure::internal(format!("{name} has no code behind it."), "Report this.")),
    }
}
