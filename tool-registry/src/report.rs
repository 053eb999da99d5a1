//! Assembles the report document from a run, a source tree and what else was given.

pub(crate) mod advice;
mod communication;
mod cut;
mod health;
mod host;
mod kernels;
pub(crate) mod measured;
mod monitor;
mod provenance;
mod redact;
pub(crate) mod source;
mod thread_trace;
mod time;
pub(crate) mod verdict;

use perfxpert_analysis::RunProfile;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::advice::{Evidence, Summary};
use perfxpert_schemas::report::hardware::{CounterCoverage, CounterMetrics, HardwareCounters};
use perfxpert_schemas::report::meta::{FailedSection, Metadata, WarningDetail};
use perfxpert_schemas::report::sections::ApiBreakdown;
use perfxpert_schemas::report::time::TimeBreakdown;
use perfxpert_schemas::report::{CopyRows, Report};
use perfxpert_schemas::tools::agent::options::IntentWord;
use perfxpert_schemas::tools::agent::run::AgentRun;
use serde_json::{Map, Value};

use perfxpert_source::Scan;
use perfxpert_trace::Severity;

use crate::Context;
use crate::stamp::Stamp;
use crate::traces::LoadedRun;
use measured::Measured;

pub(crate) use cut::brief;
pub(crate) use redact::redacted;

/// Sentences of the summary.
const KEY_FINDINGS: usize = 6;
/// Warnings of a full report.
const WARNINGS: usize = 100;
/// Lowest schema version, of a report without optional features.
const BASE_VERSION: [u32; 3] = [0, 3, 0];

/// What the report is about and how it was asked for.
pub(crate) struct Request<'a> {
    /// The databases of the run, when one was given.
    pub(crate) run: Option<&'a LoadedRun>,
    /// Databases as the caller wrote them.
    pub(crate) databases: &'a [String],
    /// The scanned folder as the caller wrote it, and what is in it.
    pub(crate) source: Option<(&'a str, &'a Scan)>,
    /// Folder with thread-trace tables.
    pub(crate) att_dir: Option<&'a str>,
    /// Captured monitor log.
    pub(crate) monitor_log: Option<&'a str>,
    /// Whether loop hints are wanted.
    pub(crate) advanced: bool,
    /// Whether recommendations are wanted.
    pub(crate) advice: bool,
    /// Databases of the run to compare with.
    pub(crate) baseline: &'a [String],
    /// Databases of further counter passes.
    pub(crate) counter_paths: &'a [String],
    /// Hotspot rows.
    pub(crate) top_kernels: usize,
    /// Architecture when the trace does not name its GPU.
    pub(crate) gfx_id: Option<&'a str>,
    /// What is wanted.
    pub(crate) intent: IntentWord,
    /// The question, when it is not the default one.
    pub(crate) question: Option<&'a str>,
    /// Every option with its effective value.
    pub(crate) options: Map<String, Value>,
    /// When the call began.
    pub(crate) stamp: Stamp,
}

/// The report at full detail.
pub(crate) fn build(context: &Context, request: &Request<'_>) -> Report {
    let mut report = match request.run {
        Some(run) => of_run(context, request, run),
        None => without_run(context, request),
    };
    if let Some((_, scan)) = request.source
        && let Some(message) = source::limits(scan)
    {
        warn(&mut report, vec![health::warning("source_scan_limited", Severity::Info, message, None)]);
    }
    for (section, given) in [("trace_diff", request.baseline), ("hardware_counters", request.counter_paths)] {
        if !given.is_empty() && !report.errors.iter().any(|failed| failed.section == section) {
            report.errors.push(not_evaluated(section));
        }
    }
    finish(&mut report);
    report
}

/// A section that failed.
fn failed(section: &str, fault: &ErrorObject) -> FailedSection {
    FailedSection {
        section: section.to_owned(),
        kind: fault.kind.as_str().to_owned(),
        message: fault.message.clone(),
    }
}

/// A section whose input was given and not looked at.
fn not_evaluated(section: &str) -> FailedSection {
    FailedSection {
        section: section.to_owned(),
        kind: "internal".to_owned(),
        message: "What was given for this section was not evaluated.".to_owned(),
    }
}

fn of_run(context: &Context, request: &Request<'_>, run: &LoadedRun) -> Report {
    let asked = request.gfx_id.filter(|_| gfx_unknown(run));
    let measured = Measured::new(run, asked, request.top_kernels);
    let inputs: Vec<&str> = request.databases.iter().map(String::as_str).collect();
    let judged = verdict::judge(&measured, &inputs);
    let traced = request.att_dir.map(|folder| thread_trace::section(context, folder));
    let monitor = request.monitor_log.map(|path| monitor::section(context, path, Some(&measured)));
    let mut errors: Vec<FailedSection> = Vec::new();
    let collectives = communication::find(context, &measured).unwrap_or_else(|fault| {
        errors.push(failed("communication", &fault));
        None
    });
    let advised = collectives.as_ref().map(communication::for_rules);
    let beside = advice::Beside {
        communication: advised.as_ref(),
        inputs: &inputs,
        scan: request.source.map(|(_, scan)| scan),
        traced: traced.as_ref().map_or(&[], |(_, kernels)| kernels.as_slice()),
        monitor: monitor.as_ref(),
        advanced: request.advanced,
    };
    let recommendations =
        if request.advice && run.has_gpu_work() { advice::of_run(&measured, &beside) } else { Vec::new() };
    let story = verdict::story(&measured, &judged, &recommendations);
    let sentences = verdict::narrative(&story);
    let counters = counters(&measured, &mut errors);
    let att = traced.as_ref().is_some_and(|(trace, _)| trace.has_att_data);
    let tier = match (att, counters.has_counters) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 1,
    };
    let (time_breakdown, execution) = time::breakdown(&measured);
    let api = host::api(&measured);
    let gpus = time::gpus(&measured);
    let mut hotspots = kernels::hotspots(&measured);
    let tier0 = request.source.map(|(folder, scan)| {
        source::locate(scan, &mut hotspots);
        let plan = source::plan(scan, Some(&measured));
        source::section(folder, scan, &plan, advice::of_source(scan), request.stamp)
    });
    let mut report = Report {
        primary_bottleneck: judged.verdict.kind.as_str().to_owned(),
        bottleneck_detail: judged.verdict.detail.map(|detail| detail.as_str().to_owned()),
        confidence: judged.confidence,
        narrative: sentences.join(" "),
        summary: Summary {
            overall_assessment: sentences.first().cloned().unwrap_or_default(),
            primary_bottleneck: judged.verdict.kind.as_str().to_owned(),
            bottleneck_detail: judged.verdict.detail.map(|detail| detail.as_str().to_owned()),
            confidence: judged.confidence,
            key_findings: verdict::key_findings(&measured, &story),
            runner_up: judged.runner_up(),
            narrative_source: "deterministic".to_owned(),
        },
        evidence: verdict::evidence(&measured, &judged, tier, att),
        recommendations_total: recommendations.len() as u64,
        recommendations,
        profiling_info: time::profiling_info(&measured, tier),
        gpus_total: gpus.len() as u64,
        gpus,
        time_breakdown,
        execution_breakdown: Some(execution),
        hotspots_total: measured.kernels.len() as u64,
        hotspots,
        memory_analysis: host::copies(&measured),
        hardware_counters: counters,
        kernel_resources: kernels::resources(&measured),
        api_breakdown: Some(ApiBreakdown {
            total_api_ns: api.total_api_ns,
            launch_overhead_ns: api.launch_overhead_ns,
            api_calls: api.api_calls.clone(),
        }),
        api_overhead: api,
        warmup_issues: kernels::warmup(&measured),
        interval_timeline: Some(host::timeline(&measured)),
        kernel_categories: Some(kernels::categories(&measured)),
        short_kernels: Some(kernels::short(&measured)),
        att_trace: traced.as_ref().filter(|(trace, _)| trace.has_att_data).map(|(trace, _)| trace.clone()),
        thread_trace: traced.map(|(trace, _)| trace),
        communication: collectives.as_ref().map(|found| communication::section(&measured, found)),
        gpu_monitor: monitor,
        tier0_findings: tier0,
        trace_health: Some(health::section(&measured)),
        errors,
        ..bare(request)
    };
    let warnings = health::warnings(&measured, request.gfx_id);
    warn(&mut report, warnings);
    report
}

/// A report on a source tree alone, or on nothing.
fn without_run(context: &Context, request: &Request<'_>) -> Report {
    let traced = request.att_dir.map(|folder| thread_trace::section(context, folder).0);
    let monitor = request.monitor_log.map(|path| monitor::section(context, path, None));
    let mut report = Report {
        att_trace: traced.clone().filter(|trace| trace.has_att_data),
        thread_trace: traced,
        gpu_monitor: monitor,
        ..bare(request)
    };
    let Some((folder, scan)) = request.source else { return report };
    let plan = source::plan(scan, None);
    let advised = perfxpert_analysis::source_plan::code_advice(scan);
    let narrative = perfxpert_analysis::source_plan::source_only_narrative(scan, &advised, &plan);
    let recommendations = advice::of_source(scan);
    report.summary.overall_assessment =
        narrative.split_inclusive(". ").next().unwrap_or(&narrative).trim_end().to_owned();
    report.summary.key_findings =
        scan.patterns.iter().map(|pattern| format!("{}.", pattern.description)).take(KEY_FINDINGS).collect();
    report.narrative = narrative;
    report.recommendations_total = recommendations.len() as u64;
    let section = source::section(folder, scan, &plan, recommendations.clone(), request.stamp);
    report.recommendations = recommendations;
    report.tier0 = Some(section.clone());
    report.tier0_findings = Some(section);
    report
}

/// Share of the evidence the verdict needs that the run holds, fraction.
pub(crate) fn coverage(run: &LoadedRun) -> f64 {
    perfxpert_analysis::evidence::verdict(&run.profile, None, &run.health).0.coverage
}

/// Whether no GPU of the run is named by its trace, so that the caller's word counts.
fn gfx_unknown(run: &LoadedRun) -> bool {
    let mut agents = run.profile.agents.iter();
    agents.all(|agent| run.trace.agent(agent.agent).is_none_or(|agent| agent.gfx_id.is_none()))
}

fn counters(measured: &Measured<'_>, errors: &mut Vec<FailedSection>) -> HardwareCounters {
    let profile: &RunProfile = &measured.run.profile;
    if measured.has_counter_rows() {
        errors.push(not_evaluated("hardware_counters"));
    }
    let share = profile.parts().percentages().first().map(|share| share.value());
    let reason = if measured.has_counter_rows() {
        "the counters of this trace were not evaluated"
    } else {
        "the trace holds no hardware counters"
    };
    HardwareCounters {
        has_counters: false,
        reason: Some(reason.to_owned()),
        metrics: CounterMetrics {
            gpu_utilization_pct: share.filter(|_| profile.judgeable()),
            gpu_utilization_source: "timeline".to_owned(),
            ..CounterMetrics::default()
        },
        counters: std::collections::BTreeMap::new(),
        counters_total: 0,
        per_kernel: Vec::new(),
        coverage: CounterCoverage { dispatches_total: profile.rows.dispatches, ..CounterCoverage::default() },
    }
}

/// A report about nothing: every section empty, the verdict that nothing can be said.
fn bare(request: &Request<'_>) -> Report {
    let kind = perfxpert_analysis::verdict::Kind::DataInsufficient.as_str();
    let nothing = "Nothing was given to analyse.";
    let run = serde_json::to_value(AgentRun::deterministic("agent.root", false)).unwrap_or_default();
    Report {
        schema_version: version(BASE_VERSION),
        features: Vec::new(),
        primary_bottleneck: kind.to_owned(),
        bottleneck_detail: None,
        confidence: 0.0,
        narrative: nothing.to_owned(),
        llm_enhanced_explanation: None,
        summary: Summary {
            overall_assessment: nothing.to_owned(),
            primary_bottleneck: kind.to_owned(),
            bottleneck_detail: None,
            confidence: 0.0,
            key_findings: Vec::new(),
            runner_up: None,
            narrative_source: "deterministic".to_owned(),
        },
        evidence: Evidence::default(),
        recommendations: Vec::new(),
        warnings: Vec::new(),
        warning_details: Some(Vec::new()),
        errors: Vec::new(),
        profiling_info: perfxpert_schemas::report::meta::ProfilingInfo {
            profiling_mode: "source_only".to_owned(),
            ..Default::default()
        },
        gpus: Vec::new(),
        time_breakdown: TimeBreakdown::default(),
        execution_breakdown: None,
        hotspots: Vec::new(),
        memory_analysis: CopyRows::default(),
        hardware_counters: HardwareCounters {
            has_counters: false,
            reason: Some("no trace".to_owned()),
            metrics: CounterMetrics { gpu_utilization_source: "timeline".to_owned(), ..Default::default() },
            counters: std::collections::BTreeMap::new(),
            counters_total: 0,
            per_kernel: Vec::new(),
            coverage: CounterCoverage::default(),
        },
        kernel_resources: Default::default(),
        api_overhead: Default::default(),
        api_breakdown: Some(ApiBreakdown::default()),
        warmup_issues: Default::default(),
        interval_timeline: None,
        kernel_categories: None,
        short_kernels: None,
        thread_trace: None,
        att_trace: None,
        communication: None,
        gpu_monitor: None,
        roofline: None,
        tier0_findings: None,
        tier0: None,
        trace_diff: None,
        exploratory_proposals: None,
        trace_health: None,
        provenance: provenance::of(request),
        metadata: Metadata {
            rocpd_version: request
                .run
                .and_then(|run| run.trace.sources().first())
                .and_then(|source| source.schema_version.clone()),
            database_file: request.databases.first().cloned(),
            analysis_timestamp: request.stamp.timestamp(),
            custom_prompt: request.question.map(str::to_owned),
            intent: request.intent.as_str().to_owned(),
            routed_to: Vec::new(),
            run,
            ..Metadata::default()
        },
        hotspots_total: 0,
        recommendations_total: 0,
        gpus_total: 0,
        warnings_total: 0,
        omitted: Vec::new(),
    }
}

fn version(parts: [u32; 3]) -> String {
    parts.map(|part| part.to_string()).join(".")
}

/// Adds warnings behind those that are there, up to the cap; the total keeps counting.
pub(crate) fn warn(report: &mut Report, more: Vec<WarningDetail>) {
    let details = report.warning_details.get_or_insert_default();
    report.warnings_total += more.len() as u64;
    details.extend(more);
    details.truncate(WARNINGS);
    report.warnings = details.iter().map(|detail| detail.message.clone()).collect();
}

/// What follows from the rest of the report: versions, copies of values, agents that ran.
fn finish(report: &mut Report) {
    let (version, features) = features(report);
    report.schema_version = version;
    report.features = features;
    report.llm_enhanced_explanation = Some(report.narrative.clone());
    report.metadata.analysis_version.clone_from(&report.schema_version);
    report.metadata.gpu_arch = report.gpus.first().and_then(|gpu| gpu.gfx_id.clone());
    report.metadata.kernel_count = report.profiling_info.dispatches;
    report.metadata.total_runtime_ns = report.profiling_info.total_duration_ns;
    if report.execution_breakdown.is_some() {
        report.metadata.routed_to = vec!["agent.analysis".to_owned(), "agent.recommendation".to_owned()];
    }
    if report.trace_diff.is_some() {
        report.metadata.routed_to.push("agent.diff_specialist".to_owned());
    }
}

/// The highest version whose feature is in the report, and all features, sorted.
fn features(report: &Report) -> (String, Vec<String>) {
    let located = report
        .hotspots
        .iter()
        .any(|hotspot| hotspot.source_locations.as_ref().is_some_and(|places| !places.is_empty()));
    let predicted = report.recommendations.iter().any(|entry| entry.prediction.is_some());
    let traced = report.thread_trace.as_ref().is_some_and(|trace| trace.has_att_data);
    let advanced = report.recommendations.iter().any(|entry| entry.advanced);
    let found = [
        ("source_locations", located, [0, 3, 1]),
        ("trace_diff", report.trace_diff.is_some(), [0, 3, 1]),
        ("communication", report.communication.is_some(), [0, 3, 2]),
        ("predictions", predicted, [0, 3, 3]),
        ("roofline", report.roofline.is_some(), [0, 3, 4]),
        ("att", traced, [0, 4, 0]),
        ("tier0", report.tier0_findings.is_some(), BASE_VERSION),
        ("gpu_monitor", report.gpu_monitor.is_some(), BASE_VERSION),
        ("advanced", advanced, BASE_VERSION),
    ];
    let there = found.iter().filter(|(_, there, _)| *there);
    let highest = there.clone().map(|(_, _, version)| *version).max().unwrap_or(BASE_VERSION);
    let mut names: Vec<String> = there.map(|(name, ..)| (*name).to_owned()).collect();
    names.sort();
    (version(highest), names)
}
