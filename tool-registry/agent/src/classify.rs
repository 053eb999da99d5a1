//! Reads a failed answer: status and JSON fields decide, free text only where a service gives nothing else.

use std::time::{Duration, SystemTime};

use perfxpert_schemas::tools::agent::run::ProviderName;
use serde_json::Value;

use crate::adapt::Complaint;
use crate::error::{FailureKind, FatalCode, ProviderError, TransientKind, first_line};

/// `type` and `code` values that mean the allowance is used up.
const QUOTA_CODES: [&str; 6] = [
    "insufficient_quota",
    "quota_exceeded",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_too_low",
];
const AUTH_CODES: [&str; 2] = ["authentication_error", "invalid_api_key"];
const RATE_CODES: [&str; 3] = ["rate_limit_error", "rate_limit_exceeded", "too_many_requests"];
const SIZE_CODES: [&str; 3] = ["request_too_large", "context_length_exceeded", "string_above_max_length"];

/// An HTTP answer, as far as classification needs it. Texts are scrubbed before they get here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) request_id: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) should_retry: Option<bool>,
}

/// Who was asked, and for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) provider: ProviderName,
    pub(crate) model: Option<&'a str>,
    /// Variable or rung that named the model, for the hint.
    pub(crate) model_source: &'a str,
    /// Beginnings of messages that mean quota although the code does not say so.
    pub(crate) quota_messages: &'a [String],
}

/// The fields of any of the known error bodies.
#[derive(Clone, Debug, Default)]
struct Body {
    message: String,
    types: Vec<String>,
    param: Option<String>,
}

impl Body {
    fn read(text: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return Self { message: first_line(text), ..Self::default() };
        };
        let inner = value.get("error").filter(|error| error.is_object()).unwrap_or(&value);
        let word = |key: &str| inner.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut message =
            word("message").or_else(|| value.get("error").and_then(Value::as_str).map(str::to_owned));
        let mut param = word("param");
        match value.get("detail") {
            Some(Value::String(text)) => message = message.or_else(|| Some(text.clone())),
            Some(Value::Array(items)) => {
                let first = items.first();
                message = message.or_else(|| {
                    first.and_then(|item| item.get("msg")).and_then(Value::as_str).map(str::to_owned)
                });
                let place = first.and_then(|item| item.get("loc")).and_then(Value::as_array);
                param = param.or_else(|| {
                    place.and_then(|place| place.last()).and_then(Value::as_str).map(str::to_owned)
                });
            }
            _ => {}
        }
        let types = ["type", "code"].iter().filter_map(|key| word(key)).collect();
        Self { message: first_line(&message.unwrap_or_else(|| text.to_owned())), types, param }
    }

    fn is_any(&self, words: &[&str]) -> bool {
        self.types.iter().any(|t| words.contains(&t.as_str()))
    }

    fn says(&self, word: &str) -> bool {
        self.is_any(&[word])
    }
}

/// Whether a 2xx body holds an error object.
pub(crate) fn holds_error(value: &Value) -> bool {
    value.get("error").is_some_and(|error| !error.is_null())
        || value.get("type").and_then(Value::as_str) == Some("error")
}

/// The failure an answer stands for. A 2xx answer is judged by its `type` and `code` alone.
pub(crate) fn classify(answer: &Answer, asked: &Asked<'_>) -> ProviderError {
    let body = Body::read(&answer.body);
    let status = answer.status;
    let fine = (200..300).contains(&status);
    let mut hint = None;
    let mut complaint = None;
    let kind = if status == 402 || body.is_any(&QUOTA_CODES) || quota_by_message(status, &body, asked) {
        FailureKind::Quota
    } else if status == 401 || body.is_any(&AUTH_CODES) {
        FailureKind::Auth
    } else if status == 403 && body.says("unsupported_country_region_territory") {
        FailureKind::Fatal(FatalCode::Region)
    } else if status == 403 || body.says("permission_error") {
        hint = Some("The key may not use this model or endpoint.".to_owned());
        FailureKind::Auth
    } else if status == 429 || body.is_any(&RATE_CODES) {
        FailureKind::RateLimit
    } else if status == 529 || body.is_any(&["overloaded_error"]) || busy(status, &body) {
        FailureKind::Transient(TransientKind::Overloaded)
    } else if status == 413 || body.is_any(&SIZE_CODES) {
        hint = Some("Ask for fewer kernels, lower max_output_tokens, or choose a larger model.".to_owned());
        FailureKind::Fatal(FatalCode::TooLarge)
    } else if body.says("model_not_found") || status == 404 && names_model(&body.message, asked.model) {
        hint = Some(model_hint(asked));
        FailureKind::Fatal(FatalCode::ModelNotFound)
    } else if status == 404 {
        hint = Some("Check the base URL; most end in `/v1`.".to_owned());
        FailureKind::Fatal(FatalCode::NotFound)
    } else if matches!(status, 400 | 422) {
        if limit_too_large(&body) {
            hint =
                Some("Lower max_output_tokens (PERFXPERT_MAX_TOKENS), or choose a larger model.".to_owned());
            FailureKind::Fatal(FatalCode::TooLarge)
        } else {
            complaint = read_complaint(&body);
            FailureKind::Fatal(FatalCode::BadRequest)
        }
    } else if fine {
        FailureKind::Fatal(FatalCode::BadRequest)
    } else if matches!(status, 408 | 409 | 425) || status >= 500 && !matches!(status, 501 | 505) {
        FailureKind::Transient(TransientKind::Http(status))
    } else if (300..400).contains(&status) {
        hint = Some("Check the URL; redirects are never followed.".to_owned());
        FailureKind::Fatal(FatalCode::Redirect)
    } else {
        FailureKind::Fatal(FatalCode::Http(status))
    };
    let message = match kind {
        FailureKind::Fatal(FatalCode::Redirect) => {
            format!("the server answered with a redirect (HTTP {status})")
        }
        _ if body.message.is_empty() => format!("HTTP {status}"),
        _ => body.message,
    };
    ProviderError {
        status: Some(status),
        request_id: answer.request_id.clone().map(String::into_boxed_str),
        hint: hint.map(String::into_boxed_str),
        retry_after: answer.retry_after,
        should_retry: answer.should_retry,
        complaint,
        ..ProviderError::new(kind, asked.provider, asked.model, message)
    }
}

fn quota_by_message(status: u16, body: &Body, asked: &Asked<'_>) -> bool {
    status == 400
        && asked.provider == ProviderName::Anthropic
        && body.says("invalid_request_error")
        && asked.quota_messages.iter().any(|start| body.message.starts_with(start.as_str()))
}

fn busy(status: u16, body: &Body) -> bool {
    status == 503 && body.is_any(&["slow_down", "overloaded"])
}

fn names_model(message: &str, model: Option<&str>) -> bool {
    model.is_some_and(|model| !model.is_empty() && message.contains(model))
}

fn model_hint(asked: &Asked<'_>) -> String {
    if asked.provider == ProviderName::Ollama {
        return format!("Run `ollama pull {}`.", asked.model.unwrap_or("<model>"));
    }
    match asked.model_source {
        "built-in" => "Set PERFXPERT_LLM_MODEL.".to_owned(),
        "argument" => "Name another `model`.".to_owned(),
        rung => format!("The model comes from {rung}; name another there."),
    }
}

/// The parameter the message is about: `param`, else a quoted word, else the word in front of a colon or dot.
fn complained_about(body: &Body) -> Vec<String> {
    if let Some(param) = &body.param {
        return vec![param.clone()];
    }
    let mut words: Vec<String> = Vec::new();
    for quote in ['`', '\'', '"'] {
        let quoted = body.message.split(quote).skip(1).step_by(2);
        words.extend(quoted.filter(|word| !word.contains(' ')).map(str::to_owned));
    }
    if let Some(first) = body.message.split([' ', ':']).next() {
        words.push(first.to_owned());
    }
    words
}

/// A token limit above what the model allows: about a limit, not called unsupported, with the allowed number.
fn limit_too_large(body: &Body) -> bool {
    let about_limit = complained_about(body)
        .iter()
        .any(|word| matches!(word.as_str(), "max_tokens" | "max_completion_tokens" | "num_predict"));
    about_limit && !unsupported(body) && holds_large_number(&body.message)
}

fn unsupported(body: &Body) -> bool {
    body.is_any(&["unsupported_parameter", "unsupported_value", "unknown_parameter"])
        || ["not supported", "nsupported", "not permitted", "nrecognized"]
            .iter()
            .any(|words| body.message.contains(words))
}

/// A number of three digits or more that is not part of an identifier.
fn holds_large_number(message: &str) -> bool {
    message.split(|c: char| c.is_whitespace() || matches!(c, ':' | ';' | '(' | ')' | '>' | '<')).any(|word| {
        let word = word.trim_matches(|c: char| matches!(c, '.' | ',' | '\'' | '"' | '`'));
        let digits = word.chars().filter(char::is_ascii_digit).count();
        digits >= 3 && word.chars().all(|c| c.is_ascii_digit() || c == ',')
    })
}

/// What the service does not accept, if the request can be reshaped for it.
fn read_complaint(body: &Body) -> Option<Complaint> {
    let message = body.message.to_ascii_lowercase();
    if message.contains("does not support tools") || message.contains("tool choice requires") {
        return Some(Complaint::Tools);
    }
    if message.contains("system role") {
        return Some(Complaint::SystemRole);
    }
    complained_about(body).iter().find_map(|word| {
        if word.starts_with("messages") && word.ends_with(".role") {
            return Some(Complaint::SystemRole);
        }
        let root = word.split(['.', '[']).next().unwrap_or_default();
        match root {
            "max_completion_tokens" => Some(Complaint::MaxCompletionTokens),
            "max_tokens" => Some(Complaint::MaxTokens),
            "temperature" | "top_p" => Some(Complaint::Temperature),
            "thinking" => Some(Complaint::Thinking),
            "tool_choice" => Some(Complaint::ToolChoice),
            "tools" => Some(Complaint::Tools),
            "system" => Some(Complaint::SystemRole),
            _ => None,
        }
    })
}

/// The wait a service asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
pub(crate) fn read_retry_after(ms: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<Duration> {
    let positive =
        |seconds: f64| (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten();
    if let Some(wait) =
        ms.and_then(|text| text.trim().parse::<f64>().ok()).and_then(|ms| positive(ms / 1000.0))
    {
        return Some(wait);
    }
    let after = after?.trim();
    if let Ok(seconds) = after.parse::<f64>() {
        return positive(seconds);
    }
    httpdate::parse_http_date(after).ok()?.duration_since(now).ok()
}
