//! Attaches the prediction of a change to the advice that names it, where the trace knows the model's inputs.

use perfxpert_knowledge::impact as facts;
use perfxpert_knowledge::thresholds;

use super::draft::Draft;
use super::entry::{Prediction, TargetKind};
use super::observed::{Observed, ObservedKernel};
use super::rules::waves;
use crate::impact::{self, COUNTERS, Inputs, SHARE};
use crate::rounding::round;
use crate::units::Nanos;

/// Bytes of a megabyte, the unit of the model's copy size.
const MB: f64 = 1e6;

/// Adds predictions to drafts about kernels and about the run.
pub(super) fn attach(drafts: &mut [Draft], run: &Observed) {
    if !run.has_counters {
        return;
    }
    for draft in drafts {
        draft.prediction = match (draft.target.kind, &draft.target.name) {
            (Some(TargetKind::Kernel), Some(name)) => {
                let kernel = run.kernels.iter().find(|kernel| kernel.name == *name);
                kernel.and_then(|kernel| of_kernel(&draft.technique, run, kernel))
            }
            (None, None) => of_run(&draft.technique, run),
            _ => None,
        };
    }
}

fn of_kernel(technique: &str, run: &Observed, kernel: &ObservedKernel) -> Option<Prediction> {
    let model = facts::find(technique).filter(|model| !impact::is_program_level(model))?;
    let share = kernel.pct_of_runtime? / 100.0;
    let metrics = &kernel.metrics;
    let resources = kernel.resources.as_ref();
    let mut inputs = Inputs {
        gfx_id: resources.and_then(|found| found.gfx_id.clone()).or_else(|| run.gfx_id.clone()),
        dtype: metrics.dtype.clone(),
        ..Inputs::default()
    };
    let mut set = |name: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            inputs.set(name, value);
        }
    };
    set(SHARE, Some(share));
    set(COUNTERS, Some(1.0));
    match technique {
        "vgpr_reduction" => {
            let waves = waves(kernel)?;
            let fit = resources.and_then(|found| found.occupancy.as_ref()).map(|fit| &fit.occupancy);
            set("vgpr_per_thread", fit.map(|fit| number(fit.registers)));
            set("occupancy_pct", metrics.resident.or(fit.map(|fit| fit.fraction)));
            set("waves_now", Some(number(waves.now)));
            set("waves_target", waves.next.map(number));
        }
        "lds_tiling" => {
            set("hbm_bw_utilization", metrics.hbm);
            set("lds_usage_bytes", resources.and_then(|found| found.lds).map(|lds| lds.as_f64()));
            set("arithmetic_intensity_before", metrics.intensity);
        }
        "mfma_enablement" => {
            set("mfma_util_pct", metrics.mfma);
            set("valu_util_pct", metrics.valu);
            set("kernel_matmul_like", Some(1.0));
        }
        "fast_math_flag" => {
            set("transcendental_share", metrics.transcendental);
            set("valu_util_pct", metrics.valu);
        }
        _ => return None,
    }
    answered(model, &kernel.name, &inputs, share)
}

fn of_run(technique: &str, run: &Observed) -> Option<Prediction> {
    let model = facts::find(technique).filter(|model| impact::is_program_level(model))?;
    let share = run.exposed_copies().fraction_of(run.window)?;
    let copies: u64 = run.copies.iter().map(|copies| copies.count).sum();
    let bytes: f64 = run.copies.iter().map(|copies| copies.bytes.as_f64()).sum();
    let mut inputs = Inputs { gfx_id: run.gfx_id.clone(), ..Inputs::default() };
    let free: Nanos = run.kernel_busy.saturating_sub(run.overlap);
    inputs.set(COUNTERS, 1.0);
    inputs.set("exposed_copy_pct", share);
    inputs.set("kernel_window_pct", free.fraction_of(run.window)?);
    if let Some(streams) = run.work_streams {
        inputs.set("num_streams_used", number(streams));
    }
    if copies > 0 {
        inputs.set("avg_memcpy_size_mb", bytes / number(copies) / MB);
    }
    answered(model, "", &inputs, share)
}

#[expect(clippy::cast_precision_loss, reason = "counts of registers, waves and copies")]
fn number(count: u64) -> f64 {
    count as f64
}

/// The model's answer, when the target matters, its required inputs are known and it gives a range.
fn answered(model: &'static facts::Model, target: &str, inputs: &Inputs, share: f64) -> Option<Prediction> {
    let known = model.required_metrics.iter().all(|metric| inputs.get(metric).is_some());
    if !known || share < thresholds::amdahl().low {
        return None;
    }
    let found = impact::predict(model, inputs);
    let ((lo, hi), (program_lo, program_hi)) = found.range.zip(found.program)?;
    Some(Prediction {
        impact: [round(lo, 3), round(hi, 3)],
        program: [round(program_lo, 3), round(program_hi, 3)],
        confidence: round(found.confidence, 3),
        rationale: impact::rationale(model, &found, inputs),
        source_citation: impact::citation(model),
        intensity_before: inputs.get("arithmetic_intensity_before"),
        prediction_id: impact::id::encode(&model.id, target, u64::from(facts::models().version), inputs),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_waves_to_eight_of_the_example() {
        let model = facts::find("vgpr_reduction").expect("a known model");
        let mut inputs = Inputs { gfx_id: Some("gfx942".to_owned()), ..Inputs::default() };
        for (name, value) in [
            (SHARE, 0.40),
            (COUNTERS, 1.0),
            ("vgpr_per_thread", 128.0),
            ("occupancy_pct", 0.45),
            ("waves_now", 4.0),
            ("waves_target", 8.0),
        ] {
            inputs.set(name, value);
        }
        let found = answered(model, "gemm", &inputs, 0.40).expect("a prediction");
        assert_eq!((found.impact, found.program, found.confidence), ([1.148, 1.445], [1.054, 1.14], 0.7));
        assert!(answered(model, "gemm", &inputs, 0.04).is_none(), "too small a share");
        inputs.numbers.remove("occupancy_pct");
        assert!(answered(model, "gemm", &inputs, 0.40).is_none(), "a required input is not known");
    }

    #[test]
    fn without_counters_nothing_is_predicted() {
        let mut drafts = vec![Draft { technique: "hip_stream_overlap".to_owned(), ..Draft::default() }];
        let mut run = Observed {
            window: Nanos(1000),
            kernel_busy: Nanos(550),
            runtime_copy_exposed: Nanos(350),
            work_streams: Some(1),
            copies: vec![super::super::observed::ObservedCopies {
                direction: perfxpert_trace::Direction::HostToDevice,
                count: 2,
                bytes: crate::units::Bytes(8_000_000),
                busy: Nanos::ZERO,
                exposed: Nanos::ZERO,
                small_count: 0,
                small_exposed: Nanos::ZERO,
                small_median: None,
                large_count: 2,
                large_exposed: Nanos::ZERO,
                large_gbps: None,
                link_peak_gbps: None,
                split_calls: 0,
            }],
            ..Observed::default()
        };
        attach(&mut drafts, &run);
        assert_eq!(drafts.first().and_then(|draft| draft.prediction.clone()), None);
        run.has_counters = true;
        attach(&mut drafts, &run);
        let found = drafts.first().and_then(|draft| draft.prediction.clone()).expect("a prediction");
        assert_eq!(found.impact, [1.148, 1.445]);
        run.work_streams = None;
        attach(&mut drafts, &run);
        assert_eq!(drafts.first().and_then(|draft| draft.prediction.clone()), None, "streams are not known");
    }
}
