//! `compiler`: flags that are safe to suggest, and what one flag does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `compiler.lookup_flags`.
pub struct LookupFlags;

impl Contract for LookupFlags {
    const NAME: &'static str = "compiler.lookup_flags";
    type Input = LookupFlagsInput;
    type Output = LookupFlagsOutput;
}

/// Arguments of `compiler.lookup_flags`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupFlagsInput {
    /// Goal such as throughput, occupancy, math_throughput, inspection, a name.
    pub goal: Option<String>,
    /// Architecture such as gfx942; flags of other ones are left out.
    pub arch: Option<String>,
    /// Kernel class such as matrix, reduction, register_limited, a name.
    pub kernel_class: Option<String>,
    /// Rows to return, a count.
    #[serde(default = "fifty")]
    #[schemars(range(min = 0, max = 500))]
    pub limit: usize,
    /// Rows to skip, a count.
    #[serde(default)]
    pub offset: usize,
}

const fn fifty() -> usize {
    50
}

/// One flag of the catalogue.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FlagRow {
    /// As written on the command line; ends in `=` when a value follows.
    pub flag: String,
    /// What kind of flag it is.
    pub category: String,
    /// What it does.
    pub description: String,
    /// Whether it may be suggested.
    pub allowlist: bool,
    /// `low`, `medium` or `high`.
    pub risk: String,
    /// Goals it serves.
    pub goals: Vec<String>,
    /// Architectures, or `all`.
    pub arches: Vec<String>,
    /// Kernel classes, or `any`.
    pub kernel_classes: Vec<String>,
    /// What to beware of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The filters as applied; null = not filtered.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Filters {
    /// Goal.
    pub goal: Option<String>,
    /// Normalised architecture.
    pub arch: Option<String>,
    /// Kernel class.
    pub kernel_class: Option<String>,
}

/// Answer of `compiler.lookup_flags`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupFlagsOutput {
    /// Flags in catalogue order.
    pub items: Vec<FlagRow>,
    /// Flags that fit.
    pub total: usize,
    /// Rows shown.
    pub returned: usize,
    /// Rows left out.
    pub truncated: bool,
    /// Filters as applied.
    pub filters: Filters,
    /// Which filter removed the last entry; only when nothing fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Contract of `compiler.explain_flag`.
pub struct ExplainFlag;

impl Contract for ExplainFlag {
    const NAME: &'static str = "compiler.explain_flag";
    type Input = ExplainFlagInput;
    type Output = ExplainFlagOutput;
}

/// Arguments of `compiler.explain_flag`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainFlagInput {
    /// A flag as written on the command line, such as --offload-arch=gfx942.
    pub flag_name: String,
}

/// Answer of `compiler.explain_flag`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExplainFlagOutput {
    /// The catalogue row.
    #[serde(flatten)]
    pub row: FlagRow,
    /// Catalogue spelling.
    pub matched_flag: String,
    /// What follows the `=`; null when the flag takes no value.
    pub value: Option<String>,
    /// Whether the value is usable; null when there is none to judge.
    pub value_ok: Option<bool>,
    /// How to write the value.
    pub value_hint: Option<String>,
    /// Why value, its verdict or its hint is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_reason: Option<&'static str>,
    /// What to use instead of a denied flag; null for allowed ones.
    pub alternative: Option<String>,
}
