//! The options that let a language model word an answer, and what they mean together with air-gap and credentials.

use clap::Arg;
use serde_json::{Map, Value};

use crate::environment::table::PROVIDERS;
use crate::failure::Failure;
use crate::options::{self, Absent, Values};
use crate::settings::Settings;
use crate::{App, environment};

/// Thinking tokens that may be asked for.
const THINKING: std::ops::RangeInclusive<i64> = 1024..=64_000;

/// The options. `thinking` is only offered where the tool takes it.
pub fn arguments(thinking: bool) -> Vec<Arg> {
    let mut arguments = vec![
        Arg::new("llm")
            .long("llm")
            .value_name("PROVIDER")
            .help(format!(
                "Let a model word the narrative: {}; without a value the configured provider",
                PROVIDERS.join(", ")
            ))
            .num_args(0..=1)
            .default_missing_value(""),
        options::value(
            "llm-api-key",
            "KEY",
            "Credential for this run: text, @FILE, or - for stdin",
            Absent::NOTHING,
        ),
        options::value("llm-model", "MODEL", "Model; beats every variable", Absent::NOTHING),
        options::switch("llm-strict", "Provider failure: no report", None),
        options::switch("airgap", "Never use a model", Some("PERFXPERT_AIRGAP")),
    ];
    if thinking {
        let absent = Absent::NOTHING.or_variable("PERFXPERT_LLM_THINKING");
        arguments.push(options::value(
            "llm-thinking",
            "TOKENS",
            "Thinking tokens, 1024 to 64000; anthropic only",
            absent,
        ));
    }
    arguments
}

/// What was decided about models.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The provider to ask; `None` is deterministic.
    pub provider: Option<String>,
    /// The credential of `--llm-api-key`.
    pub api_key: Option<String>,
    model: Option<String>,
    thinking: Option<i64>,
    strict: bool,
    airgap: bool,
}

impl Model {
    /// Reads the options, warns of what is ignored.
    ///
    /// # Errors
    /// `usage` for an unknown provider, or an option that would have no effect.
    pub fn read(app: &App, values: &Values<'_>, settings: &Settings) -> Result<Self, Failure> {
        let asked = values.is_given("llm");
        if !asked {
            for option in ["llm-api-key", "llm-model", "llm-thinking", "llm-strict"] {
                if values.is_given(option) {
                    let option = format!("--{option}");
                    let message = format!("{option}: has no effect without --llm.");
                    return Err(Failure::usage(&option, message, "Add --llm PROVIDER or leave it out."));
                }
            }
        }
        let provider = match values.text("llm").filter(|_| asked) {
            None => None,
            Some("") => settings.word(&app.environment, "provider")?,
            Some("claude-code") => Some("opencode".to_owned()),
            Some(name) if PROVIDERS.contains(&name) => Some(name.to_owned()),
            Some(name) => return Err(Failure::choice("--llm", name, &PROVIDERS)),
        };
        let mut thinking = values.integer("llm-thinking", THINKING)?;
        if thinking.is_some() && provider.as_deref() != Some("anthropic") {
            let message = "--llm-thinking: only anthropic thinks by the token.";
            return Err(Failure::usage("--llm-thinking", message, "Leave it out or use --llm anthropic."));
        }
        if thinking.is_none() && provider.as_deref() == Some("anthropic") {
            thinking = app.environment.integer("PERFXPERT_LLM_THINKING", THINKING)?;
        }
        let airgap = settings.airgap(&app.environment, values.switch("airgap"));
        if let (Some(why), Some(name)) = (airgap, &provider) {
            app.terminal.warn(&format!("air-gap is on ({why}); --llm {name} is ignored"));
            return Ok(Self { airgap: true, ..Self::default() });
        }
        let api_key = values.text("llm-api-key").map(credential).transpose()?;
        if let (Some(key), Some(name)) = (&api_key, &provider) {
            warn_of_another(app, key, name);
        }
        Ok(Self {
            provider,
            api_key,
            model: values.text("llm-model").map(str::to_owned),
            thinking,
            strict: values.switch("llm-strict"),
            airgap: airgap.is_some(),
        })
    }

    /// Writes provider and air-gap into the arguments, the rest into their `options`.
    pub fn fill(&self, arguments: &mut Map<String, Value>, options: &mut Map<String, Value>) {
        arguments.insert("airgap".to_owned(), Value::Bool(self.airgap));
        if let Some(provider) = &self.provider {
            arguments.insert("provider".to_owned(), Value::from(provider.as_str()));
            options.insert(
                "on_llm_failure".to_owned(),
                Value::from(if self.strict { "error" } else { "fallback" }),
            );
        }
        if let Some(model) = &self.model {
            options.insert("model".to_owned(), Value::from(model.as_str()));
        }
        if let Some(tokens) = self.thinking {
            options.insert("thinking_tokens".to_owned(), Value::from(tokens));
        }
    }
}

/// The credential itself, the first line of a file, or of standard input.
fn credential(text: &str) -> Result<String, Failure> {
    let first = |content: String| content.lines().next().unwrap_or_default().trim().to_owned();
    let key = match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map(first).map_err(|error| {
            let message = format!("--llm-api-key: {path} cannot be read: {error}.");
            Failure::usage("--llm-api-key", message, "Give a file whose first line is the key.")
        })?,
        None if text == "-" => {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map_err(|error| {
                let message = format!("--llm-api-key: stdin cannot be read: {error}.");
                Failure::usage("--llm-api-key", message, "Send the key as the first line.")
            })?;
            first(line)
        }
        None => text.trim().to_owned(),
    };
    if key.is_empty() {
        let message = "--llm-api-key: the key is empty.";
        return Err(Failure::usage("--llm-api-key", message, "Give the key, @FILE, or - for stdin."));
    }
    Ok(key)
}

/// Says which variable lost against the option; never a value.
fn warn_of_another(app: &App, key: &str, provider: &str) {
    let names: &[&str] = match provider {
        "anthropic" => &["ANTHROPIC_API_KEY", "PERFXPERT_LLM_ANTHROPIC_KEY", "ROCPD_LLM_ANTHROPIC_KEY"],
        "openai" => &["OPENAI_API_KEY", "PERFXPERT_LLM_OPENAI_KEY", "ROCPD_LLM_OPENAI_KEY"],
        "private" => &["PERFXPERT_LLM_PRIVATE_API_KEY"],
        "ollama" => &["PERFXPERT_LLM_OLLAMA_KEY"],
        _ => &[],
    };
    let lost = |environment: &environment::Environment| {
        environment.first(names).filter(|(_, value)| value.trim() != key).map(|(name, _)| name.to_owned())
    };
    if let Some(name) = lost(&app.environment) {
        app.terminal.warn(&format!("--llm-api-key is used instead of {name}"));
    }
}
