//! Reads samples that a caller sends instead of a log.

use perfxpert_analysis::smi::Sample;
use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value};

/// The usable samples of a `metrics` object; the others are counted in a note.
///
/// # Errors
/// `invalid_argument` when there is no list of samples.
pub(super) fn read(
    metrics: &Map<String, Value>,
    notes: &mut Vec<String>,
) -> Result<Vec<Sample>, ErrorObject> {
    let Some(rows) = metrics.get("samples").and_then(Value::as_array) else {
        return Err(ErrorObject::invalid(
            "metrics.samples",
            "metrics has no list named samples.",
            "Send {\"samples\": [{\"gpu_id\": 0, \"temp_c\": 60}]}.",
        ));
    };
    let samples: Vec<Sample> = rows.iter().filter_map(sample).filter(|sample| !sample.is_empty()).collect();
    let skipped = rows.len() - samples.len();
    if skipped > 0 {
        notes.push(format!("{skipped} of {} samples held no usable number and were skipped.", rows.len()));
    }
    Ok(samples)
}

fn sample(row: &Value) -> Option<Sample> {
    let row = row.as_object()?;
    let number = |key: &str| row.get(key).and_then(Value::as_f64).filter(|number| number.is_finite());
    let junction_c = number("temp_junction_c");
    Some(Sample {
        gpu_id: row.get("gpu_id").and_then(Value::as_i64).unwrap_or(0),
        // `temp_c` is the edge sensor where there is one, else the junction.
        edge_c: number("temp_edge_c").or_else(|| number("temp_c").filter(|_| junction_c.is_none())),
        junction_c,
        memory_c: number("temp_mem_c"),
        power_w: number("power_w"),
        core_mhz: number("sclk_mhz"),
        memory_mhz: number("mclk_mhz"),
        busy_pct: number("gfx_busy_pct"),
        throttled: row.get("throttled").and_then(Value::as_bool),
        timestamp_s: number("timestamp_s"),
    })
}
