//! Gets at committed rows that lie beside the file (write-ahead log, hot journal) without touching anything there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

/// Larger files are not copied to read their write-ahead log.
const MAX_COPY_BYTES: u64 = 8 << 30;

/// `path` with something appended to its file name.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

/// Size of a file beside the database; 0 when there is none.
pub(super) fn size_beside(path: &Path, suffix: &str) -> u64 {
    std::fs::metadata(beside(path, suffix)).map_or(0, |meta| meta.len())
}

/// A private copy of a database, removed when the last user drops it.
#[derive(Clone, Debug)]
pub(crate) struct PrivateCopy {
    pub(super) path: PathBuf,
    _folder: Arc<TempDir>,
}

/// Copies the database and the named companion to a private folder and lets SQLite bring the copy up to date.
pub(super) fn recover(path: &Path, companion: &str) -> Result<PrivateCopy, String> {
    let main = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    let side = size_beside(path, companion);
    if main.saturating_add(side) > MAX_COPY_BYTES {
        return Err(format!(
            "{side} bytes of its rows are still in {companion}, and the file is too large to copy ({main} bytes); run PRAGMA wal_checkpoint on it first"
        ));
    }
    let folder =
        tempfile::Builder::new().prefix("perfxpert-").tempdir().map_err(|error| error.to_string())?;
    let copy = folder.path().join("copy.db");
    std::fs::copy(path, &copy).map_err(|error| format!("its private copy cannot be written: {error}"))?;
    std::fs::copy(beside(path, companion), beside(&copy, companion))
        .map_err(|error| format!("{companion} beside it cannot be copied: {error}"))?;
    make_writable(&copy);
    make_writable(&beside(&copy, companion));
    let connection = Connection::open_with_flags(
        &copy,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| error.to_string())?;
    super::schema::restrict(&connection).map_err(|error| error.to_string())?;
    let merged = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).and_then(|()| {
        // Any read makes SQLite roll a hot journal back.
        connection.query_row("SELECT COUNT(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0))
    });
    merged.map_err(|error| format!("{companion} beside it cannot be read: {error}"))?;
    drop(connection);
    Ok(PrivateCopy { path: copy, _folder: Arc::new(folder) })
}

fn make_writable(path: &Path) {
    if let Ok(meta) = std::fs::metadata(path) {
        let mut permissions = meta.permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
        if let Err(error) = std::fs::set_permissions(path, permissions) {
            tracing::debug!(%error, "private copy keeps its permissions");
        }
    }
}
