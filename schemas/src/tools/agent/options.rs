//! Arguments that agents share: paths in every accepted form, the model service, and `options`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// Most paths one argument may hold.
pub const MAX_PATHS: usize = 4_096;
/// Longest path, in characters.
pub const MAX_PATH: usize = 4_096;

/// One path or several: a text, a list of texts, or a text that holds a JSON list of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths(pub Vec<String>);

impl<'de> Deserialize<'de> for Paths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            One(String),
            Many(Vec<String>),
        }
        let paths = match Form::deserialize(deserializer)? {
            Form::Many(paths) => paths,
            // A folder may be called `[x]`; only a whole JSON list of texts is one.
            Form::One(text) => match serde_json::from_str::<Vec<String>>(&text) {
                Ok(paths) => paths,
                Err(_) => vec![text],
            },
        };
        Ok(Self(paths))
    }
}

impl JsonSchema for Paths {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Paths".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // A union of types breaks some clients; the argument check accepts the list as well. The length leaves room for a
        // list inside the text.
        json_schema!({ "type": "string", "x-accepts": ["array"], "maxLength": 1_048_576 })
    }
}

/// A model service as callers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ProviderWord {
    /// Anthropic.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// OpenAI.
    #[serde(rename = "openai")]
    OpenAi,
    /// ollama.
    #[serde(rename = "ollama")]
    Ollama,
    /// A private server.
    #[serde(rename = "private")]
    Private,
    /// opencode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Another name of opencode.
    #[serde(rename = "claude-code")]
    ClaudeCode,
}

impl ProviderWord {
    /// The service behind the word.
    pub fn provider(self) -> super::run::ProviderName {
        use super::run::ProviderName;
        match self {
            Self::Anthropic => ProviderName::Anthropic,
            Self::OpenAi => ProviderName::OpenAi,
            Self::Ollama => ProviderName::Ollama,
            Self::Private => ProviderName::Private,
            Self::OpenCode | Self::ClaudeCode => ProviderName::OpenCode,
        }
    }
}

/// What the caller wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentWord {
    /// What limits the run.
    Analyze,
    /// What to change.
    Optimize,
    /// Whether a change helped.
    Verify,
    /// What a term means.
    Explain,
    /// How to ask.
    Help,
}

impl IntentWord {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Analyze => "analyze",
            Self::Optimize => "optimize",
            Self::Verify => "verify",
            Self::Explain => "explain",
            Self::Help => "help",
        }
    }

    /// Reads the word of the intent tool.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Analyze, Self::Optimize, Self::Verify, Self::Explain, Self::Help]
            .into_iter()
            .find(|intent| intent.as_str() == word)
    }
}

/// How much of the report is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// At most 12,000 characters.
    #[default]
    Brief,
    /// Everything.
    Full,
}

/// What happens when a model service fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureWord {
    /// The computed answer, with the failure said.
    #[default]
    Fallback,
    /// An error.
    Error,
}

/// Whether proposals of a model may be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CreativityWord {
    /// Words only.
    Strict,
    /// Labelled proposals too.
    Exploratory,
}

/// `options` of every agent; a tool refuses the ones that are not its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// More databases of the same run, paths; `database_path` first.
    #[schemars(length(max = 4096))]
    pub database_paths: Vec<String>,
    /// More databases of the baseline, paths.
    #[schemars(length(max = 4096))]
    pub baseline_paths: Vec<String>,
    /// Databases of extra counter passes, paths; used for counters only.
    #[schemars(length(max = 4096))]
    pub counter_paths: Vec<String>,
    /// Folder with thread-trace stats_*.csv files.
    pub att_dir: Option<String>,
    /// Hotspot rows, a count (default 10).
    #[schemars(range(min = 1, max = 1000))]
    pub top_kernels: Option<u32>,
    /// Shorter dispatches are left out of the hotspots, microseconds.
    #[schemars(range(min = 0.0))]
    pub min_duration_us: Option<f64>,
    /// The same in nanoseconds; not both.
    #[schemars(range(min = 0.0))]
    pub min_duration: Option<f64>,
    /// Recommendations for kernels whose name holds this text; re: in front for a regex.
    #[schemars(length(max = 500))]
    pub kernel_filter: Option<String>,
    /// Architecture when the trace does not name its GPU, such as gfx942.
    pub gfx_id: Option<String>,
    /// Captured amd-smi or rocm-smi JSON, a path.
    pub gpu_monitor_log: Option<String>,
    /// Also loop hints (default false).
    pub advanced: bool,
    /// Base names instead of paths in the answer (default false).
    pub redact_paths: bool,
    /// Read what can be read of a damaged file (root: true, diff: false).
    pub allow_partial: Option<bool>,
    /// What is wanted, instead of reading it from the question.
    pub intent_hint: Option<IntentWord>,
    /// brief: at most 12,000 characters; full: everything (default brief).
    pub detail: Option<Detail>,
    /// Model, as the argument of that name.
    #[schemars(length(max = 200))]
    pub model: Option<String>,
    /// Whether proposals of a model may be listed.
    pub creativity: Option<CreativityWord>,
    /// Tokens for hidden thinking, anthropic only.
    #[schemars(range(min = 1024, max = 64000))]
    pub thinking_tokens: Option<u32>,
    /// Output tokens per model turn.
    #[schemars(range(min = 1, max = 32768))]
    pub max_output_tokens: Option<u32>,
    /// When the model service fails: fallback or error (default fallback).
    pub on_llm_failure: Option<FailureWord>,
    /// Show the first model request instead of sending it (default false).
    pub preview_request: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_in_three_forms() {
        let read = |json: &str| serde_json::from_str::<Paths>(json).unwrap().0;
        assert_eq!(read(r#""a.db""#), ["a.db"]);
        assert_eq!(read(r#"["a.db", "b.db"]"#), ["a.db", "b.db"]);
        assert_eq!(read(r#""[\"a.db\", \"b.db\"]""#), ["a.db", "b.db"]);
        assert_eq!(read(r#""[x].db""#), ["[x].db"]);
    }
}
