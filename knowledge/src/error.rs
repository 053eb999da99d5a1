//! What can be wrong with a fact file or a fact id.

/// A fact could not be loaded. The embedded files are all decoded by a test, so callers of the typed
/// accessors never meet this; it reaches only those who look a fact up by its id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FactError {
    /// No file of that name is embedded.
    #[error("no fact file {file}")]
    NoFile {
        /// File id, for example `thresholds/att`.
        file: String,
    },
    /// The text is not YAML of the expected shape.
    #[error("fact file {file}: {message}")]
    Malformed {
        /// File id.
        file: String,
        /// What the decoder said.
        message: String,
    },
    /// Neither the fact nor its file names a source.
    #[error("fact file {file} names no source")]
    NoSource {
        /// File id.
        file: String,
    },
    /// Neither the fact nor its file says how sure it is.
    #[error("fact file {file} states no confidence")]
    NoConfidence {
        /// File id.
        file: String,
    },
    /// The file has no such key.
    #[error("no fact {id}")]
    NoKey {
        /// Full id, `file#key`.
        id: String,
    },
    /// The value has another type than the caller needs.
    #[error("fact {id} is not {expected}")]
    WrongType {
        /// Full id, `file#key`.
        id: String,
        /// What was asked for.
        expected: &'static str,
    },
    /// The file holds facts that nothing reads.
    #[error("fact file {file} holds keys that no accessor reads: {keys}")]
    Unread {
        /// File id.
        file: String,
        /// The keys, comma separated.
        keys: String,
    },
}
