//! Reads a bag of metrics into evidence, refusing what cannot be meant.

use perfxpert_analysis::verdict::{Evidence, Window};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::bottleneck::UnknownMetric;
use serde_json::{Map, Value};

use crate::arguments::{nearest, shown};
use crate::free_map::FreeMap;

const ABOVE: &str = "arithmetic_intensity_above_ridge";
const BELOW: &str = "arithmetic_intensity_below_ridge";
/// Accepted from old callers; says nothing.
const IGNORED: &str = "no_dominant_bottleneck";

const KNOWN: [&str; 20] = [
    "valu_util_pct",
    "mfma_util_pct",
    ABOVE,
    BELOW,
    "memcpy_pct",
    "hbm_bw_utilization",
    "avg_waves_per_cu",
    "gpu_util_pct",
    "occupancy_pct",
    "api_overhead_pct",
    "avg_kernel_duration_us",
    "total_kernel_calls",
    "kernel_time_pct",
    "exposed_copy_pct",
    "exposed_host_pct",
    "gpu_idle_pct",
    "sync_wait_pct",
    "exposed_collective_pct",
    "exposed_peer_copy_pct",
    IGNORED,
];

/// Names that an answer repeats as unrecognised.
const UNKNOWN: usize = 20;

/// What a bag says.
pub(super) struct Bag {
    pub(super) evidence: Evidence,
    pub(super) unknown: Vec<UnknownMetric>,
    pub(super) unknown_total: usize,
    pub(super) notes: Vec<String>,
}

pub(super) fn read(metrics: &Map<String, Value>) -> Result<Bag, ErrorObject> {
    check_types(metrics)?;
    let map = FreeMap { argument: "metrics", values: metrics };
    let (above, below) = (ridge(&map, ABOVE)?, ridge(&map, BELOW)?);
    if above == Some(true) && below == Some(true) {
        return Err(ErrorObject::invalid(
            &format!("metrics.{ABOVE}"),
            format!("{ABOVE} and {BELOW} are both 1."),
            "Send 1 for one side only, or 0 for both at the ridge.",
        )
        .value("1"));
    }
    let mut evidence = Evidence {
        window: None,
        exposed_copy: map.fraction("exposed_copy_pct")?,
        memcpy: map.fraction("memcpy_pct")?,
        gpu_util: map.fraction("gpu_util_pct")?,
        api_overhead: map.fraction("api_overhead_pct")?,
        launch_wait: None,
        sync_wait: map.fraction("sync_wait_pct")?,
        exposed_collective: map.fraction("exposed_collective_pct")?,
        exposed_peer_copy: map.fraction("exposed_peer_copy_pct")?,
        valu_util: map.fraction("valu_util_pct")?,
        mfma_util: map.fraction("mfma_util_pct")?,
        hbm_utilization: map.fraction("hbm_bw_utilization")?,
        occupancy: map.fraction("occupancy_pct")?,
        waves_per_cu: map.number_within("avg_waves_per_cu", 0.0, f64::MAX)?,
        above_ridge: above,
        below_ridge: below,
        kernel_duration_us: map.number_within("avg_kernel_duration_us", 0.0, f64::MAX)?,
        kernel_calls: map.whole("total_kernel_calls", 0)?.map(|calls| calls as f64),
    };
    let parts = (
        map.fraction("kernel_time_pct")?,
        evidence.exposed_copy,
        map.fraction("exposed_host_pct")?,
        map.fraction("gpu_idle_pct")?,
    );
    let mut notes = Vec::new();
    match parts {
        (Some(kernel), Some(exposed_copy), Some(exposed_host), Some(idle)) => {
            check_sum(kernel + exposed_copy + exposed_host + idle)?;
            evidence.window = Some(Window { kernel, exposed_copy, exposed_host, idle });
        }
        (None, _, None, None) => {}
        _ => notes.push(
            "Send all of kernel_time_pct, exposed_copy_pct, exposed_host_pct and gpu_idle_pct for a verdict on the \
             window; some are missing, so signatures decided."
                .to_owned(),
        ),
    }
    let unknown = map.unknown(&KNOWN);
    Ok(Bag {
        evidence,
        unknown_total: unknown.len(),
        unknown: unknown
            .into_iter()
            .take(UNKNOWN)
            .map(|name| UnknownMetric {
                name: shown(name),
                did_you_mean: thresholds::bottleneck::signatures()
                    .alias(name)
                    .map(str::to_owned)
                    .or_else(|| nearest(name, KNOWN.into_iter().filter(|known| *known != IGNORED))),
            })
            .collect(),
        notes,
    })
}

/// Only numbers, null, and booleans for the two flags are values of metrics.
fn check_types(metrics: &Map<String, Value>) -> Result<(), ErrorObject> {
    for (name, value) in metrics {
        let fits = match value {
            _ if name == IGNORED => true,
            Value::Number(_) | Value::Null => true,
            Value::Bool(_) => name == ABOVE || name == BELOW,
            _ => false,
        };
        if !fits {
            let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            return Err(ErrorObject::invalid(
                &format!("metrics.{}", shown(name)),
                format!("metrics.{} is {}, but it must be a number.", shown(name), shown(&value.to_string())),
                "Send a number, or null for what was not measured.",
            )
            .value(&plain));
        }
    }
    Ok(())
}

fn ridge(map: &FreeMap<'_>, name: &str) -> Result<Option<bool>, ErrorObject> {
    match map.values.get(name) {
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(Value::Number(number)) if number.as_f64() != Some(0.0) && number.as_f64() != Some(1.0) => {
            Err(ErrorObject::invalid(
                &format!("metrics.{name}"),
                format!("metrics.{name} is {number}, but it is a flag."),
                "Send 0, 1, true or false.",
            )
            .value(&number.to_string()))
        }
        _ => Ok(map.number(name)?.map(|number| number == 1.0)),
    }
}

fn check_sum(sum: f64) -> Result<(), ErrorObject> {
    let tolerance = thresholds::verdict().share_sum_tolerance;
    if (sum - 1.0).abs() <= tolerance {
        return Ok(());
    }
    Err(ErrorObject::invalid(
        "metrics.kernel_time_pct",
        format!(
            "kernel_time_pct, exposed_copy_pct, exposed_host_pct and gpu_idle_pct add up to {sum}, not to 1."
        ),
        "Send the four exclusive parts of one window.",
    )
    .value(&sum.to_string()))
}
