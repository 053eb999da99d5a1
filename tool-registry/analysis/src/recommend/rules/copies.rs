//! Copies that nothing runs beside: large, small, and slow ones.

use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::thresholds;
use perfxpert_trace::Direction;

use super::super::draft::{Draft, Number};
use super::super::entry::TargetKind;
use super::super::observed::{Observed, ObservedCopies};
use super::super::text::{bytes, fraction, pct};
use crate::rounding::round;
use crate::units::Nanos;
use crate::words;

const SOURCE: &str = "memory_copies";

pub(super) fn drafts(run: &Observed) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = exposed(run).into_iter().chain(small(run)).collect();
    drafts.extend(run.copies.iter().filter_map(|copies| slow(run, copies)));
    drafts
}

fn exposed(run: &Observed) -> Option<Draft> {
    let least = thresholds::report().copies_exposed_min_pct;
    let time = run.exposed_copies();
    let gain = run.pct(time).filter(|gain| *gain >= least)?;
    let mut parts: Vec<(Nanos, &str)> =
        run.copies.iter().map(|copies| (copies.exposed_not_small(), copies.direction.label())).collect();
    parts.push((run.runtime_copy_exposed, "copy kernels of the runtime"));
    parts.retain(|(time, _)| *time > Nanos::ZERO);
    parts.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let parts: Vec<String> =
        parts.iter().map(|(time, label)| format!("{label} {}", words::milliseconds(time.0))).collect();
    let ms = words::milliseconds(time.0);
    let ms = ms.trim_end_matches(" ms");
    let values = [("g", &*pct(gain)), ("ms", ms), ("list", &parts.join(", "))];
    let text = format!("Copies with no kernel beside them take {} of the run", words::percent(gain));
    Some(
        Draft::of("exposed_copy", &values)?
            .bounded(gain, "exposed time of copies of 64 KiB and more / normalized runtime")
            .showing(Number::percent("exposed_copy", "exposed_copy_pct", gain, SOURCE).at_least(least, text)),
    )
}

fn small(run: &Observed) -> Option<Draft> {
    let limits = thresholds::report();
    let count: u64 = run.copies.iter().map(|copies| copies.small_count).sum();
    let time: Nanos = run.copies.iter().map(|copies| copies.small_exposed).sum();
    let gain = run.pct(time).filter(|gain| *gain >= limits.copies_small_min_pct)?;
    if count < limits.copies_small_min_count {
        return None;
    }
    // The median over directions is that of the direction with most small copies: theirs are the ones to gather.
    let most = run.copies.iter().max_by_key(|copies| copies.small_count)?;
    let size = most.small_median.map_or_else(|| "unknown".to_owned(), |size| bytes(size.0));
    let values = [("n", &*words::count(count)), ("g", &*pct(gain)), ("size", &size)];
    #[expect(clippy::cast_precision_loss, reason = "a threshold")]
    let least = limits.copies_small_min_count as f64;
    Some(
        Draft::of("small_copies", &values)?
            .bounded(gain, "exposed time of copies below 64 KiB / normalized runtime")
            .showing(
                Number::count("small_copies", "small_copy_count", count, SOURCE)
                    .at_least(least, format!("{} copies are smaller than 64 KiB", words::count(count))),
            )
            .showing(
                Number::percent("small_copies_exposed", "small_copy_exposed_pct", gain, SOURCE).at_least(
                    limits.copies_small_min_pct,
                    format!("They run with no kernel beside them for {} of the run", words::percent(gain)),
                ),
            ),
    )
}

fn slow(run: &Observed, copies: &ObservedCopies) -> Option<Draft> {
    let limits = thresholds::report();
    if !matches!(copies.direction, Direction::HostToDevice | Direction::DeviceToHost) {
        return None;
    }
    let (rate, peak) = (copies.large_gbps?, copies.link_peak_gbps?);
    let reached = rate / peak;
    if reached >= limits.copies_link_low_ratio {
        return None;
    }
    let exposed = run.pct(copies.large_exposed)?;
    let gain = exposed * (1.0 - reached / limits.copies_link_achievable_ratio);
    let label = copies.direction.label();
    let (rate_text, peak_text) = (format!("{rate:.2}"), format!("{peak:.2}"));
    let values = [("direction", label), ("x", &rate_text), ("r", &fraction(reached)), ("peak", &peak_text)];
    let both = run.both_directions.fraction_of(copies.busy).unwrap_or(0.0);
    let alone = if both > limits.copies_both_ways_share { State::Unknown } else { State::Met };
    let mut draft = Draft::of("copy_bandwidth", &values)?
        .bounded(
            gain,
            "exposed time of these copies x (1 - link share / achievable share) / normalized runtime",
        )
        .on(TargetKind::Trace, label.to_owned())
        .when("link peak known", State::Met, format!("{peak_text} GB/s one way"))
        .when(
            "transfers not limited by other traffic on the link",
            alone,
            format!("copies of both directions overlap for {}% of the time", fraction(both)),
        )
        .showing(
            Number {
                unit: "ratio",
                source: SOURCE,
                ..Number::fraction("link_share", "link_utilization", reached)
            }
            .below(
                limits.copies_link_low_ratio,
                format!("{label} copies of 1 MiB and more reach {}% of the link", fraction(reached)),
            ),
        )
        .showing(
            Number {
                id: "copy_rate",
                metric: "large_bandwidth_gbps",
                value: round(rate, 4),
                unit: "GB/s",
                source: SOURCE,
            }
            .context(format!("They move {rate_text} GB/s")),
        )
        .showing(Number::percent("large_copies_exposed", "large_copy_exposed_pct", exposed, SOURCE).context(
            format!("They run with no kernel beside them for {} of the run", words::percent(exposed)),
        ));
    if copies.split_calls > 0 {
        draft.issue.push_str(" The runtime splits them, as it does for pageable memory.");
    }
    draft.overlaps.push("exposed_copy");
    Some(draft)
}
