//! Decides from settings alone who may be asked for words, before any file or socket is opened.

use std::sync::Arc;

use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::run::{Notice, ProviderName, ProviderSubKind, provider_error};
use reqwest::Url;

use crate::clock::Clock;
use crate::error::{FailureKind, FatalCode, ProviderError, auth_sentence};
use crate::http::{Http, HttpSettings, is_loopback, read_roots, sensitive};
use crate::ladder;
use crate::provider::Provider;
use crate::providers::{Dialect, HttpProvider, HttpProviderSettings, OpenCode};
use crate::redact::Scrubber;
use crate::settings::{Credential, PrivateHeaders, Settings, VendorSettings};

/// What a caller asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// The provider, as written; none is no model, whatever keys are set.
    pub provider: Option<String>,
    /// Top of the model ladder.
    pub model: Option<String>,
    /// The caller's own air-gap.
    pub airgap: bool,
}

/// One service of the chain.
#[derive(Clone)]
pub struct Candidate {
    pub(crate) name: ProviderName,
    pub(crate) model: Option<String>,
    pub(crate) model_source: String,
    /// The service, or why it is passed over.
    pub(crate) provider: Result<Arc<dyn Provider>, String>,
}

impl Candidate {
    /// A candidate with a provider made elsewhere, such as a replayed one.
    pub fn with_provider(provider: Arc<dyn Provider>, model: Option<&str>, model_source: &str) -> Self {
        Self {
            name: provider.name(),
            model: model.map(str::to_owned),
            model_source: model_source.to_owned(),
            provider: Ok(provider),
        }
    }
}

impl std::fmt::Debug for Candidate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Candidate({}, {:?})", self.name, self.model)
    }
}

/// The outcome of a preflight: whom to ask, in order; nobody is a deterministic answer.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Effective air-gap.
    pub airgap: bool,
    /// The provider the caller asked for.
    pub requested: Option<ProviderName>,
    /// The chain, the requested one first.
    pub candidates: Vec<Candidate>,
    /// What the caller should know.
    pub notices: Vec<Notice>,
}

impl Plan {
    /// Whether a model will be asked.
    pub fn uses_model(&self) -> bool {
        !self.candidates.is_empty()
    }
}

/// Whether a provider can be used, as `providers`, `doctor` and `init` show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderStatus {
    /// The provider.
    pub name: ProviderName,
    /// Everything it needs is set.
    pub configured: bool,
    /// What to set when it is not.
    pub missing: Option<&'static str>,
    /// The model it would be asked for; `None` lets the service choose.
    pub model: Option<String>,
    /// Which setting named the model.
    pub model_source: String,
    /// Host of its address, without user, password and path.
    pub host: Option<String>,
}

/// The one probe that decides "configured" on every surface. It looks at settings only.
pub fn probe(settings: &Settings) -> Vec<ProviderStatus> {
    let status = |name: ProviderName| {
        let vendor = settings.vendor(name);
        let configured = match name {
            ProviderName::Anthropic | ProviderName::OpenAi => vendor.credential.is_some(),
            ProviderName::Ollama => vendor.url_is_set,
            ProviderName::Private => {
                vendor.url_is_set
                    && (vendor.credential.is_some()
                        || !matches!(settings.private_headers, PrivateHeaders::Unset))
            }
            ProviderName::OpenCode => settings.opencode.is_some(),
        };
        let choice = ladder::choose(settings, name, None, false);
        ProviderStatus {
            name,
            configured,
            missing: (!configured).then(|| name.credential_hint()),
            model: choice.model,
            model_source: choice.source,
            host: vendor.url.and_then(|(url, _)| host_of(&url, name)),
        }
    };
    ProviderName::ALL.into_iter().map(status).collect()
}

fn host_of(url: &str, name: ProviderName) -> Option<String> {
    let url = Url::parse(&normal_url(url, name)).ok()?;
    let host = url.host_str()?.to_owned();
    Some(url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}")))
}

/// Checks in this order: air-gap, names, recursion, credential, address, headers, certificates.
pub(crate) fn plan(
    settings: &Settings,
    choice: &ModelChoice,
    scrubber: &Arc<Scrubber>,
    clock: &Arc<dyn Clock>,
) -> Result<Plan, ErrorObject> {
    let airgap = choice.airgap || settings.airgap.is_some();
    let mut notices = Vec::new();
    let mut note = |code: &str, message: String| notices.push(Notice { code: code.to_owned(), message });
    let Some(asked) = choice.provider.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        if choice.model.is_some() {
            note("model_ignored", "`model` has no effect without `provider`.".to_owned());
        }
        return Ok(Plan { airgap, notices, ..Plan::default() });
    };
    if airgap {
        let why = settings.airgap.as_deref().unwrap_or("argument");
        let shown = ProviderName::parse(asked).map_or("the provider", ProviderName::as_str);
        note("airgap_overrides_provider", format!("Air-gap is on ({why}); {shown} is not asked."));
        return Ok(Plan { airgap, requested: ProviderName::parse(asked), candidates: Vec::new(), notices });
    }
    let requested = named(asked)?;
    let mut names = vec![requested];
    for next in &settings.fallback_chain {
        let next = named(next)?;
        if !names.contains(&next) {
            names.push(next);
        }
    }
    let mut candidates = Vec::new();
    for (place, name) in names.into_iter().enumerate() {
        let fallback = place > 0;
        let model = ladder::choose(settings, name, choice.model.as_deref().filter(|_| !fallback), fallback);
        let maker = Maker { settings, scrubber, clock, name, model: &model, fallback };
        let provider = match maker.make() {
            Ok(provider) => Ok(provider),
            Err(Refusal::Unusable(why)) if fallback => Err(why),
            Err(refusal) => return Err(refusal.into_error(name, model.model.as_deref())),
        };
        candidates.push(Candidate { name, model: model.model, model_source: model.source, provider });
    }
    notices.extend(settings.notices.iter().cloned());
    Ok(Plan { airgap, requested: Some(requested), candidates, notices })
}

fn named(text: &str) -> Result<ProviderName, ErrorObject> {
    ProviderName::parse(text).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
        let known: Vec<&str> = ProviderName::ALL.iter().map(|name| name.as_str()).collect();
        provider_error(
            ProviderSubKind::UnknownProvider,
            format!(
                "LLM provider '{shown}' is unknown. Choose anthropic, openai, ollama, private or opencode."
            ),
            "Correct `provider` or PERFXPERT_LLM_FALLBACK_CHAIN.",
        )
        .known(known)
    })
}

/// Why a provider cannot be used.
enum Refusal {
    /// Nothing to use it with; a fallback is passed over for this.
    Unusable(String),
    /// opencode inside its own session.
    Recursion,
    /// A setting that cannot be used; named, never shown.
    Setting(String),
}

impl Refusal {
    fn into_error(self, name: ProviderName, model: Option<&str>) -> ErrorObject {
        let object = match self {
            Self::Unusable(_) => provider_error(
                ProviderSubKind::Auth,
                auth_sentence(name),
                "Set the key, or call without provider for the deterministic answer.",
            ),
            Self::Recursion => provider_error(
                ProviderSubKind::Recursion,
                "LLM provider opencode cannot be used inside an opencode session. Choose another --llm, or run \
                 without --llm.",
                "Name another provider, or call without one.",
            ),
            Self::Setting(message) => {
                return ProviderError::new(FailureKind::Fatal(FatalCode::Setting), name, model, message)
                    .to_error_object()
                    .with("attempts", Vec::<String>::new());
            }
        };
        object.with("provider", name.as_str()).with("model", model).with("attempts", Vec::<String>::new())
    }
}

struct Maker<'a> {
    settings: &'a Settings,
    scrubber: &'a Arc<Scrubber>,
    clock: &'a Arc<dyn Clock>,
    name: ProviderName,
    model: &'a ladder::Choice,
    fallback: bool,
}

impl Maker<'_> {
    fn make(&self) -> Result<Arc<dyn Provider>, Refusal> {
        if self.name == ProviderName::OpenCode { self.opencode() } else { self.http() }
    }

    fn opencode(&self) -> Result<Arc<dyn Provider>, Refusal> {
        if self.settings.in_opencode {
            let why = "not usable inside its own session".to_owned();
            return Err(if self.fallback { Refusal::Unusable(why) } else { Refusal::Recursion });
        }
        let program = self.settings.opencode.clone();
        let program = program.ok_or_else(|| Refusal::Unusable("the program was not found".to_owned()))?;
        Ok(Arc::new(OpenCode {
            program,
            environment: self.settings.child_environment.clone(),
            attempt_time: self.settings.budgets.child_attempt(),
            scrubber: Arc::clone(self.scrubber),
            facts: self.settings.facts.clone(),
            model_source: self.model.source.clone(),
        }))
    }

    fn http(&self) -> Result<Arc<dyn Provider>, Refusal> {
        let vendor = self.settings.vendor(self.name);
        let credential = self.credential(&vendor)?;
        let (base, url) = self.address(&vendor)?;
        let mut notices = Vec::new();
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| match sensitive(name, value) {
            Ok(header) => {
                headers.push(header);
                Ok(())
            }
            Err(_) => Err(Refusal::Setting(format!("the header `{name}` cannot be sent"))),
        };
        if let Some(credential) = &credential {
            match self.name {
                ProviderName::Anthropic => add("x-api-key", credential.value.expose())?,
                _ => add("authorization", &format!("Bearer {}", credential.value.expose()))?,
            }
        }
        if self.name == ProviderName::OpenAi {
            for (header, value) in &self.settings.openai_scope {
                add(header, value)?;
            }
        }
        let mut extra = false;
        if self.name == ProviderName::Private {
            match &self.settings.private_headers {
                PrivateHeaders::Unset => {}
                PrivateHeaders::Refused(why) => {
                    return Err(Refusal::Setting(format!(
                        "PERFXPERT_LLM_PRIVATE_HEADERS cannot be used: {why}"
                    )));
                }
                PrivateHeaders::Read(more) => {
                    extra = !more.is_empty();
                    for (name, value) in more {
                        add(name, value.expose())?;
                    }
                }
            }
        }
        let in_clear = url.scheme() == "http" && !is_loopback(&url) && (credential.is_some() || extra);
        let host = url.host_str().unwrap_or_default().to_owned();
        if in_clear {
            if matches!(self.name, ProviderName::Anthropic | ProviderName::OpenAi) {
                let variable = vendor.url.map_or("the base URL", |(_, variable)| variable);
                return Err(Refusal::Setting(format!(
                    "{variable} is plain http to another machine; a key is sent over https only"
                )));
            }
            notices.push(Notice {
                code: "credential_in_clear".to_owned(),
                message: format!("The credential of {} travels over plain http.", self.name),
            });
        }
        let verify = self.name != ProviderName::Private || self.settings.private_verify;
        if !verify && url.scheme() == "https" {
            tracing::warn!(host = host.as_str(), "the certificate of this host is not checked");
            notices.push(Notice {
                code: "tls_unverified".to_owned(),
                message: format!(
                    "The certificate of {host} is not checked (PERFXPERT_LLM_PRIVATE_VERIFY_SSL)."
                ),
            });
        }
        let extra_roots = match &self.settings.ca_bundle {
            None => Vec::new(),
            Some(path) => read_roots(path)
                .map_err(|why| Refusal::Setting(format!("PERFXPERT_LLM_CA_BUNDLE cannot be used: {why}")))?,
        };
        let http = Http::new(HttpSettings {
            proxies: self.settings.proxies.clone(),
            extra_roots,
            verify,
            connect_time: self.settings.budgets.connect_time,
            attempt_time: self.settings.budgets.http_attempt(),
        });
        let dialect = match self.name {
            ProviderName::Anthropic => Dialect::Anthropic,
            ProviderName::Ollama => Dialect::Ollama,
            ProviderName::OpenAi | ProviderName::Private | ProviderName::OpenCode => Dialect::OpenAi,
        };
        Ok(Arc::new(HttpProvider::new(HttpProviderSettings {
            name: self.name,
            dialect,
            base,
            headers,
            http,
            scrubber: Arc::clone(self.scrubber),
            facts: self.settings.facts.clone(),
            model_source: self.model.source.clone(),
            notices,
            clock: Arc::clone(self.clock),
        })))
    }

    /// The credential; the command line's counts for the requested provider only.
    fn credential(&self, vendor: &VendorSettings) -> Result<Option<Credential>, Refusal> {
        let from_flag = self.settings.cli_credential.clone().filter(|_| !self.fallback);
        let credential = match self.name {
            ProviderName::Ollama | ProviderName::OpenCode => vendor.credential.clone(),
            _ => from_flag.or_else(|| vendor.credential.clone()),
        };
        let needed = match self.name {
            ProviderName::Anthropic | ProviderName::OpenAi => true,
            ProviderName::Private => matches!(self.settings.private_headers, PrivateHeaders::Unset),
            ProviderName::Ollama | ProviderName::OpenCode => false,
        };
        match &credential {
            None if needed => Err(Refusal::Unusable("no credential".to_owned())),
            Some(found) if !found.value.fits_a_header() => {
                Err(Refusal::Setting(format!("{} holds characters that no credential has", found.variable)))
            }
            _ => Ok(credential),
        }
    }

    /// The base address without a trailing slash, and as a URL.
    fn address(&self, vendor: &VendorSettings) -> Result<(String, Url), Refusal> {
        let Some((text, variable)) = &vendor.url else {
            return Err(Refusal::Unusable("no address".to_owned()));
        };
        let base = normal_url(text, self.name);
        match Url::parse(&base) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.host_str().is_some() => {
                Ok((base, url))
            }
            _ => Err(Refusal::Setting(format!("{variable} is not an http or https URL"))),
        }
    }
}

/// The address as requests need it: scheme and port for ollama, no trailing slash, no endpoint path.
fn normal_url(text: &str, name: ProviderName) -> String {
    let text = text.trim();
    match name {
        ProviderName::Ollama => ollama_url(text),
        ProviderName::Private => {
            let base = text.trim_end_matches('/');
            base.strip_suffix("/chat/completions").unwrap_or(base).trim_end_matches('/').to_owned()
        }
        _ => text.trim_end_matches('/').to_owned(),
    }
}

/// `OLLAMA_HOST` may be a bare host, a host with port, or a listening address.
fn ollama_url(text: &str) -> String {
    const PORT: u16 = 11434;
    let text = text.trim_end_matches('/');
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') && port.chars().all(|c| c.is_ascii_digit()) => {
            (host, port)
        }
        _ => (place, ""),
    };
    let host = if host.is_empty() || host == "0.0.0.0" { "127.0.0.1" } else { host };
    let port = match (port, scheme) {
        ("", "https") => String::new(),
        ("", _) => format!(":{PORT}"),
        (port, _) => format!(":{port}"),
    };
    format!("{scheme}://{host}{port}{path}")
}

#[cfg(test)]
mod tests;
