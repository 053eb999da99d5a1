//! The runs of one side of a comparison: opened, profiled and reduced to what the comparison needs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use perfxpert_analysis::compare::Run;
use perfxpert_analysis::gpu;
use perfxpert_schemas::{ErrorKind, ErrorObject, TraceHealth};
use perfxpert_trace::{Health, Status};

use crate::Context;
use crate::answer::short_name;
use crate::trace_health;
use crate::traces::{LoadedRun, Wish};

/// One side.
pub(crate) struct SideRuns {
    /// Its runs, in the order given.
    pub(crate) runs: Vec<Run>,
    /// First path, as given.
    pub(crate) path: String,
    /// Device and inode of every file of every run.
    pub(crate) files: Vec<BTreeSet<(u64, u64)>>,
    health: Health,
    status: Option<Status>,
}

/// How a side is named and read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// Word of the error's `which`.
    pub(crate) which: &'static str,
    /// Argument of the first run.
    pub(crate) field: &'static str,
    /// Argument of the further runs.
    pub(crate) further: &'static str,
    /// Read what can be read of a damaged file.
    pub(crate) allow_partial: bool,
    /// A run without GPU work makes an empty side instead of an error.
    pub(crate) allow_empty: bool,
}

impl SideRuns {
    /// Reads the first run and the further ones.
    ///
    /// # Errors
    /// Those of [`Context::load_gpu`] with `which`, and `invalid_argument` for a file that two runs share: it would fake
    /// precision.
    pub(crate) fn read(
        context: &Context,
        reading: Reading,
        first: &str,
        further: &[String],
    ) -> Result<Self, ErrorObject> {
        let mut side = Self {
            runs: Vec::with_capacity(further.len() + 1),
            path: first.to_owned(),
            files: Vec::new(),
            health: Health::default(),
            status: None,
        };
        for (at, path) in std::iter::once(first).chain(further.iter().map(String::as_str)).enumerate() {
            let field = match at.checked_sub(1) {
                None => reading.field.to_owned(),
                Some(at) => format!("{}[{at}]", reading.further),
            };
            context.check()?;
            side.take(context, reading, path, &field)?;
        }
        Ok(side)
    }

    fn take(
        &mut self,
        context: &Context,
        reading: Reading,
        path: &str,
        field: &str,
    ) -> Result<(), ErrorObject> {
        let wish = Wish { allow_partial: reading.allow_partial, ..Wish::default() };
        let loaded = match context.load_gpu(&[PathBuf::from(path)], wish, field) {
            Ok(loaded) => loaded,
            Err(error) if reading.allow_empty && error.kind == ErrorKind::EmptyTrace => {
                self.runs.push(Run::empty());
                self.files.push(BTreeSet::new());
                self.status = Some(Status::Unusable);
                return Ok(());
            }
            Err(error) => return Err(error.with("which", reading.which)),
        };
        let files: BTreeSet<(u64, u64)> = loaded
            .trace
            .sources()
            .iter()
            .map(|source| (source.identity.device, source.identity.inode))
            .collect();
        if self.files.iter().any(|known| !known.is_disjoint(&files)) {
            return Err(ErrorObject::invalid(
                field,
                format!(
                    "{path} is given twice on the {} side: repeating a run would fake precision.",
                    reading.which
                ),
                "Give every run once.",
            )
            .path(path)
            .with("which", reading.which));
        }
        self.files.push(files);
        self.health.merge(&loaded.health);
        self.status = Some(worse(self.status, loaded.status()));
        self.runs.push(reduce(&loaded));
        Ok(())
    }

    /// Whether any run of this side is also a run of the other.
    pub(crate) fn shares_a_run_with(&self, other: &Self) -> bool {
        self.files.iter().any(|files| other.files.iter().any(|others| !files.is_disjoint(others)))
    }

    /// The health of all its runs together.
    pub(crate) fn trace_health(&self) -> TraceHealth {
        trace_health::of_health(&self.health, self.status.unwrap_or(Status::Unusable))
    }
}

fn worse(known: Option<Status>, next: Status) -> Status {
    match (known, next) {
        (Some(Status::Unusable), _) | (_, Status::Unusable) => Status::Unusable,
        (Some(Status::Degraded), _) | (_, Status::Degraded) => Status::Degraded,
        _ => Status::Ok,
    }
}

fn reduce(loaded: &LoadedRun) -> Run {
    let gpus = gpu::of_run(&loaded.trace, &loaded.profile, None);
    Run::of(&loaded.trace, &loaded.profile, &loaded.health, loaded.rows, &gpus, |_| None)
}

/// Longest kernel name inside a sentence, in characters.
const LONGEST: usize = 300;

/// A kernel name as a sentence shows it.
pub(crate) fn spoken_name(name: &str) -> String {
    short_name(name, LONGEST).unwrap_or_else(|| name.to_owned())
}
