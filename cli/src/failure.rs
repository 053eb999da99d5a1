//! What ends a command early: the error object, its causes and the exit code it leads to.

use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::Value;

use crate::text;

/// Longest error line in characters.
const LONGEST_LINE: usize = 400;

/// An error on its way to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What the user is told.
    pub error: ErrorObject,
    /// What led to it, outermost first; shown with `PERFXPERT_DEBUG`.
    pub causes: Vec<String>,
    exit: Option<u8>,
}

impl Failure {
    /// A failure of any kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: ErrorObject::new(kind, message, hint), causes: Vec::new(), exit: None }
    }

    /// A wrong command line or variable; `field` is the option or variable at fault.
    pub fn usage(field: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let mut failure = Self::new(ErrorKind::Usage, message, hint);
        failure.error = failure.error.field(field);
        failure
    }

    /// A word that is none of the accepted ones.
    pub fn choice(field: &str, given: &str, words: &[&str]) -> Self {
        let message = format!("{field}: '{given}' is not one of {}.", words.join(", "));
        Self::usage(field, message, "Use one of these.").near(given, words.iter().copied())
    }

    /// A file that could not be written, with the reason.
    pub fn output(path: &str, why: impl std::fmt::Display) -> Self {
        let mut failure = Self::new(
            ErrorKind::Output,
            format!("{path} cannot be written: {why}."),
            "Choose another place with -o or -d.",
        );
        failure.error = failure.error.path(path);
        failure
    }

    /// A fault of ours or of the machine.
    pub fn internal(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message, hint)
    }

    /// Offers the nearest of some names.
    #[must_use]
    pub fn near<'a>(mut self, given: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(name) = text::nearest(given, names) {
            self.error = self.error.with("did_you_mean", name);
        }
        self
    }

    /// Adds the next inner cause.
    #[must_use]
    pub fn cause(mut self, cause: impl std::fmt::Display) -> Self {
        let cause = cause.to_string();
        if !cause.is_empty() {
            self.causes.push(cause);
        }
        self
    }

    /// Changes the error object.
    #[must_use]
    pub fn map(self, change: impl FnOnce(ErrorObject) -> ErrorObject) -> Self {
        Self { error: change(self.error), ..self }
    }

    /// Overrides the exit code of the kind.
    #[must_use]
    pub fn exits(mut self, code: u8) -> Self {
        self.exit = Some(code);
        self
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        self.exit.unwrap_or_else(|| exit_code(self.error.kind))
    }

    /// The one line for a person, without its newline.
    pub fn line(&self) -> String {
        if self.error.kind == ErrorKind::Provider {
            // The server's message is the whole promised line; its hint says the same again.
            return format!("⚠ {}", text::escape_line(&self.error.message));
        }
        if self.error.kind == ErrorKind::Cancelled {
            return "perfxpert: cancelled".to_owned();
        }
        let hint = self.hint();
        let start = "perfxpert: error: ";
        let room = LONGEST_LINE.saturating_sub(start.chars().count() + hint.chars().count() + 1);
        let message = text::cut_middle(&text::escape_line(&self.error.message), room.max(40));
        format!("{start}{message} {hint}").trim_end().to_owned()
    }

    fn hint(&self) -> String {
        match self.error.details.get("did_you_mean").and_then(Value::as_str) {
            Some(name) => format!("Did you mean {}?", text::escape_line(name)),
            None => text::escape_line(&self.error.hint),
        }
    }

    /// The same as one JSON line.
    pub fn json_line(&self) -> String {
        let mut error = self.error.clone();
        error = error.with("exit_code", self.exit_code());
        text::escape_json(&error.envelope().to_string())
    }
}

impl From<ErrorObject> for Failure {
    fn from(error: ErrorObject) -> Self {
        Self { error, causes: Vec::new(), exit: None }
    }
}

/// The exit code of an error kind.
pub fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage
        | ErrorKind::InvalidArgument
        | ErrorKind::UnknownName
        | ErrorKind::FileNotFound
        | ErrorKind::NotADatabase
        | ErrorKind::NotRocpd
        | ErrorKind::Unreadable
        | ErrorKind::EmptyTrace
        | ErrorKind::Config
        | ErrorKind::Provider => 2,
        ErrorKind::NoEvidence | ErrorKind::Timeout | ErrorKind::Output | ErrorKind::Internal => 1,
        ErrorKind::Cancelled => 130,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_fault_and_what_to_do() {
        let failure = Failure::from(
            ErrorObject::new(
                ErrorKind::FileNotFound,
                "trace.db does not exist.",
                "Check the path; rocprofv3 writes <dir>/<host>/<pid>_results.db.",
            )
            .path("trace.db"),
        );
        assert_eq!(
            failure.line(),
            "perfxpert: error: trace.db does not exist. \
             Check the path; rocprofv3 writes <dir>/<host>/<pid>_results.db."
        );
        assert_eq!(
            failure.json_line(),
            "{\"error\":{\"kind\":\"file_not_found\",\"message\":\"trace.db does not exist.\",\
             \"hint\":\"Check the path; rocprofv3 writes <dir>/<host>/<pid>_results.db.\",\
             \"path\":\"trace.db\",\"exit_code\":2}}"
        );
    }

    #[test]
    fn a_near_name_replaces_the_hint() {
        let failure = Failure::usage(
            "--formt",
            "--formt: unknown option for analyze.",
            "See perfxpert analyze --help.",
        )
        .near("--formt", ["--format"]);
        assert_eq!(
            failure.line(),
            "perfxpert: error: --formt: unknown option for analyze. Did you mean --format?"
        );
    }

    #[test]
    fn a_line_stays_a_line_of_four_hundred_characters() {
        let failure =
            Failure::new(ErrorKind::Internal, format!("{}\n\x1b[2J", "x".repeat(900)), "Try again.");
        let line = failure.line();
        assert_eq!(line.chars().count(), 400);
        assert!(line.ends_with("\\x0a\\x1b[2J Try again."), "{line}");
        assert!(line.contains('…'));
    }

    #[test]
    fn providers_have_their_own_line() {
        let error = ErrorObject::new(
            ErrorKind::Provider,
            "LLM auth failed for anthropic. Check ANTHROPIC_API_KEY is set correctly.",
            "Set the key, or call without provider.",
        );
        assert_eq!(
            Failure::from(error).line(),
            "⚠ LLM auth failed for anthropic. Check ANTHROPIC_API_KEY is set correctly."
        );
    }
}
