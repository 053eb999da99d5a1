//! A conversation with a model, independent of any vendor's wire form.

use serde_json::Value;

use crate::toolbox::ToolSpec;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Us: the evidence, tool results and corrections.
    User,
    /// The model.
    Assistant,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// The model asks for a tool.
    ToolCall {
        /// The service's id of the call.
        id: String,
        /// Wire name of the tool.
        name: String,
        /// Argument object; a string when the model's arguments were not JSON.
        arguments: Value,
    },
    /// The answer to a tool call.
    ToolResult {
        /// Id of the call.
        id: String,
        /// Wire name of the tool.
        name: String,
        /// JSON text.
        content: String,
        /// Whether it is an error object.
        is_error: bool,
    },
    /// A block that goes back unchanged and is never shown, logged or counted as text.
    Opaque(Value),
}

/// One turn of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A text of ours.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text(text.into())] }
    }
}

/// Whether the model may, must or cannot call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// It must call `submit_answer`, where the service can demand that.
    Submit,
    /// No tools are offered.
    None,
}

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// Model id; `None` lets the service choose.
    pub model: Option<String>,
    /// The composed prompt.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Tools offered, `submit_answer` last.
    pub tools: Vec<ToolSpec>,
    /// Whether one must be called.
    pub tool_choice: ToolChoice,
    /// Limit on the reply, in tokens.
    pub max_output_tokens: u32,
    /// Tokens for hidden thinking (anthropic only).
    pub thinking_tokens: Option<u32>,
    /// JSON schema of the answer, for services without tools.
    pub reply_schema: Value,
}

impl ChatRequest {
    /// Characters of the system text, messages and tools, for estimates.
    pub fn characters(&self) -> usize {
        let parts = self.messages.iter().flat_map(|message| &message.parts).map(|part| match part {
            Part::Text(text) => text.chars().count(),
            Part::ToolCall { arguments, .. } => arguments.to_string().chars().count(),
            Part::ToolResult { content, .. } => content.chars().count(),
            Part::Opaque(block) => block.to_string().chars().count(),
        });
        let tools = self
            .tools
            .iter()
            .map(|tool| tool.description.chars().count() + tool.input_schema.to_string().chars().count());
        self.system.chars().count() + parts.sum::<usize>() + tools.sum::<usize>()
    }
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was done.
    End,
    /// It waits for tool results.
    ToolUse,
    /// The token limit was reached.
    Length,
    /// It declined, or a content filter did.
    Refusal,
    /// The service paused a long turn; the turn goes back unchanged.
    Pause,
}

/// Tokens of one reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens sent.
    pub input: Option<u64>,
    /// Tokens received.
    pub output: Option<u64>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatReply {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// Why it stopped.
    pub stop: Stop,
    /// Tokens, where the service counted them.
    pub usage: Usage,
    /// The model that answered, as the service names it.
    pub model: Option<String>,
    /// The service's id of the request.
    pub request_id: Option<String>,
    /// HTTP status; `None` for a child process.
    pub status: Option<u16>,
}

impl ChatReply {
    /// All text parts, joined by newlines.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
