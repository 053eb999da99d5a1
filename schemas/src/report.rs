//! The report document: one typed model, made by `agent.root`, rendered as text, JSON, markdown and HTML.

pub mod advice;
pub mod hardware;
pub mod kernels;
pub mod meta;
pub mod sections;
pub mod source;
pub mod time;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use advice::{Evidence, Recommendation, Summary};
use hardware::{HardwareCounters, KernelResources, Roofline, ThreadTrace};
use kernels::{Hotspot, KernelCategories, ShortKernels, WarmupIssues};
use meta::{FailedSection, Gpu, HealthReport, Metadata, ProfilingInfo, Provenance, WarningDetail};
use sections::{ApiBreakdown, ApiOverhead, Communication, CopyRow, GpuMonitor, IntervalTimeline};
use source::Tier0Findings;
use time::{ExecutionBreakdown, TimeBreakdown};

/// The report. Keys of a present object are all present; unknown is `null`; a section that does not apply is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Highest version whose feature is in the document.
    pub schema_version: String,
    /// Optional features in the document, sorted.
    pub features: Vec<String>,
    /// What limits the run: compute, memory_transfer, latency, mixed or data_insufficient.
    pub primary_bottleneck: String,
    /// The kind of limit, such as host_device_copy.
    pub bottleneck_detail: Option<String>,
    /// How sure the verdict is, fraction 0..1.
    pub confidence: f64,
    /// The answer in sentences.
    pub narrative: String,
    /// Equal to `narrative`; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_enhanced_explanation: Option<String>,
    /// Verdict and key findings.
    pub summary: Summary,
    /// What the verdict stands on.
    pub evidence: Evidence,
    /// Ranked things to do.
    pub recommendations: Vec<Recommendation>,
    /// What to read with care.
    pub warnings: Vec<String>,
    /// The warnings with codes; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_details: Option<Vec<WarningDetail>>,
    /// Sections that failed and were left empty.
    pub errors: Vec<FailedSection>,
    /// What was recorded.
    pub profiling_info: ProfilingInfo,
    /// The GPUs of the run.
    pub gpus: Vec<Gpu>,
    /// Where the time went, flat; empty without a trace.
    pub time_breakdown: TimeBreakdown,
    /// Where the time went, per GPU; null without a trace.
    pub execution_breakdown: Option<ExecutionBreakdown>,
    /// Kernels by time.
    pub hotspots: Vec<Hotspot>,
    /// Copies by direction.
    pub memory_analysis: CopyRows,
    /// Counter metrics.
    pub hardware_counters: HardwareCounters,
    /// Registers, LDS and occupancy.
    pub kernel_resources: KernelResources,
    /// Host calls.
    pub api_overhead: ApiOverhead,
    /// Three totals of `api_overhead`; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_breakdown: Option<ApiBreakdown>,
    /// Slow first calls.
    pub warmup_issues: WarmupIssues,
    /// Gaps and their causes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_timeline: Option<IntervalTimeline>,
    /// Kernel time by kind of kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_categories: Option<KernelCategories>,
    /// Kernels shorter than a launch pays for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_kernels: Option<ShortKernels>,
    /// Stalls by instruction, when a thread trace was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_trace: Option<ThreadTrace>,
    /// Equal to `thread_trace` when it has data; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub att_trace: Option<ThreadTrace>,
    /// Collectives, when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub communication: Option<Communication>,
    /// Temperatures, power and clocks, when a log was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_monitor: Option<GpuMonitor>,
    /// Roofline points, when counters give at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roofline: Option<Roofline>,
    /// What the source scan found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier0_findings: Option<Tier0Findings>,
    /// Equal to `tier0_findings` in a source-only report; full detail only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier0: Option<Tier0Findings>,
    /// The diff document against the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_diff: Option<Box<crate::diff::DiffDocument>>,
    /// Proposals of a model, never verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploratory_proposals: Option<Vec<Value>>,
    /// What is wrong with the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_health: Option<HealthReport>,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// Names of the original.
    pub metadata: Metadata,
    /// Hotspots before the cut.
    pub hotspots_total: u64,
    /// Recommendations before the cut.
    pub recommendations_total: u64,
    /// GPUs before the cut.
    pub gpus_total: u64,
    /// Warnings before the cut.
    pub warnings_total: u64,
    /// Keys of sections that this detail leaves out.
    pub omitted: Vec<String>,
}

/// Copies by direction, longest first; serialised as an object in that order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyRows(pub Vec<(String, CopyRow)>);

impl Serialize for CopyRows {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(direction, row)| (direction, row)))
    }
}

impl<'de> Deserialize<'de> for CopyRows {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::<String, Value>::deserialize(deserializer)?;
        map.into_iter()
            .map(|(direction, row)| {
                serde_json::from_value(row).map(|row| (direction, row)).map_err(serde::de::Error::custom)
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl JsonSchema for CopyRows {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CopyRows".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BTreeMap::<String, CopyRow>::json_schema(generator)
    }
}
