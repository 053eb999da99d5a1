//! The Anthropic messages dialect.

use serde_json::{Map, Value, json};

use crate::adapt::{ThinkingForm, ToolChoiceForm, WireShape};
use crate::message::{ChatReply, ChatRequest, Message, Part, Role, Stop, ToolChoice, Usage};

/// The request body.
pub(crate) fn encode(ask: &ChatRequest, shape: &WireShape) -> Value {
    let thinking = ask.thinking_tokens.filter(|_| shape.thinking != ThinkingForm::Off);
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    put("model", json!(ask.model));
    put("max_tokens", json!(ask.max_output_tokens.saturating_add(thinking.unwrap_or(0))));
    if shape.temperature && thinking.is_none() {
        put("temperature", json!(0));
    }
    if !ask.system.is_empty() {
        put("system", json!(ask.system));
    }
    put("messages", Value::Array(messages(&ask.messages)));
    if !ask.tools.is_empty() {
        let tools = ask.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
        });
        put("tools", tools.collect());
        match ask.tool_choice {
            _ if shape.tool_choice == ToolChoiceForm::Absent => {}
            ToolChoice::Submit if thinking.is_none() => {
                put("tool_choice", json!({"type": "tool", "name": crate::reply::SUBMIT_ANSWER}));
            }
            _ => put("tool_choice", json!({"type": "auto"})),
        }
    }
    match (thinking, shape.thinking) {
        (Some(tokens), ThinkingForm::Enabled) => {
            put("thinking", json!({"type": "enabled", "budget_tokens": tokens}));
        }
        (Some(tokens), ThinkingForm::Adaptive) => {
            put("thinking", json!({"type": "adaptive"}));
            put("output_config", json!({"effort": effort(tokens)}));
        }
        _ => {}
    }
    Value::Object(body)
}

/// The effort word that stands for a token budget.
fn effort(tokens: u32) -> &'static str {
    match tokens {
        0..4096 => "low",
        4096..16384 => "medium",
        _ => "high",
    }
}

/// Roles alternate: neighbours of one side are joined, and tool results stand first.
fn messages(conversation: &[Message]) -> Vec<Value> {
    let mut joined: Vec<(Role, Vec<&Part>)> = Vec::new();
    for message in conversation {
        match joined.last_mut() {
            Some((role, parts)) if *role == message.role => parts.extend(&message.parts),
            _ => joined.push((message.role, message.parts.iter().collect())),
        }
    }
    let render = |(role, mut parts): (Role, Vec<&Part>)| {
        if role == Role::User {
            parts.sort_by_key(|part| !matches!(part, Part::ToolResult { .. }));
        }
        let name = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let content: Vec<Value> = parts.into_iter().map(block).collect();
        json!({"role": name, "content": content})
    };
    joined.into_iter().map(render).collect()
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::ToolCall { id, name, arguments } => {
            let input = if arguments.is_object() { arguments.clone() } else { json!({}) };
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Part::ToolResult { id, content, is_error, .. } => {
            json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
        }
        Part::Opaque(block) => block.clone(),
    }
}

/// The reply; `None` without content.
pub(crate) fn decode(body: &Value) -> Option<ChatReply> {
    let content = body.get("content")?.as_array()?;
    let parts: Vec<Part> = content.iter().filter_map(part).collect();
    let stop = match body.get("stop_reason").and_then(Value::as_str) {
        Some("tool_use") => Stop::ToolUse,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
        Some("pause_turn") => Stop::Pause,
        Some("refusal") => Stop::Refusal,
        _ if parts.iter().any(|part| matches!(part, Part::ToolCall { .. })) => Stop::ToolUse,
        _ => Stop::End,
    };
    let count = |key: &str| body.get("usage").and_then(|usage| usage.get(key)).and_then(Value::as_u64);
    let cached =
        ["cache_creation_input_tokens", "cache_read_input_tokens"].iter().filter_map(|key| count(key));
    let cached = cached.fold(0u64, u64::saturating_add);
    Some(ChatReply {
        parts,
        stop,
        usage: Usage {
            input: count("input_tokens").map(|n| n.saturating_add(cached)),
            output: count("output_tokens"),
        },
        model: body.get("model").and_then(Value::as_str).map(str::to_owned),
        request_id: body.get("request_id").and_then(Value::as_str).map(str::to_owned),
        status: None,
    })
}

fn part(block: &Value) -> Option<Part> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
    match block.get("type").and_then(Value::as_str)? {
        "text" => text("text").map(Part::Text),
        "tool_use" => Some(Part::ToolCall {
            id: text("id")?,
            name: text("name")?,
            arguments: block.get("input").cloned().unwrap_or_else(|| json!({})),
        }),
        "thinking" | "redacted_thinking" => Some(Part::Opaque(block.clone())),
        _ => None,
    }
}
