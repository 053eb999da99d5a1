//! Verdict, its evidence, what is missing, and the sentences about it.

use perfxpert_analysis::evidence;
use perfxpert_analysis::missing::{self, Missing};
use perfxpert_analysis::naming::short_name;
use perfxpert_analysis::narrative::{self, CounterShares, Dominant, RunShares, Story};
use perfxpert_analysis::profile::GapCause;
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::Percent;
use perfxpert_analysis::verdict::{Held, Kind, Verdict};
use perfxpert_analysis::words;
use perfxpert_schemas::report::advice::{
    CommandArgument, CommandLine, Coverage, Evidence, EvidenceItem, Missing as MissingRow, Recommendation,
    RunnerUp,
};
use perfxpert_trace::{Family, Severity, Status};

use super::measured::{Measured, percent, whole};

/// Missing things listed.
const MISSING: usize = 6;

/// A verdict with its confidence in the state of the trace.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) confidence: f64,
    pub(crate) missing: Vec<Missing>,
}

pub(crate) fn judge(measured: &Measured<'_>, inputs: &[&str]) -> Judged {
    let (verdict, confidence) = evidence::verdict(&measured.run.profile, None, &measured.health);
    let missing = missing::of_run(&measured.run.profile, &measured.gpus, measured.has_counter_rows(), inputs);
    Judged { verdict, confidence, missing }
}

impl Judged {
    pub(crate) fn runner_up(&self) -> Option<RunnerUp> {
        self.verdict.runner_up.map(|next| RunnerUp {
            label: next.label.to_owned(),
            detail: next.detail.map(|detail| detail.as_str().to_owned()),
            score: round(next.score, 4),
        })
    }
}

/// A printed command with what it is for.
pub(crate) fn command(description: &str, command: &perfxpert_knowledge::commands::Command) -> CommandLine {
    let purpose = match command.tool() {
        "perfxpert" if description == "Verify" => "verify",
        "perfxpert" => "inspect",
        _ => "collect",
    };
    CommandLine {
        purpose: purpose.to_owned(),
        tool: command.tool().to_owned(),
        description: description.to_owned(),
        flags: command.flags().into_iter().map(str::to_owned).collect(),
        args: command.args().into_iter().map(|(name, value)| CommandArgument { name, value }).collect(),
        full_command: command.full_command(),
    }
}

pub(super) fn evidence(measured: &Measured<'_>, judged: &Judged, tier: u64, att: bool) -> Evidence {
    let items = items(measured, judged);
    let missing = judged.missing.iter().take(MISSING).map(|missing| MissingRow {
        metric: missing.metric.to_owned(),
        needed_for: missing.needed_for.to_owned(),
        reason: missing.reason.to_owned(),
        commands: missing.commands.iter().map(|(does, line)| command(does, line)).collect(),
    });
    Evidence {
        items_total: items.len() as u64,
        contradictions: judged.verdict.contradictions.iter().map(|rule| item(rule, judged).text).collect(),
        items,
        coverage: coverage(measured, tier, att),
        missing: missing.collect(),
    }
}

fn coverage(measured: &Measured<'_>, tier: u64, att: bool) -> Coverage {
    let (trace, profile) = (&measured.run.trace, &measured.run.profile);
    let mut counters: Vec<String> = if measured.has_counter_rows() {
        trace.counter_catalogue().iter().map(|counter| counter.name.to_string()).collect()
    } else {
        Vec::new()
    };
    counters.sort();
    counters.dedup();
    Coverage {
        tier,
        kernel_trace: profile.rows.dispatches > 0,
        copy_trace: profile.rows.copies > 0,
        api_trace: profile.host.api_known,
        marker_trace: profile.calls.iter().any(|call| call.family == Family::Marker),
        counters_collected: counters,
        dispatches_with_counters: 0,
        dispatches_total: profile.rows.dispatches,
        kernel_time_with_counters_pct: 0.0,
        att,
    }
}

/// Rules of the verdict, what supports it first, then what speaks against it, then the rest; and the share of the first kernel.
fn items(measured: &Measured<'_>, judged: &Judged) -> Vec<EvidenceItem> {
    let mut items: Vec<EvidenceItem> = Vec::new();
    for rule in &judged.verdict.evidence {
        let next = item(rule, judged);
        match items.iter_mut().find(|known| known.id == next.id) {
            Some(known) if rank(&next.role) < rank(&known.role) => *known = next,
            Some(_) => {}
            None => items.push(next),
        }
    }
    items.sort_by_key(|item| rank(&item.role));
    if let Some(kernel) = measured.kernels.first() {
        let share = percent(kernel.durations.total, measured.run.profile.kernel_sum());
        items.push(EvidenceItem {
            id: "top_kernel".to_owned(),
            text: format!(
                "{} takes {} of kernel time",
                words::name(&short_name(&kernel.name)),
                words::percent(share)
            ),
            metric: "pct_of_total".to_owned(),
            value: Some(share),
            unit: "percent".to_owned(),
            comparator: None,
            threshold: None,
            role: "context".to_owned(),
            source: "kernels".to_owned(),
        });
    }
    items
}

fn rank(role: &str) -> u8 {
    match role {
        "supports" => 0,
        "contradicts" => 1,
        _ => 2,
    }
}

/// How a metric of the classifier reads: id, sentence around the value, unit, scale, place it comes from.
fn reading(metric: &str) -> (&str, &str, &str, &'static str, f64, &'static str) {
    match metric {
        "exposed_copy_pct" => (
            "exposed_copy",
            "Copies with no kernel beside them take",
            "of the run",
            "percent",
            100.0,
            "memory_copies",
        ),
        "exposed_peer_copy_pct" => (
            "exposed_peer_copy",
            "Copies between GPUs with no kernel beside them take",
            "of the run",
            "percent",
            100.0,
            "memory_copies",
        ),
        "exposed_collective_pct" => (
            "exposed_communication",
            "Collectives with no other kernel beside them take",
            "of the run",
            "percent",
            100.0,
            "kernels",
        ),
        "exposed_host_pct + gpu_idle_pct" => {
            ("gpu_waiting", "The GPU has nothing to run", "of the run", "percent", 100.0, "kernels")
        }
        "gpu_idle_pct" => {
            ("gpu_idle", "The GPU is idle with no host call open", "of the run", "percent", 100.0, "kernels")
        }
        "sync_wait_pct" => {
            ("sync_wait", "The GPU waits behind blocking calls", "of the run", "percent", 100.0, "regions")
        }
        "launch_wait_pct" => {
            ("launch_wait", "The GPU waits for launch calls", "of the run", "percent", 100.0, "regions")
        }
        "api_overhead_pct" => {
            ("host_api", "The GPU waits while a host call is open", "of the run", "percent", 100.0, "regions")
        }
        "avg_kernel_duration_us" => {
            ("kernel_duration", "The median hot kernel lasts", "µs", "us", 1.0, "kernels")
        }
        "total_kernel_calls" => ("dispatches", "The run has", "dispatches", "count", 1.0, "kernels"),
        "valu_util_pct" => (
            "valu_util",
            "The hot kernels keep the vector units busy",
            "of their time",
            "percent",
            100.0,
            "counters",
        ),
        "mfma_util_pct" => (
            "mfma_util",
            "The hot kernels keep the matrix units busy",
            "of their time",
            "percent",
            100.0,
            "counters",
        ),
        "hbm_bw_utilization" => {
            ("hbm_util", "The hot kernels reach", "of peak HBM bandwidth", "percent", 100.0, "counters")
        }
        "occupancy_pct" => (
            "occupancy",
            "The hot kernels hold",
            "of the waves the GPU can hold",
            "percent",
            100.0,
            "counters",
        ),
        "arithmetic_intensity_above_ridge" => {
            ("above_ridge", "The hot kernels lie above the ridge:", "", "boolean", 1.0, "counters")
        }
        "arithmetic_intensity_below_ridge" => {
            ("below_ridge", "The hot kernels lie below the ridge:", "", "boolean", 1.0, "counters")
        }
        other => (other, other, "", "ratio", 1.0, "facts"),
    }
}

fn item(rule: &Held, judged: &Judged) -> EvidenceItem {
    let (id, before, after, unit, scale, source) = reading(rule.metric);
    let value = round(rule.value * scale, 2);
    let shown = match unit {
        "percent" => words::percent(value),
        "count" => words::count(whole(value)),
        "boolean" => if value > 0.0 { "yes" } else { "no" }.to_owned(),
        _ => format!("{value:.1}"),
    };
    let text =
        [before, &shown, after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let decided = judged.verdict.detail.map(|detail| detail.as_str());
    let best = judged.verdict.best.and_then(|best| best.detail).map(|detail| detail.as_str());
    let role = match (Some(rule.of) == decided || Some(rule.of) == best, rule.passed) {
        (true, true) => "supports",
        (true, false) => "contradicts",
        (false, _) => "context",
    };
    EvidenceItem {
        id: id.to_owned(),
        text,
        metric: metric_name(rule.metric).to_owned(),
        value: Some(value),
        unit: unit.to_owned(),
        comparator: Some(rule.op.as_str().to_owned()),
        threshold: Some(round(rule.threshold * scale, 2)),
        role: role.to_owned(),
        source: source.to_owned(),
    }
}

fn metric_name(metric: &str) -> &str {
    if metric == "exposed_host_pct + gpu_idle_pct" { "gpu_waiting_pct" } else { metric }
}

/// What the narrative is made of.
pub(crate) fn story(measured: &Measured<'_>, judged: &Judged, recommendations: &[Recommendation]) -> Story {
    let profile = &measured.run.profile;
    let [kernel, copy, api, idle] = profile.parts().percentages().map(Percent::value);
    let gap = |cause| measured.of_run(profile.gaps.of(cause).total);
    let largest = recommendations
        .iter()
        .filter_map(|entry| Some((entry.category.clone(), entry.gain_bound_pct?)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best });
    let bad = measured.status() != Status::Ok;
    let worst = measured.health.items().first().filter(|item| bad && item.severity != Severity::Info);
    let reason = if profile.judgeable() {
        judged.missing.first().map(|missing| missing.reason.to_owned())
    } else {
        Some("it holds no usable kernel dispatch and no usable copy".to_owned())
    };
    Story {
        kind: judged.verdict.kind,
        detail: judged.verdict.detail,
        total_runtime_ns: profile.total_runtime().0,
        shares: RunShares {
            kernel_pct: kernel,
            copy_pct: copy,
            api_pct: api,
            idle_pct: idle,
            peer_copy_pct: measured.of_run(measured.sum(|times| times.exposed_peer_copy)),
            communication_pct: measured.of_run(measured.sum(|times| times.exposed_collective)),
            launch_gap_pct: gap(GapCause::Launch),
            sync_gap_pct: gap(GapCause::Sync),
        },
        dominant: measured.kernels.first().map(|kernel| Dominant {
            short_name: short_name(&kernel.name),
            share_pct: percent(kernel.durations.total, profile.kernel_sum()),
            calls: kernel.durations.count,
            has_counters: false,
        }),
        counters: CounterShares::default(),
        dispatches: profile.rows.dispatches,
        median_ns: profile.hot_median.map(whole),
        largest_gain: largest,
        missing_reason: reason,
        has_counters: measured.has_counter_rows(),
        care: worst.map(|item| item.message.clone()),
    }
}

/// Two to six sentences for a reader in a hurry.
pub(super) fn key_findings(measured: &Measured<'_>, story: &Story) -> Vec<String> {
    let shares = &story.shares;
    let mut findings = vec![format!(
        "Kernels run {} of the run, exposed copies {}, host calls {}, idle {}.",
        words::percent(shares.kernel_pct),
        words::percent(shares.copy_pct),
        words::percent(shares.api_pct),
        words::percent(shares.idle_pct)
    )];
    findings.extend(story.dominant.as_ref().map(|dominant| {
        format!(
            "{} takes {} of kernel time in {}.",
            words::name(&dominant.short_name),
            words::percent(dominant.share_pct),
            words::counted(dominant.calls, "call", "calls")
        )
    }));
    let exposed: Vec<String> = measured
        .run
        .profile
        .copies
        .iter()
        .map(|copies| (copies.direction.label(), measured.of_run(copies.exposed)))
        .filter(|(_, share)| *share >= 1.0)
        .map(|(label, share)| format!("{label} {}", words::percent(share)))
        .collect();
    if !exposed.is_empty() {
        findings.push(format!("Copies with no kernel beside them: {}.", exposed.join(", ")));
    }
    if story.dominant.is_some() || story.kind == Kind::DataInsufficient {
        let counters = if story.has_counters {
            "The trace holds hardware counters."
        } else {
            "The trace holds no hardware counters."
        };
        findings.push(counters.to_owned());
    }
    if let Some(care) = &story.care {
        findings.push(care.clone());
    }
    if let Some((category, gain)) = &story.largest_gain {
        findings
            .push(format!("Largest bounded gain: {category}, at most {} of the run.", words::percent(*gain)));
    }
    findings.truncate(6);
    findings
}

/// The deterministic narrative, sentence by sentence.
pub(crate) fn narrative(story: &Story) -> Vec<String> {
    narrative::sentences(story)
}
