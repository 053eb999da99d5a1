//! One logical model call: asks again where that may help, and reshapes the request where the service demands it.

use std::collections::HashSet;
use std::time::Duration;

use crate::adapt::{Complaint, Learned, MOST_PER_TURN, WireShape};
use crate::clock::Clock;
use crate::error::{FailureKind, FatalCode, ProviderError};
use crate::message::ChatReply;
use crate::provider::Provider;
use crate::redact::Outbound;
use crate::toolbox::CallCx;

/// Requests repeated within one turn.
const RETRIES: u32 = 2;
/// Longest wait that is honoured.
const LONGEST_STATED: Duration = Duration::from_secs(60);
/// First wait of our own; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Longest wait of our own.
const LONGEST_OWN: Duration = Duration::from_secs(8);
/// Least share of our own wait that is really waited; the rest is spread.
const LEAST_SHARE: f64 = 0.75;

/// What a turn used beside its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) retries: u32,
}

/// What a turn needs to know.
pub(crate) struct Turn<'a> {
    pub(crate) provider: &'a dyn Provider,
    pub(crate) learned: &'a Learned,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) retry_rate_limits: bool,
    pub(crate) cx: &'a CallCx,
}

impl Turn<'_> {
    /// The wire form known for this model.
    pub(crate) fn shape(&self, model: Option<&str>) -> WireShape {
        self.learned.shape(self.provider.endpoint(), model, self.provider.initial_shape(model))
    }

    /// Asks until there is a reply or a failure that stands.
    pub(crate) async fn ask(&self, ask: &Outbound, effort: &mut Effort) -> Result<ChatReply, ProviderError> {
        let model = ask.request().model.as_deref();
        let mut shape = self.shape(model);
        let mut adapted: HashSet<Complaint> = HashSet::new();
        let mut thinking_steps = 0;
        let mut retries = 0;
        loop {
            let failure = match self.provider.complete(ask, &shape, self.cx).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            if let Some(complaint) = failure.complaint {
                // Thinking and tool choice have two steps each; everything else changes once.
                let two_steps = matches!(complaint, Complaint::Thinking | Complaint::ToolChoice);
                let again = two_steps && thinking_steps < 2;
                if adapted.len() < MOST_PER_TURN
                    && (adapted.insert(complaint) || again)
                    && let Some(next) = shape.without(complaint)
                {
                    thinking_steps += u32::from(two_steps);
                    shape = next;
                    self.learned.remember(self.provider.endpoint(), model, shape);
                    tracing::debug!(provider = self.provider.name().as_str(), ?complaint, "request reshaped");
                    continue;
                }
            }
            match self.wait_before(&failure, retries) {
                Some(wait) => {
                    retries += 1;
                    effort.retries += 1;
                    self.clock.sleep(wait).await;
                }
                None => return Err(failure),
            }
        }
    }

    /// How long to wait before asking again; `None` when the failure stands.
    fn wait_before(&self, failure: &ProviderError, done: u32) -> Option<Duration> {
        if done >= RETRIES {
            return None;
        }
        let listed = match failure.kind {
            FailureKind::RateLimit => self.retry_rate_limits,
            FailureKind::Transient(_) => true,
            FailureKind::Fatal(FatalCode::Http(_)) | FailureKind::Auth | FailureKind::Quota => false,
            FailureKind::Timeout { .. } | FailureKind::Fatal(_) => false,
        };
        // The service's word counts for statuses, never for a credential, an allowance or a refused setting.
        let overruled = matches!(failure.kind, FailureKind::Fatal(FatalCode::Http(_)));
        let again = match failure.should_retry {
            Some(false) => false,
            Some(true) => listed || overruled,
            None => listed,
        };
        if !again {
            return None;
        }
        let wait = match failure.retry_after {
            Some(stated) if stated > LONGEST_STATED => return None,
            Some(stated) => stated,
            None => self.own_wait(done),
        };
        (self.clock.now() + wait < self.cx.deadline).then_some(wait)
    }

    fn own_wait(&self, done: u32) -> Duration {
        let doubled = FIRST_WAIT.saturating_mul(1u32.checked_shl(done).unwrap_or(u32::MAX)).min(LONGEST_OWN);
        doubled.mul_f64(LEAST_SHARE + (1.0 - LEAST_SHARE) * self.clock.jitter().clamp(0.0, 1.0))
    }
}
