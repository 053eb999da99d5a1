//! Shows a trace's health the way every answer does: the worst problems, and how many there are.

use perfxpert_schemas::trace_health::{TraceHealth, TraceHealthItem};
use perfxpert_trace::{Health, Status};

use crate::traces::LoadedRun;

/// Problems that an answer lists.
const ITEMS: usize = 5;

/// The health of a run, worst first.
pub(crate) fn of(run: &LoadedRun) -> TraceHealth {
    of_health(&run.health, run.status())
}

/// Any health, worst first. The state never looks better than the run's own.
pub(crate) fn of_health(health: &Health, status: Status) -> TraceHealth {
    let items = health.items();
    let mut worst: Vec<_> = items.iter().collect();
    // Stable: equal severities keep the reader's order.
    worst.sort_by_key(|item| std::cmp::Reverse(item.severity));
    let status = health.status(status != Status::Unusable);
    TraceHealth {
        status: status.label().to_owned(),
        items_total: items.len(),
        items: worst
            .into_iter()
            .take(ITEMS)
            .map(|item| TraceHealthItem {
                id: item.id.to_owned(),
                severity: item.severity.label().to_owned(),
                count: item.count,
                message: item.message.clone(),
            })
            .collect(),
    }
}
