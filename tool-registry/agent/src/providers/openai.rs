//! The OpenAI chat completions dialect, spoken by compatible servers too.

use serde_json::{Map, Value, json};

use crate::adapt::{TokenKey, ToolChoiceForm, WireShape};
use crate::message::{ChatReply, ChatRequest, Message, Part, Role, Stop, ToolChoice, Usage};

/// The request body.
pub(crate) fn encode(ask: &ChatRequest, shape: &WireShape) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    put("model", json!(ask.model));
    let limit = match shape.token_key {
        TokenKey::MaxTokens => "max_tokens",
        TokenKey::MaxCompletionTokens => "max_completion_tokens",
    };
    put(limit, json!(ask.max_output_tokens));
    if shape.temperature {
        put("temperature", json!(0));
    }
    put("stream", json!(false));
    let mut messages = Vec::new();
    if !ask.system.is_empty() {
        messages.push(json!({"role": "system", "content": ask.system}));
    }
    for message in &ask.messages {
        push_message(&mut messages, message);
    }
    put("messages", Value::Array(messages));
    if !ask.tools.is_empty() {
        put("tools", tools(ask));
        match ask.tool_choice {
            _ if shape.tool_choice == ToolChoiceForm::Absent => {}
            ToolChoice::Submit => {
                put(
                    "tool_choice",
                    json!({"type": "function", "function": {"name": crate::reply::SUBMIT_ANSWER}}),
                );
            }
            ToolChoice::Auto | ToolChoice::None => put("tool_choice", json!("auto")),
        }
    }
    Value::Object(body)
}

/// The tools as functions, as ollama takes them too.
pub(crate) fn tools(ask: &ChatRequest) -> Value {
    let function = |tool: &crate::toolbox::ToolSpec| {
        json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.input_schema
        }})
    };
    ask.tools.iter().map(function).collect()
}

/// Texts of a message, joined by newlines.
pub(crate) fn joined_text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn push_message(messages: &mut Vec<Value>, message: &Message) {
    let text = joined_text(message);
    match message.role {
        Role::User => {
            for part in &message.parts {
                if let Part::ToolResult { id, content, .. } = part {
                    messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
                }
            }
            if !text.is_empty() {
                messages.push(json!({"role": "user", "content": text}));
            }
        }
        Role::Assistant => {
            let calls: Vec<Value> = message
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::ToolCall { id, name, arguments } => {
                        let arguments = match arguments {
                            Value::String(raw) => raw.clone(),
                            other => other.to_string(),
                        };
                        Some(json!({"id": id, "type": "function",
                                    "function": {"name": name, "arguments": arguments}}))
                    }
                    _ => None,
                })
                .collect();
            let content = if text.is_empty() { Value::Null } else { Value::from(text) };
            let mut entry = json!({"role": "assistant", "content": content});
            if let Some(entry) = entry.as_object_mut().filter(|_| !calls.is_empty()) {
                entry.insert("tool_calls".to_owned(), Value::Array(calls));
            }
            messages.push(entry);
        }
    }
}

/// The reply; `None` without choices.
pub(crate) fn decode(body: &Value) -> Option<ChatReply> {
    let choice = body.get("choices")?.as_array()?.first()?;
    let message = choice.get("message")?;
    let mut parts = Vec::new();
    match message.get("content") {
        Some(Value::String(text)) if !text.is_empty() => parts.push(Part::Text(text.clone())),
        Some(Value::Array(items)) => {
            let texts = items.iter().filter_map(|item| item.get("text").and_then(Value::as_str));
            let text = texts.collect::<Vec<_>>().join("\n");
            if !text.is_empty() {
                parts.push(Part::Text(text));
            }
        }
        _ => {}
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, call) in calls.iter().enumerate() {
        parts.extend(tool_call(call, i));
    }
    let refused = message.get("refusal").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let called = parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
    let stop = match choice.get("finish_reason").and_then(Value::as_str) {
        _ if refused => Stop::Refusal,
        Some("content_filter") => Stop::Refusal,
        Some("length") => Stop::Length,
        Some("tool_calls" | "function_call") => Stop::ToolUse,
        _ if called => Stop::ToolUse,
        _ => Stop::End,
    };
    let count = |key: &str| body.get("usage").and_then(|usage| usage.get(key)).and_then(Value::as_u64);
    Some(ChatReply {
        parts,
        stop,
        usage: Usage { input: count("prompt_tokens"), output: count("completion_tokens") },
        model: body.get("model").and_then(Value::as_str).map(str::to_owned),
        request_id: None,
        status: None,
    })
}

fn tool_call(call: &Value, place: usize) -> Option<Part> {
    let function = call.get("function")?;
    let name = function.get("name")?.as_str()?.to_owned();
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    Some(Part::ToolCall {
        id: id.map_or_else(|| format!("call_{}", place + 1), str::to_owned),
        name,
        arguments: read_arguments(function.get("arguments")),
    })
}

/// Arguments as an object; text that is not JSON stays text, and the call gets an error result.
pub(crate) fn read_arguments(arguments: Option<&Value>) -> Value {
    match arguments {
        Some(Value::String(text)) if text.trim().is_empty() => json!({}),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.clone())),
        Some(Value::Null) | None => json!({}),
        Some(other) => other.clone(),
    }
}
