//! The table sets of a database: names, columns and root pages, as SQLite itself understands the schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long a lock of another process is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// One table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) root: u32,
    /// Stored columns in order; the flag marks the alias of the row id.
    pub(crate) columns: Vec<(String, bool)>,
}

impl Table {
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|(name, _)| name.eq_ignore_ascii_case(column))
    }
}

/// The tables of one process, by base name without `rocpd_` (`kernel_dispatch`).
#[derive(Clone, Debug, Default)]
pub(crate) struct TableSet {
    pub(crate) suffix: String,
    pub(crate) tables: BTreeMap<String, Table>,
}

impl TableSet {
    pub(crate) fn get(&self, base: &str) -> Option<&Table> {
        self.tables.get(base)
    }
}

/// What a database holds.
#[derive(Debug, Default)]
pub(super) struct Schema {
    pub(super) sets: Vec<TableSet>,
    /// Metadata tables that belong to no set (a merged file's common one).
    pub(super) metadata: Vec<Table>,
    /// Names of other tables, sorted.
    pub(super) others: Vec<String>,
    /// Parts of the schema itself could not be read: tables may be missing.
    pub(super) damaged: bool,
}

/// Why a schema cannot be read.
#[derive(Debug)]
pub(super) enum SchemaError {
    Locked,
    /// A journal beside the file has to be rolled back first.
    NeedsRecovery,
    Other(String),
}

/// Base names of the tables this reader knows.
const BASES: &[&str] = &[
    "metadata",
    "string",
    "info_node",
    "info_process",
    "info_thread",
    "info_agent",
    "info_queue",
    "info_stream",
    "info_pmc",
    "info_category",
    "info_kernel_symbol",
    "track",
    "event",
    "arg",
    "pmc_event",
    "region",
    "sample",
    "kernel_dispatch",
    "memory_copy",
    "memory_allocate",
    "graph_launch",
];

/// Forbids everything a hostile schema could make a connection do.
pub(super) fn restrict(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(())
}

/// A read-only URI; the path's bytes are escaped so that none of them is read as URI syntax.
fn uri(path: &Path, immutable: bool) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut uri = String::from("file://");
    for &byte in absolute.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02x}");
        }
    }
    uri.push_str(if immutable { "?mode=ro&immutable=1" } else { "?mode=ro" });
    uri
}

fn classify(error: &rusqlite::Error) -> SchemaError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SchemaError::Locked,
        Some(ErrorCode::ReadOnly) => SchemaError::NeedsRecovery,
        _ => SchemaError::Other(error.to_string()),
    }
}

/// Reads the schema. `immutable` skips locking: for files that cannot change or whose write-ahead log must not be touched.
pub(super) fn read(path: &Path, immutable: bool) -> Result<Schema, SchemaError> {
    match attempt(path, immutable, false) {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ) =>
        {
            // With a writable schema SQLite opens files that are shorter than promised and keeps the sound part of the
            // schema; the connection is read-only all the same.
            attempt(path, immutable, true).map_err(|error| classify(&error))
        }
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::FileLockingProtocolFailed | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen
                )
            ) && !immutable =>
        {
            // File systems without working locks: the file is only read, so go without.
            attempt(path, true, false).map_err(|error| classify(&error))
        }
        Err(error) => Err(classify(&error)),
        Ok(schema) => Ok(schema),
    }
}

fn attempt(path: &Path, immutable: bool, damaged: bool) -> rusqlite::Result<Schema> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, immutable), flags)?;
    connection.busy_timeout(LOCK_WAIT)?;
    restrict(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    if damaged {
        connection.pragma_update(None, "writable_schema", true)?;
    }
    let mut names: Vec<(String, u32)> = Vec::new();
    {
        let mut statement =
            connection.prepare("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")?;
        let mut rows = statement.query([])?;
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    let name = row
                        .get_ref(0)?
                        .as_bytes_or_null()
                        .ok()
                        .flatten()
                        .map(|b| String::from_utf8_lossy(b).into_owned());
                    if let (Some(name), Ok(root)) = (name, row.get::<_, u32>(1)) {
                        names.push((name, root));
                    }
                }
                Ok(None) => break,
                Err(_) if damaged => break,
                Err(error) => return Err(error),
            }
        }
    }
    names.sort();
    let mut columns_of = connection
        .prepare("SELECT name, upper(type), pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid")?;
    let mut columns = |name: &str| -> rusqlite::Result<Vec<(String, bool)>> {
        let mut found = Vec::new();
        let mut keys = 0;
        let mut rows = columns_of.query([name])?;
        while let Some(row) = rows.next()? {
            // Virtual generated columns (hidden 2) are not stored.
            if row.get::<_, i64>(3)? == 2 {
                continue;
            }
            let key = row.get::<_, i64>(2)? > 0;
            keys += usize::from(key);
            found.push((row.get::<_, String>(0)?, key && row.get::<_, String>(1)? == "INTEGER"));
        }
        if keys != 1 {
            found.iter_mut().for_each(|(_, alias)| *alias = false);
        }
        Ok(found)
    };
    let lower: Vec<String> = names.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    let mut schema = Schema { damaged, ..Schema::default() };
    let mut suffixes: Vec<String> = lower
        .iter()
        .filter_map(|name| {
            name.strip_prefix("rocpd_kernel_dispatch").or_else(|| name.strip_prefix("rocpd_string"))
        })
        .filter(|suffix| suffix.is_empty() || suffix.starts_with('_'))
        .map(str::to_owned)
        .collect();
    suffixes.sort();
    suffixes.dedup();
    schema.sets =
        suffixes.iter().map(|suffix| TableSet { suffix: suffix.clone(), tables: BTreeMap::new() }).collect();
    let index: BTreeMap<&str, usize> =
        suffixes.iter().enumerate().map(|(index, suffix)| (suffix.as_str(), index)).collect();
    for ((name, root), lower) in names.iter().zip(&lower) {
        let own = lower.strip_prefix("rocpd_").and_then(|rest| {
            BASES.iter().find_map(|base| {
                let suffix = rest.strip_prefix(base)?;
                index.get(suffix).map(|set| (*base, *set))
            })
        });
        match own {
            Some((base, set)) => {
                let table = Table { root: *root, columns: columns(name)? };
                if let Some(set) = schema.sets.get_mut(set) {
                    set.tables.insert(base.to_owned(), table);
                }
            }
            None if lower.starts_with("rocpd_metadata") => {
                schema.metadata.push(Table { root: *root, columns: columns(name)? });
            }
            None if !lower.starts_with("sqlite_") => schema.others.push(name.clone()),
            None => {}
        }
    }
    Ok(schema)
}
