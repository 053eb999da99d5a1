//! Bounds of a scan, each with the reason it has.

use std::time::Duration;

/// Files read in one scan; a larger tree is almost always a checkout with its dependencies.
pub const MAX_FILES: usize = 5000;
/// Bytes of one file; larger sources are generated tables.
pub const MAX_FILE_BYTES: u64 = 2 << 20;
/// Bytes of all files together, which bounds the time of a scan.
pub const MAX_TOTAL_BYTES: u64 = 64 << 20;
/// Parsing time of one file; error recovery on text that is not code can be slow.
pub const PARSE_TIME: Duration = Duration::from_secs(10);
/// Tokens of one file handed to the grammar. A syntax tree takes some hundred bytes per token; code has about 400,000 in
/// the largest file read, more are tables of numbers or hostile.
pub const MAX_TREE_TOKENS: usize = 600_000;
/// Files parsed at the same time, which bounds the memory of their syntax trees.
pub const MAX_PARALLEL_FILES: usize = 4;
/// A NUL byte within this prefix marks a binary file.
pub const BINARY_PREFIX_BYTES: usize = 8 << 10;
/// Directory entries looked at, so that a scan of `/` ends.
pub const MAX_ENTRIES: usize = 1_000_000;
/// Rows of each kind (kernels, launches, occurrences of one pattern) kept per file; counts stay exact.
pub const MAX_ROWS_PER_FILE: usize = 2_000;
/// Rows of each kind kept for the tree; counts stay exact.
pub const MAX_ROWS: usize = 100_000;
/// Occurrences kept per pattern for the tree.
pub const MAX_OCCURRENCES: usize = 1_000;
/// Skipped files listed by name; all are counted.
pub const MAX_SKIPPED_LISTED: usize = 1_000;
/// Loops listed per kernel.
pub const MAX_LOOPS_PER_KERNEL: usize = 64;
/// Characters of an expression kept as text.
pub const MAX_EXPRESSION_CHARS: usize = 80;
/// Characters of a source line kept as text.
pub const MAX_LINE_CHARS: usize = 240;
/// Characters of a kernel name kept; longer ones are machine-made.
pub const MAX_NAME_CHARS: usize = 512;
/// Places returned for one kernel of a trace.
pub const MAX_LOCATIONS: usize = 20;
/// Bytes of a trace's kernel name looked at; the name ends long before, only template arguments go on.
pub const MAX_TRACE_NAME_BYTES: usize = 64 << 10;

/// The adjustable bounds of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    /// Files read.
    pub max_files: usize,
    /// Bytes of one file.
    pub max_file_bytes: u64,
    /// Bytes of all files together.
    pub max_total_bytes: u64,
    /// Parsing time of one file.
    pub parse_time: Duration,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            max_files: MAX_FILES,
            max_file_bytes: MAX_FILE_BYTES,
            max_total_bytes: MAX_TOTAL_BYTES,
            parse_time: PARSE_TIME,
        }
    }
}
