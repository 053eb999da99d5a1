//! Decides from the parts of the window which label explains the lost time best.

use perfxpert_knowledge::{Compare, thresholds};

use super::signatures::{self, ABOVE, BELOW, EXPOSED_COPY, HBM, MFMA, OCCUPANCY, VALU};
use super::{Candidate, DecidedBy, Detail, Evidence, Held, Kind, Verdict, Window, support};

/// One label held against the evidence.
struct Label {
    detail: Detail,
    /// Rules that had a value, in the order of the conditions.
    held: Vec<Held>,
    /// `None` = the conditions do not hold.
    support: Option<f64>,
    /// Metrics that the label needs and that are missing, with how many it needs.
    missing: Vec<&'static str>,
    needs: usize,
}

impl Label {
    fn coverage(&self) -> f64 {
        if self.needs == 0 {
            1.0
        } else {
            (self.needs - self.missing.len().min(self.needs)) as f64 / self.needs as f64
        }
    }

    fn candidate(&self, score: f64) -> Candidate {
        Candidate { label: self.detail.kind().as_str(), detail: Some(self.detail), score }
    }
}

const GPU_IDLE: &str = "gpu_idle_pct";
/// Host and idle time together; callers send its two parts.
const LOST: &str = "exposed_host_pct + gpu_idle_pct";

/// A label that rests on the timeline alone.
fn timeline(detail: Detail, held: Vec<Held>, also: bool, strength: f64) -> Label {
    let holds = also && held.iter().all(|rule| rule.passed);
    Label { detail, held, support: holds.then_some(strength), missing: Vec::new(), needs: 0 }
}

fn labels(evidence: &Evidence, window: &Window) -> Vec<Label> {
    let limits = thresholds::verdict();
    let lost = window.lost();
    let rule = |detail: Detail, metric, value, op, threshold| {
        Held::new(detail.as_str(), metric, value, op, threshold)
    };
    let at_least =
        |detail, metric, value, threshold| rule(detail, metric, value, Compare::AtLeast, threshold);
    // Copies between GPUs are a label of their own; what is known to be theirs does not speak for the host link.
    let host_copy = (window.exposed_copy - evidence.exposed_peer_copy.unwrap_or(0.0)).max(0.0);
    let mut all = vec![timeline(
        Detail::HostDeviceCopy,
        vec![at_least(Detail::HostDeviceCopy, EXPOSED_COPY, host_copy, limits.exposed_copy_share)],
        host_copy > lost,
        support(host_copy, limits.exposed_copy_share),
    )];
    let share = |detail, metric, value: Option<f64>, threshold| {
        let value = value?;
        Some(timeline(
            detail,
            vec![at_least(detail, metric, value, threshold)],
            true,
            support(value, threshold),
        ))
    };
    all.extend(share(
        Detail::Fabric,
        "exposed_peer_copy_pct",
        evidence.exposed_peer_copy,
        limits.exposed_peer_copy_share,
    ));
    let kernel_side = window.kernel >= window.exposed_copy && window.kernel >= lost;
    if kernel_side {
        all.extend(utilisation(
            Detail::HbmBandwidth,
            (HBM, evidence.hbm_utilization),
            (BELOW, side(evidence.below_ridge, evidence.above_ridge)),
            (limits.hbm_share, limits.hbm_share_below_ridge),
        ));
    }
    // A part of the lost time counts from a share of it on; nothing lost means no part.
    let part = |value: f64| if lost > 0.0 { (value / lost).min(1.0) } else { 0.0 };
    let lost_enough = |detail| at_least(detail, LOST, lost, limits.host_and_idle_share);
    if let (Some(duration), Some(calls), Some(api)) =
        (evidence.kernel_duration_us, evidence.kernel_calls, evidence.launch_wait.or(evidence.api_overhead))
    {
        let detail = Detail::LaunchOverhead;
        let launch_metric =
            if evidence.launch_wait.is_some() { "launch_wait_pct" } else { "api_overhead_pct" };
        let held = vec![
            lost_enough(detail),
            rule(detail, "avg_kernel_duration_us", duration, Compare::Below, limits.short_kernel_us),
            rule(detail, "total_kernel_calls", calls, Compare::Above, limits.many_dispatches as f64),
            at_least(detail, launch_metric, api, lost * limits.launch_part),
        ];
        let strength = support(lost, limits.host_and_idle_share).min(support(part(api), limits.launch_part));
        all.push(timeline(detail, held, true, strength));
    }
    if let Some(wait) = evidence.sync_wait {
        let detail = Detail::Synchronization;
        let held =
            vec![lost_enough(detail), at_least(detail, "sync_wait_pct", wait, lost * limits.sync_part)];
        let strength = support(lost, limits.host_and_idle_share).min(support(part(wait), limits.sync_part));
        all.push(timeline(detail, held, true, strength));
    }
    let explained = all.iter().any(|label| {
        label.support.is_some() && matches!(label.detail, Detail::LaunchOverhead | Detail::Synchronization)
    });
    all.extend(share(
        Detail::Communication,
        "exposed_collective_pct",
        evidence.exposed_collective,
        limits.exposed_collective_share,
    ));
    let idle = Detail::GpuIdle;
    let held = vec![at_least(idle, GPU_IDLE, window.idle, limits.idle_share)];
    all.push(timeline(idle, held, !explained, support(window.idle, limits.idle_share)));
    if kernel_side {
        all.extend(low_occupancy(evidence));
        for (detail, metric, value, alone) in [
            (Detail::Mfma, MFMA, evidence.mfma_util, limits.mfma_share),
            (Detail::Valu, VALU, evidence.valu_util, limits.valu_share),
        ] {
            all.extend(utilisation(
                detail,
                (metric, value),
                (ABOVE, side(evidence.above_ridge, evidence.below_ridge)),
                (alone, limits.compute_share_above_ridge),
            ));
        }
    }
    all
}

/// Whether the kernels lie on a side of the ridge: known when this flag is, or when the other one holds.
fn side(this: Option<bool>, other: Option<bool>) -> Option<bool> {
    this.or(other.filter(|held| *held).map(|_| false))
}

/// A label that a high utilisation supports by itself, or a lower one on its side of the roofline.
fn utilisation(
    detail: Detail,
    (metric, value): (&'static str, Option<f64>),
    (flag, on_side): (&'static str, Option<bool>),
    (alone, with_side): (f64, f64),
) -> Option<Label> {
    let value = value?;
    let favoured = on_side == Some(true);
    let threshold = if favoured { with_side } else { alone };
    let mut held = vec![Held::new(detail.as_str(), metric, value, Compare::AtLeast, threshold)];
    held.extend(on_side.map(|is| Held::new(detail.as_str(), flag, f64::from(is), Compare::Equal, 1.0)));
    // Of two ways to hold, the one that supports more counts; the lower threshold always does.
    let strength = (value >= threshold).then(|| support(value, threshold));
    let missing = if on_side.is_none() { vec![flag] } else { Vec::new() };
    Some(Label { detail, held, support: strength, missing, needs: 2 })
}

fn low_occupancy(evidence: &Evidence) -> Option<Label> {
    let limits = thresholds::verdict();
    let detail = Detail::LowOccupancy;
    let occupancy = evidence.occupancy?;
    let mut held =
        vec![Held::new(detail.as_str(), OCCUPANCY, occupancy, Compare::Below, limits.low_occupancy)];
    let busy = [(VALU, evidence.valu_util), (MFMA, evidence.mfma_util), (HBM, evidence.hbm_utilization)];
    for (metric, value) in busy {
        held.extend(value.map(|value| {
            Held::new(detail.as_str(), metric, value, Compare::AtMost, limits.low_occupancy_busy)
        }));
    }
    let busiest = busy.iter().filter_map(|(_, value)| *value).max_by(f64::total_cmp);
    let strength = support(1.0 - occupancy, 1.0 - limits.low_occupancy);
    let strength = busiest
        .map_or(strength, |busiest| strength.min(support(1.0 - busiest, 1.0 - limits.low_occupancy_busy)));
    let holds = held.iter().all(|rule| rule.passed);
    let mut missing = Vec::new();
    if evidence.valu_util.is_none() && evidence.mfma_util.is_none() {
        missing.push(VALU);
    }
    if evidence.hbm_utilization.is_none() {
        missing.push(HBM);
    }
    Some(Label { detail, held, support: holds.then_some(strength), missing, needs: 3 })
}

/// Order of equal supports: the table of labels; mfma before valu.
fn place(detail: Detail) -> usize {
    const ORDER: [Detail; 10] = [
        Detail::HostDeviceCopy,
        Detail::Fabric,
        Detail::HbmBandwidth,
        Detail::LaunchOverhead,
        Detail::Synchronization,
        Detail::Communication,
        Detail::GpuIdle,
        Detail::LowOccupancy,
        Detail::Mfma,
        Detail::Valu,
    ];
    ORDER.iter().position(|this| *this == detail).unwrap_or(ORDER.len())
}

pub(super) fn classify(evidence: &Evidence, window: &Window) -> Verdict {
    let limits = thresholds::verdict();
    let scored = signatures::score(evidence);
    let mut labels = labels(evidence, window);
    labels.sort_by(|left, right| {
        let key = |label: &Label| label.support.unwrap_or(-1.0);
        key(right).total_cmp(&key(left)).then(place(left.detail).cmp(&place(right.detail)))
    });
    let held: Vec<Held> = labels.iter().flat_map(|label| label.held.iter().copied()).collect();
    let supported: Vec<(&Label, f64)> =
        labels.iter().filter_map(|label| Some((label, label.support?))).collect();
    let base = Verdict {
        kind: Kind::Mixed,
        detail: None,
        confidence: 0.0,
        reason: String::new(),
        coverage: scored.coverage(),
        match_ratio: None,
        scores: scored.scores(),
        decided_by: DecidedBy::Window,
        signature: None,
        contradictions: Vec::new(),
        runner_up: supported.get(1).map(|(label, score)| label.candidate(*score)),
        best: None,
        evidence: held,
        missing: Vec::new(),
    };
    let Some((winner, strength)) = supported.first().filter(|(_, strength)| *strength >= limits.min_support)
    else {
        return unsupported(evidence, window, &scored, base);
    };
    let confidence = strength * winner.coverage();
    let rival = supported.iter().skip(1).find(|(label, score)| {
        label.detail.kind() != winner.detail.kind() && strength - score <= limits.mixed_distance
    });
    let decided = Verdict {
        coverage: winner.coverage(),
        contradictions: winner.held.iter().filter(|rule| !rule.passed).copied().collect(),
        missing: winner.missing.clone(),
        ..base
    };
    let name = |label: &Label| format!("{} ({})", label.detail.kind().as_str(), label.detail.as_str());
    if let Some((rival, score)) = rival {
        return Verdict {
            confidence: confidence.min(limits.mixed_confidence),
            reason: format!(
                "Score {strength:.2} for {} and {score:.2} for {} are too close to tell apart, so this is mixed.",
                name(winner),
                name(rival)
            ),
            runner_up: Some(rival.candidate(*score)),
            best: Some(winner.candidate(*strength)),
            ..decided
        };
    }
    let because: Vec<String> = winner
        .held
        .iter()
        .filter(|rule| rule.passed)
        .map(|rule| format!("{} {:.3} {} {:.3}", rule.metric, rule.value, rule.op.as_str(), rule.threshold))
        .collect();
    Verdict {
        kind: winner.detail.kind(),
        detail: Some(winner.detail),
        confidence,
        reason: format!("Score {strength:.2} for {}: {}.", name(winner), because.join(", ")),
        ..decided
    }
}

fn unsupported(evidence: &Evidence, window: &Window, scored: &signatures::Scored, base: Verdict) -> Verdict {
    let kernel_side = [
        evidence.valu_util,
        evidence.mfma_util,
        evidence.hbm_utilization,
        evidence.occupancy,
        evidence.waves_per_cu,
        evidence.above_ridge.map(f64::from),
        evidence.below_ridge.map(f64::from),
    ];
    let without_counters = kernel_side.iter().all(Option::is_none);
    if window.kernel >= thresholds::verdict().kernel_dominated && without_counters {
        return Verdict {
            kind: Kind::DataInsufficient,
            reason: format!(
                "Score 0.00, data_insufficient: kernels take {:.1} % of the window; this is kernel-bound; collect \
                 counters to tell compute from memory.",
                window.kernel * 100.0
            ),
            missing: vec![VALU, MFMA, HBM, ABOVE, BELOW, OCCUPANCY, "avg_waves_per_cu"],
            ..base
        };
    }
    let confidence = scored.mixed_confidence();
    Verdict {
        confidence,
        reason: format!("Score {confidence:.2}: no label reaches its limits, so this is mixed."),
        missing: scored.missing(None),
        ..base
    }
}
