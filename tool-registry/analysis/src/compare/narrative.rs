//! A comparison in sentences.

use super::rows::{Row, Status};
use super::verdict::movers;
use super::words::{counted, milliseconds, plain, signed, signed_milliseconds};
use super::{Comparison, Shorten};

/// Kernels a sentence names.
const NAMED: usize = 3;

/// The sentences, each only when it applies. `row_limit_pct` is the limit of [`movers`]; `short` shortens names.
#[must_use]
pub fn narrative(comparison: &Comparison, row_limit_pct: f64, short: Shorten<'_>) -> String {
    let mut sentences = Vec::new();
    if !comparison.has_empty_side() {
        sentences.push(times(comparison));
        let (regressed, improved) = movers(comparison, row_limit_pct);
        sentences.extend(moved(&regressed, "regressed", row_limit_pct, short));
        sentences.extend(moved(&improved, "improved", row_limit_pct, short));
        sentences.extend(set_changes(comparison));
    }
    sentences.extend(comparison.comparability.issues.iter().map(|issue| issue.text.clone()));
    if comparison.runs() == (1, 1) {
        sentences.push("One run per side: how much of this is noise is unknown.".to_owned());
    }
    sentences.join(" ")
}

fn times(comparison: &Comparison) -> String {
    let wall = &comparison.wall_change;
    let percent = wall.percent.map(|percent| format!(" ({})", signed(percent))).unwrap_or_default();
    let kernels = comparison
        .kernel_change
        .percent
        .map(|percent| format!("; kernel time {}", signed(percent)))
        .unwrap_or_default();
    format!(
        "Elapsed time went from {} to {}{percent}{kernels}.",
        milliseconds(wall.baseline),
        milliseconds(wall.new)
    )
}

fn moved(rows: &[&Row], verb: &str, limit_pct: f64, short: Shorten<'_>) -> Option<String> {
    let named: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|row| {
            let percent = row.change.percent.map(signed).unwrap_or_default();
            format!("`{}` {percent} ({})", short(&row.name), signed_milliseconds(row.change.delta()))
        })
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "{} {verb} by more than {}%: {}.",
            counted(rows.len(), "kernel"),
            plain(limit_pct),
            named.join(", ")
        )
    })
}

fn set_changes(comparison: &Comparison) -> Option<String> {
    let of = |status: Status| comparison.rows.iter().filter(move |row| row.status == status);
    let (added, removed) = (of(Status::Added).count(), of(Status::Removed).count());
    let sum = |times: &mut dyn Iterator<Item = u64>| times.fold(0, u64::saturating_add);
    let added_ns = sum(&mut of(Status::Added).map(|row| row.change.new));
    let removed_ns = sum(&mut of(Status::Removed).map(|row| row.change.baseline));
    (added + removed > 0).then(|| {
        format!(
            "{} {} added ({}) and {removed} removed ({}).",
            counted(added, "kernel"),
            if added == 1 { "was" } else { "were" },
            milliseconds(added_ns),
            milliseconds(removed_ns)
        )
    })
}
