//! Candidates one after the other: who is asked, who is passed over, and what their failures add up to.

use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::run::{
    Attempt, AttemptOutcome, Notice, ProviderName, TokenUse, ToolUse,
};

use crate::converse::{Conversation, Halt};
use crate::error::{ProviderError, chain_exhausted, whole_seconds};
use crate::preflight::Candidate;
use crate::reply::Reply;
use crate::run::Progress;

/// What a run collects on its way; it outlives the conversation when that is cut short.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) turns: u32,
    pub(crate) tool_calls: Vec<ToolUse>,
    pub(crate) tokens: TokenUse,
    pub(crate) notices: Vec<Notice>,
    failed: Vec<ProviderError>,
    tried: Vec<ProviderName>,
}

impl Trail {
    /// A trail that begins with what the preflight noted.
    pub(crate) fn starting_with(notices: Vec<Notice>) -> Self {
        Self { notices, ..Self::default() }
    }

    pub(crate) fn note(&mut self, code: &str, message: impl Into<String>) {
        let notice = Notice { code: code.to_owned(), message: message.into() };
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }
}

/// How the model part ended.
pub(crate) enum End {
    Answer(Answer),
    Failed(Box<ErrorObject>),
    /// Malformed, refused, or out of budget: said, and never an error.
    Stopped,
}

pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) provider: ProviderName,
    pub(crate) model: Option<String>,
    pub(crate) model_source: String,
}

/// Candidates in order until one answers, one fails for good, or all are used up.
pub(crate) async fn ask_chain(
    candidates: &[Candidate],
    conversation: &Conversation<'_>,
    progress: Option<&dyn Progress>,
    trail: &mut Trail,
) -> End {
    for candidate in candidates {
        let provider = match &candidate.provider {
            Ok(provider) => provider,
            Err(why) => {
                trail.attempts.push(attempt(candidate, AttemptOutcome::Skipped, why));
                continue;
            }
        };
        if let (Some(progress), Some(failed)) = (progress, trail.failed.last()) {
            let kind = failed.kind.outcome().as_str();
            progress.say(&format!("provider {} failed ({kind}), trying {}", failed.provider, candidate.name));
        }
        for notice in provider.notices() {
            trail.note(&notice.code, notice.message);
        }
        if conversation.request.thinking_tokens.is_some() && candidate.name != ProviderName::Anthropic {
            trail.note("thinking_ignored", format!("`thinking_tokens` has no effect on {}.", candidate.name));
        }
        trail.tried.push(candidate.name);
        let place = trail.attempts.len();
        trail.attempts.push(attempt(candidate, AttemptOutcome::Timeout, "cut off by the run's own limit"));
        let ended = conversation.hold(candidate, provider.as_ref(), trail, place).await;
        let set = |trail: &mut Trail, outcome: AttemptOutcome, message: &str| {
            if let Some(attempt) = trail.attempts.get_mut(place) {
                attempt.outcome = outcome;
                attempt.message = message.to_owned();
            }
        };
        match ended {
            Ok((reply, model)) => {
                set(trail, AttemptOutcome::Ok, "");
                note_hops(trail, true);
                let model = model.or_else(|| candidate.model.clone());
                if let Some(attempt) = trail.attempts.get_mut(place) {
                    attempt.model = attempt.model.take().or_else(|| model.clone());
                }
                let model = candidate.model.clone().or(model);
                let model_source = candidate.model_source.clone();
                return End::Answer(Answer { reply, provider: candidate.name, model, model_source });
            }
            Err(Halt::Provider(failure)) => {
                set(trail, failure.kind.outcome(), &failure.message);
                if let Some(attempt) = trail.attempts.get_mut(place) {
                    attempt.status = failure.status;
                    attempt.retry_after_s = failure.retry_after.map(whole_seconds);
                    attempt.model = attempt.model.take().or_else(|| failure.model.clone());
                }
                let stands = !failure.kind.cascades();
                trail.failed.push(*failure);
                if stands {
                    break;
                }
            }
            Err(Halt::Stopped { outcome, code, message }) => {
                set(trail, outcome, &message);
                note_hops(trail, false);
                trail.note(code, message);
                return End::Stopped;
            }
        }
    }
    note_hops(trail, false);
    let Some(last) = trail.failed.last() else {
        // Every candidate was passed over; preflight lets the first one through, so this is a chain of fallbacks only.
        trail.note("no_provider", "No provider of the chain could be asked; the computed text stands.");
        return End::Stopped;
    };
    let error = if trail.tried.len() > 1 && last.kind.cascades() {
        chain_exhausted(&trail.tried, last)
    } else {
        last.to_error_object()
    };
    End::Failed(Box::new(error))
}

fn attempt(candidate: &Candidate, outcome: AttemptOutcome, message: &str) -> Attempt {
    Attempt {
        provider: candidate.name,
        model: candidate.model.clone(),
        outcome,
        status: None,
        retries: 0,
        retry_after_s: None,
        message: message.to_owned(),
    }
}

/// One sentence per failure that another candidate followed.
fn note_hops(trail: &mut Trail, last_used: bool) {
    let lines: Vec<String> = trail
        .failed
        .iter()
        .enumerate()
        .filter_map(|(i, failed)| {
            let next = trail.tried.get(i + 1)?;
            let used = last_used && i + 2 == trail.tried.len();
            let kind = failed.kind.outcome().as_str();
            let status = failed.status.map(|status| format!(", HTTP {status}")).unwrap_or_default();
            let verb = if used { "used" } else { "tried" };
            Some(format!("Provider {} failed ({kind}{status}); {verb} {next}.", failed.provider))
        })
        .collect();
    for line in lines {
        trail.note("provider_hop", line);
    }
}
