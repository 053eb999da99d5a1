//! What every agent is asked in the same way: options of its own, and whom to ask for words.

use perfxpert_agent::{AgentSpec, Creativity, OnFailure, Plan};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::options::{CreativityWord, FailureWord, ProviderWord, RunOptions};
use serde_json::{Map, Value};

use super::asking::Asked;
use crate::{Context, arguments, schema};

/// Options that every agent takes.
const SHARED: [&str; 4] = ["max_output_tokens", "on_llm_failure", "preview_request", "thinking_tokens"];

/// One call of an agent: its options, and whom to ask.
pub(super) struct Ask {
    pub(super) agent: &'static AgentSpec,
    pub(super) options: RunOptions,
    pub(super) plan: Plan,
    pub(super) session: Option<String>,
}

/// The arguments around an agent's input.
pub(super) struct Envelope {
    pub(super) provider: Option<ProviderWord>,
    pub(super) model: Option<String>,
    pub(super) airgap: Option<bool>,
    pub(super) session_id: Option<String>,
    pub(super) options: Map<String, Value>,
}

impl Ask {
    /// Reads the options, checks the session id, and decides whom to ask before any file is opened.
    ///
    /// # Errors
    /// `invalid_argument` for options, also for those of other agents; `provider` when the service cannot be asked.
    pub(super) fn open(
        context: &Context,
        agent: &'static AgentSpec,
        own: &[&str],
        envelope: Envelope,
    ) -> Result<Self, ErrorObject> {
        let given: Vec<String> = envelope
            .options
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, _)| key.clone())
            .collect();
        let checked = arguments::check_nested(&schema::input::<RunOptions>(), "options", envelope.options)?;
        let foreign =
            given.iter().find(|key| !SHARED.contains(&key.as_str()) && !own.contains(&key.as_str()));
        if let Some(key) = foreign {
            let mut names: Vec<&str> = SHARED.iter().chain(own).copied().collect();
            names.sort_unstable();
            return Err(ErrorObject::invalid(
                &format!("options.{key}"),
                format!("{} does not take the option {key}.", agent.name),
                format!("It takes {}.", names.join(", ")),
            ));
        }
        let options: RunOptions = serde_json::from_value(Value::Object(checked)).map_err(|fault| {
            ErrorObject::invalid(
                "options",
                format!("The options cannot be read: {fault}."),
                "Compare them with the schema.",
            )
        })?;
        let asked = Asked {
            provider: envelope.provider,
            model: envelope.model.as_ref(),
            airgap: envelope.airgap,
            session_id: envelope.session_id.as_deref(),
            options: &options,
        };
        let plan = asked.preflight(context)?;
        Ok(Self { agent, options, plan, session: envelope.session_id })
    }

    pub(super) fn creativity(&self) -> Option<Creativity> {
        self.options.creativity.map(|word| match word {
            CreativityWord::Strict => Creativity::Strict,
            CreativityWord::Exploratory => Creativity::Exploratory,
        })
    }

    pub(super) fn on_failure(&self) -> OnFailure {
        match self.options.on_llm_failure.unwrap_or_default() {
            FailureWord::Fallback => OnFailure::Fallback,
            FailureWord::Error => OnFailure::Error,
        }
    }
}

/// Says `entering` now and `exit` at the end, whatever happens in between.
pub(super) struct Entered<'a> {
    context: &'a Context,
    name: &'static str,
}

impl<'a> Entered<'a> {
    pub(super) fn new(context: &'a Context, agent: &'static AgentSpec) -> Self {
        let name = agent.short_name();
        context.phase(&format!("entering {name}"), 0.0, None);
        Self { context, name }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.context.phase(&format!("exit {}", self.name), 1.0, None);
    }
}
