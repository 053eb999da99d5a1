//! Sources (files) and processes (table sets).

use std::path::PathBuf;
use std::time::SystemTime;

use super::{MachineIdx, SourceIdx};

/// What identifies the content of a file without reading it: the key of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    /// Path as given.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last change, when the file system tells.
    pub modified: Option<SystemTime>,
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// One input file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path as given.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Cache key of the file.
    pub identity: FileIdentity,
    /// First 16 hex digits of the SHA-256 of the size, the first MiB and the last MiB.
    pub fingerprint: String,
    /// `schema_version` of the file's metadata, as written.
    pub schema_version: Option<String>,
    /// Metadata rows other than `schema_version`, `uuid` and `guid`, at most 32.
    pub metadata: Vec<(String, String)>,
    /// Number of processes (table sets) in the file.
    pub processes: usize,
    /// Bytes of committed rows found in a write-ahead log beside the file and read from a private copy.
    pub wal_bytes: u64,
}

/// Where a process's rank comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RankOrigin {
    /// An environment variable a launcher sets; its name.
    Environment(&'static str),
    /// A `rank<N>` in the file's name.
    FileName,
    /// Nowhere: the position among the processes.
    Numbered,
}

/// Which tables of a process hold at least one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Kernel dispatches.
    pub dispatches: bool,
    /// Memory copies.
    pub copies: bool,
    /// Host calls with a duration.
    pub regions: bool,
    /// Instant host calls.
    pub samples: bool,
    /// Memory allocations.
    pub allocations: bool,
    /// Counter values.
    pub counters: bool,
    /// Graph launches.
    pub graph_launches: bool,
}

/// One process: one uuid-suffixed set of tables.
#[derive(Clone, Debug)]
pub struct Process {
    /// The file it is in.
    pub source: SourceIdx,
    /// The machine it ran on.
    pub machine: MachineIdx,
    /// Globally unique id with dashes; empty in a file without one.
    pub guid: String,
    /// Suffix of the table names, with its leading underscore; empty for plain tables.
    pub suffix: String,
    /// Operating-system process id.
    pub pid: Option<i64>,
    /// Operating-system id of the parent.
    pub parent_pid: Option<i64>,
    /// Command line as recorded.
    pub command: Option<String>,
    /// Recorded start of the process, ns; not to be trusted as the trace's bounds.
    pub init_ns: Option<i64>,
    /// Recorded end of the process, ns; not to be trusted as the trace's bounds.
    pub fini_ns: Option<i64>,
    /// Rank in a parallel job.
    pub rank: u32,
    /// Where the rank comes from.
    pub rank_origin: RankOrigin,
    /// `schema_version` of this table set.
    pub schema_version: Option<String>,
    /// Which tables hold rows.
    pub has: Presence,
    /// Whether the table set distinguishes streams of samples from dispatch counters, links copies to calls, and so on is
    /// read from its columns, not from the version; this says whether per-row ids come from a track table (schema 4).
    pub by_track: bool,
}
