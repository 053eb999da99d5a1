//! Checks a command line against the option tables.

use serde::Deserialize;

use super::shell;
use crate::collect::{self, Takes};
use crate::document::table;

/// Why a command line cannot be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Not a shell line.
    #[error("{0}")]
    Quote(#[from] shell::UnbalancedQuote),
    /// The first word is no tool of the tables.
    #[error("{0} is no known tool")]
    UnknownTool(String),
    /// The tool has no such command.
    #[error("{tool} has no command {command}")]
    UnknownCommand {
        /// Executable.
        tool: String,
        /// What stood in the command's place.
        command: String,
    },
    /// The tool has no such option.
    #[error("{tool} has no option {option}")]
    UnknownOption {
        /// Executable.
        tool: String,
        /// The option.
        option: String,
    },
}

/// An option of a tool other than rocprofv3.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolOption {
    /// Long spelling.
    pub name: String,
    /// Other spellings.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Values it takes.
    pub takes: Takes,
}

/// A command of a tool, `rocprof-compute profile`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCommand {
    /// First word after the executable.
    pub name: String,
    /// Its options.
    pub options: Vec<ToolOption>,
}

/// A tool and what may be printed of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolTable {
    /// Names of the executables.
    pub executables: Vec<String>,
    /// Its commands, if it has any.
    #[serde(default)]
    pub commands: Vec<ToolCommand>,
    /// Options of a tool without commands.
    #[serde(default)]
    pub options: Vec<ToolOption>,
}

table! {
    fn rocprof_compute() -> ToolTable = "collect/rocprof_compute";
}
table! {
    fn rocprof_sys() -> ToolTable = "collect/rocprof_sys";
}
table! {
    fn amd_smi() -> ToolTable = "collect/amd_smi";
}
table! {
    fn perfxpert() -> ToolTable = "collect/perfxpert";
}

/// The tables of all tools but rocprofv3.
pub fn tables() -> [&'static ToolTable; 4] {
    [rocprof_compute(), rocprof_sys(), amd_smi(), perfxpert()]
}

/// Whether a printed line holds only options its tool has. Words after `--`, a redirection and values are not
/// looked at.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(line: &str) -> Result<(), CommandError> {
    let words = shell::split(line)?;
    let end = |word: &&String| !matches!(word.as_str(), "--" | ">" | "|" | "&&" | ";");
    let mut words = words.iter().take_while(end);
    let tool = words.next().map_or("", String::as_str);
    let known: Box<dyn Fn(&str) -> bool> = if tool == "rocprofv3" {
        Box::new(|option| collect::rocprofv3_options().find(option).is_some())
    } else {
        let table = tables()
            .into_iter()
            .find(|table| table.executables.iter().any(|name| name == tool))
            .ok_or_else(|| CommandError::UnknownTool(tool.to_owned()))?;
        let options = if table.commands.is_empty() {
            &table.options
        } else {
            let command = words.next().map_or("", String::as_str);
            let found = table.commands.iter().find(|row| row.name == command).ok_or_else(|| {
                CommandError::UnknownCommand { tool: tool.to_owned(), command: command.to_owned() }
            })?;
            &found.options
        };
        Box::new(|option| {
            options.iter().any(|row| row.name == option || row.aliases.iter().any(|a| a == option))
        })
    };
    for word in words.filter(|word| word.starts_with('-') && word.len() > 1) {
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        if !known(option) {
            return Err(CommandError::UnknownOption { tool: tool.to_owned(), option: option.to_owned() });
        }
    }
    Ok(())
}
