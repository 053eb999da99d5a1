//! Asks a model to word a computed answer, and hands back what of its words may be used.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};

use perfxpert_agent::{
    BoxFuture, CallCx, EvidencePack, EvidenceValue, Lexicon, PackEvidence, PackMissing, PathRoot, Progress,
    RunCx, RunOutcome, RunRequest, ToolFailure, ToolSpec, Toolbox,
};
use perfxpert_knowledge::{collect, commands, compiler, techniques};
use perfxpert_schemas::tools::agent::analysis::{CitedValue, MissingValue};
use perfxpert_schemas::{ErrorObject, names};
use serde_json::Value;

use super::ask::Ask;
use super::spec;
use crate::{Context, Registry, schema};

/// Warnings of an answer.
const WARNINGS: usize = 20;

/// A computed answer as a model gets to see it.
pub(super) struct Draft<'a> {
    /// Everything that may be cited.
    pub(super) pack: EvidencePack,
    /// The computed narrative.
    pub(super) narrative: &'a str,
    /// Evidence id of the verdict.
    pub(super) lead: Option<&'static str>,
    /// Whether titles may be reworded.
    pub(super) titles: bool,
    /// The word proposals are listed under.
    pub(super) lane: Option<&'static str>,
    /// Paths the caller named, with their tokens.
    pub(super) roots: Vec<PathRoot>,
    /// Further names that may stand in backticks.
    pub(super) names: Vec<String>,
}

/// Asks for words, unless nobody is to be asked; then only what the call has to say about that.
///
/// # Errors
/// `cancelled`, and `provider` when the caller wants a failure to be an error.
pub(super) fn word(context: &Context, ask: &Ask, draft: &Draft<'_>) -> Result<RunOutcome, ErrorObject> {
    let lexicon = lexicon(&draft.names);
    let request = RunRequest {
        agent: ask.agent,
        prompts: spec::prompts(ask.agent),
        pack: &draft.pack,
        lexicon: &lexicon,
        roots: &draft.roots,
        narrative: draft.narrative,
        lead_id: draft.lead,
        titles: draft.titles,
        lane: draft.lane,
        session_id: ask.session.as_deref(),
        creativity: ask.creativity(),
        thinking_tokens: ask.options.thinking_tokens,
        max_output_tokens: ask.options.max_output_tokens,
        on_failure: ask.on_failure(),
        preview: ask.options.preview_request,
        trace_fingerprint: None,
        catalog_sha256: None,
    };
    let toolbox = RegistryTools { context: context.quiet() };
    let told = Told(context);
    let progress = context.shows_progress().then_some(&told as &dyn Progress);
    let cx = RunCx { cancel: context.cancellation().clone(), progress };
    let run = context.services.models.runtime()?.run(&ask.plan, &request, &toolbox, &cx);
    if ask.plan.uses_model() { block_on(run)? } else { at_once(run).ok_or_else(ErrorObject::internal)? }
}

/// A percentage with its sign: `-12.4%`, `+3.0%`.
pub(super) fn signed_pct(percent: f64) -> String {
    format!("{:+.1}%", perfxpert_analysis::rounding::round(percent, 1))
}

/// Adds the run's warnings behind the answer's own.
pub(super) fn add_warnings(warnings: &mut Vec<String>, outcome: &RunOutcome) {
    let room = WARNINGS.saturating_sub(outcome.warnings.len());
    warnings.truncate(room);
    warnings.extend(outcome.warnings.iter().take(WARNINGS).cloned());
}

/// Accepted proposals as they stand in an answer; nothing unless they were allowed.
pub(super) fn proposals(outcome: &RunOutcome) -> Option<Vec<serde_json::Map<String, Value>>> {
    let object = |proposal| match serde_json::to_value(proposal) {
        Ok(Value::Object(map)) => Some(map),
        _ => None,
    };
    Some(outcome.proposals.as_ref()?.iter().filter_map(object).collect())
}

/// The result of a future that never waits: nobody is asked, so there is nothing to wait for.
fn at_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Waits on the server's runtime; tools run on its blocking threads. A caller without one gets a small one of its own.
fn block_on<T>(
    future: impl Future<Output = Result<T, ErrorObject>>,
) -> Result<Result<T, ErrorObject>, ErrorObject> {
    if let Ok(handle) = tokio::runtime::Handle::try_current() {
        return Ok(handle.block_on(future));
    }
    let own = tokio::runtime::Builder::new_current_thread().enable_all().build();
    own.map(|runtime| runtime.block_on(future)).map_err(|_| ErrorObject::internal())
}

struct Told<'a>(&'a Context);

impl Progress for Told<'_> {
    fn say(&self, message: &str) {
        self.0.phase(message, 0.0, None);
    }
}

/// The registry's pure tools as a model may call them.
struct RegistryTools {
    context: Context,
}

fn registry() -> &'static Registry {
    static CELL: OnceLock<Registry> = OnceLock::new();
    CELL.get_or_init(Registry::new)
}

impl Toolbox for RegistryTools {
    fn describe(&self, tool: &str) -> Option<ToolSpec> {
        let tool = registry().find(tool)?;
        Some(ToolSpec {
            name: names::bare(tool.name),
            description: tool.description.to_owned(),
            input_schema: schema::advertised(tool.input_schema()),
        })
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Value,
        _: &'a CallCx,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        Box::pin(async move {
            let Some(tool) = registry().find(tool) else {
                return Err(ToolFailure(crate::arguments::unknown_name("tool", tool, [], "tool")));
            };
            let arguments = match arguments {
                Value::Object(map) => map,
                _ => serde_json::Map::new(),
            };
            let context = self.context.clone();
            // A tool that reads a trace must not hold up the clock that ends the run.
            let answered =
                tokio::task::spawn_blocking(move || Arc::clone(&tool).call(&context, Some(arguments)));
            match answered.await {
                Ok(answer) => answer.map_err(ToolFailure),
                Err(_) => Err(ToolFailure(ErrorObject::internal())),
            }
        })
    }
}

/// Words beyond the evidence that a statement may use.
fn lexicon(own: &[String]) -> Lexicon {
    let mut flags: Vec<String> = compiler::flags().iter().map(|flag| flag.flag.clone()).collect();
    flags.extend(command_options());
    let mut names: Vec<String> = techniques::metrics().iter().map(|metric| metric.name.clone()).collect();
    names.extend(techniques::all().iter().flat_map(|one| one.aliases.iter().chain([&one.id]).cloned()));
    names.extend(own.iter().cloned());
    let fact_ids = techniques::catalogue().iter().map(|id| format!("techniques/{id}")).collect();
    Lexicon { flags, names, labels: Vec::new(), fact_ids }
}

/// Every option of the tools whose commands are printed.
fn command_options() -> impl Iterator<Item = String> {
    let profiler = collect::rocprofv3_options().options.iter();
    let profiler = profiler.flat_map(|option| option.aliases.iter().chain([&option.name]).cloned());
    let others = commands::tables().into_iter().flat_map(|table| {
        let nested = table.commands.iter().flat_map(|command| &command.options);
        table.options.iter().chain(nested)
    });
    profiler.chain(others.flat_map(|option| option.aliases.iter().chain([&option.name]).cloned()))
}

/// Evidence of an answer as a model sees it.
pub(super) fn pack_evidence(evidence: &[CitedValue]) -> Vec<PackEvidence> {
    evidence
        .iter()
        .map(|item| PackEvidence {
            id: item.id.clone(),
            label: item.label.clone(),
            value: value(&item.value),
            unit: item.unit.clone(),
        })
        .collect()
}

/// A JSON value as evidence.
pub(super) fn value(value: &Value) -> EvidenceValue {
    match value {
        Value::Bool(flag) => EvidenceValue::Boolean(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => EvidenceValue::Integer(whole),
            None => EvidenceValue::Number(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => EvidenceValue::Text(text.clone()),
        other => EvidenceValue::Text(other.to_string()),
    }
}

/// What was missing, as a model sees it.
pub(super) fn pack_missing(missing: &[MissingValue]) -> Vec<PackMissing> {
    missing
        .iter()
        .map(|item| PackMissing {
            what: item.what.clone(),
            why: item.why.clone(),
            command: item.command.clone(),
        })
        .collect()
}

/// A path the caller named, with the token a model sees instead.
pub(super) fn root(token: &str, key: &str, as_given: &str) -> PathRoot {
    let absolute = std::path::absolute(as_given).ok().map(|path| path.display().to_string());
    PathRoot {
        token: token.to_owned(),
        pack_key: key.to_owned(),
        as_given: as_given.to_owned(),
        absolute: absolute.filter(|path| path != as_given),
    }
}
