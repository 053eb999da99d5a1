//! The ollama chat dialect.

use serde_json::{Map, Value, json};

use super::openai::{joined_text, read_arguments, tools};
use crate::adapt::WireShape;
use crate::message::{ChatReply, ChatRequest, Message, Part, Role, Stop, ToolChoice, Usage};

/// Context sizes asked for; the server's own default would cut the evidence without a word.
const CONTEXTS: [u32; 4] = [8192, 16384, 32768, 65536];
/// Characters a token stands for when sizing the context.
const CHARACTERS_PER_TOKEN: usize = 3;

/// The smallest context that holds the text and the reply.
fn context(characters: usize, output_tokens: u32) -> u32 {
    let prompt = u32::try_from(characters.div_ceil(CHARACTERS_PER_TOKEN)).unwrap_or(u32::MAX);
    let needed = prompt.saturating_add(output_tokens);
    let largest = CONTEXTS.into_iter().max().unwrap_or(needed);
    CONTEXTS.into_iter().find(|size| *size >= needed).unwrap_or(largest)
}

/// Longest text that fits the largest context beside the reply.
pub(crate) fn most_characters(output_tokens: u32) -> usize {
    let largest = CONTEXTS.into_iter().max().unwrap_or(0);
    usize::try_from(largest.saturating_sub(output_tokens))
        .unwrap_or(usize::MAX)
        .saturating_mul(CHARACTERS_PER_TOKEN)
}

/// The request body.
pub(crate) fn encode(ask: &ChatRequest, shape: &WireShape) -> Value {
    let mut options = Map::new();
    if shape.temperature {
        options.insert("temperature".to_owned(), json!(0));
    }
    options.insert("num_predict".to_owned(), json!(ask.max_output_tokens));
    options.insert("num_ctx".to_owned(), json!(context(ask.characters(), ask.max_output_tokens)));
    let mut messages = Vec::new();
    if !ask.system.is_empty() {
        messages.push(json!({"role": "system", "content": ask.system}));
    }
    for message in &ask.messages {
        push_message(&mut messages, message);
    }
    if ask.tool_choice == ToolChoice::Submit {
        // There is no way to force a tool here, so it is said.
        messages.push(json!({"role": "user", "content": "Call `submit_answer` now."}));
    }
    let mut body = json!({"model": ask.model, "stream": false, "options": options, "messages": messages});
    if let Some(map) = body.as_object_mut() {
        if !ask.tools.is_empty() {
            map.insert("tools".to_owned(), tools(ask));
        }
        if shape.text_mode {
            map.insert("format".to_owned(), ask.reply_schema.clone());
        }
    }
    body
}

fn push_message(messages: &mut Vec<Value>, message: &Message) {
    let text = joined_text(message);
    match message.role {
        Role::User => {
            for part in &message.parts {
                if let Part::ToolResult { name, content, .. } = part {
                    messages.push(json!({"role": "tool", "tool_name": name, "content": content}));
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
                    Part::ToolCall { name, arguments, .. } => {
                        Some(json!({"function": {"name": name, "arguments": arguments}}))
                    }
                    _ => None,
                })
                .collect();
            let mut entry = json!({"role": "assistant", "content": text});
            if let Some(entry) = entry.as_object_mut().filter(|_| !calls.is_empty()) {
                entry.insert("tool_calls".to_owned(), Value::Array(calls));
            }
            messages.push(entry);
        }
    }
}

/// The reply; `None` without a message.
pub(crate) fn decode(body: &Value) -> Option<ChatReply> {
    let message = body.get("message")?.as_object()?;
    let mut parts = Vec::new();
    if let Some(text) = message.get("content").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        parts.push(Part::Text(text.to_owned()));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, call) in calls.iter().enumerate() {
        let function = call.get("function");
        if let Some(name) = function.and_then(|function| function.get("name")).and_then(Value::as_str) {
            parts.push(Part::ToolCall {
                id: format!("call_{}", i + 1),
                name: name.to_owned(),
                arguments: read_arguments(function.and_then(|function| function.get("arguments"))),
            });
        }
    }
    let called = parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
    let stop = match body.get("done_reason").and_then(Value::as_str) {
        Some("length") => Stop::Length,
        _ if called => Stop::ToolUse,
        _ => Stop::End,
    };
    let count = |key: &str| body.get(key).and_then(Value::as_u64);
    Some(ChatReply {
        parts,
        stop,
        usage: Usage { input: count("prompt_eval_count"), output: count("eval_count") },
        model: body.get("model").and_then(Value::as_str).map(str::to_owned),
        request_id: None,
        status: None,
    })
}
