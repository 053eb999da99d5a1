//! The deterministic narrative of a report: two to five sentences from numbers the report holds.

use crate::verdict::{Detail, Kind};
use crate::words::{count, counted, duration, name, percent, speedup};

/// Longest narrative, in characters.
const LONGEST: usize = 900;

/// The kernel with most time.
#[derive(Clone, Debug, PartialEq)]
pub struct Dominant {
    /// Without return type and parameters.
    pub short_name: String,
    /// Percent of summed kernel time.
    pub share_pct: f64,
    /// Calls.
    pub calls: u64,
    /// Whether it has counter values.
    pub has_counters: bool,
}

/// Percentages of kernels' counters; `None` is not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CounterShares {
    /// Vector units busy.
    pub valu_pct: Option<f64>,
    /// Matrix units busy.
    pub mfma_pct: Option<f64>,
    /// HBM bandwidth of its peak.
    pub hbm_pct: Option<f64>,
    /// Waves held of those the GPU can hold.
    pub waves_pct: Option<f64>,
}

/// Shares of the run, percent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunShares {
    /// Kernels.
    pub kernel_pct: f64,
    /// Exposed copies.
    pub copy_pct: f64,
    /// Exposed host calls.
    pub api_pct: f64,
    /// Idle.
    pub idle_pct: f64,
    /// Exposed copies between GPUs.
    pub peer_copy_pct: f64,
    /// Exposed collectives.
    pub communication_pct: f64,
    /// Gaps that wait for launches.
    pub launch_gap_pct: f64,
    /// Gaps behind blocking calls.
    pub sync_gap_pct: f64,
}

/// What the sentences are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// Verdict.
    pub kind: Kind,
    /// Its detail.
    pub detail: Option<Detail>,
    /// First to last GPU event, ns.
    pub total_runtime_ns: u64,
    /// Shares of the run.
    pub shares: RunShares,
    /// The kernel with most time.
    pub dominant: Option<Dominant>,
    /// Counters of the kernels the verdict rests on.
    pub counters: CounterShares,
    /// Dispatches.
    pub dispatches: u64,
    /// Median duration of the kernels the verdict rests on, ns.
    pub median_ns: Option<u64>,
    /// Category and bound, percent of the run, of the recommendation with the largest one.
    pub largest_gain: Option<(String, f64)>,
    /// Why the first missing thing is not known; continues "because ...".
    pub missing_reason: Option<String>,
    /// Whether the trace holds counters of any kernel.
    pub has_counters: bool,
    /// Message of the worst health item of a degraded or bad trace.
    pub care: Option<String>,
}

/// The sentences, verdict first. Together at most 900 characters: the last ones give way.
#[must_use]
pub fn sentences(story: &Story) -> Vec<String> {
    let (first, names_kernel, explains) = verdict(story);
    let mut all = vec![first];
    if let Some(dominant) = story.dominant.as_ref().filter(|_| !names_kernel) {
        all.push(format!(
            "The dominant kernel is {} with {} of kernel time in {}.",
            name(&dominant.short_name),
            percent(dominant.share_pct),
            counted(dominant.calls, "call", "calls")
        ));
    }
    if let Some((category, gain)) = &story.largest_gain {
        let factor = speedup(*gain).map(|factor| format!(" ({factor}x)")).unwrap_or_default();
        all.push(format!("Largest bounded gain: {category}, at most {} of the run{factor}.", percent(*gain)));
    }
    if let Some(dominant) = story.dominant.as_ref().filter(|dominant| !dominant.has_counters && !explains) {
        let why = if story.has_counters {
            "it has no counter values"
        } else {
            "the trace holds no hardware counters"
        };
        all.push(format!("What limits {} is not known, because {why}.", name(&dominant.short_name)));
    }
    if let Some(care) = &story.care {
        all.push(format!("Read with care: {}", sentence(care)));
    }
    while all.len() > 1 && all.iter().map(|text| text.chars().count() + 1).sum::<usize>() > LONGEST + 1 {
        all.pop();
    }
    all
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// The first sentence, whether it names the dominant kernel, and whether it says that counters are missing.
fn verdict(story: &Story) -> (String, bool, bool) {
    let (shares, counters) = (&story.shares, &story.counters);
    let run = duration(story.total_runtime_ns);
    let kernel = story.dominant.as_ref().map(|dominant| name(&dominant.short_name)).unwrap_or_default();
    let of_kernel_time =
        story.dominant.as_ref().map(|dominant| format!("{} of kernel time", percent(dominant.share_pct)));
    let of_kernel_time = of_kernel_time.unwrap_or_default();
    let text = match (story.kind, story.detail) {
        (Kind::MemoryTransfer, Some(Detail::HbmBandwidth)) => {
            let moves = match counters.hbm_pct {
                Some(hbm) => format!("moves data at {} of peak HBM bandwidth and takes", percent(hbm)),
                None => "takes".to_owned(),
            };
            let text =
                format!("Limited by memory_transfer (hbm_bandwidth): {kernel} {moves} {of_kernel_time}.");
            return (text, true, true);
        }
        (Kind::MemoryTransfer, Some(Detail::Fabric)) => format!(
            "Limited by memory_transfer (fabric): transfers between GPUs with no kernel beside them take {} of the {run} run.",
            percent(shares.peer_copy_pct)
        ),
        (Kind::MemoryTransfer, _) => format!(
            "Limited by memory_transfer (host_device_copy): copies with no kernel beside them take {} of the {run} run, kernels {}.",
            percent(shares.copy_pct),
            percent(shares.kernel_pct)
        ),
        (Kind::Compute, Some(detail)) => {
            let (unit, value, hbm) = match detail {
                Detail::Mfma => ("matrix units", counters.mfma_pct, None),
                _ => ("vector units", counters.valu_pct, counters.hbm_pct),
            };
            let busy = value.map(|value| format!("keeps the {unit} busy {} of its time", percent(value)));
            let hbm =
                hbm.map(|hbm| format!(" at {} of peak HBM bandwidth", percent(hbm))).unwrap_or_default();
            let busy = busy.map(|busy| format!("{busy}{hbm} and ")).unwrap_or_default();
            let text =
                format!("Limited by compute ({}): {kernel} {busy}takes {of_kernel_time}.", detail.as_str());
            return (text, true, true);
        }
        (Kind::Compute, None) => format!(
            "Limited by compute: kernels run {} of the {run} run; which unit limits them is not in the trace.",
            percent(shares.kernel_pct)
        ),
        (Kind::Latency, Some(Detail::LaunchOverhead)) => {
            let median = story.median_ns.map(|median| format!(" with a median of {}", duration(median)));
            format!(
                "Limited by latency (launch_overhead): the GPU waits for launches {} of the {run} run, between {} kernels{}.",
                percent(shares.launch_gap_pct),
                count(story.dispatches),
                median.unwrap_or_default()
            )
        }
        (Kind::Latency, Some(Detail::Synchronization)) => format!(
            "Limited by latency (synchronization): the GPU waits {} of the {run} run for the host after blocking calls.",
            percent(shares.sync_gap_pct)
        ),
        (Kind::Latency, Some(Detail::LowOccupancy)) => {
            let waves = counters.waves_pct.map_or_else(|| "few".to_owned(), percent);
            let busy: Vec<String> = [("vector units", counters.valu_pct), ("HBM", counters.hbm_pct)]
                .into_iter()
                .filter_map(|(unit, value)| value.map(|value| format!("{unit} {}", percent(value))))
                .collect();
            let busy = if busy.is_empty() { String::new() } else { format!(", {} busy", busy.join(" and ")) };
            let text = format!(
                "Limited by latency (low_occupancy): {kernel} holds {waves} of the waves the GPU can hold{busy}."
            );
            return (text, true, true);
        }
        (Kind::Latency, Some(Detail::Communication)) => format!(
            "Limited by latency (communication): collectives with no other kernel beside them take {} of the {run} run.",
            percent(shares.communication_pct)
        ),
        (Kind::Latency, _) => format!(
            "Limited by latency (gpu_idle): the GPU is idle {} of the {run} run and no HIP or HSA call explains it.",
            percent(shares.idle_pct)
        ),
        (Kind::Mixed, _) => format!(
            "No single limit dominates: kernels {}, exposed copies {}, host API {}, idle {} of the {run} run.",
            percent(shares.kernel_pct),
            percent(shares.copy_pct),
            percent(shares.api_pct),
            percent(shares.idle_pct)
        ),
        (Kind::DataInsufficient, _) => {
            let reason = story.missing_reason.as_deref().unwrap_or("it holds no GPU activity");
            let text = format!("The trace cannot say what limits this run: {}", sentence(reason));
            return (text, false, true);
        }
    };
    (text, false, false)
}

#[cfg(test)]
mod tests;
