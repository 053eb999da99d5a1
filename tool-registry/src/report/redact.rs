//! Base names instead of paths, wherever the document holds one.

use std::path::Path;

use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::Report;
use serde_json::Value;

/// Analysis options that hold paths.
const PATH_OPTIONS: [&str; 4] = ["att_dir", "counter_paths", "gpu_monitor_log", "source_dir"];

/// Replaces each of `paths`, and every input file of the report, by its base name; the scanned folder by `.`.
///
/// # Errors
/// `internal`, when the document cannot be written and read again.
pub(crate) fn redacted(
    mut report: Report,
    paths: &[String],
    source: Option<&str>,
) -> Result<Report, ErrorObject> {
    let inputs: Vec<String> = report.provenance.inputs.iter().map(|input| input.path.clone()).collect();
    if let Some(options) = &mut report.provenance.options {
        PATH_OPTIONS.iter().for_each(|key| drop(options.remove(*key)));
    }
    for scan in [&mut report.tier0_findings, &mut report.tier0].into_iter().flatten() {
        ".".clone_into(&mut scan.source_dir);
    }
    let mut known: Vec<(String, String)> = inputs
        .iter()
        .chain(paths)
        .map(|path| (path.clone(), base(path)))
        .filter(|(path, base)| path != base)
        .collect();
    known.extend(
        source.map(|folder| (folder.to_owned(), ".".to_owned())).filter(|(folder, _)| folder.contains('/')),
    );
    // A path may begin another one.
    known.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    known.dedup();
    let mut value = serde_json::to_value(report).map_err(|_| ErrorObject::internal())?;
    replace(&mut value, &known);
    serde_json::from_value(value).map_err(|_| ErrorObject::internal())
}

fn base(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn replace(value: &mut Value, known: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (path, base) in known {
                if text.contains(path.as_str()) {
                    *text = text.replace(path.as_str(), base);
                }
            }
        }
        Value::Array(rows) => rows.iter_mut().for_each(|row| replace(row, known)),
        Value::Object(object) => object.values_mut().for_each(|inner| replace(inner, known)),
        _ => {}
    }
}
