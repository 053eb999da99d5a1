//! Keeps sorted runs of rows in an unlinked temporary file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use crate::model::{
    AgentIdx, Allocation, AllocationKind, AllocationLevel, Direction, Dispatch, GraphLaunch, GraphNode,
    KernelIdx, MemoryCopy, NameIdx, ProcessIdx, QueueIdx, Region, ShapeIdx, StreamIdx, SymbolIdx, ThreadIdx,
};

use super::rows::HostRow;

/// A value of fixed size in a run.
pub(super) trait Spill: Sized {
    const BYTES: usize;
    fn put(&self, out: &mut Vec<u8>);
    /// Reads from the front of `bytes` and moves it on.
    fn take(bytes: &mut &[u8]) -> Option<Self>;
}

macro_rules! number {
    ($($type:ty),+) => {$(
        impl Spill for $type {
            const BYTES: usize = size_of::<$type>();
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                let (head, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(<$type>::from_le_bytes(*head))
            }
        }
    )+};
}
number!(i64, u64, u32, u8, f64);

macro_rules! index {
    ($($type:ident),+) => {$(
        impl Spill for $type {
            const BYTES: usize = 4;
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                u32::take(bytes).map(Self)
            }
        }
    )+};
}
index!(ProcessIdx, AgentIdx, KernelIdx, SymbolIdx, QueueIdx, StreamIdx, ThreadIdx, ShapeIdx, NameIdx);

macro_rules! record {
    ($type:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl Spill for $type {
            const BYTES: usize = 0 $(+ <$kind as Spill>::BYTES)+;
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)+
            }
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: <$kind as Spill>::take(bytes)?),+ })
            }
        }
    };
}
pub(super) use record;

macro_rules! choice {
    ($type:ident { $($variant:ident),+ $(,)? }) => {
        impl Spill for $type {
            const BYTES: usize = 1;
            fn put(&self, out: &mut Vec<u8>) {
                (*self as u8).put(out);
            }
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                let tag = u8::take(bytes)?;
                [$(Self::$variant),+].into_iter().find(|variant| *variant as u8 == tag)
            }
        }
    };
}

choice!(Direction { HostToDevice, DeviceToHost, DeviceToDevice, HostToHost, Peer, Unknown });
choice!(AllocationKind { Alloc, Free, Realloc, Reclaim, Unknown });
choice!(AllocationLevel { Real, Virtual, Scratch, Unknown });
record!(GraphNode { exec_id: i64, node_id: i64 });
record!(Dispatch {
    start: i64,
    end: i64,
    process: ProcessIdx,
    agent: AgentIdx,
    kernel: KernelIdx,
    symbol: SymbolIdx,
    queue: QueueIdx,
    stream: StreamIdx,
    thread: ThreadIdx,
    shape: ShapeIdx,
    label: NameIdx,
    dispatch_id: i64,
    row: i64,
    event: i64,
    call: i64,
    graph: GraphNode,
});
record!(MemoryCopy {
    start: i64,
    end: i64,
    process: ProcessIdx,
    source: AgentIdx,
    destination: AgentIdx,
    direction: Direction,
    bytes: u64,
    source_address: i64,
    destination_address: i64,
    queue: QueueIdx,
    stream: StreamIdx,
    thread: ThreadIdx,
    row: i64,
    call: i64,
    graph: GraphNode,
});
record!(Region {
    start: i64,
    end: i64,
    process: ProcessIdx,
    thread: ThreadIdx,
    name: NameIdx,
    row: i64,
    event: i64,
    call: i64,
    parent_call: i64,
});
record!(HostRow { region: Region, kind: u8 });
record!(Allocation {
    start: i64,
    end: i64,
    process: ProcessIdx,
    agent: AgentIdx,
    kind: AllocationKind,
    level: AllocationLevel,
    bytes: u64,
    address: i64,
    row: i64,
    call: i64,
});
record!(GraphLaunch {
    start: i64,
    end: i64,
    process: ProcessIdx,
    agent: AgentIdx,
    exec_id: i64,
    kernel_count: i64,
    row: i64,
    call: i64,
});

/// The temporary file of one pass, shared by all its streams.
#[derive(Debug, Default)]
pub(super) struct SpillFile {
    inner: Mutex<Option<(File, u64)>>,
}

/// Where a run lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    at: u64,
    bytes: u64,
}

impl SpillFile {
    /// Appends a sorted run.
    pub(super) fn write<T: Spill>(&self, rows: &[T]) -> io::Result<Run> {
        let mut bytes = Vec::with_capacity(rows.len() * T::BYTES);
        rows.iter().for_each(|row| row.put(&mut bytes));
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, end) = match &mut *inner {
            Some(open) => open,
            none => none.insert((tempfile::tempfile()?, 0)),
        };
        file.write_all_at(&bytes, *end)?;
        let run = Run { at: *end, bytes: bytes.len() as u64 };
        *end += run.bytes;
        Ok(run)
    }

    /// Reads the next up to `rows` rows of a run.
    pub(super) fn read<T: Spill>(&self, run: &mut Run, rows: usize, out: &mut Vec<T>) -> io::Result<()> {
        let take = run.bytes.min((rows * T::BYTES) as u64);
        let mut bytes = vec![0; usize::try_from(take).unwrap_or(0)];
        {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((file, _)) = &*inner {
                file.read_exact_at(&mut bytes, run.at)?;
            }
        }
        run.at += take;
        run.bytes -= take;
        let mut rest = bytes.as_slice();
        while let Some(row) = T::take(&mut rest) {
            out.push(row);
        }
        Ok(())
    }
}
