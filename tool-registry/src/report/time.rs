//! Where the time went, and the GPUs it went to.

use perfxpert_schemas::report::meta::{Gpu, ProfilingInfo};
use perfxpert_schemas::report::time::{AgentTime, ExecutionBreakdown, TimeBreakdown, TimeFigures};

use super::measured::Measured;

pub(super) fn gpus(measured: &Measured<'_>) -> Vec<Gpu> {
    let agents = measured.run.profile.agents.iter();
    measured
        .gpus
        .iter()
        .zip(agents)
        .enumerate()
        .map(|(index, (gpu, agent))| Gpu {
            index: index as u64,
            gfx_id: gpu.gfx_id.clone(),
            name: gpu.name.clone(),
            cu_count: gpu.cu_count.map(u64::from),
            xcc_count: gpu.xcc_count.map(u64::from),
            wave_size: gpu.wave_size.map(u64::from),
            max_waves_per_cu: gpu.max_waves_per_cu.map(u64::from),
            lds_bytes_per_cu: gpu.lds_per_cu.map(|bytes| bytes.0),
            clock_mhz: gpu.clock_mhz.map(u64::from),
            memory_bytes: gpu.memory.map(|bytes| bytes.0),
            hbm_peak_bytes_per_s: gpu.hbm_peak.map(|peak| peak.0),
            host_link_peak_gbps: gpu.host_link_peak_gbps(),
            sku_source: gpu.sku_source.label().to_owned(),
            machine: gpu.machine.get() as u64,
            processes: agent.processes.len() as u64,
        })
        .collect()
}

pub(super) fn profiling_info(measured: &Measured<'_>, tier: u64) -> ProfilingInfo {
    let (trace, profile) = (&measured.run.trace, &measured.run.profile);
    let mode = if measured.has_counter_rows() { "sys_trace_with_counters" } else { "sys_trace_only" };
    ProfilingInfo {
        total_duration_ns: profile.total_runtime().0,
        profiling_mode: mode.to_owned(),
        analysis_tier: tier,
        gpus: measured.gpus.iter().map(|gpu| gpu.gfx_id.clone()).collect(),
        processes: trace.processes().len() as u64,
        files: trace.sources().len() as u64,
        dispatches: profile.rows.dispatches,
        copies: profile.rows.copies,
    }
}

fn agents(measured: &Measured<'_>) -> Vec<AgentTime> {
    measured
        .run
        .profile
        .agents
        .iter()
        .zip(&measured.gpus)
        .enumerate()
        .map(|(index, (agent, gpu))| {
            let (times, parts) = (&agent.times, agent.times.parts);
            let [kernel, copy, api, idle] = parts.percentages().map(|share| share.value());
            AgentTime {
                agent: index as u64,
                gfx_id: gpu.gfx_id.clone(),
                window_start_ns: measured.since_start(agent.machine, times.window_start),
                window_ns: parts.window().0,
                kernel_ns: parts.kernel.0,
                kernel_pct: kernel,
                exposed_copy_ns: parts.exposed_copy.0,
                exposed_copy_pct: copy,
                exposed_api_ns: parts.host_api.0,
                exposed_api_pct: api,
                idle_ns: parts.idle.0,
                idle_pct: idle,
                summed_kernel_ns: times.kernel_sum().0,
                overlapped_copy_ns: times.overlap.0,
                concurrent_kernel_ns: times.kernel_sum().saturating_sub(parts.kernel).0,
                dispatches: times.dispatches,
                copies: times.copies,
            }
        })
        .collect()
}

pub(super) fn breakdown(measured: &Measured<'_>) -> (TimeBreakdown, ExecutionBreakdown) {
    let profile = &measured.run.profile;
    let parts = profile.parts();
    let [kernel, copy, api, idle] = parts.percentages().map(|share| share.value());
    let per_agent = agents(measured);
    let kernel_sum = measured.sum(|times| times.kernel_sum());
    let copy_sum: u64 = profile.copies.iter().map(|copies| copies.durations.total.0).sum();
    let overlap = measured.sum(|times| times.overlap).0;
    let window = parts.window().0;
    let flat = TimeFigures {
        total_runtime: profile.total_runtime().0,
        total_kernel_time: profile.kernel_sum().0,
        total_memcpy_time: copy_sum,
        kernel_percent: kernel,
        memcpy_percent: copy,
        overhead_percent: api,
        idle_percent: idle,
        kernel_busy_ns: parts.kernel.0,
        exposed_memcpy_ns: parts.exposed_copy.0,
        host_api_ns: parts.host_api.0,
        idle_ns: parts.idle.0,
        overlap_ns: overlap,
        kernel_count: profile.rows.dispatches,
        copy_count: profile.rows.copies,
        normalized_runtime: (measured.run.trace.sources().len() > 1).then_some(window),
        agents: per_agent.clone(),
    };
    let whole = ExecutionBreakdown {
        total_runtime_ns: profile.total_runtime().0,
        normalized_runtime_ns: window,
        kernel_time_ns: parts.kernel.0,
        kernel_time_pct: kernel,
        memcpy_time_ns: parts.exposed_copy.0,
        memcpy_time_pct: copy,
        api_overhead_ns: parts.host_api.0,
        api_overhead_pct: api,
        idle_time_ns: parts.idle.0,
        idle_time_pct: idle,
        api_known: profile.host.api_known,
        summed_kernel_ns: kernel_sum.0,
        summed_copy_ns: copy_sum,
        overlapped_copy_ns: overlap,
        concurrent_kernel_ns: kernel_sum.saturating_sub(parts.kernel).0,
        per_agent_total: per_agent.len() as u64,
        per_agent,
    };
    (TimeBreakdown { figures: Some(flat) }, whole)
}
