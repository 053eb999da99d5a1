//! Expands folders into database files and drops files given twice.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::OpenError;

/// Files to open, and what was left out on the way.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    pub(super) files: Vec<PathBuf>,
    /// Paths that are the same file as an earlier one.
    pub(super) duplicates: Vec<PathBuf>,
    /// Paths that do not lead to any file.
    pub(super) errors: Vec<OpenError>,
}

fn access_error(path: &Path, error: &std::io::Error) -> OpenError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => OpenError::NotFound { path: path.to_path_buf() },
        _ => OpenError::NoAccess { path: path.to_path_buf(), reason: error.to_string() },
    }
}

/// Entries of a folder in byte order of their paths.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    Ok(paths)
}

fn databases(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "db") && path.is_file())
        .cloned()
        .collect()
}

/// The `*.db` files directly in a folder, or if there is none those exactly one level down.
fn folder(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let direct = entries(path).map_err(|error| access_error(path, &error))?;
    let mut found = databases(&direct);
    if found.is_empty() {
        for sub in direct.iter().filter(|entry| entry.is_dir()) {
            found.extend(databases(&entries(sub).unwrap_or_default()));
        }
    }
    if found.is_empty() {
        Err(OpenError::FolderWithoutDatabases { path: path.to_path_buf() })
    } else {
        Ok(found)
    }
}

/// Expands the inputs.
pub(super) fn expand(inputs: &[PathBuf]) -> Inputs {
    let mut result = Inputs::default();
    let mut seen = HashSet::new();
    for input in inputs {
        let files = match std::fs::metadata(input) {
            Err(error) => Err(access_error(input, &error)),
            Ok(meta) if meta.is_dir() => folder(input),
            Ok(meta) if meta.is_file() => Ok(vec![input.clone()]),
            Ok(_) => {
                Err(OpenError::NoAccess { path: input.clone(), reason: "neither a file nor a folder".into() })
            }
        };
        match files {
            Err(error) => result.errors.push(error),
            Ok(files) => {
                for file in files {
                    match std::fs::metadata(&file).map(|meta| (meta.dev(), meta.ino())) {
                        Err(error) => result.errors.push(access_error(&file, &error)),
                        Ok(key) if seen.insert(key) => result.files.push(file),
                        Ok(_) => result.duplicates.push(file),
                    }
                }
            }
        }
    }
    result
}

/// The files that opening these inputs would read, in order, each once: what a cache has to watch. Inputs that lead to no
/// file are left out.
#[must_use]
pub fn input_files(inputs: &[PathBuf]) -> Vec<PathBuf> {
    expand(inputs).files
}
