//! One page of a table b-tree.

/// Page type of an interior page of a table.
const INTERIOR: u8 = 0x05;
/// Page type of a leaf page of a table.
const LEAF: u8 = 0x0d;

/// Reads a varint at `at`: its value and the offset behind it.
#[inline(always)]
pub(crate) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), at + 1));
    }
    let mut value = u64::from(first & 0x7f);
    for step in 1..8 {
        let byte = *bytes.get(at + step)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, at + step + 1));
        }
    }
    let last = *bytes.get(at + 8)?;
    Some((value << 8 | u64::from(last), at + 9))
}

#[inline(always)]
fn be16(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map(|b| usize::from(u16::from_be_bytes(b)))
}

/// What a page is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Interior,
    Leaf,
    Other,
}

/// A page and where its b-tree header starts (100 on page 1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    bytes: &'a [u8],
    header: usize,
    usable: usize,
}

/// A row as it lies on its leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) id: i64,
    /// The part of the record on the leaf, followed by whatever else is on the page.
    pub(crate) local: &'a [u8],
    /// Bytes of the record on the leaf.
    pub(crate) local_len: usize,
    /// Bytes of the whole record.
    pub(crate) total: usize,
    /// First overflow page; 0 when the record ends on the leaf.
    pub(crate) overflow: u32,
}

impl<'a> Page<'a> {
    pub(crate) fn new(bytes: &'a [u8], number: u32, usable: usize) -> Self {
        Self { bytes, header: if number == 1 { super::file::HEADER } else { 0 }, usable }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.bytes.get(self.header) {
            Some(&INTERIOR) => Kind::Interior,
            Some(&LEAF) => Kind::Leaf,
            _ => Kind::Other,
        }
    }

    /// Number of cells; more than can fit on the page means damage and counts as none.
    #[inline]
    pub(crate) fn cells(&self) -> usize {
        let cells = be16(self.bytes, self.header + 3).unwrap_or(0);
        if cells * 2 + self.header > self.usable { 0 } else { cells }
    }

    /// Children of an interior page with the largest row id below each; the last has none.
    pub(crate) fn children(&self) -> Vec<(u32, i64)> {
        let mut children: Vec<(u32, i64)> = (0..self.cells())
            .filter_map(|cell| {
                let at = be16(self.bytes, self.header + 12 + cell * 2)?;
                let child = u32::from_be_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?);
                let (key, _) = varint(self.bytes, at + 4)?;
                Some((child, key as i64))
            })
            .collect();
        if let Some(right) = self.bytes.get(self.header + 8..self.header + 12).and_then(|b| b.try_into().ok())
        {
            children.push((u32::from_be_bytes(right), i64::MAX));
        }
        children
    }

    #[inline]
    fn cell_at(&self, cell: usize) -> Option<usize> {
        be16(self.bytes, self.header + 8 + cell * 2)
    }

    /// Row id of a leaf cell.
    #[inline]
    pub(crate) fn row_id(&self, cell: usize) -> Option<i64> {
        let (_, at) = varint(self.bytes, self.cell_at(cell)?)?;
        varint(self.bytes, at).map(|(id, _)| id as i64)
    }

    /// A leaf cell. `None`: its pointer or sizes do not fit the page.
    #[inline]
    pub(crate) fn row(&self, cell: usize) -> Option<Row<'a>> {
        let (total, at) = varint(self.bytes, self.cell_at(cell)?)?;
        let (id, at) = varint(self.bytes, at)?;
        let total = usize::try_from(total).ok()?;
        let local = self.bytes.get(at..)?;
        let whole = self.usable.saturating_sub(35);
        if total <= whole {
            return (total <= local.len()).then_some(Row {
                id: id as i64,
                local,
                local_len: total,
                total,
                overflow: 0,
            });
        }
        let least = (self.usable.saturating_sub(12)) * 32 / 255 - 23;
        let wanted = least + (total - least) % (self.usable - 4);
        let local_len = if wanted <= whole { wanted } else { least };
        let overflow = u32::from_be_bytes(local.get(local_len..local_len + 4)?.try_into().ok()?);
        Some(Row { id: id as i64, local, local_len, total, overflow })
    }

    /// The cell with that row id; `first` is the id of the first cell.
    #[inline]
    pub(crate) fn find(&self, id: i64, first: i64) -> Option<usize> {
        let cells = self.cells();
        // Row ids are dense in practice: the distance to the first one is the position.
        let guess = usize::try_from(id.wrapping_sub(first)).ok()?;
        if guess < cells && self.row_id(guess)? == id {
            return Some(guess);
        }
        let (mut low, mut high) = (0, cells);
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.row_id(middle)?.cmp(&id) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}
