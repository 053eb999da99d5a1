//! `trace_fingerprint`: what a profiling command would collect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `trace_fingerprint.fingerprint`.
pub struct Fingerprint;

impl Contract for Fingerprint {
    const NAME: &'static str = "trace_fingerprint.fingerprint";
    type Input = FingerprintInput;
    type Output = FingerprintOutput;
}

/// Arguments of `trace_fingerprint.fingerprint`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FingerprintInput {
    /// Profiling command as typed in a POSIX shell, text.
    #[schemars(length(max = 65_536))]
    pub cmd: String,
}

/// An option that narrows what is collected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Filter {
    /// Its long spelling.
    pub option: String,
    /// Its value; several words joined by blanks.
    pub value: String,
}

/// Answer of `trace_fingerprint.fingerprint`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FingerprintOutput {
    /// Tokens asked for, sorted.
    pub items: Vec<String>,
    /// Tokens in all.
    pub total: u64,
    /// Tokens returned.
    pub returned: u64,
    /// Whether tokens were left out.
    pub truncated: bool,
    /// Tokens asked for or implied, sorted.
    pub covers: Vec<String>,
    /// 12 hex digits over covers and filters.
    pub fingerprint_id: String,
    /// Profiler family, or unknown.
    pub tool: String,
    /// Whether a known profiler was found.
    pub recognised: bool,
    /// Whether all of it could be read.
    pub complete: bool,
    /// Counters of each pass as given.
    pub pmc_groups: Vec<Vec<String>>,
    /// Options that narrow the collection.
    pub filters: Vec<Filter>,
    /// Input files that say more.
    pub unresolved_inputs: Vec<String>,
    /// Words that are no option.
    pub unknown_options: Vec<String>,
    /// Program that is profiled.
    pub application: Option<String>,
}
