//! `metrics`: plain arithmetic on counter values that the caller has summed.

use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::metrics as wire;

use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::ComputeGpuUtilization>(
            "GPU utilisation",
            "Busy share of the graphics pipe inside a counter window, from GRBM_GUI_ACTIVE and GRBM_COUNT. It brackets one kernel; use roofline_plot_points or the report for a whole trace.",
            gpu_utilization,
        ),
        tool::<wire::ComputeL1MissRate>(
            "L1 miss rate",
            "Miss rate of the vector L1 cache from summed TCP counters. Use memory_classify_cache_performance to judge hit rates.",
            l1_miss_rate,
        ),
        tool::<wire::ComputeL2HitRate>(
            "L2 hit rate",
            "Hit rate of the L2 cache from summed TCC (RDNA: GL2C) hit and miss counts. Use memory_classify_cache_performance to judge it.",
            l2_hit_rate,
        ),
        tool::<wire::ComputeHbmBandwidth>(
            "Memory bandwidth",
            "Achieved memory bandwidth of one dispatch from FETCH_SIZE, WRITE_SIZE and its duration, and its share of the peak when gfx_id is given. Use roofline_plot_points for a whole trace.",
            hbm_bandwidth,
        ),
        tool::<wire::ComputeLatency>(
            "Memory instruction latency",
            "Mean latency in cycles of vector-memory or LDS instructions from an accumulated level counter. One accumulator belongs to one level counter: say which.",
            latency,
        ),
    ]
}

const FRACTION: &str = "fraction";
const KIB: f64 = 1024.0;

fn zero_denominator(field: &str) -> ErrorObject {
    ErrorObject::invalid(
        field,
        format!("{field} is 0, so there is nothing to divide by."),
        format!("Send the summed value of {field}, above 0."),
    )
    .value("0")
}

fn above_one(field: &str, part: f64, whole_name: &str, whole: f64) -> ErrorObject {
    ErrorObject::invalid(
        field,
        format!("{field} is {part}, more than {whole_name} ({whole}), so the ratio would exceed 1."),
        "Send both values of the same dispatches and passes.",
    )
    .value(&part.to_string())
}

fn gpu_utilization(
    _: &Context,
    input: wire::GpuUtilizationInput,
) -> Result<wire::GpuUtilizationOutput, ErrorObject> {
    let (active, count) = (input.grbm_gui_active, input.grbm_count);
    if count == 0.0 {
        return Err(zero_denominator("grbm_count"));
    }
    if active > count {
        return Err(above_one("grbm_gui_active", active, "grbm_count", count));
    }
    let share = active / count;
    let note = (share >= thresholds::metrics().window_saturated).then(|| {
        "The counter window brackets one kernel, so this says nothing about idle time; take utilisation from the \
         timeline."
            .to_owned()
    });
    Ok(wire::GpuUtilizationOutput { gpu_utilization: share, unit: FRACTION, note })
}

fn l1_miss_rate(_: &Context, input: wire::L1MissRateInput) -> Result<wire::L1MissRateOutput, ErrorObject> {
    let requests = input.tcp_tcc_read_req;
    if let Some(accesses) = input.tcp_total_cache_accesses.filter(|accesses| *accesses > 0.0) {
        let all = requests + input.tcp_tcc_write_req.unwrap_or(0.0) + input.tcp_tcc_atomic_req.unwrap_or(0.0);
        if all > accesses {
            return Err(above_one("tcp_tcc_read_req", all, "tcp_total_cache_accesses", accesses));
        }
        return Ok(wire::L1MissRateOutput {
            l1_miss_rate: all / accesses,
            unit: FRACTION,
            method: wire::MissRateMethod::CacheAccesses,
            reliable: true,
            note: None,
        });
    }
    let reads = input.tcp_total_read.ok_or_else(|| {
        ErrorObject::invalid(
            "tcp_total_read",
            "The argument tcp_total_read is missing, and tcp_total_cache_accesses is not above 0.",
            "Send tcp_total_cache_accesses, or tcp_total_read for a rough figure.",
        )
    })?;
    if reads == 0.0 {
        return Err(zero_denominator("tcp_total_read"));
    }
    if requests > reads {
        return Err(above_one("tcp_tcc_read_req", requests, "tcp_total_read", reads));
    }
    Ok(wire::L1MissRateOutput {
        l1_miss_rate: requests / reads,
        unit: FRACTION,
        method: wire::MissRateMethod::ReadRequests,
        reliable: false,
        note: Some(
            "The two counters have different granularity; send tcp_total_cache_accesses for a reliable rate."
                .to_owned(),
        ),
    })
}

fn l2_hit_rate(_: &Context, input: wire::L2HitRateInput) -> Result<wire::L2HitRateOutput, ErrorObject> {
    let all = input.tcc_hit + input.tcc_miss;
    if all == 0.0 {
        return Err(ErrorObject::invalid(
            "tcc_hit",
            "tcc_hit and tcc_miss are both 0, so there is nothing to divide by.",
            "Send the counts of a dispatch that accessed memory.",
        )
        .value("0"));
    }
    Ok(wire::L2HitRateOutput { l2_hit_rate: input.tcc_hit / all, unit: FRACTION })
}

fn hbm_bandwidth(
    _: &Context,
    input: wire::HbmBandwidthInput,
) -> Result<wire::HbmBandwidthOutput, ErrorObject> {
    let device = match &input.gfx_id {
        Some(gfx_id) => Some(device::device(gfx_id, input.sku.as_deref(), input.cu_count)?),
        None => None,
    };
    let bytes_per_ns = |kib: f64, ns: f64| kib * KIB / ns;
    // A byte per nanosecond is 1e9 bytes per second. Passes of different runs have durations of their own.
    let gb_per_s = match input.write_duration_ns {
        None => bytes_per_ns(input.fetch_kib + input.write_kib, input.duration_ns),
        Some(write_ns) => {
            bytes_per_ns(input.fetch_kib, input.duration_ns) + bytes_per_ns(input.write_kib, write_ns)
        }
    };
    if !gb_per_s.is_finite() {
        return Err(ErrorObject::invalid(
            "duration_ns",
            "The sizes over the duration exceed what a number can hold.",
            "Send KiB and ns of one dispatch.",
        )
        .value(&input.duration_ns.to_string()));
    }
    let mut output = wire::HbmBandwidthOutput {
        gb_per_s,
        gib_per_s: gb_per_s * 1e9 / (KIB * KIB * KIB),
        utilization: None,
        utilization_reason: None,
        peak_gb_per_s: None,
        peak_gb_per_s_reason: None,
        note: None,
    };
    let Some(device) = device else {
        output.utilization_reason = Some("gfx_id was not given".to_owned());
        output.peak_gb_per_s_reason = Some("gfx_id was not given".to_owned());
        return Ok(output);
    };
    let peak = device.sku.bandwidth_bytes_per_s() / 1e9;
    let mut notes = device.notes;
    output.peak_gb_per_s = Some(peak);
    if gb_per_s > peak {
        output.utilization_reason = Some("it would exceed 1".to_owned());
        notes.push(format!(
            "{gb_per_s:.1} GB/s is above the peak of {} ({peak:.1} GB/s): check sizes, duration and product.",
            device.sku.sku
        ));
    } else {
        output.utilization = Some(gb_per_s / peak);
    }
    if device.sku.infinity_cache_mib.is_some() {
        notes.push(
            "This is traffic from the L2 to the fabric; part of it may be served by the Infinity Cache."
                .to_owned(),
        );
    }
    output.note = (!notes.is_empty()).then(|| notes.join(" "));
    Ok(output)
}

fn latency(_: &Context, input: wire::LatencyInput) -> Result<wire::LatencyOutput, ErrorObject> {
    use wire::LevelCounter::{Lds, Vmem};
    let (accumulated, vmem, lds) = (input.accum_prev_hires, input.insts_vmem, input.insts_lds);
    let mean_in_flight = (input.busy_cycles > 0.0).then(|| accumulated / input.busy_cycles);
    let mut output = wire::LatencyOutput {
        vmem_latency_cycles: None,
        vmem_latency_cycles_reason: None,
        lds_latency_cycles: None,
        lds_latency_cycles_reason: None,
        busy_ratio: None,
        busy_ratio_reason: "no such ratio exists in these inputs",
        mean_in_flight,
        mean_in_flight_reason: mean_in_flight.is_none().then(|| "busy_cycles is 0".to_owned()),
        note: None,
    };
    let level = match input.level_counter {
        _ if vmem == 0.0 && lds == 0.0 => {
            // Loops over kernels must not fail on one without memory instructions.
            output.vmem_latency_cycles = Some(0.0);
            output.lds_latency_cycles = Some(0.0);
            output.note = Some("No vector-memory or LDS instruction was issued.".to_owned());
            return Ok(output);
        }
        Some(level) => level,
        None if vmem > 0.0 && lds > 0.0 => {
            const AMBIGUOUS: &str = "ambiguous: say which level counter was accumulated";
            output.vmem_latency_cycles_reason = Some(AMBIGUOUS.to_owned());
            output.lds_latency_cycles_reason = Some(AMBIGUOUS.to_owned());
            return Ok(output);
        }
        None if vmem > 0.0 => Vmem,
        None => Lds,
    };
    let mean = |issued: f64| (issued > 0.0).then(|| accumulated / issued);
    let reason = |value: Option<f64>, of_this: bool, kind: &str| {
        value.is_none().then(|| {
            if of_this {
                format!("no {kind} instruction was issued")
            } else {
                "the accumulator belongs to the other level counter".to_owned()
            }
        })
    };
    output.vmem_latency_cycles = if level == Vmem { mean(vmem) } else { None };
    output.vmem_latency_cycles_reason = reason(output.vmem_latency_cycles, level == Vmem, "vector-memory");
    output.lds_latency_cycles = if level == Lds { mean(lds) } else { None };
    output.lds_latency_cycles_reason = reason(output.lds_latency_cycles, level == Lds, "LDS");
    Ok(output)
}
