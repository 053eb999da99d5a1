//! Parses the command line with clap and turns its refusals into our one-line errors.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use clap::{ArgMatches, Command, Error};

use crate::failure::Failure;

/// What came of the command line without running anything.
pub enum Early {
    /// Text for standard output: help or the version.
    Show(String),
    /// A usage error.
    Fail(Box<Failure>),
}

impl From<Failure> for Early {
    fn from(failure: Failure) -> Self {
        Self::Fail(Box::new(failure))
    }
}

/// The words after the program's name.
///
/// # Errors
/// `usage` for a word that is not UTF-8: it could not be sent to the analysis server.
pub fn words(arguments: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, Failure> {
    let word = |word: OsString| {
        word.into_string().map_err(|word| {
            let shown = word.to_string_lossy().into_owned();
            Failure::usage(&shown, format!("{shown}: the argument is not UTF-8."), "Rename the file.")
        })
    };
    arguments.into_iter().skip(1).map(word).collect()
}

/// `help a b` asks for the same as `a b --help`.
pub fn without_help_command(mut words: Vec<String>) -> Vec<String> {
    if words.first().is_some_and(|word| word == "help") {
        words.remove(0);
        words.push("--help".to_owned());
    }
    words
}

/// Parses the words.
///
/// # Errors
/// Help or version to show, or a usage error.
pub fn parse(root: &Command, words: &[String]) -> Result<ArgMatches, Early> {
    let line = std::iter::once(root.get_name().to_owned()).chain(words.iter().cloned());
    root.clone().try_get_matches_from(line).map_err(|error| refusal(root, words, &error))
}

/// Parses only the options that every command accepts, wherever they stand.
///
/// # Errors
/// A usage error in one of them.
pub fn shared(words: &[String]) -> Result<ArgMatches, Early> {
    let mut found = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or(word);
        match name {
            "--config" | "--color" => {
                found.push(word.clone());
                if name == word {
                    found.extend(rest.next().cloned());
                }
            }
            "--json-errors" | "--quiet" | "--verbose" | "-q" | "-v" | "-vv" | "-vvv" => {
                found.push(word.clone())
            }
            "--" => break,
            _ => {}
        }
    }
    parse(&crate::options::with_shared(Command::new("call")), &found)
}

/// The deepest command that the words name, and its path such as `mcp install`.
fn place<'a>(root: &'a Command, words: &[String]) -> (&'a Command, String) {
    let mut command = root;
    let mut path = Vec::new();
    for word in words {
        if let Some(inner) = command.find_subcommand(word) {
            command = inner;
            path.push(word.as_str());
        } else if !word.starts_with('-') {
            break;
        }
    }
    (command, path.join(" "))
}

fn context(error: &Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// `--format <WORD>` → `--format`; `<NEW>` → `NEW`.
fn bare(argument: &str) -> String {
    let first = argument.split([' ', '=']).next().unwrap_or(argument);
    first.trim_start_matches('<').trim_end_matches(['>', '.']).trim_end_matches('>').to_owned()
}

fn refusal(root: &Command, words: &[String], error: &Error) -> Early {
    let (command, path) = place(root, words);
    let program = root.get_name();
    let whole = if path.is_empty() { program.to_owned() } else { format!("{program} {path}") };
    let see = format!("See {whole} --help.");
    let argument = context(error, ContextKind::InvalidArg).map(|text| bare(&text)).unwrap_or_default();
    let given = context(error, ContextKind::InvalidValue).unwrap_or_default();
    let named = if path.is_empty() { program } else { &path };
    match error.kind() {
        ClapKind::DisplayHelp
        | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ClapKind::DisplayVersion => Early::Show(error.render().to_string()),
        ClapKind::UnknownArgument if path.is_empty() && (argument == "-o" || argument == "-d") => {
            let value = if argument == "-o" { "NAME" } else { "DIR" };
            Failure::usage(
                &argument,
                format!("option '{argument}' goes after the command:"),
                format!("perfxpert analyze … {argument} {value}"),
            )
            .into()
        }
        ClapKind::UnknownArgument if argument.starts_with('-') => {
            let message = format!("{argument}: unknown option for {named}.");
            match former_option(&argument) {
                Some(hint) => Failure::usage(&argument, message, hint).into(),
                None => Failure::usage(&argument, message, see)
                    .near(&argument, long_options(command).iter().map(String::as_str))
                    .into(),
            }
        }
        ClapKind::UnknownArgument => {
            Failure::usage(&argument, format!("{argument}: unexpected argument for {named}."), see).into()
        }
        ClapKind::InvalidSubcommand => {
            let word = context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let what = if path.is_empty() { "command" } else { "action" };
            Failure::usage(&word, format!("{word}: unknown {what}."), see)
                .near(&word, command.get_subcommands().map(Command::get_name))
                .into()
        }
        ClapKind::MissingSubcommand => {
            let actions: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let hint = format!("Use one of {}.", actions.join(", "));
            Failure::usage(named, format!("{named}: an action is missing."), hint).into()
        }
        ClapKind::InvalidValue if given.is_empty() => {
            Failure::usage(&argument, format!("{argument}: a value is missing."), see).into()
        }
        ClapKind::InvalidValue => match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(words)) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                Failure::choice(&argument, &given, &words).into()
            }
            _ => Failure::usage(&argument, format!("{argument}: '{given}' cannot be used."), see).into(),
        },
        ClapKind::NoEquals | ClapKind::TooFewValues | ClapKind::WrongNumberOfValues => {
            Failure::usage(&argument, format!("{argument}: a value is missing."), see).into()
        }
        ClapKind::TooManyValues => {
            Failure::usage(&argument, format!("{argument}: takes no value '{given}'."), see).into()
        }
        ClapKind::ArgumentConflict => {
            let prior = context(error, ContextKind::PriorArg).map(|text| bare(&text)).unwrap_or_default();
            if prior == argument || prior.is_empty() {
                Failure::usage(&argument, format!("{argument}: given twice."), "Give it once.").into()
            } else {
                let message = format!("{argument} and {prior} cannot be used together.");
                Failure::usage(&argument, message, "Choose one.").into()
            }
        }
        ClapKind::MissingRequiredArgument => {
            Failure::usage(&argument, format!("{named}: {argument} is missing."), see).into()
        }
        _ => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Failure::usage(named, format!("{line}."), see).into()
        }
    }
}

fn long_options(command: &Command) -> Vec<String> {
    command.get_arguments().filter_map(|arg| arg.get_long()).map(|long| format!("--{long}")).collect()
}

/// What replaced an option of earlier releases.
fn former_option(option: &str) -> Option<&'static str> {
    matches!(option, "--llm-local" | "--llm-local-model").then_some("Use --llm ollama.")
}
