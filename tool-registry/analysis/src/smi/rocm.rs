//! The shapes and field names of rocm-smi logs.

use serde_json::{Map, Value};

use super::quantity::{leading, quantity};
use super::{Found, Sample, lookup};

/// Whether a document or list element has a key such as `card0`.
pub(super) fn has_card(value: &Value) -> bool {
    let is_card = |key: &String| matches!(card(key), Some(Some(_)));
    value.as_object().is_some_and(|object| object.keys().any(is_card))
}

/// `Some(Some(3))` for `card3`, `Some(None)` for a card with no number, `None` for any other key.
fn card(key: &str) -> Option<Option<i64>> {
    let id = key.strip_prefix("card")?;
    Some(if id.chars().all(|digit| digit.is_ascii_digit()) { id.parse().ok() } else { None })
}

/// Takes the samples out of one document or list element.
pub(super) fn collect(value: &Value, found: &mut Found) {
    match value {
        Value::Array(rows) => rows.iter().for_each(|row| collect(row, found)),
        Value::Object(object) => {
            for (key, gpu) in object {
                match card(key) {
                    Some(Some(gpu_id)) if gpu.is_object() => {
                        found.samples.push(Sample { gpu_id, ..sample(gpu) });
                    }
                    Some(None) => found.bad_gpu_ids += 1,
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn sample(gpu: &Value) -> Sample {
    let empty = Map::new();
    let keys = gpu.as_object().unwrap_or(&empty);
    let temperature = |sensor: &str| {
        keys.iter()
            .filter(|(key, _)| {
                let key = key.to_ascii_lowercase();
                key.contains("temperature") && key.contains(sensor)
            })
            .find_map(|(_, value)| quantity(value))
    };
    let first = |names: &[&str]| names.iter().find_map(|name| quantity(lookup(gpu, name)?));
    let clock_of = |name: &str| {
        [
            format!("{name} clock speed:"),
            format!("{name} clock level:"),
            format!("{name} clock level"),
            name.to_owned(),
        ]
        .iter()
        .find_map(|key| clock(lookup(gpu, key)?.as_str()?))
    };
    Sample {
        gpu_id: 0,
        edge_c: temperature("edge"),
        junction_c: temperature("junction"),
        memory_c: temperature("memory"),
        power_w: first(&["Current Socket Graphics Package Power (W)", "Average Graphics Package Power (W)"]),
        core_mhz: clock_of("sclk"),
        memory_mhz: clock_of("mclk"),
        busy_pct: first(&["GPU use (%)", "GPU use"]),
        throttled: None,
        timestamp_s: None,
    }
}

/// A clock: the number inside the last parentheses, else the leading number when `MHz` follows; a bare number is a
/// performance level.
fn clock(text: &str) -> Option<f64> {
    let inside = text.rfind('(').and_then(|open| text.get(open + 1..)?.split(')').next());
    match inside {
        Some(inside) => leading(inside).map(|(number, _)| number),
        None => leading(text)
            .filter(|(_, unit)| unit.trim_start().to_ascii_lowercase().starts_with("mhz"))
            .map(|(number, _)| number),
    }
    .filter(|number| number.is_finite())
}
