//! Message sizes and ranks from recorded arguments of RCCL calls.

use std::collections::HashMap;

use perfxpert_trace::{Argument, Control, ProcessIdx, ScanError, Trace};

use super::calls::Calls;
use super::operation::Operation;
use crate::units::Bytes;

/// Type of the elements of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataType {
    /// Name without the library's prefix.
    pub name: &'static str,
    /// Size of an element, bytes.
    pub bytes: u64,
}

/// Names, numbers and sizes of `ncclDataType_t` (nccl.h).
const TYPES: [(&[&str], DataType); 12] = [
    (&["int8", "char", "0"], DataType { name: "int8", bytes: 1 }),
    (&["uint8", "1"], DataType { name: "uint8", bytes: 1 }),
    (&["int32", "int", "2"], DataType { name: "int32", bytes: 4 }),
    (&["uint32", "3"], DataType { name: "uint32", bytes: 4 }),
    (&["int64", "4"], DataType { name: "int64", bytes: 8 }),
    (&["uint64", "5"], DataType { name: "uint64", bytes: 8 }),
    (&["float16", "half", "6"], DataType { name: "float16", bytes: 2 }),
    (&["float32", "float", "7"], DataType { name: "float32", bytes: 4 }),
    (&["float64", "double", "8"], DataType { name: "float64", bytes: 8 }),
    (&["bfloat16", "9"], DataType { name: "bfloat16", bytes: 2 }),
    (&["float8e4m3", "fp8e4m3", "fp8 e4m3", "10"], DataType { name: "float8e4m3", bytes: 1 }),
    (&["float8e5m2", "fp8e5m2", "fp8 e5m2", "11"], DataType { name: "float8e5m2", bytes: 1 }),
];

impl DataType {
    fn of(value: &str) -> Option<Self> {
        let value = value.trim().to_ascii_lowercase();
        let value = value.strip_prefix("nccl").unwrap_or(&value);
        TYPES.iter().find(|(names, _)| names.contains(&value)).map(|(_, kind)| *kind)
    }
}

/// What the arguments tell.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    calls: HashMap<(ProcessIdx, i64), Vec<Argument>>,
    /// Ranks of the largest communicator made by `ncclCommInitRank`.
    pub(super) init_rank: Option<u32>,
    /// Devices of the largest communicator made by `ncclCommInitAll`.
    pub(super) init_all: Option<u32>,
}

/// Reads the arguments of all calls at once.
pub(super) fn arguments(trace: &Trace, calls: &Calls<'_>, control: &Control) -> Result<Arguments, ScanError> {
    let mut wanted: Vec<(ProcessIdx, i64)> = calls
        .operations
        .iter()
        .map(|call| (call.process, call.event))
        .chain(calls.inits.iter().map(|(process, event, _)| (*process, *event)))
        .filter(|(_, event)| *event != 0)
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = Arguments::default();
    if wanted.is_empty() {
        return Ok(found);
    }
    for argument in trace.arguments(&wanted, control)? {
        found.calls.entry((argument.process, argument.event)).or_default().push(argument);
    }
    for (process, event, all) in &calls.inits {
        let names: &[&str] = if *all { &["ndev"] } else { &["nranks"] };
        let value = found.number(*process, *event, names).and_then(|value| u32::try_from(value).ok());
        let place = if *all { &mut found.init_all } else { &mut found.init_rank };
        *place = (*place).max(value.filter(|value| *value > 0));
    }
    Ok(found)
}

impl Arguments {
    fn text(&self, process: ProcessIdx, event: i64, names: &[&str]) -> Option<&str> {
        let rows = self.calls.get(&(process, event))?;
        let named = |name: &&str| rows.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        names.iter().find_map(named).map(|row| row.value.as_str())
    }

    fn number(&self, process: ProcessIdx, event: i64, names: &[&str]) -> Option<u64> {
        let value = self.text(process, event, names)?.trim();
        match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    }

    /// Type and size of a call's message; the size of some operations needs the ranks.
    pub(super) fn message(
        &self,
        process: ProcessIdx,
        event: i64,
        operation: Operation,
        ranks: Option<u32>,
    ) -> (Option<DataType>, Option<Bytes>) {
        let kind = self.text(process, event, &["datatype", "dtype", "data_type"]).and_then(DataType::of);
        let names: &[&str] = match operation {
            Operation::ReduceScatter => &["recvcount", "count"],
            _ => &["sendcount", "count", "recvcount"],
        };
        let elements = self.number(process, event, names);
        let parts = if operation.counts_all_ranks() { ranks.map(u64::from) } else { Some(1) };
        let bytes = kind
            .zip(elements)
            .zip(parts)
            .and_then(|((kind, elements), parts)| elements.checked_mul(kind.bytes)?.checked_mul(parts));
        (kind, bytes.map(Bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_by_name_and_number() {
        for (value, name, bytes) in [
            ("ncclFloat32", "float32", 4),
            ("7", "float32", 4),
            ("half", "float16", 2),
            ("ncclBfloat16", "bfloat16", 2),
        ] {
            assert_eq!(DataType::of(value), Some(DataType { name, bytes }), "{value}");
        }
        assert_eq!(DataType::of("ncclComplex"), None);
    }
}
