//! Everything the runtime takes from its surroundings, read once from an injected map of variables.

mod read;

pub use read::boolean;

use std::collections::BTreeMap;
use std::path::PathBuf;

use perfxpert_schemas::tools::agent::run::{Notice, ProviderName};

use crate::adapt::{ThinkingForm, TokenKey, ToolChoiceForm};
use crate::budget::Budgets;
use crate::prompt::FenceProfile;
use crate::run::Creativity;
use crate::secret::Secret;

/// What is known about a model by the beginning of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelQuirk {
    /// Only at this provider; everywhere when absent.
    pub provider: Option<ProviderName>,
    /// Beginning of the model id.
    pub prefix: String,
    /// Whether a temperature is accepted.
    pub temperature: Option<bool>,
    /// How thinking is asked for.
    pub thinking: Option<ThinkingForm>,
    /// Name of the token limit.
    pub token_key: Option<TokenKey>,
    /// How far `tool_choice` may go.
    pub tool_choice: Option<ToolChoiceForm>,
    /// Whether tools are accepted.
    pub tools: Option<bool>,
}

/// Facts about model services; the knowledge crate holds them, the caller passes them in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LlmFacts {
    /// Built-in model per provider.
    pub models: BTreeMap<ProviderName, String>,
    /// What is known by model name.
    pub quirks: Vec<ModelQuirk>,
    /// Beginnings of messages that mean the allowance is used up although no code says so.
    pub quota_messages: Vec<String>,
}

/// A table of facts that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the facts about model services hold an unknown word: {0}")]
pub struct UnknownFact(pub String);

impl LlmFacts {
    /// Facts from plain tables: model per provider, rows of quirks, beginnings of messages.
    ///
    /// # Errors
    /// [`UnknownFact`] with the first provider, key or word that is not known.
    pub fn from_tables(
        models: &BTreeMap<String, String>,
        quirks: &[BTreeMap<String, String>],
        quota_messages: &[String],
    ) -> Result<Self, UnknownFact> {
        let provider = |name: &str| ProviderName::parse(name).ok_or_else(|| UnknownFact(name.to_owned()));
        let models = models
            .iter()
            .map(|(name, model)| Ok((provider(name)?, model.clone())))
            .collect::<Result<_, _>>()?;
        let quirks = quirks.iter().map(quirk).collect::<Result<_, _>>()?;
        Ok(Self { models, quirks, quota_messages: quota_messages.to_vec() })
    }
}

fn quirk(row: &BTreeMap<String, String>) -> Result<ModelQuirk, UnknownFact> {
    let mut quirk = ModelQuirk {
        provider: None,
        prefix: String::new(),
        temperature: None,
        thinking: None,
        token_key: None,
        tool_choice: None,
        tools: None,
    };
    for (key, word) in row {
        let unknown = || UnknownFact(format!("{key}: {word}"));
        let accepted = || match word.as_str() {
            "accepted" => Ok(Some(true)),
            "refused" => Ok(Some(false)),
            _ => Err(unknown()),
        };
        match (key.as_str(), word.as_str()) {
            ("prefix", prefix) => quirk.prefix = prefix.to_owned(),
            ("provider", name) => quirk.provider = Some(ProviderName::parse(name).ok_or_else(unknown)?),
            ("temperature", _) => quirk.temperature = accepted()?,
            ("tools", _) => quirk.tools = accepted()?,
            ("thinking", "enabled") => quirk.thinking = Some(ThinkingForm::Enabled),
            ("thinking", "adaptive") => quirk.thinking = Some(ThinkingForm::Adaptive),
            ("thinking", "off") => quirk.thinking = Some(ThinkingForm::Off),
            ("token_key", "max_tokens") => quirk.token_key = Some(TokenKey::MaxTokens),
            ("token_key", "max_completion_tokens") => quirk.token_key = Some(TokenKey::MaxCompletionTokens),
            ("tool_choice", "full") => quirk.tool_choice = Some(ToolChoiceForm::Full),
            ("tool_choice", "auto") => quirk.tool_choice = Some(ToolChoiceForm::Auto),
            ("tool_choice", "absent") => quirk.tool_choice = Some(ToolChoiceForm::Absent),
            _ => return Err(unknown()),
        }
    }
    if quirk.prefix.is_empty() {
        // An empty beginning would hold for every model.
        return Err(UnknownFact("a quirk without prefix".to_owned()));
    }
    Ok(quirk)
}

/// What the configuration file says; credentials are not among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigValues {
    /// `airgap`.
    pub airgap: Option<bool>,
    /// The file exists but cannot be read: everything runs air-gapped.
    pub unreadable: bool,
    /// `fallback_chain`.
    pub fallback_chain: Vec<String>,
    /// `model`.
    pub model: Option<String>,
    /// `max_tokens`.
    pub max_tokens: Option<u32>,
    /// `agent_creativity`.
    pub agent_creativity: Option<String>,
    /// `fence_profile`.
    pub fence_profile: Option<String>,
}

/// Names of this machine and its user that must not leave it.
#[derive(Clone, Default)]
pub struct Identity {
    /// Home folder.
    pub home: Option<String>,
    /// Login name.
    pub login: Option<String>,
    /// Host name.
    pub host: Option<String>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity(***)")
    }
}

/// A credential and the variable it came from.
#[derive(Clone, Debug)]
pub(crate) struct Credential {
    pub(crate) value: Secret,
    pub(crate) variable: &'static str,
}

/// What is set for one provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct VendorSettings {
    /// First non-empty credential, the command-line one aside.
    pub(crate) credential: Option<Credential>,
    /// Address and the variable it came from; `None` for opencode and an unset private endpoint.
    pub(crate) url: Option<(String, &'static str)>,
    /// Whether the environment names the address.
    pub(crate) url_is_set: bool,
    /// Pins of this provider, highest first, with their variables.
    pub(crate) pins: Vec<(String, String)>,
}

/// Extra headers of the private endpoint: read, refused, or not set.
#[derive(Clone, Debug, Default)]
pub(crate) enum PrivateHeaders {
    /// Not set.
    #[default]
    Unset,
    /// Names and values, in the order given.
    Read(Vec<(String, Secret)>),
    /// Why they cannot be used, without any value.
    Refused(String),
}

/// Proxies; an address may hold a password.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    pub(crate) https: Option<Secret>,
    pub(crate) http: Option<Secret>,
    pub(crate) except: Option<String>,
}

/// The environment of a child process, never shown.
#[derive(Clone, Default)]
pub(crate) struct ChildEnvironment(pub(crate) BTreeMap<String, String>);

impl std::fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChildEnvironment({} variables)", self.0.len())
    }
}

/// Everything the runtime takes from its surroundings. `Debug` shows no credential.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Why no model may be asked; `None` when one may.
    pub airgap: Option<String>,
    /// Next providers, as written.
    pub fallback_chain: Vec<String>,
    /// Creativity when the caller names none.
    pub creativity: Creativity,
    /// How much of each prompt file is used.
    pub fence_profile: FenceProfile,
    /// Output tokens per turn when the caller names none.
    pub max_output_tokens: u32,
    /// Limits.
    pub budgets: Budgets,
    /// Whether a 429 is asked again.
    pub retry_rate_limits: bool,
    /// Names that must not leave the machine.
    pub identity: Identity,
    /// Facts about model services.
    pub facts: LlmFacts,
    /// What was wrong with a variable, and deprecated ones in use.
    pub notices: Vec<Notice>,
    pub(crate) vendors: BTreeMap<ProviderName, VendorSettings>,
    pub(crate) cli_credential: Option<Credential>,
    pub(crate) any_model: Option<(String, &'static str)>,
    pub(crate) last_model: Option<(String, &'static str)>,
    pub(crate) private_headers: PrivateHeaders,
    pub(crate) private_verify: bool,
    pub(crate) openai_scope: Vec<(&'static str, String)>,
    pub(crate) ca_bundle: Option<PathBuf>,
    pub(crate) proxies: Proxies,
    pub(crate) in_opencode: bool,
    pub(crate) opencode: Option<PathBuf>,
    pub(crate) child_environment: ChildEnvironment,
    pub(crate) secrets: Vec<Secret>,
}

impl Settings {
    /// Reads the settings of this process: its environment and host name. The one place that touches them.
    pub fn from_process(config: &ConfigValues, facts: LlmFacts) -> Self {
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut settings = Self::from_map(&environment, config, facts);
        settings.identity.host = settings.identity.host.or_else(host_name);
        settings
    }

    /// What is set for a provider.
    pub(crate) fn vendor(&self, name: ProviderName) -> VendorSettings {
        self.vendors.get(&name).cloned().unwrap_or_default()
    }
}

#[cfg(unix)]
fn host_name() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn host_name() -> Option<String> {
    None
}

#[cfg(test)]
mod tests;
