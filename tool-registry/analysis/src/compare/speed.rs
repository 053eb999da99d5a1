//! Kernels that are faster than memory allows: a sign of a broken timer or of work that did not happen.

use std::sync::Arc;

use perfxpert_knowledge::thresholds;

use super::Side;
use super::rows::{Row, Status};
use super::run::{Counted, KernelRun, Run};
use super::series::{Change, float, percent_of, wide};
use super::words::gbps;
use crate::units::{Bytes, Nanos};

/// A kernel that would need more bandwidth than its GPU has.
#[derive(Clone, Debug, PartialEq)]
pub struct TooFast {
    /// Full name.
    pub name: Arc<str>,
    /// Side.
    pub side: Side,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Time in which they were moved.
    pub duration: Nanos,
    /// Rate, 1e9 bytes per second.
    pub gbps: f64,
    /// What the GPU allows, with the tolerance, 1e9 bytes per second.
    pub limit_gbps: f64,
}

/// Hot or gated kernels beyond the peak rate, by excess descending, then name; `None` when no bytes were counted at all.
///
/// A kernel's own counters come first. A candidate without them is judged by the baseline's bytes per work-item, since equal
/// work moves equal bytes.
pub(super) fn too_fast(
    rows: &[Row],
    baseline: &[Run],
    new: &[Run],
    kernel_time: &Change,
    gated_share_pct: Option<f64>,
) -> Option<Vec<TooFast>> {
    let judged = |row: &Row| {
        row.was_hot
            || row.is_hot
            || gated_share_pct.is_some_and(|least| {
                percent_of(row.change.baseline, kernel_time.baseline).is_some_and(|share| share >= least)
            })
    };
    let any = baseline.iter().chain(new).flat_map(|run| &run.kernels).any(|kernel| kernel.counted.is_some());
    if !any {
        return None;
    }
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| judged(row)) {
        let reference = baseline.iter().find_map(|run| kernel(run, &row.name)?.counted);
        for (side, runs) in [(Side::Baseline, baseline), (Side::New, new)] {
            let fastest = runs
                .iter()
                .filter_map(|run| {
                    let reference = reference.filter(|_| side == Side::New && row.status == Status::Changed);
                    excess(run, &row.name, side, reference)
                })
                .max_by(|a, b| a.gbps.total_cmp(&b.gbps));
            found.extend(fastest);
        }
    }
    found.sort_by(|a, b| {
        let ratio = |row: &TooFast| row.gbps / row.limit_gbps;
        ratio(b).total_cmp(&ratio(a)).then_with(|| a.name.cmp(&b.name)).then(a.side.cmp(&b.side))
    });
    Some(found)
}

fn kernel<'a>(run: &'a Run, name: &str) -> Option<&'a KernelRun> {
    let at = run.kernels.binary_search_by(|kernel| kernel.name.as_ref().cmp(name)).ok()?;
    run.kernels.get(at)
}

fn excess(run: &Run, name: &Arc<str>, side: Side, reference: Option<Counted>) -> Option<TooFast> {
    let kernel = kernel(run, name)?;
    let limit_gbps = run.memory_rate?.gbps() * thresholds::comparability().impossible_speed;
    let (bytes, duration) = match (kernel.counted, reference) {
        (Some(own), _) => (own.bytes, own.duration),
        (None, Some(reference)) => (same_work(kernel, reference)?, kernel.total),
        (None, None) => return None,
    };
    let gbps = gbps(bytes.0, duration.0);
    (gbps > limit_gbps).then(|| TooFast { name: Arc::clone(name), side, bytes, duration, gbps, limit_gbps })
}

/// Bytes that the reference's bytes per work-item give for the kernel's work; `None` unless a call does the same work.
fn same_work(kernel: &KernelRun, reference: Counted) -> Option<Bytes> {
    let (work, counted) = (kernel.work_items?, reference.work_items?);
    let per_call =
        work.checked_mul(u128::from(reference.calls))? == counted.checked_mul(u128::from(kernel.calls))?;
    if !per_call || reference.calls == 0 {
        return None;
    }
    let bytes = float(wide(reference.bytes.0)) / float(wide(reference.calls)) * float(wide(kernel.calls));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole bytes; the cast saturates"
    )]
    let bytes = bytes as u64;
    Some(Bytes(bytes))
}
