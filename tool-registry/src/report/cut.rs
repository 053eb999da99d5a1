//! The brief form of a report: the same values, fewer rows, at most 12,000 characters.

use perfxpert_schemas::report::Report;

use crate::answer;

/// Most characters of a brief report.
const CEILING: usize = 12_000;
/// Longest kernel name of a brief report, in characters.
const NAME: usize = 300;

/// Longest sentence of a brief report that is left alone, in characters.
const SENTENCE: usize = 600;

/// Sections and keys that only a full report has.
const FULL_ONLY: [&str; 3] = ["llm_enhanced_explanation", "warning_details", "api_breakdown"];

/// Cuts a report to its brief form.
pub(crate) fn brief(mut report: Report) -> Report {
    report.llm_enhanced_explanation = None;
    report.warning_details = None;
    report.api_breakdown = None;
    report.omitted = FULL_ONLY.iter().map(|key| (*key).to_owned()).collect();
    if report.att_trace.take().is_some() {
        report.omitted.push("att_trace".to_owned());
    }
    if report.tier0.take().is_some() {
        report.omitted.push("tier0".to_owned());
    }
    rows(&mut report);
    names(&mut report);
    let mut level = 0;
    while length(&report) > CEILING && halve(&mut report, level) {
        level += 1;
    }
    report
}

fn length(report: &Report) -> usize {
    serde_json::to_string(report).map_or(0, |text| text.chars().count())
}

/// Lists to their brief caps.
fn rows(report: &mut Report) {
    report.evidence.items.truncate(8);
    report.recommendations.truncate(5);
    report.warnings.truncate(10);
    report.errors.truncate(5);
    report.gpus.truncate(8);
    report.profiling_info.gpus.truncate(8);
    if let Some(figures) = &mut report.time_breakdown.figures {
        figures.agents.truncate(8);
    }
    if let Some(execution) = &mut report.execution_breakdown {
        execution.per_agent.truncate(8);
    }
    report.hotspots.truncate(10);
    report.hardware_counters.counters.clear();
    report.hardware_counters.per_kernel.clear();
    report.kernel_resources.kernels.truncate(5);
    report.api_overhead.api_calls.truncate(5);
    report.warmup_issues.outliers.truncate(5);
    if let Some(timeline) = &mut report.interval_timeline {
        timeline.buckets = None;
        timeline.gaps.largest.truncate(3);
    }
    if let Some(short) = &mut report.short_kernels {
        short.fusion_candidates.truncate(3);
    }
    if let Some(communication) = &mut report.communication {
        communication.collectives.truncate(5);
    }
    if let Some(monitor) = &mut report.gpu_monitor {
        monitor.per_gpu.truncate(8);
    }
    if let Some(roofline) = &mut report.roofline {
        roofline.kernels.truncate(10);
        roofline.skipped.truncate(5);
    }
    if let Some(trace) = &mut report.thread_trace {
        trace.kernels.truncate(5);
        for kernel in &mut trace.kernels {
            kernel.top_stalling_instructions.truncate(3);
        }
        trace.summary.files_skipped.truncate(5);
    }
    if let Some(scan) = &mut report.tier0_findings {
        scan.detected_kernels.truncate(20);
        scan.recommendations.clear();
        scan.code_patterns.truncate(3);
        for pattern in &mut scan.detected_patterns {
            pattern.locations.truncate(3);
        }
    }
    if let Some(health) = &mut report.trace_health {
        health.items.truncate(5);
    }
    report.provenance.options = None;
    report.provenance.inputs.truncate(5);
}

/// Names to their brief length, wherever they stand.
fn names(report: &mut Report) {
    let shorten = |name: &mut String| {
        if let Some(short) = answer::short_name(name, NAME) {
            *name = short;
        }
    };
    for hotspot in &mut report.hotspots {
        shorten(&mut hotspot.name);
        shorten(&mut hotspot.short_name);
        hotspot.full_name = None;
    }
    for row in &mut report.kernel_resources.kernels {
        shorten(&mut row.name);
    }
    for row in &mut report.api_overhead.api_calls {
        shorten(&mut row.name);
    }
    for row in &mut report.warmup_issues.outliers {
        shorten(&mut row.kernel_name);
    }
    for gap in report.interval_timeline.iter_mut().flat_map(|timeline| &mut timeline.gaps.largest) {
        for name in [&mut gap.before, &mut gap.after, &mut gap.call].into_iter().flatten() {
            shorten(name);
        }
    }
    for pair in report.short_kernels.iter_mut().flat_map(|short| &mut short.fusion_candidates) {
        pair.pair.iter_mut().for_each(shorten);
    }
    for entry in &mut report.recommendations {
        entry.target.iter_mut().for_each(shorten);
        // Sentences are short unless a name in them is not.
        for text in [&mut entry.title, &mut entry.issue].into_iter().chain(&mut entry.actions) {
            if let Some(short) = answer::short_name(text, SENTENCE) {
                *text = short;
            }
        }
    }
    for item in report.trace_health.iter_mut().flat_map(|health| &mut health.items) {
        item.examples.iter_mut().for_each(shorten);
    }
    for point in report.roofline.iter_mut().flat_map(|roofline| &mut roofline.kernels) {
        shorten(&mut point.name);
    }
    for kernel in report.thread_trace.iter_mut().flat_map(|trace| &mut trace.kernels) {
        shorten(&mut kernel.name);
    }
}

/// One step of the stated order; false when nothing is left to give. Lists are halved in turn down to their first row; then
/// whole sections go, then the first rows.
fn halve(report: &mut Report, level: usize) -> bool {
    shorten_lists(report, level, 1) || last_resort(report) || shorten_lists(report, level, 0)
}

fn shorten_lists(report: &mut Report, level: usize, floor: usize) -> bool {
    fn half<T>(rows: &mut Vec<T>, floor: usize) -> bool {
        let more = rows.len() > floor;
        rows.truncate((rows.len() / 2).max(floor));
        more
    }
    (0..HALVED).any(|turn| match (level + turn) % HALVED {
        0 => half(&mut report.api_overhead.api_calls, floor),
        1 => half(&mut report.memory_analysis.0, floor),
        2 => {
            let flat = report.time_breakdown.figures.as_mut();
            let flat = flat.is_some_and(|figures| half(&mut figures.agents, floor));
            let whole = report.execution_breakdown.as_mut();
            whole.is_some_and(|execution| half(&mut execution.per_agent, floor)) || flat
        }
        3 => half(&mut report.evidence.items, floor),
        4 => half(&mut report.hotspots, floor),
        _ => half(&mut report.recommendations, floor),
    })
}

/// Lists that `halve` goes through.
const HALVED: usize = 6;

/// Takes a part out of a report; false when it is not there.
type Take = fn(&mut Report) -> bool;

/// What goes when all halved lists are empty and the rest is still too long, most dispensable first.
const DISPENSABLE: [(&str, Take); 10] = [
    ("tier0_findings.detected_kernels", |report| {
        report.tier0_findings.as_mut().is_some_and(|scan| {
            scan.code_patterns.clear();
            !std::mem::take(&mut scan.detected_kernels).is_empty()
        })
    }),
    ("thread_trace", |report| report.thread_trace.take().is_some()),
    ("roofline", |report| report.roofline.take().is_some()),
    ("trace_diff", |report| report.trace_diff.take().is_some()),
    ("communication", |report| report.communication.take().is_some()),
    ("short_kernels", |report| report.short_kernels.take().is_some()),
    ("interval_timeline", |report| report.interval_timeline.take().is_some()),
    ("kernel_categories", |report| report.kernel_categories.take().is_some()),
    ("gpu_monitor", |report| report.gpu_monitor.take().is_some()),
    ("evidence.missing", |report| !std::mem::take(&mut report.evidence.missing).is_empty()),
];

fn last_resort(report: &mut Report) -> bool {
    for (key, take) in DISPENSABLE {
        if take(report) {
            report.omitted.push(key.to_owned());
            return true;
        }
    }
    false
}
