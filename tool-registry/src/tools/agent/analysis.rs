//! `agent.analysis`: what limits a run, from the same report the root agent gives, without advice.

use std::path::{Path, PathBuf};

use perfxpert_analysis::rounding::round;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::hardware::KernelResourceRow;
use perfxpert_schemas::report::kernels::Hotspot;
use perfxpert_schemas::tools::agent::analysis::{
    AnalysisAnswer, AnalysisCall, AnalysisDetails, CitedValue, HotKernel, HotResources, MissingValue,
    TimeShares, TraceReference, VerdictDetails,
};
use perfxpert_schemas::tools::agent::options::IntentWord;
use serde_json::{Map, Value, json};

use super::asking::{self, Asked};
use crate::Context;
use crate::report::{self, Request, source};
use crate::stamp::Stamp;
use crate::traces::Wish;

/// Sentences for or against a verdict.
const SENTENCES: usize = 5;
/// Most characters of a default answer, and the rows it falls back to.
const CEILING: usize = 12_000;
const FEWER: usize = 5;

pub(super) fn run(context: &Context, call: AnalysisCall) -> Result<AnalysisAnswer, ErrorObject> {
    context.phase("entering analysis", 0.0, None);
    let answer = answer(context, &call);
    context.phase("exit analysis", 1.0, None);
    answer
}

fn answer(context: &Context, call: &AnalysisCall) -> Result<AnalysisAnswer, ErrorObject> {
    let stamp = Stamp::now();
    let input = &call.input;
    let asked = Asked {
        provider: call.provider,
        model: call.model.as_ref().or(call.options.model.as_ref()),
        airgap: call.airgap,
        session_id: call.session_id.as_deref(),
        options: &call.options,
    };
    asking::without_root_options(&call.options)?;
    let databases = asking::paths("input.database_path", input.database_path.0.iter())?;
    if databases.is_empty() {
        return Err(ErrorObject::invalid(
            "input.database_path",
            "input.database_path names no file.",
            "Give a rocpd database, a folder, or a list of them.",
        ));
    }
    let min_duration = asking::min_duration("input", input.min_duration, input.min_duration_us)?;
    let model = asked.preflight(context)?;
    let inputs: Vec<PathBuf> = databases.iter().map(PathBuf::from).collect();
    let wish = Wish { allow_partial: true, strict: false, min_duration };
    let loaded = context.quiet().load(&inputs, wish, "input.database_path")?;
    let scan = input.source_dir.as_deref().map(source::scan).transpose()?;
    let att_dir = input.att_dir.clone().or_else(|| databases.first().and_then(|path| beside(path)));
    let request = Request {
        run: Some(&loaded),
        databases: &databases,
        source: input.source_dir.as_deref().zip(scan.as_ref()),
        att_dir: att_dir.as_deref(),
        monitor_log: input.gpu_monitor_log.as_deref(),
        advanced: false,
        advice: false,
        baseline: &[],
        counter_paths: &[],
        top_kernels: input.top_kernels as usize,
        gfx_id: input.gfx_id.as_deref(),
        intent: IntentWord::Analyze,
        question: None,
        options: Map::new(),
        stamp,
    };
    let mut report = report::build(context, &request);
    let run = asked.run("agent.analysis", &model, &mut report)?;
    let hot_kernels = kernels(&report);
    let time_breakdown = times(&report);
    let coverage = report::coverage(&loaded);
    let evidence = cited(&report, &time_breakdown, &hot_kernels);
    let given = input.database_path.0.as_slice();
    let mut answer = AnalysisAnswer {
        primary_bottleneck: report.primary_bottleneck.clone(),
        confidence: report.confidence,
        counter_data_available: report.hardware_counters.has_counters,
        time_breakdown,
        details: AnalysisDetails {
            verdict: verdict(&report, coverage),
            narrative: report.narrative.clone(),
            evidence,
            missing: report
                .evidence
                .missing
                .iter()
                .map(|missing| MissingValue {
                    what: missing.metric.clone(),
                    why: missing.reason.clone(),
                    command: missing.commands.first().map(|command| command.full_command.clone()),
                })
                .collect(),
            hot_kernels_total: report.hotspots_total,
            truncated: None,
            trace: TraceReference {
                database_path: match given {
                    [one] => json!(one),
                    many => json!(many),
                },
                gfx_id: report.gpus.first().and_then(|gpu| gpu.gfx_id.clone()),
                product: report.gpus.first().and_then(|gpu| gpu.name.clone()),
                gpu_count: report.gpus_total,
                health: report.trace_health.as_ref().map(|health| health.status.clone()).unwrap_or_default(),
            },
            warnings: report.warnings.iter().take(20).cloned().collect(),
            run,
        },
        hot_kernels,
    };
    shrink(&mut answer);
    Ok(answer)
}

/// The folder of a database, when thread-trace tables stand in it.
fn beside(database: &str) -> Option<String> {
    let path = Path::new(database);
    let folder = if path.is_dir() { path } else { path.parent()? };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(folder).ok()?;
    let mut names = entries.filter_map(Result::ok).map(|entry| entry.file_name());
    names
        .any(|name| {
            let name = name.to_string_lossy();
            name.starts_with("stats_") && name.ends_with(".csv")
        })
        .then(|| folder.display().to_string())
}

fn times(report: &Report) -> TimeShares {
    let (Some(time), Some(line)) = (&report.execution_breakdown, &report.interval_timeline) else {
        return TimeShares::default();
    };
    let of_window = |part: u64| {
        let share = perfxpert_analysis::Percent::of(part, time.normalized_runtime_ns);
        share.unwrap_or_default().value()
    };
    TimeShares {
        kernel_pct: time.kernel_time_pct,
        memcpy_pct: time.memcpy_time_pct,
        api_pct: time.api_overhead_pct,
        idle_pct: time.idle_time_pct,
        overlap_pct: of_window(time.overlapped_copy_ns),
        communication_pct: line.exposed_communication_pct,
        window_ns: time.normalized_runtime_ns,
        total_runtime_ns: time.total_runtime_ns,
        kernel_sum_ns: time.summed_kernel_ns,
    }
}

fn kernels(report: &Report) -> Vec<HotKernel> {
    let cus = report.gpus.first().and_then(|gpu| gpu.cu_count);
    report
        .hotspots
        .iter()
        .map(|hotspot| {
            let found = report.kernel_resources.kernels.iter().find(|row| row.name == hotspot.name);
            kernel(hotspot, found, cus)
        })
        .collect()
}

fn kernel(hotspot: &Hotspot, found: Option<&KernelResourceRow>, cus: Option<u64>) -> HotKernel {
    let occupancy = found.and_then(|row| row.occupancy.as_ref());
    let mut metrics = Map::new();
    if let (Some(row), Some(cus)) = (found, cus.filter(|cus| *cus > 0)) {
        metrics.insert("grid_fill".to_owned(), json!(round(row.workgroups as f64 / cus as f64, 2)));
    }
    HotKernel {
        handle: format!("k{}", hotspot.rank),
        name: hotspot.name.clone(),
        calls: hotspot.calls,
        total_duration: hotspot.total_duration_ns,
        avg_duration: hotspot.avg_duration_ns,
        min_duration: hotspot.min_duration_ns,
        max_duration: hotspot.max_duration_ns,
        percent_of_total: hotspot.pct_of_total,
        pct_of_runtime: hotspot.pct_of_runtime,
        severity: hotspot.severity.clone(),
        category: hotspot.category.clone(),
        kind: hotspot.kind.clone(),
        resources: HotResources {
            vgpr: found.and_then(|row| row.vgpr),
            agpr: found.and_then(|row| row.accum_vgpr),
            sgpr: found.and_then(|row| row.sgpr),
            lds_bytes: found.map(|row| row.lds_bytes),
            scratch_bytes: found.map(|row| row.scratch_bytes),
            workgroup: hotspot.launch_bounds.workgroup.clone(),
            grid: hotspot.launch_bounds.grid.clone(),
            waves_per_simd: occupancy.map(|row| row.waves_per_simd),
            occ_frac: occupancy.map(|row| round(row.percent / 100.0, 4)),
            occ_limiter: occupancy.map(|row| row.limiting_resource.to_ascii_lowercase()),
        },
        metrics,
        source_locations: hotspot.source_locations.clone(),
    }
}

fn verdict(report: &Report, coverage: f64) -> VerdictDetails {
    let supporting = report.evidence.items.iter().filter(|item| item.role == "supports");
    VerdictDetails {
        primary_bottleneck: report.primary_bottleneck.clone(),
        bottleneck_detail: report.bottleneck_detail.clone(),
        confidence: report.confidence,
        coverage: round(coverage, 2),
        reasons: supporting.map(|item| item.text.clone()).take(SENTENCES).collect(),
        contradictions: report.evidence.contradictions.iter().take(SENTENCES).cloned().collect(),
        runner_up: report.summary.runner_up.clone(),
    }
}

/// What the text cites: metrics, then findings, each by id.
fn cited(report: &Report, time: &TimeShares, kernels: &[HotKernel]) -> Vec<CitedValue> {
    let value = |id: String, label: String, value: Value, unit: &str, from: String| CitedValue {
        id,
        label,
        value,
        unit: unit.to_owned(),
        from,
    };
    let shares = [
        ("api_pct", "host API, GPU waiting", time.api_pct),
        ("idle_pct", "GPU idle", time.idle_pct),
        ("kernel_pct", "a kernel running", time.kernel_pct),
        ("memcpy_pct", "copy without kernel", time.memcpy_pct),
    ];
    let mut metrics: Vec<CitedValue> = shares
        .into_iter()
        .map(|(name, label, share)| {
            value(format!("m.{name}"), label.to_owned(), json!(share), "%", format!("time_breakdown.{name}"))
        })
        .collect();
    metrics.push(value(
        "m.primary_bottleneck".to_owned(),
        "verdict".to_owned(),
        json!(report.primary_bottleneck),
        "label",
        "primary_bottleneck".to_owned(),
    ));
    metrics.push(value(
        "m.window_ns".to_owned(),
        "GPU time".to_owned(),
        json!(time.window_ns),
        "ns",
        "time_breakdown.window_ns".to_owned(),
    ));
    for (index, (kernel, hotspot)) in kernels.iter().zip(&report.hotspots).take(1).enumerate() {
        let label = |what: &str| -> String {
            let name: String = hotspot.short_name.chars().filter(|letter| *letter != '`').take(48).collect();
            format!("{what}, `{name}`")
        };
        metrics.push(value(
            format!("m.percent_of_total@{}", kernel.handle),
            label("share of kernel time"),
            json!(kernel.percent_of_total),
            "%",
            format!("hot_kernels[{index}].percent_of_total"),
        ));
    }
    metrics.sort_by(|a, b| a.id.cmp(&b.id));
    let mut findings: Vec<CitedValue> = report
        .trace_health
        .iter()
        .flat_map(|health| &health.items)
        .map(|item| {
            value(
                format!("f.health.{}", item.id),
                item.message.chars().take(80).collect(),
                json!(item.count),
                "count",
                "details.warnings".to_owned(),
            )
        })
        .collect();
    findings.extend(report.warmup_issues.outliers.iter().filter_map(|outlier| {
        let kernel = kernels.iter().find(|kernel| kernel.name == outlier.kernel_name)?;
        Some(value(
            format!("f.warmup@{}", kernel.handle),
            "first call over the median of the rest".to_owned(),
            json!(outlier.ratio),
            "ratio",
            "hot_kernels".to_owned(),
        ))
    }));
    findings.sort_by(|a, b| a.id.cmp(&b.id));
    metrics.extend(findings);
    metrics.truncate(60);
    metrics
}

/// Cuts a long answer: fewer kernels first, then halves, with the totals kept.
fn shrink(answer: &mut AnalysisAnswer) {
    let length =
        |answer: &AnalysisAnswer| serde_json::to_string(answer).map_or(0, |text| text.chars().count());
    let mut keep = FEWER;
    for kernel in &mut answer.hot_kernels {
        if let Some(short) = crate::answer::short_name(&kernel.name, 300) {
            kernel.name = short;
        }
    }
    while length(answer) > CEILING && keep > 0 {
        if answer.hot_kernels.len() > keep {
            answer.hot_kernels.truncate(keep);
            answer.details.truncated = Some(true);
        } else {
            keep /= 2;
        }
        if keep <= 1 {
            answer.details.missing.truncate(1);
        }
    }
}
