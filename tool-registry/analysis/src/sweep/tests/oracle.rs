//! A slow oracle: every elementary stretch of time looked at on its own, straight from the definitions.

use std::collections::{BTreeMap, BTreeSet};

use perfxpert_knowledge::api;
use perfxpert_trace::{AgentIdx, Direction, Dispatch, MemoryCopy, ProcessIdx, QueueIdx, Region, ThreadIdx};
use proptest::prelude::*;

use super::run::Run;
use crate::profile::{CallClass, CauseTotal, GapCause, KernelKind};
use crate::sweep::Limits;
use crate::units::{Bytes, Nanos};

const KERNELS: [&str; 5] =
    ["gemm", "relu", "ncclDevKernel_Generic", "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer"];
const CALLS: [&str; 9] = [
    "hipLaunchKernel",
    "hipMalloc",
    "hipDeviceSynchronize",
    "hipMemcpyAsync",
    "hipModuleLoad",
    "hipGetDevice",
    "hipMemcpy",
    "hipStreamSynchronize",
    "hipGraphLaunch",
];
const DIRECTIONS: [Direction; 4] =
    [Direction::HostToDevice, Direction::DeviceToHost, Direction::DeviceToDevice, Direction::Peer];

fn kind(name: &str) -> KernelKind {
    match name {
        "ncclDevKernel_Generic" => KernelKind::Collective,
        "__amd_rocclr_copyBuffer" => KernelKind::RuntimeCopy,
        "__amd_rocclr_fillBuffer" => KernelKind::Runtime,
        _ => KernelKind::User,
    }
}

/// What the oracle says about one GPU.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    parts: [u64; 4],
    copy_busy: u64,
    overlap: u64,
    compute: u64,
    user: u64,
    collective: u64,
    exposed_collective: u64,
    collective_overlap: u64,
    concurrent: u64,
    exposed_runtime: u64,
    alone: BTreeMap<u32, u64>,
    busy: BTreeMap<u32, u64>,
    gaps: BTreeMap<&'static str, (u64, u64)>,
    exposed_by_call: BTreeMap<u32, u64>,
    exposed_by_direction: BTreeMap<&'static str, u64>,
}

fn touches(copy: &MemoryCopy, agent: AgentIdx) -> bool {
    copy.source == agent || copy.destination == agent
}

/// The launching call of a row, as far as it had been seen when the row started.
fn caller(run: &Run, process: ProcessIdx, call: i64, start: i64) -> Option<&Region> {
    run.regions
        .iter()
        .find(|region| region.process == process && region.call == call && region.start <= start)
}

fn expect(run: &Run, agent: AgentIdx, limits: &Limits) -> Option<Expected> {
    let dispatches: Vec<&Dispatch> = run.dispatches.iter().filter(|row| row.agent == agent).collect();
    let copies: Vec<&MemoryCopy> = run.copies.iter().filter(|row| touches(row, agent)).collect();
    let spans = || {
        dispatches.iter().map(|row| (row.start, row.end)).chain(copies.iter().map(|row| (row.start, row.end)))
    };
    let first = spans().map(|span| span.0).min()?;
    let last = spans().map(|span| span.1).max()?;
    let users: BTreeSet<ProcessIdx> =
        dispatches.iter().map(|row| row.process).chain(copies.iter().map(|row| row.process)).collect();
    let mut regions: Vec<&Region> = run.regions.iter().filter(|row| users.contains(&row.process)).collect();
    regions.sort_by_key(|row| (row.start, row.process, row.row));
    let api_known = !regions.is_empty();
    let mut edges: BTreeSet<i64> = spans().flat_map(|(start, end)| [start, end]).collect();
    edges.extend(regions.iter().flat_map(|row| [row.start, row.end]));
    edges.retain(|edge| (first..=last).contains(edge));
    let edges: Vec<i64> = edges.into_iter().collect();
    let mut found = Expected::default();
    let kind_of = |row: &Dispatch| kind(&run.kernels[row.kernel.get()]);
    let mut ordered_copies = copies.clone();
    ordered_copies.sort_by_key(|row| (row.start, row.process, row.row));
    for pair in edges.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = u64::try_from(to - from).unwrap();
        let runs = |start: i64, end: i64| start <= from && end >= to;
        let active: Vec<&&Dispatch> = dispatches.iter().filter(|row| runs(row.start, row.end)).collect();
        let kernels: Vec<&&&Dispatch> =
            active.iter().filter(|row| kind_of(row) != KernelKind::RuntimeCopy).collect();
        let runtime_copy = active.iter().any(|row| kind_of(row) == KernelKind::RuntimeCopy);
        let copy = ordered_copies.iter().find(|row| runs(row.start, row.end));
        let any = |wanted: KernelKind| kernels.iter().any(|row| kind_of(row) == wanted);
        let copying = copy.is_some() || runtime_copy;
        let (user, collective) = (any(KernelKind::User), any(KernelKind::Collective));
        let compute = user || any(KernelKind::Runtime);
        let add = |total: &mut u64, yes: bool| *total += if yes { length } else { 0 };
        add(&mut found.copy_busy, copying);
        add(&mut found.overlap, copying && !kernels.is_empty());
        add(&mut found.compute, compute);
        add(&mut found.user, user);
        add(&mut found.collective, collective);
        add(&mut found.exposed_collective, collective && !compute);
        add(&mut found.collective_overlap, collective && user);
        add(&mut found.concurrent, kernels.len() >= 2);
        let distinct: BTreeSet<u32> = kernels.iter().map(|row| row.kernel.0).collect();
        if let (1, Some(only)) = (distinct.len(), distinct.first()) {
            *found.alone.entry(*only).or_default() += length;
        }
        let all: BTreeSet<u32> = active.iter().map(|row| row.kernel.0).collect();
        for kernel in all {
            *found.busy.entry(kernel).or_default() += length;
        }
        if !kernels.is_empty() {
            found.parts[0] += length;
        } else if let Some(copy) = copy {
            found.parts[1] += length;
            *found.exposed_by_direction.entry(copy.direction.label()).or_default() += length;
        } else if runtime_copy {
            found.parts[1] += length;
            found.exposed_runtime += length;
        } else if let Some(call) = regions.iter().find(|row| runs(row.start, row.end)) {
            found.parts[2] += length;
            *found.exposed_by_call.entry(call.name.0).or_default() += length;
        } else {
            found.parts[3] += length;
        }
    }
    // Gaps: between one end of all work and the next start.
    let starts: BTreeSet<i64> = spans().map(|span| span.0).collect();
    for &end in &starts {
        let Some(begin) = spans().filter(|span| span.0 < end).map(|span| span.1).max() else { continue };
        if begin >= end {
            continue;
        }
        let length = u64::try_from(end - begin).unwrap();
        // Copies before dispatches at one start, then process, then row.
        let next_copy = ordered_copies.iter().find(|row| row.start == end);
        let next_dispatch =
            dispatches.iter().filter(|row| row.start == end).min_by_key(|row| (row.process, row.row));
        let (process, call) = match (next_copy, next_dispatch) {
            (Some(copy), _) => (copy.process, copy.call),
            (None, Some(row)) => (row.process, row.call),
            (None, None) => unreachable!(),
        };
        let launched = caller(run, process, call, end);
        let union = |wanted: &dyn Fn(&Region) -> bool| -> u64 {
            (begin..end)
                .filter(|&at| regions.iter().any(|row| wanted(row) && row.start <= at && row.end > at))
                .count() as u64
        };
        let text = |row: &Region| run.names[row.name.get()].0.as_str();
        let class = |row: &Region, wanted: CallClass| api::family(text(row)) == wanted;
        let half = |covered: u64| covered * 2 >= length;
        let wait = regions
            .iter()
            .filter(|row| api::blocks(text(row)) && row.start <= begin && row.end > begin)
            .map(|row| u64::try_from(row.end.min(end) - begin).unwrap())
            .max();
        let lead = i64::try_from(limits.queue_lead.0).unwrap();
        let cause = if launched.is_some_and(|call| call.end + lead <= begin) {
            GapCause::Queued
        } else if wait.is_some_and(|covered| half(covered) || length < limits.short_gap.0) {
            GapCause::Sync
        } else if half(union(&|row| class(row, CallClass::Launch))) {
            GapCause::Launch
        } else if half(union(&|row| class(row, CallClass::Alloc))) {
            GapCause::Alloc
        } else if half(union(&|row| class(row, CallClass::Module))) {
            GapCause::Module
        } else if half(union(&|row| class(row, CallClass::Copy) && !api::blocks(text(row)))) {
            GapCause::CopyCall
        } else if half(union(&|_| true)) {
            GapCause::ApiOther
        } else if api_known {
            GapCause::Host
        } else {
            GapCause::Unknown
        };
        let entry = found.gaps.entry(cause.label()).or_default();
        entry.0 += 1;
        entry.1 += length;
    }
    Some(found)
}

fn observed(run: &Run, agent: AgentIdx, limits: &Limits) -> Option<Expected> {
    let profile = run.profile_with(limits, Nanos::ZERO);
    let agent = profile.agents.iter().find(|known| known.agent == agent)?;
    let times = agent.times;
    let parts = times.parts;
    let some = |value: u64| (value > 0).then_some(value);
    Some(Expected {
        parts: [parts.kernel.0, parts.exposed_copy.0, parts.host_api.0, parts.idle.0],
        copy_busy: times.copy_busy.0,
        overlap: times.overlap.0,
        compute: times.compute_busy.0,
        user: times.user_busy.0,
        collective: times.collective_busy.0,
        exposed_collective: times.exposed_collective.0,
        collective_overlap: times.collective_overlap.0,
        concurrent: times.concurrent.0,
        exposed_runtime: times.exposed_runtime_copy.0,
        alone: agent.kernels.iter().filter_map(|row| Some((row.kernel.0, some(row.alone.0)?))).collect(),
        busy: agent.kernels.iter().filter_map(|row| Some((row.kernel.0, some(row.busy.0)?))).collect(),
        gaps: GapCause::ALL
            .iter()
            .map(|&cause| (cause.label(), times.gaps_of(cause)))
            .filter(|(_, total)| *total != CauseTotal::default())
            .map(|(label, total)| (label, (total.count, total.total.0)))
            .collect(),
        // With one GPU these totals are its own.
        exposed_by_call: profile
            .calls
            .iter()
            .filter_map(|call| Some((call.name.0, some(call.exposed.0)?)))
            .collect(),
        exposed_by_direction: profile
            .copies
            .iter()
            .filter_map(|copy| Some((copy.direction.label(), some(copy.exposed.0)?)))
            .collect(),
    })
}

type Kernel = (usize, i64, i64, u32, u32, u32, i64);
type Copy = (usize, i64, i64, u32, i64);
type Call = (usize, i64, i64, u32, u32);

fn build(gpus: u32, kernels: Vec<Kernel>, copies: Vec<Copy>, calls: Vec<Call>) -> Run {
    let mut run = Run::new(gpus, 2);
    // Calls first, so that their ids exist; rows of one process and thread.
    for (name, start, length, process, thread) in calls {
        let row = run.call(CALLS[name], 1000 + start, 1000 + start + length);
        row.process = ProcessIdx(process);
        row.thread = ThreadIdx(process * 4 + thread);
    }
    for (name, start, length, process, agent, queue, call) in kernels {
        let row = run.kernel(KERNELS[name], 1000 + start, 1000 + start + length);
        row.process = ProcessIdx(process);
        row.agent = AgentIdx(1 + agent % gpus);
        row.queue = QueueIdx(process * 8 + queue);
        row.call = call;
    }
    for (direction, start, length, process, call) in copies {
        let direction = DIRECTIONS[direction];
        let direction =
            if gpus == 1 && direction == Direction::Peer { Direction::HostToDevice } else { direction };
        let row = run.copy(direction, 100, 1000 + start, 1000 + start + length);
        row.process = ProcessIdx(process);
        row.call = call;
    }
    run
}

fn runs(gpus: u32, processes: u32) -> impl Strategy<Value = Run> {
    let kernel = (0..KERNELS.len(), 0..300_i64, 0..60_i64, 0..processes, 0..gpus, 0..2_u32, 0..8_i64);
    let copy = (0..DIRECTIONS.len(), 0..300_i64, 0..60_i64, 0..processes, 0..8_i64);
    let call = (0..CALLS.len(), -40..300_i64, 0..50_i64, 0..processes, 0..2_u32);
    (
        prop::collection::vec(kernel, 0..10),
        prop::collection::vec(copy, 0..5),
        prop::collection::vec(call, 0..12),
    )
        .prop_map(move |(kernels, copies, calls)| build(gpus, kernels, copies, calls))
}

fn limits() -> Limits {
    Limits {
        queue_lead: Nanos(15),
        short_gap: Nanos(12),
        small_copy: Bytes(50),
        overlong_followers: u64::MAX,
        ..Limits::from_facts()
    }
}

proptest! {
    #[test]
    fn one_gpu_agrees_with_the_oracle(run in runs(1, 1)) {
        prop_assert_eq!(observed(&run, AgentIdx(1), &limits()), expect(&run, AgentIdx(1), &limits()));
    }

    #[test]
    fn shared_gpus_agree_with_the_oracle(run in runs(2, 2)) {
        for agent in [AgentIdx(1), AgentIdx(2)] {
            let (mut seen, mut wanted) = (observed(&run, agent, &limits()), expect(&run, agent, &limits()));
            // Totals by call and direction are those of both GPUs; the next property adds them up.
            for side in [&mut seen, &mut wanted].into_iter().flatten() {
                side.exposed_by_call.clear();
                side.exposed_by_direction.clear();
            }
            prop_assert_eq!(seen, wanted);
        }
    }

    #[test]
    fn parts_and_gaps_fill_the_window(run in runs(2, 2)) {
        let profile = run.profile_with(&limits(), Nanos::ZERO);
        for agent in &profile.agents {
            let times = agent.times;
            prop_assert_eq!(times.parts.window(), Nanos::between(times.window_start, times.window_end));
            let gaps: Nanos = times.gaps.iter().map(|cause| cause.total).sum();
            prop_assert_eq!(gaps, times.parts.waiting());
        }
        let exposed: Nanos = profile.calls.iter().map(|call| call.exposed).sum();
        prop_assert_eq!(exposed, profile.parts().host_api);
        let copies: Nanos = profile.copies.iter().map(|copy| copy.exposed).sum();
        let runtime: Nanos = profile.agents.iter().map(|agent| agent.times.exposed_runtime_copy).sum();
        prop_assert_eq!(copies + runtime, profile.parts().exposed_copy);
        let slices: crate::profile::TimeParts = profile.timeline.slices.iter().copied().sum();
        prop_assert_eq!(slices, profile.parts());
        let shares: u32 = profile.parts().percentages().iter().map(|share| share.hundredths).sum();
        prop_assert!(shares == 10_000 || profile.normalized_runtime() == Nanos::ZERO);
    }
}
