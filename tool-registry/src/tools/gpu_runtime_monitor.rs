//! `gpu_runtime_monitor`: reads smi logs from disk and words what they say about heat and power.

use perfxpert_analysis::rounding::round;
use perfxpert_analysis::smi::{Log, Sample, Source};
use perfxpert_analysis::thermal::{self, Limits, Sensor, Thermal, Verdict};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::tools::gpu_runtime_monitor as wire;
use perfxpert_schemas::{ErrorKind, ErrorObject};

use crate::{Context, Tool, device, tool};

pub(crate) mod log_file;
mod sent;

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::ParseAmdSmiJson>(
            "amd-smi log",
            "Reads a log of amd-smi metric --json or amd-smi monitor --json (one snapshot or a watch log) into samples. Use gpu_runtime_monitor_parse_rocm_smi_json for rocm-smi, gpu_runtime_monitor_analyze_thermal for a verdict.",
            |context, input| parse(context, &input, Source::AmdSmi),
        ),
        tool::<wire::ParseRocmSmiJson>(
            "rocm-smi log",
            "Reads a log of rocm-smi --json into samples. Use gpu_runtime_monitor_parse_amd_smi_json for amd-smi, gpu_runtime_monitor_analyze_thermal for a verdict.",
            |context, input| parse(context, &input, Source::RocmSmi),
        ),
        tool::<wire::AnalyzeThermal>(
            "Heat and power limits",
            "Did heat or power limits slow the GPU? Judges a log of amd-smi or rocm-smi, or samples of the two readers.",
            analyze_thermal,
        ),
    ]
}

fn sample(sample: &Sample) -> wire::Sample {
    wire::Sample {
        gpu_id: sample.gpu_id,
        temp_c: sample.edge_c.or(sample.junction_c),
        power_w: sample.power_w,
        sclk_mhz: sample.core_mhz,
        mclk_mhz: sample.memory_mhz,
        gfx_busy_pct: sample.busy_pct,
        temp_edge_c: sample.edge_c,
        temp_junction_c: sample.junction_c,
        temp_mem_c: sample.memory_c,
        throttled: sample.throttled,
        timestamp_s: sample.timestamp_s,
    }
}

fn summary(gpu_id: i64, samples: &[Sample]) -> wire::GpuSummary {
    let all = |pick: fn(&Sample) -> Option<f64>| samples.iter().filter_map(pick);
    let max = |pick| all(pick).max_by(f64::total_cmp);
    let mean = |pick: fn(&Sample) -> Option<f64>| {
        let count = all(pick).count();
        (count > 0).then(|| round(all(pick).sum::<f64>() / count as f64, 2))
    };
    wire::GpuSummary {
        gpu_id,
        samples: samples.len(),
        max_temp_junction_c: max(|sample| sample.junction_c),
        max_temp_edge_c: max(|sample| sample.edge_c),
        max_temp_mem_c: max(|sample| sample.memory_c),
        avg_power_w: mean(|sample| sample.power_w),
        max_power_w: max(|sample| sample.power_w),
        min_sclk_mhz: all(|sample| sample.core_mhz).min_by(f64::total_cmp),
        max_sclk_mhz: max(|sample| sample.core_mhz),
        avg_gfx_busy_pct: mean(|sample| sample.busy_pct),
    }
}

fn problems(log: &Log) -> Vec<wire::Problem> {
    let mut problems = Vec::new();
    if log.cut_off {
        problems.push(wire::Problem {
            code: "cut_off".to_owned(),
            count: 1,
            message: "the last document is incomplete; what came before it was used".to_owned(),
        });
    }
    if log.bad_gpu_ids > 0 {
        problems.push(wire::Problem {
            code: "bad_gpu_id".to_owned(),
            count: log.bad_gpu_ids,
            message: "entries whose GPU id is no integer were skipped".to_owned(),
        });
    }
    problems
}

fn parse(
    context: &Context,
    input: &wire::ParseInput,
    source: Source,
) -> Result<wire::ParseOutput, ErrorObject> {
    let log = log_file::read(context, &input.path, Some(source))?.0;
    let problems = problems(&log);
    let gpu_count = thermal::by_gpu(&log.samples).len();
    let kept: Vec<Sample> = log
        .samples
        .into_iter()
        .filter(|sample| input.gpu_id.is_none_or(|wanted| sample.gpu_id == wanted))
        .collect();
    let total = kept.len();
    let samples: Vec<wire::Sample> = kept.iter().skip(input.offset).take(input.limit).map(sample).collect();
    let returned = samples.len();
    Ok(wire::ParseOutput {
        source: source.as_str().to_owned(),
        gpu_count,
        summary: thermal::by_gpu(&kept).iter().map(|(id, samples)| summary(*id, samples)).collect(),
        samples,
        total,
        returned,
        truncated: input.offset.saturating_add(returned) < total,
        problems,
    })
}

/// GPUs that an answer lists one by one.
const GPUS: usize = 64;

fn verdict(verdict: Verdict) -> wire::ThermalVerdict {
    match verdict {
        Verdict::Healthy => wire::ThermalVerdict::Healthy,
        Verdict::Unknown => wire::ThermalVerdict::Unknown,
        Verdict::Hot => wire::ThermalVerdict::Hot,
        Verdict::Throttling => wire::ThermalVerdict::Throttling,
    }
}

fn evidence(thermal: &Thermal) -> Vec<&'static str> {
    [(thermal.reported, "reported"), (thermal.heat, "temperature"), (thermal.power, "power")]
        .into_iter()
        .filter_map(|(holds, name)| holds.then_some(name))
        .collect()
}

fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| round(value, 2))
}

fn gpu(gpu_id: i64, thermal: &Thermal, limits: &Limits) -> wire::GpuThermal {
    wire::GpuThermal {
        gpu_id,
        verdict: verdict(thermal.verdict),
        throttle_evidence: evidence(thermal),
        max_temp_c: rounded(thermal.max_c()),
        avg_temp_c: rounded(thermal.mean_c()),
        p95_temp_c: rounded(thermal.p95_c()),
        thermal_headroom_c: headroom(thermal, limits),
        max_power_w: rounded(thermal.max_power_w),
        throttle_events: thermal.events,
        power_throttle_suspected: thermal.power,
    }
}

fn headroom(thermal: &Thermal, limits: &Limits) -> Option<f64> {
    rounded(thermal.max_c().map(|max| (limits.tjmax_c - max).max(0.0)))
}

/// The power limit: as sent, else of the product.
fn power_limit(
    input: &wire::AnalyzeThermalInput,
    notes: &mut Vec<String>,
) -> Result<Option<f64>, ErrorObject> {
    let found = match &input.gfx_id {
        Some(id) => Some(device::device(id, input.sku.as_deref(), None)?),
        None if input.sku.is_some() => {
            return Err(ErrorObject::invalid(
                "sku",
                "sku was sent without gfx_id.",
                "Send gfx_id with it, or tdp_w.",
            ));
        }
        None => None,
    };
    if input.tdp_w > 0.0 {
        return Ok(Some(input.tdp_w));
    }
    Ok(found.map(|device| {
        notes.push(format!("The power limit is that of {}: {} W.", device.sku.sku, device.sku.tdp_w));
        device.sku.tdp_w
    }))
}

fn analyze_thermal(
    context: &Context,
    input: wire::AnalyzeThermalInput,
) -> Result<wire::AnalyzeThermalOutput, ErrorObject> {
    let mut notes = Vec::new();
    let samples = match (&input.metrics, &input.path) {
        (Some(metrics), None) => sent::read(metrics, &mut notes)?,
        (None, Some(path)) => {
            let log = log_file::read(context, path, None)?.0;
            notes.extend(problems(&log).into_iter().map(|problem| format!("{}.", problem.message)));
            log.samples
        }
        _ => {
            return Err(ErrorObject::invalid(
                "metrics",
                "Exactly one of metrics and path is needed.",
                "Send either the samples or the path of a log.",
            ));
        }
    };
    if samples.is_empty() {
        return Err(ErrorObject::new(
            ErrorKind::NoEvidence,
            "There is no usable sample, so nothing can be said about heat.",
            "Record samples while the program runs, then ask again.",
        )
        .with("command", log_file::record_command(Source::AmdSmi)));
    }
    let facts = thresholds::thermal();
    let limits =
        Limits { tjmax_c: input.tjmax_c.unwrap_or(facts.tjmax_c), tdp_w: power_limit(&input, &mut notes)? };
    if input.tjmax_c.is_none() {
        notes.push(format!(
            "The temperature limit of {} C is a generic default; send the board's limit if known.",
            facts.tjmax_c
        ));
    }
    let all = thermal::judge(&samples, &limits);
    let gpus = thermal::by_gpu(&samples);
    let each: Vec<(i64, Thermal)> =
        gpus.iter().map(|(id, samples)| (*id, thermal::judge(samples, &limits))).collect();
    let worst = each.iter().map(|(_, thermal)| thermal.verdict).max().unwrap_or(all.verdict);
    describe(&all, &mut notes);
    let clock_drop = thermal::clock_drop_pct(&gpus).map(|drop| round(drop, 1));
    if clock_drop.is_none() {
        notes.push("Clock drop is null: too few busy samples with a clock.".to_owned());
    }
    let times: Vec<f64> = samples.iter().filter_map(|sample| sample.timestamp_s).collect();
    let duration_s = times.first().zip(times.last()).map(|(first, last)| round(last - first, 3));
    if duration_s.is_none() {
        notes.push("Duration is null: the samples carry no timestamps.".to_owned());
    }
    Ok(wire::AnalyzeThermalOutput {
        verdict: verdict(worst),
        throttle_evidence: evidence(&all),
        max_temp_c: rounded(all.max_c()),
        avg_temp_c: rounded(all.mean_c()),
        p95_temp_c: rounded(all.p95_c()),
        thermal_headroom_c: headroom(&all, &limits),
        max_power_w: rounded(all.max_power_w),
        throttle_events: each.iter().map(|(_, thermal)| thermal.events).sum(),
        power_throttle_suspected: all.power,
        sensor: match all.sensor {
            Sensor::Junction => "junction",
            Sensor::Edge => "edge",
            Sensor::None => "none",
        },
        limit_basis: if all.sensor == Sensor::Edge { "edge_vs_tjmax" } else { "junction_vs_tjmax" },
        clock_drop_pct: clock_drop,
        tjmax_c: limits.tjmax_c,
        tdp_w: limits.tdp_w.unwrap_or(0.0),
        samples: samples.len(),
        duration_s,
        per_gpu: each.iter().take(GPUS).map(|(id, thermal)| gpu(*id, thermal, &limits)).collect(),
        notes,
    })
}

fn describe(all: &Thermal, notes: &mut Vec<String>) {
    match all.sensor {
        Sensor::Edge => notes.push(
            "Only the edge sensor was seen; it runs below the junction, so the headroom is optimistic."
                .to_owned(),
        ),
        Sensor::None => notes.push("Temperatures are null: no sensor was seen.".to_owned()),
        Sensor::Junction => {}
    }
    if all.power && !all.heat && !all.reported {
        notes.push("Clocks are limited by power, not by heat.".to_owned());
    }
    if all.max_power_w.is_none() {
        notes.push("Power is null: it was not in the samples.".to_owned());
    }
}
