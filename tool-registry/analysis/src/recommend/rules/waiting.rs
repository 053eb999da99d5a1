//! Times when the GPU waits: for launches, for the host after blocking calls, in other calls, and for no known reason.

use perfxpert_knowledge::techniques::State;
use perfxpert_knowledge::{rules, thresholds};

use super::super::draft::{Draft, Number};
use super::super::observed::Observed;
use super::super::text::{listed, pct};
use crate::profile::{CallClass, CauseTotal, GapCause};
use crate::units::Nanos;
use crate::words;

const SOURCE: &str = "regions";

pub(super) fn drafts(run: &Observed) -> Vec<Draft> {
    [launch(run), sync(run), host_api(run), idle(run), fusion(run)].into_iter().flatten().collect()
}

fn gap_item(id: &'static str, cause: &str, gain: f64, least: f64) -> super::super::entry::EvidenceItem {
    let text = format!("Gaps of cause {cause} take {} of the run", words::percent(gain));
    Number::percent(id, id, gain, SOURCE).at_least(least, text)
}

fn launch(run: &Observed) -> Option<Draft> {
    let limits = thresholds::report();
    let median = run.median_dispatch?;
    #[expect(clippy::cast_precision_loss, reason = "thresholds and counts to compare")]
    let (short, least, count) =
        (limits.launch_short_ns as f64, limits.launch_min_dispatches as f64, run.dispatches as f64);
    if count < least || median >= short {
        return None;
    }
    let (gaps, cause, known) = if run.api_traced {
        (run.gap(GapCause::Launch), "launch", State::Met)
    } else {
        (run.short_unknown, "unknown, each shorter than 20 μs,", State::Unknown)
    };
    let gain = run.pct(gaps.total).filter(|gain| *gain >= limits.gaps_min_pct)?;
    let duration = words::duration(whole(median));
    let values = [("g", &*pct(gain)), ("n", &words::count(run.dispatches)), ("m", &duration)];
    let mut draft = Draft::of("launch_bound", &values)?
        .bounded(gain, "gaps between launches / normalized runtime")
        .showing(gap_item("launch_gap_pct", cause, gain, limits.gaps_min_pct))
        .showing(
            Number::count("dispatches", "dispatches", run.dispatches, "kernels")
                .at_least(least, format!("{} kernels", words::count(run.dispatches))),
        )
        .showing(
            Number::ns("median_dispatch", "median_dispatch_ns", median, "kernels")
                .below(short, format!("Their median duration is {duration}")),
        );
    if known == State::Unknown {
        draft = draft.when("host calls were launches", known, "no host call was recorded");
        draft.overlaps.push("gpu_idle");
    }
    Some(draft)
}

/// Nanoseconds of a median, half up, for a sentence.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration in a sentence")]
pub(super) fn whole(ns: f64) -> u64 {
    ns.max(0.0).round() as u64
}

fn sync(run: &Observed) -> Option<Draft> {
    let least = thresholds::report().gaps_min_pct;
    let gaps = run.gap(GapCause::Sync);
    let gain = run.pct(gaps.total).filter(|gain| *gain >= least)?;
    let calls: Vec<String> = run
        .sync_calls
        .iter()
        .map(|(call, gaps)| format!("{call} ({})", words::counted(*gaps, "gap", "gaps")))
        .collect();
    let ms = words::milliseconds(gaps.total.0);
    let list = if calls.is_empty() { "not named".to_owned() } else { listed(&calls) };
    let values = [
        ("g", &*pct(gain)),
        ("ms", ms.trim_end_matches(" ms")),
        ("n", &words::count(gaps.count)),
        ("list", &list),
    ];
    Some(
        Draft::of("sync_bound", &values)?
            .bounded(gain, "gaps after blocking calls / normalized runtime")
            .showing(gap_item("sync_gap_pct", "sync", gain, least)),
    )
}

fn host_api(run: &Observed) -> Option<Draft> {
    let least = thresholds::report().gaps_min_pct;
    let causes = [
        (GapCause::Alloc, "memory allocation"),
        (GapCause::Module, "module loading"),
        (GapCause::CopyCall, "copy calls"),
        (GapCause::ApiOther, "other calls"),
    ];
    let total: Nanos = causes.iter().map(|(cause, _)| run.gap(*cause).total).sum();
    let gain = run.pct(total).filter(|gain| *gain >= least)?;
    let mut largest = causes[0];
    for cause in causes {
        if run.gap(cause.0).total > run.gap(largest.0).total {
            largest = cause;
        }
    }
    let (cause, family) = largest;
    let calls: Vec<String> = run
        .calls
        .iter()
        .filter(|call| belongs(cause, call.class) && call.exposed > Nanos::ZERO)
        .map(|call| {
            format!("{} x{} ({})", call.name, words::count(call.calls), words::milliseconds(call.exposed.0))
        })
        .collect();
    let list = if calls.is_empty() { "not named".to_owned() } else { listed(&calls) };
    let values = [("g", &*pct(gain)), ("family", family), ("list", &list)];
    let mut draft = Draft::of("host_api", &values)?
        .bounded(gain, "gaps in allocation, module, copy and other calls / normalized runtime")
        .showing(gap_item("host_call_gap_pct", "alloc, module, copy_call and api_other", gain, least));
    if let Some(share) = run.pct(run.gap(cause).total) {
        let text = format!("{} of the run are gaps of cause {}", words::percent(share), cause.label());
        draft =
            draft.showing(Number::percent("largest_cause", "largest_cause_pct", share, SOURCE).context(text));
    }
    draft.actions = rules::find("host_api")?.actions_by.get(cause.label()).cloned().unwrap_or_default();
    Some(draft)
}

fn belongs(cause: GapCause, class: CallClass) -> bool {
    match cause {
        GapCause::Alloc => class == CallClass::Alloc,
        GapCause::Module => class == CallClass::Module,
        GapCause::CopyCall => class == CallClass::Copy,
        _ => !matches!(class, CallClass::Alloc | CallClass::Module | CallClass::Copy),
    }
}

fn idle(run: &Observed) -> Option<Draft> {
    let least = thresholds::report().idle_min_pct;
    let parts: [CauseTotal; 2] = [GapCause::Host, GapCause::Unknown].map(|cause| run.gap(cause));
    let gain = run.pct(parts.iter().map(|part| part.total).sum()).filter(|gain| *gain >= least)?;
    let (longest, before) = run.longest_idle.clone()?;
    let ms = words::milliseconds(longest.0);
    let values = [("g", &*pct(gain)), ("ms", ms.trim_end_matches(" ms")), ("kernel", &before)];
    let traced = if run.api_traced { State::Met } else { State::Unknown };
    let detail = if run.api_traced { "host calls were recorded" } else { "no host call was recorded" };
    let mut draft = Draft::of("gpu_idle", &values)?
        .bounded(gain, "gaps that no host call explains / normalized runtime")
        .when("API calls traced", traced, detail)
        .showing(gap_item("unexplained_gap_pct", "host and unknown", gain, least))
        .showing(
            Number::ns("longest_gap", "longest_gap_ns", longest.as_f64(), "kernels")
                .context(format!("The longest of them is {}", words::duration(longest.0))),
        );
    if !run.api_traced {
        draft.overlaps.push("launch_bound");
    }
    Some(draft)
}

fn fusion(run: &Observed) -> Option<Draft> {
    let limits = thresholds::report();
    let gain: f64 = run.pairs.iter().filter_map(|pair| run.pct(pair.saving)).sum();
    let first = run.pairs.first()?;
    if gain < limits.fusion_min_saving_pct {
        return None;
    }
    let count = run.pairs.len();
    let n = words::count(count as u64);
    let values = [("n", &*n), ("a", &first.first), ("b", &first.second), ("c", &words::count(first.count))];
    let mut draft = Draft::of("fusion", &values)?
        .bounded(gain, "gaps between the kernels of all pairs / normalized runtime")
        .when("data dependence allows it", State::Unknown, "not visible in a trace")
        .showing(Number::percent("fusion_saving", "fusion_saving_pct", gain, "kernels").at_least(
            limits.fusion_min_saving_pct,
            format!(
                "The gaps inside {} take {} of the run",
                words::counted(count as u64, "pair", "pairs"),
                words::percent(gain)
            ),
        ));
    if count == 1 {
        for text in [&mut draft.title, &mut draft.issue] {
            *text =
                text.replacen("1 pairs", "1 pair", 1).replacen("kernels run back", "kernels runs back", 1);
        }
    }
    draft.overlaps.extend(["launch_bound", "gpu_idle"]);
    Some(draft)
}
