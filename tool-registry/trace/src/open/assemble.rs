//! Joins the opened files into one trace: machines, physical agents, kernels and counters over all processes.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::OpenError;
use crate::health::{Health, HealthItem, Severity};
use crate::model::{
    Agent, AgentIdx, Counter, Kernel, KernelIdx, Machine, MachineIdx, Process, ProcessIdx, RankOrigin,
    Source, SourceIdx, Symbol,
};
use crate::names;
use crate::trace::{OpenOptions, Trace};

use super::agents::DeviceKey;
use super::inputs;
use super::load::{AgentRow, Loaded, LoadedProcess, load};
use super::process::ProcessData;

/// Opens the inputs as one trace.
pub(crate) fn open(paths: &[PathBuf], options: &OpenOptions) -> Result<Trace, OpenError> {
    let inputs = inputs::expand(paths);
    let mut errors = inputs.errors;
    let mut usable = Vec::new();
    let results: Vec<_> = inputs.files.par_iter().map(|file| load(file, options.allow_partial)).collect();
    for result in results {
        match result {
            Ok(loaded) => usable.push(loaded),
            Err(error) => errors.push(error),
        }
    }
    if usable.is_empty() || (options.strict && !errors.is_empty()) {
        return Err(errors.into_iter().next().unwrap_or(OpenError::NoInput));
    }
    let mut trace = Trace { allow_partial: options.allow_partial, ..Trace::default() };
    if let Some(first) = errors.first() {
        let path =
            |error: &OpenError| error.path().map_or_else(String::new, |path| path.display().to_string());
        trace.health.add(HealthItem {
            id: "skipped_source",
            severity: Severity::Warning,
            count: errors.len() as u64,
            message: format!(
                "{} of the inputs cannot be used and are skipped; the first: {first}.",
                errors.len()
            ),
            advice: "Leave them out of the inputs, or record them again.".into(),
            examples: errors.iter().take(Health::MAX_EXAMPLES).map(path).collect(),
        });
    }
    if !inputs.duplicates.is_empty() {
        trace.health.add(HealthItem {
            id: "duplicate_source",
            severity: Severity::Info,
            count: inputs.duplicates.len() as u64,
            message: "The same file was given more than once and is read once.".into(),
            advice: "Name each file once.".into(),
            examples: inputs.duplicates.iter().take(3).map(|path| path.display().to_string()).collect(),
        });
    }
    let mut joined = Joined::default();
    for loaded in usable {
        joined.source(&mut trace, loaded);
    }
    joined.finish(&mut trace);
    Ok(trace)
}

/// A kernel symbol's sizes, in the order they are loaded.
fn symbol(process: ProcessIdx, row: super::load::SymbolRow, kernel: KernelIdx) -> Symbol {
    let [arch_vgpr, accum_vgpr, sgpr, lds_bytes, scratch_bytes, kernarg_bytes] = row.sizes;
    Symbol {
        process,
        id: row.id,
        kernel,
        mangled: row.mangled.map(Arc::from),
        arch_vgpr,
        accum_vgpr,
        sgpr,
        lds_bytes,
        scratch_bytes,
        kernarg_bytes,
    }
}

/// An agent row of a process with the machine it belongs to.
struct Seen {
    process: ProcessIdx,
    machine: MachineIdx,
    row: AgentRow,
}

#[derive(Default)]
struct Joined {
    machines: HashMap<String, MachineIdx>,
    seen: Vec<Seen>,
    counters: BTreeMap<String, Counter>,
    /// Counter names by process and id, resolved to indices when all names are known.
    counter_ids: Vec<(ProcessIdx, i64, String)>,
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX - 1)
}

impl Joined {
    fn source(&mut self, trace: &mut Trace, loaded: Loaded) {
        let source = SourceIdx(index(trace.sources.len()));
        let first = loaded.processes.first();
        trace.sources.push(Source {
            path: loaded.path.clone(),
            bytes: loaded.identity.bytes,
            identity: loaded.identity,
            fingerprint: loaded.fingerprint,
            schema_version: first.and_then(|process| process.schema_version.clone()),
            metadata: first.map(|process| process.metadata.clone()).unwrap_or_default(),
            processes: loaded.processes.len(),
            wal_bytes: loaded.wal_bytes,
        });
        let path = loaded.path.display().to_string();
        if let Some((readable, pages)) = loaded.damage {
            let expected =
                readable.expected_dispatches.map_or_else(String::new, |all| format!(" of about {all}"));
            let cause = if readable.pages_promised > readable.pages_present {
                format!("is cut: {} of {} pages are there", readable.pages_present, readable.pages_promised)
            } else {
                format!("is damaged: {pages} pages are malformed")
            };
            trace.health.add(HealthItem {
                id: "truncated_file",
                severity: Severity::DataLoss,
                count: readable.pages_promised.saturating_sub(readable.pages_present).max(pages),
                message: format!(
                    "{path} {cause}; {}{expected} dispatches and {} copies can be read.",
                    readable.dispatches, readable.copies
                ),
                advice: "Record again, or recover the file with sqlite3 .recover.".into(),
                examples: vec![path.clone()],
            });
        }
        if loaded.wal_bytes > 0 {
            let (severity, what) = match &loaded.wal_unread {
                None => (Severity::Info, "were read from a private copy".to_owned()),
                Some(reason) => (Severity::DataLoss, format!("are missing here: {reason}")),
            };
            trace.health.add(HealthItem {
                id: "pending_wal",
                severity,
                count: loaded.wal_bytes,
                message: format!(
                    "{} bytes of rows of {path} are still in its write-ahead log and {what}.",
                    loaded.wal_bytes
                ),
                advice: "Let the writer finish, or run PRAGMA wal_checkpoint on the file.".into(),
                examples: vec![path.clone()],
            });
        }
        trace.copies.extend(loaded.copy);
        for process in loaded.processes {
            self.process(trace, source, &path, &loaded.file, process);
        }
    }

    fn process(
        &mut self,
        trace: &mut Trace,
        source: SourceIdx,
        path: &str,
        file: &Arc<crate::pages::PagedFile>,
        loaded: LoadedProcess,
    ) {
        let process = ProcessIdx(index(trace.processes.len()));
        note_schema(trace, path, &loaded);
        // Without a node row nothing says that two files come from one machine.
        let key = loaded
            .machine_id
            .clone()
            .or_else(|| loaded.hostname.clone())
            .unwrap_or_else(|| format!("\0{}", source.0));
        let machine = *self.machines.entry(key).or_insert_with(|| {
            let id = loaded.machine_id.clone().or_else(|| loaded.hostname.clone()).unwrap_or_default();
            trace.machines.push(Machine { id, hostname: loaded.hostname.clone() });
            MachineIdx(index(trace.machines.len() - 1))
        });
        let by_track = ["kernel_dispatch", "region"]
            .iter()
            .any(|base| loaded.set.get(base).is_some_and(|table| table.has("track_id")));
        let (rank, rank_origin) = loaded.rank.unwrap_or((process.0, RankOrigin::Numbered));
        let mut data = ProcessData::new(process, Arc::clone(file), loaded.set.clone());
        data.tracks = loaded.tracks;
        data.threads = loaded.threads;
        data.queues = loaded.queues;
        data.streams = loaded.streams;
        for row in loaded.symbols {
            let name: Arc<str> = Arc::from(row.name.as_str());
            let kernel = KernelIdx(trace.kernels.intern(Arc::clone(&name), || {
                let full_name = Arc::from(row.full_name.as_str());
                Arc::new(Kernel {
                    id8: names::id8(&name),
                    name: Arc::clone(&name),
                    full_name,
                    described: true,
                })
            }));
            data.symbols.insert(row.id, index(trace.symbols.len()));
            trace.symbols.push(symbol(process, row, kernel));
        }
        for counter in loaded.counters {
            self.counter_ids.push((process, counter.id, counter.name.clone()));
            self.counters.entry(counter.name.clone()).or_insert_with(|| Counter {
                name: Arc::from(counter.name.as_str()),
                block: counter.block,
                expression: counter.expression,
                derived: counter.derived,
            });
        }
        self.seen.extend(loaded.agents.into_iter().map(|row| Seen { process, machine, row }));
        trace.processes.push(Process {
            source,
            machine,
            guid: loaded.guid,
            suffix: loaded.set.suffix,
            pid: loaded.pid,
            parent_pid: loaded.parent_pid,
            command: loaded.command,
            init_ns: loaded.init_ns,
            fini_ns: loaded.fini_ns,
            rank,
            rank_origin,
            schema_version: loaded.schema_version,
            has: loaded.has,
            by_track,
        });
        trace.data.push(data);
    }

    fn finish(mut self, trace: &mut Trace) {
        let order: HashMap<&String, u32> =
            self.counters.keys().enumerate().map(|(at, name)| (name, index(at))).collect();
        for (process, id, name) in &self.counter_ids {
            if let (Some(data), Some(&at)) = (trace.data.get_mut(process.get()), order.get(name)) {
                data.counters.insert(*id, at);
            }
        }
        trace.counters = self.counters.into_values().collect();
        self.seen.sort_by_key(|seen| (seen.machine, seen.row.absolute_index, seen.process, seen.row.id));
        let mut known: HashMap<(MachineIdx, crate::model::AgentKind, DeviceKey), AgentIdx> = HashMap::new();
        for Seen { process, machine, row } in self.seen {
            let key = (machine, row.kind, DeviceKey::of(&row.properties, row.absolute_index));
            let id = row.id;
            let agent = *known.entry(key).or_insert_with(|| {
                trace.agents.push(Agent {
                    machine,
                    kind: row.kind,
                    absolute_index: row.absolute_index,
                    type_index: row.type_index,
                    gfx_id: row.gfx_id,
                    name: row.name,
                    product_name: row.product_name,
                    vendor_name: row.vendor_name,
                    properties: row.properties,
                    processes: Vec::new(),
                    described: true,
                });
                AgentIdx(index(trace.agents.len() - 1))
            });
            if let Some(entry) = trace.agents.get_mut(agent.get())
                && entry.processes.last() != Some(&process)
            {
                entry.processes.push(process);
            }
            if let Some(data) = trace.data.get_mut(process.get()) {
                data.agents.insert(id, agent);
            }
        }
    }
}

fn note_schema(trace: &mut Trace, path: &str, loaded: &LoadedProcess) {
    let known = loaded
        .schema_version
        .as_deref()
        .is_some_and(|version| matches!(version.split('.').next(), Some("3" | "4")));
    if !known {
        let version = loaded.schema_version.as_deref().unwrap_or("none");
        trace.health.add(HealthItem {
            id: "unknown_schema",
            severity: Severity::Info,
            count: 1,
            message: format!("{path} states schema version {version}; its tables are read by their columns."),
            advice: "Check the counts against the program; versions 3 and 4 are known.".into(),
            examples: vec![version.to_owned()],
        });
    }
    if loaded.invalid_texts > 0 {
        trace.health.add(crate::scan::invalid_text(loaded.invalid_texts, Vec::new()));
    }
    for missing in &loaded.missing_columns {
        trace.health.add(HealthItem {
            id: "missing_columns",
            severity: Severity::DataLoss,
            count: 1,
            message: format!("{missing} in {path}: its rows are not read."),
            advice: "Record again with rocprofv3 of ROCm 7.0 or newer.".into(),
            examples: vec![missing.clone()],
        });
    }
}
