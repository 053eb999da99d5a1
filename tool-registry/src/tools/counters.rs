//! `counters`: explains counters, and splits a list into passes with the commands that collect them.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_analysis::counter_passes;
use perfxpert_knowledge::arch;
use perfxpert_knowledge::commands::{self, Target};
use perfxpert_knowledge::counters::{self, Column, ColumnOf, Definition, LimitsSource, Resolved};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::counters as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::LookupInfo>(
            "One hardware counter",
            "What a hardware or derived counter counts, where it exists, what it costs. Use counters_validate_for_gpu for a list.",
            lookup_info,
        ),
        tool::<wire::ValidateForGpu>(
            "Counter passes",
            "Split a counter list into the fewest passes the hardware accepts, refuse what cannot work, and say how to collect it. Use counters_lookup_info for one counter.",
            validate_for_gpu,
        ),
    ]
}

/// Architectures that share a known one's counters without facts of their own.
const RELATED: [&str; 5] = ["gfx940", "gfx941", "gfx1031", "gfx1032", "gfx1151"];

fn unknown_arch(field: &str, id: &str) -> ErrorObject {
    let known: Vec<&str> = arch::KNOWN.iter().copied().chain(RELATED).collect();
    device::unknown_architecture(field, id, known)
}

fn unknown_counter(field: &str, name: &str) -> ErrorObject {
    let error = unknown_name(field, name, counters::names().iter().copied(), "counter");
    match counters::alias(name) {
        Some(meant) => error.with("did_you_mean", meant),
        None => error,
    }
}

fn lookup_info(_: &Context, input: wire::LookupInfoInput) -> Result<wire::LookupInfoOutput, ErrorObject> {
    let of = match &input.gfx_id {
        Some(id) => Some(
            Column::of(id)
                .filter(|of| of.source == LimitsSource::Arch)
                .ok_or_else(|| unknown_arch("gfx_id", id))?,
        ),
        None => None,
    };
    let name = input.name.trim();
    let found = counters::resolve(name).ok_or_else(|| unknown_counter("name", name))?;
    let asked = of.as_ref().map(|of| of.column);
    let available = asked.map(|column| found.available(column));
    let shown = asked.filter(|column| found.available(*column)).or_else(|| first_column(&found));
    let expression = shown.and_then(|column| found.variant(column)).map(|variant| variant.expression.clone());
    let is_raw = matches!(found.definition, Definition::Raw(_));
    Ok(wire::LookupInfoOutput {
        name: name.to_owned(),
        block: found.block(shown).to_owned(),
        unit: found.unit().as_str().to_owned(),
        description: found.about().to_owned(),
        derived: found.is_derived(),
        available_on: found.available_on().into_iter().map(str::to_owned).collect(),
        available,
        available_reason: available.is_none().then_some("gfx_id was not sent"),
        expression_reason: expression.is_none().then_some(if is_raw {
            "a raw counter has no formula"
        } else {
            "no known architecture defines it"
        }),
        expression,
        components: shown
            .map(|column| found.events(column).into_iter().map(|event| event.name.clone()).collect())
            .unwrap_or_default(),
        cost: shown.map(|column| cost(&found, column)).unwrap_or_default(),
        alternatives: asked.map(|column| other_names(name, &found, column)).unwrap_or_default(),
        caveats: counters::caveats(found.base_name(), of.as_ref().map(|of| of.gfx_id.as_str()))
            .into_iter()
            .map(str::to_owned)
            .collect(),
    })
}

/// The column of the first architecture that has a counter.
fn first_column(found: &Resolved) -> Option<Column> {
    found.available_on().first().and_then(|id| Column::of(id)).map(|of| of.column)
}

fn cost(found: &Resolved, column: Column) -> BTreeMap<String, usize> {
    found.cost(column).into_iter().map(|(block, events)| (block.to_owned(), events as usize)).collect()
}

fn other_names(name: &str, found: &Resolved, column: Column) -> Vec<String> {
    if found.available(column) { Vec::new() } else { counters::alternatives(name, column) }
}

const VIOLATIONS: usize = 64;
/// File that the second way to run all passes reads.
const GROUPS: &str = "pmc_groups.txt";

/// A list split into what can be collected and what cannot.
#[derive(Default)]
struct Sorted<'a> {
    usable: Vec<(&'a str, Resolved)>,
    violations: Vec<wire::Violation>,
    duplicates: Vec<String>,
}

fn sort<'a>(names: &'a [String], of: &ColumnOf) -> Sorted<'a> {
    let mut seen = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    let mut sorted = Sorted::default();
    for name in names {
        let name = name.trim();
        if !seen.insert(name) {
            if repeated.insert(name) {
                sorted.duplicates.push(name.to_owned());
            }
            continue;
        }
        match judge(name, of) {
            Ok(found) => sorted.usable.push((name, found)),
            Err(violation) => sorted.violations.push(violation),
        }
    }
    sorted
}

fn judge(name: &str, of: &ColumnOf) -> Result<Resolved, wire::Violation> {
    let violation = |kind, message: String, alternatives| wire::Violation {
        counter: name.to_owned(),
        kind,
        message,
        alternatives,
    };
    let Some(found) = counters::resolve(name) else {
        let near = unknown_counter("counter_list", name);
        let near = near.details.get("did_you_mean").and_then(serde_json::Value::as_str).map(str::to_owned);
        return Err(violation(
            "unknown_counter",
            "no architecture has a counter of this name".to_owned(),
            near.into_iter().collect(),
        ));
    };
    if !found.available(of.column) {
        return Err(violation(
            "not_available",
            format!("not defined for {}", of.gfx_id),
            counters::alternatives(name, of.column),
        ));
    }
    match found.cost(of.column).into_iter().find(|(block, events)| *events > of.column.limit(block)) {
        Some((block, events)) => Err(violation(
            "exceeds_limit",
            format!("needs {events} {block} events; a pass has {}", of.column.limit(block)),
            Vec::new(),
        )),
        None => Ok(found),
    }
}

/// Distinct events per block, an accumulating counter's second slot included.
fn demand<'a>(
    usable: impl Iterator<Item = &'a (&'a str, Resolved)>,
    column: Column,
) -> (BTreeMap<&'static str, usize>, usize) {
    let mut events: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut accumulating = 0;
    for (_, found) in usable {
        events.extend(found.events(column).iter().map(|event| (event.block.as_str(), event.name.as_str())));
        accumulating += usize::from(found.accumulates(column).is_some());
    }
    let mut blocks: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (block, _) in events {
        *blocks.entry(block).or_default() += 1;
    }
    if accumulating > 0 {
        *blocks.entry("SQ").or_default() += accumulating;
    }
    (blocks, accumulating)
}

fn validate_for_gpu(
    _: &Context,
    input: wire::ValidateForGpuInput,
) -> Result<wire::ValidateForGpuOutput, ErrorObject> {
    let of = Column::of(&input.gpu_arch).ok_or_else(|| unknown_arch("gpu_arch", &input.gpu_arch))?;
    let sorted = sort(&input.counter_list, &of);
    let names: Vec<&str> = sorted.usable.iter().map(|(name, _)| *name).collect();
    let passes = counter_passes::pack(&names, of.column, input.isolate_memory_counters);
    let limit = |block: &str| (of.column.limit(block) as usize).max(1);
    let is_alone = |name: &str| input.isolate_memory_counters && counter_passes::ISOLATED.contains(&name);
    let (shared, accumulating) = demand(sorted.usable.iter().filter(|(name, _)| !is_alone(name)), of.column);
    let alone = names.iter().filter(|name| is_alone(name)).count();
    let lower_bound = shared
        .iter()
        .map(|(block, events)| events.div_ceil(limit(block)))
        .chain([accumulating])
        .max()
        .unwrap_or(0)
        + alone;
    let (all, _) = demand(sorted.usable.iter(), of.column);
    let escalation = (passes.len() > 1).then(|| escalate(&passes, &of.gfx_id, &input.app));
    let violations_total = sorted.violations.len();
    Ok(wire::ValidateForGpuOutput {
        ok: violations_total == 0,
        violations: sorted.violations.into_iter().take(VIOLATIONS).collect(),
        violations_total,
        pass_count: passes.len(),
        escalation_reason: escalation.is_none().then_some(if passes.is_empty() {
            "there is nothing to collect"
        } else {
            "one pass suffices"
        }),
        escalation,
        minimal: passes.len() == lower_bound,
        fixed_passes: passes
            .iter()
            .map(|pass| pass.iter().map(|name| (*name).to_owned()).collect())
            .collect(),
        per_block: all
            .into_iter()
            .map(|(block, requested)| wire::BlockNeed {
                block: block.to_owned(),
                limit: limit(block),
                requested,
                passes_needed: requested.div_ceil(limit(block)),
            })
            .collect(),
        limits_source: of.source.as_str(),
        duplicates: sorted.duplicates,
    })
}

fn escalate(passes: &[Vec<&str>], gfx_id: &str, app: &str) -> wire::Escalation {
    let line = |pass: &Vec<&str>| format!("pmc: {}", pass.join(" "));
    wire::Escalation {
        required: true,
        reason: format!("The counters need {} passes; the program runs once per pass.", passes.len()),
        gpu_arch: gfx_id.to_owned(),
        pass_count: passes.len(),
        passes: passes
            .iter()
            .zip(1..)
            .map(|(pass, index)| {
                let out = format!("pmc_pass{index}");
                let target = Target { app, out: &out, kernel: None };
                wire::Pass {
                    index,
                    counters: pass.iter().map(|name| (*name).to_owned()).collect(),
                    pmc: line(pass),
                    command: commands::pmc(&target, pass).full_command(),
                }
            })
            .collect(),
        pmc_groups_path: GROUPS,
        pmc_groups: passes.iter().map(line).collect(),
        commands: vec![
            wire::ToolCommand {
                tool: "rocprof-compute",
                description:
                    "runs the program as often as its own passes need and keeps the result as workload \
                              perfxpert"
                        .to_owned(),
                full_command: commands::rocprof_compute_profile("perfxpert", app).full_command(),
            },
            wire::ToolCommand {
                tool: "rocprofv3",
                description: format!(
                    "save pmc_groups as {GROUPS} first, one line a pass; each pass can also be run by its own command"
                ),
                full_command: commands::pmc_file(GROUPS, app).full_command(),
            },
        ],
    }
}
