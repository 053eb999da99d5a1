//! What one file contributes to a scan, with its lists bounded and its counts exact.

use std::collections::BTreeMap;

use crate::limits::MAX_ROWS_PER_FILE;
use crate::model::{
    CodeFeatures, Framework, Kernel, Launch, Library, LoopContext, Occurrence, PatternId, ProgrammingModel,
    RowKind, Site, StreamUse,
};

/// Counts of one file.
#[derive(Default)]
pub(crate) struct FileCounts {
    pub(crate) async_copies: u64,
    pub(crate) stream_creates: u64,
    pub(crate) markers: u64,
    pub(crate) rows: BTreeMap<(RowKind, ProgrammingModel), u64>,
}

/// Occurrences of one pattern in one file.
#[derive(Default)]
pub(crate) struct FilePattern {
    pub(crate) count: u64,
    pub(crate) in_loop_count: u64,
    pub(crate) occurrences: Vec<Occurrence>,
    in_loop_kept: usize,
}

/// A subscript call in Python that is a launch if its name turns out to be a kernel of the tree.
pub(crate) struct PythonLaunch {
    pub(crate) launch: Launch,
    /// Stream if the kernel is a Numba one, which takes it as the third subscript.
    pub(crate) numba_stream: StreamUse,
}

/// One file's rows.
#[derive(Default)]
pub(crate) struct FileScan {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) python_launches: Vec<PythonLaunch>,
    pub(crate) patterns: BTreeMap<PatternId, FilePattern>,
    pub(crate) frameworks: BTreeMap<Framework, Site>,
    pub(crate) libraries: BTreeMap<Library, Site>,
    pub(crate) features: CodeFeatures,
    pub(crate) counts: FileCounts,
}

impl FileScan {
    pub(crate) fn kernel(&mut self, kernel: Kernel) {
        *self.counts.rows.entry((kernel.kind, kernel.model)).or_default() += 1;
        if self.kernels.len() < MAX_ROWS_PER_FILE {
            self.kernels.push(kernel);
        }
    }

    /// Counts a launch, also as an occurrence of the default stream. The row is made only when there is room.
    pub(crate) fn launch(
        &mut self,
        model: ProgrammingModel,
        stream: StreamUse,
        context: LoopContext,
        make: impl Fn() -> Launch,
    ) {
        *self.counts.rows.entry((RowKind::Launch, model)).or_default() += 1;
        if stream == StreamUse::Default {
            self.occurrence(PatternId::DefaultStream, context, || {
                let launch = make();
                Occurrence { site: launch.site, loop_context: context, call: launch.name, text: launch.text }
            });
        }
        if self.launches.len() < MAX_ROWS_PER_FILE {
            self.launches.push(make());
        }
    }

    /// Counts an occurrence. Patterns that exist only in loops ignore the others. The row is made only when there is
    /// room: in-loop occurrences and the rest have a bound each.
    pub(crate) fn occurrence(
        &mut self,
        id: PatternId,
        context: LoopContext,
        make: impl FnOnce() -> Occurrence,
    ) {
        let only_in_loops =
            matches!(id, PatternId::AllocInLoop | PatternId::CreateInLoop | PatternId::PythonSync);
        let in_loop = context.is_loop();
        if only_in_loops && !in_loop {
            return;
        }
        let pattern = self.patterns.entry(id).or_default();
        pattern.count += 1;
        pattern.in_loop_count += u64::from(in_loop);
        let others = pattern.occurrences.len() - pattern.in_loop_kept;
        if (if in_loop { pattern.in_loop_kept } else { others }) < MAX_ROWS_PER_FILE {
            pattern.in_loop_kept += usize::from(in_loop);
            pattern.occurrences.push(make());
        }
    }

    pub(crate) fn library(&mut self, library: Library, site: impl FnOnce() -> Site) {
        self.libraries.entry(library).or_insert_with(site);
    }

    pub(crate) fn framework(&mut self, framework: Framework, site: impl FnOnce() -> Site) {
        self.frameworks.entry(framework).or_insert_with(site);
    }
}
