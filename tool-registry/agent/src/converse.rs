//! The conversation with one model: evidence out, tool calls answered, one answer of the agreed form back.

use std::collections::HashMap;
use std::time::Instant;

use perfxpert_schemas::names::{bare, to_bare};
use perfxpert_schemas::tools::agent::run::{AttemptOutcome, ToolUse};
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::budget::{
    DOUBLED_OUTPUT_TOKENS, LEAST_OUTPUT_TOKENS, PACK_CHARACTERS, REPAIRS, SMALL_PACK_CHARACTERS,
    TOOL_CALLS_PER_RUN, TOOL_CALLS_PER_TURN, TOOL_RESULT_CHARACTERS, TOOL_VIOLATIONS, estimate_tokens,
};
use crate::chain::Trail;
use crate::error::ProviderError;
use crate::message::{ChatReply, ChatRequest, Message, Part, Role, Stop, ToolChoice};
use crate::preflight::Candidate;
use crate::prompt::ComposedPrompt;
use crate::provider::Provider;
use crate::redact::{Outbound, Redactor};
use crate::reply::{Reply, SUBMIT_ANSWER, reply_schema};
use crate::retry::{Effort, Turn};
use crate::run::{RunRequest, Runtime};
use crate::session::Session;
use crate::toolbox::{CallCx, ToolSpec, Toolbox};

/// Why a conversation gave no answer.
pub(crate) enum Halt {
    /// The service failed; the chain may go on.
    Provider(Box<ProviderError>),
    /// The answer is of no use or the budget is gone; the run is over.
    Stopped { outcome: AttemptOutcome, code: &'static str, message: String },
}

impl Halt {
    fn malformed() -> Self {
        Self::Stopped {
            outcome: AttemptOutcome::Malformed,
            code: "model_malformed",
            message: "The model gave no answer of the agreed form; the computed text stands.".to_owned(),
        }
    }

    fn refused() -> Self {
        Self::Stopped {
            outcome: AttemptOutcome::Refused,
            code: "model_refused",
            message: "The model declined to answer; the computed text stands.".to_owned(),
        }
    }

    fn budget(code: &'static str, what: String) -> Self {
        Self::Stopped {
            outcome: AttemptOutcome::Malformed,
            code,
            message: format!("{what} used up; the computed text stands."),
        }
    }
}

/// What all candidates of one run share.
pub(crate) struct Conversation<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) request: &'a RunRequest<'a>,
    pub(crate) redactor: &'a Redactor,
    pub(crate) toolbox: &'a dyn Toolbox,
    pub(crate) session: &'a Session,
    pub(crate) prompt: &'a ComposedPrompt,
    pub(crate) lane_on: bool,
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Instant,
}

/// Tool calls of one conversation.
#[derive(Default)]
struct Calls {
    answered: usize,
    violations: u32,
    earlier: HashMap<String, (String, bool)>,
}

impl Conversation<'_> {
    /// The first request as it would be sent; `None` for a candidate that is passed over.
    pub(crate) fn preview(&self, candidate: &Candidate) -> Option<Value> {
        let provider = candidate.provider.as_ref().ok()?;
        let outbound = self.redactor.outbound(self.first_request(candidate, provider.as_ref()));
        let shape = self.turn(provider.as_ref(), &self.call_cx()).shape(candidate.model.as_deref());
        Some(provider.preview(&outbound, &shape))
    }

    fn call_cx(&self) -> CallCx {
        CallCx { cancel: self.cancel.clone(), deadline: self.deadline }
    }

    fn turn<'t>(&'t self, provider: &'t dyn Provider, cx: &'t CallCx) -> Turn<'t> {
        Turn {
            provider,
            learned: &self.runtime.learned,
            clock: self.runtime.clock.as_ref(),
            retry_rate_limits: self.runtime.settings.retry_rate_limits,
            cx,
        }
    }

    fn output_tokens(&self) -> u32 {
        let asked = self.request.max_output_tokens.unwrap_or(self.runtime.settings.max_output_tokens);
        asked.max(LEAST_OUTPUT_TOKENS)
    }

    /// Evidence as one JSON object, then the question. The object is redacted value by value before it becomes text.
    fn evidence_text(&self, limit: usize) -> String {
        let keys = self.request.roots.iter().map(|root| (root.pack_key.clone(), root.token.clone()));
        let mut pack = self.request.pack.to_json(&keys.collect::<Vec<_>>(), limit);
        self.redactor.value(&mut pack);
        format!("{pack}\nQuestion: {}", self.redactor.text(&self.request.pack.query))
    }

    fn first_request(&self, candidate: &Candidate, provider: &dyn Provider) -> ChatRequest {
        let mut request = ChatRequest {
            model: candidate.model.clone(),
            system: self.prompt.text.clone(),
            messages: vec![Message::user(self.evidence_text(PACK_CHARACTERS))],
            tools: self.tools(),
            tool_choice: self.tool_choice(1, false),
            max_output_tokens: self.output_tokens(),
            thinking_tokens: self.request.thinking_tokens,
            reply_schema: reply_schema(self.lane_on),
        };
        let most = provider.context_characters(request.max_output_tokens);
        if most.is_some_and(|most| request.characters() > most) {
            request.messages = vec![Message::user(self.evidence_text(SMALL_PACK_CHARACTERS))];
        }
        request
    }

    /// The allowlist under bare wire names, and the answer itself.
    fn tools(&self) -> Vec<ToolSpec> {
        let allowed = self.request.agent.tools.iter();
        let mut tools: Vec<ToolSpec> = allowed
            .filter_map(|name| Some(ToolSpec { name: bare(name), ..self.toolbox.describe(name)? }))
            .collect();
        tools.push(ToolSpec {
            name: SUBMIT_ANSWER.to_owned(),
            description: "Hands in the finished answer. Every statement cites ids of the evidence."
                .to_owned(),
            input_schema: reply_schema(self.lane_on),
        });
        tools
    }

    fn tool_choice(&self, turn: u32, repairing: bool) -> ToolChoice {
        let last = turn >= self.runtime.settings.budgets.turns_per_run;
        if last || repairing { ToolChoice::Submit } else { ToolChoice::Auto }
    }

    /// Talks to one candidate until it answers, fails or runs out. `place` is its entry among the attempts.
    pub(crate) async fn hold(
        &self,
        candidate: &Candidate,
        provider: &dyn Provider,
        trail: &mut Trail,
        place: usize,
    ) -> Result<(Reply, Option<String>), Halt> {
        let cx = self.call_cx();
        let turn = self.turn(provider, &cx);
        let mut ask = self.first_request(candidate, provider);
        let mut calls = Calls::default();
        let mut repairs = 0;
        let mut doubled = false;
        loop {
            self.take_turn(trail)?;
            ask.tool_choice = self.tool_choice(trail.turns, repairs > 0);
            let outbound = self.redactor.outbound(ask.clone());
            let mut effort = Effort::default();
            let replied = turn.ask(&outbound, &mut effort).await;
            if let Some(attempt) = trail.attempts.get_mut(place) {
                attempt.retries = attempt.retries.saturating_add(effort.retries);
            }
            let reply = replied.map_err(|failure| Halt::Provider(Box::new(failure)))?;
            self.account(&outbound, &reply, trail);
            if let Some(attempt) = trail.attempts.get_mut(place) {
                attempt.status = reply.status;
            }
            match reply.stop {
                Stop::Refusal => return Err(Halt::refused()),
                Stop::Pause => {
                    ask.messages.push(Message { role: Role::Assistant, parts: reply.parts });
                    continue;
                }
                Stop::Length => {
                    if let Some(Ok(answer)) = submitted(&reply).map(Reply::read) {
                        return Ok((answer, reply.model));
                    }
                    let more = ask.max_output_tokens.saturating_mul(2).min(DOUBLED_OUTPUT_TOKENS);
                    if doubled || more <= ask.max_output_tokens {
                        return Err(Halt::malformed());
                    }
                    (doubled, ask.max_output_tokens) = (true, more);
                    continue;
                }
                Stop::End | Stop::ToolUse => {}
            }
            let violations = match self.answer_in(&reply) {
                Some(Ok(answer)) => return Ok((answer, reply.model)),
                Some(Err(violations)) => violations,
                None if has_calls(&reply) => {
                    let results = self.answer_calls(&reply, &mut calls, trail, &cx).await?;
                    ask.messages.push(Message { role: Role::Assistant, parts: reply.parts });
                    ask.messages.push(Message { role: Role::User, parts: results });
                    continue;
                }
                None => vec!["the reply is not a call of `submit_answer`".to_owned()],
            };
            repairs += 1;
            if repairs > REPAIRS {
                return Err(Halt::malformed());
            }
            let correction = repair(&reply, &violations);
            if !reply.parts.is_empty() {
                ask.messages.push(Message { role: Role::Assistant, parts: reply.parts });
            }
            ask.messages.push(correction);
        }
    }

    /// Takes one turn of the run and the session.
    fn take_turn(&self, trail: &mut Trail) -> Result<(), Halt> {
        let budgets = &self.runtime.settings.budgets;
        if trail.turns >= budgets.turns_per_run {
            return Err(Halt::budget(
                "budget_turns",
                format!("The {} model turns of a run are", budgets.turns_per_run),
            ));
        }
        if self.session.tokens() >= budgets.tokens_per_session {
            let what = format!("The {} model tokens of a session are", budgets.tokens_per_session);
            return Err(Halt::budget("budget_tokens", what));
        }
        if !self.session.take_turn(budgets.turns_per_session) {
            let what = format!("The {} model turns of a session are", budgets.turns_per_session);
            return Err(Halt::budget("budget_turns", what));
        }
        trail.turns += 1;
        Ok(())
    }

    /// Counts tokens; a reply without a count is measured by its characters.
    fn account(&self, sent: &Outbound, reply: &ChatReply, trail: &mut Trail) {
        let received: usize = reply
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.chars().count(),
                Part::ToolCall { arguments, .. } => arguments.to_string().chars().count(),
                Part::ToolResult { .. } | Part::Opaque(_) => 0,
            })
            .sum();
        trail.tokens.estimated |= reply.usage.input.is_none() || reply.usage.output.is_none();
        let input = reply.usage.input.unwrap_or_else(|| estimate_tokens(sent.request().characters()));
        let output = reply.usage.output.unwrap_or_else(|| estimate_tokens(received));
        trail.tokens.input = trail.tokens.input.saturating_add(input);
        trail.tokens.output = trail.tokens.output.saturating_add(output);
        self.session.add_tokens(input.saturating_add(output));
    }

    /// The answer of a reply: a call of `submit_answer`, or a text that is one JSON object.
    fn answer_in(&self, reply: &ChatReply) -> Option<Result<Reply, Vec<String>>> {
        if let Some(arguments) = submitted(reply) {
            return Some(Reply::read(arguments));
        }
        if has_calls(reply) {
            return None;
        }
        Reply::object_in(&reply.text()).map(|value| Reply::read(&value))
    }

    /// Answers every tool call of a reply, in order.
    async fn answer_calls(
        &self,
        reply: &ChatReply,
        calls: &mut Calls,
        trail: &mut Trail,
        cx: &CallCx,
    ) -> Result<Vec<Part>, Halt> {
        let mut results = Vec::new();
        for part in &reply.parts {
            let Part::ToolCall { id, name, arguments } = part else { continue };
            let (content, ok) =
                if results.len() >= TOOL_CALLS_PER_TURN || calls.answered >= TOOL_CALLS_PER_RUN {
                    let limit = "Not run: at most 4 tool calls a turn and 20 a run.";
                    (error_text(ErrorKind::InvalidArgument, limit, "Call `submit_answer`."), false)
                } else {
                    calls.answered += 1;
                    self.answer_call(name, arguments, calls, cx).await
                };
            let tool = self.dotted(name).map_or_else(|| self.shown(name), str::to_owned);
            trail.tool_calls.push(ToolUse { tool, ok });
            results.push(Part::ToolResult { id: id.clone(), name: name.clone(), content, is_error: !ok });
        }
        if calls.violations >= TOOL_VIOLATIONS {
            return Err(Halt::Stopped {
                outcome: AttemptOutcome::Malformed,
                code: "tool_violations",
                message: "The model kept calling tools it was not given; the computed text stands."
                    .to_owned(),
            });
        }
        Ok(results)
    }

    /// The dotted name of an allowed tool, whatever spelling the model used.
    fn dotted(&self, name: &str) -> Option<&'static str> {
        let called = to_bare(name);
        self.request.agent.tools.iter().copied().find(|tool| bare(tool) == called)
    }

    /// A name a model made up, as a run may show it.
    fn shown(&self, name: &str) -> String {
        self.redactor.text(&name.chars().filter(|c| !c.is_control()).take(80).collect::<String>())
    }

    async fn answer_call(
        &self,
        name: &str,
        arguments: &Value,
        calls: &mut Calls,
        cx: &CallCx,
    ) -> (String, bool) {
        let Some(tool) = self.dotted(name) else {
            calls.violations += 1;
            let available: Vec<String> = self.request.agent.tools.iter().map(|tool| bare(tool)).collect();
            let message = format!("not available: {}; available: {}", self.shown(name), available.join(", "));
            return (
                error_text(ErrorKind::UnknownName, &message, "Call one of these, or `submit_answer`."),
                false,
            );
        };
        if !arguments.is_object() {
            let message = "The arguments are not one JSON object.";
            return (error_text(ErrorKind::InvalidArgument, message, "Send a JSON object."), false);
        }
        let key = format!("{tool} {arguments}");
        if let Some(earlier) = calls.earlier.get(&key) {
            return earlier.clone();
        }
        let mut real = arguments.clone();
        let result = if self.redactor.restore_arguments(&mut real).is_err() {
            let tokens = self.redactor.root_tokens().join(", ");
            let message = format!("unknown path; use {}", if tokens.is_empty() { "none" } else { &tokens });
            (error_text(ErrorKind::InvalidArgument, &message, "Name paths by these tokens only."), false)
        } else {
            let answered = self.toolbox.call(tool, real, cx).await;
            let ok = answered.is_ok();
            let mut value = answered.unwrap_or_else(|failure| failure.0.envelope());
            self.redactor.value(&mut value);
            (bounded(&value), ok)
        };
        calls.earlier.insert(key, result.clone());
        result
    }
}

/// The arguments of a call of `submit_answer`, if there is one.
fn submitted(reply: &ChatReply) -> Option<&Value> {
    reply.parts.iter().find_map(|part| match part {
        Part::ToolCall { name, arguments, .. } if name == SUBMIT_ANSWER => Some(arguments),
        _ => None,
    })
}

fn has_calls(reply: &ChatReply) -> bool {
    reply.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }))
}

/// What was wrong, as the result of every call of that reply or as a text.
fn repair(reply: &ChatReply, violations: &[String]) -> Message {
    let text = format!(
        "The answer cannot be used: {}. Correct it and call `{SUBMIT_ANSWER}` with the whole answer.",
        violations.join("; ")
    );
    let results: Vec<Part> = reply
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall { id, name, .. } => Some(Part::ToolResult {
                id: id.clone(),
                name: name.clone(),
                content: error_text(ErrorKind::InvalidArgument, &text, "Call `submit_answer` again."),
                is_error: true,
            }),
            _ => None,
        })
        .collect();
    if results.is_empty() { Message::user(text) } else { Message { role: Role::User, parts: results } }
}

fn error_text(kind: ErrorKind, message: &str, hint: &str) -> String {
    ErrorObject::new(kind, message, hint).envelope().to_string()
}

/// A tool's answer as text, cut to what a model is shown.
fn bounded(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= TOOL_RESULT_CHARACTERS {
        return text;
    }
    // Quotes inside the cut text are escaped, so it is shortened until the whole fits.
    let mut kept = TOOL_RESULT_CHARACTERS;
    loop {
        kept = kept * 9 / 10;
        let cut: String = text.chars().take(kept).collect();
        let shown = json!({"truncated": true, "text": cut}).to_string();
        if shown.chars().count() <= TOOL_RESULT_CHARACTERS || kept == 0 {
            return shown;
        }
    }
}
