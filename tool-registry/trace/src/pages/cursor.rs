//! Walks the leaves of one table in row-id order, reading runs of pages at once and stepping over damage.

use std::collections::HashSet;
use std::sync::Arc;

use super::file::{Access, PagedFile};
use super::leaf::{Kind, Page, Row};

/// Deeper trees than this do not exist; a page that claims one is damaged.
const MAX_DEPTH: usize = 20;
/// Records longer than this are not read whole.
const MAX_RECORD: usize = 64 << 20;

/// Children of one interior page and the position of the next one to visit.
#[derive(Debug)]
struct Level {
    children: Arc<[(u32, i64)]>,
    next: usize,
}

/// A forward cursor over a table with seeks.
#[derive(Debug)]
pub(crate) struct Cursor {
    file: Arc<PagedFile>,
    access: Access,
    root: u32,
    /// Interior pages from the root down; empty when the root is a leaf.
    levels: Vec<Level>,
    depth: usize,
    /// Pages read ahead: their numbers and whether each could be read, and their bytes.
    ahead: Vec<(u32, bool)>,
    bytes: Vec<u8>,
    /// Position in `ahead` of the current leaf; `ahead.len()` when a read is due.
    current: usize,
    /// Leaves read at once; grows while access is sequential.
    batch: usize,
    max_batch: usize,
    done: bool,
    /// First and last row id of the current leaf, once asked for; empty when it has none.
    bounds: Option<(i64, i64)>,
    /// Interior pages entered since the last jump: one that is met again points into itself.
    entered: HashSet<u32>,
    bad_pages: HashSet<u32>,
    /// Pages that could not be read or are not what they should be, each counted once.
    pub(crate) damaged: u64,
}

impl Cursor {
    /// A cursor before the first leaf. `buffer_bytes` bounds the pages read ahead.
    pub(crate) fn new(file: &Arc<PagedFile>, root: u32, buffer_bytes: usize) -> Self {
        let mut cursor = Self {
            file: Arc::clone(file),
            access: Access::new(),
            root,
            levels: Vec::new(),
            depth: 0,
            ahead: Vec::new(),
            bytes: Vec::new(),
            current: 0,
            batch: 1,
            max_batch: (buffer_bytes / file.page_size).max(1),
            done: false,
            bounds: None,
            entered: HashSet::new(),
            bad_pages: HashSet::new(),
            damaged: 0,
        };
        cursor.rewind();
        cursor
    }

    /// Back to before the first leaf.
    pub(crate) fn rewind(&mut self) {
        self.levels.clear();
        self.ahead.clear();
        self.current = 0;
        self.batch = self.max_batch;
        self.done = false;
        self.entered.clear();
        self.bounds = None;
        self.depth = 0;
        // The depth is that of the leftmost path; every leaf of a sound table has it. On a damaged path any sibling tells.
        let mut page = self.root;
        let mut buffer = vec![0; self.file.page_size];
        while self.depth < MAX_DEPTH {
            match self.interior(page, &mut buffer) {
                Some(children) => {
                    let Some(&(first, _)) = children.first() else { break };
                    page = self.first_sound(&children, &mut buffer).unwrap_or(first);
                    if self.depth == 0 {
                        self.levels.push(Level { children, next: 0 });
                    }
                    self.depth += 1;
                }
                None => break,
            }
        }
        if self.depth == 0 {
            self.levels.push(Level { children: Arc::from([(self.root, i64::MAX)]), next: 0 });
            self.depth = 1;
        }
    }

    fn first_sound(&mut self, children: &[(u32, i64)], buffer: &mut [u8]) -> Option<u32> {
        children.iter().map(|(page, _)| *page).find(|&page| {
            self.read_page(page, buffer) && Page::new(buffer, page, self.file.usable).kind() != Kind::Other
        })
    }

    fn note_damage(&mut self, page: u32) {
        self.damaged += u64::from(self.bad_pages.insert(page));
    }

    fn read_page(&mut self, page: u32, buffer: &mut [u8]) -> bool {
        page >= 1 && page <= self.file.pages && self.access.read(&self.file, page, buffer).is_ok()
    }

    /// Children of an interior page; `None` when it is not one.
    fn interior(&mut self, page: u32, buffer: &mut [u8]) -> Option<Arc<[(u32, i64)]>> {
        if !self.read_page(page, buffer) {
            return None;
        }
        let view = Page::new(buffer, page, self.file.usable);
        (view.kind() == Kind::Interior).then(|| view.children().into())
    }

    /// Goes to the next leaf. False at the end of the table.
    pub(crate) fn advance(&mut self) -> bool {
        self.bounds = None;
        loop {
            if self.current + 1 < self.ahead.len() {
                self.current += 1;
            } else {
                self.batch = (self.batch * 2).min(self.max_batch);
                if !self.fill() {
                    return false;
                }
            }
            if self.ahead.get(self.current).is_some_and(|(_, sound)| *sound) {
                return true;
            }
        }
    }

    /// Reads the next batch of leaves.
    fn fill(&mut self) -> bool {
        self.ahead.clear();
        self.current = 0;
        if self.done || !self.descend() {
            self.done = true;
            return false;
        }
        if let Some(level) = self.levels.last_mut() {
            let end = (level.next + self.batch).min(level.children.len());
            self.ahead.extend(
                level.children.get(level.next..end).unwrap_or_default().iter().map(|(page, _)| (*page, true)),
            );
            level.next = end;
        }
        self.read_ahead();
        !self.ahead.is_empty()
    }

    /// Makes the lowest level one whose children are leaves and are not all visited.
    fn descend(&mut self) -> bool {
        let mut buffer = Vec::new();
        loop {
            while self.levels.last().is_some_and(|level| level.next >= level.children.len()) {
                self.levels.pop();
            }
            if self.levels.is_empty() {
                return false;
            }
            if self.levels.len() >= self.depth {
                return true;
            }
            let Some(level) = self.levels.last_mut() else { return false };
            let Some(&(page, _)) = level.children.get(level.next) else { return false };
            level.next += 1;
            buffer.resize(self.file.page_size, 0);
            match self.interior(page, &mut buffer) {
                Some(children) if self.entered.insert(page) => self.levels.push(Level { children, next: 0 }),
                _ => self.note_damage(page),
            }
        }
    }

    /// Reads the pages of `ahead`, neighbours in one go, and marks those that are not leaves.
    fn read_ahead(&mut self) {
        let size = self.file.page_size;
        self.bytes.resize(self.ahead.len() * size, 0);
        let mut start = 0;
        while start < self.ahead.len() {
            let first = self.ahead.get(start).map_or(0, |(page, _)| *page);
            let run = self
                .ahead
                .get(start..)
                .unwrap_or_default()
                .iter()
                .enumerate()
                .take_while(|(step, (page, _))| first.checked_add(*step as u32) == Some(*page))
                .count()
                .max(1);
            let whole = first >= 1
                && first as u64 + run as u64 - 1 <= u64::from(self.file.pages)
                && self
                    .bytes
                    .get_mut(start * size..(start + run) * size)
                    .is_some_and(|out| self.access.read(&self.file, first, out).is_ok());
            for index in start..start + run {
                let page = self.ahead.get(index).map_or(0, |(page, _)| *page);
                let Some(out) = self.bytes.get_mut(index * size..(index + 1) * size) else { continue };
                let read = whole
                    || (page >= 1
                        && page <= self.file.pages
                        && self.access.read(&self.file, page, out).is_ok());
                let sound = read && Page::new(out, page, self.file.usable).kind() == Kind::Leaf;
                if !sound {
                    self.note_damage(page);
                }
                if let Some(entry) = self.ahead.get_mut(index) {
                    entry.1 = sound;
                }
            }
            start += run;
        }
    }

    /// The current leaf.
    #[inline]
    pub(crate) fn leaf(&self) -> Option<Page<'_>> {
        let (number, sound) = *self.ahead.get(self.current)?;
        let size = self.file.page_size;
        sound
            .then(|| self.bytes.get(self.current * size..(self.current + 1) * size))?
            .map(|bytes| Page::new(bytes, number, self.file.usable))
    }

    /// Makes the leaf that would hold row `id` the current one and returns the position of the row on it.
    #[inline]
    pub(crate) fn seek(&mut self, id: i64) -> Option<usize> {
        match self.bounds {
            Some((first, last)) if first <= id && id <= last => self.leaf()?.find(id, first),
            _ => self.seek_far(id),
        }
    }

    fn bound(&mut self) -> (i64, i64) {
        let bounds = self.leaf().and_then(|page| {
            let last = page.cells().checked_sub(1)?;
            Some((page.row_id(0)?, page.row_id(last)?))
        });
        self.bounds = bounds.or(Some((0, -1)));
        bounds.unwrap_or((0, -1))
    }

    fn seek_far(&mut self, id: i64) -> Option<usize> {
        let (_, last) = self.bounds.unwrap_or_else(|| self.bound());
        // The next leaf is the usual target.
        if id > last && !self.ahead.is_empty() && self.advance() {
            let (first, last) = self.bound();
            if first <= id && id <= last {
                return self.leaf()?.find(id, first);
            }
        }
        self.descend_to(id);
        let (first, last) = self.bound();
        if first <= id && id <= last { self.leaf()?.find(id, first) } else { None }
    }

    /// Reads the leaf that would hold row `id`, from the root.
    fn descend_to(&mut self, id: i64) {
        self.done = false;
        self.entered.clear();
        self.bounds = None;
        self.ahead.clear();
        self.current = 0;
        self.batch = 1;
        if self.levels.is_empty() {
            self.rewind();
            self.batch = 1;
        }
        // Keep the levels that still enclose the row.
        self.levels.truncate(self.depth);
        let mut keep = 1;
        while keep < self.levels.len() {
            let Some(upper) = self.levels.get(keep - 1) else { break };
            let child = upper.next.saturating_sub(1);
            let low = child
                .checked_sub(1)
                .and_then(|before| upper.children.get(before))
                .map_or(i64::MIN, |(_, key)| *key);
            let high = upper.children.get(child).map_or(i64::MIN, |(_, key)| *key);
            if !(low < id && id <= high) {
                break;
            }
            keep += 1;
        }
        self.levels.truncate(keep);
        let mut buffer = vec![0; self.file.page_size];
        loop {
            let full = self.levels.len() >= self.depth;
            let Some(level) = self.levels.last_mut() else { return };
            let child = level
                .children
                .partition_point(|(_, key)| *key < id)
                .min(level.children.len().saturating_sub(1));
            level.next = child + 1;
            let Some(&(page, _)) = level.children.get(child) else { return };
            if full {
                self.ahead.push((page, true));
                self.read_ahead();
                return;
            }
            match self.interior(page, &mut buffer) {
                Some(children) => self.levels.push(Level { children, next: 0 }),
                None => {
                    self.note_damage(page);
                    return;
                }
            }
        }
    }

    /// A row of the current leaf.
    #[inline]
    pub(crate) fn row(&self, cell: usize) -> Option<Row<'_>> {
        self.leaf()?.row(cell)
    }

    /// The whole record of a row of the current leaf, with its overflow pages. `None`: damaged or too long.
    pub(crate) fn record(&mut self, cell: usize) -> Option<Vec<u8>> {
        let (mut record, total, mut next) = {
            let row = self.row(cell)?;
            (row.local.get(..row.local_len)?.to_vec(), row.total, row.overflow)
        };
        if total > MAX_RECORD {
            return None;
        }
        let mut buffer = vec![0; self.file.page_size];
        while record.len() < total {
            if !self.read_page(next, &mut buffer) {
                self.note_damage(next);
                return None;
            }
            next = u32::from_be_bytes(buffer.get(..4)?.try_into().ok()?);
            let take = (total - record.len()).min(self.file.usable - 4);
            record.extend_from_slice(buffer.get(4..4 + take)?);
        }
        Some(record)
    }

    /// Pages of the first leaves of up to `parts` evenly spread subtrees, for sampling.
    pub(crate) fn spread(&mut self, parts: usize, mut visit: impl FnMut(&mut Self)) {
        let mut ids: Vec<i64> = Vec::new();
        let mut buffer = vec![0; self.file.page_size];
        let top: Vec<(u32, i64)> =
            self.levels.first().map(|level| level.children.to_vec()).unwrap_or_default();
        if self.depth <= 1 || top.len() >= parts {
            ids.extend(top.iter().map(|(_, key)| *key));
        } else {
            for (page, key) in top {
                match self.interior(page, &mut buffer) {
                    Some(children) if self.depth > 1 => {
                        ids.extend(children.iter().map(|(_, inner)| (*inner).min(key)));
                    }
                    _ => ids.push(key),
                }
            }
        }
        let step = ids.len().div_ceil(parts.max(1)).max(1);
        let mut wanted: Vec<i64> = ids.iter().copied().step_by(step).collect();
        wanted.extend(ids.last());
        wanted.dedup();
        for id in wanted {
            self.descend_to(id);
            if self.leaf().is_some() {
                visit(self);
            }
        }
        self.rewind();
    }
}

impl Cursor {
    /// The largest row id the top page tells of: a lower bound of the last row's, known even when the last leaves are lost.
    pub(crate) fn largest_key(&self) -> Option<i64> {
        self.levels.first()?.children.iter().map(|(_, key)| *key).filter(|key| *key < i64::MAX).max()
    }
}

impl Cursor {
    /// About how many rows the table has: row ids are dense, and a page holds only so many.
    pub(crate) fn estimated_rows(&mut self) -> u64 {
        let most = u64::from(self.file.pages).saturating_mul(self.file.page_size as u64 / 8);
        let first = if self.advance() { self.leaf().and_then(|leaf| leaf.row_id(0)) } else { None };
        self.descend_to(i64::MAX);
        let last = self.leaf().and_then(|leaf| leaf.row_id(leaf.cells().checked_sub(1)?));
        self.rewind();
        match (first, last) {
            (Some(first), Some(last)) => {
                last.saturating_sub(first).saturating_add(1).unsigned_abs().min(most)
            }
            _ => most.min(1 << 20),
        }
    }
}
