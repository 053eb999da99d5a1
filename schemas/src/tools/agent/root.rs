//! `agent.root`: the whole report for a question.

use schemars::JsonSchema;
use serde::Deserialize;

use super::options::{Paths, ProviderWord, RunOptions};
use crate::report::Report;
use crate::tools::Contract;

/// The question when none is asked.
pub const QUESTION: &str = "Analyze this GPU performance trace.";

/// The named fields of the answer; every other top-level key is a section of the report.
pub const NAMED_FIELDS: [&str; 5] =
    ["narrative", "recommendations", "primary_bottleneck", "warnings", "metadata"];

/// Contract of `agent.root`.
pub struct Root;

impl Contract for Root {
    const NAME: &'static str = "agent.root";
    type Input = RootInput;
    type Output = Report;
}

fn question() -> String {
    QUESTION.to_owned()
}

/// Arguments of `agent.root`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RootInput {
    /// The question, in words.
    #[serde(default = "question")]
    #[schemars(length(max = 4000))]
    pub user_query: String,
    /// rocpd database, folder, or list of them, as paths.
    #[serde(default)]
    pub database_path: Option<Paths>,
    /// Source tree to scan, a folder.
    #[serde(default)]
    pub source_dir: Option<String>,
    /// Folder with thread-trace stats_*.csv files.
    #[serde(default)]
    pub att_dir: Option<String>,
    /// Run to compare with: database, folder, or list, as paths.
    #[serde(default)]
    pub baseline_db: Option<Paths>,
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
    /// Everything else.
    #[serde(default)]
    #[schemars(extend("x-aliases" = ["analysis_options"]))]
    pub options: RunOptions,
}
