//! The three specialists: techniques for a trace, or for what a caller knows of a run.

use std::collections::BTreeSet;

use perfxpert_agent::{AgentSpec, EntryKind, EvidencePack, PackEntry, PackPrecondition};
use perfxpert_analysis::recommend::techniques::{self, Cap, Check, Fitting, Judgement, Rejection, Subjects};
use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::commands;
use perfxpert_knowledge::techniques::{self as catalogue, Format, Specialist};
use perfxpert_schemas::tools::agent::analysis::{CitedValue, MissingValue, TraceReference};
use perfxpert_schemas::tools::agent::call::AgentCall;
use perfxpert_schemas::tools::agent::details::{Details, Rejected};
use perfxpert_schemas::tools::agent::options::Paths;
use perfxpert_schemas::tools::agent::run::AgentRun;
use perfxpert_schemas::tools::agent::specialists::{
    ComputeInput, Condition, Gain, LatencyInput, MemoryInput, SpecialistAnswer, Technique, TechniqueTarget,
    Verification,
};
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::{Map, Value, json};

use super::ask::{Ask, Entered, Envelope};
use super::given::{self, Given};
use super::wording::{self, Draft};
use super::{asking, paths, spec};
use crate::Context;
use crate::report::advice;
use crate::report::measured::Measured;
use crate::traces::Wish;

/// Techniques listed, things missing, techniques not listed, citations, evidence.
const LISTED: usize = 10;
const MISSING: usize = 10;
const REJECTED: usize = 8;
const CITATIONS: usize = 40;
const EVIDENCE: usize = 60;
/// Techniques a narrative names.
const NAMED: usize = 3;

/// Arguments of any of the three.
#[derive(Default)]
struct Input {
    gfx_id: Option<String>,
    kernels: Vec<Map<String, Value>>,
    counters: Map<String, Value>,
    copies: Map<String, Value>,
    hints: Map<String, Value>,
    databases: Option<Paths>,
    findings: Option<Map<String, Value>>,
    filter: Option<String>,
    att_dir: Option<String>,
    log: Option<String>,
    launches: Option<(f64, Option<f64>)>,
}

pub(super) fn compute(
    context: &Context,
    call: AgentCall<ComputeInput>,
) -> Result<SpecialistAnswer, ErrorObject> {
    let AgentCall { input, provider, model, airgap, session_id, options } = call;
    let envelope = Envelope { provider, model, airgap, session_id, options };
    let input = Input {
        gfx_id: input.gfx_id,
        kernels: input.hot_kernels,
        counters: input.counter_data,
        hints: input.source_hints,
        databases: input.database_path,
        findings: input.findings,
        filter: input.kernel_filter,
        att_dir: input.att_dir,
        ..Input::default()
    };
    answer(context, &spec::COMPUTE, Specialist::Compute, envelope, &input)
}

pub(super) fn memory(
    context: &Context,
    call: AgentCall<MemoryInput>,
) -> Result<SpecialistAnswer, ErrorObject> {
    let AgentCall { input, provider, model, airgap, session_id, options } = call;
    let envelope = Envelope { provider, model, airgap, session_id, options };
    let input = Input {
        gfx_id: input.gfx_id,
        kernels: input.hot_kernels,
        counters: input.counter_data,
        copies: input.memcpy_data,
        hints: input.source_hints,
        databases: input.database_path,
        findings: input.findings,
        filter: input.kernel_filter,
        ..Input::default()
    };
    answer(context, &spec::MEMORY, Specialist::Memory, envelope, &input)
}

pub(super) fn latency(
    context: &Context,
    call: AgentCall<LatencyInput>,
) -> Result<SpecialistAnswer, ErrorObject> {
    let AgentCall { input, provider, model, airgap, session_id, options } = call;
    let envelope = Envelope { provider, model, airgap, session_id, options };
    let input = Input {
        gfx_id: input.gfx_id,
        kernels: input.hot_kernels,
        counters: input.counter_data,
        hints: input.source_hints,
        databases: input.database_path,
        findings: input.findings,
        log: input.gpu_monitor_log,
        launches: Some((input.api_overhead_pct / 100.0, input.avg_kernel_duration_us)),
        ..Input::default()
    };
    answer(context, &spec::LATENCY, Specialist::Latency, envelope, &input)
}

/// What techniques are judged on, and where it comes from.
struct Ground {
    subjects: Subjects,
    trace: Option<TraceReference>,
    database: Option<String>,
    names: Vec<String>,
    warnings: Vec<String>,
}

fn answer(
    context: &Context,
    agent: &'static AgentSpec,
    specialist: Specialist,
    envelope: Envelope,
    input: &Input,
) -> Result<SpecialistAnswer, ErrorObject> {
    if input.kernels.is_empty() && input.databases.is_none() && input.findings.is_none() {
        return Err(ErrorObject::invalid(
            "input",
            "None of hot_kernels, database_path and findings was given.",
            "Send input.hot_kernels, input.database_path or input.findings.",
        ));
    }
    let ask = Ask::open(context, agent, &["creativity"], envelope)?;
    let _entered = Entered::new(context, agent);
    let mut ground = ground(context, input)?;
    filter(&mut ground, input.filter.as_deref())?;
    let judgement = techniques::judge(&ground.subjects, Some(specialist));
    let mut answer = described(agent, &judgement, &ground);
    word(context, &ask, input, &ground, specialist, &mut answer)?;
    Ok(answer)
}

/// From the trace when there is one, else from the rows of the findings and of the arguments.
fn ground(context: &Context, input: &Input) -> Result<Ground, ErrorObject> {
    if let Some(given) = input.databases.as_ref().filter(|paths| !paths.0.is_empty()) {
        return of_trace(context, &given.0, "input.database_path", input);
    }
    let mut warnings = Vec::new();
    let findings = input.findings.as_ref();
    if let Some(paths) = findings.and_then(found_paths) {
        match of_trace(context, &paths, "input.findings.details.trace.database_path", input) {
            Ok(ground) => return Ok(ground),
            Err(error) if matches!(error.kind, ErrorKind::Timeout | ErrorKind::Cancelled) => {
                return Err(error);
            }
            Err(error) => warnings.push(format!("The trace of the findings is not used: {}", error.message)),
        }
    }
    let arch = match &input.gfx_id {
        Some(id) => Some(crate::device::architecture("input.gfx_id", id)?),
        None => None,
    };
    let rows: Vec<Map<String, Value>> = if input.kernels.is_empty() {
        let rows = findings.and_then(|found| found.get("hot_kernels")).and_then(Value::as_array);
        rows.into_iter().flatten().filter_map(|row| row.as_object().cloned()).collect()
    } else {
        input.kernels.clone()
    };
    let read = given::read(&Given {
        kernels: &rows,
        counters: Some(&input.counters),
        copies: Some(&input.copies).filter(|copies| !copies.is_empty()),
        hints: Some(&input.hints),
        launches: input.launches,
        arch,
    })?;
    warnings.extend(given::ignored(&read.ignored));
    Ok(Ground { subjects: read.subjects, trace: None, database: None, names: read.names, warnings })
}

fn found_paths(findings: &Map<String, Value>) -> Option<Vec<String>> {
    let path = findings.get("details")?.get("trace")?.get("database_path")?;
    serde_json::from_value::<Paths>(path.clone()).ok().map(|paths| paths.0).filter(|paths| !paths.is_empty())
}

fn of_trace(context: &Context, given: &[String], field: &str, input: &Input) -> Result<Ground, ErrorObject> {
    let databases = asking::paths(field, given.iter())?;
    let files: Vec<std::path::PathBuf> = databases.iter().map(Into::into).collect();
    let run = context.quiet().load(&files, Wish { allow_partial: true, ..Wish::default() }, field)?;
    if !run.has_gpu_work() {
        return Err(ErrorObject::new(
            ErrorKind::EmptyTrace,
            format!("{} holds no GPU event.", run.first_path()),
            "Record the program with rocprofv3 --sys-trace.",
        )
        .path(&run.first_path()));
    }
    let measured = Measured::new(&run, input.gfx_id.as_deref(), LISTED);
    let inputs: Vec<&str> = databases.iter().map(String::as_str).collect();
    let observed = advice::observed(&measured, &inputs);
    let first = measured.gpus.first();
    let gfx_id = observed.gfx_id.clone();
    let mut warnings = Vec::new();
    if let (Some(asked), Some(own)) = (&input.gfx_id, &gfx_id)
        && !asked.trim().eq_ignore_ascii_case(own)
    {
        warnings.push(format!(
            "The trace was recorded on {own}; gfx_id {} is not used.",
            crate::arguments::shown(asked)
        ));
    }
    let names = observed.kernels.iter().map(|kernel| kernel.name.clone()).collect();
    Ok(Ground {
        subjects: Subjects::of(&observed),
        trace: Some(TraceReference {
            database_path: match given {
                [one] => json!(one),
                several => json!(several),
            },
            gfx_id,
            product: first.and_then(|gpu| gpu.name.clone()),
            gpu_count: measured.gpus.len() as u64,
            health: measured.status().label().to_owned(),
        }),
        database: databases.first().cloned(),
        names,
        warnings,
    })
}

/// Keeps the kernels a filter names.
fn filter(ground: &mut Ground, filter: Option<&str>) -> Result<(), ErrorObject> {
    let Some(filter) = filter.filter(|filter| !filter.is_empty()) else { return Ok(()) };
    let pattern = match filter.strip_prefix("re:") {
        Some(pattern) => {
            Some(regex::RegexBuilder::new(pattern).size_limit(1 << 20).build().map_err(|_| {
                ErrorObject::invalid(
                    "input.kernel_filter",
                    "The expression cannot be used.",
                    "Send a valid regular expression.",
                )
                .value(filter)
            })?)
        }
        None => None,
    };
    let fits =
        |name: &str| pattern.as_ref().map_or_else(|| name.contains(filter), |pattern| pattern.is_match(name));
    if !ground.names.iter().any(|name| fits(name)) {
        let known: Vec<&str> = ground.names.iter().take(10).map(String::as_str).collect();
        return Err(crate::arguments::unknown_name("input.kernel_filter", filter, known, "kernel"));
    }
    let names = &ground.names;
    ground.subjects.kernels.retain(|kernel| {
        let rank: Option<usize> = kernel.handle.get(1..).and_then(|rank| rank.parse().ok());
        rank.and_then(|rank| names.get(rank.checked_sub(1)?)).is_some_and(|name| fits(name))
    });
    Ok(())
}

fn described(agent: &'static AgentSpec, judgement: &Judgement, ground: &Ground) -> SpecialistAnswer {
    let listed: Vec<&Fitting> = judgement.fitting.iter().take(LISTED).collect();
    let techniques: Vec<Technique> = listed.iter().map(|found| technique(found, ground)).collect();
    let evidence = evidence(&listed, ground);
    let mut citations: BTreeSet<String> =
        techniques.iter().flat_map(|one| one.evidence.iter().cloned()).collect();
    citations.extend(listed.iter().map(|found| format!("techniques/{}", found.technique.id)));
    let mut missing = missing(judgement);
    if ground.trace.is_none() && !ground.subjects.kernels.is_empty() {
        missing.insert(
            0,
            MissingValue {
                what: "share of the run".to_owned(),
                why: "without a trace a kernel's share is of the given kernels only: an upper bound"
                    .to_owned(),
                command: Some(record()),
            },
        );
        missing.truncate(MISSING);
    }
    let rejected = judgement.rejected.iter().take(REJECTED).map(|one| Rejected {
        key: format!("{}@{}", one.technique.id, key_of(&ground.subjects, &one.handle)),
        name: one.technique.id.clone(),
        target: one.handle.clone(),
        reason: one.reason.clone(),
    });
    let mut details = Details::new(AgentRun::deterministic(agent.name, false));
    details.narrative = Some(narrative(&listed, judgement, &missing));
    details.evidence = evidence;
    details.rejected = Some(rejected.collect());
    details.rejected_total = Some(judgement.rejected.len() as u64);
    details.techniques_total = Some(judgement.fitting.len() as u64);
    details.truncated = (judgement.fitting.len() > LISTED).then_some(true);
    details.missing = Some(missing);
    details.trace.clone_from(&ground.trace);
    details.warnings.clone_from(&ground.warnings);
    SpecialistAnswer {
        confidence: judgement.confidence(),
        techniques,
        citations: citations.into_iter().take(CITATIONS).collect(),
        details,
    }
}

fn key_of(subjects: &Subjects, handle: &str) -> String {
    let mut all = subjects.kernels.iter().chain(&subjects.copies);
    all.find(|subject| subject.handle == handle)
        .map_or_else(|| handle.to_owned(), |subject| subject.key.clone())
}

/// Id of a metric of a target.
fn metric_id(metric: &str, handle: &str) -> String {
    if handle == "run" { format!("m.{metric}") } else { format!("m.{metric}@{handle}") }
}

/// The metric behind a cap's words.
fn cap_metric(by: &str) -> &'static str {
    match by.split(' ').next() {
        Some("VALU") => "valu_util",
        Some("MFMA") => "mfma_util",
        Some("HBM") => "hbm_util",
        _ => "coalescing",
    }
}

/// Metrics an entry rests on: its required ones as far as known, the share, and what bounds it.
fn rests_on(found: &Fitting) -> BTreeSet<&'static str> {
    let required = found.checks.iter().filter(|check| check.role == "required" && check.value.is_some());
    let mut metrics: BTreeSet<&'static str> =
        required.flat_map(|check| check.metrics.iter().copied()).collect();
    if found.gain.local.is_some() {
        metrics.insert("share");
    }
    if let Cap::Known { by, .. } = &found.gain.cap {
        metrics.insert(cap_metric(by));
    }
    metrics.retain(|metric| found.subject.values.0.contains_key(*metric));
    metrics
}

fn evidence(listed: &[&Fitting], ground: &Ground) -> Vec<CitedValue> {
    let mut items: Vec<CitedValue> = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, found) in listed.iter().enumerate() {
        let subject = &found.subject;
        for metric in rests_on(found) {
            let id = metric_id(metric, &subject.handle);
            let (Some(fact), Some(value)) = (catalogue::metric(metric), subject.values.0.get(metric)) else {
                continue;
            };
            if !seen.insert(id.clone()) {
                continue;
            }
            let unit = match fact.format {
                Format::Pct => "fraction",
                Format::Count => "count",
                Format::Number => "value",
                Format::Bytes => "B",
                Format::Us => "µs",
                Format::Flag => "flag",
                Format::Label => "label",
            };
            let label = match subject.label.as_str() {
                "" => fact.label.clone(),
                name if found.gain.local.is_some() => format!("{}, {}", fact.label, techniques::name(name)),
                name => format!("{}, {name}", fact.label),
            };
            items.push(CitedValue {
                id,
                label: label.chars().take(80).collect(),
                value: given::shown(value),
                unit: unit.to_owned(),
                from: match &ground.trace {
                    Some(_) => format!("techniques[{at}].preconditions"),
                    None => "input".to_owned(),
                },
            });
        }
    }
    items.sort_by(|a, b| a.id.cmp(&b.id));
    let facts: BTreeSet<&str> = listed.iter().map(|found| found.technique.id.as_str()).collect();
    items.extend(facts.into_iter().map(|id| CitedValue {
        id: format!("k.technique.{id}"),
        label: "technique fact".to_owned(),
        value: json!(id),
        unit: "id".to_owned(),
        from: format!("techniques/{id}"),
    }));
    let mut entries: Vec<CitedValue> = listed
        .iter()
        .enumerate()
        .map(|(at, found)| CitedValue {
            id: format!("r.{}@{}", found.technique.id, found.subject.handle),
            label: "entry".to_owned(),
            value: json!(found.key()),
            unit: "id".to_owned(),
            from: format!("techniques[{at}]"),
        })
        .collect();
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    items.extend(entries);
    items.truncate(EVIDENCE);
    items
}

fn technique(found: &Fitting, ground: &Ground) -> Technique {
    let (subject, fact) = (&found.subject, found.technique);
    let mut ids: Vec<String> =
        rests_on(found).into_iter().map(|metric| metric_id(metric, &subject.handle)).collect();
    ids.push(format!("k.technique.{}", fact.id));
    ids.sort();
    let kind = match (found.gain.local, subject.handle.as_str()) {
        (Some(_), _) => "kernel",
        (None, "run") => "run",
        (None, _) => "copy",
    };
    Technique {
        name: fact.id.clone(),
        title: found.title.clone(),
        rationale: found.rationale.clone(),
        expected_impact: found.expected_impact,
        effort: found.effort().to_owned(),
        risk: fact.risk.as_str().to_owned(),
        status: found.status.label().to_owned(),
        confidence: found.confidence,
        target: TechniqueTarget {
            kind: kind.to_owned(),
            handle: subject.handle.clone(),
            label: if kind == "run" { "run".to_owned() } else { subject.label.clone() },
        },
        gain: gain(found),
        preconditions: found.checks.iter().map(condition).collect(),
        score: found.score,
        effort_factor: fact.effort,
        actions: found.actions.clone(),
        failure_modes: fact.failure_modes.clone(),
        verify: Verification {
            metric: fact.verify.metric.clone(),
            direction: fact.verify.direction.clone(),
            commands: vec![
                commands::sys_trace(&commands::Target { app: "./your_app", out: "./after", kernel: None })
                    .full_command(),
                commands::diff(ground.database.as_deref().unwrap_or("./before"), "./after").full_command(),
            ],
        },
        evidence: ids,
        citation: fact.citation(),
        key: found.key(),
        hash: techniques::hash(&fact.id),
        target_hash: techniques::target_hash(&fact.id, &subject.key),
        prediction: None,
    }
}

fn gain(found: &Fitting) -> Gain {
    let gain = &found.gain;
    let pct = |share: f64| round(share * 100.0, 2);
    let (run_lo, run_hi) = gain.run();
    let is_kernel = gain.local.is_some();
    Gain {
        share_pct: pct(gain.share.unwrap_or(1.0)),
        local_lo: gain.local.map(|(lo, _)| round(lo, 3)),
        local_hi: gain.local.map(|(_, hi)| round(hi, 3)),
        cap: is_kernel.then(|| gain.cap.limit().map(|limit| round(limit, 3))),
        cap_by: is_kernel.then(|| match &gain.cap {
            Cap::Known { by, .. } => Some(cap_metric(by).to_owned()),
            Cap::Unknown | Cap::None => None,
        }),
        saved_lo_pct: pct(gain.saved_lo),
        saved_hi_pct: pct(gain.saved_hi),
        run_lo: round(run_lo, 3),
        run_hi: round(run_hi, 3),
    }
}

fn condition(check: &Check) -> Condition {
    let headroom = check.role == "headroom";
    Condition {
        text: if headroom { "headroom".to_owned() } else { check.text.clone() },
        state: check.state.as_str().to_owned(),
        role: check.role.to_owned(),
        value: match &check.value {
            Some(techniques::MetricValue::Number(limit)) if headroom => json!(round(*limit, 3)),
            Some(value) => given::shown(value),
            None => Value::Null,
        },
    }
}

/// Recording the whole timeline.
fn record() -> String {
    commands::sys_trace(&commands::Target { app: "./your_app", out: "./profile_out", kernel: None })
        .full_command()
}

/// Metrics that would decide about a technique, each with the techniques that wait for it.
fn missing(judgement: &Judgement) -> Vec<MissingValue> {
    let row = |metric: &'static str| {
        let waits = judgement
            .rejected
            .iter()
            .filter(|one| one.kind == Rejection::Unknown && one.missing.contains(&metric));
        let waits: BTreeSet<&str> = waits.map(|one| one.technique.id.as_str()).collect();
        let fact = catalogue::metric(metric)?;
        let command = match fact.scope {
            catalogue::Target::Kernel => {
                commands::rocprof_compute_profile("profile", "./your_app").full_command()
            }
            catalogue::Target::Copy | catalogue::Target::Run => record(),
        };
        Some(MissingValue {
            what: fact.label.clone(),
            why: format!("not known; decides about {}", waits.into_iter().collect::<Vec<_>>().join(", ")),
            command: Some(command),
        })
    };
    judgement.missing().into_iter().filter_map(row).take(MISSING).collect()
}

fn narrative(listed: &[&Fitting], judgement: &Judgement, missing: &[MissingValue]) -> String {
    let mut text = if listed.is_empty() {
        let mut reasons: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for one in &judgement.rejected {
            *reasons.entry(one.reason.as_str()).or_default() += 1;
        }
        // Of equally frequent reasons the first by name.
        let most = reasons.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        match most {
            Some((reason, _)) => format!("No technique fits: {reason}."),
            None => "No technique fits: there is nothing to judge.".to_owned(),
        }
    } else {
        let named: Vec<String> = listed
            .iter()
            .take(NAMED)
            .map(|found| {
                let (lo, hi) = found.gain.run();
                format!("{} ({}-{})", found.title, techniques::ratio(lo), techniques::ratio(hi))
            })
            .collect();
        let total = judgement.fitting.len();
        let fit = if total == 1 { "technique fits" } else { "techniques fit" };
        format!("{total} {fit}: {}.", named.join(", "))
    };
    if !missing.is_empty() {
        let named: Vec<&str> = missing.iter().take(2).map(|one| one.what.as_str()).collect();
        let more = match missing.len().saturating_sub(2) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let collect = missing.iter().find_map(|one| one.command.as_ref());
        let collect = collect.map_or_else(String::new, |command| format!("; collect with `{command}`"));
        text.push_str(&format!(" Not known: {}{more}{collect}.", named.join(", ")));
    }
    text
}

fn word(
    context: &Context,
    ask: &Ask,
    input: &Input,
    ground: &Ground,
    specialist: Specialist,
    answer: &mut SpecialistAnswer,
) -> Result<(), ErrorObject> {
    let narrative = answer.details.narrative.clone().unwrap_or_default();
    let entries = answer.techniques.iter().map(|one| PackEntry {
        key: one.key.clone(),
        evidence: std::iter::once(format!("r.{}@{}", one.name, one.target.handle))
            .chain(one.evidence.iter().cloned())
            .collect(),
        title: one.title.clone(),
        gain: Some(format!(
            "{}-{} of the run",
            techniques::ratio(one.gain.run_lo),
            techniques::ratio(one.gain.run_hi)
        )),
        status: Some(one.status.clone()),
        preconditions: one
            .preconditions
            .iter()
            .map(|found| PackPrecondition { text: found.text.clone(), state: found.state.clone() })
            .collect(),
    });
    let draft = Draft {
        pack: EvidencePack {
            evidence: wording::pack_evidence(&answer.details.evidence),
            entry_kind: EntryKind::Techniques,
            entries: entries.collect(),
            missing: wording::pack_missing(answer.details.missing.as_deref().unwrap_or_default()),
            ..EvidencePack::default()
        },
        narrative: &narrative,
        lead: None,
        titles: true,
        lane: Some(match specialist {
            Specialist::Compute => "compute",
            Specialist::Memory => "memory",
            Specialist::Latency => "latency",
        }),
        roots: paths::roots(input.databases.as_ref(), None, input.att_dir.as_deref(), input.log.as_deref()),
        names: ground.names.iter().take(LISTED).cloned().collect(),
    };
    let outcome = wording::word(context, ask, &draft)?;
    wording::add_warnings(&mut answer.details.warnings, &outcome);
    if let Some(text) = &outcome.narrative {
        answer.details.narrative = Some(text.clone());
    }
    for one in &mut answer.techniques {
        if let Some(title) = outcome.titles.get(&one.key).and_then(|accepted| accepted.title.clone()) {
            one.title = title;
        }
    }
    answer.details.exploratory_proposals = wording::proposals(&outcome);
    answer.details.run = outcome.run;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    fn call(tool: &str, input: Value) -> Result<Value, ErrorObject> {
        let tool = Registry::new().find(tool).unwrap();
        let Value::Object(arguments) = json!({ "input": input }) else { unreachable!() };
        tool.call(&Context::detached(), Some(arguments))
    }

    fn scores(answer: &Value) -> Vec<(String, String, f64)> {
        let rows = answer["techniques"].as_array().unwrap().iter();
        rows.map(|row| {
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            (text("key"), text("status"), row["score"].as_f64().unwrap())
        })
        .collect()
    }

    #[test]
    fn the_compute_example_of_the_guides() {
        let answer = call("agent.compute_specialist", json!({
            "gfx_id": "gfx942",
            "hot_kernels": [{ "name": "gemm_k0", "total_duration": 1_000_000, "calls": 10, "pct_of_total": 100.0 }],
            "counter_data": { "vgpr_used": 128, "waves_per_eu": 4 }
        }))
        .unwrap();
        assert_eq!(scores(&answer), [("vgpr_reduction@gemm_k0".into(), "applicable".into(), 0.068627)]);
        let gain = &answer["techniques"][0]["gain"];
        assert_eq!((gain["local_lo"].as_f64(), gain["local_hi"].as_f64()), (Some(1.046), Some(1.138)));
        assert!(answer["techniques"][0]["title"].as_str().unwrap().ends_with("128 to 96 VGPRs"));
        let missing = answer["details"]["missing"].to_string();
        assert!(missing.contains("mfma_enablement") && missing.contains("upper bound"), "{missing}");
    }

    #[test]
    fn the_memory_example_of_the_guides() {
        let answer = call(
            "agent.memory_specialist",
            json!({
                "gfx_id": "gfx942",
                "hot_kernels": [{ "name": "stream_copy", "total_duration": 1_000_000, "calls": 10 }],
                "counter_data": { "l2_hit_rate": 0.41 }
            }),
        )
        .unwrap();
        assert_eq!(scores(&answer), [("cache_blocking@stream_copy".into(), "possible".into(), 0.028922)]);
    }

    #[test]
    fn the_latency_example_of_the_guides() {
        let answer = call(
            "agent.latency_specialist",
            json!({
                "gfx_id": "gfx942",
                "hot_kernels": [{ "name": "tiny", "total_duration": 64_000_000, "calls": 10_000 }],
                "api_overhead_pct": 34.2, "avg_kernel_duration_us": 6.4
            }),
        )
        .unwrap();
        assert_eq!(
            scores(&answer),
            [
                ("hip_graph@run".into(), "applicable".into(), 0.053865),
                ("kernel_fusion@run".into(), "possible".into(), 0.0095)
            ]
        );
    }

    #[test]
    fn arguments_that_cannot_be_used_are_named() {
        let kernels = json!([{ "name": "k", "total_duration": 1 }]);
        let error = call(
            "agent.compute_specialist",
            json!({ "hot_kernels": kernels, "counter_data": { "valu_util_pct": 78 } }),
        )
        .unwrap_err();
        assert!(error.hint.contains("0.78"), "{}", error.hint);
        let answer = call(
            "agent.compute_specialist",
            json!({ "hot_kernels": kernels, "counter_data": { "SQ_WAVES": 3, "valu_utl": 0.3 } }),
        )
        .unwrap();
        let warnings = answer["details"]["warnings"].to_string();
        assert!(warnings.contains("database_path") && warnings.contains("near valu_util"), "{warnings}");
        let error = call("agent.compute_specialist", json!({ "gfx_id": "gfx942" })).unwrap_err();
        assert!(error.message.contains("hot_kernels"));
        let error =
            call("agent.compute_specialist", json!({ "hot_kernels": kernels, "kernel_filter": "zzz" }))
                .unwrap_err();
        assert_eq!(error.kind, ErrorKind::UnknownName);
    }
}
