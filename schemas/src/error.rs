//! The one error object every surface shows: what happened to which input, and what to do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What went wrong, in the words of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Type, range, contradiction or unknown field of an argument.
    InvalidArgument,
    /// A name that is in no catalogue.
    UnknownName,
    /// Path absent, or unreadable by permission.
    FileNotFound,
    /// Exists, but is not an SQLite file.
    NotADatabase,
    /// SQLite without the rocpd tables.
    NotRocpd,
    /// Corrupt or cut; also a log that cannot be parsed.
    Unreadable,
    /// rocpd without a usable dispatch or copy.
    EmptyTrace,
    /// A healthy input that lacks what the tool needs.
    NoEvidence,
    /// Longer than the limit.
    Timeout,
    /// The caller cancelled.
    Cancelled,
    /// A model service failed; `sub_kind` says how.
    Provider,
    /// Our bug, including a panic.
    Internal,
    /// The command line was wrong (made by the CLI only).
    Usage,
    /// The configuration file was wrong (made by the CLI only).
    Config,
    /// The output could not be written (made by the CLI only).
    Output,
}

impl ErrorKind {
    /// The spelling on the wire, such as `invalid_argument`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::UnknownName => "unknown_name",
            Self::FileNotFound => "file_not_found",
            Self::NotADatabase => "not_a_database",
            Self::NotRocpd => "not_rocpd",
            Self::Unreadable => "unreadable",
            Self::EmptyTrace => "empty_trace",
            Self::NoEvidence => "no_evidence",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Provider => "provider",
            Self::Internal => "internal",
            Self::Usage => "usage",
            Self::Config => "config",
            Self::Output => "output",
        }
    }
}

/// The error object. `kind`, `message` and `hint` are always there; the rest by kind, in the order they were added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// What went wrong.
    pub kind: ErrorKind,
    /// One sentence that names the input.
    pub message: String,
    /// One sentence: what to do next.
    pub hint: String,
    /// Fields by kind: `field`, `value`, `known`, `known_total`, `did_you_mean`, `path`, `which`, `readable`, `missing`,
    /// `command`, `elapsed_ms`, `sub_kind`, `provider`, `model`, `retry_after_s`, `attempts`, `partial`.
    #[serde(flatten)]
    pub details: Box<Map<String, Value>>,
}

/// Longest `value` an error repeats, in characters.
const VALUE_LIMIT: usize = 200;
/// Most names an error lists as `known`.
const KNOWN_LIMIT: usize = 50;

impl ErrorObject {
    /// An error with its two sentences.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into(), details: Box::default() }
    }

    /// Shorthand for [`ErrorKind::InvalidArgument`] about one field.
    pub fn invalid(field: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message, hint).field(field)
    }

    /// Our own fault, without details a caller could use.
    pub fn internal() -> Self {
        Self::new(
            ErrorKind::Internal,
            "The tool failed unexpectedly.",
            "Report this with the trace's schema version; other tools still work.",
        )
    }

    /// Adds the argument at fault.
    #[must_use]
    pub fn field(self, field: &str) -> Self {
        self.with("field", field)
    }

    /// Adds the refused value, at most 200 characters of it.
    #[must_use]
    pub fn value(self, value: &str) -> Self {
        let shown: String = value.chars().take(VALUE_LIMIT).collect();
        self.with("value", shown)
    }

    /// Adds the path at fault.
    #[must_use]
    pub fn path(self, path: &str) -> Self {
        self.with("path", path)
    }

    /// Adds the accepted names (sorted, at most 50) and their full count.
    #[must_use]
    pub fn known<S: AsRef<str>>(self, names: impl IntoIterator<Item = S>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        names.sort();
        let total = names.len();
        names.truncate(KNOWN_LIMIT);
        self.with("known", names).with("known_total", total)
    }

    /// Adds any further field.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The value as it stands on the wire: `{"error": {...}}`.
    pub fn envelope(&self) -> Value {
        serde_json::json!({ "error": self })
    }
}

impl std::fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.message, self.hint)
    }
}

impl std::error::Error for ErrorObject {}
