//! `roofline.plot_points`: the points of a trace with counters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use perfxpert_analysis::collection;
use perfxpert_analysis::counters::{self, CounterProfile};
use perfxpert_analysis::gpu::{self, Gpu};
use perfxpert_analysis::roofline::{self, Ask, Dtype, Plot, Point, Regime, Roofs};
use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::arch::{self, Sku};
use perfxpert_knowledge::commands::Target;
use perfxpert_schemas::report::hardware::{Peaks, Ridge};
use perfxpert_schemas::tools::roofline as wire;
use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::json;

use crate::answer::{name_hash, short_name};
use crate::arguments::unknown_name;
use crate::traces::{LoadedRun, Wish};
use crate::{Context, trace_health};

/// Version of the layout, kept from the original.
const SCHEMA_VERSION: &str = "0.3.4";
/// Rows of the secondary lists.
const LISTED: usize = 20;
/// Notes of an answer, and characters of each.
const NOTES: usize = 8;
const NOTE_LENGTH: usize = 240;
/// Kernel names longer than this are shown shortened.
const LONGEST_NAME: usize = 300;
/// Names an unknown kernel is compared with.
const KNOWN_NAMES: usize = 2_000;

const UNKNOWN_GPU: &str = "the facts do not know this architecture";
const PART_OF_GPU: &str = "the GPU is a partition, and its share of the memory bandwidth is not recorded";

pub(super) fn plot_points(
    context: &Context,
    input: wire::PlotPointsInput,
) -> Result<wire::PlotPointsOutput, ErrorObject> {
    let hint = hint(input.dtype_hint.as_deref())?;
    let run = context.load_kernels(&[PathBuf::from(&input.db_path)], Wish::default(), "db_path")?;
    let gpus = gpu::of_run(&run.trace, &run.profile, None);
    let sku = sku(&run, &gpus, input.sku.as_deref())?;
    let roofs = roofline::roofs(&run.profile, &gpus, sku);
    let loaded = context.counters(&run, &[], "db_path")?;
    let one;
    let profile: &CounterProfile = match input.dispatch_id {
        None => &loaded.profile,
        Some(id) => {
            one =
                context.scanned("db_path", |control| counters::collect_dispatch(&run.trace, id, control))?.0;
            &one
        }
    };
    if let Some(reason) = profile.unusable_reason() {
        return Err(no_evidence(&run, &roofs, hint, input.dispatch_id, reason));
    }
    let kernel = match input.kernel.as_deref() {
        Some(name) => Some(find(profile, name.trim())?),
        None => None,
    };
    let plot = roofline::plot(&run.profile, &gpus, profile, &Ask { kernel, hint, sku });
    Ok(answer(&input, &plot, trace_health::of_health(&loaded.health, run.status())))
}

fn answer(
    input: &wire::PlotPointsInput,
    plot: &Plot,
    trace_health: perfxpert_schemas::trace_health::TraceHealth,
) -> wire::PlotPointsOutput {
    let roofs = &plot.roofs;
    let offset = usize::try_from(input.offset).unwrap_or(usize::MAX);
    let limit = usize::try_from(input.top_k).unwrap_or(usize::MAX);
    let rows: Vec<wire::PlotPoint> = plot.points.iter().skip(offset).take(limit).map(row).collect();
    let total = plot.points.len();
    let unknown = |known: bool| (!known).then_some(UNKNOWN_GPU);
    let no_roof = match (roofs.sku, roofs.bandwidth) {
        (None, _) => Some(UNKNOWN_GPU),
        (Some(_), None) => Some(PART_OF_GPU),
        _ => None,
    };
    let ridge_point = ridge(roofs, plot.dtype);
    wire::PlotPointsOutput {
        schema_version: SCHEMA_VERSION,
        arch: roofs.arch.clone(),
        arch_reason: roofs.arch.is_none().then_some("the trace does not name the GPU"),
        sku: roofs.sku.map(|sku| sku.sku.clone()),
        sku_reason: unknown(roofs.sku.is_some()),
        sku_selected_by: roofs.sku_selected_by,
        sku_selected_by_reason: unknown(roofs.sku_selected_by.is_some()),
        arch_peaks: peaks(roofs),
        arch_peaks_reason: unknown(roofs.sku.is_some()),
        hbm_bandwidth_bytes_per_s: roofs.bandwidth,
        hbm_bandwidth_bytes_per_s_reason: no_roof,
        dtype: plot.dtype.as_str().to_owned(),
        dtype_confidence: plot.dtype_source.as_str().to_owned(),
        ridge_point_reason: match ridge_point {
            Some(_) => None,
            None => no_roof.or(Some("this GPU has no peak for the format")),
        },
        ridge_point,
        ridge_points: ridges(roofs),
        ridge_points_reason: no_roof,
        returned: rows.len(),
        truncated: offset.saturating_add(rows.len()) < total,
        total,
        kernels: rows,
        skipped: plot
            .skipped
            .iter()
            .take(LISTED)
            .map(|(name, why)| wire::SkippedKernel {
                name: name.to_string(),
                reason: why.as_str().to_owned(),
            })
            .collect(),
        skipped_total: plot.skipped.len(),
        other_archs: plot
            .other_archs
            .iter()
            .take(LISTED)
            .map(|(arch, kernels)| wire::OtherArch { arch: arch.clone(), kernels: *kernels })
            .collect(),
        ignored_counters: plot.ignored_counters.iter().take(LISTED).map(ToString::to_string).collect(),
        missing: plot.missing.iter().take(LISTED).map(|name| (*name).to_owned()).collect(),
        trace_health,
        notes: plot.notes.iter().take(NOTES).map(|note| note.chars().take(NOTE_LENGTH).collect()).collect(),
    }
}

fn row(point: &Point) -> wire::PlotPoint {
    let (ridge, roof) = (point.roof.map(|roof| roof.ridge()), point.attainable());
    let by_type: BTreeMap<String, f64> =
        point.by_type.iter().map(|(dtype, operations)| (dtype.as_str().to_owned(), *operations)).collect();
    wire::PlotPoint {
        name: point.name.to_string(),
        ai: round(point.intensity, 4),
        achieved_flops_per_s: point.rate,
        flops: point.flops,
        bytes: point.bytes,
        duration_ns: point.time.0,
        duration_pct: round(point.time_pct, 2),
        fp_type: point.dtype.as_str().to_owned(),
        bottleneck_class: point.class.map_or("unknown", Regime::as_str).to_owned(),
        confidence: if point.confident { "high" } else { "low" }.to_owned(),
        dtype_source: point.dtype_source.as_str().to_owned(),
        flops_source: if point.typed { "typed" } else { "estimate" }.to_owned(),
        int_ops: point.int_ops,
        flops_by_type: by_type,
        ridge_ai: ridge.map(|ridge| round(ridge, 1)),
        roof_flops_per_s: roof,
        pct_of_roof: point.roof_pct.map(|percent| round(percent, 1)),
        dispatches: point.dispatches,
        pipe: point.pipe.as_str().to_owned(),
        reason: point.reason.clone(),
    }
}

/// One value per format of the table.
fn table(of: impl Fn(Dtype) -> Option<f64>) -> Peaks {
    Peaks {
        fp64: of(Dtype::Fp64),
        fp32: of(Dtype::Fp32),
        fp16: of(Dtype::Fp16),
        bf16: of(Dtype::Bf16),
        fp8: of(Dtype::Fp8),
        int8: of(Dtype::Int8),
    }
}

fn peaks(roofs: &Roofs) -> Option<Peaks> {
    let sku = roofs.sku?;
    Some(table(|dtype| dtype.peak(&sku.peaks)))
}

fn ridge(roofs: &Roofs, dtype: Dtype) -> Option<Ridge> {
    let roof = roofs.of(dtype)?;
    Some(Ridge { ai: round(roof.ridge(), 1), flops_per_s: roof.peak })
}

fn ridges(roofs: &Roofs) -> Option<Peaks> {
    roofs.sku?;
    roofs.bandwidth?;
    Some(table(|dtype| roofs.of(dtype).map(|roof| round(roof.ridge(), 1))))
}

fn hint(word: Option<&str>) -> Result<Option<Dtype>, ErrorObject> {
    let Some(word) = word else { return Ok(None) };
    let known: Vec<&str> = Dtype::TABLE.into_iter().map(Dtype::as_str).collect();
    Dtype::parse(word).map(Some).ok_or_else(|| {
        ErrorObject::invalid(
            "dtype_hint",
            format!("dtype_hint is {}, but it must be one of {}.", word.trim(), known.join(", ")),
            "Name one of these formats, or leave dtype_hint out.",
        )
        .value(word)
        .known(known.clone())
    })
}

/// The product of that name on the architecture with most kernel time.
fn sku(run: &LoadedRun, gpus: &[Gpu], name: Option<&str>) -> Result<Option<&'static Sku>, ErrorObject> {
    let Some(name) = name else { return Ok(None) };
    let gfx = roofline::roofs(&run.profile, gpus, None).arch.unwrap_or_default();
    let arch = arch::find(&gfx);
    if let Some(sku) = arch.and_then(|arch| arch.sku(name)) {
        return Ok(Some(sku));
    }
    let known: Vec<&str> =
        arch.map(|arch| arch.skus.iter().map(|sku| sku.sku.as_str()).collect()).unwrap_or_default();
    let mut error = unknown_name("sku", name.trim(), known, "product");
    error.hint = format!("Use one of the products of {gfx}, or leave sku out.");
    Err(error)
}

/// The kernel of a full name, its shortened form or its 8 digits.
fn find<'a>(profile: &'a CounterProfile, asked: &str) -> Result<&'a str, ErrorObject> {
    if let Some(kernel) = profile.kernel(asked) {
        return Ok(&kernel.name);
    }
    let short = profile.kernels.iter().find(|kernel| {
        short_name(&kernel.name, LONGEST_NAME).as_deref() == Some(asked) || name_hash(&kernel.name) == asked
    });
    short.map(|kernel| kernel.name.as_ref()).ok_or_else(|| {
        let names: Vec<&str> = profile.kernels.iter().take(KNOWN_NAMES).map(|kernel| &*kernel.name).collect();
        unknown_name("kernel", asked, names, "kernel with counters")
    })
}

fn no_evidence(
    run: &LoadedRun,
    roofs: &Roofs,
    hint: Option<Dtype>,
    dispatch_id: Option<i64>,
    reason: &str,
) -> ErrorObject {
    let arch = roofs.arch.as_deref().and_then(arch::find);
    let mut passes = collection::typed_operation_passes(arch);
    if passes.is_empty() {
        passes = collection::classify_passes(arch);
    } else {
        passes.extend(collection::classify_passes(arch).into_iter().skip(1));
    }
    let target = Target { app: "./app", out: "perfxpert_out", kernel: None };
    let commands = collection::counter_commands(&passes, &target);
    let lines: Vec<String> =
        commands.iter().map(perfxpert_knowledge::commands::Command::full_command).collect();
    let what = match dispatch_id {
        Some(id) => format!("dispatch {id} of {}: {reason}", run.first_path()),
        None => format!("{}: {reason}", run.first_path()),
    };
    let ridge = ridge(roofs, hint.unwrap_or(Dtype::Fp32));
    ErrorObject::new(
        ErrorKind::NoEvidence,
        format!("No roofline points from {what}."),
        "Collect the counters with the command, then ask again.",
    )
    .field("db_path")
    .path(&run.first_path())
    .with("missing", vec!["FETCH_SIZE", "WRITE_SIZE", "SQ_INSTS_VALU"])
    .with("command", lines.join(" && "))
    .with("partial", json!({ "arch": roofs.arch, "ridge_point": ridge }))
}
