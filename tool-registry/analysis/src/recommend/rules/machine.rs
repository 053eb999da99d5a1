//! GPUs beside each other: balance, collectives, clocks.

use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::thresholds;

use super::super::draft::{Draft, Number};
use super::super::entry::TargetKind;
use super::super::observed::{Collective, Observed, Throttled};
use super::super::text::{bytes, fraction, pct};
use super::judged;
use crate::profile::KernelKind;
use crate::rounding::round;
use crate::units::Nanos;
use crate::words;

pub(super) fn drafts(run: &Observed) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = [imbalance(run), collectives(run)].into_iter().flatten().collect();
    let slow = run.communication.iter().flat_map(|found| &found.collectives);
    drafts.extend(slow.filter_map(|collective| slow_messages(run, collective)));
    drafts.extend(run.throttled.iter().filter_map(throttling));
    drafts
}

fn imbalance(run: &Observed) -> Option<Draft> {
    let limits = thresholds::report();
    if run.agents.len() < 2 {
        return None;
    }
    let (index, busiest) =
        run.agents.iter().enumerate().max_by(|a, b| a.1.kernel.cmp(&b.1.kernel).then(b.0.cmp(&a.0)))?;
    let total: Nanos = run.agents.iter().map(|agent| agent.kernel).sum();
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let gpus = run.agents.len() as f64;
    let mean = total.as_f64() / gpus;
    let most = busiest.kernel.as_f64();
    let window = busiest.window.as_f64();
    if window <= 0.0 || mean <= 0.0 {
        return None;
    }
    let excess = round(100.0 * (most - mean) / window, 2);
    if excess < limits.imbalance_min_pct {
        return None;
    }
    let kernel_share = run.pct(run.kernel_busy).unwrap_or(100.0);
    let gain = (excess * window / run.window.as_f64() * gpus).min(100.0 - kernel_share);
    let more = 100.0 * (most - mean) / mean;
    let ms = |ns: f64| words::milliseconds(super::waiting::whole(ns)).trim_end_matches(" ms").to_owned();
    let (i, x, a, b) = (index.to_string(), pct(more), ms(most), ms(mean));
    let same = run.common_kernel_time.filter(|common| *common >= limits.imbalance_common_share);
    let detail = run.common_kernel_time.map_or_else(
        || "not known".to_owned(),
        |common| format!("kernels of all GPUs hold {}% of the kernel time", fraction(common)),
    );
    Some(
        Draft::of("imbalance", &[("i", &*i), ("x", &x), ("a", &a), ("b", &b)])?
            .bounded(
                gain,
                "kernel time of the busiest GPU above the mean / its window x its window x GPUs / normalized runtime",
            )
            .on(TargetKind::Agent, format!("GPU {index}"))
            .when(
                "all GPUs run the same kernels",
                if same.is_some() { State::Met } else { State::Unknown },
                detail,
            )
            .showing(
                Number::percent("kernel_excess", "kernel_excess_pct", excess, "kernels").at_least(
                    limits.imbalance_min_pct,
                    format!("GPU {index} computes {} of its window longer than the mean", words::percent(excess)),
                ),
            )
            .showing(
                Number::ns("busiest_kernel_time", "kernel_ns", most, "kernels")
                    .context(format!("GPU {index} computes {a} ms")),
            )
            .showing(
                Number::ns("mean_kernel_time", "mean_kernel_ns", mean, "kernels")
                    .context(format!("The mean is {b} ms")),
            ),
    )
}

fn collectives(run: &Observed) -> Option<Draft> {
    let least = thresholds::report().comm_exposed_min_pct;
    let exposed: Nanos = run.agents.iter().map(|agent| agent.exposed_collective).sum();
    let busy: Nanos = run.agents.iter().map(|agent| agent.collective).sum();
    let gain = run.pct(exposed).filter(|gain| *gain >= least)?;
    let overlapped = busy.saturating_sub(exposed).fraction_of(busy).unwrap_or(0.0);
    let named = run.communication.as_ref().and_then(|found| found.dominant.clone());
    let kernel = run.kernels.iter().find(|kernel| kernel.kind == KernelKind::Collective);
    let op = named.or_else(|| kernel.map(|kernel| kernel.short.clone()))?;
    Some(
        Draft::of("exposed_collectives", &[("op", &*op), ("g", &pct(gain)), ("o", &fraction(overlapped))])?
            .bounded(gain, "time with only collectives / normalized runtime")
            .showing(
                Number::percent("exposed_collectives", "exposed_communication_pct", gain, "kernels")
                    .at_least(
                        least,
                        format!(
                            "Collectives run with no other kernel beside them for {} of the run",
                            words::percent(gain)
                        ),
                    ),
            )
            .showing(
                Number::percent("collective_overlap", "overlap_pct", 100.0 * overlapped, "kernels")
                    .context(format!("{}% of their time is overlapped", fraction(overlapped))),
            ),
    )
}

fn slow_messages(run: &Observed, collective: &Collective) -> Option<Draft> {
    let limits = thresholds::report();
    let (rate, peak) = (collective.gbps?, collective.peak_gbps.filter(|peak| *peak > 0.0)?);
    let efficiency = round(100.0 * rate / peak, 2);
    if collective.bytes <= limits.comm_large_bytes || efficiency >= limits.comm_poor_pct {
        return None;
    }
    let exposed = run.pct(collective.exposed).filter(|share| *share >= limits.comm_slow_min_pct)?;
    let gain = exposed * (1.0 - efficiency / limits.comm_good_pct);
    let size = bytes(collective.bytes);
    let ranks = collective.ranks.filter(|ranks| *ranks > 1);
    let r = ranks.map_or_else(|| "an unknown number of".to_owned(), words::count);
    let (x, e, p) = (format!("{rate:.2}"), pct(efficiency), format!("{peak:.2}"));
    let values = [("op", &*collective.op), ("size", &size), ("e", &e), ("r", &r), ("x", &x), ("peak", &p)];
    let mut draft = Draft::of("collective_bandwidth", &values)?
        .bounded(gain, "exposed time of these messages x (1 - efficiency / 70) / normalized runtime")
        .on(TargetKind::Trace, format!("{} of {size}", collective.op))
        .when("peak known", State::Met, format!("{p} GB/s"))
        .when("ranks known", judged(ranks.map(|_| true)), format!("{r} ranks"))
        .showing(
            Number::percent("collective_efficiency", "efficiency_pct", efficiency, "kernels")
                .below(limits.comm_poor_pct, format!("{} of {size} reaches {e}% of {p} GB/s", collective.op)),
        )
        .showing(Number::percent("collective_exposed", "exposed_pct", exposed, "kernels").at_least(
            limits.comm_slow_min_pct,
            format!("They run with no other kernel beside them for {} of the run", words::percent(exposed)),
        ));
    draft.overlaps.push("exposed_collectives");
    Some(draft)
}

fn throttling(gpu: &Throttled) -> Option<Draft> {
    let degrees =
        |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.0}"));
    let (i, n) = (gpu.gpu.to_string(), words::count(gpu.samples));
    let values = [("i", &*i), ("n", &n), ("t", &degrees(gpu.temperature)), ("limit", &degrees(gpu.limit))];
    // A log of another time says nothing about this run.
    let detail = match gpu.same_time {
        Some(true) => "their wall-clock times overlap",
        Some(false) => "their wall-clock times do not overlap",
        None => "no wall-clock time on both sides",
    };
    Some(
        Draft::of("throttling", &values)?
            .unbounded("the log does not say how much faster the run would be")
            .on(TargetKind::Agent, format!("GPU {i}"))
            .when("log and trace cover the same time", judged(gpu.same_time.filter(|same| *same)), detail)
            .showing(
                Number::count("throttled_samples", "throttle_samples", gpu.samples, "facts")
                    .above(0.0, format!("GPU {i} reported {n} throttled samples")),
            ),
    )
}
