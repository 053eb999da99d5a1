//! A database file as an array of pages.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// File handles that streams may keep open between reads; past it they open the file for each read.
const KEPT_HANDLES: usize = 48;
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// Text encoding of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Text {
    /// Decodes stored text; the flag says whether some bytes were not valid and were replaced.
    pub(crate) fn decode(self, bytes: &[u8]) -> (String, bool) {
        match self {
            Self::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) => (text.to_owned(), false),
                Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
            },
            Self::Utf16Le | Self::Utf16Be => {
                let units =
                    bytes.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok()).map(|pair| {
                        if self == Self::Utf16Le {
                            u16::from_le_bytes(pair)
                        } else {
                            u16::from_be_bytes(pair)
                        }
                    });
                let mut bad = false;
                let text = char::decode_utf16(units)
                    .map(|unit| {
                        unit.unwrap_or_else(|_| {
                            bad = true;
                            char::REPLACEMENT_CHARACTER
                        })
                    })
                    .collect();
                (text, bad)
            }
        }
    }
}

/// A database file and the facts of its header.
#[derive(Clone, Debug)]
pub(crate) struct PagedFile {
    pub(crate) path: PathBuf,
    pub(crate) page_size: usize,
    /// Bytes of a page that hold content.
    pub(crate) usable: usize,
    /// Whole pages present in the file.
    pub(crate) pages: u32,
    /// Pages the header promises; equal to `pages` when the header does not say.
    pub(crate) promised: u32,
    pub(crate) text: Text,
    /// Whether the header asks for a write-ahead log.
    pub(crate) wal_mode: bool,
    length: u64,
    inode: u64,
    modified: (i64, i64),
}

/// Length of the database header.
pub(crate) const HEADER: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";

fn be_u32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes)
}

impl PagedFile {
    /// Reads the header. `Ok(None)`: not an SQLite file.
    pub(crate) fn open(path: PathBuf) -> io::Result<Option<Self>> {
        let file = File::open(&path)?;
        let meta = file.metadata()?;
        let mut header = [0u8; HEADER];
        if meta.len() < HEADER as u64
            || file.read_exact_at(&mut header, 0).is_err()
            || !header.starts_with(MAGIC)
        {
            return Ok(None);
        }
        let raw =
            u16::from_be_bytes([header.get(16).copied().unwrap_or(0), header.get(17).copied().unwrap_or(0)]);
        let page_size = if raw == 1 { 65_536 } else { usize::from(raw) };
        if !page_size.is_power_of_two() || page_size < 512 {
            return Ok(None);
        }
        let reserved = usize::from(header.get(20).copied().unwrap_or(0));
        let pages = u32::try_from(meta.len() / page_size as u64).unwrap_or(u32::MAX);
        // The count in the header is only valid when both change counters agree.
        let counted = be_u32(&header, 28);
        let promised = if counted != 0 && be_u32(&header, 24) == be_u32(&header, 92) {
            counted.max(pages)
        } else {
            pages
        };
        let text = match be_u32(&header, 56) {
            2 => Text::Utf16Le,
            3 => Text::Utf16Be,
            _ => Text::Utf8,
        };
        Ok(Some(Self {
            path,
            page_size,
            usable: page_size.saturating_sub(reserved).max(480),
            pages,
            promised,
            text,
            wal_mode: header.get(18) == Some(&2) || header.get(19) == Some(&2),
            length: meta.len(),
            inode: meta.ino(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        }))
    }

    /// Whether the file on disk is still the one whose header was read.
    pub(crate) fn unchanged(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|meta| {
            meta.len() == self.length
                && meta.ino() == self.inode
                && (meta.mtime(), meta.mtime_nsec()) == self.modified
        })
    }
}

/// Access to the pages for one reader: keeps the file open when few readers do, else opens it for each read.
#[derive(Debug)]
pub(crate) struct Access {
    kept: Option<File>,
    permit: bool,
}

impl Access {
    pub(crate) fn new() -> Self {
        let permit = KEPT.fetch_add(1, Ordering::Relaxed) < KEPT_HANDLES;
        if !permit {
            KEPT.fetch_sub(1, Ordering::Relaxed);
        }
        Self { kept: None, permit }
    }

    /// Fills `out` with `out.len() / page_size` consecutive pages from the 1-based `page` on.
    pub(crate) fn read(&mut self, file: &PagedFile, page: u32, out: &mut [u8]) -> io::Result<()> {
        let at = u64::from(page.saturating_sub(1)) * file.page_size as u64;
        if let Some(open) = &self.kept {
            return open.read_exact_at(out, at);
        }
        let open = File::open(&file.path)?;
        let result = open.read_exact_at(out, at);
        if self.permit {
            self.kept = Some(open);
        }
        result
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        if self.permit {
            KEPT.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
