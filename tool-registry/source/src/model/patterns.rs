//! Code patterns and where they occur.

use std::sync::Arc;

use super::{LoopContext, Site};

/// What a pattern is about; the order is the order in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternId {
    /// Blocking copies.
    MemcpySync,
    /// Device, stream and event synchronisation.
    DeviceSync,
    /// Launches on the default stream.
    DefaultStream,
    /// Memory allocated, freed or registered in a loop.
    AllocInLoop,
    /// Streams, events, modules, library handles made in a loop.
    CreateInLoop,
    /// Python calls that wait for the GPU, in a loop.
    PythonSync,
}

impl PatternId {
    /// All patterns in report order.
    pub const ALL: [Self; 6] = [
        Self::MemcpySync,
        Self::DeviceSync,
        Self::DefaultStream,
        Self::AllocInLoop,
        Self::CreateInLoop,
        Self::PythonSync,
    ];

    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::MemcpySync => "memcpy_sync",
            Self::DeviceSync => "device_sync",
            Self::DefaultStream => "default_stream",
            Self::AllocInLoop => "alloc_in_loop",
            Self::CreateInLoop => "create_in_loop",
            Self::PythonSync => "python_sync",
        }
    }

    /// Category as written in reports.
    pub fn category(self) -> &'static str {
        match self {
            Self::MemcpySync => "memory_transfer",
            Self::DeviceSync | Self::PythonSync => "synchronization",
            Self::DefaultStream => "launch_overhead",
            Self::AllocInLoop | Self::CreateInLoop => "host_api",
        }
    }
}

/// How much a pattern matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatternSeverity {
    /// Occurs, outside loops only.
    Low,
    /// Occurs where it is repeated.
    Medium,
}

impl PatternSeverity {
    /// Identifier as written in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
        }
    }
}

/// One place where a pattern occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// Place of the called name.
    pub site: Site,
    /// Loop around it.
    pub loop_context: LoopContext,
    /// Name of the call, or of the kernel launched.
    pub call: Arc<str>,
    /// The source line, trimmed.
    pub text: Box<str>,
}

/// A code pattern and where it occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Which pattern.
    pub id: PatternId,
    /// Highest severity of its occurrences.
    pub severity: PatternSeverity,
    /// One sentence with the numbers, for example `2 blocking copies, 1 of them in a loop`.
    pub description: String,
    /// Occurrences in the tree.
    pub count: u64,
    /// Those in a loop.
    pub in_loop_count: u64,
    /// In-loop occurrences first, then by file, line and column; bounded by [`crate::limits::MAX_OCCURRENCES`].
    pub occurrences: Vec<Occurrence>,
    /// True when the rule "recommend" of the pattern holds (in a loop; for the default stream: every launch uses it
    /// and there is something to overlap).
    pub recommend: bool,
}

impl Pattern {
    /// Distinct `file:line` of the occurrences, in order.
    pub fn locations(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for occurrence in &self.occurrences {
            let place = occurrence.site.to_string();
            if out.last() != Some(&place) {
                out.push(place);
            }
        }
        out
    }
}
