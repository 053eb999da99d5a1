//! Why a trace could not be opened or read.

use std::path::PathBuf;

/// What the first bytes of a file that is not a database look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Looks {
    /// No bytes at all.
    Empty,
    /// Shorter than a database header, yet beginning like one.
    CutHeader,
    /// Gzip data.
    Gzip,
    /// Zip archive.
    Zip,
    /// Zstandard data.
    Zstd,
    /// Program or library.
    Elf,
    /// JSON text.
    Json,
    /// Comma-separated values with a profiler's header.
    ProfilerCsv,
    /// Other comma-separated values.
    Csv,
    /// Perfetto protobuf trace (`.pftrace`).
    Perfetto,
    /// Nsight Systems report (`.nsys-rep`, `.qdrep`).
    Nsys,
    /// Open Trace Format 2 anchor file.
    Otf2,
    /// Other text.
    Text,
    /// Anything else.
    Binary,
}

impl Looks {
    /// A noun phrase for messages.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::CutHeader => "the beginning of an SQLite file cut inside its header",
            Self::Gzip => "gzip data",
            Self::Zip => "a zip archive",
            Self::Zstd => "zstd data",
            Self::Elf => "an ELF program or library",
            Self::Json => "JSON text",
            Self::ProfilerCsv => "a profiler's CSV file",
            Self::Csv => "a CSV file",
            Self::Perfetto => "a Perfetto trace (pftrace)",
            Self::Nsys => "an Nsight Systems report",
            Self::Otf2 => "an OTF2 trace",
            Self::Text => "text",
            Self::Binary => "binary data",
        }
    }
}

/// How many rows of a damaged file can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Readable {
    /// Dispatches that can be read.
    pub dispatches: u64,
    /// About how many dispatches the file once held, when the file tells.
    pub expected_dispatches: Option<u64>,
    /// Copies that can be read.
    pub copies: u64,
    /// Pages the header promises.
    pub pages_promised: u64,
    /// Pages the file has.
    pub pages_present: u64,
}

/// Why an input cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// No input was given.
    #[error("no input was given")]
    NoInput,
    /// The path does not exist.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// The path exists and may not be read.
    #[error("{} cannot be read: {reason}", path.display())]
    NoAccess {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// A folder without `*.db` files in it or one level down.
    #[error("{} holds no *.db file, neither directly nor one level down", path.display())]
    FolderWithoutDatabases {
        /// The folder.
        path: PathBuf,
    },
    /// Not an SQLite file.
    #[error("{} is not an SQLite file: {bytes} bytes, {}", path.display(), looks.describe())]
    NotADatabase {
        /// The path.
        path: PathBuf,
        /// Size in bytes.
        bytes: u64,
        /// What the first bytes look like.
        looks: Looks,
    },
    /// A database without the rocpd tables.
    #[error("{} holds none of the rocpd tables; it has {tables_total} other tables: {}", path.display(), tables.join(", "))]
    NotRocpd {
        /// The path.
        path: PathBuf,
        /// Names of at most ten tables that are there, sorted.
        tables: Vec<String>,
        /// How many tables are there.
        tables_total: usize,
        /// Another profiler whose tables these are.
        profiler: Option<&'static str>,
    },
    /// Damaged, locked or changing; with what could be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What is wrong.
        reason: String,
        /// What can be read of a damaged file; `None` when damage is not the reason.
        readable: Option<Readable>,
    },
}

impl OpenError {
    /// The path the error is about.
    #[must_use]
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::NoInput => None,
            Self::NotFound { path }
            | Self::NoAccess { path, .. }
            | Self::FolderWithoutDatabases { path }
            | Self::NotADatabase { path, .. }
            | Self::NotRocpd { path, .. }
            | Self::Unreadable { path, .. } => Some(path),
        }
    }
}

/// Why a scan stopped.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ScanError {
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// Pages of the file are damaged and [`OpenOptions::allow_partial`](crate::OpenOptions::allow_partial) is false.
    #[error("{} is damaged: {pages} of its pages cannot be read", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How many pages cannot be read.
        pages: u64,
    },
    /// The file was replaced or changed after it was opened.
    #[error("{} changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system refused a read or a temporary file.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}
