//! What the trace reader refuses, as the error object callers see.

use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_trace::{Looks, OpenError, Readable, ScanError, Trace};

const RECORD: &str = "Record with rocprofv3 --output-format rocpd.";
const GIVE_DB: &str = "Give the .db file rocprofv3 wrote.";
const RECOVER: &str = "Record again, or recover with sqlite3 .recover.";

/// Whole numbers with thousands commas, as the messages show them.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `12,044 of about 40,000 dispatches`.
fn readable_words(readable: &Readable) -> String {
    match readable.expected_dispatches {
        Some(expected) => {
            format!("{} of about {} dispatches", grouped(readable.dispatches), grouped(expected))
        }
        None => {
            format!("{} dispatches and {} copies", grouped(readable.dispatches), grouped(readable.copies))
        }
    }
}

/// Why files could not be opened; `field` is the argument that named them.
pub fn open(error: &OpenError, field: &str) -> ErrorObject {
    let path = error.path().map(|path| path.display().to_string()).unwrap_or_default();
    let object = match error {
        OpenError::NoInput => {
            return ErrorObject::invalid(
                field,
                "No database was given.",
                "Name at least one file or folder.",
            );
        }
        OpenError::NotFound { .. } => ErrorObject::new(
            ErrorKind::FileNotFound,
            format!("{path} does not exist."),
            "Check the path; rocprofv3 writes <dir>/<host>/<pid>_results.db.",
        ),
        OpenError::NoAccess { reason, .. } => ErrorObject::new(
            ErrorKind::FileNotFound,
            format!("{path} cannot be read: {reason}."),
            "Check its permissions.",
        ),
        OpenError::FolderWithoutDatabases { .. } => ErrorObject::new(
            ErrorKind::FileNotFound,
            format!("{path} holds no *.db file, neither directly nor one level down."),
            "Give the folder that rocprofv3 -d wrote, or the .db file itself.",
        ),
        OpenError::NotADatabase { bytes, looks, .. } => {
            let message = match looks {
                Looks::Text => format!("{path} is not an SQLite file."),
                looks => {
                    format!("{path} is not an SQLite file: {} bytes, {}.", grouped(*bytes), looks.describe())
                }
            };
            let hint = match looks {
                Looks::ProfilerCsv | Looks::Perfetto | Looks::Otf2 => RECORD,
                Looks::Gzip | Looks::Zip | Looks::Zstd => "Unpack it first, then give the .db file inside.",
                _ => GIVE_DB,
            };
            ErrorObject::new(ErrorKind::NotADatabase, message, hint)
                .with("readable", format!("{} bytes, {}", grouped(*bytes), looks.describe()))
        }
        OpenError::NotRocpd { tables, tables_total, profiler, .. } => {
            let hint = match profiler {
                Some(profiler) => format!("It is a database of {profiler}. {RECORD}"),
                None => RECORD.to_owned(),
            };
            ErrorObject::new(ErrorKind::NotRocpd, format!("{path} holds none of the rocpd tables."), hint)
                .with("missing", vec!["rocpd_metadata", "rocpd_kernel_dispatch_*"])
                .with("known", tables.clone())
                .with("known_total", *tables_total)
        }
        OpenError::Unreadable { reason, readable, .. } => match readable {
            Some(readable) => {
                let words = readable_words(readable);
                ErrorObject::new(
                    ErrorKind::Unreadable,
                    format!("{path} is damaged: {words} can be read."),
                    RECOVER,
                )
                .with("readable", words)
            }
            None => ErrorObject::new(
                ErrorKind::Unreadable,
                format!("{path} cannot be read: {reason}."),
                "Wait until nothing else writes to it, then try again.",
            ),
        },
    };
    object.field(field).path(&path)
}

/// Why reading rows stopped, other than by the caller.
pub fn scan(error: &ScanError, field: &str) -> ErrorObject {
    let (path, message, hint) = match error {
        ScanError::Cancelled => return ErrorObject::internal(),
        ScanError::Damaged { path, pages } => {
            (path, format!("is damaged: {} of its pages cannot be read.", grouped(*pages)), RECOVER)
        }
        ScanError::Changed { path } => (
            path,
            "changed while it was read.".to_owned(),
            "Wait until the profiler has finished, then try again.",
        ),
        ScanError::Io { path, reason } => {
            (path, format!("cannot be read: {reason}."), "Check the disk, then try again.")
        }
    };
    let path = path.display().to_string();
    ErrorObject::new(ErrorKind::Unreadable, format!("{path} {message}"), hint).field(field).path(&path)
}

/// A trace with nothing a tool could look at.
pub fn empty(trace: &Trace, field: &str) -> ErrorObject {
    let path = trace.sources().first().map(|source| source.path.display().to_string()).unwrap_or_default();
    ErrorObject::new(
        ErrorKind::EmptyTrace,
        format!("{path} has 0 kernel dispatches and 0 copies."),
        "Check that the program used the GPU and that rocprofv3 wrapped it, not its launcher.",
    )
    .field(field)
    .path(&path)
}
