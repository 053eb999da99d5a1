//! What a model service refused and how the request is reshaped to suit it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use perfxpert_schemas::tools::agent::run::ProviderName;

use crate::message::{ChatRequest, Message, Part, Role, ToolChoice};
use crate::settings::ModelQuirk;

/// Most adaptations within one turn.
pub(crate) const MOST_PER_TURN: usize = 3;

/// Name of the token limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKey {
    /// `max_tokens`, which older compatible servers know.
    MaxTokens,
    /// `max_completion_tokens`, which newer OpenAI models demand.
    MaxCompletionTokens,
}

/// How hidden thinking is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingForm {
    /// With a token budget.
    Enabled,
    /// With an effort word.
    Adaptive,
    /// Not at all.
    Off,
}

/// How far `tool_choice` may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolChoiceForm {
    /// Forcing a tool is accepted.
    Full,
    /// Only `auto` is.
    Auto,
    /// The key must be absent.
    Absent,
}

/// The wire form one model at one address accepts, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireShape {
    /// Name of the token limit.
    pub token_key: TokenKey,
    /// Whether a temperature is sent.
    pub temperature: bool,
    /// How thinking is asked for.
    pub thinking: ThinkingForm,
    /// How far `tool_choice` may go.
    pub tool_choice: ToolChoiceForm,
    /// No tools: the schema stands in the system text and the answer is one JSON object.
    pub text_mode: bool,
    /// The system text travels in front of the first user message.
    pub system_as_user: bool,
}

impl WireShape {
    /// The form with everything on.
    pub fn full(token_key: TokenKey) -> Self {
        Self {
            token_key,
            temperature: true,
            thinking: ThinkingForm::Enabled,
            tool_choice: ToolChoiceForm::Full,
            text_mode: false,
            system_as_user: false,
        }
    }

    /// The form preset by what is known about a model's name.
    #[must_use]
    pub fn preset(mut self, provider: ProviderName, model: Option<&str>, quirks: &[ModelQuirk]) -> Self {
        let Some(model) = model else { return self };
        let known = quirks
            .iter()
            .filter(|quirk| quirk.provider.is_none_or(|p| p == provider) && model.starts_with(&quirk.prefix));
        for quirk in known {
            self.temperature = quirk.temperature.unwrap_or(self.temperature);
            self.thinking = quirk.thinking.unwrap_or(self.thinking);
            self.token_key = quirk.token_key.unwrap_or(self.token_key);
            self.tool_choice = quirk.tool_choice.unwrap_or(self.tool_choice);
            self.text_mode |= quirk.tools == Some(false);
        }
        self
    }

    /// The form without what was complained about; `None` when nothing is left to change.
    pub(crate) fn without(mut self, complaint: Complaint) -> Option<Self> {
        let before = self;
        match complaint {
            Complaint::MaxCompletionTokens => self.token_key = TokenKey::MaxTokens,
            Complaint::MaxTokens => self.token_key = TokenKey::MaxCompletionTokens,
            Complaint::Temperature => self.temperature = false,
            Complaint::Thinking => {
                self.thinking = match self.thinking {
                    ThinkingForm::Enabled => ThinkingForm::Adaptive,
                    ThinkingForm::Adaptive | ThinkingForm::Off => ThinkingForm::Off,
                }
            }
            Complaint::ToolChoice => {
                self.tool_choice = match self.tool_choice {
                    ToolChoiceForm::Full => ToolChoiceForm::Auto,
                    ToolChoiceForm::Auto | ToolChoiceForm::Absent => ToolChoiceForm::Absent,
                }
            }
            Complaint::Tools => self.text_mode = true,
            Complaint::SystemRole => self.system_as_user = true,
        }
        (self != before).then_some(self)
    }

    /// The request in this form, as far as it does not depend on a vendor.
    pub(crate) fn apply(&self, ask: &ChatRequest) -> ChatRequest {
        let mut ask = ask.clone();
        if self.text_mode {
            ask.system = format!(
                "{}\n\nAnswer with this JSON object only, without any other text. Its schema:\n{}",
                ask.system, ask.reply_schema
            );
            ask.tools.clear();
            ask.tool_choice = ToolChoice::None;
            for message in &mut ask.messages {
                flatten_tools(message);
            }
        }
        if self.system_as_user {
            let system = std::mem::take(&mut ask.system);
            match ask.messages.first_mut() {
                Some(first) if first.role == Role::User => first.parts.insert(0, Part::Text(system)),
                _ => ask.messages.insert(0, Message::user(system)),
            }
        }
        if ask.tool_choice == ToolChoice::Submit && self.tool_choice != ToolChoiceForm::Full {
            ask.tool_choice = ToolChoice::Auto;
        }
        ask
    }
}

/// Tool calls and results as text, for a service that knows neither.
fn flatten_tools(message: &mut Message) {
    for part in &mut message.parts {
        let text = match part {
            Part::ToolCall { name, arguments, .. } => format!("[call {name}] {arguments}"),
            Part::ToolResult { name, content, .. } => format!("[result of {name}] {content}"),
            Part::Text(_) | Part::Opaque(_) => continue,
        };
        *part = Part::Text(text);
    }
    message.parts.retain(|part| !matches!(part, Part::Opaque(_)));
}

/// What a service said it does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Complaint {
    /// The newer name of the token limit.
    MaxCompletionTokens,
    /// The older name of the token limit.
    MaxTokens,
    /// A temperature.
    Temperature,
    /// The form of thinking.
    Thinking,
    /// Forcing or naming a tool choice.
    ToolChoice,
    /// Tools at all.
    Tools,
    /// A system message.
    SystemRole,
}

/// What was learned, per address and model, for the life of the process.
#[derive(Debug, Default)]
pub(crate) struct Learned(Mutex<HashMap<(String, String), WireShape>>);

impl Learned {
    /// The form to start with.
    pub(crate) fn shape(&self, endpoint: &str, model: Option<&str>, initial: WireShape) -> WireShape {
        let learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.get(&(endpoint.to_owned(), model.unwrap_or_default().to_owned())).copied().unwrap_or(initial)
    }

    /// Remembers a form.
    pub(crate) fn remember(&self, endpoint: &str, model: Option<&str>, shape: WireShape) {
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned.insert((endpoint.to_owned(), model.unwrap_or_default().to_owned()), shape);
    }
}
