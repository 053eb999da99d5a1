//! Copies, host calls and the gaps of the GPUs.

use perfxpert_analysis::profile::{CALL_CLASSES, CopyProfile, GapCause, Neighbour};
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::{BytesPerSecond, Nanos, Percent};
use perfxpert_schemas::report::CopyRows;
use perfxpert_schemas::report::sections::{
    ApiCall, ApiFamily, ApiOverhead, CopyRow, GapCause as CauseRow, GapCauses, Gaps, IntervalTimeline,
    LargeGap, Latency, SyncTotals,
};
use perfxpert_trace::Direction;

use super::measured::{Measured, one_decimal, percent, whole};

/// Host calls of a full report.
const CALLS: usize = 50;

pub(super) fn copies(measured: &Measured<'_>) -> CopyRows {
    let rows = measured.run.profile.copies.iter();
    CopyRows(rows.map(|copies| (copies.direction.label().to_owned(), copy(measured, copies))).collect())
}

fn copy(measured: &Measured<'_>, copies: &CopyProfile) -> CopyRow {
    let gbps = |rate: BytesPerSecond| round(rate.gbps(), 4);
    let gpu = measured.gpus.first();
    let peak = match copies.direction {
        Direction::HostToDevice | Direction::DeviceToHost => gpu.and_then(|gpu| gpu.host_link_peak_gbps()),
        Direction::Peer => gpu.and_then(|gpu| gpu.peer_link_peak_gbps()),
        _ => None,
    };
    let large = copies.large_bandwidth();
    CopyRow {
        count: copies.durations.count,
        total_bytes: copies.bytes.0,
        total_duration_ns: copies.durations.total.0,
        avg_bytes: one_decimal(copies.mean_bytes()),
        avg_duration_ns: one_decimal(copies.durations.mean()),
        busy_ns: copies.busy.0,
        bandwidth_gbps: copies.bandwidth().map(gbps),
        exposed_ns: copies.exposed.0,
        exposed_pct: measured.of_run(copies.exposed),
        small_count: copies.small.count,
        small_exposed_ns: copies.small.exposed.0,
        large_count: copies.large.count,
        large_bandwidth_gbps: large.map(gbps),
        link_peak_gbps: peak,
        link_utilization_pct: link_use(large, peak).filter(|percent| *percent <= 100.0),
    }
}

fn link_use(rate: Option<BytesPerSecond>, peak_gbps: Option<f64>) -> Option<f64> {
    let (rate, peak) = (rate?, peak_gbps.filter(|peak| *peak > 0.0)?);
    Some(round(rate.gbps() / peak * 100.0, 2))
}

/// Directions whose large copies seem faster than their link: label, rate and peak, GB/s.
pub(super) fn too_fast(measured: &Measured<'_>) -> Vec<(String, f64, f64)> {
    let rows = copies(measured).0.into_iter();
    rows.filter_map(|(label, row)| {
        let (rate, peak) = (row.large_bandwidth_gbps?, row.link_peak_gbps?);
        (row.link_utilization_pct.is_none()).then_some((label, rate, peak))
    })
    .collect()
}

pub(super) fn api(measured: &Measured<'_>) -> ApiOverhead {
    let profile = &measured.run.profile;
    let host = &profile.host;
    let mut calls: Vec<ApiCall> = profile
        .calls
        .iter()
        .filter(|call| call.host_api)
        .map(|call| ApiCall {
            name: call.text.to_string(),
            family: call.class.as_str().to_owned(),
            calls: call.calls,
            total_ns: call.total.0,
            avg_ns: one_decimal((call.calls > 0).then(|| call.total.as_f64() / call.calls as f64)),
            max_ns: call.max.0,
            exposed_ns: call.exposed.0,
        })
        .collect();
    let total = calls.len() as u64;
    calls.truncate(CALLS);
    let families =
        CALL_CLASSES.iter().zip(&host.classes).filter(|(_, sum)| sum.calls > 0).map(|(class, sum)| {
            let row = ApiFamily { calls: sum.calls, total_ns: sum.total.0, exposed_ns: sum.exposed.0 };
            (class.as_str().to_owned(), row)
        });
    let sync = profile.gaps.of(GapCause::Sync);
    let launch = host.classes.first().copied().unwrap_or_default();
    ApiOverhead {
        has_api_data: host.api_known,
        total_api_ns: host.total.0,
        launch_overhead_ns: launch.total.0,
        exposed_api_ns: profile.parts().host_api.0,
        api_calls: calls,
        api_calls_total: total,
        families: families.collect(),
        sync: SyncTotals { blocking_calls: host.blocking_calls, gap_ns: sync.total.0, gaps: sync.count },
        launch_latency_ns: (host.launch_latency.count > 0)
            .then(|| Latency { median: whole(host.launch_latency.median), p95: host.launch_latency.p95.0 }),
    }
}

pub(super) fn timeline(measured: &Measured<'_>) -> IntervalTimeline {
    let profile = &measured.run.profile;
    let parts = profile.parts();
    let [kernel, copy, api, idle] = parts.percentages().map(Percent::value);
    let share = |part: Nanos, whole: Nanos| (whole > Nanos::ZERO).then(|| percent(part, whole));
    let kernel_sum = measured.sum(|times| times.kernel_sum());
    let lengths = &profile.gaps.lengths;
    let mut by_cause: Vec<(String, CauseRow)> = GapCause::ALL
        .into_iter()
        .map(|cause| (cause, profile.gaps.of(cause)))
        .filter(|(_, total)| total.count > 0)
        .map(|(cause, total)| {
            let row =
                CauseRow { count: total.count, total_ns: total.total.0, pct: measured.of_run(total.total) };
            (cause.label().to_owned(), row)
        })
        .collect();
    by_cause.sort_by_key(|(_, row)| std::cmp::Reverse(row.total_ns));
    let slices = profile.timeline.slices.iter().map(|slice| {
        let whole = slice.window();
        [slice.kernel, slice.exposed_copy, slice.host_api, slice.idle]
            .map(|part| round(part.fraction_of(whole).unwrap_or(0.0) * 100.0, 1))
            .to_vec()
    });
    IntervalTimeline {
        window_ns: parts.window().0,
        true_compute_pct: kernel,
        exposed_memcpy_pct: copy,
        exposed_api_pct: api,
        idle_pct: idle,
        exposed_communication_pct: measured.of_run(measured.sum(|times| times.exposed_collective)),
        copy_overlap_pct: share(measured.sum(|times| times.overlap), measured.sum(|times| times.copy_busy)),
        concurrent_kernel_pct: share(kernel_sum.saturating_sub(parts.kernel), kernel_sum),
        gaps: Gaps {
            count: lengths.count,
            total_ns: lengths.total.0,
            max_ns: lengths.max.0,
            p50_ns: lengths.p50.0,
            p95_ns: lengths.p95.0,
            by_cause: GapCauses(by_cause),
            largest: largest(measured),
        },
        buckets: Some(slices.collect()),
    }
}

fn largest(measured: &Measured<'_>) -> Vec<LargeGap> {
    let (trace, profile) = (&measured.run.trace, &measured.run.profile);
    let beside = |work: Neighbour| match work {
        Neighbour::Kernel(kernel) => trace.kernel(kernel).map(|kernel| kernel.name.to_string()),
        Neighbour::Copy(direction) => Some(format!("{} copy", direction.label())),
    };
    profile
        .gaps
        .largest
        .iter()
        .map(|gap| {
            let agent = profile.agents.iter().find(|agent| agent.agent == gap.agent);
            LargeGap {
                agent: measured.gpu_index(gap.agent),
                start_ns: agent.map_or(0, |agent| measured.since_start(agent.machine, gap.start)),
                duration_ns: gap.length.0,
                cause: gap.cause.label().to_owned(),
                before: beside(gap.before),
                after: beside(gap.after),
                call: gap.call.and_then(|name| trace.name(name)).map(|name| name.text.to_string()),
            }
        })
        .collect()
}
