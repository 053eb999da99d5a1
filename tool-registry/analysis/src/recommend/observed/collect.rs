//! Reads what advice needs out of a profile.

use perfxpert_knowledge::thresholds;
use perfxpert_source::PatternId;
use perfxpert_trace::{Direction, KernelIdx, Severity};

use super::{FusionPair, Observed, ObservedAgent, ObservedCall, ObservedCopies, ObservedKernel, RuleInput};
use crate::gpu::Gpu;
use crate::naming;
use crate::occupancy::Unit;
use crate::profile::{AgentTimes, CopyProfile, GapCause, KernelKind, KernelProfile, Neighbour};
use crate::resources;
use crate::units::{Nanos, Percent};
use crate::verdict::health_factor;

pub(super) fn observed(input: &RuleInput<'_>) -> Observed {
    let profile = input.profile;
    let sum =
        |of: fn(&AgentTimes) -> Nanos| -> Nanos { profile.agents.iter().map(|agent| of(&agent.times)).sum() };
    let name = |kernel: KernelIdx| input.trace.kernel(kernel).map(|kernel| kernel.name.to_string());
    let neighbour = |beside: Neighbour| match beside {
        Neighbour::Kernel(kernel) => {
            name(kernel).map_or_else(|| "a kernel".to_owned(), |name| naming::short_name(&name))
        }
        Neighbour::Copy(direction) => format!("a {} copy", direction.label()),
    };
    let unexplained = |cause: GapCause| matches!(cause, GapCause::Host | GapCause::Unknown);
    let host = &profile.host;
    let mut calls: Vec<ObservedCall> = profile
        .calls
        .iter()
        .filter(|call| call.host_api)
        .map(|call| ObservedCall {
            name: call.text.to_string(),
            class: call.class,
            blocking: call.blocking,
            calls: call.calls,
            exposed: call.exposed,
        })
        .collect();
    calls.sort_by(|a, b| b.exposed.cmp(&a.exposed).then_with(|| a.name.cmp(&b.name)));
    let whole = profile.normalized_runtime();
    let kernel_sum = profile.kernel_sum();
    Observed {
        window: whole,
        kernel_busy: profile.kernel_busy(),
        overlap: sum(|times| times.overlap),
        both_directions: sum(|times| times.both_directions),
        runtime_copy_exposed: sum(|times| times.exposed_runtime_copy),
        copies: profile.copies.iter().map(|copies| observed_copies(copies, input.gpus)).collect(),
        api_traced: host.api_known,
        dispatches: profile.rows.dispatches,
        median_dispatch: profile.median_dispatch,
        gaps: profile.gaps.by_cause,
        short_unknown: profile.gaps.short_unknown,
        sync_calls: profile
            .gaps
            .sync_calls
            .iter()
            .map(|(call, gaps)| {
                let name = input.trace.name(*call).map(|name| name.text.to_string());
                (name.unwrap_or_else(|| "an unnamed call".to_owned()), gaps.count)
            })
            .collect(),
        calls,
        blocking_calls: host.api_known.then_some(host.blocking_calls),
        graph_launch_frac: (host.linked > 0).then(|| ratio(host.graph_dispatches, host.linked)),
        work_streams: None,
        repeat_frac: None,
        sync_in_loop: input.scan.map(|scan| {
            let waits = scan
                .patterns
                .iter()
                .filter(|pattern| matches!(pattern.id, PatternId::DeviceSync | PatternId::PythonSync));
            waits.map(|pattern| pattern.in_loop_count).sum::<u64>() > 0
        }),
        longest_idle: profile
            .gaps
            .largest
            .iter()
            .find(|gap| unexplained(gap.cause))
            .map(|gap| (gap.length, neighbour(gap.before))),
        pairs: pairs(input),
        agents: profile
            .agents
            .iter()
            .map(|agent| ObservedAgent {
                window: agent.times.window(),
                kernel: agent.times.parts.kernel,
                collective: agent.times.collective_busy,
                exposed_collective: agent.times.exposed_collective,
            })
            .collect(),
        common_kernel_time: common_kernel_time(input),
        communication: input.communication.cloned(),
        throttled: input.throttled.to_vec(),
        thread_trace: input.thread_trace.to_vec(),
        kernels: profile
            .kernels
            .iter()
            .map(|kernel| observed_kernel(input, kernel, whole, kernel_sum))
            .collect(),
        has_counters: !input.metrics.is_empty(),
        gfx_id: input.gpus.first().and_then(|gpu| gpu.gfx_id.clone()),
        health: health(input),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than 53 bits")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Factor of the worst item of the reader and of the analysis.
fn health(input: &RuleInput<'_>) -> f64 {
    let worst = input.trace.health().worst().max(input.profile.health.worst());
    health_factor(worst == Some(Severity::DataLoss), worst == Some(Severity::Warning))
}

fn observed_copies(copies: &CopyProfile, gpus: &[Gpu]) -> ObservedCopies {
    let host = matches!(copies.direction, Direction::HostToDevice | Direction::DeviceToHost);
    // GPUs of one run nearly always sit on like links; where not, the slowest one is the one that may be at its limit.
    let peak = gpus.iter().filter_map(Gpu::host_link_peak_gbps).reduce(f64::min);
    ObservedCopies {
        direction: copies.direction,
        count: copies.durations.count,
        bytes: copies.bytes,
        busy: copies.busy,
        exposed: copies.exposed,
        small_count: copies.small.count,
        small_exposed: copies.small.exposed,
        small_median: copies.small_median,
        large_count: copies.large.count,
        large_exposed: copies.large.exposed,
        large_gbps: copies.large_bandwidth().map(|rate| rate.gbps()),
        link_peak_gbps: peak.filter(|_| host),
        split_calls: copies.split_calls,
    }
}

/// Pairs of the report's fusion candidates: close, frequent, both kernels short by their medians.
fn pairs(input: &RuleInput<'_>) -> Vec<FusionPair> {
    let limits = thresholds::report();
    let bound = Nanos(limits.fusion_max_gap_ns);
    #[expect(clippy::cast_precision_loss, reason = "a threshold of microseconds")]
    let short = limits.launch_short_ns as f64;
    let kernels: std::collections::BTreeMap<KernelIdx, &KernelProfile> =
        input.profile.kernels.iter().map(|kernel| (kernel.kernel, kernel)).collect();
    let mut pairs: Vec<FusionPair> = input
        .profile
        .pairs
        .iter()
        .filter_map(|pair| {
            let found = pair.within.iter().find(|within| within.max_gap == bound)?;
            let (first, second) = (kernels.get(&pair.first)?, kernels.get(&pair.second)?);
            let fits = found.count >= limits.fusion_min_count
                && first.durations.median < short
                && second.durations.median < short;
            fits.then(|| FusionPair {
                first: naming::short_name(&first.name),
                second: naming::short_name(&second.name),
                names: [first.name.to_string(), second.name.to_string()],
                count: found.count,
                saving: found.gaps,
            })
        })
        .collect();
    pairs.sort_by(|a, b| b.saving.cmp(&a.saving).then_with(|| a.names.cmp(&b.names)));
    pairs
}

fn common_kernel_time(input: &RuleInput<'_>) -> Option<f64> {
    let profile = input.profile;
    let with_kernels = profile.agents.iter().filter(|agent| agent.times.dispatches > 0).count();
    if profile.agents.len() < 2 {
        return None;
    }
    let total: Nanos = profile.kernels.iter().map(|kernel| kernel.total).sum();
    let common: Nanos = profile
        .kernels
        .iter()
        .filter(|kernel| kernel.agents.len() == with_kernels)
        .map(|kernel| kernel.total)
        .sum();
    common.fraction_of(total)
}

fn observed_kernel(
    input: &RuleInput<'_>,
    kernel: &KernelProfile,
    whole: Nanos,
    kernel_sum: Nanos,
) -> ObservedKernel {
    let gpu = input.gpus.iter().find(|gpu| kernel.agents.contains(&gpu.agent));
    let arch = gpu.and_then(|gpu| gpu.arch);
    let wave = gpu.and_then(|gpu| gpu.wave_size).or(arch.map(|arch| arch.native_wave));
    let percent = |part: Nanos, of: Nanos| Percent::of(part.0, of.0).map(Percent::value);
    let user = kernel.kind == KernelKind::User;
    let definition = input.scan.filter(|_| user).and_then(|scan| scan.definition(&kernel.name));
    ObservedKernel {
        name: kernel.name.to_string(),
        short: naming::short_name(&kernel.name),
        slug: naming::slug(&kernel.name),
        kind: kernel.kind,
        category: kernel.category,
        calls: kernel.calls,
        mean: kernel.durations.mean(),
        pct_of_total: percent(kernel.durations.total, kernel_sum),
        pct_of_runtime: percent(kernel.busy, whole),
        alone: kernel.alone.fraction_of(kernel.busy),
        first: kernel.first,
        median_rest: kernel.median_rest,
        judged_calls: kernel.durations.count,
        resources: user.then(|| resources::of_kernel(input.trace, input.gpus, kernel)),
        unit: arch.zip(wave).and_then(|(arch, wave)| Unit::of(arch, wave, false)),
        cu_count: gpu.and_then(|gpu| gpu.cu_count),
        wave_size: wave,
        matrix_pipe: arch.map(|arch| arch.matrix_pipe.as_str()),
        launch_bounds: definition.and_then(|found| found.launch_bounds.clone()),
        in_source: definition.is_some(),
        metrics: input.metrics.get(&kernel.kernel).cloned().unwrap_or_default(),
    }
}
