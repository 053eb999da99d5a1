//! The text report: 80 columns, every section of the shared list in order.

mod advice;
mod kernels;
mod page;
mod sections;
mod source;

pub(crate) use advice::{nothing, predicted, references};
pub(crate) use kernels::{collect_commands, metrics, roof_line, short_sentence, stall_label};
pub use page::{Column, Page, Side};
pub(crate) use sections::{communication_sentence, gap_sentence, health_sentence, monitor_sentence, warmup};
pub(crate) use source::counts as scan_counts;

use perfxpert_schemas::report::Report;

use super::section::Section;
use super::{Layout, number};

/// Renders the whole report.
pub fn report(report: &Report, layout: Layout) -> String {
    let mut page = Page::new(layout);
    for section in Section::ALL.into_iter().filter(|section| section.present(report)) {
        if !matches!(section, Section::Overview | Section::Footer) {
            page.banner(section.banner());
        }
        match section {
            Section::Overview => overview(&mut page, report),
            Section::Summary => advice::summary(&mut page, report),
            Section::Execution => sections::execution(&mut page, report),
            Section::Hotspots => kernels::hotspots(&mut page, report),
            Section::KernelResources => kernels::resources(&mut page, report),
            Section::Memory => sections::memory(&mut page, report),
            Section::ApiOverhead => sections::api(&mut page, report),
            Section::Timeline => sections::timeline(&mut page, report),
            Section::KernelCategories => kernels::categories(&mut page, report),
            Section::ShortKernels => kernels::short(&mut page, report),
            Section::Counters => kernels::counters(&mut page, report),
            Section::Roofline => kernels::roofline(&mut page, report),
            Section::ThreadTrace => kernels::thread_trace(&mut page, report),
            Section::Communication => sections::communication(&mut page, report),
            Section::GpuMonitor => sections::monitor(&mut page, report),
            Section::TraceHealth => sections::health(&mut page, report),
            Section::Recommendations => advice::recommendations(&mut page, report),
            Section::Tier0 => source::tier0(&mut page, report),
            Section::TraceDiff => source::baseline(&mut page, report),
            Section::Footer => footer(&mut page, report),
        }
    }
    page.finish()
}

/// `1 (Trace Only)` and its kin.
pub(crate) fn tier(report: &Report) -> &'static str {
    match report.profiling_info.analysis_tier {
        0 => "0 (Source Only)",
        1 => "1 (Trace Only)",
        2 => "2 (Hardware Counters)",
        _ => "3 (Thread Trace)",
    }
}

/// The last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The database as the title shows it: base name, or the first and how many more.
pub(crate) fn database(report: &Report) -> Option<String> {
    let first = base_name(report.metadata.database_file.as_deref()?).to_owned();
    let more = report.profiling_info.files.saturating_sub(1);
    Some(if more > 0 { format!("{first} and {} more", number::count(more)) } else { first })
}

/// One entry per kind of GPU: `1x gfx942 (AMD Instinct MI300X, 304 CU)`.
pub(crate) fn gpu_kinds(report: &Report) -> Vec<String> {
    let mut kinds: Vec<(String, u64)> = Vec::new();
    for gpu in &report.gpus {
        let id = gpu.gfx_id.clone().unwrap_or_else(|| "unknown GPU".to_owned());
        let units = gpu.cu_count.map(|units| format!("{} CU", number::count(units)));
        let details: Vec<String> = gpu.name.clone().into_iter().chain(units).collect();
        let label = if details.is_empty() { id } else { format!("{id} ({})", details.join(", ")) };
        match kinds.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => kinds.push((label, 1)),
        }
    }
    kinds.into_iter().map(|(label, count)| format!("{}x {label}", number::count(count))).collect()
}

/// Messages of lost data, repeated at the top of every rendering.
pub(crate) fn data_loss(report: &Report) -> Vec<&str> {
    let from_health = report.trace_health.iter().flat_map(|health| &health.items);
    from_health.filter(|item| item.severity == "data_loss").map(|item| item.message.as_str()).collect()
}

/// Whether W differs from the total runtime and must be shown.
pub(crate) fn normalized(report: &Report) -> Option<u64> {
    let time = report.execution_breakdown.as_ref()?;
    (time.normalized_runtime_ns != time.total_runtime_ns).then_some(time.normalized_runtime_ns)
}

fn overview(page: &mut Page, report: &Report) {
    page.title(Section::Overview.banner());
    if let Some(database) = database(report) {
        page.labelled("Database:", &database);
    } else if let Some(scan) = &report.tier0_findings {
        page.labelled("Source:", &scan.source_dir);
    }
    if let Some(baseline) = report.provenance.inputs.iter().find(|input| input.role == "baseline") {
        page.labelled("Baseline:", base_name(&baseline.path));
    }
    page.labelled("Analysis Date:", &report.metadata.analysis_timestamp);
    page.labelled("Analysis Tier:", tier(report));
    if report.execution_breakdown.is_some() {
        page.labelled("Total Runtime:", &number::duration(report.profiling_info.total_duration_ns));
    }
    if let Some(sum) = normalized(report) {
        page.labelled("Normalized:", &format!("{} (sum of the GPU windows)", number::duration(sum)));
    }
    for (index, kind) in gpu_kinds(report).iter().enumerate() {
        page.labelled(if index == 0 { "GPUs:" } else { "" }, kind);
    }
    if let Some(health) = &report.trace_health {
        page.labelled("Trace Health:", &health.status);
    }
    for message in data_loss(report) {
        page.prose("Data lost:      ", "                ", message);
    }
}

/// The closing sentence of every rendering.
pub(crate) fn closing(report: &Report) -> String {
    let author = match (&report.metadata.provider, &report.metadata.model) {
        (Some(provider), Some(model)) => format!("narrative by {provider}/{model}"),
        (Some(provider), None) => format!("narrative by {provider}"),
        _ => "deterministic".to_owned(),
    };
    format!(
        "Analysis complete. Schema {}, perfxpert {}, {author}.",
        report.schema_version, report.provenance.tool_version
    )
}

fn footer(page: &mut Page, report: &Report) {
    page.footer(&closing(report));
}
