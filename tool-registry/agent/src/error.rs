//! How a model service failed, and the error object that says so.

use std::time::Duration;

use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::run::{
    Attempt, AttemptOutcome, ProviderName, ProviderSubKind, provider_error,
};

use crate::adapt::Complaint;

/// Longest message kept of a service, in characters.
const MESSAGE_LENGTH: usize = 240;

/// Failures that asking again may cure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransientKind {
    /// The service says it is overloaded.
    Overloaded,
    /// A server fault with this status.
    Http(u16),
    /// The host name was not found.
    Dns,
    /// Nothing accepted the connection.
    Connect,
    /// The connection broke before an answer.
    Reset,
    /// The connection closed inside the answer.
    Truncated,
    /// The answer lacks what it must have.
    BadBody,
}

impl std::fmt::Display for TransientKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Overloaded => f.write_str("overloaded"),
            Self::Http(status) => write!(f, "http_{status}"),
            Self::Dns => f.write_str("dns"),
            Self::Connect => f.write_str("connect"),
            Self::Reset => f.write_str("reset"),
            Self::Truncated => f.write_str("truncated"),
            Self::BadBody => f.write_str("bad_body"),
        }
    }
}

/// Failures that asking again cannot cure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FatalCode {
    /// The service is not offered in this region.
    Region,
    /// Prompt or token limit larger than the model allows.
    TooLarge,
    /// The model is unknown to the service.
    ModelNotFound,
    /// The address is unknown to the server.
    NotFound,
    /// The request was not understood.
    BadRequest,
    /// The server points elsewhere; that is never followed.
    Redirect,
    /// Any other status.
    Http(u16),
    /// The certificate is not accepted.
    Tls,
    /// The answer is no JSON.
    NotJson,
    /// opencode reported something else.
    Opencode,
    /// No model is pinned and the server does not offer exactly one.
    NoModel,
    /// A setting cannot be used.
    Setting,
}

impl FatalCode {
    /// The code in words of the wire.
    pub fn as_text(self) -> String {
        match self {
            Self::Region => "region".to_owned(),
            Self::TooLarge => "too_large".to_owned(),
            Self::ModelNotFound => "model_not_found".to_owned(),
            Self::NotFound => "not_found".to_owned(),
            Self::BadRequest => "bad_request".to_owned(),
            Self::Redirect => "redirect".to_owned(),
            Self::Http(status) => format!("http_{status}"),
            Self::Tls => "tls".to_owned(),
            Self::NotJson => "not_json".to_owned(),
            Self::Opencode => "opencode".to_owned(),
            Self::NoModel => "no_model".to_owned(),
            Self::Setting => "setting".to_owned(),
        }
    }
}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Credential missing or refused.
    Auth,
    /// Too many requests for now.
    RateLimit,
    /// No money or allowance left.
    Quota,
    /// Asking again may cure it.
    Transient(TransientKind),
    /// No whole answer within this many seconds.
    Timeout {
        /// The limit that was passed.
        seconds: u64,
    },
    /// Asking again cannot cure it.
    Fatal(FatalCode),
}

impl FailureKind {
    /// Whether the next candidate of a chain is tried.
    pub fn cascades(self) -> bool {
        matches!(self, Self::RateLimit | Self::Quota | Self::Transient(_) | Self::Timeout { .. })
    }

    /// Whether the same candidate is asked again.
    pub fn retried(self) -> bool {
        matches!(self, Self::RateLimit | Self::Transient(_))
    }

    /// The word in the run object.
    pub fn outcome(self) -> AttemptOutcome {
        match self {
            Self::Auth => AttemptOutcome::Auth,
            Self::RateLimit => AttemptOutcome::RateLimit,
            Self::Quota => AttemptOutcome::Quota,
            Self::Transient(_) => AttemptOutcome::Transient,
            Self::Timeout { .. } => AttemptOutcome::Timeout,
            Self::Fatal(_) => AttemptOutcome::Fatal,
        }
    }

    /// The word in the error object.
    pub fn sub_kind(self) -> ProviderSubKind {
        match self {
            Self::Auth => ProviderSubKind::Auth,
            Self::RateLimit => ProviderSubKind::RateLimit,
            Self::Quota => ProviderSubKind::Quota,
            Self::Transient(_) => ProviderSubKind::Transient,
            Self::Timeout { .. } => ProviderSubKind::Timeout,
            Self::Fatal(_) => ProviderSubKind::Fatal,
        }
    }
}

/// A failed attempt at a model service. Every text in it has been scrubbed.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderError {
    /// What kind of failure it was.
    pub kind: FailureKind,
    /// The service.
    pub provider: ProviderName,
    /// The model asked for.
    pub model: Option<String>,
    /// HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// The service's id of the request.
    pub request_id: Option<Box<str>>,
    /// First line of its message, at most 240 characters.
    pub message: String,
    /// What to do, when the failure itself tells.
    pub hint: Option<Box<str>>,
    /// The wait the service asked for.
    pub retry_after: Option<Duration>,
    /// The service's own word on whether to ask again.
    pub(crate) should_retry: Option<bool>,
    /// What it does not accept.
    pub(crate) complaint: Option<Complaint>,
}

impl ProviderError {
    /// A failure without an HTTP answer.
    pub fn new(
        kind: FailureKind,
        provider: ProviderName,
        model: Option<&str>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            provider,
            model: model.map(str::to_owned),
            status: None,
            request_id: None,
            message: first_line(&message.into()),
            hint: None,
            retry_after: None,
            should_retry: None,
            complaint: None,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into().into_boxed_str());
        self
    }

    /// The one sentence a person sees.
    pub fn sentence(&self) -> String {
        let provider = self.provider;
        match self.kind {
            FailureKind::Auth => auth_sentence(provider),
            FailureKind::RateLimit => format!(
                "LLM rate limit hit on {provider}. Retry in a minute, or set PERFXPERT_LLM_FALLBACK_CHAIN."
            ),
            FailureKind::Quota => format!(
                "LLM quota exhausted on {provider} ({}). Top up, use another --llm, or run without --llm. Provider \
                 said: {}",
                self.model.as_deref().unwrap_or("default model"),
                self.message
            ),
            FailureKind::Timeout { seconds } => format!(
                "LLM timed out on {provider} after {seconds} s. Retry, use another --llm, or run without --llm."
            ),
            FailureKind::Transient(kind) => {
                format!("LLM transient error on {provider} ({kind}). Retry, or run without --llm.")
            }
            FailureKind::Fatal(_) => format!("LLM request failed on {provider}: {}", self.message),
        }
    }

    /// The failure as an error object, without the attempts of the run.
    pub fn to_error_object(&self) -> ErrorObject {
        let hint = self.hint.as_deref().map(str::to_owned).unwrap_or_else(|| {
            match self.kind {
                FailureKind::Auth => "Set the key, or call without provider for the deterministic answer.",
                FailureKind::Quota => "Top up, or call without provider.",
                FailureKind::Fatal(_) => "Correct the setting, or call without provider.",
                FailureKind::RateLimit | FailureKind::Transient(_) | FailureKind::Timeout { .. } => {
                    "Retry later, or call without provider."
                }
            }
            .to_owned()
        });
        let mut object = provider_error(self.kind.sub_kind(), self.sentence(), hint)
            .with("provider", self.provider.as_str())
            .with("model", self.model.clone());
        if let Some(wait) = self.retry_after {
            object = object.with("retry_after_s", whole_seconds(wait));
        }
        object
    }
}

impl std::fmt::Display for ProviderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence())
    }
}

impl std::error::Error for ProviderError {}

/// The promised sentence about a missing or refused credential.
pub(crate) fn auth_sentence(provider: ProviderName) -> String {
    format!("LLM auth failed for {provider}. Check {} is set correctly.", provider.credential_hint())
}

/// Every candidate failed: the last failure, with the names of those really tried.
pub(crate) fn chain_exhausted(tried: &[ProviderName], last: &ProviderError) -> ErrorObject {
    let names: Vec<&str> = tried.iter().map(|name| name.as_str()).collect();
    let said = if last.message.is_empty() { last.sentence() } else { last.message.clone() };
    let mut object = provider_error(
        ProviderSubKind::ChainExhausted,
        format!("LLM providers exhausted: {}. Last error: {said}", names.join(" -> ")),
        "Retry later, or call without provider.",
    )
    .with("provider", last.provider.as_str())
    .with("model", last.model.clone());
    if let Some(wait) = last.retry_after {
        object = object.with("retry_after_s", whole_seconds(wait));
    }
    object
}

/// Adds what became of every candidate.
pub(crate) fn with_attempts(object: ErrorObject, attempts: &[Attempt]) -> ErrorObject {
    object.with("attempts", serde_json::to_value(attempts).unwrap_or_default())
}

/// Seconds, rounded up, as the wire shows a wait.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}

/// First non-empty line, at most 240 characters, without control characters.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(MESSAGE_LENGTH).collect()
}
