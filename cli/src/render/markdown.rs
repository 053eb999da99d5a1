//! The report as GitHub-flavoured markdown: one H1, no wrapping, no HTML but `<details>`.

use perfxpert_schemas::report::Report;
use perfxpert_schemas::report::advice::Recommendation;

use super::name::{code_cell, code_span, plain, prose};
use super::number::{
    bytes, confidence, count, counted, decimal, duration, microseconds, milliseconds, or_dash, percent,
};
use super::section::Section;
use super::text;

/// Rows of a table before "and n more".
const ROWS: usize = 20;

/// Renders the whole report.
pub fn report(report: &Report) -> String {
    let mut page = Page { out: String::from("# PerfXpert AI Performance Analysis\n") };
    for message in text::data_loss(report) {
        page.paragraph(&format!("**Data lost:** {}", prose(message)));
    }
    // The verdict comes before the block of facts about the run.
    let order = [Section::Summary, Section::Overview];
    let rest = Section::ALL.into_iter().filter(|section| !order.contains(section));
    for section in order.into_iter().chain(rest).filter(|section| section.present(report)) {
        match section {
            Section::Overview => {
                page.paragraph("---");
                overview(&mut page, report);
                continue;
            }
            Section::Tier0 => page.paragraph("---"),
            Section::Footer => {
                page.paragraph("---");
                page.paragraph(&format!("*{}*", plain(&text::closing(report))));
                continue;
            }
            _ => {}
        }
        page.heading(2, section.markdown_title());
        match section {
            Section::Overview | Section::Footer => {}
            Section::Summary => summary(&mut page, report),
            Section::Execution => execution(&mut page, report),
            Section::Hotspots => hotspots(&mut page, report),
            Section::KernelResources => resources(&mut page, report),
            Section::Memory => memory(&mut page, report),
            Section::ApiOverhead => api(&mut page, report),
            Section::Timeline => timeline(&mut page, report),
            Section::KernelCategories => categories(&mut page, report),
            Section::ShortKernels => short(&mut page, report),
            Section::Counters => counters(&mut page, report),
            Section::Roofline => roofline(&mut page, report),
            Section::ThreadTrace => thread_trace(&mut page, report),
            Section::Communication => communication(&mut page, report),
            Section::GpuMonitor => monitor(&mut page, report),
            Section::TraceHealth => health(&mut page, report),
            Section::Recommendations => recommendations(&mut page, report),
            Section::Tier0 => tier0(&mut page, report),
            Section::TraceDiff => {
                if let Some(document) = &report.trace_diff {
                    page.paragraph(super::diff::markdown::body(document, "###").trim_end());
                }
            }
        }
    }
    page.out
}

struct Page {
    out: String,
}

impl Page {
    fn heading(&mut self, level: usize, text: &str) {
        self.out.push_str(&format!("\n{} {text}\n", "#".repeat(level)));
    }

    fn paragraph(&mut self, text: &str) {
        self.out.push_str(&format!("\n{text}\n"));
    }

    fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let items: Vec<String> = items.into_iter().map(|item| format!("- {item}")).collect();
        if !items.is_empty() {
            self.paragraph(&items.join("\n"));
        }
    }

    /// A header ending in `>` is aligned right.
    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>, total: u64) {
        let names: Vec<&str> = header.iter().map(|name| name.trim_end_matches('>')).collect();
        let marks: Vec<&str> =
            header.iter().map(|name| if name.ends_with('>') { "---:" } else { "---" }).collect();
        let mut lines = vec![format!("| {} |", names.join(" | ")), format!("|{}|", marks.join("|"))];
        let shown = rows.len().min(ROWS);
        lines.extend(rows.into_iter().take(ROWS).map(|row| format!("| {} |", row.join(" | "))));
        self.paragraph(&lines.join("\n"));
        let left = total.saturating_sub(shown as u64);
        if left > 0 {
            self.paragraph(&format!("and {} more", count(left)));
        }
    }

    fn commands<'a>(&mut self, commands: impl IntoIterator<Item = &'a str>) {
        let lines: Vec<String> = commands.into_iter().map(super::name::visible).collect();
        if !lines.is_empty() {
            self.paragraph(&format!("```bash\n{}\n```", lines.join("\n")));
        }
    }
}

fn summary(page: &mut Page, report: &Report) {
    let detail = report.bottleneck_detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    page.paragraph(&format!(
        "**Primary bottleneck:** {}{detail}, confidence {}",
        report.primary_bottleneck,
        confidence(report.confidence)
    ));
    for paragraph in report.narrative.split('\n').filter(|paragraph| !paragraph.trim().is_empty()) {
        page.paragraph(&prose(paragraph));
    }
    page.list(report.warnings.iter().map(|warning| format!("⚠ {}", prose(warning))));
    page.list(report.exploratory_proposals.iter().flatten().map(|proposal| {
        let title = proposal.get("title").and_then(serde_json::Value::as_str).unwrap_or_default();
        format!("Exploratory, not verified: {}", prose(title))
    }));
}

fn overview(page: &mut Page, report: &Report) {
    let mut lines: Vec<(&str, String)> = Vec::new();
    if let Some(database) = text::database(report) {
        lines.push(("Database", plain(&database)));
    } else if let Some(scan) = &report.tier0_findings {
        lines.push(("Source", plain(&scan.source_dir)));
    }
    if let Some(baseline) = report.provenance.inputs.iter().find(|input| input.role == "baseline") {
        lines.push(("Baseline", plain(text::base_name(&baseline.path))));
    }
    lines.push(("Analysis Date", plain(&report.metadata.analysis_timestamp)));
    lines.push(("Analysis Tier", text::tier(report).to_owned()));
    if report.execution_breakdown.is_some() {
        lines.push(("Total Runtime", duration(report.profiling_info.total_duration_ns)));
    }
    if !report.gpus.is_empty() {
        lines.push(("GPUs", plain(&text::gpu_kinds(report).join("; "))));
    }
    if let Some(health) = &report.trace_health {
        lines.push(("Trace Health", health.status.clone()));
    }
    // Two spaces at the end make a line break.
    let lines: Vec<String> =
        lines.into_iter().map(|(label, value)| format!("**{label}:** {value}  ")).collect();
    page.paragraph(&lines.join("\n"));
}

fn execution(page: &mut Page, report: &Report) {
    let Some(time) = &report.execution_breakdown else { return };
    let total = time.kernel_time_ns + time.memcpy_time_ns + time.api_overhead_ns + time.idle_time_ns;
    let sum = time.kernel_time_pct + time.memcpy_time_pct + time.api_overhead_pct + time.idle_time_pct;
    let mut rows: Vec<Vec<String>> = [
        ("Kernel Execution", time.kernel_time_ns, time.kernel_time_pct),
        ("Memory Copies (exposed)", time.memcpy_time_ns, time.memcpy_time_pct),
        ("API Overhead (exposed)", time.api_overhead_ns, time.api_overhead_pct),
        ("GPU Idle", time.idle_time_ns, time.idle_time_pct),
    ]
    .into_iter()
    .map(|(name, ns, share)| vec![name.to_owned(), milliseconds(ns), percent(share)])
    .collect();
    rows.push(vec!["**Total**".to_owned(), milliseconds(total), percent(sum)]);
    page.table(&["Category", "Time (ms)>", "Percentage>"], rows, 5);
    if let Some(windows) = text::normalized(report) {
        page.paragraph(&format!("Normalized runtime (sum of the GPU windows): {}", duration(windows)));
    }
    if time.per_agent.len() > 1 {
        let rows = time
            .per_agent
            .iter()
            .map(|row| {
                vec![
                    format!("GPU {} {}", row.agent, plain(row.gfx_id.as_deref().unwrap_or("unknown"))),
                    percent(row.kernel_pct),
                    percent(row.exposed_copy_pct),
                    percent(row.exposed_api_pct),
                    percent(row.idle_pct),
                    milliseconds(row.window_ns),
                ]
            })
            .collect();
        page.table(&["GPU", "Kernel>", "Copy>", "API>", "Idle>", "Window (ms)>"], rows, time.per_agent_total);
    }
}

fn hotspots(page: &mut Page, report: &Report) {
    if report.hotspots.is_empty() {
        page.paragraph("No kernel dispatch in this trace.");
        return;
    }
    let scanned = report.hotspots.iter().any(|row| row.source_locations.is_some());
    let mut header = vec!["Rank>", "Kernel", "Calls>", "Total (ms)>", "Avg (μs)>", "% Total>", "Severity"];
    if scanned {
        header.push("**Source**");
    }
    let rows = report
        .hotspots
        .iter()
        .map(|row| {
            let mut cells = vec![
                row.rank.to_string(),
                code_cell(&row.short_name),
                count(row.calls),
                milliseconds(row.total_duration_ns),
                microseconds(row.avg_duration_ns),
                percent(row.pct_of_total),
                row.severity.clone(),
            ];
            if scanned {
                let places = row.source_locations.iter().flatten();
                let places: Vec<String> = places
                    .map(|place| {
                        format!("{} ({})", code_cell(&format!("{}:{}", place.file, place.line)), place.kind)
                    })
                    .collect();
                cells.push(if places.is_empty() { "–".to_owned() } else { places.join(", ") });
            }
            cells
        })
        .collect();
    page.table(&header, rows, report.hotspots_total);
}

fn resources(page: &mut Page, report: &Report) {
    if report.kernel_resources.kernels.is_empty() {
        page.paragraph("The trace holds no register or LDS data for these kernels.");
        return;
    }
    let registers = |value: Option<u64>| or_dash(value, |value| value.to_string());
    let rows: Vec<Vec<String>> = report
        .kernel_resources
        .kernels
        .iter()
        .map(|row| {
            let short = report.hotspots.iter().find(|hotspot| hotspot.name == row.name);
            let occupancy = row.occupancy.as_ref();
            vec![
                code_cell(short.map_or(&row.name, |hotspot| &hotspot.short_name)),
                row.block.clone(),
                count(row.workgroups),
                registers(row.vgpr),
                registers(row.accum_vgpr),
                registers(row.sgpr),
                row.scratch_bytes.to_string(),
                row.lds_bytes.to_string(),
                or_dash(occupancy, |fit| {
                    format!("{}/{} ({})", fit.waves_per_simd, fit.max_waves_per_simd, percent(fit.percent))
                }),
                or_dash(occupancy, |fit| fit.limiting_resource.clone()),
            ]
        })
        .collect();
    let total = rows.len() as u64;
    page.table(
        &[
            "Kernel",
            "Block>",
            "Workgroups>",
            "VGPR>",
            "AGPR>",
            "SGPR>",
            "Scratch>",
            "LDS>",
            "Waves per SIMD>",
            "Limit",
        ],
        rows,
        total,
    );
}

fn memory(page: &mut Page, report: &Report) {
    if report.memory_analysis.0.is_empty() {
        page.paragraph("No memory copy in this trace.");
        return;
    }
    let rows = report
        .memory_analysis
        .0
        .iter()
        .map(|(direction, row)| {
            vec![
                direction.clone(),
                count(row.count),
                bytes(row.total_bytes),
                milliseconds(row.total_duration_ns),
                or_dash(row.bandwidth_gbps, |gbps| decimal(gbps, 2)),
                milliseconds(row.exposed_ns),
                or_dash(row.link_utilization_pct, percent),
            ]
        })
        .collect();
    page.table(
        &["Direction", "Count>", "Total Size>", "Duration (ms)>", "GB/s>", "Exposed (ms)>", "% of link>"],
        rows,
        report.memory_analysis.0.len() as u64,
    );
}

fn api(page: &mut Page, report: &Report) {
    let api = &report.api_overhead;
    if api.has_api_data {
        let rows = api
            .api_calls
            .iter()
            .map(|call| {
                vec![
                    code_cell(&call.name),
                    count(call.calls),
                    milliseconds(call.total_ns),
                    microseconds(call.avg_ns),
                    milliseconds(call.exposed_ns),
                ]
            })
            .collect();
        page.table(
            &["Call", "Calls>", "Total (ms)>", "Avg (μs)>", "Exposed (ms)>"],
            rows,
            api.api_calls_total,
        );
    } else {
        page.paragraph("No HIP or HSA call in this trace; record with --sys-trace to see host time.");
    }
    page.list(report.warmup_issues.outliers.iter().map(|outlier| plain(&text::warmup(outlier))));
}

fn timeline(page: &mut Page, report: &Report) {
    let Some(line) = &report.interval_timeline else { return };
    page.paragraph(&text::gap_sentence(line));
    if line.gaps.count == 0 {
        return;
    }
    let rows: Vec<Vec<String>> = line
        .gaps
        .by_cause
        .0
        .iter()
        .map(|(cause, row)| {
            vec![plain(cause), count(row.count), milliseconds(row.total_ns), percent(row.pct)]
        })
        .collect();
    let total = rows.len() as u64;
    page.table(&["Cause", "Gaps>", "Total (ms)>", "Share>"], rows, total);
}

fn categories(page: &mut Page, report: &Report) {
    let rows: Vec<Vec<String>> = report
        .kernel_categories
        .iter()
        .flat_map(|section| &section.categories)
        .map(|row| {
            vec![
                row.category.clone(),
                count(row.kernels),
                count(row.calls),
                milliseconds(row.total_ns),
                percent(row.pct_of_kernel_time),
            ]
        })
        .collect();
    if rows.is_empty() {
        page.paragraph("No kernel dispatch in this trace.");
        return;
    }
    let total = rows.len() as u64;
    page.table(&["Category", "Kernels>", "Calls>", "Total (ms)>", "Share>"], rows, total);
}

fn short(page: &mut Page, report: &Report) {
    let Some(section) = &report.short_kernels else { return };
    page.paragraph(&text::short_sentence(report, section));
    page.list(section.fusion_candidates.iter().map(|pair| {
        let names: Vec<String> = pair.pair.iter().map(|name| code_span(name)).collect();
        format!(
            "{} x{}, at most {} of the run",
            names.join(" then "),
            count(pair.count),
            percent(pair.max_saving_pct)
        )
    }));
}

fn counters(page: &mut Page, report: &Report) {
    let counters = &report.hardware_counters;
    if !counters.has_counters {
        page.paragraph("Not collected: the trace holds no hardware counters. To collect them:");
        page.commands(text::collect_commands(report));
        return;
    }
    page.paragraph(&format!(
        "Counters on {} of {}, {}.",
        count(counters.coverage.dispatches_with_counters),
        counted(counters.coverage.dispatches_total, "dispatch", "dispatches"),
        counted(counters.coverage.passes, "pass", "passes")
    ));
    page.list(text::metrics(&counters.metrics).into_iter().map(|(name, value)| format!("{name}: {value}")));
    if counters.counters.is_empty() {
        return;
    }
    let rows = counters
        .counters
        .iter()
        .map(|(name, row)| {
            vec![
                code_cell(name),
                count(row.sample_count),
                decimal(row.avg_value, 1),
                decimal(row.min_value, 1),
                decimal(row.max_value, 1),
                decimal(row.total_value, 1),
            ]
        })
        .collect();
    page.table(&["Counter", "Samples>", "Avg>", "Min>", "Max>", "Total>"], rows, counters.counters_total);
}

fn roofline(page: &mut Page, report: &Report) {
    let Some(roof) = &report.roofline else { return };
    page.paragraph(&plain(&text::roof_line(roof)));
    let rows = roof
        .kernels
        .iter()
        .map(|point| {
            vec![
                code_cell(&point.name),
                decimal(point.ai, 2),
                decimal(point.achieved_flops_per_s / 1e9, 1),
                or_dash(point.pct_of_roof, percent),
                point.bottleneck_class.clone(),
                point.fp_type.clone(),
                point.confidence.clone(),
            ]
        })
        .collect();
    page.table(
        &["Kernel", "AI>", "Achieved GFLOP/s>", "% of roof>", "Regime", "Dtype", "Confidence"],
        rows,
        roof.kernels_total,
    );
    page.list(
        roof.skipped
            .iter()
            .map(|skipped| format!("no point for {}: {}", code_span(&skipped.name), prose(&skipped.reason))),
    );
}

fn thread_trace(page: &mut Page, report: &Report) {
    let Some(trace) = &report.thread_trace else { return };
    if !trace.has_att_data {
        page.paragraph(&format!(
            "Thread trace not usable: {}.",
            prose(trace.reason.as_deref().unwrap_or("unknown"))
        ));
        return;
    }
    let rows = trace
        .kernels
        .iter()
        .map(|kernel| {
            let top = kernel.top_stalling_instructions.first();
            vec![
                code_cell(&kernel.name),
                count(kernel.instruction_count),
                percent(kernel.stall_pct),
                kernel.stall_category.as_deref().map_or("–", text::stall_label).to_owned(),
                or_dash(top, |row| code_cell(&row.instruction)),
                or_dash(top.and_then(|row| row.source_line.clone()), |place| code_cell(&place)),
            ]
        })
        .collect();
    page.table(
        &["Kernel", "Instructions>", "Stall>", "Category", "Top instruction", "Source"],
        rows,
        trace.kernels_total,
    );
    page.list(
        trace
            .summary
            .files_skipped
            .iter()
            .map(|file| format!("skipped {}: {}", plain(&file.file), prose(&file.reason))),
    );
}

fn communication(page: &mut Page, report: &Report) {
    let Some(section) = &report.communication else { return };
    page.paragraph(&prose(&text::communication_sentence(section)));
    let rows = section
        .collectives
        .iter()
        .map(|row| {
            vec![
                row.op_type.clone(),
                or_dash(row.msg_bytes, bytes),
                duration(row.duration_ns),
                or_dash(row.effective_bw_gbps, |gbps| decimal(gbps, 2)),
                or_dash(row.peak_bw_gbps, |gbps| decimal(gbps, 1)),
                or_dash(row.efficiency_pct, percent),
                or_dash(row.overlap_ratio, percent),
            ]
        })
        .collect();
    page.table(
        &["Op", "Bytes>", "Duration>", "Bus BW (GB/s)>", "Peak (GB/s)>", "Efficiency %>", "Overlap %>"],
        rows,
        section.collectives_total,
    );
}

fn monitor(page: &mut Page, report: &Report) {
    let Some(log) = &report.gpu_monitor else { return };
    page.paragraph(&prose(&text::monitor_sentence(log)));
    if log.per_gpu.is_empty() {
        return;
    }
    let number = |value: Option<f64>| or_dash(value, |value| decimal(value, 0));
    let rows = log
        .per_gpu
        .iter()
        .map(|row| {
            vec![
                plain(&row.gpu_id),
                number(row.max_temp_c),
                number(row.limit_c),
                number(row.max_power_w),
                number(row.min_sclk_mhz),
                number(row.max_sclk_mhz),
                format!("{}/{}", count(row.throttle_samples), count(row.samples)),
                row.verdict.clone(),
            ]
        })
        .collect();
    page.table(
        &["GPU", "Max °C>", "Limit °C>", "Max W>", "Min SCLK>", "Max SCLK>", "Throttled>", "Verdict"],
        rows,
        log.per_gpu.len() as u64,
    );
}

fn health(page: &mut Page, report: &Report) {
    let Some(health) = &report.trace_health else { return };
    page.paragraph(&text::health_sentence(health));
    let items = health.items.iter().map(|item| {
        let advice =
            if item.advice.is_empty() { String::new() } else { format!(" ({})", prose(&item.advice)) };
        format!(
            "**{}** {} x{}: {}{advice}",
            item.severity,
            plain(&item.id),
            count(item.count),
            prose(&item.message)
        )
    });
    let failed = report
        .errors
        .iter()
        .map(|failed| format!("**error** {}: {}", plain(&failed.section), prose(&failed.message)));
    page.list(items.chain(failed));
}

fn recommendations(page: &mut Page, report: &Report) {
    if report.recommendations.is_empty() {
        page.paragraph(text::nothing(report));
    }
    for entry in &report.recommendations {
        recommendation(page, entry);
    }
    let left = report.recommendations_total.saturating_sub(report.recommendations.len() as u64);
    if left > 0 {
        page.paragraph(&format!("and {} more", count(left)));
    }
}

fn recommendation(page: &mut Page, entry: &Recommendation) {
    let mark = match entry.priority.as_str() {
        "HIGH" => "🔴",
        "MEDIUM" => "🟡",
        "LOW" => "🟢",
        _ => "🔵",
    };
    let advanced = if entry.advanced { " [advanced]" } else { "" };
    page.heading(
        3,
        &format!(
            "{mark} [{}] {} — Confidence: {}{advanced}",
            entry.priority,
            plain(&entry.category),
            confidence(entry.confidence)
        ),
    );
    page.paragraph(&format!("**Issue:** {}", prose(&entry.issue)));
    page.paragraph(&format!("**Suggestion:** {}", prose(&entry.suggestion)));
    let actions: Vec<String> = entry
        .actions
        .iter()
        .enumerate()
        .map(|(index, action)| format!("{}. {}", index + 1, prose(action)))
        .collect();
    page.paragraph(&actions.join("\n"));
    if let Some(places) = text::references(entry) {
        page.paragraph(&format!("**Source:** {}", plain(&places)));
    }
    page.paragraph(&format!("**Estimated Impact:** {}", prose(&entry.estimated_impact)));
    if let Some((range, sure)) = text::predicted(entry) {
        page.paragraph(&format!("**Predicted:** {range} (confidence {sure})"));
    }
    if let Some(note) = &entry.llm_note {
        page.paragraph(&format!("**Note:** {}", prose(note)));
    }
    if !entry.commands.is_empty() {
        page.paragraph("**Commands:**");
    }
    for command in &entry.commands {
        page.paragraph(&format!("{} ({}):", prose(&command.description), plain(&command.tool)));
        page.commands([command.full_command.as_str()]);
    }
    if entry.subtype.as_deref() == Some("pragma") {
        page.paragraph("Verify with: `perfxpert diff <this>.db <new>.db`");
    }
}

fn tier0(page: &mut Page, report: &Report) {
    let Some(scan) = &report.tier0_findings else { return };
    page.paragraph(&format!(
        "{} {}",
        plain(&scan.programming_models.join(", ")),
        plain(&text::scan_counts(scan))
    ));
    page.heading(3, "Detected Kernels");
    if scan.detected_kernels.is_empty() {
        page.paragraph(&format!("No GPU code found in {}.", counted(scan.files_scanned, "file", "files")));
    } else {
        let rows = scan
            .detected_kernels
            .iter()
            .map(|kernel| {
                vec![
                    code_cell(&kernel.qualified_name),
                    plain(&kernel.launch_type),
                    code_cell(&format!("{}:{}", kernel.file, kernel.line)),
                ]
            })
            .collect();
        page.table(&["Kernel", "Type", "Line"], rows, scan.detected_kernels_total);
    }
    page.heading(3, "Detected Patterns");
    if scan.detected_patterns.is_empty() {
        page.paragraph("No code pattern needs attention.");
    } else {
        let rows = scan
            .detected_patterns
            .iter()
            .map(|pattern| {
                vec![
                    pattern.severity.clone(),
                    plain(&pattern.pattern_id),
                    count(pattern.count),
                    count(pattern.in_loop_count),
                    plain(&pattern.description),
                ]
            })
            .collect();
        page.table(
            &["Severity", "Pattern", "Count>", "In loop>", "What"],
            rows,
            scan.detected_patterns.len() as u64,
        );
    }
    page.heading(3, "Profiling Plan");
    page.paragraph(&prose(&scan.profiling_plan.description));
    page.commands(scan.profiling_plan.actions.iter().map(|command| command.full_command.as_str()));
    page.heading(3, "Detected Code Patterns");
    if scan.code_patterns.is_empty() {
        page.paragraph("No code pattern needs attention.");
    }
    page.list(
        scan.code_patterns.iter().map(|entry| {
            format!("**{}** {}: {}", entry.priority, plain(&entry.category), prose(&entry.issue))
        }),
    );
}
