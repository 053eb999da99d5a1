//! Finds the files to read: by extension, within bounds, in bytewise order of their relative paths.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};

use crate::limits::{BINARY_PREFIX_BYTES, MAX_ENTRIES, MAX_SKIPPED_LISTED, ScanOptions};
use crate::model::{SkipReason, Skipped};

/// Folders that hold what was built or brought along, not what was written here.
const SKIPPED_FOLDERS: &[&str] = &[
    "build",
    "_build",
    "CMakeFiles",
    "dist",
    "out",
    "target",
    "vendor",
    "third_party",
    "thirdparty",
    "extern",
    "external",
    "node_modules",
    "__pycache__",
    "site-packages",
];
/// The same, by the start of the name.
const SKIPPED_FOLDER_PREFIXES: &[&str] = &[".", "build-", "cmake-build-"];
const EXTENSIONS: &[&str] =
    &["hip", "cu", "cuh", "cpp", "cc", "cxx", "c++", "c", "h", "hh", "hpp", "hxx", "inl", "ipp", "cl", "py"];

/// A file to read.
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<str>,
    /// Lower case, without the dot.
    pub(crate) extension: String,
}

/// Files to read, and the account of those that are not.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<Candidate>,
    pub(crate) skips: Skips,
    pub(crate) links: u64,
}

/// Files that were not read, listed up to a bound and counted.
#[derive(Default)]
pub(crate) struct Skips {
    pub(crate) listed: Vec<Skipped>,
    pub(crate) counts: BTreeMap<SkipReason, u64>,
}

impl Skips {
    pub(crate) fn add(&mut self, file: Arc<str>, reason: SkipReason) {
        *self.counts.entry(reason).or_default() += 1;
        if self.listed.len() < MAX_SKIPPED_LISTED {
            self.listed.push(Skipped { file, reason });
        }
    }
}

/// Walks a folder without following links.
pub(crate) fn walk(root: &Path, options: &ScanOptions) -> Found {
    let mut found = Found::default();
    let mut candidates: Vec<(PathBuf, u64)> = Vec::new();
    let mut unreadable: Vec<PathBuf> = Vec::new();
    let entries =
        WalkBuilder::new(root).standard_filters(false).follow_links(false).filter_entry(is_wanted).build();
    for entry in entries.take(MAX_ENTRIES) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                unreadable.extend(path_of(&error).map(Path::to_path_buf));
                continue;
            }
        };
        let Some(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            found.links += 1;
        } else if kind.is_file() && extension(entry.path()).is_some() {
            match entry.metadata() {
                Ok(metadata) => candidates.push((entry.into_path(), metadata.len())),
                Err(_) => unreadable.push(entry.into_path()),
            }
        }
    }
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).as_os_str().to_owned();
    candidates.sort_by_cached_key(|(path, _)| relative(path));
    unreadable.sort();
    for path in unreadable {
        found.skips.add(shown(&relative(&path)), SkipReason::Unreadable);
    }
    let mut total = 0_u64;
    for (path, bytes) in candidates {
        let file = shown(&relative(&path));
        if found.files.len() >= options.max_files {
            found.skips.add(file, SkipReason::TooMany);
        } else if bytes > options.max_file_bytes || total.saturating_add(bytes) > options.max_total_bytes {
            found.skips.add(file, SkipReason::TooLarge);
        } else {
            total = total.saturating_add(bytes);
            let extension = extension(&path).unwrap_or_default();
            found.files.push(Candidate { path, file, extension });
        }
    }
    found
}

/// Reads a file that may have grown or gone since it was found.
pub(crate) fn read(path: &Path, options: &ScanOptions) -> Result<Vec<u8>, SkipReason> {
    let file = std::fs::File::open(path).map_err(|_| SkipReason::Unreadable)?;
    let mut bytes = Vec::new();
    file.take(options.max_file_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|_| SkipReason::Unreadable)?;
    if bytes.len() as u64 > options.max_file_bytes {
        return Err(SkipReason::TooLarge);
    }
    if bytes.iter().take(BINARY_PREFIX_BYTES).any(|byte| *byte == 0) {
        return Err(SkipReason::Binary);
    }
    Ok(bytes)
}

fn is_wanted(entry: &DirEntry) -> bool {
    // The folder the caller named is read whatever it is called.
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let name = entry.file_name().to_string_lossy();
    !(SKIPPED_FOLDERS.contains(&&*name)
        || SKIPPED_FOLDER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || entry.path().join("pyvenv.cfg").exists())
}

fn extension(path: &Path) -> Option<String> {
    let lower = path.extension().and_then(OsStr::to_str)?.to_ascii_lowercase();
    EXTENSIONS.contains(&lower.as_str()).then_some(lower)
}

fn shown(relative: &OsStr) -> Arc<str> {
    relative.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/").into()
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        _ => None,
    }
}
