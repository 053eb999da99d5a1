//! The profiling plan of a source tree: first command, counters, passes.

use perfxpert_knowledge::collect::source_counters;
use perfxpert_knowledge::commands::{Command, Opt, Target, analyze, pmc};
use perfxpert_knowledge::counters;
use perfxpert_source::Scan;

use super::narrative::{counted, model_name};
use crate::counter_passes::pack;

/// Folder of the timeline; counter passes go to `<folder>_pmc1`, `<folder>_pmc2` and so on.
const OUT: &str = "./profile_out";
/// Stands for the program in every command.
const NATIVE_APP: &str = "./your_app";
const PYTHON_APP: &str = "python train.py";
/// One file per rank. Never the `%q{}` form: profiler releases exist that expand it to nothing.
const RANK_FILE: &str = "results_%env{OMPI_COMM_WORLD_RANK}%";
/// Counters are chosen from this GPU's when the GPU is not known.
const DEFAULT_GFX: &str = "gfx942";

/// A command of the plan, taken apart for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCommand {
    /// `collect`, `inspect` or `verify`.
    pub purpose: &'static str,
    /// The executable.
    pub tool: String,
    /// What it is for.
    pub description: String,
    /// Options without a value.
    pub flags: Vec<String>,
    /// Options with values.
    pub args: Vec<(String, String)>,
    /// The line to paste.
    pub full_command: String,
}

/// Counters that fit one pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPass {
    /// Counters in the order asked for.
    pub counters: Vec<String>,
    /// The command.
    pub command: PlannedCommand,
}

/// How to profile a source tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilingPlan {
    /// In a sentence.
    pub description: String,
    /// The first command; absent when no GPU code was found.
    pub first_command: Option<PlannedCommand>,
    /// Counters worth collecting.
    pub counters: Vec<String>,
    /// The same by pass.
    pub passes: Vec<PlannedPass>,
    /// What to run, in order; with a trace only what it lacks.
    pub actions: Vec<PlannedCommand>,
    /// Distinct kernels of the tree.
    pub kernel_count: u64,
    /// Main programming model, `Unknown` without one.
    pub programming_model: &'static str,
    /// Whether a trace was given.
    pub already_profiled: bool,
}

/// What a trace already holds.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// Kernel executions.
    pub dispatches: u64,
    /// Names of the counters collected.
    pub counters: &'a [String],
    /// Kernels, copies and host calls were traced.
    pub timeline: bool,
    /// Collectives were traced.
    pub collectives: bool,
}

/// Plans the profiling of a scanned tree on a GPU (any spelling; unknown: gfx942's counters), given what a trace
/// already holds.
pub fn plan(scan: &Scan, gfx_id: Option<&str>, recorded: Option<Recorded<'_>>) -> ProfilingPlan {
    let inputs = scan.plan_inputs();
    let nothing = !inputs.any_kernel && !inputs.python_framework;
    let app = if inputs.python_framework && !inputs.native_kernel { PYTHON_APP } else { NATIVE_APP };
    let first_command = (!nothing).then(|| first(inputs.rccl, inputs.mpi, app));
    let counters = if nothing { Vec::new() } else { wanted(scan, gfx_id) };
    let passes = passes(&counters, gfx_id, app);
    let mut actions: Vec<PlannedCommand> = Vec::new();
    let description = match recorded {
        Some(recorded) => {
            if !recorded.timeline || (inputs.rccl && !recorded.collectives) {
                actions.extend(first_command.clone());
            }
            let missing: Vec<String> =
                counters.iter().filter(|counter| !recorded.counters.contains(counter)).cloned().collect();
            actions.extend(self::passes(&missing, gfx_id, app).into_iter().map(|pass| pass.command));
            format!(
                "Already profiled: {}, {} in this trace.",
                counted(recorded.dispatches, "dispatch", "dispatches"),
                counted(recorded.counters.len() as u64, "counter", "counters"),
            )
        }
        None if nothing => "No GPU code found: there is nothing to profile.".to_owned(),
        None => {
            actions.extend(first_command.clone());
            actions.extend(passes.iter().map(|pass| pass.command.clone()));
            let folders: Vec<String> = (1..=passes.len()).map(pass_folder).collect();
            let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
            let inspect = analyze(&[OUT]).named("--counters", &folders);
            actions.push(planned("inspect", "Analyze what was recorded.".to_owned(), &inspect));
            format!(
                "Record a timeline first, then {} in {}.",
                counted(counters.len() as u64, "counter", "counters"),
                counted(passes.len() as u64, "pass", "passes"),
            )
        }
    };
    ProfilingPlan {
        description,
        first_command,
        counters,
        passes,
        actions,
        kernel_count: scan.counts.kernels,
        programming_model: model_name(scan),
        already_profiled: recorded.is_some(),
    }
}

fn first(rccl: bool, mpi: bool, app: &str) -> PlannedCommand {
    let command = Command::rocprofv3().option(Opt::SysTrace, &[]);
    let command = if rccl { command.option(Opt::RcclTrace, &[]) } else { command };
    let command = command.option(Opt::OutputDirectory, &[OUT]);
    let description = "Record kernels, copies and host calls as a timeline.".to_owned();
    if !mpi {
        return planned("collect", description, &command.app(app));
    }
    // The launcher stands outside and the profiler inside, once per rank.
    let line = format!("mpirun -n <n> {} -o {RANK_FILE} -- {app}", command.full_command());
    let mut planned = planned("collect", description, &command);
    planned.args.push(("-o".to_owned(), RANK_FILE.to_owned()));
    planned.full_command = line;
    planned
}

/// Counters for what was found, each once, without those the GPU lacks.
fn wanted(scan: &Scan, gfx_id: Option<&str>) -> Vec<String> {
    let inputs = scan.plan_inputs();
    let facts = source_counters();
    let groups = [
        (true, &facts.always),
        (inputs.lds, &facts.lds),
        (inputs.matrix, &facts.matrix),
        (inputs.any_kernel, &facts.any_kernel),
        (inputs.atomics, &facts.atomics),
    ];
    let column = column(gfx_id);
    let mut out: Vec<String> = Vec::new();
    for counter in groups.into_iter().filter(|(found, _)| *found).flat_map(|(_, group)| group) {
        let available = column
            .is_some_and(|column| counters::resolve(counter).is_some_and(|found| found.available(column)));
        if available && !out.contains(counter) {
            out.push(counter.clone());
        }
    }
    out
}

fn column(gfx_id: Option<&str>) -> Option<counters::Column> {
    gfx_id
        .and_then(counters::Column::of)
        .or_else(|| counters::Column::of(DEFAULT_GFX))
        .map(|found| found.column)
}

fn pass_folder(index: usize) -> String {
    format!("{OUT}_pmc{index}")
}

fn passes(counters: &[String], gfx_id: Option<&str>, app: &str) -> Vec<PlannedPass> {
    let Some(column) = column(gfx_id) else { return Vec::new() };
    let names: Vec<&str> = counters.iter().map(String::as_str).collect();
    pack(&names, column, true)
        .into_iter()
        .zip(1..)
        .map(|(names, index)| {
            let out = pass_folder(index);
            let command = pmc(&Target { app, out: &out, kernel: None }, &names);
            let description =
                format!("Collect {} in one run.", counted(names.len() as u64, "counter", "counters"));
            let counters = names.into_iter().map(str::to_owned).collect();
            PlannedPass { command: planned("collect", description, &command), counters }
        })
        .collect()
}

fn planned(purpose: &'static str, description: String, command: &Command) -> PlannedCommand {
    PlannedCommand::of(purpose, description, command)
}

impl PlannedCommand {
    /// A command taken apart.
    #[must_use]
    pub fn of(purpose: &'static str, description: String, command: &Command) -> Self {
        Self {
            purpose,
            tool: command.tool().to_owned(),
            description,
            flags: command.flags().into_iter().map(str::to_owned).collect(),
            args: command.args(),
            full_command: command.full_command(),
        }
    }
}
