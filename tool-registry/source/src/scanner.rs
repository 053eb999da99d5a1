//! Scans a tree: files in parallel, results merged in file order.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use crate::file_scan::{FileScan, PythonLaunch};
use crate::limits::{MAX_PARALLEL_FILES, MAX_ROWS, ScanOptions};
use crate::locate::LocationIndex;
use crate::model::{Kernel, ProgrammingModel, RowKind, Site, SkipReason, Usage};
use crate::patterns::PatternTotals;
use crate::scan::Scan;
use crate::text::Source;
use crate::walk::{self, Candidate};
use crate::{clike, python};

/// Files scanned before their results are merged; bounds what is held beside the merged lists.
const CHUNK_FILES: usize = 64;

/// Why a tree could not be scanned at all.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Nothing has this name.
    #[error("{} does not exist", .0.display())]
    NotFound(PathBuf),
    /// It is a file.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// It cannot be opened.
    #[error("{} cannot be read: {source}", .path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system gives no threads.
    #[error("no threads to scan with: {0}")]
    NoThreads(String),
}

/// Scans a source tree. Files and folders that cannot be read are listed in the result, not an error.
pub fn scan(root: &Path, options: &ScanOptions) -> Result<Scan, ScanError> {
    let resolved = root.canonicalize().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => ScanError::NotFound(root.to_path_buf()),
        _ => ScanError::Unreadable { path: root.to_path_buf(), source },
    })?;
    if !resolved.is_dir() {
        return Err(ScanError::NotAFolder(root.to_path_buf()));
    }
    std::fs::read_dir(&resolved)
        .map_err(|source| ScanError::Unreadable { path: root.to_path_buf(), source })?;

    let walk::Found { files, mut skips, links } = walk::walk(&resolved, options);
    let mut merged = Merged::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_PARALLEL_FILES);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| ScanError::NoThreads(error.to_string()))?;
    for chunk in files.chunks(CHUNK_FILES) {
        let results: Vec<Result<FileScan, SkipReason>> =
            pool.install(|| chunk.par_iter().map(|candidate| scan_file(candidate, options)).collect());
        for (candidate, result) in chunk.iter().zip(results) {
            match result {
                Ok(file) => merged.add(candidate.file.clone(), file),
                Err(reason) => skips.add(candidate.file.clone(), reason),
            }
        }
    }
    let mut scan = merged.finish();
    skips.listed.sort();
    scan.skipped = skips.listed;
    scan.skipped_by_reason = skips.counts;
    scan.links_ignored = links;
    Ok(scan)
}

fn scan_file(candidate: &Candidate, options: &ScanOptions) -> Result<FileScan, SkipReason> {
    let bytes = walk::read(&candidate.path, options)?;
    let source = Source::new(candidate.file.clone(), &bytes);
    drop(bytes);
    let deadline = Instant::now() + options.parse_time;
    let result = match candidate.extension.as_str() {
        "py" => python::scan(&source, deadline),
        extension => clike::scan(&source, extension, deadline),
    };
    result.map_err(|_| SkipReason::ParseTimeout)
}

#[derive(Default)]
struct Merged {
    scan: Scan,
    patterns: PatternTotals,
    rows: BTreeMap<(RowKind, ProgrammingModel), u64>,
    python_launches: Vec<PythonLaunch>,
    frameworks: BTreeMap<crate::Framework, (u64, Site)>,
    libraries: BTreeMap<crate::Library, (u64, Site)>,
}

impl Merged {
    fn add(&mut self, name: Arc<str>, file: FileScan) {
        self.scan.files.push(name);
        append(&mut self.scan.kernels, file.kernels);
        append(&mut self.scan.launches, file.launches);
        append(&mut self.python_launches, file.python_launches);
        for (id, occurrences) in file.patterns {
            self.patterns.add(id, occurrences);
        }
        for (key, count) in file.counts.rows {
            *self.rows.entry(key).or_default() += count;
        }
        for (framework, site) in file.frameworks {
            self.frameworks.entry(framework).or_insert((0, site)).0 += 1;
        }
        for (library, site) in file.libraries {
            self.libraries.entry(library).or_insert((0, site)).0 += 1;
        }
        let counts = &mut self.scan.counts;
        counts.async_copies += file.counts.async_copies;
        counts.stream_creates += file.counts.stream_creates;
        counts.markers += file.counts.markers;
        let features = &mut self.scan.features;
        features.lds_arrays += file.features.lds_arrays;
        features.mfma_builtins += file.features.mfma_builtins;
        features.atomics += file.features.atomics;
        features.double_precision += file.features.double_precision;
        features.launch_bounds += file.features.launch_bounds;
        features.unroll_pragmas += file.features.unroll_pragmas;
    }

    fn finish(mut self) -> Scan {
        self.confirm_python_launches();
        let mut scan = self.scan;
        scan.kernels.sort_by(|a, b| (a.kind, &a.site).cmp(&(b.kind, &b.site)));
        scan.launches.sort_by(|a, b| a.site.cmp(&b.site));
        scan.index = LocationIndex::new(&scan.kernels, &scan.launches);
        let total =
            |kind| self.rows.iter().filter(|((row, _), _)| *row == kind).map(|(_, count)| count).sum();
        scan.counts.definitions = total(RowKind::Definition);
        scan.counts.declarations = total(RowKind::Declaration);
        scan.counts.launches = total(RowKind::Launch);
        scan.counts.kernels = distinct_kernels(&scan);
        scan.models = ProgrammingModel::ALL
            .into_iter()
            .map(|model| {
                let of = |kind| self.rows.get(&(kind, model)).copied().unwrap_or(0);
                (model, of(RowKind::Definition) + of(RowKind::Launch))
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        // Stable, so that equal counts keep the order of precedence.
        scan.models.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        scan.patterns = self.patterns.finish(scan.counts.launches, scan.counts.async_copies);
        scan.frameworks =
            self.frameworks.into_iter().map(|(what, (files, first))| Usage { what, files, first }).collect();
        scan.libraries =
            self.libraries.into_iter().map(|(what, (files, first))| Usage { what, files, first }).collect();
        scan
    }

    /// A subscript call is a launch when its name is a Python kernel of the tree.
    fn confirm_python_launches(&mut self) {
        let is_python =
            |kernel: &&Kernel| matches!(kernel.model, ProgrammingModel::Triton | ProgrammingModel::Numba);
        let kernels: HashMap<Arc<str>, ProgrammingModel> = self
            .scan
            .kernels
            .iter()
            .filter(is_python)
            .map(|kernel| (kernel.name.clone(), kernel.model))
            .collect();
        let mut confirmed = FileScan::default();
        for PythonLaunch { mut launch, numba_stream } in std::mem::take(&mut self.python_launches) {
            let Some(model) = kernels.get(&launch.name) else { continue };
            launch.model = *model;
            if *model == ProgrammingModel::Numba {
                launch.stream = numba_stream;
            }
            confirmed.launch(launch.model, launch.stream, launch.loop_context, || launch.clone());
        }
        append(&mut self.scan.launches, confirmed.launches);
        for (id, occurrences) in confirmed.patterns {
            self.patterns.add(id, occurrences);
        }
        for (key, count) in confirmed.counts.rows {
            *self.rows.entry(key).or_default() += count;
        }
    }
}

fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    let room = MAX_ROWS.saturating_sub(list.len());
    list.extend(more.into_iter().take(room));
}

fn distinct_kernels(scan: &Scan) -> u64 {
    let mut names: HashSet<&str> =
        scan.kernels.iter().filter(|k| k.kind == RowKind::Definition).map(|k| &*k.qualified_name).collect();
    let elsewhere = scan
        .launches
        .iter()
        .filter(|launch| launch.name_known && !scan.index.has_definition(launch, &scan.kernels));
    names.extend(elsewhere.map(|launch| &*launch.qualified_name));
    names.len() as u64
}
