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

/// Longer record headers do not exist: a table has at most 32,767 columns of at most 3 bytes in practice.
const HEADER: usize = 100_000;
/// Headers remembered: small values change a header (0 and 1 are stored in it), so a table has a few that come and go.
const HEADERS: usize = 16;

/// Where a slot's value lies in records with the remembered header.
#[derive(Clone, Copy, Debug)]
struct Place {
    slot: u8,
    kind: Stored,
    at: u32,
    size: u32,
}

/// How a value is stored.
#[derive(Clone, Copy, Debug)]
enum Stored {
    Null,
    Int,
    Real,
    Zero,
    One,
    Text,
    Blob,
}

/// What a header means.
#[derive(Clone, Debug, Default)]
struct Known {
    header: Vec<u8>,
    places: Vec<Place>,
    /// Bytes a record must have for all places to be inside it.
    reach: usize,
}

/// Which columns of a table are wanted, and in which order they are delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// For each stored column the slot it goes to, if any; trailing unwanted columns are cut off.
    slots: Vec<Option<u8>>,
    /// Slots that hold the row id itself.
    row_id: Vec<u8>,
    width: usize,
    /// Headers met: neighbouring rows nearly always have the same one.
    known: Vec<Known>,
    /// The last one used, and the next one to give up.
    current: usize,
    oldest: usize,
}

impl Layout {
    /// `columns`: names of the stored columns in order with whether the column is an alias of the row id; `wanted`: names of
    /// the slots. A wanted column the table lacks stays NULL.
    pub(crate) fn new(columns: &[(String, bool)], wanted: &[&str]) -> Self {
        let mut layout = Self { slots: vec![None; columns.len()], width: wanted.len(), ..Self::default() };
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

    /// Decodes a record. `record` may go on behind `len`, the record's bytes at hand. False: a wanted column lies (partly)
    /// beyond `len`, or the header is damaged. Slots of columns the table lacks are left as they are, so pass the same
    /// values again.
    #[inline]
    pub(crate) fn decode(&mut self, id: i64, record: &[u8], len: usize, out: &mut [Value]) -> bool {
        if !self.known.get(self.current).is_some_and(|known| record.starts_with(&known.header))
            && !self.recognise(record, len)
        {
            return false;
        }
        let Some(known) = self.known.get(self.current) else { return false };
        if known.reach > len {
            return false;
        }
        for place in &known.places {
            let (at, size) = (place.at as usize, place.size as usize);
            let value = match place.kind {
                Stored::Int => Value::Int(integer(record, at, size)),
                Stored::Null => Value::Null,
                Stored::Real => Value::Real(f64::from_bits(integer(record, at, 8) as u64)),
                Stored::Zero => Value::Int(0),
                Stored::One => Value::Int(1),
                Stored::Text => Value::Text { at, len: size },
                Stored::Blob => Value::Blob { at, len: size },
            };
            if let Some(out) = out.get_mut(usize::from(place.slot)) {
                *out = value;
            }
        }
        for &slot in &self.row_id {
            if let Some(value) = out.get_mut(usize::from(slot)) {
                *value = Value::Int(id);
            }
        }
        true
    }

    /// Makes this record's header the current one. False: it is damaged or not all at hand.
    #[cold]
    fn recognise(&mut self, record: &[u8], len: usize) -> bool {
        if let Some(found) = self.known.iter().position(|known| record.starts_with(&known.header)) {
            self.current = found;
            return true;
        }
        let Some(learned) = self.learn(record, len) else { return false };
        if self.known.len() < HEADERS {
            self.current = self.known.len();
            self.known.push(learned);
        } else {
            self.current = self.oldest;
            self.oldest = (self.oldest + 1) % HEADERS;
            if let Some(slot) = self.known.get_mut(self.current) {
                *slot = learned;
            }
        }
        true
    }

    /// Works out where the slots lie under this record's header.
    fn learn(&self, record: &[u8], len: usize) -> Option<Known> {
        let (header, mut at) = varint(record, 0)?;
        let header = usize::try_from(header).ok().filter(|header| *header <= len.min(HEADER))?;
        let mut known = Known::default();
        let mut body = header;
        for slot in &self.slots {
            // Columns added after the row was written are not stored.
            let serial = if at < header {
                let (serial, next) = varint(record, at)?;
                at = next;
                serial
            } else {
                0
            };
            let (kind, size) = match serial {
                0 => (Stored::Null, 0),
                1..=4 => (Stored::Int, serial),
                5 => (Stored::Int, 6),
                6 => (Stored::Int, 8),
                7 => (Stored::Real, 8),
                8 => (Stored::Zero, 0),
                9 => (Stored::One, 0),
                10 | 11 => return None,
                _ if serial % 2 == 1 => (Stored::Text, (serial - 13) / 2),
                _ => (Stored::Blob, (serial - 12) / 2),
            };
            let (place, size) = (u32::try_from(body).ok()?, u32::try_from(size).ok()?);
            let end = body + size as usize;
            if let Some(slot) = slot {
                known.places.push(Place { slot: *slot, kind, at: place, size });
                known.reach = known.reach.max(end);
            }
            body = end;
        }
        known.header.extend_from_slice(record.get(..header)?);
        Some(known)
    }
}

/// A big-endian two's-complement integer of `size` bytes, 1 to 8.
#[inline(always)]
fn integer(record: &[u8], at: usize, size: usize) -> i64 {
    // Eight bytes at once whenever the page goes on that far: one load and one shift whatever the size.
    if let Some(bytes) = record.get(at..at + 8).and_then(|b| <[u8; 8]>::try_from(b).ok()) {
        return i64::from_be_bytes(bytes) >> (64 - 8 * size as u32);
    }
    let Some(bytes) = record.get(at..at + size) else { return 0 };
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |value: i64, byte| value << 8 | i64::from(*byte))
}
