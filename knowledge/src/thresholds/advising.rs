//! Constants of the technique models and of their ranking.

use super::namespace;

namespace! {
    /// Gain models of techniques without a prediction.
    models in "techniques/models" {
        lo_divisor: f64 = "lo_divisor", "Divisor of the upper gain that gives the lower one.";
        waves_factor: f64 = "waves.factor", "Part of the added waves that turns into speed.";
        waves_cap: f64 = "waves.cap", "Largest speed-up of more waves.";
        lanes_cap: f64 = "lanes.cap", "Largest speed-up of fuller waves.";
        fill_cap: f64 = "fill.cap", "Largest speed-up of a larger grid.";
        conflict_lo_part: f64 = "conflict.lo_part", "Part of the LDS conflicts removed at least.";
        pinned_lo_reach: f64 = "pinned.lo_reach", "Share of the link peak reached at least with pinned memory.";
        pinned_hi_reach: f64 = "pinned.hi_reach", "Share of the link peak reached at most.";
        batch_lo: f64 = "batch.lo", "Part of the small-copy time saved at least.";
        batch_hi: f64 = "batch.hi", "Part saved at most.";
        graph_lo: f64 = "graph.lo", "Part of the launch gaps a graph saves at least.";
        graph_hi: f64 = "graph.hi", "Part it saves at most.";
        fusion_lo: f64 = "fusion.lo", "Part of the fusion saving reached at least.";
        fusion_hi: f64 = "fusion.hi", "Part reached at most.";
        fusion_max_speedup: f64 = "fusion.max_speedup", "Largest speed-up of fusion.";
        fusion_unknown_hi: f64 = "fusion.unknown_hi", "Part of the launch gaps saved at most when no pair is known.";
        sync_lo: f64 = "sync.lo", "Part of the blocking gaps saved at least.";
        sync_hi: f64 = "sync.hi", "Part saved at most.";
        sync_max_speedup: f64 = "sync.max_speedup", "Largest speed-up of removing waits.";
        host_lo: f64 = "host.lo", "Part of the host gaps saved at least.";
        host_hi: f64 = "host.hi", "Part saved at most.";
        concurrency_lo: f64 = "concurrency.lo", "Part of the kernel time saved at least.";
        concurrency_fill_floor: f64 = "concurrency.fill_floor", "Grid fill assumed at least.";
        concurrency_max_speedup: f64 = "concurrency.max_speedup", "Largest speed-up of concurrent kernels.";
        comm_lo: f64 = "comm.lo", "Part of the exposed collectives saved at least.";
        comm_hi: f64 = "comm.hi", "Part saved at most.";
    }
}

namespace! {
    /// Ranking of techniques.
    ranking in "techniques/ranking" {
        risk_low: f64 = "risk.low", "Divisor of a low-risk technique.";
        risk_medium: f64 = "risk.medium", "Divisor at medium risk.";
        risk_high: f64 = "risk.high", "Divisor at high risk.";
        effort_low_max: f64 = "effort.low_max", "Largest effort called low.";
        effort_medium_max: f64 = "effort.medium_max", "Largest effort called medium.";
        score_possible: f64 = "score.possible", "Factor on the score of a possible technique.";
        confidence_possible: f64 = "confidence.possible", "Factor on its confidence.";
        evidence_unknown: f64 = "evidence.unknown", "Weight of an unknown precondition.";
        possible_share: f64 = "possible_share", "Share of required preconditions met from which a technique is possible.";
        min_saved: f64 = "min_saved", "Upper saving below which a technique is not listed.";
        min_target_share: f64 = "min_target_share", "Share of the run from which a kernel is a target.";
        missing_share: f64 = "missing_share", "Share of the run from which unknown preconditions are asked for.";
        no_headroom: f64 = "no_headroom", "Cap below which a technique is blocked.";
        max_kernels: u64 = "max_kernels", "Most kernels looked at.";
        coalescing_floor: f64 = "coalescing_floor", "Coalescing assumed at least for its cap.";
        small_gap_ns: u64 = "small_gap_ns", "Gap counted as a launch gap when no API calls are traced.";
        repeat_period_min: u64 = "repeat_period_min", "Shortest repeated sequence.";
        repeat_period_max: u64 = "repeat_period_max", "Longest repeated sequence.";
        repeat_times: u64 = "repeat_times", "Repetitions in a row that count.";
        disagreement: f64 = "disagreement", "Relative difference between trace and input that is warned about.";
    }
}
