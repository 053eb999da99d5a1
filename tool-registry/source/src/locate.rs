//! Finds the source of a kernel that a trace names.

use std::collections::HashMap;
use std::sync::Arc;

use crate::limits::MAX_LOCATIONS;
use crate::model::{Kernel, Launch, Location, MatchKind, ProgrammingModel, RowKind};
use crate::names::{base_name, qualified_name, without_triton_suffix};

/// Positions of definitions and launches by name, built once per scan so that a question costs the length of its
/// answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct LocationIndex {
    definitions_by_qualified: HashMap<Arc<str>, Vec<usize>>,
    definitions_by_base: HashMap<Arc<str>, Vec<usize>>,
    launches_by_base: HashMap<Arc<str>, Vec<usize>>,
}

impl LocationIndex {
    pub(crate) fn new(kernels: &[Kernel], launches: &[Launch]) -> Self {
        let mut index = Self::default();
        for (at, kernel) in kernels.iter().enumerate().filter(|(_, k)| k.kind == RowKind::Definition) {
            index.definitions_by_qualified.entry(kernel.qualified_name.clone()).or_default().push(at);
            index.definitions_by_base.entry(kernel.name.clone()).or_default().push(at);
        }
        for (at, launch) in launches.iter().enumerate().filter(|(_, l)| l.name_known) {
            index.launches_by_base.entry(launch.name.clone()).or_default().push(at);
        }
        index
    }

    /// True when a launch's name belongs to a definition of the tree.
    pub(crate) fn has_definition(&self, launch: &Launch, kernels: &[Kernel]) -> bool {
        self.definitions_by_qualified.contains_key(&launch.qualified_name)
            || self.definitions_by_base.get(&launch.name).is_some_and(|at| {
                at.iter()
                    .filter_map(|&at| kernels.get(at))
                    .take(MAX_LOCATIONS)
                    .any(|kernel| attaches(launch, &kernel.qualified_name))
            })
    }

    pub(crate) fn definition<'a>(&self, trace_name: &str, kernels: &'a [Kernel]) -> Option<&'a Kernel> {
        let (found, matched) = self.definitions(&qualified_name(trace_name), kernels)?;
        match found {
            [only] if matched == MatchKind::Exact => kernels.get(*only),
            _ => None,
        }
    }

    pub(crate) fn locate(&self, trace_name: &str, kernels: &[Kernel], launches: &[Launch]) -> Vec<Location> {
        let name = qualified_name(trace_name);
        let Some((found, matched)) = self.definitions(&name, kernels) else {
            return self.launches_only(&name, launches);
        };
        let found: Vec<&Kernel> =
            found.iter().filter_map(|&at| kernels.get(at)).take(MAX_LOCATIONS).collect();
        let mut out: Vec<Location> = found
            .iter()
            .map(|kernel| Location {
                site: kernel.site.clone(),
                kind: RowKind::Definition,
                launch_type: kernel.launch_type,
                matched,
            })
            .collect();
        let base = found.first().map(|kernel| kernel.name.clone());
        let launched = base.and_then(|base| self.launches_by_base.get(&base)).map_or(&[][..], Vec::as_slice);
        out.extend(
            launched
                .iter()
                .filter_map(|&at| launches.get(at))
                .filter(|launch| found.iter().any(|kernel| attaches(launch, &kernel.qualified_name)))
                .take(MAX_LOCATIONS - out.len())
                .map(|launch| location(launch, matched)),
        );
        out
    }

    /// Definitions that fit the qualified name, and how.
    fn definitions(&self, name: &str, kernels: &[Kernel]) -> Option<(&[usize], MatchKind)> {
        if let Some(found) = self.definitions_by_qualified.get(name) {
            return Some((found, MatchKind::Exact));
        }
        if let Some(found) = self.definitions_by_base.get(base_name(name)) {
            let matched = if found.len() == 1 { MatchKind::BaseName } else { MatchKind::Ambiguous };
            return Some((found, matched));
        }
        let found = self.definitions_by_qualified.get(without_triton_suffix(name)?)?;
        let python =
            found.iter().filter_map(|&at| kernels.get(at)).all(|k| k.model == ProgrammingModel::Triton);
        python.then_some((found.as_slice(), MatchKind::Exact))
    }

    /// A kernel of another tree (a library, a generated file) that is launched here.
    fn launches_only(&self, name: &str, launches: &[Launch]) -> Vec<Location> {
        let Some(found) = self.launches_by_base.get(base_name(name)) else { return Vec::new() };
        let found: Vec<&Launch> = found.iter().filter_map(|&at| launches.get(at)).collect();
        let exact: Vec<&Launch> =
            found.iter().copied().filter(|launch| *launch.qualified_name == *name).collect();
        let one_name = found.windows(2).all(|pair| match pair {
            [a, b] => a.qualified_name == b.qualified_name,
            _ => true,
        });
        let (rows, matched) = match (exact.is_empty(), one_name) {
            (false, _) => (exact, MatchKind::Exact),
            (true, true) => (found, MatchKind::BaseName),
            (true, false) => (found, MatchKind::Ambiguous),
        };
        rows.into_iter().take(MAX_LOCATIONS).map(|launch| location(launch, matched)).collect()
    }
}

/// A launch names a definition when its name is the definition's, or its last components.
fn attaches(launch: &Launch, definition: &str) -> bool {
    definition
        .strip_suffix(&*launch.qualified_name)
        .is_some_and(|before| before.is_empty() || before.ends_with("::"))
}

fn location(launch: &Launch, matched: MatchKind) -> Location {
    Location { site: launch.site.clone(), kind: RowKind::Launch, launch_type: launch.launch_type, matched }
}
