//! Option tables: how an option is declared, shown in help with its default and variable, and read as a typed value.

use std::ops::RangeInclusive;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::environment::{self, Environment};
use crate::failure::Failure;

/// Columns of all help.
const HELP_WIDTH: usize = 100;
/// Heading of the options that every command accepts.
const SHARED: &str = "Options of every command";

/// A command with its one sentence and its two examples.
pub fn command(name: &'static str, about: &'static str, examples: [&str; 2]) -> Command {
    let [first, second] = examples;
    Command::new(name)
        .about(about)
        .after_help(format!("Examples:\n  {first}\n  {second}"))
        .term_width(HELP_WIDTH)
        .disable_help_subcommand(true)
        .color(clap::ColorChoice::Never)
}

/// An option with a value. Its help ends with what holds when it is absent.
pub fn value(name: &'static str, value_name: &'static str, help: &str, absent: Absent) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value_name)
        .help(absent.describe(help))
        .num_args(1)
        .allow_negative_numbers(true)
}

/// An option with one of a few words.
pub fn word(name: &'static str, words: &[&'static str], help: &str, absent: Absent) -> Arg {
    let help = format!("{help}: {}", words.join(", "));
    Arg::new(name)
        .long(name)
        .value_name("WORD")
        .help(absent.describe(&help))
        .num_args(1)
        .value_parser(PossibleValuesParser::new(words.to_vec()))
        .hide_possible_values(true)
}

/// An option without a value.
pub fn switch(name: &'static str, help: &str, variable: Option<&str>) -> Arg {
    let absent = Absent { default: None, variable };
    Arg::new(name).long(name).help(absent.describe(help)).action(ArgAction::SetTrue)
}

/// What holds when an option is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Absent<'a> {
    default: Option<&'a str>,
    variable: Option<&'a str>,
}

impl<'a> Absent<'a> {
    /// Nothing holds.
    pub const NOTHING: Absent<'static> = Absent { default: None, variable: None };

    /// This value holds.
    pub const fn is(default: &'a str) -> Self {
        Self { default: Some(default), variable: None }
    }

    /// A variable is asked first.
    pub const fn or_variable(self, variable: &'a str) -> Self {
        Self { variable: Some(variable), ..self }
    }

    fn describe(self, help: &str) -> String {
        let mut text = help.to_owned();
        if let Some(default) = self.default {
            text.push_str(&format!(" [default: {default}]"));
        }
        if let Some(variable) = self.variable {
            text.push_str(&format!(" [env: {variable}]"));
        }
        text
    }
}

/// Adds the options that every command accepts.
pub fn with_shared(command: Command) -> Command {
    let shared = [
        switch("json-errors", "Errors as one JSON line", Some("PERFXPERT_JSON_ERRORS")),
        switch("quiet", "No notes, warnings or progress on stderr", None)
            .short('q')
            .conflicts_with("verbose"),
        switch("verbose", "Log lines on stderr; twice for more", Some("PERFXPERT_LOG"))
            .short('v')
            .action(ArgAction::Count),
        word(
            "color",
            &["auto", "always", "never"],
            "Colour",
            Absent::is("auto").or_variable("NO_COLOR, CLICOLOR_FORCE"),
        ),
        value(
            "config",
            "PATH",
            "Configuration file",
            Absent::is("~/.config/perfxpert/config.yaml").or_variable("PERFXPERT_CONFIG"),
        ),
    ];
    command.args(shared.map(|arg| arg.global(true).help_heading(SHARED)))
}

/// The options of one parsed command, read as typed values: flag first, then the variable.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    matches: &'a ArgMatches,
    environment: &'a Environment,
}

impl<'a> Values<'a> {
    /// Reads from these matches, falling back to this environment.
    pub fn new(matches: &'a ArgMatches, environment: &'a Environment) -> Self {
        Self { matches, environment }
    }

    /// Whether a switch was given.
    pub fn switch(&self, name: &str) -> bool {
        self.matches.try_get_one::<bool>(name).ok().flatten().copied().unwrap_or(false)
    }

    /// Whether a switch was given or its variable is true.
    ///
    /// # Errors
    /// `usage` for a variable that is no boolean.
    pub fn switch_or(&self, name: &str, variable: &str) -> Result<bool, Failure> {
        Ok(self.switch(name) || self.environment.boolean(variable)?.unwrap_or(false))
    }

    /// How often a repeatable switch was given.
    pub fn count(&self, name: &str) -> u8 {
        self.matches.try_get_one::<u8>(name).ok().flatten().copied().unwrap_or(0)
    }

    /// The value of an option as it was given.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.matches.try_get_one::<String>(name).ok().flatten().map(String::as_str)
    }

    /// All values of a repeatable option or positional.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.matches
            .try_get_many::<String>(name)
            .ok()
            .flatten()
            .map(|v| v.cloned().collect())
            .unwrap_or_default()
    }

    /// Whether the option was given at all, with or without a value.
    pub fn is_given(&self, name: &str) -> bool {
        // Asked first: a command need not have every option that its parts look for.
        self.matches.try_contains_id(name).unwrap_or(false)
            && self.matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine)
    }

    /// A path that is not empty.
    ///
    /// # Errors
    /// `usage` for an empty path.
    pub fn path(&self, name: &str) -> Result<Option<&'a str>, Failure> {
        match self.text(name) {
            Some(path) => not_empty(&option(name), path).map(Some),
            None => Ok(None),
        }
    }

    /// Paths that are not empty.
    ///
    /// # Errors
    /// `usage` for an empty path.
    pub fn paths(&self, name: &str, shown: &str) -> Result<Vec<String>, Failure> {
        let paths = self.texts(name);
        for path in &paths {
            not_empty(shown, path)?;
        }
        Ok(paths)
    }

    /// A whole number in a range.
    ///
    /// # Errors
    /// `usage`, naming the option.
    pub fn integer(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Failure> {
        self.text(name).map(|text| integer(&option(name), text, range)).transpose()
    }

    /// A number in a range.
    ///
    /// # Errors
    /// `usage`, naming the option.
    pub fn number(&self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, Failure> {
        self.text(name).map(|text| number(&option(name), text, range)).transpose()
    }

    /// One of several words, from the option or its variable.
    ///
    /// # Errors
    /// `usage`, naming the variable; the option's own words are checked when it is parsed.
    pub fn word_or(&self, name: &str, variable: &str, words: &[&str]) -> Result<Option<String>, Failure> {
        match self.text(name) {
            Some(word) => Ok(Some(word.to_owned())),
            None => self.environment.choice(variable, words),
        }
    }
}

fn option(name: &str) -> String {
    format!("--{name}")
}

fn not_empty<'a>(field: &str, path: &'a str) -> Result<&'a str, Failure> {
    if path.is_empty() {
        return Err(Failure::usage(field, format!("{field}: the path is empty."), "Give a path."));
    }
    Ok(path)
}

/// A whole number in a range, as the value of `field`.
///
/// # Errors
/// `usage`, naming the field and the range.
pub fn integer(field: &str, text: &str, range: RangeInclusive<i64>) -> Result<i64, Failure> {
    let hint = match *range.end() {
        i64::MAX => format!("Write a whole number of at least {}.", range.start()),
        end => format!("Write a whole number from {} to {end}.", range.start()),
    };
    match environment::integer(text) {
        None => Err(Failure::usage(field, format!("{field}: '{text}' is not a whole number."), hint)),
        Some(value) if !range.contains(&value) => {
            Err(Failure::usage(field, format!("{field}: {text} is out of range."), hint))
        }
        Some(value) => Ok(value),
    }
}

/// A number in a range, as the value of `field`.
///
/// # Errors
/// `usage`, naming the field and the range.
pub fn number(field: &str, text: &str, range: RangeInclusive<f64>) -> Result<f64, Failure> {
    let hint = match text.trim().strip_suffix('%').filter(|bare| environment::number(bare).is_some()) {
        Some(bare) => format!("Write {}, not {}.", bare.trim(), text.trim()),
        None if *range.end() == f64::MAX => format!("Write a number of at least {}.", range.start()),
        None => format!("Write a number from {} to {}.", range.start(), range.end()),
    };
    match environment::number(text) {
        None => Err(Failure::usage(field, format!("{field}: '{text}' is not a number."), hint)),
        Some(value) if !range.contains(&value) => {
            Err(Failure::usage(field, format!("{field}: {text} is out of range."), hint))
        }
        Some(value) => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_gets_its_own_hint() {
        let failure = number("--threshold", "5%", 0.0..=1000.0).unwrap_err();
        assert_eq!(failure.line(), "perfxpert: error: --threshold: '5%' is not a number. Write 5, not 5%.");
        for text in ["nan", "inf", "", "1e400", "5 %%"] {
            let failure = number("--threshold", text, 0.0..=1000.0).unwrap_err();
            assert_eq!(failure.error.hint, "Write a number from 0 to 1000.", "{text}");
            assert_eq!(failure.exit_code(), 2);
        }
        assert!(number("--threshold", "1000.1", 0.0..=1000.0).is_err());
    }
}
