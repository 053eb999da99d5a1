//! `roofline`: which roof is lower, for given operations and bytes or for the kernels of a trace.

mod points;

use perfxpert_analysis::roofline::{self, Distance, Dtype, Regime, Roof};
use perfxpert_analysis::rounding::round;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::roofline as wire;

use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::Classify>(
            "Side of the roofline",
            "Compute- or memory-bound from operations and bytes, against the peaks of one GPU. Use roofline_plot_points for the kernels of a trace.",
            classify,
        ),
        tool::<wire::PlotPoints>(
            "Roofline points",
            "Per-kernel roofline points from a database with counters. Use roofline_classify for numbers you have.",
            points::plot_points,
        ),
    ]
}

const fn dtype(dtype: wire::Dtype) -> Dtype {
    match dtype {
        wire::Dtype::Fp64 => Dtype::Fp64,
        wire::Dtype::Fp32 => Dtype::Fp32,
        wire::Dtype::Fp16 => Dtype::Fp16,
        wire::Dtype::Bf16 => Dtype::Bf16,
        wire::Dtype::Fp8 => Dtype::Fp8,
        wire::Dtype::Int8 => Dtype::Int8,
    }
}

fn classify(_: &Context, input: wire::ClassifyInput) -> Result<wire::ClassifyOutput, ErrorObject> {
    let device = device::device(&input.gfx_id, input.sku.as_deref(), input.cu_count)?;
    let peaks = &device.sku.peaks;
    let Some(peak) = dtype(input.dtype).peak(peaks) else {
        let supported: Vec<&str> =
            Dtype::TABLE.into_iter().filter(|dtype| dtype.peak(peaks).is_some()).map(Dtype::as_str).collect();
        let asked = dtype(input.dtype).as_str();
        return Err(ErrorObject::invalid(
            "dtype",
            format!("{} has no {asked} peak.", device.arch.gfx_id),
            format!("Use one of the formats of {}: {}.", device.arch.gfx_id, supported.join(", ")),
        )
        .value(asked)
        .known(supported));
    };
    let roof = Roof { peak, bandwidth: device.sku.bandwidth_bytes_per_s() };
    let intensity = input.flops / input.bytes;
    if !intensity.is_finite() {
        return Err(ErrorObject::invalid(
            "bytes",
            "flops over bytes exceeds what a number can hold.",
            "Send the operations and the bytes of one kernel.",
        )
        .value(&input.bytes.to_string()));
    }
    let attainable = roof.attainable(intensity);
    let achieved = input.duration_ns.map(|ns| input.flops / ns * 1e9).filter(|rate| rate.is_finite());
    let mut notes = device.notes;
    let (distance, reason) = match achieved {
        None => (None, Some("duration_ns was not sent, and intensity alone is no distance".to_owned())),
        Some(_) if attainable == 0.0 => {
            (None, Some("no operations, so there is no roof to reach".to_owned()))
        }
        Some(achieved) => match roofline::distance(achieved, attainable) {
            Distance::Below(distance) => (Some(round(distance, 4)), None),
            Distance::Impossible => {
                notes.push(format!(
                    "Achieved {achieved:.3e} FLOP/s is above the attainable {attainable:.3e} FLOP/s: check operations, \
                     bytes and duration."
                ));
                (None, Some("the achieved rate is above the roof".to_owned()))
            }
        },
    };
    Ok(wire::ClassifyOutput {
        arithmetic_intensity: intensity,
        ridge_point: round(roof.ridge(), 1),
        regime: match roof.regime(intensity) {
            Regime::Compute => wire::Regime::Compute,
            Regime::Memory => wire::Regime::Memory,
            Regime::Balanced => wire::Regime::Balanced,
        },
        distance_to_roof: distance,
        distance_to_roof_reason: reason,
        ridge_ratio: round(intensity / roof.ridge(), 4),
        dtype: input.dtype,
        attainable_flops_per_s: attainable,
        achieved_flops_per_s: achieved,
        achieved_flops_per_s_reason: achieved.is_none().then_some("duration_ns was not sent"),
        peak_flops_per_s: roof.peak,
        bandwidth_bytes_per_s: roof.bandwidth,
        sku: device.sku.sku.clone(),
        notes,
    })
}
