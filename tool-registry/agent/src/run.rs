//! One agent run: whom to ask, what they said, and what of it is used.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use perfxpert_schemas::tools::agent::run::{AgentRun, Notice, PromptRef, RunMode, SessionUse};
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::adapt::Learned;
use crate::assemble::{narrative, note_dropped_proposals, titles};
use crate::budget::TOOL_CALLS_LISTED;
use crate::chain::{Answer, End, Trail, ask_chain};
use crate::claims::{ClaimGate, Tally, dropped_notice};
use crate::clock::{Clock, SystemClock};
use crate::converse::Conversation;
use crate::error::{whole_seconds, with_attempts};
use crate::pack::{EvidencePack, Lexicon};
use crate::preflight::{ModelChoice, Plan, plan};
use crate::prompt::{ComposedPrompt, PromptFiles};
use crate::proposals::{Judge, Proposal, ProposalProvenance};
use crate::redact::{PathRoot, Redactor, Scrubber};
use crate::session::{Session, Sessions};
use crate::settings::Settings;
use crate::toolbox::{AgentSpec, Toolbox};

/// Whether model-written proposals may be listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Creativity {
    /// Words only.
    #[default]
    Strict,
    /// Words, and labelled proposals where the agent allows them.
    Exploratory,
}

impl Creativity {
    /// Reads the word of an option, variable or configuration.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "strict" => Some(Self::Strict),
            "exploratory" => Some(Self::Exploratory),
            _ => None,
        }
    }
}

/// What happens when the model side fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The deterministic answer, with the failure said.
    #[default]
    Fallback,
    /// An error.
    Error,
}

/// Receives the phases of a run.
pub trait Progress: Send + Sync {
    /// A new phase, such as `entering root`.
    fn say(&self, message: &str);
}

/// One run of one agent, its deterministic answer already computed.
pub struct RunRequest<'a> {
    /// The agent.
    pub agent: &'a AgentSpec,
    /// Its prompt files.
    pub prompts: PromptFiles<'a>,
    /// What the model gets to see.
    pub pack: &'a EvidencePack,
    /// Words beyond the pack that it may use.
    pub lexicon: &'a Lexicon,
    /// Paths the caller named, with their tokens.
    pub roots: &'a [PathRoot],
    /// The narrative computed without a model.
    pub narrative: &'a str,
    /// Evidence id of the verdict; when no kept claim cites it, the first computed sentence goes in front.
    pub lead_id: Option<&'a str>,
    /// Whether titles and notes of the model are used.
    pub titles: bool,
    /// The word proposals are listed under (compute, memory, latency, diff); `None` when this agent carries none.
    pub lane: Option<&'a str>,
    /// Groups calls under one budget.
    pub session_id: Option<&'a str>,
    /// The caller's wish; the setting counts when absent.
    pub creativity: Option<Creativity>,
    /// Tokens for hidden thinking (anthropic only).
    pub thinking_tokens: Option<u32>,
    /// Output tokens per turn; the setting counts when absent.
    pub max_output_tokens: Option<u32>,
    /// What happens when the model side fails.
    pub on_failure: OnFailure,
    /// Show the first request instead of sending it.
    pub preview: bool,
    /// Fingerprint of the trace, for the origin of proposals.
    pub trace_fingerprint: Option<String>,
    /// SHA-256 of the catalogue of facts, likewise.
    pub catalog_sha256: Option<String>,
}

/// What surrounds a run.
pub struct RunCx<'a> {
    /// Cancelled when the caller gave up.
    pub cancel: CancellationToken,
    /// Where phases go; its presence also means that the caller waits longer.
    pub progress: Option<&'a dyn Progress>,
}

/// New words for one listed entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedTitle {
    /// Replaces the computed title.
    pub title: Option<String>,
    /// Becomes the entry's note.
    pub note: Option<String>,
}

/// What of the model's words is used, and how the run went.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The run object of the answer.
    pub run: AgentRun,
    /// The narrative to show; `None` keeps the computed one.
    pub narrative: Option<String>,
    /// Titles and notes by the entry's key.
    pub titles: BTreeMap<String, AcceptedTitle>,
    /// Accepted proposals; `None` unless they were allowed.
    pub proposals: Option<Vec<Proposal>>,
    /// Warnings the run adds, last in the answer.
    pub warnings: Vec<String>,
}

/// Everything that outlives a run: settings, sessions and what was learned about services.
pub struct Runtime {
    pub(crate) settings: Settings,
    pub(crate) learned: Learned,
    pub(crate) clock: Arc<dyn Clock>,
    sessions: Sessions,
    scrubber: Arc<Scrubber>,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Runtime")
    }
}

/// Says `exit` whatever happens to the run.
struct Phase<'a> {
    progress: Option<&'a dyn Progress>,
    agent: &'a str,
}

impl<'a> Phase<'a> {
    fn enter(progress: Option<&'a dyn Progress>, agent: &'a str) -> Self {
        if let Some(progress) = progress {
            progress.say(&format!("entering {agent}"));
        }
        Self { progress, agent }
    }
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        if let Some(progress) = self.progress {
            progress.say(&format!("exit {}", self.agent));
        }
    }
}

impl Runtime {
    /// A runtime with the machine's clock.
    pub fn new(settings: Settings) -> Self {
        Self::with_clock(settings, Arc::new(SystemClock))
    }

    /// A runtime with a given clock.
    pub fn with_clock(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let scrubber = Arc::new(Scrubber::new(&settings.secrets));
        Self { settings, learned: Learned::default(), clock, sessions: Sessions::default(), scrubber }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whom to ask. Touches no file but a named CA bundle and no socket.
    ///
    /// # Errors
    /// An error object of kind `provider`: unknown name, recursion, missing credential, unusable setting.
    pub fn preflight(&self, choice: &ModelChoice) -> Result<Plan, ErrorObject> {
        plan(&self.settings, choice, &self.scrubber, &self.clock)
    }

    /// The redaction of one run.
    pub fn redactor(&self, roots: &[PathRoot]) -> Redactor {
        Redactor::new(Arc::clone(&self.scrubber), roots, &self.settings.identity)
    }

    /// Asks the planned services for words and judges them. Without candidates it is a deterministic run.
    ///
    /// # Errors
    /// Kind `cancelled` when the caller gave up; kind `provider` when the model side failed and the caller asked for
    /// an error in that case.
    pub async fn run(
        &self,
        plan: &Plan,
        request: &RunRequest<'_>,
        toolbox: &dyn Toolbox,
        cx: &RunCx<'_>,
    ) -> Result<RunOutcome, ErrorObject> {
        let redactor = self.redactor(request.roots);
        self.run_redacted(plan, request, toolbox, cx, &redactor).await
    }

    pub(crate) async fn run_redacted(
        &self,
        plan: &Plan,
        request: &RunRequest<'_>,
        toolbox: &dyn Toolbox,
        cx: &RunCx<'_>,
        redactor: &Redactor,
    ) -> Result<RunOutcome, ErrorObject> {
        let mut run = AgentRun::deterministic(request.agent.name, plan.airgap);
        run.requested_provider = plan.requested;
        let session = self.sessions.open(request.session_id, self.clock.now());
        if !plan.uses_model() {
            run.notices.clone_from(&plan.notices);
            run.session = self.session_use(request, &session);
            return Ok(outcome(run));
        }
        let lane = request.lane.filter(|_| {
            request.creativity.unwrap_or(self.settings.creativity) == Creativity::Exploratory && !plan.airgap
        });
        let prompt = ComposedPrompt::compose(
            request.agent.prompt,
            request.prompts,
            lane.is_some(),
            self.settings.fence_profile,
        );
        run.prompt = Some(PromptRef { id: prompt.id.clone(), sha256: prompt.sha256.clone() });
        let mut trail = Trail::starting_with(plan.notices.clone());
        let deadline = self.clock.now() + self.settings.budgets.model_time(cx.progress.is_some());
        let conversation = Conversation {
            runtime: self,
            request,
            redactor,
            toolbox,
            session: &session,
            prompt: &prompt,
            lane_on: lane.is_some(),
            cancel: cx.cancel.clone(),
            deadline,
        };
        if request.preview {
            run.mode = RunMode::Fallback;
            run.preview = plan.candidates.iter().find_map(|candidate| conversation.preview(candidate));
            run.notices = trail.notices;
            run.session = self.session_use(request, &session);
            return Ok(outcome(run));
        }
        let end = self.ask_within_limits(plan, &conversation, cx, deadline, &mut trail).await?;
        let tally = match end {
            End::Answer(answer) => {
                Some(self.judge(request, redactor, &prompt, lane, answer, &mut run, &mut trail))
            }
            End::Failed(error) => {
                if request.on_failure == OnFailure::Error {
                    return Err(with_attempts(*error, &trail.attempts));
                }
                // The failure is the first thing the run says; what led to it follows.
                let failed = Notice { code: "provider_failed".to_owned(), message: error.message.clone() };
                trail.notices.insert(0, failed);
                run.error = Some(*error);
                None
            }
            End::Stopped => None,
        };
        let (narrative, titles, proposals) = match tally {
            Some(used) => used,
            None => {
                run.mode = RunMode::Fallback;
                (None, BTreeMap::new(), None)
            }
        };
        run.attempts = trail.attempts;
        run.turns = trail.turns;
        run.tool_calls = trail.tool_calls;
        run.tool_calls.truncate(TOOL_CALLS_LISTED);
        run.tokens = Some(trail.tokens);
        run.notices = trail.notices;
        run.session = self.session_use(request, &session);
        let lane_result = lane.map(|_| proposals.unwrap_or_default());
        Ok(RunOutcome { narrative, titles, proposals: lane_result, ..outcome(run) })
    }

    /// The chain within the time limit and the caller's patience.
    async fn ask_within_limits(
        &self,
        plan: &Plan,
        conversation: &Conversation<'_>,
        cx: &RunCx<'_>,
        deadline: Instant,
        trail: &mut Trail,
    ) -> Result<End, ErrorObject> {
        let _phase = Phase::enter(cx.progress, conversation.request.agent.short_name());
        let left = deadline.saturating_duration_since(self.clock.now());
        let ended = {
            let chain = ask_chain(&plan.candidates, conversation, cx.progress, trail);
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Err(ErrorObject::new(
                    ErrorKind::Cancelled,
                    "The call was cancelled.",
                    "Call again to get the answer.",
                )),
                ended = tokio::time::timeout(left, chain) => ended,
            }
        };
        Ok(ended.unwrap_or_else(|_| {
            let seconds = whole_seconds(self.settings.budgets.model_time(cx.progress.is_some()));
            trail.note(
                "budget_time",
                format!("The model's time of {seconds} s was used up; the computed text stands."),
            );
            End::Stopped
        }))
    }

    fn session_use(&self, request: &RunRequest<'_>, session: &Session) -> Option<SessionUse> {
        let used = session.turns();
        request.session_id.map(|id| SessionUse {
            id: id.to_owned(),
            turns_used: used,
            turns_left: self.settings.budgets.turns_per_session.saturating_sub(used),
        })
    }

    /// Passes every statement through the gate and assembles what is kept.
    #[allow(clippy::too_many_arguments, reason = "one place brings together all that a judgement needs")]
    #[allow(clippy::type_complexity, reason = "three parts of one outcome, taken apart at once")]
    fn judge(
        &self,
        request: &RunRequest<'_>,
        redactor: &Redactor,
        prompt: &ComposedPrompt,
        lane: Option<&str>,
        answer: Answer,
        run: &mut AgentRun,
        trail: &mut Trail,
    ) -> (Option<String>, BTreeMap<String, AcceptedTitle>, Option<Vec<Proposal>>) {
        let gate = ClaimGate::new(request.pack, request.lexicon, redactor);
        let mut tally = Tally::default();
        let narrative = narrative(request, &gate, &answer.reply, &mut tally);
        let titles = titles(request, &gate, &answer.reply, &mut tally);
        let proposals = match lane {
            Some(specialist) => {
                let called: Vec<String> =
                    trail.tool_calls.iter().filter(|call| call.ok).map(|call| call.tool.clone()).collect();
                let provenance = ProposalProvenance {
                    provider: answer.provider,
                    model: answer.model.clone(),
                    trace_fingerprint: request.trace_fingerprint.clone(),
                    fence_sha256: prompt.sha256.clone(),
                    catalog_sha256: request.catalog_sha256.clone(),
                };
                let judge = Judge {
                    gate: &gate,
                    pack: request.pack,
                    lexicon: request.lexicon,
                    called: &called,
                    specialist,
                    provenance: &provenance,
                };
                let (kept, dropped) = judge.accept(&answer.reply.proposals);
                note_dropped_proposals(trail, &dropped);
                Some(kept)
            }
            None => {
                if !answer.reply.proposals.is_empty() {
                    trail.note("lane_off", "Proposals of the model were ignored; creativity is strict.");
                }
                None
            }
        };
        if !answer.reply.trimmed.is_empty() {
            let count = answer.reply.trimmed.len();
            trail.note(
                "reply_trimmed",
                format!("Model reply: {count} unknown keys or surplus items were left out."),
            );
        }
        let count = tally.finish();
        match dropped_notice(&count) {
            Some((code, message)) => trail.note(code, message),
            None if count.made == 0 => {
                trail.note("model_text_empty", "The model sent no statement; the computed text stands.");
            }
            None => {}
        }
        let used = narrative.is_some()
            || !titles.is_empty()
            || proposals.as_ref().is_some_and(|list| !list.is_empty());
        run.claims = Some(count);
        if used {
            run.mode = RunMode::Model;
            run.provider = Some(answer.provider);
            run.model = answer.model;
            run.model_source = Some(answer.model_source);
            run.deterministic_narrative = Some(request.narrative.to_owned());
        } else {
            run.mode = RunMode::Fallback;
        }
        (narrative, titles, proposals)
    }
}

/// An outcome that changes nothing but says what the run noted.
fn outcome(run: AgentRun) -> RunOutcome {
    let warnings = run.notices.iter().map(|notice| notice.message.clone()).collect();
    RunOutcome { run, narrative: None, titles: BTreeMap::new(), proposals: None, warnings }
}

#[cfg(test)]
mod tests;
