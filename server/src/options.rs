//! What is chosen when a server starts, and how the environment fills it in.

use std::time::Duration;

use perfxpert_schemas::names::Spelling;
use perfxpert_tool_registry::Subset;
use tracing::level_filters::LevelFilter;

/// Start-up choices of one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The spelling of the names in `tools/list`.
    pub spelling: Spelling,
    /// The tools that are listed and can be called.
    pub subset: Subset,
    /// Wall time of one call.
    pub tool_limit: Duration,
    /// Wall time of the model part of an agent's call; `None` = 300 s with a progress token, 45 s without.
    pub model_limit: Option<Duration>,
    /// What is logged to standard error.
    pub log: LevelFilter,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            spelling: Spelling::Prefixed,
            subset: Subset::All,
            // Just under the 60 s after which several clients drop a call.
            tool_limit: Duration::from_secs(55),
            model_limit: None,
            log: LevelFilter::WARN,
        }
    }
}

impl Options {
    /// The defaults as changed by the environment. A value that cannot be used leaves the default and adds a sentence
    /// to the second part: a server has nobody to refuse to.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let mut options = Self::default();
        let mut problems = Vec::new();
        let given = |name: &str| variable(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        if let Some(text) = given("PERFXPERT_MCP_TOOL_NAMES") {
            match spelling(&text) {
                Some(spelling) => options.spelling = spelling,
                None => problems.push(problem("PERFXPERT_MCP_TOOL_NAMES", &text, "prefixed or bare")),
            }
        }
        if let Some(text) = given("PERFXPERT_LOG") {
            match log_level(&text) {
                Some(level) => options.log = level,
                None => {
                    problems.push(problem("PERFXPERT_LOG", &text, "off, error, warn, info, debug or trace"))
                }
            }
        }
        if let Some(text) = given("PERFXPERT_TOOL_TIMEOUT_S") {
            match seconds(&text) {
                Some(limit) => options.tool_limit = limit,
                None => {
                    problems.push(problem(
                        "PERFXPERT_TOOL_TIMEOUT_S",
                        &text,
                        "a whole number from 1 to 3600",
                    ));
                }
            }
        }
        if let Some(text) = given("PERFXPERT_AGENTS_MAX_SECONDS") {
            match seconds(&text) {
                Some(limit) => options.model_limit = Some(limit),
                None => {
                    problems.push(problem(
                        "PERFXPERT_AGENTS_MAX_SECONDS",
                        &text,
                        "a whole number from 1 to 3600",
                    ));
                }
            }
        }
        (options, problems)
    }
}

fn problem(name: &str, text: &str, accepted: &str) -> String {
    format!("{name}: {text:?} is not {accepted}; the default is used")
}

/// `prefixed` or `bare`.
pub(crate) fn spelling(text: &str) -> Option<Spelling> {
    match text {
        "prefixed" => Some(Spelling::Prefixed),
        "bare" => Some(Spelling::Bare),
        _ => None,
    }
}

/// One of the six level words.
pub(crate) fn log_level(text: &str) -> Option<LevelFilter> {
    matches!(text, "off" | "error" | "warn" | "info" | "debug" | "trace").then(|| text.parse().ok()).flatten()
}

fn seconds(text: &str) -> Option<Duration> {
    text.parse::<u64>().ok().filter(|seconds| (1..=3600).contains(seconds)).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> (Options, Vec<String>) {
        Options::from_environment(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_fills_in_what_it_can() {
        let (options, problems) = read(&[
            ("PERFXPERT_MCP_TOOL_NAMES", "bare"),
            ("PERFXPERT_LOG", "trace"),
            ("PERFXPERT_TOOL_TIMEOUT_S", "3600"),
        ]);
        assert_eq!(options.spelling, Spelling::Bare);
        assert_eq!(options.log, LevelFilter::TRACE);
        assert_eq!(options.tool_limit, Duration::from_secs(3600));
        assert!(problems.is_empty());
    }

    #[test]
    fn an_unusable_value_leaves_the_default_and_is_named() {
        for (name, value) in [
            ("PERFXPERT_TOOL_TIMEOUT_S", "0"),
            ("PERFXPERT_TOOL_TIMEOUT_S", "3601"),
            ("PERFXPERT_TOOL_TIMEOUT_S", "soon"),
            ("PERFXPERT_MCP_TOOL_NAMES", "long"),
            ("PERFXPERT_LOG", "loud"),
        ] {
            let (options, problems) = read(&[(name, value)]);
            assert_eq!(options, Options::default(), "{name}={value}");
            assert_eq!(problems.len(), 1);
            assert!(problems[0].starts_with(name), "{problems:?}");
        }
        assert_eq!(read(&[("PERFXPERT_LOG", " ")]), (Options::default(), Vec::new()));
    }
}
