//! `agent.root`: reads the question, chooses what to run, and answers with the report.

use std::path::PathBuf;
use std::sync::Arc;

use perfxpert_analysis::intent;
use perfxpert_analysis::units::Nanos;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::Report;
use perfxpert_schemas::tools::agent::options::{Detail, IntentWord};
use perfxpert_schemas::tools::agent::root::{QUESTION, RootInput};
use serde_json::{Map, Value, json};

use super::asking::{self, Asked};
use crate::Context;
use crate::report::{self, Request, source};
use crate::stamp::Stamp;
use crate::traces::{LoadedRun, Wish};

/// Hotspot rows when the caller does not say.
const TOP_KERNELS: u32 = 10;

pub(super) fn run(context: &Context, input: RootInput) -> Result<Report, ErrorObject> {
    let stamp = Stamp::now();
    context.phase("entering root", 0.0, None);
    let plan = Plan::of(context, &input);
    context.phase("exit root", 1.0, None);
    let plan = plan?;
    context.phase("deterministic analysis: running", 2.0, None);
    let report = answer(context, &input, &plan, stamp);
    context.phase("deterministic analysis: done", 3.0, None);
    report
}

/// What to run, from the arguments alone.
struct Plan {
    databases: Vec<String>,
    intent: IntentWord,
    top_kernels: u32,
    min_duration: Nanos,
    allow_partial: bool,
    detail: Detail,
    att_dir: Option<String>,
    monitor_log: Option<String>,
    baseline: Vec<String>,
    model: perfxpert_agent::Plan,
}

impl Plan {
    fn of(context: &Context, input: &RootInput) -> Result<Self, ErrorObject> {
        let options = &input.options;
        let baseline = asking::paths(
            "baseline_db",
            input.baseline_db.iter().flat_map(|paths| &paths.0).chain(&options.baseline_paths),
        )?;
        let databases = asking::paths(
            "database_path",
            input.database_path.iter().flat_map(|paths| &paths.0).chain(&options.database_paths),
        )?;
        let intent = options.intent_hint.unwrap_or_else(|| asked(&input.user_query));
        let needs_input = !matches!(intent, IntentWord::Explain | IntentWord::Help);
        if databases.is_empty() && input.source_dir.is_none() && needs_input {
            return Err(ErrorObject::invalid(
                "database_path",
                "Neither database_path nor source_dir was given.",
                "Give a rocpd database in database_path, a source tree in source_dir, or both.",
            ));
        }
        Ok(Self {
            databases,
            intent,
            top_kernels: options.top_kernels.unwrap_or(TOP_KERNELS),
            min_duration: asking::min_duration("options", options.min_duration, options.min_duration_us)?,
            allow_partial: options.allow_partial.unwrap_or(true),
            detail: options.detail.unwrap_or_default(),
            att_dir: options.att_dir.clone().or_else(|| input.att_dir.clone()),
            baseline,
            monitor_log: options.gpu_monitor_log.clone().or_else(monitor_log),
            // Whether a model may be asked is decided before any file is looked at.
            model: by(input).preflight(context)?,
        })
    }
}

/// How the call asks for words.
fn by(input: &RootInput) -> Asked<'_> {
    Asked {
        provider: input.provider,
        model: input.model.as_ref().or(input.options.model.as_ref()),
        airgap: input.airgap,
        session_id: input.session_id.as_deref(),
        options: &input.options,
    }
}

/// The monitor log the environment names.
fn monitor_log() -> Option<String> {
    std::env::var("PERFXPERT_GPU_MONITOR_LOG").ok().filter(|path| !path.trim().is_empty())
}

/// The intent of a question.
fn asked(question: &str) -> IntentWord {
    IntentWord::parse(intent::classify(question).intent).unwrap_or(IntentWord::Analyze)
}

fn answer(context: &Context, input: &RootInput, plan: &Plan, stamp: Stamp) -> Result<Report, ErrorObject> {
    let options = &input.options;
    let loaded = load(context, plan)?;
    context.check()?;
    let scan = input.source_dir.as_deref().map(source::scan).transpose()?;
    context.check()?;
    let source_dir = input.source_dir.as_deref();
    let request = Request {
        run: loaded.as_deref(),
        databases: &plan.databases,
        source: source_dir.zip(scan.as_ref()),
        att_dir: plan.att_dir.as_deref(),
        monitor_log: plan.monitor_log.as_deref(),
        advanced: options.advanced,
        advice: true,
        baseline: &plan.baseline,
        counter_paths: &options.counter_paths,
        top_kernels: plan.top_kernels as usize,
        gfx_id: options.gfx_id.as_deref(),
        intent: plan.intent,
        question: Some(input.user_query.as_str()).filter(|question| *question != QUESTION),
        options: effective(input, plan),
        stamp,
    };
    let mut report = report::build(context, &request);
    worded(&mut report, input, plan)?;
    report.metadata.analysis_duration_ms = stamp.elapsed_ms();
    if options.redact_paths {
        let mut paths = plan.databases.clone();
        paths.extend(plan.att_dir.iter().chain(&plan.monitor_log).cloned());
        report = report::redacted(report, &paths, source_dir)?;
    }
    Ok(match plan.detail {
        Detail::Full => report,
        Detail::Brief => report::brief(report),
    })
}

/// How the answer came about: the run object, its notices as warnings, and the sentences of the intent in front.
fn worded(report: &mut Report, input: &RootInput, plan: &Plan) -> Result<(), ErrorObject> {
    let run = by(input).run("agent.root", &plan.model, report)?;
    report.metadata.run = serde_json::to_value(&run).map_err(|_| ErrorObject::internal())?;
    if let Some(sentence) = in_front(report, plan) {
        report.narrative = format!("{sentence} {}", report.narrative);
        if report.llm_enhanced_explanation.is_some() {
            report.llm_enhanced_explanation = Some(report.narrative.clone());
        }
    }
    Ok(())
}

/// What the intent asks for, before the narrative that every intent gets.
fn in_front(report: &Report, plan: &Plan) -> Option<String> {
    match plan.intent {
        IntentWord::Optimize => Some(match report.recommendations.first() {
            Some(first) => format!("First: {}.", first.title.trim_end_matches('.')),
            None => "Nothing in this trace calls for a change.".to_owned(),
        }),
        IntentWord::Verify => {
            Some("Nothing to compare with: give `baseline_db` to verify a change.".to_owned())
        }
        IntentWord::Help => Some(
            "Ask what limits the run, what to try first, what a counter or metric means, or whether a change helped."
                .to_owned(),
        ),
        IntentWord::Analyze | IntentWord::Explain => None,
    }
}

fn load(context: &Context, plan: &Plan) -> Result<Option<Arc<LoadedRun>>, ErrorObject> {
    if plan.databases.is_empty() {
        return Ok(None);
    }
    let inputs: Vec<PathBuf> = plan.databases.iter().map(PathBuf::from).collect();
    let wish = Wish {
        allow_partial: plan.allow_partial,
        strict: !plan.allow_partial,
        min_duration: plan.min_duration,
    };
    // The reader's own steps are not phases of an agent.
    context.quiet().load(&inputs, wish, "database_path").map(Some)
}

/// Every analysis option with its effective value.
fn effective(input: &RootInput, plan: &Plan) -> Map<String, Value> {
    let options = &input.options;
    let all = [
        ("advanced", json!(options.advanced)),
        ("allow_partial", json!(plan.allow_partial)),
        ("att_dir", json!(plan.att_dir)),
        ("counter_paths", json!(options.counter_paths)),
        ("gfx_id", json!(options.gfx_id)),
        ("gpu_monitor_log", json!(plan.monitor_log)),
        ("intent", json!(plan.intent.as_str())),
        ("kernel_filter", json!(options.kernel_filter)),
        ("min_duration_ns", json!(plan.min_duration.0)),
        ("redact_paths", json!(options.redact_paths)),
        ("source_dir", json!(input.source_dir)),
        ("top_kernels", json!(plan.top_kernels)),
    ];
    all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
