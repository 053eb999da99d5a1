//! The envelope around the `input` of an agent, and the argument types several agents share.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::options::ProviderWord;

/// Arguments of an agent: what it works on, and who words the answer.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentCall<I> {
    /// What to work on.
    #[schemars(extend("x-quoted" = true))]
    pub input: I,
    /// Model service that words the answer; none without it.
    #[serde(default)]
    pub provider: Option<ProviderWord>,
    /// Model of that service.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub model: Option<String>,
    /// Never ask a model (true), whatever else is set.
    #[serde(default)]
    pub airgap: Option<bool>,
    /// Groups calls under one turn budget: 1 to 64 of A-Z a-z 0-9 _ . : -
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub session_id: Option<String>,
    /// Model, creativity, on_llm_failure, max_output_tokens, thinking_tokens, preview_request.
    // The keys are checked against the type of all options, which would be too long to show with every agent.
    #[serde(default)]
    #[schemars(extend("x-quoted" = true))]
    pub options: Map<String, Value>,
}

/// One earlier attempt of an optimisation loop; unknown keys are ignored.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EditEntry {
    /// Technique that was tried, by id or alias.
    pub technique: Option<String>,
    /// Kernel it was tried on; null for the run.
    pub kernel: Option<String>,
    /// pass, reject or regressed.
    pub verdict: Option<GateStatus>,
    /// Run time after it, ns.
    pub total_runtime_ns: Option<f64>,
    /// What the loop would have tried next.
    pub candidate_alternative: Option<String>,
    /// Anything the loop keeps; `technique` is read from here too.
    pub meta: Option<Map<String, Value>>,
}

impl EditEntry {
    /// The technique as written, wherever it stands.
    pub fn technique(&self) -> Option<&str> {
        let meta = || self.meta.as_ref()?.get("technique")?.as_str();
        self.technique.as_deref().or_else(meta).filter(|name| !name.trim().is_empty())
    }
}

/// What the gate decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateStatus {
    /// Every gate that ran passed.
    Pass,
    /// A gate refused the change.
    Reject,
    /// The change is slower.
    Regressed,
}

impl GateStatus {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Reject => "reject",
            Self::Regressed => "regressed",
        }
    }
}
