//! A source file as text, with positions turned into lines and columns.

use std::cell::Cell;
use std::sync::Arc;

use crate::limits::{MAX_EXPRESSION_CHARS, MAX_LINE_CHARS};
use crate::model::Site;

/// One decoded file.
pub(crate) struct Source {
    pub(crate) file: Arc<str>,
    pub(crate) text: String,
    /// Byte offsets at which lines start; the first is 0.
    line_starts: Vec<usize>,
    /// Offset and column of the last place asked for: on a line of megabytes, counting from its start each time would be
    /// quadratic.
    last: Cell<(usize, usize)>,
}

impl Source {
    /// Decodes bytes: a byte order mark is dropped, invalid UTF-8 is replaced.
    pub(crate) fn new(file: Arc<str>, bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes).into_owned();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1));
        let line_starts = line_starts.collect();
        Self { file, text, line_starts, last: Cell::new((0, 1)) }
    }

    /// Place of a byte offset.
    pub(crate) fn site(&self, offset: usize) -> Site {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let (known, known_column) = self.last.get();
        let (from, base) = if (start..=offset).contains(&known) { (known, known_column) } else { (start, 1) };
        let column = self.text.get(from..offset).map_or(0, |before| before.chars().count()) + base;
        self.last.set((offset, column));
        Site {
            file: self.file.clone(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }

    /// The line around a byte offset, trimmed and bounded.
    pub(crate) fn line(&self, offset: usize) -> Box<str> {
        let line = self.line_starts.partition_point(|&start| start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        // Enough for the longest text kept and as much indentation.
        let end = self.text.len().min(start + 8 * MAX_LINE_CHARS);
        let end = (start..=end).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(start);
        let rest = self.text.get(start..end).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("").trim();
        match line.char_indices().nth(MAX_LINE_CHARS) {
            Some((end, _)) => line.get(..end).unwrap_or(line).into(),
            None => line.into(),
        }
    }
}

/// An expression on one line: white space collapsed, bounded.
pub(crate) fn expression(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > 4 * MAX_EXPRESSION_CHARS {
            break;
        }
    }
    match out.char_indices().nth(MAX_EXPRESSION_CHARS) {
        Some((end, _)) => out.get(..end).unwrap_or("").to_owned(),
        None => out,
    }
}
