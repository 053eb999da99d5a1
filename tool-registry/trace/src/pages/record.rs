//! Decodes the wanted columns of a record in one pass over its header.

use super::leaf::varint;

/// A column's value; text and blobs are ranges of the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text { at: usize, len: usize },
    Blob { at: usize, len: usize },
}

impl Value {
    /// An integer; a real with an integral value counts as one.
    #[inline]
    pub(crate) fn int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Real(value) if value.is_finite() && value.abs() < 9.2e18 => Some(value as i64),
            _ => None,
        }
    }

    /// The bytes of text (not of a blob).
    pub(crate) fn text(self, record: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Text { at, len } => record.get(at..at.checked_add(len)?),
            _ => None,
        }
    }
}

/// Which columns of a table are wanted, and in which order they are delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// For each stored column the slot it goes to, if any; trailing unwanted columns are cut off.
    slots: Vec<Option<u8>>,
    /// Slots that hold the row id itself.
    row_id: Vec<u8>,
    width: usize,
}

impl Layout {
    /// `columns`: names of the stored columns in order with whether the column is an alias of the row id; `wanted`: names of
    /// the slots. A wanted column the table lacks stays NULL.
    pub(crate) fn new(columns: &[(String, bool)], wanted: &[&str]) -> Self {
        let mut layout = Self { slots: vec![None; columns.len()], row_id: Vec::new(), width: wanted.len() };
        for (slot, name) in wanted.iter().enumerate() {
            let Some(position) = columns.iter().position(|(column, _)| column.eq_ignore_ascii_case(name))
            else {
                continue;
            };
            let Ok(slot) = u8::try_from(slot) else { continue };
            if columns.get(position).is_some_and(|(_, alias)| *alias) {
                layout.row_id.push(slot);
            } else if let Some(entry) = layout.slots.get_mut(position) {
                *entry = Some(slot);
            }
        }
        let last = layout.slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        layout.slots.truncate(last);
        layout
    }

    /// Empty values for [`Layout::decode`].
    pub(crate) fn values(&self) -> Vec<Value> {
        vec![Value::Null; self.width]
    }

    /// Decodes a record. `record` may go on behind `len`, the record's bytes at hand of `total`. False: a wanted column lies
    /// (partly) beyond `len`, or the header is damaged.
    #[inline]
    pub(crate) fn decode(&self, id: i64, record: &[u8], len: usize, out: &mut [Value]) -> bool {
        out.fill(Value::Null);
        for &slot in &self.row_id {
            if let Some(value) = out.get_mut(usize::from(slot)) {
                *value = Value::Int(id);
            }
        }
        let Some((header, mut at)) = varint(record, 0) else { return false };
        let header = header as usize;
        if header > len {
            return false;
        }
        let mut body = header;
        for slot in &self.slots {
            if at >= header {
                // Columns added after the row was written are not stored.
                return true;
            }
            let Some((serial, next)) = varint(record, at) else { return false };
            at = next;
            let size = match serial {
                0 | 8 | 9 => 0,
                1..=4 => serial as usize,
                5 => 6,
                6 | 7 => 8,
                10 | 11 => return false,
                _ => {
                    let Ok(size) = usize::try_from((serial - 12) / 2) else { return false };
                    size
                }
            };
            if let Some(slot) = slot {
                let Some(end) = body.checked_add(size) else { return false };
                if end > len {
                    return false;
                }
                let value = match serial {
                    0 => Value::Null,
                    1..=6 => Value::Int(integer(record, body, size)),
                    7 => Value::Real(f64::from_bits(integer(record, body, 8) as u64)),
                    8 => Value::Int(0),
                    9 => Value::Int(1),
                    _ if serial % 2 == 1 => Value::Text { at: body, len: size },
                    _ => Value::Blob { at: body, len: size },
                };
                if let Some(out) = out.get_mut(usize::from(*slot)) {
                    *out = value;
                }
            }
            body = body.saturating_add(size);
        }
        true
    }
}

/// A big-endian two's-complement integer of `size` bytes, 1 to 8.
#[inline]
fn integer(record: &[u8], at: usize, size: usize) -> i64 {
    // Eight bytes at once whenever the page goes on that far: one load and one shift whatever the size.
    if let Some(bytes) = record.get(at..at + 8).and_then(|b| <[u8; 8]>::try_from(b).ok()) {
        return i64::from_be_bytes(bytes) >> (64 - 8 * size as u32);
    }
    let Some(bytes) = record.get(at..at + size) else { return 0 };
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |value: i64, byte| value << 8 | i64::from(*byte))
}
