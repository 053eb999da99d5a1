//! The shapes and field names of amd-smi logs.

use serde_json::Value;

use super::quantity::quantity;
use super::{Found, Sample};

/// Takes the samples out of one document or list element: lists of GPU objects, an object around them, or one GPU.
pub(super) fn collect(value: &Value, found: &mut Found) {
    match value {
        Value::Array(rows) => rows.iter().for_each(|row| collect(row, found)),
        Value::Object(_) => {
            let inner = ["gpu_data", "gpus", "gpu"]
                .into_iter()
                .filter_map(|key| value.get(key))
                .find(|inner| inner.is_object() || inner.is_array());
            match inner {
                Some(inner) => collect(inner, found),
                None => one(value, found),
            }
        }
        _ => {}
    }
}

fn one(gpu: &Value, found: &mut Found) {
    let id = ["gpu_id", "gpu", "id"].into_iter().find_map(|key| gpu.get(key));
    let sample = sample(gpu);
    match id.and_then(whole) {
        Some(gpu_id) => found.samples.push(Sample { gpu_id, ..sample }),
        // An object without id and readings is no GPU at all.
        None if id.is_none() && sample.is_empty() => {}
        None => found.bad_gpu_ids += 1,
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The first path that holds a quantity; dots lead into objects.
fn first(gpu: &Value, paths: &[&str]) -> Option<f64> {
    paths.iter().find_map(|path| quantity(at(gpu, path)?))
}

fn at<'a>(gpu: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(gpu, |value, key| value.get(key))
}

fn sample(gpu: &Value) -> Sample {
    Sample {
        gpu_id: 0,
        edge_c: first(gpu, &["temperature.edge", "temp_edge_c", "temp"]),
        junction_c: first(
            gpu,
            &["temperature.hotspot", "temperature.junction", "hotspot_temperature", "temp_junction_c"],
        ),
        memory_c: first(gpu, &["temperature.mem", "memory_temperature"]),
        power_w: first(
            gpu,
            &[
                "power.socket_power",
                "power.current_socket_power",
                "power.average_socket_power",
                "power_usage",
                "power.socket",
                "power_w",
                "power",
            ],
        ),
        core_mhz: core_clock(gpu).or_else(|| first(gpu, &["gfx_clk", "sclk_mhz", "sclk"])),
        memory_mhz: first(gpu, &["clock.mem_0.clk", "mem_clock", "mclk_mhz", "mclk"]),
        busy_pct: first(gpu, &["usage.gfx_activity", "gfx", "gfx_busy_pct", "utilization"]),
        throttled: throttled(gpu),
        timestamp_s: first(gpu, &["timestamp"]),
    }
}

/// The fastest of the dies' clocks.
fn core_clock(gpu: &Value) -> Option<f64> {
    let clocks = gpu.get("clock")?.as_object()?;
    clocks
        .iter()
        .filter(|(name, _)| name.strip_prefix("gfx_").is_some_and(|die| die.parse::<u32>().is_ok()))
        .filter_map(|(_, clock)| quantity(clock.get("clk")?))
        .max_by(f64::total_cmp)
}

fn throttled(gpu: &Value) -> Option<bool> {
    match at(gpu, "power.throttle_status").and_then(Value::as_str).map(str::trim) {
        Some("THROTTLED") => return Some(true),
        Some("UNTHROTTLED") => return Some(false),
        _ => {}
    }
    let states: Vec<&str> = gpu
        .get("throttle")?
        .as_object()?
        .iter()
        .filter(|(name, _)| name.ends_with("_violation_status"))
        .map(|(_, state)| state.as_str().map_or("", str::trim))
        .collect();
    if states.contains(&"ACTIVE") {
        return Some(true);
    }
    (!states.is_empty() && states.iter().all(|state| *state == "NOT ACTIVE")).then_some(false)
}
