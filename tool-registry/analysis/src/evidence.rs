//! What a run's timeline and counters say to the classifier.

use perfxpert_trace::Health;

use crate::RunProfile;
use crate::counters::HotCounters;
use crate::profile::{GapCause, TimeParts};
use crate::units::Nanos;
use crate::verdict::{Evidence, Verdict, Window, classify, health_factor};

/// Shares of the exclusive parts; `None` for an empty window.
#[must_use]
pub fn window(parts: &TimeParts) -> Option<Window> {
    let window = parts.window();
    Some(Window {
        kernel: parts.kernel.fraction_of(window)?,
        exposed_copy: parts.exposed_copy.fraction_of(window)?,
        exposed_host: parts.host_api.fraction_of(window)?,
        idle: parts.idle.fraction_of(window)?,
    })
}

/// Evidence of a run. `counters` are those of the hot kernels, where any were collected.
#[must_use]
pub fn of_run(profile: &RunProfile, counters: Option<&HotCounters>) -> Evidence {
    let parts = profile.parts();
    let whole = parts.window();
    let Some(window) = window(&parts) else { return Evidence::default() };
    let sum = |of: fn(&crate::profile::AgentTimes) -> Nanos| -> Nanos {
        profile.agents.iter().map(|agent| of(&agent.times)).sum()
    };
    let share = |time: Nanos| time.fraction_of(whole);
    let known = profile.host.api_known;
    let counters = counters.copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a count to compare")]
    let dispatches = profile.rows.dispatches as f64;
    Evidence {
        window: Some(window),
        exposed_copy: Some(window.exposed_copy),
        memcpy: share(sum(|times| times.copy_busy)),
        gpu_util: share(sum(|times| times.busy())),
        api_overhead: known.then_some(window.exposed_host),
        launch_wait: known.then(|| share(profile.gaps.of(GapCause::Launch).total)).flatten(),
        sync_wait: known.then(|| share(profile.gaps.of(GapCause::Sync).total)).flatten(),
        exposed_collective: share(sum(|times| times.exposed_collective)),
        exposed_peer_copy: share(sum(|times| times.exposed_peer_copy)),
        valu_util: counters.valu,
        mfma_util: counters.mfma,
        hbm_utilization: counters.hbm,
        occupancy: counters.occupancy,
        waves_per_cu: counters.waves_per_cu,
        above_ridge: counters.above_ridge,
        below_ridge: counters.below_ridge,
        kernel_duration_us: profile.hot_median.map(|ns| ns / 1000.0),
        kernel_calls: Some(dispatches),
    }
}

/// The verdict on a run and its confidence with the state of the trace, rounded to 2 decimals.
#[must_use]
pub fn verdict(profile: &RunProfile, counters: Option<&HotCounters>, health: &Health) -> (Verdict, f64) {
    let verdict = classify(&of_run(profile, counters));
    let worst = health.worst();
    let data_loss = worst == Some(perfxpert_trace::Severity::DataLoss);
    let warnings = worst == Some(perfxpert_trace::Severity::Warning);
    let confidence = crate::rounding::round(verdict.confidence * health_factor(data_loss, warnings), 2);
    (verdict, confidence)
}
