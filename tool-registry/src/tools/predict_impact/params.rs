//! Reads what a caller knows about a change into the inputs of a model.

use perfxpert_analysis::impact::{COUNTERS, Inputs, SHARE};
use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value};

use crate::device;
use crate::free_map::FreeMap;

const FRACTIONS: [&str; 8] = [
    SHARE,
    "occupancy_pct",
    "hbm_bw_utilization",
    "mfma_util_pct",
    "valu_util_pct",
    "transcendental_share",
    "exposed_copy_pct",
    "kernel_window_pct",
];
/// Whole numbers and the least they can be.
const WHOLE: [(&str, u64); 6] = [
    ("vgpr_per_thread", 0),
    ("lds_usage_bytes", 0),
    ("num_streams_used", 0),
    ("target_vgpr", 0),
    ("waves_now", 1),
    ("waves_target", 1),
];
const AMOUNTS: [&str; 3] =
    ["avg_memcpy_size_mb", "arithmetic_intensity_before", "arithmetic_intensity_after"];
pub(super) const FLAGS: [&str; 2] = [COUNTERS, "kernel_matmul_like"];
const DTYPES: [&str; 6] = ["fp64", "fp32", "fp16", "bf16", "fp8", "int8"];

/// The inputs a map holds, and its names that mean nothing here.
///
/// # Errors
/// `invalid_argument` for a value that cannot be meant, `unknown_name` for an architecture.
pub(super) fn read(
    argument: &'static str,
    values: &Map<String, Value>,
) -> Result<(Inputs, Vec<String>), ErrorObject> {
    let map = FreeMap { argument, values };
    let mut inputs = Inputs::default();
    for name in FRACTIONS {
        if let Some(value) = map.fraction(name)? {
            inputs.set(name, value);
        }
    }
    for (name, least) in WHOLE {
        if let Some(value) = map.whole(name, least)? {
            inputs.set(name, value as f64);
        }
    }
    for name in AMOUNTS {
        if let Some(value) = map.number_within(name, 0.0, f64::MAX)? {
            inputs.set(name, value);
        }
    }
    for name in FLAGS {
        if let Some(value) = map.flag(name)? {
            inputs.set(name, f64::from(value));
        }
    }
    if let Some(id) = map.text("gfx_id")? {
        inputs.gfx_id = Some(device::architecture("change_params.gfx_id", &id)?.gfx_id.clone());
    }
    if let Some(dtype) = map.text("dtype")? {
        let dtype = dtype.trim().to_lowercase();
        if !DTYPES.contains(&dtype.as_str()) {
            let field = format!("{argument}.dtype");
            return Err(ErrorObject::invalid(
                &field,
                format!("{field} is no number format."),
                format!("Send one of {}.", DTYPES.join(", ")),
            )
            .value(&dtype)
            .known(DTYPES));
        }
        inputs.dtype = Some(dtype);
    }
    let known: Vec<&str> = FRACTIONS
        .into_iter()
        .chain(WHOLE.map(|(name, _)| name))
        .chain(AMOUNTS)
        .chain(FLAGS)
        .chain(["gfx_id", "dtype"])
        .collect();
    Ok((inputs, map.unknown_shown(&known)))
}

#[cfg(test)]
mod tests {
    use perfxpert_knowledge::impact::models;

    use super::*;

    #[test]
    fn every_required_metric_is_a_parameter() {
        let names: Vec<&str> =
            FRACTIONS.into_iter().chain(WHOLE.map(|(name, _)| name)).chain(AMOUNTS).chain(FLAGS).collect();
        for model in &models().models {
            for metric in &model.required_metrics {
                assert!(names.contains(&metric.as_str()), "{metric}");
            }
        }
    }
}
