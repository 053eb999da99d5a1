//! Opens one file and reads its small tables; independent of every other file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::error::{Looks, OpenError, Readable};
use crate::model::{AgentKind, AgentProperties, FileIdentity, Presence, RankOrigin};
use crate::names;
use crate::pages::{Cursor, PagedFile};

use super::agents::properties;
use super::process::{Track, rows};
use super::schema::{self, Schema, SchemaError, Table, TableSet};
use super::side::{self, PrivateCopy};
use super::sniff;

/// Bytes hashed from each end of a file.
const FINGERPRINT_BYTES: u64 = 1 << 20;
/// Metadata rows kept per file.
const MAX_METADATA: usize = 32;
/// Tables named in a refusal.
const MAX_NAMED_TABLES: usize = 10;
/// Variables by which launchers tell a process its rank, most specific first.
const RANK_VARIABLES: &[&str] = &[
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
    "FLUX_TASK_RANK",
    "JSM_NAMESPACE_RANK",
    "PALS_RANKID",
];

#[derive(Debug)]
pub(super) struct AgentRow {
    pub(super) id: i64,
    pub(super) kind: AgentKind,
    pub(super) absolute_index: i64,
    pub(super) type_index: Option<i64>,
    pub(super) gfx_id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) product_name: Option<String>,
    pub(super) vendor_name: Option<String>,
    pub(super) properties: AgentProperties,
}

#[derive(Debug)]
pub(super) struct SymbolRow {
    pub(super) id: i64,
    pub(super) mangled: Option<String>,
    pub(super) full_name: String,
    pub(super) name: String,
    /// Architectural and accumulation vector registers, scalar registers, LDS, scratch, kernel arguments.
    pub(super) sizes: [Option<u32>; 6],
}

#[derive(Debug)]
pub(super) struct CounterRow {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) block: Option<String>,
    pub(super) expression: Option<String>,
    pub(super) derived: bool,
}

/// One table set with its small tables.
#[derive(Debug, Default)]
pub(super) struct LoadedProcess {
    pub(super) set: TableSet,
    pub(super) guid: String,
    pub(super) schema_version: Option<String>,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) machine_id: Option<String>,
    pub(super) hostname: Option<String>,
    pub(super) pid: Option<i64>,
    pub(super) parent_pid: Option<i64>,
    pub(super) command: Option<String>,
    pub(super) init_ns: Option<i64>,
    pub(super) fini_ns: Option<i64>,
    pub(super) rank: Option<(u32, RankOrigin)>,
    pub(super) agents: Vec<AgentRow>,
    pub(super) symbols: Vec<SymbolRow>,
    pub(super) counters: Vec<CounterRow>,
    pub(super) tracks: HashMap<i64, Track>,
    pub(super) threads: HashMap<i64, i64>,
    pub(super) queues: HashMap<i64, Option<String>>,
    pub(super) streams: HashMap<i64, Option<String>>,
    pub(super) has: Presence,
    pub(super) invalid_texts: u64,
    /// Parts whose required columns are missing.
    pub(super) missing_columns: Vec<String>,
}

/// One usable file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) path: PathBuf,
    pub(super) identity: FileIdentity,
    pub(super) fingerprint: String,
    pub(super) file: Arc<PagedFile>,
    pub(super) processes: Vec<LoadedProcess>,
    pub(super) copy: Option<PrivateCopy>,
    /// Bytes in a write-ahead log beside the file.
    pub(super) wal_bytes: u64,
    /// Why those bytes were not read, if they were not.
    pub(super) wal_unread: Option<String>,
    /// What is left of a damaged file.
    pub(super) damage: Option<(Readable, u64)>,
}

fn fingerprint(path: &Path, bytes: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    hash.update(bytes.to_le_bytes());
    let mut part = Vec::new();
    Read::by_ref(&mut file).take(FINGERPRINT_BYTES).read_to_end(&mut part)?;
    hash.update(&part);
    part.clear();
    file.seek(SeekFrom::Start(bytes.saturating_sub(FINGERPRINT_BYTES)))?;
    file.take(FINGERPRINT_BYTES).read_to_end(&mut part)?;
    hash.update(&part);
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// Opens one file.
pub(super) fn load(path: &Path, allow_partial: bool) -> Result<Loaded, OpenError> {
    let no_access =
        |error: std::io::Error| OpenError::NoAccess { path: path.to_path_buf(), reason: error.to_string() };
    let unreadable =
        |reason: String| OpenError::Unreadable { path: path.to_path_buf(), reason, readable: None };
    let meta = std::fs::metadata(path).map_err(no_access)?;
    let identity = FileIdentity {
        path: path.to_path_buf(),
        bytes: meta.len(),
        modified: meta.modified().ok(),
        device: meta.dev(),
        inode: meta.ino(),
    };
    let Some(original) = PagedFile::open(path.to_path_buf()).map_err(no_access)? else {
        let looks = if meta.len() == 0 { Looks::Empty } else { sniff::looks(path) };
        return Err(OpenError::NotADatabase { path: path.to_path_buf(), bytes: meta.len(), looks });
    };
    let mut copy = None;
    let mut wal_unread = None;
    let wal_bytes = if original.wal_mode { side::size_beside(path, "-wal") } else { 0 };
    if wal_bytes > 0 {
        match side::recover(path, "-wal") {
            Ok(recovered) => copy = Some(recovered),
            Err(reason) => wal_unread = Some(reason),
        }
    }
    let immutable = original.wal_mode || copy.is_some();
    let mut schema = schema::read(copy.as_ref().map_or(path, |copy| &copy.path), immutable);
    if matches!(schema, Err(SchemaError::NeedsRecovery)) && copy.is_none() {
        let recovered = side::recover(path, "-journal").map_err(unreadable)?;
        schema = schema::read(&recovered.path, true);
        copy = Some(recovered);
    }
    let file = match &copy {
        Some(copy) => PagedFile::open(copy.path.clone())
            .map_err(no_access)?
            .ok_or_else(|| unreadable("its private copy is not a database".into()))?,
        None => original,
    };
    let truncated = file.promised > file.pages || file.pages == 0;
    let schema = match schema {
        Ok(schema) => schema,
        Err(SchemaError::Locked) => {
            return Err(unreadable("another process holds a lock on it; waited 2 s".into()));
        }
        Err(SchemaError::NeedsRecovery) => {
            return Err(unreadable("an unfinished transaction beside it cannot be rolled back".into()));
        }
        Err(SchemaError::Other(reason)) => {
            return Err(OpenError::Unreadable {
                path: path.to_path_buf(),
                reason: if truncated {
                    format!(
                        "it is cut: {} of {} pages are there, and no table can be read",
                        file.pages, file.promised
                    )
                } else {
                    reason
                },
                readable: Some(promised(&file)),
            });
        }
    };
    let foreign = schema
        .others
        .iter()
        .any(|name| matches!(name.to_ascii_lowercase().as_str(), "rocpd_op" | "rocpd_api"))
        && schema.sets.iter().all(|set| set.get("kernel_dispatch").is_none());
    if schema.sets.is_empty() || foreign {
        if truncated {
            let reason = format!(
                "it is cut: {} of {} pages are there, and no rocpd table is left",
                file.pages, file.promised
            );
            return Err(OpenError::Unreadable {
                path: path.to_path_buf(),
                reason,
                readable: Some(promised(&file)),
            });
        }
        return Err(not_rocpd(path, &schema, foreign));
    }
    let file = Arc::new(file);
    let mut damaged = u64::from(schema.damaged);
    let processes: Vec<LoadedProcess> =
        schema.sets.iter().map(|set| process(&file, set, &schema.metadata, path, &mut damaged)).collect();
    let mut damage = None;
    if truncated || damaged > 0 {
        let readable = readable(&file, &processes);
        if !allow_partial || readable.dispatches + readable.copies == 0 {
            let reason = if truncated {
                format!("it is cut: {} of {} pages are there", file.pages, file.promised)
            } else {
                format!("it is damaged: {damaged} pages are malformed")
            };
            return Err(OpenError::Unreadable { path: path.to_path_buf(), reason, readable: Some(readable) });
        }
        damage = Some((readable, damaged));
    }
    let fingerprint = fingerprint(path, meta.len()).map_err(no_access)?;
    Ok(Loaded {
        path: path.to_path_buf(),
        identity,
        fingerprint,
        file,
        processes,
        copy,
        wal_bytes,
        wal_unread,
        damage,
    })
}

fn promised(file: &PagedFile) -> Readable {
    Readable {
        pages_promised: u64::from(file.promised),
        pages_present: u64::from(file.pages),
        ..Readable::default()
    }
}

fn not_rocpd(path: &Path, schema: &Schema, rpd: bool) -> OpenError {
    let mut tables: Vec<String> = schema.others.clone();
    tables.extend(
        schema
            .sets
            .iter()
            .flat_map(|set| set.tables.keys().map(|base| format!("rocpd_{base}{}", set.suffix))),
    );
    tables.sort();
    let tables_total = tables.len();
    tables.truncate(MAX_NAMED_TABLES);
    let profiler = if rpd {
        Some("rocmProfileData (.rpd)")
    } else if schema.others.iter().any(|name| name.starts_with("CUPTI_ACTIVITY_KIND")) {
        Some("Nsight Systems")
    } else {
        None
    };
    OpenError::NotRocpd { path: path.to_path_buf(), tables, tables_total, profiler }
}

/// Counts what can still be read of the GPU tables, and estimates what was there from the largest row id.
fn readable(file: &Arc<PagedFile>, processes: &[LoadedProcess]) -> Readable {
    let mut result = promised(file);
    let mut expected: Option<u64> = None;
    for process in processes {
        if let Some(table) = process.set.get("kernel_dispatch") {
            let (count, last) = count(file, table);
            result.dispatches += count;
            // A table cut at its end still has the keys of its interior pages.
            if let Some(last) = last {
                expected = Some(expected.unwrap_or(0) + last.max(count));
            }
        }
        if let Some(table) = process.set.get("memory_copy") {
            result.copies += count(file, table).0;
        }
    }
    result.expected_dispatches = expected.filter(|expected| *expected > result.dispatches);
    result
}

/// Rows on sound leaves, and the largest row id any page tells of.
fn count(file: &Arc<PagedFile>, table: &Table) -> (u64, Option<u64>) {
    let mut cursor = Cursor::new(file, table.root, 256 << 10);
    let known = cursor.largest_key();
    let (mut rows, mut last) = (0u64, known);
    while cursor.advance() {
        if let Some(leaf) = cursor.leaf() {
            let cells = leaf.cells();
            rows += cells as u64;
            last = last.max(cells.checked_sub(1).and_then(|cell| leaf.row_id(cell)));
        }
    }
    (rows, last.and_then(|last| u64::try_from(last).ok()))
}

/// Whether a table has a row; counts damaged pages met while looking.
fn has_rows(file: &Arc<PagedFile>, set: &TableSet, base: &str, damaged: &mut u64) -> bool {
    let Some(table) = set.get(base) else { return false };
    let mut cursor = Cursor::new(file, table.root, file.page_size);
    let mut found = false;
    while !found && cursor.advance() {
        found = cursor.leaf().is_some_and(|leaf| leaf.cells() > 0);
    }
    *damaged += cursor.damaged;
    found
}

fn process(
    file: &Arc<PagedFile>,
    set: &TableSet,
    shared: &[Table],
    path: &Path,
    damaged: &mut u64,
) -> LoadedProcess {
    let mut out = LoadedProcess { set: set.clone(), ..LoadedProcess::default() };
    metadata(file, set, shared, &mut out, damaged);
    node_and_process(file, set, path, &mut out, damaged);
    agents(file, set, &mut out, damaged);
    symbols(file, set, &mut out, damaged);
    counters(file, set, &mut out, damaged);
    lists(file, set, &mut out, damaged);
    let mut has = |base: &str| has_rows(file, set, base, damaged);
    out.has = Presence {
        dispatches: has("kernel_dispatch"),
        copies: has("memory_copy"),
        regions: has("region"),
        samples: has("sample"),
        allocations: has("memory_allocate"),
        counters: has("pmc_event"),
        graph_launches: has("graph_launch"),
    };
    let required: [(&str, &[&str], &mut bool); 3] = [
        ("kernel_dispatch", &["start", "end", "kernel_id"], &mut out.has.dispatches),
        ("memory_copy", &["start", "end", "size"], &mut out.has.copies),
        ("region", &["start", "end"], &mut out.has.regions),
    ];
    for (base, columns, has) in required {
        if let Some(table) = set.get(base)
            && let Some(missing) = columns.iter().find(|column| !table.has(column))
        {
            out.missing_columns.push(format!("rocpd_{base}{} has no column {missing}", set.suffix));
            *has = false;
            out.set.tables.remove(base);
        }
    }
    out
}

fn metadata(
    file: &Arc<PagedFile>,
    set: &TableSet,
    shared: &[Table],
    out: &mut LoadedProcess,
    damaged: &mut u64,
) {
    // A merged file may keep the metadata of all sets in one table: its guid rows then belong to several processes.
    for table in set.get("metadata").into_iter().chain(shared) {
        *damaged += rows(file, table, &["tag", "value"], |row| {
            let (Some(tag), Some(value)) = (row.text(0), row.text(1)) else { return };
            let own = value.replace('-', "_").to_ascii_lowercase();
            match tag.as_str() {
                "schema_version" => {
                    out.schema_version.get_or_insert(value);
                }
                "guid"
                    if out.guid.is_empty()
                        && (set.suffix.trim_start_matches('_') == own || set.suffix.is_empty()) =>
                {
                    out.guid = value;
                }
                "guid" | "uuid" => {}
                _ if out.metadata.len() < MAX_METADATA => out.metadata.push((tag, value)),
                _ => {}
            }
        });
    }
    if out.guid.is_empty() {
        out.guid = set.suffix.trim_start_matches('_').replace('_', "-");
    }
}

fn node_and_process(
    file: &Arc<PagedFile>,
    set: &TableSet,
    path: &Path,
    out: &mut LoadedProcess,
    damaged: &mut u64,
) {
    if let Some(table) = set.get("info_node") {
        *damaged += rows(file, table, &["machine_id", "hostname"], |row| {
            if out.machine_id.is_none() && out.hostname.is_none() {
                (out.machine_id, out.hostname) = (row.text(0), row.text(1));
            }
        });
    }
    let mut first = true;
    if let Some(table) = set.get("info_process") {
        let wanted = ["pid", "ppid", "command", "init", "fini", "environment", "start", "end"];
        *damaged += rows(file, table, &wanted, |row| {
            if !std::mem::take(&mut first) {
                return;
            }
            out.pid = row.int(0);
            out.parent_pid = row.int(1);
            out.command = row.text(2);
            out.init_ns = row.int(3).or(row.int(6));
            out.fini_ns = row.int(4).or(row.int(7));
            out.rank = row.text(5).and_then(|environment| rank_of_environment(&environment));
        });
    }
    if out.rank.is_none() {
        out.rank = rank_of_path(path).map(|rank| (rank, RankOrigin::FileName));
    }
}

fn rank_of_environment(environment: &str) -> Option<(u32, RankOrigin)> {
    let json: serde_json::Value = serde_json::from_str(environment).ok()?;
    RANK_VARIABLES.iter().find_map(|variable| {
        let value = json.get(variable)?;
        let rank = value.as_str().and_then(|text| text.trim().parse().ok());
        let rank = rank.or_else(|| value.as_u64().and_then(|rank| u32::try_from(rank).ok()))?;
        Some((rank, RankOrigin::Environment(variable)))
    })
}

/// The number behind `rank` in a file's name, else in its folder's.
fn rank_of_path(path: &Path) -> Option<u32> {
    let of = |name: &std::ffi::OsStr| -> Option<u32> {
        let name = name.to_str()?.to_ascii_lowercase();
        let rest = name.get(name.rfind("rank")? + 4..)?.trim_start_matches(['_', '-', '.']);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    path.file_name().and_then(of).or_else(|| path.parent().and_then(Path::file_name).and_then(of))
}

fn agents(file: &Arc<PagedFile>, set: &TableSet, out: &mut LoadedProcess, damaged: &mut u64) {
    let Some(table) = set.get("info_agent") else { return };
    let wanted = [
        "type",
        "absolute_index",
        "type_index",
        "name",
        "generic_name",
        "product_name",
        "model_name",
        "vendor_name",
        "uuid",
        "extdata",
        "user_name",
    ];
    *damaged += rows(file, table, &wanted, |row| {
        let kind = match row.text(0).map(|kind| kind.to_ascii_uppercase()).as_deref() {
            Some("GPU") => AgentKind::Gpu,
            Some("CPU") => AgentKind::Cpu,
            _ => AgentKind::Other,
        };
        let (mut found, inner_name) = row.text(9).map(|text| properties(&text)).unwrap_or_default();
        found.device_id = found.device_id.or(row.small(8).filter(|id| *id > 0));
        let gfx_id =
            [row.text(4), row.text(3), inner_name].iter().flatten().find_map(|name| names::gfx_id(name));
        let gfx_id = gfx_id.or_else(|| found.gfx_target_version.and_then(names::gfx_of_version));
        // Newer writers keep the user-visible name in `name`.
        let product_name = row.text(5).or_else(|| row.text(6)).or_else(|| row.text(10));
        out.agents.push(AgentRow {
            id: row.id,
            kind,
            absolute_index: row.int(1).unwrap_or(row.id),
            type_index: row.int(2),
            gfx_id: gfx_id.filter(|_| kind == AgentKind::Gpu),
            name: row.text(3),
            product_name,
            vendor_name: row.text(7),
            properties: found,
        });
    });
}

fn symbols(file: &Arc<PagedFile>, set: &TableSet, out: &mut LoadedProcess, damaged: &mut u64) {
    let Some(table) = set.get("info_kernel_symbol") else { return };
    let wanted = [
        "kernel_name",
        "display_name",
        "arch_vgpr_count",
        "accum_vgpr_count",
        "sgpr_count",
        "group_segment_size",
        "private_segment_size",
        "kernarg_segment_size",
    ];
    let mut invalid = 0;
    *damaged += rows(file, table, &wanted, |row| {
        let mangled = row.text(0);
        let display = row.text_checked(1);
        invalid += u64::from(display.as_ref().is_some_and(|(_, bad)| *bad));
        let full_name = display
            .map(|(text, _)| text)
            .or_else(|| mangled.clone())
            .unwrap_or_else(|| "<unnamed kernel>".into());
        out.symbols.push(SymbolRow {
            id: row.id,
            name: names::clean(&full_name).into_owned(),
            mangled,
            full_name,
            sizes: [row.small(2), row.small(3), row.small(4), row.small(5), row.small(6), row.small(7)],
        });
    });
    out.invalid_texts += invalid;
}

fn counters(file: &Arc<PagedFile>, set: &TableSet, out: &mut LoadedProcess, damaged: &mut u64) {
    let Some(table) = set.get("info_pmc") else { return };
    *damaged += rows(file, table, &["name", "symbol", "block", "expression", "is_derived"], |row| {
        if let Some(name) = row.text(0).or_else(|| row.text(1)) {
            let derived = row.int(4).is_some_and(|flag| flag != 0);
            out.counters.push(CounterRow {
                id: row.id,
                name,
                block: row.text(2),
                expression: row.text(3),
                derived,
            });
        }
    });
}

fn lists(file: &Arc<PagedFile>, set: &TableSet, out: &mut LoadedProcess, damaged: &mut u64) {
    if let Some(table) = set.get("info_thread") {
        *damaged += rows(file, table, &["tid"], |row| {
            out.threads.insert(row.id, row.int(0).unwrap_or(row.id));
        });
    }
    if let Some(table) = set.get("info_queue") {
        *damaged += rows(file, table, &["name"], |row| {
            out.queues.insert(row.id, row.text(0));
        });
    }
    if let Some(table) = set.get("info_stream") {
        *damaged += rows(file, table, &["name"], |row| {
            out.streams.insert(row.id, row.text(0));
        });
    }
    if let Some(table) = set.get("track") {
        *damaged += rows(file, table, &["tid", "agent_id", "queue_id", "stream_id", "name_id"], |row| {
            let track = Track {
                thread: row.int(0),
                agent: row.int(1),
                queue: row.int(2),
                stream: row.int(3),
                name: row.int(4),
            };
            out.tracks.insert(row.id, track);
        });
    }
}
