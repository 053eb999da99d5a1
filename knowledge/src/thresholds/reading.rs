//! Thresholds of the verdict, trace health, gap causes and hotspots.

use super::namespace;

namespace! {
    /// Evidence limits of the verdict on a run. Limits shared with the signatures live in `thresholds/bottleneck`.
    verdict in "thresholds/verdict" {
        exposed_copy_share: f64 = "thresholds/bottleneck#memory_transfer.memcpy_pct", "Exposed copy share of the window, fraction.";
        hbm_share: f64 = "thresholds/bottleneck#memory_transfer.hbm_bw_utilization", "Share of peak HBM bandwidth that bounds by itself, fraction.";
        hbm_share_below_ridge: f64 = "hbm_share_below_ridge", "Share of peak HBM bandwidth that bounds on the memory side of the roofline.";
        exposed_peer_copy_share: f64 = "exposed_peer_copy_share", "Share of the window with only GPU-to-GPU copies.";
        valu_share: f64 = "thresholds/bottleneck#compute.valu_util_pct", "VALU utilisation that bounds by itself, fraction.";
        mfma_share: f64 = "thresholds/bottleneck#compute.mfma_util_pct", "MFMA utilisation that bounds by itself, fraction.";
        compute_share_above_ridge: f64 = "compute_share_above_ridge", "Utilisation that bounds on the compute side of the roofline.";
        short_kernel_us: f64 = "thresholds/bottleneck#api_overhead.avg_kernel_duration_us", "Median duration of the hot kernels below which launches matter, microseconds.";
        many_dispatches: u64 = "thresholds/bottleneck#api_overhead.total_kernel_calls", "Dispatches above which launches matter.";
        host_and_idle_share: f64 = "host_and_idle_share", "Host and idle share of the window that makes a run latency-bound.";
        launch_part: f64 = "launch_part", "Part of host and idle time inside host calls for launch overhead.";
        sync_part: f64 = "sync_part", "Part of host and idle time inside or right after blocking calls.";
        idle_share: f64 = "idle_share", "Idle share of the window not explained by launches or waits.";
        low_occupancy: f64 = "low_occupancy", "Share of the waves the chip can hold below which occupancy is low.";
        low_occupancy_busy: f64 = "low_occupancy_busy", "Utilisation above which low occupancy is not the limit.";
        exposed_collective_share: f64 = "exposed_collective_share", "Share of the window with only collective kernels.";
        kernel_dominated: f64 = "kernel_dominated", "Kernel share from which a run without counters cannot be judged.";
        min_support: f64 = "min_support", "Support a label needs.";
        mixed_distance: f64 = "mixed_distance", "Support within which two labels of different type are mixed.";
        mixed_confidence: f64 = "mixed_confidence", "Largest confidence of a mixed verdict.";
        hot_coverage: f64 = "hot_coverage", "Share of kernel time the hot kernels of a verdict cover.";
        health_warning: f64 = "health_warning", "Factor on confidence with a warning in the trace health.";
        health_data_loss: f64 = "health_data_loss", "Factor on confidence with data loss.";
        share_sum_tolerance: f64 = "share_sum_tolerance", "Deviation from 1 of the four window shares given by a caller.";
    }
}

namespace! {
    /// Plausibility of the rows of a trace.
    health in "thresholds/health" {
        absurd_duration_ns: u64 = "absurd_duration_ns", "Duration above which an interval is not believed.";
        absurd_timestamp_ns: u64 = "absurd_timestamp_ns", "Timestamp from which it is not believed.";
        absurd_span_factor: f64 = "absurd_span_factor", "Multiple of the span of all other events above which a duration is not believed.";
        absurd_span_events: u64 = "absurd_span_events", "Other valid events needed for that check.";
        short_trace_ns: u64 = "short_trace_ns", "Window below which start-up dominates a trace.";
        graph_launches: u64 = "graph_launches", "Graph launches from which missing kernels are looked for.";
        graph_kernels_per_launch: f64 = "graph_kernels_per_launch", "Kernels per graph launch below which the capture looks incomplete.";
        partial_counters: f64 = "partial_counters", "Share of a kernel's dispatches with counters below which they are partial.";
        left_out_rows: f64 = "left_out_rows", "Share of rows left out above which a run is degraded for a comparison.";
        clock_skew_ns: u64 = "clock_skew_ns", "Offset between sources above which their clocks are not shared.";
        overlong_followers: u64 = "overlong_followers", "Later dispatches of its queue inside a dispatch before its end is doubted.";
        overlong_ratio: f64 = "overlong_ratio", "Multiple of the median of its kernel such a dispatch must last.";
        overlong_calls: u64 = "overlong_calls", "Calls of that kernel needed to judge it.";
        overhead_share: f64 = "overhead_share", "Share of the window in the profiler's own calls worth mentioning.";
        counter_window_ns: u64 = "counter_window_ns", "Time by which the window of the counters may exceed the kernel.";
        clock_factor: f64 = "clock_factor", "Multiple of the highest clock above which counted cycles are not believed.";
    }
}

namespace! {
    /// Causes of the gaps between GPU work.
    gap in "thresholds/gap" {
        queue_lead_ns: u64 = "queue_lead_ns", "Time before a gap by which the next work must have been queued.";
        short_ns: u64 = "short_ns", "Gap a blocking call explains however little of it is covered.";
        cover: f64 = "cover", "Part of a gap calls must cover to be its cause.";
    }
}

namespace! {
    /// Severity, warm-up and quantiles of kernels.
    hotspots in "thresholds/hotspots" {
        critical_pct: f64 = "critical_pct", "Share of summed kernel time from which a kernel is CRITICAL.";
        hot_pct: f64 = "hot_pct", "Share from which it is HOT.";
        warm_pct: f64 = "warm_pct", "Share from which it is WARM.";
        short_kernel_ns: u64 = "short_kernel_ns", "Duration below which a call is short.";
        warmup_extra_ns: u64 = "warmup_extra_ns", "Extra time of the first call above which it is an outlier.";
        exact_quantile_calls: u64 = "exact_quantile_calls", "Calls of one kernel up to which quantiles are exact.";
        quantile_rank_error: f64 = "quantile_rank_error", "Rank error of the sketch above that.";
        long_name_bytes: u64 = "long_name_bytes", "Name length above which tables show a short form.";
    }
}
