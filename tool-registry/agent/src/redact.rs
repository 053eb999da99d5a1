//! What leaves this machine and what comes back: secrets go, paths become tokens that map back.
//!
//! A provider only ever gets an [`Outbound`], and only [`Redactor::outbound`] makes one.

mod paths;
mod secrets;

use std::sync::{Arc, Mutex, PoisonError};

use regex::Regex;
use serde_json::{Map, Value};

pub use paths::PathRoot;
pub(crate) use paths::{PathMap, UnknownPath};
pub(crate) use secrets::Scrubber;

use crate::message::{ChatRequest, Part};
use crate::settings::Identity;

/// Passes after which a text counts as settled; the second is nearly always the last.
const PASSES: usize = 8;

/// A request that was redacted. There is no other way to make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Outbound(ChatRequest);

impl Outbound {
    /// The redacted request.
    pub fn request(&self) -> &ChatRequest {
        &self.0
    }
}

/// The redaction of one run: known secrets, known paths, and the names of machine and user.
pub struct Redactor {
    scrubber: Arc<Scrubber>,
    paths: Mutex<PathMap>,
    identity: Option<Regex>,
    host: Option<Regex>,
    network: Option<Regex>,
    /// Off only in the positive controls of the leak tests.
    on: bool,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    pub(crate) fn new(scrubber: Arc<Scrubber>, roots: &[PathRoot], identity: &Identity) -> Self {
        let word = |text: &Option<String>| {
            let text = text.as_deref().map(str::trim)?;
            let short = text.split('.').next().unwrap_or(text);
            let forms: Vec<String> = [text, short]
                .into_iter()
                .filter(|form| form.chars().count() >= 3 && !is_token_word(form))
                .map(regex::escape)
                .collect();
            let pattern = format!(r"(?i)\b(?:{})\b", forms.join("|"));
            (!forms.is_empty()).then(|| Regex::new(&pattern).ok()).flatten()
        };
        Self {
            scrubber,
            paths: Mutex::new(PathMap::new(roots, identity.home.as_deref())),
            identity: word(&identity.login),
            host: word(&identity.host),
            network: Regex::new(NETWORK).ok(),
            on: true,
        }
    }

    /// A redactor that does nothing, to prove that the leak tests would notice.
    #[cfg(test)]
    pub(crate) fn switched_off(scrubber: Arc<Scrubber>, roots: &[PathRoot], identity: &Identity) -> Self {
        Self { on: false, ..Self::new(scrubber, roots, identity) }
    }

    /// Redacts a whole request. Our own prompt and tool descriptions hold no path of this machine, so only secrets
    /// are looked for in them.
    pub fn outbound(&self, mut request: ChatRequest) -> Outbound {
        if !self.on {
            return Outbound(request);
        }
        request.system = self.scrubber.scrub(&request.system);
        request.model = request.model.map(|model| self.scrubber.scrub(&model));
        for tool in &mut request.tools {
            tool.description = self.scrubber.scrub(&tool.description);
        }
        for message in &mut request.messages {
            // A block that must go back unchanged goes back without us when it repeats a secret.
            message.parts.retain(|part| match part {
                Part::Opaque(block) => !self.scrubber.knows(&block.to_string()),
                _ => true,
            });
            for (place, part) in message.parts.iter_mut().enumerate() {
                match part {
                    Part::Text(text) => *text = self.text(text),
                    Part::ToolCall { id, name, arguments } => {
                        self.scrubber.scrub_identifier(id, place);
                        self.scrubber.scrub_identifier(name, place);
                        self.value(arguments);
                    }
                    Part::ToolResult { id, name, content, .. } => {
                        self.scrubber.scrub_identifier(id, place);
                        self.scrubber.scrub_identifier(name, place);
                        *content = self.text(content);
                    }
                    Part::Opaque(_) => {}
                }
            }
        }
        Outbound(request)
    }

    /// Redacts one text: secrets, then paths, then names. Redacting the result again changes nothing.
    pub fn text(&self, text: &str) -> String {
        if !self.on {
            return text.to_owned();
        }
        let mut text = text.to_owned();
        for _ in 0..PASSES {
            let next = self.pass(&text);
            if next == text {
                break;
            }
            text = next;
        }
        text
    }

    fn pass(&self, text: &str) -> String {
        let text = self.scrubber.scrub(text);
        let text = self.paths.lock().unwrap_or_else(PoisonError::into_inner).tokens(&text);
        let swap = |rule: &Option<Regex>, text: String, by: &str| match rule {
            Some(rule) if rule.is_match(&text) => rule.replace_all(&text, by).into_owned(),
            _ => text,
        };
        let text = match &self.network {
            Some(rule) => rule
                .replace_all(
                    &text,
                    |found: &regex::Captures<'_>| {
                        if found.name("mail").is_some() { "[EMAIL]" } else { "[HOST]" }
                    },
                )
                .into_owned(),
            None => text,
        };
        let text = swap(&self.host, text, "[HOST]");
        swap(&self.identity, text, "[USER]")
    }

    /// Redacts every string of a JSON value, and every key that is not a plain field name.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                let fields = std::mem::take(map);
                *map = fields
                    .into_iter()
                    .map(|(key, mut item)| {
                        self.value(&mut item);
                        (if is_field_name(&key) { self.scrubber.scrub(&key) } else { self.text(&key) }, item)
                    })
                    .collect::<Map<String, Value>>();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Puts the caller's paths back into arguments of a tool call.
    pub(crate) fn restore_arguments(&self, arguments: &mut Value) -> Result<(), UnknownPath> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).restore_arguments(arguments)
    }

    /// Puts what the caller wrote back into a sentence; an unknown token is an error.
    pub(crate) fn restore_text(&self, text: &str) -> Result<String, UnknownPath> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).restore_text(text)
    }

    /// Whether a text holds something that looks like a secret.
    pub(crate) fn holds_secret(&self, text: &str) -> bool {
        self.scrubber.scrub(text) != text
    }

    /// Tokens of the known roots, for the gate.
    pub(crate) fn root_tokens(&self) -> Vec<String> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).root_tokens()
    }
}

/// E-mail addresses, IPv4 and IPv6.
const NETWORK: &str = r"(?x)
    (?P<mail>[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)
  | \b(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\b
  | \b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b
  | \b(?:[0-9A-Fa-f]{1,4}:){2,6}:(?:[0-9A-Fa-f]{1,4}:){0,5}[0-9A-Fa-f]{1,4}\b";

/// Words of our own tokens. A login of that name says nothing about a person and would break the tokens.
fn is_token_word(word: &str) -> bool {
    let words = ["path", "host", "user", "email", "redacted", "src", "new", "att", "log", "baseline"];
    words.iter().any(|own| word.eq_ignore_ascii_case(own))
}

fn is_field_name(key: &str) -> bool {
    key.len() <= 40
        && key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests;
