//! `sol`: holds claims against the speed of light of a device, and buckets utilisations.

use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::arch::{Arch, Peaks};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::sol as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::SanityCheck>(
            "Plausibility of a throughput",
            "Is a claimed throughput physically possible on this GPU? Checks FLOP/s, and optionally memory traffic, against the device's peaks. Use sol_classify_utilization for a utilisation.",
            sanity_check,
        ),
        tool::<wire::ClassifyUtilization>(
            "Utilisation bucket",
            "High, medium or low for a utilisation fraction, with the headroom. Use sol_sanity_check for absolute rates.",
            classify_utilization,
        ),
    ]
}

const TERA: f64 = 1e12;

/// A format's name, its peak, and its best peak on any pipe, TFLOP/s.
type Format = (&'static str, fn(&Peaks) -> Option<f64>, fn(&Peaks) -> Option<f64>);

fn best(vector: f64, matrix: Option<f64>) -> Option<f64> {
    Some(matrix.map_or(vector, |matrix| vector.max(matrix)))
}

const FORMATS: [Format; 10] = [
    ("fp64", |p| Some(p.fp64), |p| best(p.fp64, p.fp64_matrix)),
    ("fp32", |p| Some(p.fp32), |p| best(p.fp32_max, p.fp32_matrix)),
    ("fp16", |p| p.fp16, |p| p.fp16),
    ("bf16", |p| p.bf16, |p| p.bf16),
    ("fp8", |p| p.fp8, |p| p.fp8),
    ("int8", |p| p.int8, |p| p.int8),
    ("fp64_matrix", |p| p.fp64_matrix, |p| p.fp64_matrix),
    ("fp32_matrix", |p| p.fp32_matrix, |p| p.fp32_matrix),
    ("xf32", |p| p.xf32_matrix, |p| p.xf32_matrix),
    ("fp4", |p| p.fp4_matrix, |p| p.fp4_matrix),
];

fn unsupported(name: &str, arch: &Arch, peaks: &Peaks) -> ErrorObject {
    let supported: Vec<&str> =
        FORMATS.iter().filter(|(_, peak, _)| peak(peaks).is_some()).map(|(name, ..)| *name).collect();
    ErrorObject::invalid(
        "kernel_type",
        format!("{} has no {name} peak.", arch.gfx_id),
        format!("Use one of the formats of {}: {}.", arch.gfx_id, supported.join(", ")),
    )
    .value(name)
    .known(supported)
}

fn sanity_check(_: &Context, input: wire::SanityCheckInput) -> Result<wire::SanityCheckOutput, ErrorObject> {
    let device = device::device(&input.gfx_id, input.sku.as_deref(), input.cu_count)?;
    let asked = input.kernel_type.trim();
    let peaks = &device.sku.peaks;
    let Some((name, own, best)) = FORMATS.iter().find(|(name, ..)| *name == asked) else {
        return Err(unknown_name("kernel_type", asked, FORMATS.map(|(name, ..)| name), "format"));
    };
    let (Some(own), Some(best)) = (own(peaks), best(peaks)) else {
        return Err(unsupported(name, device.arch, peaks));
    };
    let limits = thresholds::sol();
    let devices = f64::from(input.devices);
    let (sol_peak, absolute_peak) = (own * TERA * devices, best * TERA * devices);
    let claim = input.achieved_flops_per_sec;
    let allowed = 1.0 + limits.tolerance;
    let plausible = claim <= absolute_peak * allowed;
    let fraction = claim / absolute_peak;
    let needs_matrix = plausible && claim > sol_peak * allowed;
    let mut notes = device.notes;
    if plausible && fraction > limits.rare {
        notes.push(format!("{:.0} % of a peak is rarely sustained.", fraction * 100.0));
    }
    let peak_bytes = device.sku.bandwidth_bytes_per_s() * devices;
    let bandwidth_plausible = input.achieved_bytes_per_sec.map(|bytes| bytes <= peak_bytes * allowed);
    if bandwidth_plausible == Some(false) {
        notes.push(format!("The claimed memory traffic is above the peak of {:.4} TB/s.", peak_bytes / TERA));
    }
    let reason = format!(
        "{:.1} TFLOP/s {} the {name} peak of {:.1} TFLOP/s{}.",
        claim / TERA,
        if plausible { "is within" } else { "is above" },
        absolute_peak / TERA,
        if needs_matrix { ", on the matrix pipe only" } else { "" }
    );
    Ok(wire::SanityCheckOutput {
        plausible,
        reason,
        sol_peak,
        absolute_peak,
        fraction_of_peak: round(fraction, 4),
        needs_matrix,
        bandwidth_plausible,
        bandwidth_plausible_reason: bandwidth_plausible
            .is_none()
            .then_some("achieved_bytes_per_sec was not sent"),
        sku: device.sku.sku.clone(),
        notes,
    })
}

fn classify_utilization(
    _: &Context,
    input: wire::ClassifyUtilizationInput,
) -> Result<wire::ClassifyUtilizationOutput, ErrorObject> {
    use wire::UtilizationMetric::{MfmaUtil, Occupancy};
    let facts = thresholds::sol();
    let (high, medium) = match input.metric {
        Some(MfmaUtil) => (facts.mfma_high, facts.mfma_medium),
        Some(Occupancy) => (facts.occupancy_high, facts.occupancy_medium),
        _ => (facts.high, facts.medium),
    };
    let category = if input.pct >= high {
        wire::Category::High
    } else if input.pct >= medium {
        wire::Category::Medium
    } else {
        wire::Category::Low
    };
    Ok(wire::ClassifyUtilizationOutput {
        category,
        headroom_pct: round(1.0 - input.pct, 6),
        thresholds: wire::UtilizationBounds { high, medium },
    })
}
