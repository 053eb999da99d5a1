//! Reads the variables: names, ranges, precedence and what counts as a secret.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use perfxpert_schemas::tools::agent::run::{Notice, ProviderName};
use serde_json::Value;

use super::{
    ChildEnvironment, ConfigValues, Credential, Identity, LlmFacts, PrivateHeaders, Proxies, Settings,
    VendorSettings,
};
use crate::budget::Budgets;
use crate::prompt::FenceProfile;
use crate::run::Creativity;
use crate::secret::Secret;

/// Parts of a variable's name that make its value a secret.
const SECRET_NAMES: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH"];
/// Headers the private endpoint's extra headers may not set.
const RESERVED_HEADERS: [&str; 5] =
    ["host", "content-length", "content-type", "transfer-encoding", "connection"];
/// Output tokens per turn unless set.
const OUTPUT_TOKENS: u32 = 2048;

struct Reader<'a> {
    map: &'a BTreeMap<String, String>,
    notices: Vec<Notice>,
}

impl Reader<'_> {
    /// The value of a variable, trimmed; empty counts as unset.
    fn text(&self, name: &str) -> Option<String> {
        self.map.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn note(&mut self, code: &str, message: String) {
        self.notices.push(Notice { code: code.to_owned(), message });
    }

    /// A whole number in a range; anything else is noted and left at its default.
    fn number(&mut self, name: &str, least: u64, most: u64) -> Option<u64> {
        let text = self.text(name)?;
        match text.parse::<u64>() {
            Ok(value) if (least..=most).contains(&value) => Some(value),
            _ => {
                self.note(
                    "bad_setting",
                    format!("{name} is not a whole number in {least}..{most}; the default is used."),
                );
                None
            }
        }
    }

    fn boolean(&mut self, name: &str) -> bool {
        let Some(text) = self.text(name) else { return false };
        match boolean(&text) {
            Some(value) => value,
            None => {
                self.note("bad_setting", format!("{name} is neither true nor false; the default is used."));
                false
            }
        }
    }

    fn credential(&mut self, names: &[&'static str]) -> Option<Credential> {
        let (variable, value) = names.iter().find_map(|name| Some((*name, self.text(name)?)))?;
        if variable.starts_with("ROCPD_") {
            let current = variable.replacen("ROCPD_", "PERFXPERT_", 1);
            self.note("deprecated_variable", format!("{variable} is deprecated; set {current}."));
        }
        Some(Credential { value: Secret::new(&value), variable })
    }

    fn url(&self, names: &[&'static str]) -> Option<(String, &'static str)> {
        names.iter().find_map(|name| Some((self.text(name)?, *name)))
    }

    fn pins(&self, names: &[&str]) -> Vec<(String, String)> {
        names.iter().filter_map(|name| Some((self.text(name)?, (*name).to_owned()))).collect()
    }
}

impl Settings {
    /// Reads the settings from a map of variables. Bad values become notices and leave the default; nothing outside
    /// the map is looked at, except whether the opencode program exists.
    pub fn from_map(map: &BTreeMap<String, String>, config: &ConfigValues, facts: LlmFacts) -> Self {
        let mut read = Reader { map, notices: Vec::new() };
        let airgap = airgap(read.text("PERFXPERT_AIRGAP"), config);
        let chain = read.text("PERFXPERT_LLM_FALLBACK_CHAIN");
        let creativity = choice(&mut read, "PERFXPERT_AGENT_CREATIVITY", Creativity::parse)
            .or_else(|| config.agent_creativity.as_deref().and_then(Creativity::parse))
            .unwrap_or_default();
        let fence_profile = choice(&mut read, "PERFXPERT_FENCE_PROFILE", FenceProfile::parse)
            .or_else(|| config.fence_profile.as_deref().and_then(FenceProfile::parse))
            .unwrap_or_default();
        let max_tokens = read.number("PERFXPERT_MAX_TOKENS", 1, 32_768).and_then(|n| u32::try_from(n).ok());
        let budgets = budgets(&mut read);
        let retry_rate_limits = !read.boolean("PERFXPERT_DISABLE_RATE_LIMIT_RETRY");
        let in_opencode = read.boolean("PERFXPERT_IN_OPENCODE_SESSION")
            || read
                .text("PERFXPERT_IN_AGENT_SESSION")
                .is_some_and(|name| name.eq_ignore_ascii_case("opencode"));
        let private_headers = private_headers(read.text("PERFXPERT_LLM_PRIVATE_HEADERS"));
        let private_verify =
            read.text("PERFXPERT_LLM_PRIVATE_VERIFY_SSL").and_then(|text| boolean(&text)) != Some(false);
        let proxies = Proxies {
            https: read.text("HTTPS_PROXY").or_else(|| read.text("https_proxy")).map(|url| Secret::new(&url)),
            http: read.text("HTTP_PROXY").or_else(|| read.text("http_proxy")).map(|url| Secret::new(&url)),
            except: read.text("NO_PROXY").or_else(|| read.text("no_proxy")),
        };
        let openai_scope =
            [("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")]
                .into_iter()
                .filter_map(|(header, name)| Some((header, read.text(name)?)))
                .collect();
        let vendors = ProviderName::ALL.into_iter().map(|name| (name, vendor(&mut read, name))).collect();
        let cli_credential = read.credential(&["PERFXPERT_CLI_LLM_API_KEY"]);
        let last_model = read
            .text("PERFXPERT_MODEL")
            .map(|model| (model, "PERFXPERT_MODEL"))
            .or_else(|| config.model.clone().map(|model| (model, "configuration")));
        let secrets = secrets(map, &private_headers, &proxies);
        Self {
            airgap,
            fallback_chain: chain.map_or_else(
                || config.fallback_chain.clone(),
                |text| {
                    text.split(',')
                        .map(|name| name.trim().to_owned())
                        .filter(|name| !name.is_empty())
                        .collect()
                },
            ),
            creativity,
            fence_profile,
            max_output_tokens: max_tokens.or(config.max_tokens).unwrap_or(OUTPUT_TOKENS),
            budgets,
            retry_rate_limits,
            identity: Identity {
                home: read.text("HOME").or_else(|| read.text("USERPROFILE")),
                login: ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| read.text(name)),
                host: read.text("HOSTNAME").or_else(|| read.text("COMPUTERNAME")),
            },
            facts,
            vendors,
            cli_credential,
            any_model: read.text("PERFXPERT_LLM_MODEL").map(|model| (model, "PERFXPERT_LLM_MODEL")),
            last_model,
            private_headers,
            private_verify,
            openai_scope,
            ca_bundle: read.text("PERFXPERT_LLM_CA_BUNDLE").map(PathBuf::from),
            proxies,
            in_opencode,
            opencode: opencode_program(read.text("PERFXPERT_OPENCODE_PATH"), read.text("PATH")),
            child_environment: child_environment(map),
            secrets,
            notices: read.notices,
        }
    }
}

/// True, false, or neither: the one boolean parser of all variables.
pub fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "" | "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Why no model may be asked: the variable unless it is false, else the configuration.
fn airgap(variable: Option<String>, config: &ConfigValues) -> Option<String> {
    if config.unreadable {
        return Some("the configuration file cannot be read".to_owned());
    }
    match variable {
        Some(text) => (boolean(&text) != Some(false)).then(|| "PERFXPERT_AIRGAP".to_owned()),
        None => (config.airgap == Some(true)).then(|| "configuration".to_owned()),
    }
}

fn choice<T>(read: &mut Reader<'_>, name: &str, parse: fn(&str) -> Option<T>) -> Option<T> {
    let text = read.text(name)?;
    let value = parse(&text);
    if value.is_none() {
        read.note("bad_setting", format!("{name} holds no known word; the default is used."));
    }
    value
}

fn budgets(read: &mut Reader<'_>) -> Budgets {
    let standard = Budgets::default();
    let most = u64::from(u32::MAX);
    let turns = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Budgets {
        turns_per_run: read
            .number("PERFXPERT_AGENTS_MAX_TURNS", 1, most)
            .map_or(standard.turns_per_run, turns),
        turns_per_session: read
            .number("PERFXPERT_MAX_SESSION_TURNS", 1, most)
            .map_or(standard.turns_per_session, turns),
        tokens_per_session: read
            .number("PERFXPERT_MAX_SESSION_TOKENS", 1000, u64::MAX)
            .unwrap_or(standard.tokens_per_session),
        run_time: read.number("PERFXPERT_AGENTS_MAX_SECONDS", 1, 3600).map(Duration::from_secs),
        attempt_time: read.number("PERFXPERT_LLM_TIMEOUT_S", 1, 600).map(Duration::from_secs),
        connect_time: standard.connect_time,
    }
}

fn vendor(read: &mut Reader<'_>, name: ProviderName) -> VendorSettings {
    let upper = name.as_str().to_ascii_uppercase();
    let agents_pin = format!("PERFXPERT_AGENTS_MODEL_{upper}");
    let (credentials, urls, standard, pin): (&[&str], &[&str], Option<&str>, Option<&str>) = match name {
        ProviderName::Anthropic => (
            &["ANTHROPIC_API_KEY", "PERFXPERT_LLM_ANTHROPIC_KEY", "ROCPD_LLM_ANTHROPIC_KEY"],
            &["ANTHROPIC_BASE_URL"],
            Some("https://api.anthropic.com"),
            Some("PERFXPERT_ANTHROPIC_MODEL"),
        ),
        ProviderName::OpenAi => (
            &["OPENAI_API_KEY", "PERFXPERT_LLM_OPENAI_KEY", "ROCPD_LLM_OPENAI_KEY"],
            &["OPENAI_BASE_URL"],
            Some("https://api.openai.com/v1"),
            Some("PERFXPERT_OPENAI_MODEL"),
        ),
        ProviderName::Ollama => (
            &["PERFXPERT_LLM_OLLAMA_KEY"],
            &["PERFXPERT_LLM_LOCAL_URL", "OLLAMA_HOST"],
            Some("http://localhost:11434"),
            None,
        ),
        ProviderName::Private => (
            &["PERFXPERT_LLM_PRIVATE_API_KEY"],
            &["PERFXPERT_LLM_PRIVATE_URL", "PRIVATE_LLM_ENDPOINT"],
            None,
            Some("PERFXPERT_LLM_PRIVATE_MODEL"),
        ),
        ProviderName::OpenCode => (&[], &[], None, None),
    };
    let set = read.url(urls);
    VendorSettings {
        credential: read.credential(credentials),
        url_is_set: set.is_some(),
        url: set.or_else(|| standard.map(|url| (url.to_owned(), "default"))),
        pins: read.pins(&[Some(agents_pin.as_str()), pin].into_iter().flatten().collect::<Vec<_>>()),
    }
}

fn private_headers(text: Option<String>) -> PrivateHeaders {
    let Some(text) = text else { return PrivateHeaders::Unset };
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(&text) else {
        return PrivateHeaders::Refused("it must hold one JSON object".to_owned());
    };
    let mut headers = Vec::new();
    for (name, value) in map {
        let value = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return PrivateHeaders::Refused("every value must be a text, number or boolean".to_owned()),
        };
        let lower = name.to_ascii_lowercase();
        if RESERVED_HEADERS.contains(&lower.as_str()) {
            return PrivateHeaders::Refused(format!("the header `{lower}` cannot be set"));
        }
        if reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return PrivateHeaders::Refused("a header name is not valid".to_owned());
        }
        let secret = Secret::new(&value);
        if !secret.fits_a_header() {
            return PrivateHeaders::Refused("a value holds control or non-ASCII characters".to_owned());
        }
        headers.push((name, secret));
    }
    PrivateHeaders::Read(headers)
}

/// Every value that must never be seen outside the one header that carries it.
fn secrets(map: &BTreeMap<String, String>, headers: &PrivateHeaders, proxies: &Proxies) -> Vec<Secret> {
    let named = map.iter().filter(|(name, _)| {
        let name = name.to_ascii_uppercase();
        SECRET_NAMES.iter().any(|part| name.contains(part))
    });
    let mut secrets: Vec<Secret> = named.map(|(_, value)| Secret::new(value)).collect();
    if let PrivateHeaders::Read(headers) = headers {
        secrets.extend(headers.iter().map(|(_, value)| value.clone()));
        // A bearer value is a secret with and without the word in front of it.
        let words =
            headers.iter().filter_map(|(_, value)| value.expose().split_once(' ').map(|(_, rest)| rest));
        secrets.extend(words.map(Secret::new));
    }
    for proxy in [&proxies.https, &proxies.http].into_iter().flatten() {
        if let Ok(url) = reqwest::Url::parse(proxy.expose()) {
            secrets.extend(url.password().map(Secret::new));
        }
    }
    secrets
}

/// The program named by the variable, or the first `opencode` on the path.
fn opencode_program(named: Option<String>, path: Option<String>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(PathBuf::from(named)).filter(|program| program.is_file());
    }
    let path = path?;
    let names: &[&str] = if cfg!(windows) { &["opencode.exe", "opencode.cmd"] } else { &["opencode"] };
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|program| executable(program))
}

#[cfg(unix)]
fn executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    program.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn executable(program: &Path) -> bool {
    program.is_file()
}

/// Ours without our own variables; the vendors' key variables stay, the program may need them.
fn child_environment(map: &BTreeMap<String, String>) -> ChildEnvironment {
    let kept = map.iter().filter(|(name, _)| !name.starts_with("PERFXPERT_") && !name.starts_with("ROCPD_"));
    let mut environment: BTreeMap<String, String> = kept.map(|(k, v)| (k.clone(), v.clone())).collect();
    for (name, value) in [
        ("PERFXPERT_IN_OPENCODE_SESSION", "1"),
        ("NO_COLOR", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_CONFIG_CONTENT", r#"{"permission":"deny","share":"disabled","mcp":{}}"#),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    ChildEnvironment(environment)
}
