//! Thresholds of the report, of comparisons and of the CI gate.

use super::namespace;

namespace! {
    /// Triggers and priorities of the recommendations.
    report in "thresholds/report" {
        copies_small_bytes: u64 = "copies.small_bytes", "Size below which a copy is small.";
        copies_large_bytes: u64 = "copies.large_bytes", "Size from which a copy shows the speed of its link.";
        copies_exposed_min_pct: f64 = "copies.exposed_min_pct", "Exposed copy share of the run that is advised on.";
        copies_small_min_count: u64 = "copies.small_min_count", "Number of small copies that is advised on.";
        copies_small_min_pct: f64 = "copies.small_min_pct", "Exposed share of small copies that is advised on.";
        copies_link_low_ratio: f64 = "copies.link_low_ratio", "Share of the link peak below which large copies are slow.";
        copies_link_achievable_ratio: f64 = "copies.link_achievable_ratio", "Share of the link peak large copies can reach.";
        copies_both_ways_share: f64 = "copies.both_ways_share", "Overlap of both directions above which the link is shared.";
        copies_split_bytes: u64 = "copies.split_bytes", "Largest piece the runtime splits pageable copies into.";
        launch_short_ns: u64 = "launch.short_ns", "Median duration below which launches matter.";
        launch_min_dispatches: u64 = "launch.min_dispatches", "Dispatches from which launches matter.";
        gaps_min_pct: f64 = "gaps.min_pct", "Share of the run a gap cause must take to be advised on.";
        idle_min_pct: f64 = "idle.min_pct", "Unexplained idle share of the run that is advised on.";
        fusion_min_saving_pct: f64 = "fusion.min_saving_pct", "Sum of fusion savings that is advised on.";
        fusion_max_gap_ns: u64 = "fusion.max_gap_ns", "Largest gap inside a fusion pair of the report.";
        fusion_min_count: u64 = "fusion.min_count", "Smallest number of occurrences of a fusion pair of the report.";
        warmup_ratio: f64 = "warmup.ratio", "First call over the median of the rest above which it is an outlier.";
        warmup_min_calls: u64 = "warmup.min_calls", "Calls needed to judge a warm-up.";
        warmup_min_extra_pct: f64 = "warmup.min_extra_pct", "Extra time of the run that is advised on.";
        imbalance_min_pct: f64 = "imbalance.min_pct", "Kernel time above the mean of the GPUs that is advised on.";
        imbalance_common_share: f64 = "imbalance.common_share", "Common kernel time that says all GPUs run the same program.";
        comm_exposed_min_pct: f64 = "comm.exposed_min_pct", "Exposed collective share of the run that is advised on.";
        comm_poor_pct: f64 = "comm.poor_pct", "Efficiency of large messages below which they are slow.";
        comm_large_bytes: u64 = "comm.large_bytes", "Size above which a message shows the speed of its link.";
        comm_slow_min_pct: f64 = "comm.slow_min_pct", "Exposed share of slow large messages that is advised on.";
        comm_good_pct: f64 = "comm.good_pct", "Efficiency slow messages could reach.";
        hotspot_dominant_pct: f64 = "hotspot.dominant_pct", "Share of kernel time above which one unexplained kernel is named.";
        occupancy_low_pct: f64 = "occupancy.low_pct", "Theoretical occupancy up to which it is low.";
        occupancy_latency_bound_ratio: f64 = "occupancy.latency_bound_ratio", "Achieved over theoretical waves from which residency is the limit.";
        hbm_high_ratio: f64 = "hbm.high_ratio", "Share of peak HBM bandwidth from which a kernel is memory-bound.";
        valu_high_ratio: f64 = "valu.high_ratio", "VALU utilisation from which a kernel is compute-bound.";
        mfma_high_ratio: f64 = "mfma.high_ratio", "MFMA utilisation from which a kernel is compute-bound.";
        under_valu_ratio: f64 = "under.valu_ratio", "VALU utilisation below which a kernel waits.";
        under_mfma_ratio: f64 = "under.mfma_ratio", "MFMA utilisation below which a kernel waits.";
        under_hbm_ratio: f64 = "under.hbm_ratio", "Share of peak HBM bandwidth below which a kernel waits.";
        l2_low_ratio: f64 = "l2.low_ratio", "L2 hit rate below which it is poor.";
        l2_hbm_min_ratio: f64 = "l2.hbm_min_ratio", "Share of peak HBM bandwidth from which a poor L2 hit rate matters.";
        lds_stall_min_pct: f64 = "lds.stall_min_pct", "Share of a kernel's time in LDS conflicts that is advised on.";
        coalesce_low_ratio: f64 = "coalesce.low_ratio", "Coalescing below which it is poor.";
        coalesce_floor_ratio: f64 = "coalesce.floor_ratio", "Coalescing assumed at least when a gain is computed.";
        coalesce_lines_per_access: f64 = "coalesce.lines_per_access", "vL1 lines per wave access that show uncoalesced access.";
        wave_waste_min_ratio: f64 = "wave.waste_min_ratio", "Share of idle lanes that is advised on.";
        compute_lane_low_ratio: f64 = "compute.lane_low_ratio", "Lane efficiency below which lanes can be won.";
        compute_many_vgprs: u64 = "compute.many_vgprs", "Registers above which reducing them is named.";
        compute_few_waves: u64 = "compute.few_waves", "Waves per SIMD up to which reducing registers is named.";
        matrix_valu_min_ratio: f64 = "matrix.valu_min_ratio", "VALU utilisation from which unused matrix units matter.";
        grid_beside_share: f64 = "grid.beside_share", "Share of a small kernel's time beside other kernels from which it does not matter.";
        att_ratio: f64 = "att.ratio", "Stall over latency of the top instruction that is advised on.";
        att_min_hits: u64 = "att.min_hits", "Hits of the top instruction that is advised on.";
        att_share_min: f64 = "att.share_min", "Share of a kernel's latency cycles in one category that is advised on.";
        att_high_ratio: f64 = "att.high_ratio", "Stall ratio of the top row that makes a kernel a high-stall kernel.";
        code_demote_below_pct: f64 = "code.demote_below_pct", "Share of the run below which a code pattern is only information.";
        code_confidence: f64 = "code.confidence", "Confidence of a recommendation made from the source alone.";
        priority_high_pct: f64 = "priority.high_pct", "Gain from which a recommendation is HIGH.";
        priority_medium_pct: f64 = "priority.medium_pct", "Gain from which it is MEDIUM.";
        priority_low_pct: f64 = "priority.low_pct", "Gain below which it is not made.";
        confidence_unknown_penalty: f64 = "confidence.unknown_penalty", "Taken from the confidence per unknown precondition.";
        confidence_floor: f64 = "confidence.floor", "Least confidence.";
        kernels_min_share_pct: f64 = "kernels.min_share_pct", "Share of the run from which kernel rules look at a kernel.";
        kernels_per_rule: u64 = "kernels.per_rule", "Most kernels one rule names.";
        kernels_max_unknown: u64 = "kernels.max_unknown", "Most unknown preconditions of an emitted recommendation.";
    }
}

namespace! {
    /// When two runs can be compared.
    comparability in "thresholds/comparability" {
        common_time: f64 = "common_time", "Share of kernel time in common kernels below which the kernel set changed.";
        common_names: f64 = "common_names", "Share of common kernel names below which the kernel set changed.";
        less_work: f64 = "less_work", "Work-items of the candidate over the baseline below which it did less work.";
        more_work: f64 = "more_work", "Work-items of the candidate over the baseline above which it did more work.";
        calls_differ: f64 = "calls_differ", "Difference in dispatches that is noted.";
        impossible_speed: f64 = "impossible_speed", "Multiple of the peak memory rate no kernel can reach.";
        degraded_rows: f64 = "degraded_rows", "Share of dispatch rows left out that blocks a pass.";
        runs_common_time: f64 = "runs_common_time", "Common kernel time below which runs of one side disagree.";
    }
}

namespace! {
    /// The regression gate of a CI job.
    ci in "thresholds/ci" {
        threshold_pct: f64 = "threshold_pct", "Default change of elapsed time the gate tolerates.";
        min_time_share_pct: f64 = "min_time_share_pct", "Default share of kernel time from which a kernel is gated.";
        confidence_pct: f64 = "confidence_pct", "Default confidence of the interval.";
        min_arrangements: u64 = "min_arrangements", "Arrangements of the runs needed for a 90 % interval.";
        runs_for_interval: u64 = "runs_for_interval", "Runs per side that give an interval.";
        max_runs: u64 = "max_runs", "Most runs per side.";
    }
}
