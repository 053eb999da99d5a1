//! Where the numbers come from.

use perfxpert_schemas::report::meta::{InputFile, Provenance};
use perfxpert_trace::Trace;

use super::Request;

pub(super) fn of(request: &Request<'_>) -> Provenance {
    Provenance {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PERFXPERT_COMMIT").map(str::to_owned),
        // Facts are compiled in: they change with the program only.
        facts_version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: request.run.map(|run| files(&run.trace, "trace")).unwrap_or_default(),
        options: Some(request.options.clone()),
        deterministic: true,
        model: None,
    }
}

/// The files of a trace, in its order.
pub(super) fn files(trace: &Trace, role: &str) -> Vec<InputFile> {
    trace
        .sources()
        .iter()
        .map(|source| InputFile {
            path: source.path.display().to_string(),
            role: role.to_owned(),
            bytes: Some(source.bytes),
            fingerprint: Some(source.fingerprint.clone()),
            schema_version: source.schema_version.clone(),
            processes: Some(source.processes as u64),
            writer: source
                .metadata
                .iter()
                .find(|(tag, _)| tag.contains("writer") || tag.contains("generator"))
                .map(|(_, value)| value.clone()),
        })
        .collect()
}
