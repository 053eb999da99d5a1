//! Collectives against what the links allow.

use perfxpert_analysis::communication::{self, Communication as Found, Grouping, Known, Row};
use perfxpert_analysis::recommend::{self, Collective as Advised};
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::Nanos;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::report::sections::{Collective, Communication, CommunicationSummary};

use super::measured::Measured;
use crate::Context;

/// Rows of a full report.
const ROWS: usize = 200;

/// The collectives of a run; `None` without any.
///
/// # Errors
/// Those of reading the trace again.
pub(super) fn find(context: &Context, measured: &Measured<'_>) -> Result<Option<Found>, ErrorObject> {
    let run = measured.run;
    if run.profile.collectives_total == 0 && run.profile.host.rccl_calls == 0 {
        return Ok(None);
    }
    let known = Known { ranks: None, links: None };
    context.quiet().scanned("database_path", |control| {
        communication::of_run(&run.trace, &run.profile, known, Grouping::Signature, control)
    })
}

pub(super) fn section(measured: &Measured<'_>, found: &Found) -> Communication {
    let exposed = measured.sum(|times| times.exposed_collective);
    let incomplete = found.incomplete();
    let two = |share: Option<f64>| share.map(|share| round(share, 2));
    Communication {
        summary: CommunicationSummary {
            op_count: found.count,
            dominant_op: found.dominant.map(|operation| operation.label().to_owned()),
            total_ns: found.device_total.0,
            exposed_ns: exposed.0,
            exposed_pct: measured.of_run(exposed),
            overlap_pct: two(found.overlap),
            ranks: found.ranks.map(u64::from),
            avg_bw_gbps: found.bus_gbps.map(|rate| round(rate, 4)),
            avg_efficiency_pct: two(found.efficiency),
            peak_bw_gbps: found.peak_gbps,
            link_peak_gbps: found.link_peak_gbps,
            capture_incomplete: incomplete.is_some(),
            incomplete_reason: incomplete.map(str::to_owned),
            fallback_kernel_count: found.unlinked_kernels,
            measured_metrics_available: found.measured(),
        },
        collectives: found.rows.iter().take(ROWS).map(|row| collective(row, found)).collect(),
        collectives_total: found.rows.len() as u64,
    }
}

fn collective(row: &Row, found: &Found) -> Collective {
    Collective {
        op_type: row.operation.label().to_owned(),
        count: row.count,
        msg_bytes: row.bytes.map(|bytes| bytes.0),
        duration_ns: row.device.map_or(0, |time| time.0),
        total_ns: row.total.0,
        effective_bw_gbps: row.bus_gbps.map(|rate| round(rate, 4)),
        peak_bw_gbps: found.peak_gbps,
        link_peak_gbps: found.link_peak_gbps,
        efficiency_pct: row.efficiency.map(|share| round(share, 2)),
        efficiency_label: row.label().to_owned(),
        overlap_ratio: row.overlap.map(|share| round(share, 2)),
        regime: Some(row.regime().to_owned()),
        algo_hint: Some(row.algorithm_hint().to_owned()),
    }
}

/// What the rules look at: collectives whose size is known.
pub(super) fn for_rules(found: &Found) -> recommend::Communication {
    let collectives = found.rows.iter().filter_map(|row| {
        let beside = row.overlap.unwrap_or(0.0).clamp(0.0, 100.0) / 100.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a time in range"
        )]
        let exposed = (row.total.as_f64() * (1.0 - beside)).round() as u64;
        Some(Advised {
            op: row.operation.label().to_owned(),
            bytes: row.bytes?.0,
            ranks: found.ranks.map(u64::from),
            gbps: row.bus_gbps,
            peak_gbps: found.peak_gbps,
            exposed: Nanos(exposed),
        })
    });
    recommend::Communication {
        dominant: found.dominant.map(|operation| operation.label().to_owned()),
        collectives: collectives.collect(),
    }
}
