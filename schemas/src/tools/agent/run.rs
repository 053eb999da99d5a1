//! How an agent's answer came about: the `run` object, the provider names and the error object of a model service.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{ErrorKind, ErrorObject};

/// A model service, in the spelling of arguments and variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderName {
    /// The Anthropic messages API.
    Anthropic,
    /// The OpenAI chat completions API.
    OpenAi,
    /// A local or remote ollama server.
    Ollama,
    /// Any server that speaks the OpenAI wire form.
    Private,
    /// The opencode program as a child process.
    OpenCode,
}

impl ProviderName {
    /// Every provider, in the order they are listed to people.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAi, Self::Ollama, Self::Private, Self::OpenCode];

    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Private => "private",
            Self::OpenCode => "opencode",
        }
    }

    /// Reads a name as callers write it: any case, and `claude-code` for opencode.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text == "claude-code" {
            return Some(Self::OpenCode);
        }
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }

    /// What to check when the credential is missing, for the one line a person sees.
    pub fn credential_hint(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Ollama => "PERFXPERT_LLM_LOCAL_URL",
            Self::Private => "PERFXPERT_LLM_PRIVATE_URL and PERFXPERT_LLM_PRIVATE_API_KEY",
            Self::OpenCode => "the opencode program on PATH",
        }
    }
}

impl std::fmt::Display for ProviderName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a model service failed; `sub_kind` of an error object of kind `provider`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderSubKind {
    /// The credential is missing or refused.
    Auth,
    /// Too many requests for now.
    RateLimit,
    /// No money or allowance left.
    Quota,
    /// Overload, a server fault or a broken connection.
    Transient,
    /// No whole answer within the attempt limit.
    Timeout,
    /// A failure that asking again cannot cure.
    Fatal,
    /// opencode asked for inside its own session.
    Recursion,
    /// A name that is no provider.
    UnknownProvider,
    /// Every candidate of the chain failed.
    ChainExhausted,
}

impl ProviderSubKind {
    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Transient => "transient",
            Self::Timeout => "timeout",
            Self::Fatal => "fatal",
            Self::Recursion => "recursion",
            Self::UnknownProvider => "unknown_provider",
            Self::ChainExhausted => "chain_exhausted",
        }
    }
}

/// An error object of kind `provider` with its `sub_kind`; further fields are added with [`ErrorObject::with`].
pub fn provider_error(
    sub_kind: ProviderSubKind,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> ErrorObject {
    ErrorObject::new(ErrorKind::Provider, message, hint).with("sub_kind", sub_kind.as_str())
}

/// Whose words the answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// No model was asked for.
    Deterministic,
    /// At least one sentence, title or proposal of a model is in the answer.
    Model,
    /// A model was asked for and none of its text is in the answer.
    Fallback,
}

/// How one candidate of the provider chain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// A usable answer.
    Ok,
    /// Credential refused.
    Auth,
    /// Too many requests.
    RateLimit,
    /// No allowance left.
    Quota,
    /// Overload, server fault, broken connection.
    Transient,
    /// No whole answer in time.
    Timeout,
    /// A failure that asking again cannot cure.
    Fatal,
    /// The model declined to answer.
    Refused,
    /// No answer of the agreed form, after repairs.
    Malformed,
    /// Not tried: no credential, or inside its own session.
    Skipped,
}

impl AttemptOutcome {
    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Auth => "auth",
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Transient => "transient",
            Self::Timeout => "timeout",
            Self::Fatal => "fatal",
            Self::Refused => "refused",
            Self::Malformed => "malformed",
            Self::Skipped => "skipped",
        }
    }
}

/// One candidate of the chain and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// The model service.
    pub provider: ProviderName,
    /// The model asked for; null when the service chose.
    pub model: Option<String>,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Last HTTP status seen.
    pub status: Option<u16>,
    /// Requests repeated after a failure.
    pub retries: u32,
    /// Seconds the service asked to wait, when it said so.
    pub retry_after_s: Option<u64>,
    /// First line of the service's message, scrubbed, at most 240 characters; empty when it went well.
    pub message: String,
}

/// A tool call the model asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// Dotted tool name, or what the model wrote when it is no tool.
    pub tool: String,
    /// Whether it gave an answer.
    pub ok: bool,
}

/// Tokens of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenUse {
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// True when a reply had no count and characters were used instead.
    pub estimated: bool,
}

/// What became of the model's statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimCount {
    /// Claims, titles and notes sent.
    pub made: u32,
    /// Those used.
    pub kept: u32,
    /// Those dropped.
    pub dropped: u32,
    /// Dropped ones by reason.
    pub reasons: BTreeMap<String, u32>,
}

/// The composed prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptRef {
    /// Name of the prompt.
    pub id: String,
    /// SHA-256 of the composed text, lower-case hex.
    pub sha256: String,
}

/// A run warning with its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// Stable code, such as `model_text_trimmed`.
    pub code: String,
    /// One sentence.
    pub message: String,
}

/// The turn budget of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionUse {
    /// The caller's id.
    pub id: String,
    /// Model turns used so far.
    pub turns_used: u32,
    /// Model turns left.
    pub turns_left: u32,
}

/// How the answer came about. Keys that do not apply are absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRun {
    /// Dotted name of the agent.
    pub agent: String,
    /// Whose words the answer holds.
    pub mode: RunMode,
    /// Effective air-gap.
    pub airgap: bool,
    /// The provider the caller asked for.
    pub requested_provider: Option<ProviderName>,
    /// The provider whose text was used.
    pub provider: Option<ProviderName>,
    /// The model whose text was used.
    pub model: Option<String>,
    /// Which setting named that model.
    pub model_source: Option<String>,
    /// One entry per candidate of the chain, in order.
    pub attempts: Vec<Attempt>,
    /// Model calls of this run.
    pub turns: u32,
    /// Tool calls the model asked for, at most 50.
    pub tool_calls: Vec<ToolUse>,
    /// Tokens; absent without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUse>,
    /// Statements; absent when the model sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<ClaimCount>,
    /// The composed prompt; absent without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptRef>,
    /// The failure behind a fallback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub error: Option<ErrorObject>,
    /// Machine-readable twin of the run's warnings.
    pub notices: Vec<Notice>,
    /// Only when the caller gave a session id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionUse>,
    /// The redacted first request; only when the caller asked to see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Value>,
    /// The narrative computed without the model; only in mode model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deterministic_narrative: Option<String>,
}

impl AgentRun {
    /// The run of an answer no model was asked for.
    pub fn deterministic(agent: &str, airgap: bool) -> Self {
        Self {
            agent: agent.to_owned(),
            mode: RunMode::Deterministic,
            airgap,
            requested_provider: None,
            provider: None,
            model: None,
            model_source: None,
            attempts: Vec::new(),
            turns: 0,
            tool_calls: Vec::new(),
            tokens: None,
            claims: None,
            prompt: None,
            error: None,
            notices: Vec::new(),
            session: None,
            preview: None,
            deterministic_narrative: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deterministic_run_has_the_documented_keys_and_no_others() {
        let run = serde_json::to_string(&AgentRun::deterministic("agent.analysis", false)).unwrap();
        assert_eq!(
            run,
            r#"{"agent":"agent.analysis","mode":"deterministic","airgap":false,"requested_provider":null,"provider":null,"model":null,"model_source":null,"attempts":[],"turns":0,"tool_calls":[],"notices":[]}"#
        );
    }

    #[test]
    fn provider_names_read_as_callers_write_them() {
        assert_eq!(ProviderName::parse("claude-code"), Some(ProviderName::OpenCode));
        assert_eq!(ProviderName::parse(" OpenAI "), Some(ProviderName::OpenAi));
        assert_eq!(ProviderName::parse("gemini"), None);
        for name in ProviderName::ALL {
            assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
        }
    }

    #[test]
    fn a_provider_error_names_its_sub_kind_behind_kind_message_and_hint() {
        let error = provider_error(ProviderSubKind::RateLimit, "m", "h").with("provider", "openai");
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"kind":"provider","message":"m","hint":"h","sub_kind":"rate_limit","provider":"openai"}"#
        );
    }
}
