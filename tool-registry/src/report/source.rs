//! The source scan: what was found, how to profile it, and which kernels of the trace it defines.

use std::path::Path;

use perfxpert_analysis::source_plan::{self, ProfilingPlan as Planned, Recorded};
use perfxpert_schemas::report::advice::Recommendation;
use perfxpert_schemas::report::kernels::{Hotspot, SourceLocation};
use perfxpert_schemas::report::source::{
    CodeFeatures, DetectedKernel, DetectedPattern, Framework, PlanPass, ProfilingPlan, SourceLaunchBounds,
    Tier0Findings,
};
use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_source::{Bound, LaunchBounds, PatternSeverity, Scan, ScanError, ScanOptions};
use perfxpert_trace::Family;
use serde_json::{Value, json};

use super::advice;
use super::measured::Measured;
use crate::stamp::Stamp;

/// Rows of kernels and launches.
const KERNELS: usize = 500;
/// Places of a pattern.
const PLACES: usize = 20;

/// Scans a folder.
///
/// # Errors
/// `file_not_found` when it is not there or no folder, `unreadable` when it cannot be opened.
pub(crate) fn scan(folder: &str) -> Result<Scan, ErrorObject> {
    perfxpert_source::scan(Path::new(folder), &ScanOptions::default()).map_err(|error| {
        let kind = match error {
            ScanError::NotFound(_) | ScanError::NotAFolder(_) => ErrorKind::FileNotFound,
            ScanError::Unreadable { .. } => ErrorKind::Unreadable,
            ScanError::NoThreads(_) => ErrorKind::Internal,
        };
        let message = match error {
            ScanError::NotFound(_) => format!("{folder} does not exist."),
            ScanError::NotAFolder(_) => format!("{folder} is not a folder."),
            error => format!("{error}."),
        };
        ErrorObject::new(kind, message, "Give the folder that holds the program's sources.")
            .field("source_dir")
            .path(folder)
    })
}

/// How to profile a tree, given what a trace already holds.
pub(super) fn plan(scan: &Scan, measured: Option<&Measured<'_>>) -> Planned {
    let Some(measured) = measured else { return source_plan::plan(scan, None, None) };
    let profile = &measured.run.profile;
    let mut counters: Vec<String> = if measured.has_counter_rows() {
        measured.run.trace.counter_catalogue().iter().map(|counter| counter.name.to_string()).collect()
    } else {
        Vec::new()
    };
    counters.sort();
    counters.dedup();
    let recorded = Recorded {
        dispatches: profile.rows.dispatches,
        counters: &counters,
        timeline: profile.rows.dispatches > 0 && profile.host.api_known,
        collectives: profile.calls.iter().any(|call| call.family == Family::Rccl),
    };
    source_plan::plan(scan, measured.gpus.first().and_then(|gpu| gpu.gfx_id.as_deref()), Some(recorded))
}

/// The section. `plan` is what [`plan`] gave, `patterns` the advice from the source alone.
pub(super) fn section(
    folder: &str,
    scan: &Scan,
    plan: &Planned,
    patterns: Vec<Recommendation>,
    stamp: Stamp,
) -> Tier0Findings {
    let (kernels, total) = kernels(scan);
    let counts = scan.counts;
    let detected: Vec<DetectedPattern> = scan
        .patterns
        .iter()
        .map(|pattern| {
            let locations = pattern.locations();
            DetectedPattern {
                pattern_id: pattern.id.id().to_owned(),
                severity: pattern.severity.id().to_owned(),
                category: pattern.id.category().to_owned(),
                description: pattern.description.clone(),
                count: pattern.count,
                in_loop_count: pattern.in_loop_count,
                locations_total: pattern.count.max(locations.len() as u64),
                locations: locations.into_iter().take(PLACES).collect(),
            }
        })
        .collect();
    let risky = scan.patterns.iter().filter(|pattern| pattern.severity != PatternSeverity::Low);
    let alone = !plan.already_profiled;
    let shown = wire_plan(plan);
    Tier0Findings {
        source_dir: folder.to_owned(),
        analysis_timestamp: stamp.timestamp(),
        programming_model: plan.programming_model.to_owned(),
        programming_models: scan.models.iter().map(|(model, _)| model.name().to_owned()).collect(),
        files_scanned: scan.files.len() as u64,
        files_skipped: scan.skipped_total(),
        skipped_by_reason: scan
            .skipped_by_reason
            .iter()
            .map(|(reason, count)| (reason.id().to_owned(), *count))
            .collect(),
        kernel_count: counts.kernels,
        definition_count: counts.definitions,
        launch_count: counts.launches,
        declaration_count: counts.declarations,
        detected_kernels: kernels,
        detected_kernels_total: total,
        risk_areas: risky.map(|pattern| pattern.description.clone()).collect(),
        detected_patterns: detected,
        already_instrumented: counts.markers > 0,
        roctx_marker_count: counts.markers,
        async_copy_count: counts.async_copies,
        stream_create_count: counts.stream_creates,
        frameworks: scan
            .frameworks
            .iter()
            .map(|usage| Framework {
                name: usage.what.name().to_owned(),
                files: usage.files,
                first: usage.first.to_string(),
            })
            .collect(),
        libraries: scan.libraries.iter().map(|usage| usage.what.name().to_owned()).collect(),
        code_features: CodeFeatures {
            lds_arrays: scan.features.lds_arrays,
            mfma_builtins: scan.features.mfma_builtins,
            atomics: scan.features.atomics,
            double_precision: scan.features.double_precision,
            launch_bounds: scan.features.launch_bounds,
            unroll_pragmas: scan.features.unroll_pragmas,
        },
        recommendations: patterns.clone(),
        code_patterns: patterns,
        suggested_counters: alone.then(|| plan.counters.clone()),
        suggested_first_command: alone.then(|| shown.suggested_first_command.clone()),
        profiling_plan_actions: alone.then(|| plan_actions(&shown)),
        profiling_plan: shown,
        llm_explanation: None,
    }
}

fn wire_plan(plan: &Planned) -> ProfilingPlan {
    ProfilingPlan {
        description: plan.description.clone(),
        suggested_first_command: plan
            .first_command
            .as_ref()
            .map(|command| command.full_command.clone())
            .unwrap_or_default(),
        suggested_counters: plan.counters.clone(),
        passes: plan
            .passes
            .iter()
            .map(|pass| PlanPass {
                counters: pass.counters.clone(),
                command: pass.command.full_command.clone(),
            })
            .collect(),
        actions: plan.actions.iter().cloned().map(advice::command).collect(),
        kernel_count: plan.kernel_count,
        programming_model: plan.programming_model.to_owned(),
        already_profiled: plan.already_profiled,
    }
}

/// The plan as one entry of the form recommendations have.
fn plan_actions(plan: &ProfilingPlan) -> Vec<Value> {
    if plan.actions.is_empty() {
        return Vec::new();
    }
    vec![json!({
        "priority": "INFO",
        "category": "Tier-0 Profiling Plan",
        "issue": plan.description,
        "suggestion": plan.suggested_first_command,
        "commands": plan.actions,
    })]
}

/// Definitions, then declarations and launches by file and line; and how many there are.
fn kernels(scan: &Scan) -> (Vec<DetectedKernel>, u64) {
    let defined = scan.kernels.iter().map(|kernel| {
        let first = kernel.kind != perfxpert_source::RowKind::Definition;
        let row = DetectedKernel {
            name: kernel.name.to_string(),
            qualified_name: kernel.qualified_name.to_string(),
            file: kernel.site.file.to_string(),
            line: kernel.site.line.into(),
            column: kernel.site.column.into(),
            launch_type: kernel.launch_type.id().to_owned(),
            kind: kernel.kind.id().to_owned(),
            template: kernel.template,
            launch_bounds: kernel.launch_bounds.as_ref().map(bounds),
            stream: None,
            in_loop: None,
            in_function: None,
            name_known: true,
        };
        (first, row)
    });
    let launched = scan.launches.iter().map(|launch| {
        let row = DetectedKernel {
            name: launch.name.to_string(),
            qualified_name: launch.qualified_name.to_string(),
            file: launch.site.file.to_string(),
            line: launch.site.line.into(),
            column: launch.site.column.into(),
            launch_type: launch.launch_type.id().to_owned(),
            kind: "launch".to_owned(),
            template: launch.template,
            launch_bounds: None,
            stream: Some(launch.stream.id().to_owned()),
            in_loop: Some(launch.loop_context.id().to_owned()),
            in_function: launch.in_function.as_ref().map(ToString::to_string),
            name_known: launch.name_known,
        };
        (true, row)
    });
    let mut rows: Vec<(bool, DetectedKernel)> = defined.chain(launched).collect();
    rows.sort_by(|(a_later, a), (b_later, b)| {
        (a_later, &a.file, a.line, a.column).cmp(&(b_later, &b.file, b.line, b.column))
    });
    let counts = scan.counts;
    let total = counts.definitions + counts.declarations + counts.launches;
    (rows.into_iter().take(KERNELS).map(|(_, row)| row).collect(), total)
}

fn bounds(found: &LaunchBounds) -> SourceLaunchBounds {
    let value = |bound: &Bound| match bound {
        Bound::Value(number) => json!(number),
        Bound::Expression(text) => json!(text),
    };
    SourceLaunchBounds {
        max_threads: value(&found.max_threads),
        min_waves_per_simd: found.min_waves_per_simd.as_ref().map_or(Value::Null, value),
    }
}

/// Gives every hotspot its places in the source; empty when nothing matches.
pub(super) fn locate(scan: &Scan, hotspots: &mut [Hotspot]) {
    for hotspot in hotspots {
        let name = hotspot.full_name.as_deref().unwrap_or(&hotspot.name);
        let places = scan.locate(name).into_iter().map(|place| SourceLocation {
            file: place.site.file.to_string(),
            line: place.site.line.into(),
            kind: place.kind.id().to_owned(),
            launch_type: place.launch_type.id().to_owned(),
            matched: place.matched.id().to_owned(),
        });
        hotspot.source_locations = Some(places.collect());
    }
}

/// What the scan left out, as a warning; `None` when it read everything.
pub(super) fn limits(scan: &Scan) -> Option<String> {
    let counts: Vec<String> =
        scan.skipped_by_reason.iter().map(|(reason, count)| format!("{count} {}", reason.id())).collect();
    (!counts.is_empty()).then(|| format!("The source scan left files out: {}.", counts.join(", ")))
}
