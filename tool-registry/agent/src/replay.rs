//! Recorded replies in place of a model service.

use std::collections::BTreeMap;

use perfxpert_schemas::tools::agent::run::ProviderName;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::adapt::{TokenKey, WireShape};
use crate::error::{FailureKind, FatalCode, ProviderError, TransientKind};
use crate::message::{ChatReply, ChatRequest, Part, Role, Stop, Usage};
use crate::prompt::hex_sha256;
use crate::provider::{BoxFuture, Provider};
use crate::redact::Outbound;
use crate::toolbox::CallCx;

/// One recorded exchange.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Recording {
    /// SHA-256 over the canonical request; `*` answers any request once, in order.
    pub request_sha256: String,
    /// The canonical request, to show the first difference of a miss.
    #[serde(default)]
    pub request: Option<Value>,
    /// The reply: `{"text": …}`, `{"tool_calls": [{"name", "arguments"}]}`, both, or `{"refusal": true}`.
    #[serde(default)]
    pub reply: Option<Value>,
    /// A failure instead: rate_limit, quota, auth, transient, timeout or fatal.
    #[serde(default)]
    pub error: Option<String>,
}

/// Answers from recordings.
pub struct ReplayProvider {
    name: ProviderName,
    exact: BTreeMap<String, Recording>,
    any: std::sync::Mutex<std::collections::VecDeque<Recording>>,
}

impl ReplayProvider {
    /// A provider that answers with these recordings.
    pub fn new(name: ProviderName, recordings: Vec<Recording>) -> Self {
        let (any, exact): (Vec<_>, Vec<_>) = recordings.into_iter().partition(|r| r.request_sha256 == "*");
        Self {
            name,
            exact: exact.into_iter().map(|recording| (recording.request_sha256.clone(), recording)).collect(),
            any: std::sync::Mutex::new(any.into()),
        }
    }

    /// A provider that answers from a recording file's text.
    ///
    /// # Errors
    /// The parser's error when the text is no list of recordings.
    pub fn from_json(name: ProviderName, text: &str) -> serde_json::Result<Self> {
        Ok(Self::new(name, serde_json::from_str(text)?))
    }

    fn answer(&self, ask: &ChatRequest) -> Result<ChatReply, ProviderError> {
        let fail = |kind: FailureKind, message: String| {
            Err(ProviderError::new(kind, self.name, ask.model.as_deref(), message))
        };
        let hash = request_sha256(ask);
        let mut any = self.any.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(recording) = self.exact.get(&hash).cloned().or_else(|| any.pop_front()) else {
            let canonical = canonical(ask);
            let recorded = self.exact.values().filter_map(|recording| recording.request.as_ref());
            let difference = recorded
                .filter_map(|request| first_difference(request, &canonical, ""))
                .max_by_key(String::len)
                .unwrap_or_else(|| "nothing recorded to compare with".to_owned());
            return fail(
                FailureKind::Fatal(FatalCode::BadRequest),
                format!("no recording for request {hash}; first difference at {difference}"),
            );
        };
        match recording.error.as_deref() {
            None => Ok(read_reply(recording.reply.as_ref().unwrap_or(&Value::Null), ask)),
            Some("rate_limit") => fail(FailureKind::RateLimit, "recorded".to_owned()),
            Some("quota") => fail(FailureKind::Quota, "recorded".to_owned()),
            Some("auth") => fail(FailureKind::Auth, "recorded".to_owned()),
            Some("timeout") => fail(FailureKind::Timeout { seconds: 120 }, "recorded".to_owned()),
            Some("transient") => {
                fail(FailureKind::Transient(TransientKind::Overloaded), "recorded".to_owned())
            }
            Some(_) => fail(FailureKind::Fatal(FatalCode::BadRequest), "recorded".to_owned()),
        }
    }
}

impl Provider for ReplayProvider {
    fn name(&self) -> ProviderName {
        self.name
    }

    fn endpoint(&self) -> &str {
        "replay"
    }

    fn initial_shape(&self, _model: Option<&str>) -> WireShape {
        WireShape::full(TokenKey::MaxTokens)
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Outbound,
        _shape: &'a WireShape,
        _cx: &'a CallCx,
    ) -> BoxFuture<'a, Result<ChatReply, ProviderError>> {
        Box::pin(async move { self.answer(ask.request()) })
    }

    fn preview(&self, ask: &Outbound, _shape: &WireShape) -> Value {
        canonical(ask.request())
    }
}

/// SHA-256 over the canonical JSON of a redacted request, without ids.
pub fn request_sha256(ask: &ChatRequest) -> String {
    hex_sha256(canonical(ask).to_string().as_bytes())
}

/// The request as JSON with sorted keys and without ids.
fn canonical(ask: &ChatRequest) -> Value {
    let part = |part: &Part| match part {
        Part::Text(text) => json!({"text": text}),
        Part::ToolCall { name, arguments, .. } => json!({"call": name, "arguments": arguments}),
        Part::ToolResult { name, content, is_error, .. } => {
            json!({"result_of": name, "content": content, "is_error": is_error})
        }
        Part::Opaque(block) => json!({"opaque": block}),
    };
    let messages: Vec<Value> = ask
        .messages
        .iter()
        .map(|message| {
            let role = if message.role == Role::User { "user" } else { "assistant" };
            json!({"role": role, "parts": message.parts.iter().map(part).collect::<Vec<_>>()})
        })
        .collect();
    let tools: Vec<&str> = ask.tools.iter().map(|tool| tool.name.as_str()).collect();
    sorted(json!({
        "model": ask.model, "system": ask.system, "messages": messages, "tools": tools,
        "max_output_tokens": ask.max_output_tokens, "thinking_tokens": ask.thinking_tokens,
    }))
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields: BTreeMap<String, Value> =
                map.into_iter().map(|(key, item)| (key, sorted(item))).collect();
            Value::Object(fields.into_iter().collect::<Map<String, Value>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// The first place where two values differ.
fn first_difference(a: &Value, b: &Value, place: &str) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let (a, b) = (a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null));
                first_difference(a, b, &format!("{place}/{key}"))
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len())).find_map(|i| {
            let (a, b) = (a.get(i).unwrap_or(&Value::Null), b.get(i).unwrap_or(&Value::Null));
            first_difference(a, b, &format!("{place}/{i}"))
        }),
        (a, b) if a == b => None,
        _ => Some(if place.is_empty() { "/".to_owned() } else { place.to_owned() }),
    }
}

fn read_reply(reply: &Value, ask: &ChatRequest) -> ChatReply {
    let mut parts = Vec::new();
    if let Some(text) = reply.get("text").and_then(Value::as_str) {
        parts.push(Part::Text(text.to_owned()));
    }
    let calls = reply.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, call) in calls.iter().enumerate() {
        parts.push(Part::ToolCall {
            id: format!("call_{}", i + 1),
            name: call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            arguments: call.get("arguments").cloned().unwrap_or_else(|| json!({})),
        });
    }
    let refused = reply.get("refusal").and_then(Value::as_bool) == Some(true);
    let stop = match calls {
        _ if refused => Stop::Refusal,
        [] => Stop::End,
        _ => Stop::ToolUse,
    };
    ChatReply {
        parts,
        stop,
        usage: Usage { input: Some(100), output: Some(50) },
        model: ask.model.clone(),
        request_id: None,
        status: Some(200),
    }
}
