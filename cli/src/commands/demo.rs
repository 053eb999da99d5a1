//! `perfxpert demo`: the analysis of a sample trace that is part of the program.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};
use include_dir::{Dir, include_dir};

use crate::commands::analyze::{self, Inputs, Wishes};
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::{App, signals};

/// The sample trace, gzip.
const TRACE: &[u8] = include_bytes!("../../../fixtures/demo/demo.db.gz");
/// The source tree it was recorded from.
static SOURCE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../fixtures/demo/src");
/// Names in the report.
const TRACE_NAME: &str = "demo.db";
const SOURCE_NAME: &str = "src";

/// The table of `demo`.
pub fn table() -> Command {
    let examples = ["perfxpert demo", "perfxpert demo --save ./sample --format markdown -o demo"];
    options::command("demo", "Analyse the built-in sample trace", examples)
        .arg(options::value("save", "DIR", "Keep demo.db and src/ in this empty folder", Absent::NOTHING))
        .args(analyze::report_arguments())
}

/// Unpacks the sample, analyses it and removes it again.
///
/// # Errors
/// As `analyze`; `usage` for a folder to save into that is not empty.
pub fn run(app: &App, matches: &ArgMatches) -> Result<u8, Failure> {
    let values = Values::new(matches, &app.environment);
    let wishes = Wishes::read(app, &values)?;
    if let Some(folder) = values.path("save")? {
        save(Path::new(folder))?;
    }
    app.terminal
        .note("built-in sample trace; record your own with: rocprofv3 --sys-trace -d ./out -- ./your_app");
    let sample = Sample::unpack()?;
    let inputs = Inputs {
        databases: vec![TRACE_NAME.to_owned()],
        source: Some(SOURCE_NAME.to_owned()),
        ..Inputs::default()
    };
    analyze::deliver(app, &values, &wishes, &inputs, "demo", Some(sample.folder.path().to_path_buf()))
}

fn save(folder: &Path) -> Result<(), Failure> {
    let shown = folder.display();
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = format!("--save: {shown} is not empty.");
        return Err(Failure::usage("--save", message, "Name a new or an empty folder."));
    }
    fs::create_dir_all(folder)
        .and_then(|()| unpack_into(folder))
        .map_err(|error| Failure::output(&shown.to_string(), error))
}

/// The sample in a private folder that goes away with this value, or with a signal.
pub struct Sample {
    /// The folder that holds it.
    pub folder: tempfile::TempDir,
}

impl Sample {
    /// Unpacks the sample.
    ///
    /// # Errors
    /// `output` when the temporary folder cannot be written.
    pub fn unpack() -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::output("the temporary folder", error);
        let folder = tempfile::Builder::new().prefix("perfxpert-demo-").tempdir().map_err(failed)?;
        signals::unfinished(folder.path().to_path_buf());
        unpack_into(folder.path()).map_err(failed)?;
        Ok(Self { folder })
    }

    /// The trace's path.
    pub fn trace(&self) -> PathBuf {
        self.folder.path().join(TRACE_NAME)
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        signals::finished(self.folder.path());
    }
}

fn unpack_into(folder: &Path) -> std::io::Result<()> {
    let mut trace = Vec::new();
    flate2::read::GzDecoder::new(TRACE).read_to_end(&mut trace)?;
    fs::write(folder.join(TRACE_NAME), trace)?;
    let source = folder.join(SOURCE_NAME);
    fs::create_dir(&source)?;
    SOURCE.extract(&source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_small_and_whole() {
        assert!(TRACE.len() <= 256 * 1024);
        let sample = Sample::unpack().unwrap();
        let header = fs::read(sample.trace()).unwrap();
        assert!(header.starts_with(b"SQLite format 3\0"));
        assert!(sample.folder.path().join("src/pipeline.hip").is_file());
        let path = sample.folder.path().to_path_buf();
        drop(sample);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_with_content_is_not_saved_into() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("new")).unwrap();
        assert!(folder.path().join("new/demo.db").is_file());
        assert_eq!(save(folder.path()).unwrap_err().exit_code(), 2);
    }
}
