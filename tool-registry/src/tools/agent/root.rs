//! `agent.root`: reads the question, chooses what to run, and answers with the report.

use std::path::PathBuf;
use std::sync::Arc;

use perfxpert_analysis::intent;
use perfxpert_analysis::units::Nanos;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::Report;
use perfxpert_schemas::tools::agent::options::{Detail, IntentWord, MAX_PATH, MAX_PATHS, RunOptions};
use perfxpert_schemas::tools::agent::root::{QUESTION, RootInput};
use serde_json::{Map, Value, json};

use crate::Context;
use crate::report::{self, Request};
use crate::stamp::Stamp;
use crate::traces::{LoadedRun, Wish};

/// Hotspot rows when the caller does not say.
const TOP_KERNELS: u32 = 10;

pub(super) fn run(context: &Context, input: RootInput) -> Result<Report, ErrorObject> {
    let stamp = Stamp::now();
    context.phase("entering root", 0.0, None);
    let plan = Plan::of(&input);
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
}

impl Plan {
    fn of(input: &RootInput) -> Result<Self, ErrorObject> {
        let options = &input.options;
        let databases = paths(
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
            min_duration: min_duration(options)?,
            allow_partial: options.allow_partial.unwrap_or(true),
            detail: options.detail.unwrap_or_default(),
        })
    }
}

/// The intent of a question.
fn asked(question: &str) -> IntentWord {
    IntentWord::parse(intent::classify(question).intent).unwrap_or(IntentWord::Analyze)
}

/// Paths of an argument, each once, in the order given.
fn paths<'a>(field: &str, given: impl Iterator<Item = &'a String>) -> Result<Vec<String>, ErrorObject> {
    let mut paths: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for path in given {
        if path.is_empty() || path.chars().count() > MAX_PATH {
            let message = format!("A path of {field} has {} characters.", path.chars().count());
            return Err(ErrorObject::invalid(
                field,
                message,
                format!("Send paths of 1 to {MAX_PATH} characters."),
            ));
        }
        if seen.insert(path.as_str()) {
            paths.push(path.clone());
        }
    }
    if paths.len() > MAX_PATHS {
        let message = format!("{field} names {} paths; {MAX_PATHS} are accepted.", paths.len());
        return Err(ErrorObject::invalid(field, message, "Name the folder that holds them."));
    }
    Ok(paths)
}

fn min_duration(options: &RunOptions) -> Result<Nanos, ErrorObject> {
    let ns = match (options.min_duration, options.min_duration_us) {
        (Some(_), Some(_)) => {
            return Err(ErrorObject::invalid(
                "options.min_duration",
                "min_duration (nanoseconds) and min_duration_us (microseconds) were both sent.",
                "Send one of them.",
            ));
        }
        (Some(ns), None) => ns,
        (None, Some(us)) => us * 1000.0,
        (None, None) => 0.0,
    };
    // A cast of a float saturates, so that a bound beyond any duration simply keeps nothing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let ns = ns.ceil() as u64;
    Ok(Nanos(ns))
}

fn answer(context: &Context, input: &RootInput, plan: &Plan, stamp: Stamp) -> Result<Report, ErrorObject> {
    let options = &input.options;
    let loaded = load(context, plan)?;
    context.check()?;
    let request = Request {
        run: loaded.as_deref(),
        databases: &plan.databases,
        top_kernels: plan.top_kernels as usize,
        gfx_id: options.gfx_id.as_deref(),
        intent: plan.intent,
        question: Some(input.user_query.as_str()).filter(|question| *question != QUESTION),
        options: effective(input, plan),
        stamp,
    };
    let mut report = report::build(&request);
    report.metadata.analysis_duration_ms = stamp.elapsed_ms();
    Ok(match plan.detail {
        Detail::Full => report,
        Detail::Brief => report::brief(report),
    })
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
        ("att_dir", json!(options.att_dir.as_ref().or(input.att_dir.as_ref()))),
        ("counter_paths", json!(options.counter_paths)),
        ("gfx_id", json!(options.gfx_id)),
        ("gpu_monitor_log", json!(options.gpu_monitor_log)),
        ("intent", json!(plan.intent.as_str())),
        ("kernel_filter", json!(options.kernel_filter)),
        ("min_duration_ns", json!(plan.min_duration.0)),
        ("redact_paths", json!(options.redact_paths)),
        ("source_dir", json!(input.source_dir)),
        ("top_kernels", json!(plan.top_kernels)),
    ];
    all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
