//! Which rank arrives last at collectives, with clocks that may differ from rank to rank.
//!
//! All ranks leave a collective at about the same time, so its ends tell how the clocks relate.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::thresholds;
use perfxpert_trace::{AgentIdx, ProcessIdx, Trace};

use super::operation::Operation;
use crate::profile::RunProfile;
use crate::units::Nanos;

/// One rank and the waits it causes.
#[derive(Clone, Debug, PartialEq)]
pub struct Straggler {
    /// Its process.
    pub process: ProcessIdx,
    /// Process id, when recorded.
    pub pid: Option<i64>,
    /// Its GPU.
    pub agent: AgentIdx,
    /// Collectives it entered last.
    pub last_count: u64,
    /// Collectives compared.
    pub instances: u64,
    /// Time the others waited for it, added up over them.
    pub wait_caused: Nanos,
    /// Mean time it entered after the first rank.
    pub mean_lateness: Nanos,
}

type Rank = (ProcessIdx, AgentIdx);
/// Start and end of a collective.
type Span = (i64, i64);
/// Collectives of each rank by operation, in time order.
type Spans = BTreeMap<Rank, BTreeMap<Operation, Vec<Span>>>;

/// Slopes computed in all; beyond it fewer instances per rank are used.
const SLOPES: usize = 20_000_000;

/// Ranks by the wait they cause, or why they cannot be compared.
pub(super) fn find(
    trace: &Trace,
    profile: &RunProfile,
    operations: &[Operation],
) -> Result<Vec<Straggler>, &'static str> {
    let facts = thresholds::rccl();
    let mut spans = Spans::new();
    for (row, operation) in profile.collectives.iter().zip(operations) {
        // Point-to-point kernels do not end together.
        if *operation != Operation::SendRecv {
            let rank = spans.entry((row.process, row.agent)).or_default();
            rank.entry(*operation).or_default().push((row.start, row.end));
        }
    }
    if (spans.len() as u64) < facts.straggler_ranks {
        return Err("fewer than two ranks ran collective kernels");
    }
    let instances = matched(&spans);
    if (instances.first().map_or(0, Vec::len) as u64) < facts.straggler_collectives {
        return Err("too few collectives match across the ranks");
    }
    let starts = aligned(&instances).ok_or("clocks too uncertain")?;
    Ok(ranked(trace, &spans, &starts))
}

/// Per rank the matched collectives, the k-th of each operation beside the k-th of all others; sorted by end on the first
/// rank.
fn matched(spans: &Spans) -> Vec<Vec<Span>> {
    let operations: BTreeSet<Operation> = spans.values().flat_map(BTreeMap::keys).copied().collect();
    let mut rows: Vec<Vec<Span>> = vec![Vec::new(); spans.len()];
    for operation in operations {
        let lists: Vec<&[Span]> =
            spans.values().map(|rank| rank.get(&operation).map_or(&[][..], Vec::as_slice)).collect();
        let shared = lists.iter().map(|list| list.len()).min().unwrap_or(0);
        for (row, list) in rows.iter_mut().zip(lists) {
            row.extend(list.iter().take(shared));
        }
    }
    let Some(first) = rows.first() else { return rows };
    let mut order: Vec<usize> = (0..first.len()).collect();
    order.sort_by_key(|at| first.get(*at).map(|(_, end)| *end));
    rows.iter().map(|row| order.iter().filter_map(|at| row.get(*at).copied()).collect()).collect()
}

/// Starts per rank on one clock; `None` when the ends do not agree well enough.
#[expect(clippy::cast_precision_loss, reason = "differences within one run fit 53 bits")]
fn aligned(instances: &[Vec<Span>]) -> Option<Vec<Vec<f64>>> {
    let facts = thresholds::rccl();
    let base = instances.first()?.first()?.0;
    let since = |instant: i64| instant.saturating_sub(base) as f64;
    let count = instances.first()?.len();
    let mut middles = Vec::with_capacity(count);
    let mut lengths = Vec::with_capacity(count * instances.len());
    for at in 0..count {
        let row = instances.iter().filter_map(|rank| rank.get(at));
        middles.push(middle(row.clone().map(|(_, end)| since(*end)).collect())?);
        lengths.extend(row.map(|(start, end)| Nanos::between(*start, *end).as_f64()));
    }
    let most = (SLOPES * 2 / instances.len().max(1)).isqrt().max(2);
    let samples = usize::try_from(facts.clock_samples).unwrap_or(most).min(most).min(count);
    let mut residuals = Vec::with_capacity(count * instances.len());
    let mut starts = Vec::with_capacity(instances.len());
    for rank in instances {
        let offsets: Vec<(f64, f64)> =
            rank.iter().zip(&middles).map(|((_, end), middle)| (since(*end), since(*end) - middle)).collect();
        let (slope, level) = line(&offsets, samples)?;
        let correct = |instant: f64| instant - (level + slope * instant);
        residuals.extend(
            rank.iter().zip(&middles).map(|((_, end), middle)| (correct(since(*end)) - middle).abs()),
        );
        starts.push(rank.iter().map(|(start, _)| correct(since(*start))).collect());
    }
    residuals.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in the list")]
    let at = (facts.clock_percentile * residuals.len().saturating_sub(1) as f64) as usize;
    let (spread, length) = (*residuals.get(at)?, middle(lengths)?);
    (spread <= facts.clock_residual * length).then_some(starts)
}

/// Slope and level of the Theil-Sen line through evenly spaced points (Sen 1968): the median of the slopes of all pairs,
/// then the median of what remains.
fn line(points: &[(f64, f64)], samples: usize) -> Option<(f64, f64)> {
    let samples = samples.min(points.len());
    let chosen: Vec<(f64, f64)> =
        (0..samples).filter_map(|at| points.get(at * points.len() / samples.max(1)).copied()).collect();
    let mut slopes = Vec::with_capacity(samples * samples.saturating_sub(1) / 2);
    for (at, (x, y)) in chosen.iter().enumerate() {
        for (later_x, later_y) in chosen.iter().skip(at + 1) {
            let run = later_x - x;
            if run != 0.0 {
                slopes.push((later_y - y) / run);
            }
        }
    }
    let slope = middle(slopes).unwrap_or(0.0);
    let level = middle(chosen.iter().map(|(x, y)| y - slope * x).collect())?;
    Some((slope, level))
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    let upper = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let even = values.len().is_multiple_of(2);
    let (below, at, _) = values.select_nth_unstable_by(upper, f64::total_cmp);
    let high = *at;
    if !even {
        return Some(high);
    }
    let low = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(low, high))
}

fn ranked<T>(trace: &Trace, ranks: &BTreeMap<Rank, T>, starts: &[Vec<f64>]) -> Vec<Straggler> {
    let count = starts.first().map_or(0, Vec::len);
    let mut found = vec![(0_u64, 0.0_f64, 0.0_f64); starts.len()];
    for at in 0..count {
        let row: Vec<f64> = starts.iter().filter_map(|rank| rank.get(at).copied()).collect();
        let first = row.iter().copied().fold(f64::INFINITY, f64::min);
        let last = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let late = row.iter().position(|start| *start >= last);
        for (rank, (sums, start)) in found.iter_mut().zip(&row).enumerate() {
            sums.2 += start - first;
            if late == Some(rank) {
                sums.0 += 1;
                sums.1 += row.iter().map(|other| last - other).sum::<f64>();
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let instances = count.max(1) as f64;
    let mut rows: Vec<Straggler> = ranks
        .keys()
        .zip(found)
        .map(|((process, agent), (last_count, wait, late))| Straggler {
            process: *process,
            pid: trace.processes().get(process.get()).and_then(|process| process.pid),
            agent: *agent,
            last_count,
            instances: count as u64,
            wait_caused: whole(wait),
            mean_lateness: whole(late / instances),
        })
        .collect();
    rows.sort_by(|a, b| {
        let key = |row: &Straggler| (row.pid, row.process, row.agent);
        b.wait_caused.cmp(&a.wait_caused).then_with(|| key(a).cmp(&key(b)))
    });
    rows
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, never negative")]
fn whole(time: f64) -> Nanos {
    Nanos(time.round().max(0.0) as u64)
}
