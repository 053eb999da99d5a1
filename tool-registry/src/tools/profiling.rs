//! `profiling`: compares what is collected with what a goal needs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use perfxpert_analysis::collection;
use perfxpert_knowledge::arch::{Arch, PcSampling};
use perfxpert_knowledge::collect::{self, Goal, Step};
use perfxpert_knowledge::commands::{self, Command, Opt, Target};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::profiling as wire;

use crate::traces::Wish;
use crate::{Context, Tool, device, tool, trace_health};

mod recorded;

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::FillGap>(
        "Cheapest missing collection",
        "The cheapest collection step that adds what a goal still lacks. Use workflow_next_step for the overall order, trace_fingerprint_fingerprint to get tokens from a command.",
        fill_gap,
    )]
}

/// Steps that an answer names after the first.
const REMAINING: usize = 5;
const UNKNOWN: usize = 50;
const OUT: &str = "perfxpert_out";
/// Goal of a text that names none.
const ANY: &str = "any";
const PMC: &str = "pmc:";

type Tokens = BTreeSet<String>;

/// The goal a text means: its exact name, else the first whose keyword is in the text as whole words.
fn goal(text: &str) -> Option<(&'static Goal, bool)> {
    let goals = collect::goals();
    let text = text.trim().to_lowercase();
    let words: String = text
        .chars()
        .map(|letter| if letter.is_alphanumeric() || letter == '_' { letter } else { ' ' })
        .collect();
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    let named = goals.iter().find(|goal| goal.name == text);
    let meant = || {
        goals.iter().find(|goal| goal.keywords.iter().any(|keyword| words.contains(&format!(" {keyword} "))))
    };
    match named.or_else(meant) {
        Some(goal) => Some((goal, true)),
        None => goals.iter().find(|goal| goal.name == ANY).map(|goal| (goal, false)),
    }
}

fn counters<'a>(passes: impl IntoIterator<Item = &'a [String]>) -> Vec<String> {
    passes.into_iter().flatten().map(|name| format!("{PMC}{name}")).collect()
}

/// The tokens behind an entry of a fact: a counter set, everything an option implies, or the token itself.
fn expand(entry: &str, arch: Option<&Arch>) -> Vec<String> {
    let sets = collect::counter_sets();
    let of =
        |set| counters(collect::passes(set, arch.map(|arch| arch.gfx_id.as_str())).iter().map(Vec::as_slice));
    match entry {
        "set:classify" => of(&sets.classify),
        "set:typed_operations" => of(&sets.typed_operations),
        "pmc:FETCH_SIZE" => of(&sets.fetch),
        "pmc:WRITE_SIZE" => of(&sets.write),
        other => match other.strip_prefix("closure:") {
            Some(option) => collect::closure([option]),
            None => vec![other.to_owned()],
        },
    }
}

/// Seconds of a step: per pass for counter sets of several.
fn cost(step: &Step, arch: Option<&Arch>) -> f64 {
    let passes = if step.adds.iter().any(|add| add == "set:typed_operations") {
        collection::typed_operation_passes(arch).len().max(1)
    } else {
        1
    };
    step.cost_s * passes as f64
}

fn adds(step: &Step, have: &Tokens, arch: Option<&Arch>) -> Vec<String> {
    let all: Tokens = step.adds.iter().flat_map(|entry| expand(entry, arch)).collect();
    all.difference(have).cloned().collect()
}

/// What of one group is lacking. Of several tokens of which one suffices, the cheapest that the architecture can record
/// counts.
fn lacking(group: &[String], have: &Tokens, arch: Option<&Arch>) -> Tokens {
    let mut lacking = Tokens::new();
    for need in group {
        let Some(sides) = need.strip_prefix("any:") else {
            lacking.extend(expand(need, arch).into_iter().filter(|token| !have.contains(token)));
            continue;
        };
        let sides: Vec<&str> = sides.split('|').collect();
        if sides.iter().any(|side| have.contains(*side)) {
            continue;
        }
        let price = |side: &str| {
            collect::steps()
                .iter()
                .filter(|step| step.adds.iter().any(|add| add == side) && possible(step, arch))
                .map(|step| cost(step, arch))
                .min_by(f64::total_cmp)
                .unwrap_or(f64::MAX)
        };
        let cheapest = sides.iter().copied().min_by(|left, right| price(left).total_cmp(&price(right)));
        lacking.extend(cheapest.map(str::to_owned));
    }
    lacking
}

/// Whether an architecture can do a step at all.
fn possible(step: &Step, arch: Option<&Arch>) -> bool {
    let Some(arch) = arch else { return true };
    step.adds.iter().all(|add| match add.as_str() {
        "--pc-sampling" => arch.pc_sampling != PcSampling::None,
        "--att" => arch.thread_trace,
        _ => true,
    })
}

/// The cheapest step that adds something to the first group that lacks something.
fn next(goal: &Goal, have: &Tokens, arch: Option<&Arch>) -> Option<&'static Step> {
    let wanted =
        goal.needs.iter().map(|group| lacking(group, have, arch)).find(|lacking| !lacking.is_empty())?;
    collect::steps()
        .iter()
        .filter(|step| possible(step, arch))
        .filter(|step| adds(step, have, arch).iter().any(|token| wanted.contains(token)))
        // The first of equal costs wins, the order of the steps.
        .min_by(|left, right| cost(left, arch).total_cmp(&cost(right, arch)))
}

/// How to do a step; `None` when no profiler is needed.
fn command(step: &Step, arch: Option<&Arch>, app: &str) -> Option<String> {
    let target = |out| Target { app, out, kernel: None };
    let pass = |place: usize| {
        let passes = collection::classify_passes(arch);
        let all = collection::counter_commands(&passes, &target(OUT));
        all.into_iter().skip(place).take(1).collect::<Vec<Command>>()
    };
    let adds = |entry: &str| step.adds.iter().any(|add| add == entry);
    let lines: Vec<Command> = if adds("closure:--sys-trace") {
        vec![commands::sys_trace(&target(OUT))]
    } else if adds("set:classify") {
        pass(0)
    } else if adds("pmc:FETCH_SIZE") {
        pass(1)
    } else if adds("pmc:WRITE_SIZE") {
        pass(2)
    } else if adds("set:typed_operations") {
        collection::counter_commands(
            &collection::typed_operation_passes(arch),
            &target("perfxpert_out_typed"),
        )
    } else if adds("--pc-sampling") {
        vec![commands::pc_sampling(&target("perfxpert_out_pcs"), arch)]
    } else if adds("--att") {
        vec![commands::thread_trace(&target("perfxpert_out_att"))]
    } else if adds("--kfd-page-migration-trace") {
        vec![commands::traces(&target("perfxpert_out_kfd"), &[Opt::KfdTrace])]
    } else {
        Vec::new()
    };
    let lines: Vec<String> = lines.iter().map(Command::full_command).collect();
    (!lines.is_empty()).then(|| lines.join(" && "))
}

/// A token as the tables spell it; `None` when it means nothing.
fn token(written: &str) -> Option<String> {
    let written = written.trim();
    const FREE: [&str; 4] = [PMC, "spm:", "pc_sampling:", "tool:"];
    if written == "tier0" || FREE.iter().any(|prefix| written.starts_with(prefix)) {
        return Some(written.to_owned());
    }
    let options = collect::rocprofv3_options();
    if options.options.iter().any(|option| option.token.as_deref() == Some(written)) {
        return Some(written.to_owned());
    }
    options.find(written).and_then(|option| option.token.clone())
}

fn fill_gap(context: &Context, input: wire::FillGapInput) -> Result<wire::FillGapOutput, ErrorObject> {
    let arch = match &input.gfx_id {
        Some(id) => Some(device::architecture("gfx_id", id)?),
        None => None,
    };
    let (goal, goal_recognised) = goal(&input.goal).ok_or_else(ErrorObject::internal)?;
    let written = input.current_fingerprint.unwrap_or_default();
    let known: Vec<String> = written.iter().filter_map(|written| token(written)).collect();
    let mut unknown_tokens: Vec<String> =
        written.iter().filter(|written| token(written).is_none()).cloned().collect();
    unknown_tokens.sort();
    unknown_tokens.dedup();
    unknown_tokens.truncate(UNKNOWN);
    let mut have: Tokens = collect::closure(known.iter().map(String::as_str)).into_iter().collect();
    let run = match &input.db_path {
        Some(path) => Some(context.load(&[PathBuf::from(path)], Wish::default(), "db_path")?),
        None => None,
    };
    if let Some(run) = &run {
        let recorded = recorded::tokens(context, run)?;
        have.extend(collect::closure(recorded.iter().map(String::as_str)));
    }
    let missing: Tokens = goal.needs.iter().flat_map(|group| lacking(group, &have, arch)).collect();
    let step = next(goal, &have, arch);
    let mut remaining = Vec::new();
    let mut then = have.clone();
    let mut upcoming = step;
    while let (Some(step), true) = (upcoming, remaining.len() < REMAINING) {
        then.extend(adds(step, &then, arch));
        upcoming = next(goal, &then, arch);
        remaining.extend(upcoming.map(|step| step.name.clone()));
    }
    let command = step.and_then(|step| command(step, arch, &input.app));
    let reason = match step {
        None if missing.is_empty() => format!("Everything that {} needs is collected.", goal.name),
        None => "What is missing cannot be collected on this architecture.".to_owned(),
        Some(step) => format!("{} is the cheapest step that adds what {} still lacks.", step.name, goal.name),
    };
    let mut notes = Vec::new();
    if goal.name == "roofline" && arch.is_none() {
        notes.push(
            "Counters of operations by type depend on the architecture; send gfx_id to include them."
                .to_owned(),
        );
    }
    Ok(wire::FillGapOutput {
        complete: missing.is_empty(),
        name: step.map(|step| step.name.clone()),
        cost_s: step.map(|step| cost(step, arch)),
        adds: step.map(|step| adds(step, &have, arch)).unwrap_or_default(),
        command_reason: command.is_none().then_some(if step.is_none() {
            "there is no step to do"
        } else {
            "the source is read, nothing is run"
        }),
        command,
        reason,
        goal: goal.name.clone(),
        goal_recognised,
        known_goals: collect::goals().iter().map(|goal| goal.name.clone()).collect(),
        missing: missing.into_iter().collect(),
        remaining,
        unknown_tokens,
        notes,
        trace_health: run.map(|run| trace_health::of(&run)),
    })
}
