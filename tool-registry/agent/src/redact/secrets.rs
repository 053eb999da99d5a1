//! Finds secrets: known values in every encoding, and the shapes credentials have.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use regex::Regex;
use serde_json::Value;

use crate::secret::Secret;

/// What stands where a secret stood.
pub(crate) const REDACTED: &str = "[REDACTED]";
/// Shorter values are not searched for: they would hit ordinary words.
const SHORTEST: usize = 8;

/// Shapes of credentials.
const SHAPES: &str = r"(?x)
    -----BEGIN\x20[A-Z\x20]*PRIVATE\x20KEY-----[\s\S]*?(?:-----END\x20[A-Z\x20]*PRIVATE\x20KEY-----|\z)
  | \bsk-ant-[A-Za-z0-9_-]{8,}
  | \bsk-(?:proj-)?[A-Za-z0-9_-]{20,}
  | \bgh[posu]_[A-Za-z0-9]{36}
  | \bgithub_pat_[A-Za-z0-9_]{20,}
  | \bglpat-[A-Za-z0-9_-]{16,}
  | \bhf_[A-Za-z0-9]{30,}
  | \bxox[abprs]-[A-Za-z0-9-]{8,}
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
  | \bAIza[A-Za-z0-9_-]{35}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}
  ";
/// A word in front decides; the word stays, the value goes.
const LABELLED: &str = r#"(?ix)
    (?P<lead>\bbearer\s+)(?P<bearer>[A-Za-z0-9._~+/=-]{16,})
  | (?P<url>[a-z][a-z0-9+.-]*://)(?P<user>[^\s/?\#@"'\[\]]+@)
  | (?P<label>(?:password|passwd|secret|token|api[_-]?key|authorization)(?:\\?["'])?\s*[=:]\s*(?:\\?["'])?)
    (?P<value>[^\s"'\\,;&<>{}()]{8,})
"#;

/// Replaces secrets in texts and values.
pub(crate) struct Scrubber {
    /// Known values in every encoding, longest first.
    forms: Vec<String>,
    /// The same as one pattern; without it the forms are searched one by one.
    known: Option<Regex>,
    shapes: Option<Regex>,
    labelled: Option<Regex>,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrubber")
    }
}

impl Scrubber {
    /// A scrubber for these values and for everything that looks like a credential.
    pub(crate) fn new(secrets: &[Secret]) -> Self {
        let mut forms: Vec<String> = secrets
            .iter()
            .map(Secret::expose)
            .filter(|value| value.chars().count() >= SHORTEST)
            .flat_map(encodings)
            .collect();
        // Longest first, so that a secret inside another does not leave a rest.
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        let pattern = forms.iter().map(|form| regex::escape(form)).collect::<Vec<_>>().join("|");
        let known = (!forms.is_empty())
            .then(|| regex::RegexBuilder::new(&pattern).size_limit(64 << 20).build().ok())
            .flatten();
        Self { forms, known, shapes: Regex::new(SHAPES).ok(), labelled: Regex::new(LABELLED).ok() }
    }

    /// Whether a text holds a known secret.
    pub(crate) fn knows(&self, text: &str) -> bool {
        match &self.known {
            Some(known) => known.is_match(text),
            None => self.forms.iter().any(|form| text.contains(form.as_str())),
        }
    }

    /// The text without secrets.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.known.is_none() {
            for form in &self.forms {
                text = text.replace(form.as_str(), REDACTED);
            }
        }
        for rule in [&self.known, &self.shapes].into_iter().flatten() {
            if rule.is_match(&text) {
                text = rule.replace_all(&text, REDACTED).into_owned();
            }
        }
        match &self.labelled {
            Some(rule) if rule.is_match(&text) => rule
                .replace_all(&text, |found: &regex::Captures<'_>| {
                    let lead = ["lead", "url", "label"].iter().find_map(|name| found.name(name));
                    let lead = lead.map(|lead| lead.as_str()).unwrap_or_default();
                    // A user in front of a host goes without a trace; `[REDACTED]@host` would match again.
                    if found.name("user").is_some() { lead.to_owned() } else { format!("{lead}{REDACTED}") }
                })
                .into_owned(),
            _ => text,
        }
    }

    /// A name or id of a tool call: services accept letters, digits and underscores only, so one that holds a secret
    /// is replaced as a whole.
    pub(crate) fn scrub_identifier(&self, identifier: &mut String, place: usize) {
        if self.scrub(identifier) != *identifier {
            *identifier = format!("redacted_{place}");
        }
    }

    /// Every string of a JSON value without secrets.
    pub(crate) fn scrub_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.scrub(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_value(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.scrub_value(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A body that is JSON is scrubbed string by string, any other as one text.
    pub(crate) fn scrub_json_text(&self, text: &str) -> String {
        match serde_json::from_str::<Value>(text) {
            Ok(mut value) => {
                self.scrub_value(&mut value);
                value.to_string()
            }
            Err(_) => self.scrub(text),
        }
    }
}

/// A value as it is, JSON-escaped, percent-encoded, and in base64 with and without padding.
fn encodings(value: &str) -> Vec<String> {
    let json = Value::from(value).to_string();
    let json = json.trim_start_matches('"').trim_end_matches('"').to_owned();
    let percent: String = value
        .bytes()
        .map(|byte| {
            let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
            if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
        })
        .collect();
    let mut forms = vec![value.to_owned(), json, percent.to_ascii_lowercase(), percent];
    for engine in [&STANDARD, &URL_SAFE] {
        // The form without padding is the beginning of the padded one and matches both; a trailing `=` is harmless.
        forms.push(engine.encode(value).trim_end_matches('=').to_owned());
    }
    forms.sort();
    forms.dedup();
    forms
}
