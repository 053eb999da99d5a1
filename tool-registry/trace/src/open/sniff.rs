//! Says what a file that is not a database looks like.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::Looks;

/// Header words of CSV files that AMD's profilers write.
const PROFILER_HEADERS: &[&str] =
    &["Kernel_Name", "KernelName", "Correlation_Id", "Dispatch_Id", "Counter_Name", "BeginNs"];

/// Looks at the first bytes of a file.
pub(super) fn looks(path: &Path) -> Looks {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    if read.is_err() || head.is_empty() { Looks::Empty } else { classify(&head, path) }
}

fn classify(head: &[u8], path: &Path) -> Looks {
    let extension = path.extension().and_then(|ext| ext.to_str()).unwrap_or_default().to_ascii_lowercase();
    if head.starts_with(b"SQLite format 3\0") || b"SQLite format 3\0".starts_with(head) {
        return Looks::CutHeader;
    }
    if matches!(extension.as_str(), "nsys-rep" | "qdrep") {
        return Looks::Nsys;
    }
    if extension == "otf2" {
        return Looks::Otf2;
    }
    match head {
        [0x1f, 0x8b, ..] => return Looks::Gzip,
        [b'P', b'K', 3, 4, ..] => return Looks::Zip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Looks::Zstd,
        [0x7f, b'E', b'L', b'F', ..] => return Looks::Elf,
        _ => {}
    }
    // A Perfetto trace is a list of packets: field 1, length-delimited.
    if matches!(extension.as_str(), "pftrace" | "perfetto-trace")
        || (head.first() == Some(&0x0a) && head.iter().any(|byte| *byte < 9))
    {
        return Looks::Perfetto;
    }
    if head.contains(&0) {
        return Looks::Binary;
    }
    let text = String::from_utf8_lossy(head);
    if text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count() * 10 > text.chars().count() {
        return Looks::Binary;
    }
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let line = start.lines().next().unwrap_or_default();
    if start.starts_with('{') || start.starts_with('[') {
        Looks::Json
    } else if line.contains(',') && PROFILER_HEADERS.iter().any(|word| line.contains(word)) {
        Looks::ProfilerCsv
    } else if extension == "csv" || line.matches(',').count() >= 2 {
        Looks::Csv
    } else {
        Looks::Text
    }
}
