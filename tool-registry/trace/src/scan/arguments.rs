//! Reads the recorded arguments of chosen host calls.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering;

use crate::error::ScanError;
use crate::model::ProcessIdx;
use crate::open::ProcessData;
use crate::pages::{Layout, Value};
use crate::sweep::{Argument, Control};
use crate::trace::Trace;

/// Pages read ahead, bytes.
const BUFFER: usize = 512 << 10;
/// Longest value kept, bytes.
const MAX_VALUE: usize = 256;
/// Arguments kept of one call.
const MAX_PER_CALL: usize = 64;

/// See [`Trace::arguments`].
pub(crate) fn arguments(
    trace: &Trace,
    calls: &[(ProcessIdx, i64)],
    control: &Control,
) -> Result<Vec<Argument>, ScanError> {
    let mut wanted: BTreeMap<ProcessIdx, HashSet<i64>> = BTreeMap::new();
    for (process, event) in calls {
        wanted.entry(*process).or_default().insert(*event);
    }
    let mut found = Vec::new();
    for (process, events) in &wanted {
        if let Some(data) = trace.data.get(process.get()) {
            of_process(data, events, control, &mut found)?;
        }
    }
    found.sort();
    Ok(found)
}

fn of_process(
    data: &ProcessData,
    events: &HashSet<i64>,
    control: &Control,
    found: &mut Vec<Argument>,
) -> Result<(), ScanError> {
    let Some(table) = data.set.get("arg") else { return Ok(()) };
    let mut key = Layout::new(&table.columns, &["event_id"]);
    let mut whole = Layout::new(&table.columns, &["event_id", "position", "name", "type", "value"]);
    let (mut id, mut values) = (key.values(), whole.values());
    let mut cursor = data.cursor(table, BUFFER);
    let mut room = events.len().saturating_mul(MAX_PER_CALL);
    while cursor.advance() {
        if control.stop.load(Ordering::Relaxed) {
            return Err(ScanError::Cancelled);
        }
        for cell in 0..cursor.leaf().map_or(0, |leaf| leaf.cells()) {
            let Some(row) = cursor.row(cell) else { continue };
            if !key.decode(row.id, row.local, row.local_len, &mut id) {
                continue;
            }
            let Some(event) = id.first().and_then(|value| value.int()).filter(|event| events.contains(event))
            else {
                continue;
            };
            let row_id = row.id;
            let Some(record) = cursor.record(cell).filter(|_| room > 0) else { continue };
            if !whole.decode(row_id, &record, record.len(), &mut values) {
                continue;
            }
            let value = |slot: usize| values.get(slot).copied().unwrap_or(Value::Null);
            let text = |slot: usize| text(data, value(slot), &record);
            room -= 1;
            found.push(Argument {
                process: data.index,
                event,
                position: value(1).int().unwrap_or(0),
                name: text(2),
                kind: text(3),
                value: text(4),
            });
        }
    }
    Ok(())
}

/// A value as text, cut at [`MAX_VALUE`] bytes.
fn text(data: &ProcessData, value: Value, record: &[u8]) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text { .. } => {
            let bytes = value.text(record).unwrap_or_default();
            data.file.text.decode(bytes.get(..MAX_VALUE).unwrap_or(bytes)).0
        }
        Value::Null | Value::Blob { .. } => String::new(),
    }
}
