//! Reads a log file of amd-smi or rocm-smi, with one wording for what is wrong with it.

use std::fs::File;
use std::io::Read;

use perfxpert_analysis::smi::{self, Log, Source, Unreadable};
use perfxpert_knowledge::commands;
use perfxpert_schemas::{ErrorKind, ErrorObject};

use crate::Context;

/// Largest log that is read, bytes.
const LARGEST: u64 = 256 << 20;

/// The command that records a log.
pub(super) fn record_command(source: Source) -> String {
    match source {
        Source::AmdSmi => format!("{} > amd_smi.json", commands::amd_smi_watch(1).full_command()),
        Source::RocmSmi => {
            "rocm-smi --showtemp --showpower --showclocks --showuse --json > rocm_smi.json".to_owned()
        }
    }
}

/// Reads a log; without a `source` the log's own keys tell.
///
/// # Errors
/// `file_not_found`, `unreadable`, `no_evidence`, `timeout`, `cancelled`.
pub(crate) fn read(
    context: &Context,
    path: &str,
    source: Option<Source>,
) -> Result<(Log, Source), ErrorObject> {
    context.phase("read", 0.0, None);
    let text = bytes(path)?;
    context.check()?;
    let unreadable = |fault: Unreadable| {
        ErrorObject::new(
            ErrorKind::Unreadable,
            format!("{path} cannot be read as a log: {fault}."),
            "Give the file that amd-smi or rocm-smi wrote with --json.",
        )
        .field("path")
        .path(path)
    };
    let source = match source {
        Some(source) => source,
        None => smi::source(&text).map_err(unreadable)?,
    };
    let log = smi::read(&text, source).map_err(unreadable)?;
    context.check()?;
    if log.samples.is_empty() {
        return Err(ErrorObject::new(
            ErrorKind::NoEvidence,
            format!("{path} holds no sample of a GPU."),
            format!("Record with {} while the program runs.", source.as_str()),
        )
        .field("path")
        .path(path)
        .with("missing", vec!["GPU samples"])
        .with("command", record_command(source)));
    }
    Ok((log, source))
}

fn bytes(path: &str) -> Result<Vec<u8>, ErrorObject> {
    let refused = |kind, message: String, hint: &str| {
        ErrorObject::new(kind, message, hint.to_owned()).field("path").path(path)
    };
    let failed = |error: &std::io::Error| {
        let message = if error.kind() == std::io::ErrorKind::NotFound {
            format!("{path} does not exist.")
        } else {
            format!("{path} cannot be read: {error}.")
        };
        refused(
            ErrorKind::FileNotFound,
            message,
            "Check the path and its permissions; it is a file that amd-smi or rocm-smi wrote.",
        )
    };
    let file = File::open(path).map_err(|error| failed(&error))?;
    let meta = file.metadata().map_err(|error| failed(&error))?;
    if !meta.is_file() {
        return Err(refused(
            ErrorKind::Unreadable,
            format!("{path} is no regular file."),
            "Give the log file itself.",
        ));
    }
    // The file may grow while it is read, so the limit holds for what is read too.
    let mut text = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut text).map_err(|error| failed(&error))?;
    if text.len() as u64 > LARGEST {
        return Err(refused(
            ErrorKind::Unreadable,
            format!("{path} is larger than {} MiB.", LARGEST >> 20),
            "Give a shorter log, or sample less often.",
        ));
    }
    Ok(text)
}
