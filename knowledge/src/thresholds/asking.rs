//! Thresholds of the single tools.

use super::namespace;

namespace! {
    /// Severity of stall ratios from thread trace and PC sampling.
    att in "thresholds/att" {
        critical: f64 = "critical", "Stall ratio from which an instruction is critical, fraction.";
        high: f64 = "high", "Stall ratio from which it is high, fraction.";
        medium: f64 = "medium", "Stall ratio from which it is medium, fraction.";
        min_hits: u64 = "min_hits", "Wave executions from which a ratio is reliable.";
    }
}

namespace! {
    /// Shares of runtime that make a kernel worth optimising.
    amdahl in "thresholds/amdahl" {
        high: f64 = "high", "Share of runtime from which a kernel is of high priority.";
        low: f64 = "low", "Share below which it is of low priority.";
        speedup_table: Vec<f64> = "speedup_table", "Local speed-ups of the example table.";
    }
}

namespace! {
    /// Hit rates of the vector L1 and the L2, and when misses matter.
    cache in "thresholds/cache" {
        l1_good: f64 = "l1_good", "L1 hit rate from which it is good.";
        l1_warn: f64 = "l1_warn", "L1 hit rate below which it is critical.";
        l2_good: f64 = "l2_good", "L2 hit rate from which it is good.";
        l2_warn: f64 = "l2_warn", "L2 hit rate below which it is critical.";
        impact_likely: f64 = "impact_likely", "Share of peak HBM bandwidth from which misses are likely to cost time.";
        impact_unlikely: f64 = "impact_unlikely", "Share of peak HBM bandwidth below which they are not.";
    }
}

namespace! {
    /// Order graph of GPU work.
    dag in "thresholds/dag" {
        min_gap_ns: u64 = "min_gap_ns", "Shortest gap counted as a bubble.";
        host_call_cover: f64 = "host_call_cover", "Part of a gap a host call must cover to be named as its cause.";
        max_parent_steps: u64 = "max_parent_steps", "Enclosing calls followed from a GPU item to its API call.";
    }
}

namespace! {
    /// Pairs of short kernels worth fusing.
    fusion in "thresholds/fusion" {
        short_ns: u64 = "short_ns", "Mean duration below which a kernel is short.";
        max_gap_ns: u64 = "max_gap_ns", "Default largest gap inside a pair.";
        min_count: u64 = "min_count", "Default smallest number of occurrences of a pair.";
        repeat_run: u64 = "repeat_run", "Launches of one kernel in a row that count as a repeated run.";
        speedup_cap: f64 = "speedup_cap", "Largest speed-up promised for a pair.";
        confidence_base: f64 = "confidence_base", "Confidence of a pair that only follows closely.";
        confidence_pattern: f64 = "confidence_pattern", "Added when the names form a known fusable pattern.";
        confidence_shape: f64 = "confidence_shape", "Added when grid and workgroup agree.";
        confidence_count: f64 = "confidence_count", "Added when the pair is frequent.";
        confidence_max: f64 = "confidence_max", "Upper limit of the confidence.";
        same_shape_share: f64 = "same_shape_share", "Share of pairs that must agree in shape.";
        frequent_count: u64 = "frequent_count", "Occurrences from which a pair is frequent.";
        whole_word_letters: u64 = "whole_word_letters", "Longest pattern word that must be a whole token of the name.";
    }
}

namespace! {
    /// Plain arithmetic on counters.
    metrics in "thresholds/metrics" {
        window_saturated: f64 = "window_saturated", "GRBM ratio from which it says nothing about idle time.";
    }
}

namespace! {
    /// Advice on register reduction.
    occupancy in "thresholds/occupancy" {
        spill_low: f64 = "spill_low", "Share of registers given up at low spill risk.";
        spill_medium: f64 = "spill_medium", "Share of registers given up at medium spill risk.";
        not_bound_ratio: f64 = "not_bound_ratio", "Achieved over theoretical occupancy below which registers are not the limit.";
        workgroup_size: u64 = "workgroup_size", "Work-items per workgroup assumed when none is given.";
        max_workgroup_size: u64 = "max_workgroup_size", "Largest workgroup the hardware accepts, work-items.";
    }
}

namespace! {
    /// When an optimisation loop has stopped improving.
    plateau in "thresholds/plateau" {
        delta: f64 = "delta", "Relative change below which a step is flat.";
        window: u64 = "window", "Default number of last entries looked at.";
        window_max: u64 = "window_max", "Largest number of last entries looked at.";
    }
}

namespace! {
    /// When a loop hint is supported by evidence.
    pragma in "thresholds/pragma" {
        amdahl_gate_pct: f64 = "amdahl_gate_pct", "Share of kernel time below which no hint is given.";
        full_max_trip: u64 = "full_max_trip", "Largest trip count of a loop to unroll fully.";
        full_min_hotspot_pct: f64 = "full_min_hotspot_pct", "Share of kernel time from which full unrolling is suggested.";
        count_min_valu: f64 = "count_min_valu", "VALU utilisation above which partial unrolling is suggested.";
        count_max_vgpr: u64 = "count_max_vgpr", "Registers below which partial unrolling is suggested.";
        count_max_body: u64 = "count_max_body", "Instructions of the loop body below which it is suggested.";
        disable_vgpr_share: f64 = "disable_vgpr_share", "Share of the register limit from which unrolling is turned off.";
        disable_max_waves: u64 = "disable_max_waves", "Waves per SIMD up to which it is turned off.";
        default_max_vgpr: u64 = "default_max_vgpr", "Register limit assumed when no architecture is given.";
        confidence: f64 = "confidence", "Confidence of a hint in a report.";
        default_waves: u64 = "default_waves", "Waves per SIMD assumed when none is given.";
    }
}

namespace! {
    /// Which kernels matter in a trace.
    hot in "thresholds/hot" {
        coverage: f64 = "coverage", "Share of kernel time the hot kernels cover together.";
        min_share: f64 = "min_share", "Share of kernel time that makes a kernel hot by itself.";
    }
}

namespace! {
    /// Comparison of two runs.
    diff in "thresholds/diff" {
        total_limit_pct: f64 = "total_limit_pct", "Change of total kernel time a kernel-aware comparison tolerates.";
        kernel_limit_pct: f64 = "kernel_limit_pct", "Change of one hot kernel it tolerates.";
        wall_limit: f64 = "wall_limit", "Change of elapsed time it tolerates at least.";
        min_contribution: f64 = "min_contribution", "Share of total kernel time a hot regression must cost.";
        significance_factor: f64 = "significance_factor", "Standard errors two means must differ by.";
        call_ratio_low: f64 = "call_ratio_low", "Call ratio below which the runs did not do the same work.";
        call_ratio_high: f64 = "call_ratio_high", "Call ratio above which they did not.";
        call_ratio_tolerance: f64 = "call_ratio_tolerance", "Deviation of the call ratio from 1 from which calls are normalised.";
        elapsed_limit_pct: f64 = "elapsed_limit_pct", "Default change of elapsed time a readable diff tolerates.";
        row_limit_pct: f64 = "row_limit_pct", "Default change of one kernel that makes a row.";
        row_min_contribution_pct: f64 = "row_min_contribution_pct", "Share of kernel time that makes a kernel a row when it is not hot.";
        hot_coverage_pct: f64 = "hot_coverage_pct", "Default share of kernel time the hot kernels cover.";
    }
}

namespace! {
    /// Side of the roofline.
    roofline in "thresholds/roofline" {
        balanced: f64 = "balanced", "Relative distance to the ridge point within which a kernel is balanced.";
        estimate_factor: f64 = "estimate_factor", "Largest operations per counted vector instruction and lane.";
    }
}

namespace! {
    /// Speed of light: plausibility and utilisation buckets.
    sol in "thresholds/sol" {
        tolerance: f64 = "tolerance", "Excess over a peak that is still plausible.";
        rare: f64 = "rare", "Share of a peak that is rarely sustained.";
        high: f64 = "high", "Utilisation from which it is high; VALU, HBM, L2.";
        medium: f64 = "medium", "Utilisation from which it is medium; VALU, HBM, L2.";
        mfma_high: f64 = "mfma_high", "Matrix utilisation from which it is high.";
        mfma_medium: f64 = "mfma_medium", "Matrix utilisation from which it is medium.";
        occupancy_high: f64 = "occupancy_high", "Occupancy from which it is high.";
        occupancy_medium: f64 = "occupancy_medium", "Occupancy from which it is medium.";
    }
}

namespace! {
    /// Red flags of the application-level time breakdown.
    topdown in "thresholds/topdown" {
        memcpy_dominant: f64 = "memcpy_dominant", "Exposed copy share that is a red flag.";
        api_heavy: f64 = "api_heavy", "Exposed host share that is a red flag.";
        idle_heavy: f64 = "idle_heavy", "Idle share that is a red flag.";
        idle_high: f64 = "idle_high", "Idle share from which that flag is of high priority.";
    }
}

namespace! {
    /// Idle time and short-kernel waste.
    tracelens in "thresholds/tracelens" {
        idle_high: f64 = "idle_high", "Idle share from which it is high.";
        idle_medium: f64 = "idle_medium", "Idle share from which it is medium.";
        wasted_high: f64 = "wasted_high", "Share of kernel time in short kernels from which it is high.";
        wasted_medium: f64 = "wasted_medium", "Share of kernel time in short kernels from which it is medium.";
        short_kernel_us: f64 = "short_kernel_us", "Duration below which a kernel is short, microseconds.";
    }
}

namespace! {
    /// Host traffic, repeated copies and page migrations.
    paging in "thresholds/paging" {
        repeat: u64 = "repeat", "Copies of one size to one address that count as repeated.";
        small_bytes: u64 = "small_bytes", "Size below which a copy is small.";
        repeat_share: f64 = "repeat_share", "Share of the window repeated copies must take to be advised on.";
        exposed: f64 = "exposed", "Share of exposed host copies to be advised on.";
        small_share: f64 = "small_share", "Share of small copies among host copies to be advised on.";
        small_count: u64 = "small_count", "Number of small copies to be advised on.";
    }
}

namespace! {
    /// Bandwidth, regimes and stragglers of collectives.
    rccl in "thresholds/rccl" {
        fair: f64 = "fair", "Efficiency from which a collective is fair.";
        good: f64 = "good", "Efficiency from which it is good.";
        latency_bytes: u64 = "latency_bytes", "Message size below which a collective is latency-bound.";
        bandwidth_bytes: u64 = "bandwidth_bytes", "Message size above which it is bandwidth-bound.";
        ring_bytes: u64 = "ring_bytes", "Message size from which all-reduce is expected to use a ring.";
        node_ranks: u64 = "node_ranks", "Ranks that fit one node.";
        straggler_ranks: u64 = "straggler_ranks", "Ranks needed to look for a straggler.";
        straggler_collectives: u64 = "straggler_collectives", "Matched collectives needed to look for a straggler.";
        clock_samples: u64 = "clock_samples", "Most instances used to align the clocks of the ranks.";
        clock_percentile: f64 = "clock_percentile", "Percentile of the residual end times that is judged.";
        clock_residual: f64 = "clock_residual", "Residual over the median duration from which clocks are too uncertain.";
    }
}

namespace! {
    /// Heat and power limits.
    thermal in "thresholds/thermal" {
        tjmax_c: f64 = "tjmax_c", "Temperature limit assumed when none is given.";
        throttle_margin_c: f64 = "throttle_margin_c", "Distance to the limit that counts as throttling.";
        hot_margin_c: f64 = "hot_margin_c", "Distance to the limit that counts as hot.";
        power_ratio: f64 = "power_ratio", "Share of the power limit from which power throttling is suspected.";
        clock_busy_pct: f64 = "clock_busy_pct", "Activity from which a sample counts for the clock drop.";
        clock_min_samples: u64 = "clock_min_samples", "Busy samples needed for a clock drop.";
        p95: f64 = "p95", "Percentile shown beside mean and maximum.";
    }
}

namespace! {
    /// Routing of a sentence without a model.
    intent in "thresholds/intent" {
        further_rule: f64 = "further_rule", "Added to a score per further matching rule.";
        score_max: f64 = "score_max", "Largest score.";
        close: f64 = "close", "Distance to the runner-up below which the answer is unsure.";
        close_penalty: f64 = "close_penalty", "Taken from the confidence then.";
        fallback: f64 = "fallback", "Confidence when nothing matched.";
    }
}

namespace! {
    /// How sure a verdict on two runs is.
    diff_confidence in "thresholds/diff_confidence" {
        same_from: f64 = "same_from", "Jaccard index of the hot sets from which both runs count as one program.";
        similar_from: f64 = "similar_from", "Jaccard index from which they count as similar.";
        same: f64 = "same", "Confidence for one program.";
        similar: f64 = "similar", "Confidence for similar ones.";
        different: f64 = "different", "Confidence for others.";
        calls_from: f64 = "calls_from", "Change of a hot kernel's calls that lowers the confidence, fraction.";
        calls_factor: f64 = "calls_factor", "How far it lowers it.";
    }
}

namespace! {
    /// Gates a code change must pass.
    gate in "thresholds/gate" {
        max_optimization_cycles_per_kernel: u64 = "MAX_OPTIMIZATION_CYCLES_PER_KERNEL", "Optimisation cycles spent on one kernel.";
        max_consecutive_failures: u64 = "MAX_CONSECUTIVE_FAILURES", "Failures in a row after which a session stops.";
        max_session_llm_turns: u64 = "MAX_SESSION_LLM_TURNS", "Model turns of one session.";
        regression_noise_threshold_pct: f64 = "REGRESSION_NOISE_THRESHOLD_PCT", "Change of total kernel time tolerated as noise.";
        hot_kernel_individual_threshold_pct: f64 = "HOT_KERNEL_INDIVIDUAL_THRESHOLD_PCT", "Change of one hot kernel tolerated.";
        tail_geomean_threshold_pct: f64 = "TAIL_GEOMEAN_THRESHOLD_PCT", "Weighted geometric mean change tolerated over common kernels.";
        sol_max_reasonable_speedup: f64 = "SOL_MAX_REASONABLE_SPEEDUP", "Speed-up above which a claim is not believed.";
        output_tolerance: f64 = "output_tolerance", "Relative and absolute tolerance of outputs when the user declared one.";
        limiting_metric_pct: f64 = "limiting_metric_pct", "Worsening of the named limiting metric that is rejected.";
    }
}
