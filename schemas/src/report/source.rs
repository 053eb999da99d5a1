//! What the source scan found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::advice::{CommandLine, Recommendation};

/// Kernels, launches and patterns of a source tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tier0Findings {
    /// The folder, as given.
    pub source_dir: String,
    /// RFC 3339, UTC.
    pub analysis_timestamp: String,
    /// HIP, CUDA, OpenCL, Triton, Numba or Unknown.
    pub programming_model: String,
    /// All that occur.
    pub programming_models: Vec<String>,
    /// Files read.
    pub files_scanned: u64,
    /// Files left out.
    pub files_skipped: u64,
    /// Left out, by reason.
    pub skipped_by_reason: std::collections::BTreeMap<String, u64>,
    /// Distinct kernels.
    pub kernel_count: u64,
    /// Definitions.
    pub definition_count: u64,
    /// Launches.
    pub launch_count: u64,
    /// Declarations without a body.
    pub declaration_count: u64,
    /// Definitions first, then by file and line.
    pub detected_kernels: Vec<DetectedKernel>,
    /// Rows before the cut.
    pub detected_kernels_total: u64,
    /// Code patterns.
    pub detected_patterns: Vec<DetectedPattern>,
    /// Descriptions of medium and high patterns.
    pub risk_areas: Vec<String>,
    /// Whether there is any marker.
    pub already_instrumented: bool,
    /// Markers.
    pub roctx_marker_count: u64,
    /// Asynchronous copies.
    pub async_copy_count: u64,
    /// Stream creations.
    pub stream_create_count: u64,
    /// Python frameworks.
    pub frameworks: Vec<Framework>,
    /// Libraries.
    pub libraries: Vec<String>,
    /// Counts of features.
    pub code_features: CodeFeatures,
    /// Recommendations from the source alone.
    pub code_patterns: Vec<Recommendation>,
    /// Equal to `code_patterns`.
    pub recommendations: Vec<Recommendation>,
    /// What to record first.
    pub profiling_plan: ProfilingPlan,
    /// Counters to collect; without a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_counters: Option<Vec<String>>,
    /// The first command; without a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_first_command: Option<String>,
    /// The plan as one INFO entry; without a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiling_plan_actions: Option<Vec<Value>>,
    /// Always null.
    pub llm_explanation: Option<String>,
}

/// A definition, declaration or launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectedKernel {
    /// Base name.
    pub name: String,
    /// With namespaces, without template arguments.
    pub qualified_name: String,
    /// Relative path.
    pub file: String,
    /// From 1.
    pub line: u64,
    /// From 1.
    pub column: u64,
    /// How it is written.
    pub launch_type: String,
    /// definition, declaration or launch.
    pub kind: String,
    /// Whether it is a template.
    pub template: bool,
    /// Launch bounds.
    pub launch_bounds: Option<SourceLaunchBounds>,
    /// default, explicit, unknown; null for definitions.
    pub stream: Option<String>,
    /// none, direct or caller; null for definitions.
    #[serde(rename = "loop")]
    pub in_loop: Option<String>,
    /// Enclosing function.
    pub in_function: Option<String>,
    /// Whether the name is known.
    pub name_known: bool,
}

/// Arguments of `__launch_bounds__`: a number, or the text of the expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceLaunchBounds {
    /// Threads per workgroup.
    pub max_threads: Value,
    /// Waves per SIMD.
    pub min_waves_per_simd: Value,
}

/// A code pattern with its places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectedPattern {
    /// Stable id.
    pub pattern_id: String,
    /// high, medium or low.
    pub severity: String,
    /// Bottleneck it leads to.
    pub category: String,
    /// Says the numbers.
    pub description: String,
    /// Occurrences.
    pub count: u64,
    /// Of them in a loop.
    pub in_loop_count: u64,
    /// First twenty `file:line`.
    pub locations: Vec<String>,
    /// All places.
    pub locations_total: u64,
}

/// A Python framework.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Framework {
    /// Its name.
    pub name: String,
    /// Files that import it.
    pub files: u64,
    /// First import, file:line.
    pub first: String,
}

/// Counts of features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CodeFeatures {
    /// Shared-memory arrays.
    pub lds_arrays: u64,
    /// Matrix builtins.
    pub mfma_builtins: u64,
    /// Atomics.
    pub atomics: u64,
    /// Double precision.
    pub double_precision: u64,
    /// Launch bounds.
    pub launch_bounds: u64,
    /// Unroll pragmas.
    pub unroll_pragmas: u64,
}

/// What to record first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfilingPlan {
    /// In a sentence.
    pub description: String,
    /// The first command; empty when no GPU code was found.
    pub suggested_first_command: String,
    /// Counters to collect.
    pub suggested_counters: Vec<String>,
    /// Counters by pass.
    pub passes: Vec<PlanPass>,
    /// Commands, without what the trace already holds.
    pub actions: Vec<CommandLine>,
    /// Kernels found.
    pub kernel_count: u64,
    /// Programming model.
    pub programming_model: String,
    /// Whether a trace was given.
    pub already_profiled: bool,
}

/// One counter pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanPass {
    /// Counters that fit together.
    pub counters: Vec<String>,
    /// The command.
    pub command: String,
}
