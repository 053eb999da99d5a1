//! Every variable this program knows, for the doctor: what it may hold, and whether it has an effect here.

use super::{boolean, integer, number};

/// What a variable may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holds {
    /// Anything.
    Text,
    /// A word for true or false.
    Boolean,
    /// On unless it says false: no value is wrong.
    SafeBoolean,
    /// A whole number in a range.
    Integer(i64, i64),
    /// A number in a range.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A comma list of these words.
    List(&'static [&'static str]),
    /// An absolute path.
    AbsolutePath,
    /// A URL with `http://` or `https://`.
    Url,
    /// A JSON object.
    JsonObject,
}

/// The model services.
pub const PROVIDERS: [&str; 5] = ["anthropic", "openai", "ollama", "private", "opencode"];
/// The words for how much is logged.
pub const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Variables with an effect, sorted by name.
pub const KNOWN: &[(&str, Holds)] = &[
    ("PERFXPERT_ADVANCED_RECS", Holds::Boolean),
    ("PERFXPERT_AGENTS_MAX_SECONDS", Holds::Integer(1, 3600)),
    ("PERFXPERT_AGENTS_MAX_TURNS", Holds::Integer(1, i64::MAX)),
    ("PERFXPERT_AGENTS_MODEL_ANTHROPIC", Holds::Text),
    ("PERFXPERT_AGENTS_MODEL_OLLAMA", Holds::Text),
    ("PERFXPERT_AGENTS_MODEL_OPENAI", Holds::Text),
    ("PERFXPERT_AGENTS_MODEL_OPENCODE", Holds::Text),
    ("PERFXPERT_AGENTS_MODEL_PRIVATE", Holds::Text),
    ("PERFXPERT_AGENT_CREATIVITY", Holds::Choice(&["strict", "exploratory"])),
    ("PERFXPERT_AIRGAP", Holds::SafeBoolean),
    ("PERFXPERT_ANTHROPIC_MODEL", Holds::Text),
    ("PERFXPERT_CI_REGRESSION_THRESHOLD", Holds::Number(0.0, 1000.0)),
    ("PERFXPERT_CONFIG", Holds::Text),
    ("PERFXPERT_DEBUG", Holds::Boolean),
    ("PERFXPERT_DISABLE_RATE_LIMIT_RETRY", Holds::Boolean),
    ("PERFXPERT_DISABLE_RUNTIME_GPU_SPECS", Holds::Boolean),
    ("PERFXPERT_FENCE_PROFILE", Holds::Choice(&["minimal", "standard", "full"])),
    ("PERFXPERT_GPU_DISCOVERY_TIMEOUT", Holds::Number(0.1, 60.0)),
    ("PERFXPERT_GPU_MONITOR_LOG", Holds::Text),
    ("PERFXPERT_HOT_KERNEL_COVERAGE_PCT", Holds::Number(0.0, 100.0)),
    ("PERFXPERT_IN_AGENT_SESSION", Holds::Text),
    ("PERFXPERT_IN_OPENCODE_SESSION", Holds::Boolean),
    ("PERFXPERT_JSON_ERRORS", Holds::Boolean),
    ("PERFXPERT_LLM_ANTHROPIC_KEY", Holds::Text),
    ("PERFXPERT_LLM_CA_BUNDLE", Holds::Text),
    ("PERFXPERT_LLM_FALLBACK_CHAIN", Holds::List(&PROVIDERS)),
    ("PERFXPERT_LLM_LOCAL_URL", Holds::Url),
    ("PERFXPERT_LLM_MODEL", Holds::Text),
    ("PERFXPERT_LLM_OLLAMA_KEY", Holds::Text),
    ("PERFXPERT_LLM_OPENAI_KEY", Holds::Text),
    ("PERFXPERT_LLM_PRIVATE_API_KEY", Holds::Text),
    ("PERFXPERT_LLM_PRIVATE_HEADERS", Holds::JsonObject),
    ("PERFXPERT_LLM_PRIVATE_MODEL", Holds::Text),
    ("PERFXPERT_LLM_PRIVATE_URL", Holds::Url),
    ("PERFXPERT_LLM_PRIVATE_VERIFY_SSL", Holds::SafeBoolean),
    ("PERFXPERT_LLM_THINKING", Holds::Integer(1024, 64_000)),
    ("PERFXPERT_LLM_TIMEOUT_S", Holds::Integer(1, 600)),
    ("PERFXPERT_LOG", Holds::Choice(&LOG_LEVELS)),
    ("PERFXPERT_MAX_SESSION_TOKENS", Holds::Integer(1000, i64::MAX)),
    ("PERFXPERT_MAX_SESSION_TURNS", Holds::Integer(1, i64::MAX)),
    ("PERFXPERT_MAX_TOKENS", Holds::Integer(1, 32_768)),
    ("PERFXPERT_MCP_BIN", Holds::AbsolutePath),
    ("PERFXPERT_MCP_TOOL_NAMES", Holds::Choice(&["prefixed", "bare"])),
    ("PERFXPERT_MODEL", Holds::Text),
    ("PERFXPERT_OPENAI_MODEL", Holds::Text),
    ("PERFXPERT_OPENCODE_PATH", Holds::Text),
    ("PERFXPERT_PROGRESS", Holds::Choice(&["auto", "plain", "off"])),
    ("PERFXPERT_PROVIDER", Holds::Choice(&PROVIDERS)),
    ("PERFXPERT_REDACT_PATHS", Holds::Boolean),
    ("PERFXPERT_REGRESSION_THRESHOLD_PCT", Holds::Number(0.0, 100.0)),
    ("PERFXPERT_ROCPROF_TRACE_DECODER_PATH", Holds::Text),
    ("PERFXPERT_TASK_ROOT", Holds::Text),
    ("PERFXPERT_TOOL_TIMEOUT_S", Holds::Integer(1, 3600)),
];

/// Variables of the sister program: known, without effect in this one.
pub const OF_CODE: &[&str] = &[
    "PERFXPERT_ASSUME_CONSENT",
    "PERFXPERT_AUTO_TRUST",
    "PERFXPERT_CODE_CONTEXT_TOKENS",
    "PERFXPERT_CODE_MAX_TOKENS",
    "PERFXPERT_CODE_MODEL_TOOLS",
    "PERFXPERT_CODE_NO_BANNER",
    "PERFXPERT_CODE_SANDBOX",
    "PERFXPERT_DISABLE_TOOL_GATE",
    "PERFXPERT_GATE_HOOK",
    "PERFXPERT_MCP_RETRY_BUDGET_S",
    "PERFXPERT_MCP_WARMUP",
    "PERFXPERT_MCP_WARMUP_TIMEOUT_S",
    "PERFXPERT_NO_AUTO_AGENT",
    "PERFXPERT_SKIP_LIVE_CHECK",
    "PERFXPERT_TELEMETRY",
    "PERFXPERT_WORKLOAD_CWD",
];

/// Variables that only an installer of earlier releases used; a trailing `*` stands for any ending.
pub const OF_INSTALLER: &[&str] = &[
    "PERFXPERT_AUTO_INSTALL_*",
    "PERFXPERT_LEGACY",
    "PERFXPERT_PATCHED_OPENCODE_PATH",
    "PERFXPERT_SILENCE_*",
    "PERFXPERT_SKIP_BUNDLED_BUILD",
    "PERFXPERT_SKIP_OPENCODE_FETCH",
];

/// Deprecated names and what replaces them.
pub const DEPRECATED: &[(&str, &str)] =
    &[("ROCPD_LLM_ANTHROPIC_KEY", "ANTHROPIC_API_KEY"), ("ROCPD_LLM_OPENAI_KEY", "OPENAI_API_KEY")];

/// What a name is to this program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Has an effect and may hold this.
    Known(Holds),
    /// Belongs to the sister program.
    OfCode,
    /// Belonged to an installer; no effect.
    OfInstaller,
    /// In no table.
    Unknown,
}

/// Looks a `PERFXPERT_*` name up.
pub fn standing(name: &str) -> Standing {
    let matches = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    };
    if let Some((_, holds)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return Standing::Known(*holds);
    }
    if OF_CODE.contains(&name) || name.starts_with("PERFXPERT_TUI_") {
        return Standing::OfCode;
    }
    if OF_INSTALLER.iter().any(matches) { Standing::OfInstaller } else { Standing::Unknown }
}

/// What is wrong with a value, in words that follow the name; `None` when it may stand.
pub fn fault(holds: Holds, text: &str) -> Option<String> {
    let text = text.trim();
    match holds {
        Holds::Text | Holds::SafeBoolean => None,
        Holds::Boolean => boolean(text).is_none().then(|| format!("'{text}' is neither true nor false")),
        Holds::Integer(least, most) => match integer(text) {
            None => Some(format!("'{text}' is not a whole number")),
            Some(value) => (!(least..=most).contains(&value)).then(|| format!("{text} is out of range")),
        },
        Holds::Number(least, most) => match number(text) {
            None => Some(format!("'{text}' is not a number")),
            Some(value) => {
                (!(least..=most).contains(&value)).then(|| format!("{text} is not from {least} to {most}"))
            }
        },
        Holds::Choice(words) => {
            (!words.contains(&text)).then(|| format!("'{text}' is not one of {}", words.join(", ")))
        }
        Holds::List(words) => text
            .split(',')
            .map(str::trim)
            .find(|word| !words.contains(word))
            .map(|word| format!("'{word}' is not one of {}", words.join(", "))),
        Holds::AbsolutePath => {
            (!std::path::Path::new(text).is_absolute()).then(|| format!("'{text}' is not an absolute path"))
        }
        Holds::Url => (!text.starts_with("http://") && !text.starts_with("https://"))
            .then(|| "the value is not a URL with http:// or https://".to_owned()),
        // The value may hold a credential, so it is not repeated.
        Holds::JsonObject => serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text)
            .is_err()
            .then(|| "the value is not a JSON object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_without_doubles() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(OF_CODE.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn patterns_cover_their_families() {
        assert_eq!(standing("PERFXPERT_SILENCE_ANYTHING"), Standing::OfInstaller);
        assert_eq!(standing("PERFXPERT_LEGACY"), Standing::OfInstaller);
        assert_eq!(standing("PERFXPERT_TUI_THEME"), Standing::OfCode);
        assert_eq!(standing("PERFXPERT_AIRGAPP"), Standing::Unknown);
        assert_eq!(standing("PERFXPERT_AIRGAP"), Standing::Known(Holds::SafeBoolean));
    }

    #[test]
    fn bad_values_are_told_without_repeating_what_may_be_secret() {
        assert_eq!(fault(Holds::Integer(1, 600), "0"), Some("0 is out of range".to_owned()));
        assert_eq!(fault(Holds::Boolean, "maybe"), Some("'maybe' is neither true nor false".to_owned()));
        assert_eq!(
            fault(Holds::JsonObject, "Bearer s3cret"),
            Some("the value is not a JSON object".to_owned())
        );
        assert_eq!(
            fault(Holds::Url, "token@host"),
            Some("the value is not a URL with http:// or https://".to_owned())
        );
        assert_eq!(fault(Holds::SafeBoolean, "whatever"), None);
        assert_eq!(fault(Holds::List(&PROVIDERS), "openai, ollama"), None);
    }
}
