//! Sends a request in one of three dialects and judges the answer.

use std::sync::Arc;
use std::time::Instant;

use perfxpert_schemas::tools::agent::run::{Notice, ProviderName};
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{anthropic, ollama, openai};
use crate::adapt::{TokenKey, WireShape};
use crate::classify::{Answer, Asked, classify, holds_error, read_retry_after};
use crate::clock::Clock;
use crate::error::{FailureKind, FatalCode, ProviderError, TransientKind};
use crate::http::{Http, NoAnswer, RawAnswer};
use crate::message::{ChatReply, ChatRequest, Part};
use crate::provider::{BoxFuture, Provider};
use crate::redact::{Outbound, Scrubber};
use crate::settings::LlmFacts;
use crate::toolbox::CallCx;

/// The wire form of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Anthropic,
    OpenAi,
    Ollama,
}

impl Dialect {
    fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "v1/messages",
            Self::OpenAi => "chat/completions",
            Self::Ollama => "api/chat",
        }
    }

    fn encode(self, ask: &ChatRequest, shape: &WireShape) -> Value {
        match self {
            Self::Anthropic => anthropic::encode(ask, shape),
            Self::OpenAi => openai::encode(ask, shape),
            Self::Ollama => ollama::encode(ask, shape),
        }
    }

    fn decode(self, body: &Value) -> Option<ChatReply> {
        match self {
            Self::Anthropic => anthropic::decode(body),
            Self::OpenAi => openai::decode(body),
            Self::Ollama => ollama::decode(body),
        }
    }

    fn request_id_header(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::OpenAi | Self::Ollama => "x-request-id",
        }
    }
}

/// What a provider is made of.
pub(crate) struct HttpProviderSettings {
    pub(crate) name: ProviderName,
    pub(crate) dialect: Dialect,
    /// Base address without a trailing slash.
    pub(crate) base: String,
    /// Credential and extra headers, marked sensitive.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) http: Http,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) facts: LlmFacts,
    pub(crate) model_source: String,
    pub(crate) notices: Vec<Notice>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A service behind an HTTP address.
pub(crate) struct HttpProvider {
    settings: HttpProviderSettings,
    offered: OnceCell<String>,
}

impl HttpProvider {
    pub(crate) fn new(settings: HttpProviderSettings) -> Self {
        Self { settings, offered: OnceCell::new() }
    }

    fn url(&self, path: &str, model: Option<&str>) -> Result<Url, ProviderError> {
        Url::parse(&format!("{}/{path}", self.settings.base)).map_err(|_| {
            self.failure(FailureKind::Fatal(FatalCode::Setting), model, "the base URL cannot be used")
        })
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json.clone());
        headers.insert(ACCEPT, json);
        if self.settings.dialect == Dialect::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        for (name, value) in &self.settings.headers {
            headers.insert(name.clone(), value.clone());
        }
        headers
    }

    fn failure(&self, kind: FailureKind, model: Option<&str>, message: &str) -> ProviderError {
        ProviderError::new(kind, self.settings.name, model, message)
    }

    fn no_answer(&self, failure: NoAnswer, model: Option<&str>) -> ProviderError {
        let mut error = self.failure(failure.kind, model, &failure.message);
        error.status = failure.status;
        match failure.kind {
            FailureKind::Fatal(FatalCode::Tls) => {
                error.hint("Name the server's CA in PERFXPERT_LLM_CA_BUNDLE.")
            }
            FailureKind::Fatal(FatalCode::NotJson) => error.hint("The URL is probably not an API."),
            FailureKind::Fatal(FatalCode::TooLarge) => error.hint("Ask for fewer kernels."),
            _ => error,
        }
    }

    /// The JSON of a good answer, or what the answer means.
    fn judge(&self, raw: &RawAnswer, model: Option<&str>) -> Result<Value, ProviderError> {
        let settings = &self.settings;
        let asked = Asked {
            provider: settings.name,
            model,
            model_source: &settings.model_source,
            quota_messages: &settings.facts.quota_messages,
        };
        let text = String::from_utf8_lossy(&raw.body);
        let header = |name: &str| raw.headers.get(name).and_then(|value| value.to_str().ok());
        let answer = |body: String| Answer {
            status: raw.status,
            body,
            request_id: header(settings.dialect.request_id_header()).map(|id| settings.scrubber.scrub(id)),
            retry_after: read_retry_after(
                header("retry-after-ms"),
                header("retry-after"),
                settings.clock.wall(),
            ),
            should_retry: header("x-should-retry").and_then(|text| text.trim().parse().ok()),
        };
        if !(200..300).contains(&raw.status) {
            return Err(classify(&answer(settings.scrubber.scrub_json_text(&text)), &asked));
        }
        let value: Value = match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(error) => {
                let mut failure = if error.is_eof() {
                    let kind = FailureKind::Transient(TransientKind::BadBody);
                    self.failure(kind, model, "the answer was cut off")
                } else {
                    let kind = FailureKind::Fatal(FatalCode::NotJson);
                    self.failure(kind, model, "the answer is not JSON")
                        .hint("The URL is probably not an API.")
                };
                failure.status = Some(raw.status);
                return Err(failure);
            }
        };
        if holds_error(&value) {
            return Err(classify(&answer(settings.scrubber.scrub_json_text(&text)), &asked));
        }
        Ok(value)
    }

    /// The model to name: the pinned one, else the only one the server offers.
    async fn model(&self, pinned: Option<&str>) -> Result<Option<String>, ProviderError> {
        if pinned.is_some() || self.settings.name != ProviderName::Private {
            return Ok(pinned.map(str::to_owned));
        }
        self.offered.get_or_try_init(|| self.only_model()).await.cloned().map(Some)
    }

    async fn only_model(&self) -> Result<String, ProviderError> {
        /// Models listed when the choice is not clear.
        const LISTED: usize = 10;
        let url = self.url("models", None)?;
        let raw = self.settings.http.send(&url, self.headers(), None).await;
        let value = self.judge(&raw.map_err(|failure| self.no_answer(failure, None))?, None)?;
        let entries = value.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ids: Vec<String> = entries
            .iter()
            .filter_map(|entry| entry.get("id").and_then(Value::as_str))
            .map(|id| self.settings.scrubber.scrub(id))
            .collect();
        match ids.as_slice() {
            [only] => Ok(only.clone()),
            ids => {
                let shown: Vec<&str> = ids.iter().take(LISTED).map(String::as_str).collect();
                let message = if shown.is_empty() {
                    "the server offers no model".to_owned()
                } else {
                    format!("the server offers {} models: {}", ids.len(), shown.join(", "))
                };
                let kind = FailureKind::Fatal(FatalCode::NoModel);
                Err(self.failure(kind, None, &message).hint("Set PERFXPERT_LLM_PRIVATE_MODEL."))
            }
        }
    }

    async fn ask(&self, ask: &Outbound, shape: &WireShape) -> Result<ChatReply, ProviderError> {
        let settings = &self.settings;
        let mut request = shape.apply(ask.request());
        request.model = self.model(request.model.as_deref()).await?;
        let model = request.model.clone();
        let body = settings.dialect.encode(&request, shape);
        let url = self.url(settings.dialect.path(), model.as_deref())?;
        let started = Instant::now();
        let raw = settings.http.send(&url, self.headers(), Some(&body)).await;
        let raw = raw.map_err(|failure| self.no_answer(failure, model.as_deref()))?;
        tracing::debug!(
            provider = settings.name.as_str(),
            model = model.as_deref().unwrap_or_default(),
            status = raw.status,
            received_bytes = raw.body.len(),
            elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            "model service answered"
        );
        let value = self.judge(&raw, model.as_deref())?;
        let Some(mut reply) = settings.dialect.decode(&value) else {
            let kind = FailureKind::Transient(TransientKind::BadBody);
            let mut failure = self.failure(kind, model.as_deref(), "the answer lacks its content");
            failure.status = Some(raw.status);
            return Err(failure);
        };
        reply.status = Some(raw.status);
        reply.model = reply.model.or(model).map(|id| settings.scrubber.scrub(&id));
        reply.request_id = reply
            .request_id
            .or_else(|| {
                let header = raw.headers.get(settings.dialect.request_id_header());
                header.and_then(|value| value.to_str().ok()).map(str::to_owned)
            })
            .map(|id| settings.scrubber.scrub(&id));
        for (place, part) in reply.parts.iter_mut().enumerate() {
            match part {
                Part::Text(text) => *text = settings.scrubber.scrub(text),
                Part::ToolCall { id, name, arguments } => {
                    settings.scrubber.scrub_identifier(id, place);
                    settings.scrubber.scrub_identifier(name, place);
                    settings.scrubber.scrub_value(arguments);
                }
                Part::ToolResult { .. } | Part::Opaque(_) => {}
            }
        }
        Ok(reply)
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> ProviderName {
        self.settings.name
    }

    fn endpoint(&self) -> &str {
        &self.settings.base
    }

    fn initial_shape(&self, model: Option<&str>) -> WireShape {
        let key = match self.settings.name {
            ProviderName::OpenAi => TokenKey::MaxCompletionTokens,
            _ => TokenKey::MaxTokens,
        };
        WireShape::full(key).preset(self.settings.name, model, &self.settings.facts.quirks)
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Outbound,
        shape: &'a WireShape,
        _cx: &'a CallCx,
    ) -> BoxFuture<'a, Result<ChatReply, ProviderError>> {
        Box::pin(self.ask(ask, shape))
    }

    fn preview(&self, ask: &Outbound, shape: &WireShape) -> Value {
        let request = shape.apply(ask.request());
        let body = self.settings.dialect.encode(&request, shape);
        let url =
            self.settings.scrubber.scrub(&format!("{}/{}", self.settings.base, self.settings.dialect.path()));
        json!({"provider": self.settings.name.as_str(), "method": "POST", "url": url, "body": body})
    }

    fn notices(&self) -> Vec<Notice> {
        self.settings.notices.clone()
    }

    fn context_characters(&self, max_output_tokens: u32) -> Option<usize> {
        (self.settings.dialect == Dialect::Ollama).then(|| ollama::most_characters(max_output_tokens))
    }
}
