//! Opened and profiled traces, shared by all calls: one reading per file, kept while the file stays the same.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use perfxpert_analysis::counters::{self, CounterProfile, HotCounters, KernelTimes, RunMetrics};
use perfxpert_analysis::gpu::{self, Gpu};
use perfxpert_analysis::roofline::{self, Ask};
use perfxpert_analysis::units::Nanos;
use perfxpert_analysis::{RunProfile, sweep};
use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_trace::{Control, Health, OpenOptions, RowCounts, ScanError, Status, Trace, input_files};

use crate::Context;
use crate::trace_errors;

/// How a tool wants its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Read what is readable of a damaged file.
    pub allow_partial: bool,
    /// Refuse when any of several files is unusable.
    pub strict: bool,
    /// Leave shorter calls out of kernel statistics.
    pub min_duration: Nanos,
}

/// A trace with its profile.
pub struct LoadedRun {
    /// The opened files.
    pub trace: Trace,
    /// What one pass over them found.
    pub profile: RunProfile,
    /// Rows read and left out.
    pub rows: RowCounts,
    /// Findings of the reader, the pass and the analysis together.
    pub health: Health,
    /// Its counters, once a tool asked for them.
    counters: OnceLock<Arc<LoadedCounters>>,
}

/// The counters of a run and what follows from them.
pub struct LoadedCounters {
    /// Sums per kernel.
    pub profile: CounterProfile,
    /// Derived metrics.
    pub metrics: RunMetrics,
    /// What the decisive kernels say to the classifier.
    pub hot: HotCounters,
    /// GPUs of the run.
    pub gpus: Vec<Gpu>,
    /// Findings of the run and of its counters together.
    pub health: Health,
}

impl LoadedCounters {
    fn new(run: &LoadedRun, profile: CounterProfile, read: &Health) -> Self {
        let metrics = counters::run_metrics(&profile);
        let gpus = gpu::of_run(&run.trace, &run.profile, None);
        let plot = roofline::plot(&run.profile, &gpus, &profile, &Ask::default());
        let mut health = run.health.clone();
        // The rows of dispatches were judged when the run was read; only what counters add is new.
        for item in read.items().iter().filter(|item| run.health.get(item.id).is_none()) {
            health.add(item.clone());
        }
        health.merge(&counters::health(&run.profile, &profile, &metrics));
        let hot = counters::hot(&run.profile, &metrics, &plot);
        Self { profile, metrics, hot, gpus, health }
    }
}

impl LoadedRun {
    /// Overall state of the trace.
    pub fn status(&self) -> Status {
        self.health.status(self.profile.judgeable())
    }

    /// Whether there is any GPU event to judge.
    pub fn has_gpu_work(&self) -> bool {
        self.profile.judgeable()
    }

    /// The path a message names: the first file.
    pub fn first_path(&self) -> String {
        self.trace.sources().first().map(|source| source.path.display().to_string()).unwrap_or_default()
    }

    /// Rough size in memory, bytes: what the cache's limit counts.
    fn weight(&self) -> usize {
        let kernels: usize = self.profile.kernels.iter().map(|kernel| 600 + kernel.name.len()).sum();
        let per_agent: usize = self.profile.agents.iter().map(|agent| 600 + agent.kernels.len() * 48).sum();
        kernels
            + per_agent
            + self.profile.pairs.len() * 320
            + self.profile.calls.len() * 200
            + self.profile.collectives.len() * 64
            + self.trace.symbols().len() * 160
            + self.trace.processes().len() * 400
    }
}

/// State of one file that decides whether a cached reading still holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
    device: u64,
    inode: u64,
    /// A write-ahead log beside the file holds rows too.
    log: Option<(u64, Option<SystemTime>)>,
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = std::fs::metadata(path).ok()?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = std::fs::metadata(PathBuf::from(log)).ok().map(|meta| (meta.len(), meta.modified().ok()));
    Some(Stamp {
        path: path.to_path_buf(),
        bytes: meta.len(),
        modified: meta.modified().ok(),
        device: meta.dev(),
        inode: meta.ino(),
        log,
    })
}

struct Entry {
    wish: Wish,
    stamps: Vec<Stamp>,
    run: Arc<LoadedRun>,
    weight: usize,
}

/// Readings kept at most, in bytes of memory.
const LIMIT: usize = 192 << 20;
/// Readings kept at most.
const ENTRIES: usize = 64;

/// The cache: least recently used readings go first.
#[derive(Default)]
pub struct Traces {
    entries: Mutex<VecDeque<Entry>>,
}

impl Traces {
    fn find(&self, wish: Wish, stamps: &[Stamp]) -> Option<Arc<LoadedRun>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let at = entries.iter().position(|entry| entry.wish == wish && entry.stamps == stamps)?;
        let entry = entries.remove(at)?;
        let run = Arc::clone(&entry.run);
        entries.push_front(entry);
        Some(run)
    }

    fn keep(&self, wish: Wish, stamps: Vec<Stamp>, run: &Arc<LoadedRun>) {
        let weight = run.weight();
        if weight > LIMIT / 2 {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.push_front(Entry { wish, stamps, run: Arc::clone(run), weight });
        while entries.len() > ENTRIES || entries.iter().map(|entry| entry.weight).sum::<usize>() > LIMIT {
            if entries.pop_back().is_none() {
                break;
            }
        }
    }
}

impl Context {
    /// Opens and profiles files or folders as one trace; a second call on unchanged files is served from memory.
    /// `field` is the argument that errors name.
    ///
    /// # Errors
    /// `file_not_found`, `not_a_database`, `not_rocpd`, `unreadable`, `timeout`, `cancelled`; `empty_trace` when there is
    /// neither a GPU row nor a host call.
    pub fn load(&self, inputs: &[PathBuf], wish: Wish, field: &str) -> Result<Arc<LoadedRun>, ErrorObject> {
        self.check()?;
        let stamps: Vec<Stamp> = input_files(inputs).iter().filter_map(|path| stamp(path)).collect();
        // An input that leads to no file must be reported by opening it, cached or not.
        let complete = !stamps.is_empty() && inputs.iter().all(|input| input.exists());
        if complete && let Some(run) = self.services.traces.find(wish, &stamps) {
            return Ok(run);
        }
        self.phase("open", 0.0, None);
        let options = OpenOptions { allow_partial: wish.allow_partial, strict: wish.strict };
        let trace = Trace::open(inputs, &options).map_err(|error| trace_errors::open(&error, field))?;
        if !trace.has_gpu_rows() && !trace.has_host_rows() {
            return Err(trace_errors::empty(&trace, field));
        }
        let (profile, report) =
            self.scanned(field, |control| sweep::profile(&trace, wish.min_duration, control))?;
        let mut health = trace.health().clone();
        health.merge(&report.health);
        health.merge(&profile.health);
        let run =
            Arc::new(LoadedRun { trace, profile, rows: report.rows, health, counters: OnceLock::new() });
        if complete {
            self.services.traces.keep(wish, stamps, &run);
        }
        Ok(run)
    }

    /// As [`Context::load`], for a tool that needs at least one usable dispatch or copy.
    ///
    /// # Errors
    /// As [`Context::load`], and `empty_trace` without any usable dispatch or copy.
    pub fn load_gpu(
        &self,
        inputs: &[PathBuf],
        wish: Wish,
        field: &str,
    ) -> Result<Arc<LoadedRun>, ErrorObject> {
        let run = self.load(inputs, wish, field)?;
        if run.has_gpu_work() { Ok(run) } else { Err(trace_errors::empty(&run.trace, field)) }
    }

    /// As [`Context::load_gpu`], for a tool that needs kernels.
    ///
    /// # Errors
    /// As [`Context::load_gpu`], and `no_evidence` when there are copies but no dispatch.
    pub fn load_kernels(
        &self,
        inputs: &[PathBuf],
        wish: Wish,
        field: &str,
    ) -> Result<Arc<LoadedRun>, ErrorObject> {
        let run = self.load_gpu(inputs, wish, field)?;
        if run.profile.kernels.is_empty() {
            return Err(ErrorObject::new(
                ErrorKind::NoEvidence,
                format!("{} has copies, but no kernel dispatch.", run.first_path()),
                "Record kernels too, then ask again.",
            )
            .with("missing", vec!["kernel dispatches"])
            .with("command", "rocprofv3 --sys-trace -d ./profile_out -- ./your_app"));
        }
        Ok(run)
    }

    /// The counters of a run, read when first asked for. `others` are databases of the same program recorded for their
    /// counters only; `field` is the argument that errors about them name.
    ///
    /// # Errors
    /// Those of opening and reading `others`; `unreadable`, `timeout`, `cancelled`.
    pub fn counters(
        &self,
        run: &LoadedRun,
        others: &[PathBuf],
        field: &str,
    ) -> Result<Arc<LoadedCounters>, ErrorObject> {
        if others.is_empty()
            && let Some(known) = run.counters.get()
        {
            return Ok(Arc::clone(known));
        }
        let read = |trace: &Trace| self.scanned(field, |control| counters::collect(trace, control));
        let (mut profile, report) = read(&run.trace)?;
        let mut health = report.health;
        if !others.is_empty() {
            let gpus = gpu::of_run(&run.trace, &run.profile, None);
            let times = KernelTimes::of_run(&run.trace, &run.profile);
            for other in others {
                let trace = Trace::open(std::slice::from_ref(other), &OpenOptions::default())
                    .map_err(|error| trace_errors::open(&error, field))?;
                let (more, report) = read(&trace)?;
                profile.absorb(&more, &times, &gpus);
                health.merge(&report.health);
            }
        }
        let loaded = Arc::new(LoadedCounters::new(run, profile, &health));
        if others.is_empty() {
            return Ok(Arc::clone(run.counters.get_or_init(|| loaded)));
        }
        Ok(loaded)
    }

    /// As [`Context::watched`], with the error callers see; `field` is the argument it names.
    ///
    /// # Errors
    /// `cancelled`, `timeout`, `unreadable`.
    pub fn scanned<T>(
        &self,
        field: &str,
        scan: impl FnOnce(&Control) -> Result<T, ScanError> + Send,
    ) -> Result<T, ErrorObject>
    where
        T: Send,
    {
        self.watched(scan).map_err(|error| {
            if matches!(error, ScanError::Cancelled) {
                self.stopped()
            } else {
                trace_errors::scan(&error, field)
            }
        })
    }

    /// Runs a scan that this call's cancellation, limit and progress reach.
    ///
    /// # Errors
    /// Those of the scan.
    pub fn watched<T>(
        &self,
        scan: impl FnOnce(&Control) -> Result<T, ScanError> + Send,
    ) -> Result<T, ScanError>
    where
        T: Send,
    {
        let control = Control::default();
        let done = OnceLock::new();
        let finished = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut told = 0;
                while !finished.load(Ordering::Acquire) {
                    std::thread::park_timeout(WATCH);
                    if self.is_cancelled() {
                        control.stop.store(true, Ordering::Relaxed);
                    }
                    let rows = control.rows.load(Ordering::Relaxed);
                    if rows != told {
                        told = rows;
                        #[expect(clippy::cast_precision_loss, reason = "a count shown to a person")]
                        self.phase("read", rows as f64, None);
                    }
                }
            });
            let _ = done.set(scan(&control));
            finished.store(true, Ordering::Release);
            watcher.thread().unpark();
        });
        done.into_inner().unwrap_or(Err(ScanError::Cancelled))
    }
}

/// How often a running scan is looked at: well within the second in which a cancelled call must stop.
const WATCH: Duration = Duration::from_millis(100);
