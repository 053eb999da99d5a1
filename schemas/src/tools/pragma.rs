//! `pragma`: loop hints for GPU code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Contract;

/// One loop hint of the catalogue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PragmaRow {
    /// Catalogue id.
    pub pragma: String,
    /// As written in source.
    pub syntax: String,
    /// What it does.
    pub description: String,
    /// Whether it means anything on a GPU.
    pub gpu_applicable: bool,
    /// Whether it may be suggested.
    pub allowlist: bool,
    /// Evidence that calls for it; null for rejected hints.
    pub trigger_signal: Option<String>,
    /// The limits of that evidence; null for rejected hints.
    pub trigger_threshold: Option<String>,
    /// Values worth trying.
    pub factor_sweep: Vec<u32>,
    /// Expected range, not a measurement.
    pub expected_impact: String,
    /// `low`, `medium` or `high`.
    pub risk: String,
    /// Architectures, or `all`.
    pub applies_to_gfx: Vec<String>,
    /// Why it is rejected; null for allowed hints.
    pub reason: Option<String>,
}

/// Contract of `pragma.lookup_pragmas`.
pub struct LookupPragmas;

impl Contract for LookupPragmas {
    const NAME: &'static str = "pragma.lookup_pragmas";
    type Input = LookupPragmasInput;
    type Output = LookupPragmasOutput;
}

/// Arguments of `pragma.lookup_pragmas`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupPragmasInput {
    /// Leave out hints that mean nothing on a GPU.
    #[serde(default = "yes")]
    pub gpu_only: bool,
}

const fn yes() -> bool {
    true
}

/// Answer of `pragma.lookup_pragmas`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupPragmasOutput {
    /// Hints in catalogue order.
    pub items: Vec<PragmaRow>,
    /// Hints that fit.
    pub total: usize,
    /// Rows shown.
    pub returned: usize,
    /// Rows left out.
    pub truncated: bool,
    /// What the impact ranges are worth.
    pub note: &'static str,
}

/// Contract of `pragma.explain_pragma`.
pub struct ExplainPragma;

impl Contract for ExplainPragma {
    const NAME: &'static str = "pragma.explain_pragma";
    type Input = ExplainPragmaInput;
    type Output = ExplainPragmaOutput;
}

/// Arguments of `pragma.explain_pragma`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainPragmaInput {
    /// Catalogue id such as clang_loop_unroll_full, or the source text.
    pub pragma_name: String,
}

/// Answer of `pragma.explain_pragma`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplainPragmaOutput {
    /// The catalogue row.
    #[serde(flatten)]
    pub row: PragmaRow,
    /// How to write it better, and what the impact range is worth.
    pub note: String,
}

/// Contract of `pragma.suggest_pragmas_for_kernel`.
pub struct SuggestPragmasForKernel;

impl Contract for SuggestPragmasForKernel {
    const NAME: &'static str = "pragma.suggest_pragmas_for_kernel";
    type Input = SuggestPragmasForKernelInput;
    type Output = SuggestPragmasForKernelOutput;
}

/// Arguments of `pragma.suggest_pragmas_for_kernel`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestPragmasForKernelInput {
    /// Name of the kernel.
    #[schemars(length(max = 1_048_576))]
    pub kernel_name: String,
    /// hotspot_pct (percent), loop_trip_count, vgpr_per_thread, source_path and others.
    pub signals: Map<String, Value>,
}

/// Where to put a hint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Anchor {
    /// Source file as sent.
    pub file: String,
    /// Line from 1.
    pub line: u64,
}

/// One suggested hint.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Suggestion {
    /// The catalogue row.
    #[serde(flatten)]
    pub row: PragmaRow,
    /// As sent.
    pub kernel_name: String,
    /// The evidence with its values.
    pub triggered_by: String,
    /// Where to put it; null without file and line.
    pub anchor: Option<Anchor>,
    /// Why there is no place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor_reason: Option<&'static str>,
    /// Whether file and line are known.
    pub actionable: bool,
    /// Command that checks the effect.
    pub verify: &'static str,
}

/// A hint that another one rules out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Suppressed {
    /// Catalogue id.
    pub pragma: String,
    /// Why.
    pub because: String,
}

/// Why nothing is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoSuggestion {
    /// The kernel's share is too small to matter.
    BelowAmdahlGate,
    /// The source is generated, a hint would be lost.
    GeneratedSource,
    /// The kernel's share was not sent.
    HotspotUnknown,
    /// No rule fired.
    NoTrigger,
}

/// Answer of `pragma.suggest_pragmas_for_kernel`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SuggestPragmasForKernelOutput {
    /// Hints in catalogue order.
    pub items: Vec<Suggestion>,
    /// Hints that fit.
    pub total: usize,
    /// Why nothing is suggested; only when nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoSuggestion>,
    /// Hints ruled out by others.
    pub suppressed: Vec<Suppressed>,
    /// Signals with no meaning here, at most 20.
    pub unknown_signals: Vec<String>,
    /// What the impact ranges are worth; only with suggestions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}
