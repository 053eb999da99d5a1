//! Reads one embedded YAML file strictly: header with source and confidence, then the facts.

use std::sync::OnceLock;

use include_dir::{Dir, include_dir};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::FactError;

static FACTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/facts");

/// How far a fact can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Confirmed by a vendor document, vendor source code or a measurement; also our own choices.
    Verified,
    /// Published by the vendor or the press, or computed from published inputs; not confirmed twice.
    Published,
    /// Reported by users; no primary source.
    Reported,
    /// Announced or extrapolated; no hardware measurement is known.
    Projected,
    /// Carried over from the original; no public source was found.
    Unverified,
}

impl Confidence {
    /// The word used in fact files and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Published => "published",
            Self::Reported => "reported",
            Self::Projected => "projected",
            Self::Unverified => "unverified",
        }
    }
}

/// One fact file: where its facts come from, how sure they are, and the facts.
#[derive(Debug, Clone)]
pub struct Document<T> {
    /// Where the facts come from.
    pub source: String,
    /// How sure they are, where a fact does not say otherwise.
    pub confidence: Confidence,
    /// What a reader should know about the whole file.
    pub note: Option<String>,
    /// The facts.
    pub facts: T,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw<T> {
    source: Option<String>,
    confidence: Option<Confidence>,
    note: Option<String>,
    facts: T,
}

/// Decodes the text of a fact file.
///
/// # Errors
/// [`FactError::Malformed`] when the text is not of the shape of `T`, [`FactError::NoSource`] and
/// [`FactError::NoConfidence`] when the header lacks them.
pub fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<Document<T>, FactError> {
    let raw: Raw<T> = serde_yaml::from_str(text)
        .map_err(|error| FactError::Malformed { file: file.to_owned(), message: error.to_string() })?;
    let source = raw
        .source
        .filter(|source| !source.trim().is_empty())
        .ok_or_else(|| FactError::NoSource { file: file.to_owned() })?;
    let confidence = raw.confidence.ok_or_else(|| FactError::NoConfidence { file: file.to_owned() })?;
    Ok(Document { source, confidence, note: raw.note, facts: raw.facts })
}

/// The text of an embedded file; `file` is its id, for example `arch/gfx942`.
///
/// # Errors
/// [`FactError::NoFile`].
pub(crate) fn text(file: &str) -> Result<&'static str, FactError> {
    FACTS
        .get_file(format!("{file}.yaml"))
        .and_then(|found| found.contents_utf8())
        .ok_or_else(|| FactError::NoFile { file: file.to_owned() })
}

/// Ids of all embedded files, sorted.
pub fn files() -> Vec<String> {
    fn walk(dir: &Dir<'_>, into: &mut Vec<String>) {
        for file in dir.files() {
            if let Some(id) = file.path().to_str().and_then(|path| path.strip_suffix(".yaml")) {
                into.push(id.replace('\\', "/"));
            }
        }
        for inner in dir.dirs() {
            walk(inner, into);
        }
    }
    let mut ids = Vec::new();
    walk(&FACTS, &mut ids);
    ids.sort();
    ids
}

/// Version of the embedded facts: 16 hex digits that change with any fact. FNV-1a over ids and texts.
pub fn version() -> &'static str {
    static CELL: OnceLock<String> = OnceLock::new();
    CELL.get_or_init(|| {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for file in files() {
            let contents = text(&file).unwrap_or("");
            for byte in file.bytes().chain([0]).chain(contents.bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    })
}

/// Loads an embedded file into its typed form.
///
/// # Errors
/// As [`text`] and [`parse`].
pub(crate) fn load<T: DeserializeOwned>(file: &str) -> Result<Document<T>, FactError> {
    parse(file, text(file)?)
}

/// Unwraps a load of an embedded file. The files are part of the binary and a test decodes every one of
/// them, so a failure here is a defect of the build, not an input the program could meet.
#[expect(clippy::panic, reason = "embedded facts are fixed at build time and all decoded by a test")]
pub(crate) fn built_in<T>(loaded: Result<T, FactError>) -> T {
    match loaded {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Declares an accessor that decodes one file on first use.
macro_rules! table {
    ($(#[$doc:meta])* $vis:vis fn $name:ident() -> $type:ty = $file:literal;) => {
        $(#[$doc])*
        $vis fn $name() -> &'static $type {
            static CELL: std::sync::OnceLock<$type> = std::sync::OnceLock::new();
            CELL.get_or_init(|| {
                $crate::document::built_in($crate::document::load::<$type>($file).map(|document| document.facts))
            })
        }
    };
}
pub(crate) use table;
