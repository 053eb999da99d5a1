//! What every answer about a trace shares: how one trace is opened, its pages and its notes.

use std::path::PathBuf;

use crate::traces::Wish;

/// Notes of an answer.
const NOTES: usize = 8;
/// Longest note, in characters.
const SENTENCE: usize = 240;

/// How a tool that reads one trace opens it: what is readable of a damaged file counts, and the answer says so.
pub const ONE_TRACE: Wish =
    Wish { allow_partial: true, strict: false, min_duration: perfxpert_analysis::Nanos::ZERO };

/// A path argument as the reader takes it.
pub fn inputs(path: &str) -> [PathBuf; 1] {
    [PathBuf::from(path)]
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// Rows of the page.
    pub rows: Vec<T>,
    /// Rows of the whole list.
    pub total: u64,
    /// Rows of the page, counted.
    pub returned: u64,
    /// Whether rows exist beyond the page.
    pub truncated: bool,
}

impl<T> Page<T> {
    /// The rows from `offset` on, at most `limit`.
    pub fn of(rows: impl IntoIterator<Item = T>, offset: usize, limit: usize) -> Self {
        let mut total = 0_usize;
        let mut kept = Vec::new();
        for row in rows {
            if total >= offset && kept.len() < limit {
                kept.push(row);
            }
            total += 1;
        }
        let end = offset.saturating_add(kept.len());
        Self { total: total as u64, returned: kept.len() as u64, truncated: end < total, rows: kept }
    }
}

/// Notes within their bounds.
pub fn notes(notes: impl IntoIterator<Item = String>) -> Vec<String> {
    notes.into_iter().take(NOTES).map(|note| sentence(&note)).collect()
}

/// A sentence cut to the length that notes may have.
fn sentence(text: &str) -> String {
    if text.chars().nth(SENTENCE).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(SENTENCE - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_knows_what_lies_beyond_it() {
        let page = Page::of(0..10, 4, 3);
        assert_eq!((page.rows, page.total, page.returned, page.truncated), (vec![4, 5, 6], 10, 3, true));
        let last = Page::of(0..10, 7, 3);
        assert!(!last.truncated);
        let none = Page::of(0..10, 0, 0);
        assert_eq!((none.total, none.returned, none.truncated), (10, 0, true));
        let beyond = Page::of(0..10, usize::MAX, 500);
        assert_eq!((beyond.returned, beyond.truncated), (0, false));
    }

    #[test]
    fn notes_are_few_and_short() {
        let long = notes((0..20).map(|_| "x".repeat(1000)));
        assert_eq!(long.len(), 8);
        assert!(long.iter().all(|note| note.chars().count() == 240 && note.ends_with('…')));
    }
}
