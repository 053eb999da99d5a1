//! Temperatures, power and clocks of a monitor log.

use perfxpert_analysis::rounding::round;
use perfxpert_analysis::smi::Sample;
use perfxpert_analysis::thermal::{self, Limits, Sensor, Verdict};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::report::sections::{GpuMonitor, GpuMonitorRow};

use super::measured::Measured;
use crate::Context;
use crate::tools::gpu_runtime_monitor::log_file;

/// GPUs of a log that are listed.
const GPUS: usize = 1024;

/// What a log says; a log that cannot be read says nothing, and is never healthy.
pub(super) fn section(context: &Context, path: &str, measured: Option<&Measured<'_>>) -> GpuMonitor {
    let (log, source) = match log_file::read(&context.quiet(), path, None) {
        Ok(read) => read,
        Err(fault) => return unknown(fault.message),
    };
    let facts = thresholds::thermal();
    let sku = measured.and_then(|measured| measured.gpus.first()).and_then(|gpu| gpu.sku);
    let limits = Limits { tjmax_c: facts.tjmax_c, tdp_w: sku.map(|sku| sku.tdp_w) };
    let rows: Vec<(Verdict, GpuMonitorRow)> =
        thermal::by_gpu(&log.samples).iter().map(|(gpu, samples)| row(*gpu, samples, &limits)).collect();
    let worst = rows.iter().map(|(verdict, _)| *verdict).max().unwrap_or(Verdict::Unknown);
    let times = log.samples.iter().filter_map(|sample| sample.timestamp_s);
    let first = times.clone().min_by(f64::total_cmp);
    let last = times.max_by(f64::total_cmp);
    GpuMonitor {
        source: Some(source.as_str().to_owned()),
        samples: log.samples.len() as u64,
        span_s: first.zip(last).map(|(first, last)| round(last - first, 3)),
        per_gpu: rows.into_iter().take(GPUS).map(|(_, row)| row).collect(),
        verdict: word(worst).to_owned(),
        reason: match worst {
            Verdict::Unknown => {
                Some("the log holds no usable temperature, power or throttle status".to_owned())
            }
            _ if log.cut_off => Some("the end of the log is cut off".to_owned()),
            _ => None,
        },
    }
}

fn unknown(reason: String) -> GpuMonitor {
    GpuMonitor {
        source: None,
        samples: 0,
        span_s: None,
        per_gpu: Vec::new(),
        verdict: word(Verdict::Unknown).to_owned(),
        reason: Some(reason.trim_end_matches('.').to_owned()),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Healthy => "healthy",
        Verdict::Unknown => "unknown",
        Verdict::Hot => "hot",
        Verdict::Throttling => "throttling",
    }
}

fn row(gpu: i64, samples: &[Sample], limits: &Limits) -> (Verdict, GpuMonitorRow) {
    let judged = thermal::judge(samples, limits);
    let clocks = samples.iter().filter_map(|sample| sample.core_mhz);
    let rounded = |value: Option<f64>| value.map(|value| round(value, 2));
    let row = GpuMonitorRow {
        gpu_id: gpu.to_string(),
        samples: samples.len() as u64,
        max_temp_c: rounded(judged.max_c()),
        p95_temp_c: rounded(judged.p95_c()),
        temp_sensor: match judged.sensor {
            Sensor::Junction => "junction",
            Sensor::Edge => "edge",
            Sensor::None => "none",
        }
        .to_owned(),
        limit_c: (judged.sensor != Sensor::None).then_some(limits.tjmax_c),
        max_power_w: rounded(judged.max_power_w),
        limit_w: limits.tdp_w.filter(|limit| *limit > 0.0),
        min_sclk_mhz: rounded(clocks.clone().min_by(f64::total_cmp)),
        max_sclk_mhz: rounded(clocks.max_by(f64::total_cmp)),
        throttle_samples: judged.events as u64,
        verdict: word(judged.verdict).to_owned(),
    };
    (judged.verdict, row)
}
