//! A kernel that dominates and cannot be explained, and first calls that take much longer than the others.

use perfxpert_knowledge::commands::Target;
use perfxpert_knowledge::{arch, thresholds};

use super::super::draft::{Collect, Draft, Number};
use super::super::entry::Priority;
use super::super::observed::{Observed, ObservedKernel};
use super::super::text::{fraction, pct};
use super::{limiter, share, waves};
use crate::collection::{classify_passes, counter_commands};
use crate::profile::KernelKind;
use crate::rounding::round;
use crate::units::Nanos;
use crate::words;

/// The program in every command: what it was called is not in a trace.
const APP: &str = "./your_app";
/// Output folder of every command.
const OUT: &str = "./profile_out";

pub(super) fn drafts(run: &Observed) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = dominant(run).into_iter().collect();
    drafts.extend(run.kernels.iter().filter_map(|kernel| warmup(run, kernel)));
    drafts
}

/// First call against the median of the others, when it is an outlier.
fn first_call(kernel: &ObservedKernel) -> Option<(f64, Nanos)> {
    let limits = thresholds::report();
    let rest = kernel.median_rest.filter(|rest| *rest > 0.0)?;
    let first = kernel.first.as_f64();
    #[expect(clippy::cast_precision_loss, reason = "a threshold of microseconds")]
    let least = limits.launch_short_ns as f64;
    let outlier = kernel.judged_calls >= limits.warmup_min_calls
        && first / rest > limits.warmup_ratio
        && first - rest > least;
    outlier.then(|| (first / rest, Nanos(super::waiting::whole(first - rest))))
}

fn dominant(run: &Observed) -> Option<Draft> {
    let limits = thresholds::report();
    let kernel = run.kernels.first().filter(|kernel| kernel.kind == KernelKind::User)?;
    let of_kernels = kernel.pct_of_total?;
    if of_kernels <= limits.hotspot_dominant_pct
        || share(kernel) < limits.kernels_min_share_pct
        || kernel.metrics.tells_limit()
    {
        return None;
    }
    let values = [("short", &*kernel.short), ("p", &pct(of_kernels))];
    let mut draft = Draft::of("hotspot", &values)?
        .unbounded("the trace does not say what limits the kernel")
        .on_kernel(kernel)
        .showing(Number::percent("dominant_kernel", "pct_of_total", of_kernels, "kernels").above(
            limits.hotspot_dominant_pct,
            format!("'{}' takes {} of GPU kernel time", kernel.short, words::percent(of_kernels)),
        ))
        .showing(Number::percent("kernel_share", "pct_of_runtime", share(kernel), "kernels").at_least(
            limits.kernels_min_share_pct,
            format!("It runs for {} of the run", words::percent(share(kernel))),
        ));
    let known = known(kernel);
    draft.actions.splice(0..0, known);
    let passes = classify_passes(run.gfx_id.as_deref().and_then(arch::find));
    let commands = counter_commands(&passes, &Target { app: APP, out: OUT, kernel: None });
    let count = commands.len();
    let folders = (1..=count).map(|pass| format!("{OUT}_pmc{pass}")).collect();
    let described = commands
        .into_iter()
        .zip(1..)
        .map(|(command, pass)| (format!("Counters, pass {pass} of {count}"), command));
    draft.collect = Collect::Counters(described.collect(), folders);
    draft.fixed = Some(Priority::Low);
    Some(draft)
}

/// What is known of a kernel without counters.
fn known(kernel: &ObservedKernel) -> Vec<String> {
    let mut known = Vec::new();
    if let Some(waves) = waves(kernel) {
        let by = match limiter(waves.limiter) {
            "none" => String::new(),
            limiter => format!(", limited by {limiter}"),
        };
        known.push(format!(
            "Known: {} of {} waves per SIMD ({}%){by}.",
            waves.now,
            waves.max,
            pct(waves.pct)
        ));
    }
    let resources = kernel.resources.as_ref();
    if let Some((groups, block)) = resources.and_then(|found| found.workgroups.zip(found.block)) {
        let threads: u64 = block.iter().map(|&size| u64::from(size)).product();
        let scratch =
            resources.and_then(|found| found.scratch).map_or_else(String::new, |scratch| match scratch.0 {
                0 => ", no scratch memory".to_owned(),
                bytes => format!(", {} bytes of scratch memory", words::count(bytes)),
            });
        known.push(format!(
            "Known: {} of {} threads{scratch}.",
            words::counted(groups, "workgroup", "workgroups"),
            words::count(threads)
        ));
    }
    if let Some((ratio, _)) = first_call(kernel) {
        known.push(format!("Known: its first call took {ratio:.2}x the others."));
    }
    known
}

fn warmup(run: &Observed, kernel: &ObservedKernel) -> Option<Draft> {
    let limits = thresholds::report();
    if kernel.kind != KernelKind::User {
        return None;
    }
    let (ratio, extra) = first_call(kernel)?;
    let gain = run.pct(extra).filter(|gain| *gain >= limits.warmup_min_extra_pct)?;
    let rest = kernel.median_rest?;
    let (a, b) = (words::duration(kernel.first.0), words::duration(super::waiting::whole(rest)));
    let r = format!("{ratio:.2}");
    let values = [("short", &*kernel.short), ("kernel", &kernel.short), ("a", &a), ("b", &b), ("r", &r)];
    Some(
        Draft::of("warmup", &values)?
            .bounded(gain, "time of the first call beyond the median of the others / normalized runtime")
            .on_kernel(kernel)
            .showing(
                Number {
                    id: "first_call_ratio",
                    metric: "first_over_median",
                    value: round(ratio, 2),
                    unit: "ratio",
                    source: "kernels",
                }
                .above(limits.warmup_ratio, format!("The first call took {r}x the median of the others")),
            )
            .showing(Number::percent("first_call_extra", "extra_pct", gain, "kernels").at_least(
                limits.warmup_min_extra_pct,
                format!("Its extra time is {}% of the run", fraction(gain / 100.0)),
            )),
    )
}
