//! Worked examples of the time model, the report and the health checks.

use perfxpert_knowledge::api::Family as Class;
use perfxpert_trace::{AgentIdx, Direction, ProcessIdx, QueueIdx, StreamIdx, ThreadIdx};

use super::run::Run;
use crate::profile::{GapCause, RunProfile, TimeParts};
use crate::sweep::Limits;
use crate::units::Nanos;

fn parts(profile: &RunProfile) -> [u64; 4] {
    let TimeParts { kernel, exposed_copy, host_api, idle } = profile.parts();
    [kernel.0, exposed_copy.0, host_api.0, idle.0]
}

#[test]
fn kernels_then_a_copy() {
    let mut run = Run::new(1, 1);
    run.kernel("a", 1000, 1060);
    run.kernel("b", 1060, 1080);
    run.copy(Direction::HostToDevice, 10, 1080, 1100);
    let profile = run.profile();
    assert_eq!(parts(&profile), [80, 20, 0, 0]);
    assert_eq!(profile.total_runtime(), Nanos(100));
    assert_eq!(profile.gaps.lengths.count, 0, "neighbours that share an instant leave no gap");
}

#[test]
fn two_queues_at_once() {
    let mut run = Run::new(1, 1);
    run.kernel("a", 1000, 1100);
    run.kernel("a", 1000, 1100).queue = QueueIdx(1);
    let profile = run.profile();
    assert_eq!(parts(&profile), [100, 0, 0, 0]);
    let times = profile.agents[0].times;
    assert_eq!((times.kernel_sum(), times.concurrency()), (Nanos(200), Some(2.0)));
    assert_eq!(times.concurrent, Nanos(100));
    assert_eq!(profile.kernels[0].alone, Nanos(100), "one kernel beside itself is still the only kernel");
}

#[test]
fn overlap_call_and_idle() {
    let mut run = Run::new(1, 1);
    run.kernel("a", 1000, 1050);
    run.copy(Direction::HostToDevice, 10, 1040, 1080);
    run.call("hipGetDevice", 1070, 1090);
    run.kernel("a", 1100, 1120);
    let profile = run.profile();
    assert_eq!(parts(&profile), [70, 30, 10, 10]);
    let percent = profile.parts().percentages().map(|share| share.value());
    assert_eq!(percent, [58.34, 25.0, 8.33, 8.33]);
    assert_eq!(profile.agents[0].times.overlap, Nanos(10));
}

#[test]
fn two_gpus_add_up_their_windows() {
    let mut run = Run::new(2, 1);
    run.kernel("a", 1000, 1100);
    run.kernel("a", 1000, 1050).agent = AgentIdx(2);
    run.kernel("a", 1090, 1100).agent = AgentIdx(2);
    let profile = run.profile();
    assert_eq!(parts(&profile), [160, 0, 0, 40]);
    assert_eq!(profile.normalized_runtime(), Nanos(200));
    assert_eq!(profile.total_runtime(), Nanos(100));
}

#[test]
fn shares_of_the_report() {
    // Agent A 600 / 100 / 50 / 250 of 1000; agent B 450 / 0 / 0 / 50 of 500.
    let mut run = Run::new(2, 2);
    run.kernel("a", 1000, 1600);
    run.copy(Direction::HostToDevice, 10, 1600, 1700);
    run.call("hipGetDevice", 1700, 1750);
    run.kernel("a", 2000, 2000);
    for (start, end) in [(1000, 1450), (1500, 1500)] {
        let row = run.kernel("b", start, end);
        (row.agent, row.process) = (AgentIdx(2), ProcessIdx(1));
    }
    let profile = run.profile();
    let percent = |parts: TimeParts| parts.percentages().map(|share| share.value());
    assert_eq!(percent(profile.agents[0].times.parts), [60.0, 10.0, 5.0, 25.0]);
    assert_eq!(percent(profile.agents[1].times.parts), [90.0, 0.0, 0.0, 10.0]);
    assert_eq!(percent(profile.parts()), [70.0, 6.67, 3.33, 20.0]);
    assert_eq!(profile.agents[1].times.gaps_of(GapCause::Unknown).count, 1, "its process recorded no calls");
    assert_eq!(profile.agents[0].times.gaps_of(GapCause::Host).count, 1);
}

const GEMM: &str = "void gemm<float, 16>(float const*, float const*, float*, int)";
const RELU: &str = "relu(float*, int)";

/// The report's first worked example.
fn step() -> Run {
    let us = |time: i64| 1_000_000 + time * 1000;
    let mut run = Run::new(1, 1);
    for (name, start, end) in [
        ("hipMemcpy", 0, 325),
        ("hipMemcpy", 556, 645),
        ("hipLaunchKernel", 325, 329),
        ("hipLaunchKernel", 329, 333),
        ("hipLaunchKernel", 645, 648),
        ("hipLaunchKernel", 648, 651),
        ("hipDeviceSynchronize", 533, 556),
        ("hipDeviceSynchronize", 851, 1001),
        ("hipMemcpyAsync", 690, 695),
    ] {
        run.call(name, us(start), us(end));
    }
    run.copy(Direction::HostToDevice, 16 << 20, us(0), us(320)).call = 1;
    run.copy(Direction::DeviceToHost, 4 << 20, us(560), us(640)).call = 2;
    let prefetch = run.copy(Direction::HostToDevice, 16 << 20, us(700), us(1000));
    (prefetch.call, prefetch.stream) = (9, StreamIdx(1));
    for (name, start, end, call) in
        [(GEMM, 330, 530, 3), (RELU, 532, 552, 4), (GEMM, 650, 850, 5), (RELU, 852, 872, 6)]
    {
        run.kernel(name, us(start), us(end)).call = call;
    }
    run
}

#[test]
fn the_step_of_the_report() {
    let profile = step().profile();
    assert_eq!(parts(&profile), [440_000, 530_000, 28_000, 2000]);
    let times = profile.agents[0].times;
    assert_eq!(
        (times.dispatch_sum, times.copy_sum, times.overlap),
        (Nanos(440_000), Nanos(700_000), Nanos(170_000))
    );
    assert_eq!(times.concurrent, Nanos::ZERO);
    let kernels: Vec<_> = profile
        .kernels
        .iter()
        .map(|k| (k.name.as_ref(), k.calls, k.total.0, k.busy.0, k.category.as_str()))
        .collect();
    assert_eq!(kernels, [(GEMM, 2, 400_000, 400_000, "GEMM"), (RELU, 2, 40_000, 40_000, "Elementwise")]);
    assert_eq!(profile.median_dispatch, Some(110_000.0));
    let copies: Vec<_> = profile
        .copies
        .iter()
        .map(|c| {
            (c.direction.label(), c.durations.count, c.bytes.0, c.durations.total.0, c.busy.0, c.exposed.0)
        })
        .collect();
    assert_eq!(
        copies,
        [
            ("Host-to-Device", 2, 33_554_432, 620_000, 620_000, 450_000),
            ("Device-to-Host", 1, 4_194_304, 80_000, 80_000, 80_000),
        ]
    );
    assert_eq!((profile.copies[0].bandwidth().unwrap().gbps() * 1e4).round(), 541_201.0);
    let calls: Vec<_> =
        profile.calls.iter().map(|c| (c.text.as_ref(), c.calls, c.total.0, c.exposed.0)).collect();
    assert_eq!(
        calls,
        [
            ("hipMemcpy", 2, 414_000, 14_000),
            ("hipDeviceSynchronize", 2, 173_000, 4000),
            ("hipLaunchKernel", 4, 14_000, 10_000),
            ("hipMemcpyAsync", 1, 5000, 0),
        ]
    );
    assert_eq!(profile.host.total, Nanos(606_000));
    let launch = profile.calls.iter().find(|call| call.class == Class::Launch).unwrap();
    assert_eq!(launch.total, Nanos(14_000));
}

#[test]
fn gaps_of_the_step() {
    let profile = step().profile();
    let gaps = &profile.gaps;
    assert_eq!((gaps.lengths.count, gaps.lengths.total.0, gaps.lengths.max.0), (4, 30_000, 10_000));
    assert_eq!((gaps.lengths.p50.0, gaps.lengths.p95.0), (8000, 10_000));
    let of = |cause| (gaps.of(cause).count, gaps.of(cause).total.0);
    assert_eq!((of(GapCause::Sync), of(GapCause::Queued)), ((3, 28_000), (1, 2000)));
    let name = |index| profile.calls.iter().find(|call| call.name == index).map(|call| call.text.as_ref());
    let waits: Vec<_> =
        gaps.sync_calls.iter().map(|(call, total)| (name(*call).unwrap(), total.count)).collect();
    assert_eq!(waits, [("hipMemcpy", 2), ("hipDeviceSynchronize", 1)]);
    assert_eq!(gaps.largest.len(), 4);
}

#[test]
fn slices_add_up_to_the_parts() {
    let profile = step().profile();
    assert_eq!(profile.timeline.slices.len(), 100);
    let sum: TimeParts = profile.timeline.slices.iter().copied().sum();
    assert_eq!(sum, profile.parts());
    // 0..320 is a copy, 330..530 a kernel: slice 4 is 40..50 µs, slice 40 is 400..410 µs.
    assert_eq!(profile.timeline.slices[4].exposed_copy, Nanos(10_000));
    assert_eq!(profile.timeline.slices[40].kernel, Nanos(10_000));
}

#[test]
fn a_launch_bound_run() {
    let mut run = Run::new(1, 1);
    for step in 0..2000_i64 {
        let start = 1_000_000 + step * 10_000;
        // The call for the next kernel runs in the gap after this one.
        run.call("hipLaunchKernel", start - 5500, start - 500);
        run.kernel("step()", start, start + 4000).call = step + 1;
    }
    let profile = run.profile();
    assert_eq!(profile.total_runtime(), Nanos(19_994_000));
    let percent = profile.parts().percentages().map(|share| share.value());
    assert_eq!(percent, [40.01, 0.0, 49.99, 10.0]);
    let launch = profile.gaps.of(GapCause::Launch);
    assert_eq!((launch.count, launch.total.0), (1999, 11_994_000));
    assert!(profile.pairs.is_empty(), "one kernel repeated is not a pair");
    assert_eq!(profile.host.launch_latency.median, 5500.0);
    assert_eq!((profile.host.linked, profile.host.linked_latency.0), (2000, 2000 * 5500));
}

#[test]
fn filtered_calls_leave_statistics_but_not_times() {
    let profile = step().profile_with(&Limits::from_facts(), Nanos(100_000));
    assert_eq!(parts(&profile), [440_000, 530_000, 28_000, 2000]);
    let relu = profile.kernels.iter().find(|kernel| kernel.name.as_ref() == RELU).unwrap();
    assert_eq!((relu.calls, relu.durations.count, relu.total.0), (2, 0, 40_000));
    assert_eq!(profile.median_dispatch, Some(110_000.0));
}

#[test]
fn first_call_against_the_rest() {
    let mut run = Run::new(1, 1);
    let mut start = 1_000_000;
    for length in [900_000, 100_000, 100_000, 110_000] {
        run.kernel("k", start, start + length);
        start += 2_000_000;
    }
    let kernel = &run.profile().kernels[0];
    assert_eq!((kernel.first, kernel.median_rest), (Nanos(900_000), Some(100_000.0)));
}

#[test]
fn copy_kernels_of_the_runtime_are_copies() {
    let mut run = Run::new(1, 1);
    run.kernel("__amd_rocclr_copyBuffer", 1000, 1100);
    run.kernel("user", 1050, 1150);
    run.kernel("__amd_rocclr_fillBufferAligned", 1150, 1160);
    let profile = run.profile();
    assert_eq!(parts(&profile), [110, 50, 0, 0]);
    let times = profile.agents[0].times;
    assert_eq!((times.exposed_runtime_copy, times.overlap), (Nanos(50), Nanos(50)));
    assert_eq!((times.dispatch_sum, times.kernel_sum()), (Nanos(210), Nanos(110)));
}

#[test]
fn collectives_are_exposed_where_nothing_else_runs() {
    let mut run = Run::new(1, 1);
    run.kernel("ncclDevKernel_Generic(ncclDevComm*)", 1000, 1100);
    run.kernel("user", 1080, 1200).queue = QueueIdx(1);
    let profile = run.profile();
    let times = profile.agents[0].times;
    assert_eq!(times.parts.kernel, Nanos(200));
    assert_eq!(
        (times.exposed_collective, times.collective_busy, times.collective_overlap),
        (Nanos(80), Nanos(100), Nanos(20))
    );
    assert_eq!(profile.collectives[0].beside_user, Nanos(20));
    assert_eq!(profile.kernels.iter().map(|kernel| kernel.beside_user.0).sum::<u64>(), 20);
}

#[test]
fn an_exposed_instant_belongs_to_the_copy_that_started_first() {
    let mut run = Run::new(1, 1);
    run.copy(Direction::HostToDevice, 100, 1000, 1100);
    run.copy(Direction::DeviceToHost, 2 << 20, 1050, 1200);
    run.kernel("k", 1150, 1160);
    let profile = run.profile();
    let exposed: Vec<_> = profile.copies.iter().map(|copy| (copy.direction, copy.exposed.0)).collect();
    assert_eq!(exposed, [(Direction::DeviceToHost, 90), (Direction::HostToDevice, 100)]);
    assert_eq!(profile.agents[0].times.both_directions, Nanos(50));
    let small = profile.copies.iter().find(|copy| copy.direction == Direction::HostToDevice).unwrap().small;
    assert_eq!((small.count, small.exposed), (1, Nanos(100)));
}

#[test]
fn own_time_is_without_nested_calls() {
    let mut run = Run::new(1, 1);
    run.kernel("k", 1000, 1001);
    run.call("hipMemcpy", 2000, 2100);
    run.call("hsa_signal_wait", 2010, 2030);
    run.call("hsa_inner", 2000, 2005);
    run.call("hipFree", 2200, 2250).thread = ThreadIdx(1);
    let profile = run.profile();
    let own = |text: &str| profile.calls.iter().find(|call| call.text.as_ref() == text).unwrap().own.0;
    assert_eq!((own("hipMemcpy"), own("hsa_signal_wait"), own("hsa_inner"), own("hipFree")), (75, 20, 5, 50));
    assert_eq!(profile.host.total, Nanos(150));
    assert_eq!(profile.host.blocked, Nanos(100));
}

#[test]
fn calls_that_share_a_start_nest_by_length() {
    let mut run = Run::new(1, 1);
    run.kernel("k", 1000, 1001);
    run.call("outermost", 1900, 2200);
    run.call("inner", 2000, 2005);
    run.call("outer", 2000, 2100);
    let profile = run.profile();
    let own = |text: &str| profile.calls.iter().find(|call| call.text.as_ref() == text).unwrap().own.0;
    assert_eq!((own("outermost"), own("outer"), own("inner")), (200, 95, 5));
}

#[test]
fn one_graph_launch_owns_many_dispatches() {
    let mut run = Run::new(1, 1);
    run.call("hipGraphLaunch", 1000, 1500);
    for step in 0..50 {
        run.kernel("node", 2000 + step * 10, 2005 + step * 10).call = 1;
    }
    let host = run.profile().host;
    assert_eq!((host.linked, host.launching_calls, host.multi_launch_calls), (50, 1, 1));
    assert_eq!((host.graph_launches, host.graph_dispatches, host.launch_latency.count), (1, 50, 1));
}

#[test]
fn graphs_without_kernels_are_missed() {
    let mut run = Run::new(1, 1);
    for step in 0..1000 {
        run.call("hipGraphLaunch", 1000 + step * 100, 1050 + step * 100);
    }
    for step in 0..12 {
        run.kernel("node", 2000 + step * 1000, 2500 + step * 1000);
    }
    let health = run.profile().health;
    assert_eq!(health.get("missing_graph_kernels").map(|item| item.count), Some(1000));
}

#[test]
fn an_end_that_cannot_be_true_is_cut() {
    let mut run = Run::new(1, 1);
    for step in 0..50_i64 {
        let start = 1_000_000 + step * 1000;
        run.kernel("k", start, if step == 10 { start + 1_000_000 } else { start + 900 });
    }
    let profile = run.profile();
    assert_eq!(profile.rows.clipped, 1);
    assert_eq!(profile.health.get("overlong_on_queue").map(|item| item.count), Some(1));
    let kernel = &profile.kernels[0];
    assert_eq!((kernel.calls, kernel.clipped, kernel.durations.max), (49, 1, Nanos(900)));
    assert_eq!(profile.total_runtime(), Nanos(49_900));
    // The cut dispatch keeps the GPU busy up to the next one: 49 gaps become 48.
    assert_eq!(profile.parts().kernel, Nanos(49 * 900 + 1000));
}

#[test]
fn kernels_side_by_side_on_one_queue_are_no_mistake() {
    let mut run = Run::new(1, 1);
    for step in 0..50_i64 {
        let start = 1_000_000 + step * 100_000;
        run.kernel("long", start, start + 90_000);
        for inner in 0..20 {
            run.kernel("short", start + 1000 + inner * 2000, start + 2000 + inner * 2000);
        }
    }
    let profile = run.profile();
    assert_eq!(profile.rows.clipped, 0);
    assert!(profile.health.get("overlong_on_queue").is_none());
}

#[test]
fn a_copy_after_the_kernel_that_needed_it_is_doubtful() {
    let mut run = Run::new(1, 1);
    run.call("hipMemcpy", 1000, 2000);
    run.call("hipLaunchKernel", 2000, 2010);
    run.kernel("k", 3000, 100_000).call = 2;
    run.copy(Direction::HostToDevice, 100, 60_000, 61_000).call = 1;
    let profile = run.profile();
    assert_eq!(profile.health.get("clock_order").map(|item| item.count), Some(1));
    assert_eq!(profile.order.late_copies, 1);
}

#[test]
fn work_before_its_call_is_doubtful() {
    let mut run = Run::new(1, 1);
    run.call("hipLaunchKernel", 5000, 5010);
    run.kernel("k", 3000, 4000).call = 1;
    let profile = run.profile();
    assert_eq!((profile.order.early_work, profile.host.linked), (1, 0));
}

#[test]
fn nothing_recorded_gives_an_empty_profile() {
    let profile = Run::new(1, 1).profile();
    assert!(!profile.judgeable());
    assert_eq!(profile.parts().window(), Nanos::ZERO);
    assert_eq!((profile.median_dispatch, profile.timeline.slices.len()), (None, 0));
}

#[test]
fn pairs_follow_each_other_on_one_stream_only() {
    let mut run = Run::new(1, 1);
    let mut start = 1_000_000;
    for _ in 0..100 {
        run.kernel("gemm", start, start + 5000);
        run.kernel("relu", start + 5120, start + 10_120);
        run.kernel("other", start + 5200, start + 6000).queue = QueueIdx(7);
        run.copy(Direction::HostToDevice, 8, start + 10_200, start + 10_300);
        start += 50_000;
    }
    for row in run.dispatches.iter_mut().filter(|row| row.queue == QueueIdx(7)) {
        row.stream = StreamIdx(3);
    }
    let profile = run.profile();
    let pairs: Vec<_> =
        profile.pairs.iter().map(|pair| (pair.first.0, pair.second.0, pair.within[0])).collect();
    assert_eq!(pairs.len(), 1, "a copy breaks the stream, another stream is no neighbour");
    let within = pairs[0].2;
    assert_eq!((pairs[0].0, pairs[0].1, within.count, within.gaps.0), (0, 1, 100, 12_000));
    assert_eq!((within.median_gap, within.first_total.0, within.second_total.0), (120.0, 500_000, 500_000));
}

#[test]
fn one_kernel_a_thousand_times_is_repeated() {
    let mut run = Run::new(1, 1);
    for step in 0..1000 {
        run.kernel("k", 1_000_000 + step * 1000, 1_000_900 + step * 1000);
    }
    run.kernel("end", 3_000_000, 3_000_100);
    let profile = run.profile();
    let repeated = profile.repeated[0];
    assert_eq!(
        (repeated.runs, repeated.launches, repeated.longest, repeated.gaps.0),
        (1, 1000, 1000, 99_900)
    );
}

#[test]
fn a_gpu_shared_late_still_counts_every_call() {
    // Process 1 records a call before its first work on the GPU that process 0 already uses.
    let mut run = Run::new(1, 2);
    run.kernel("a", 1000, 1100);
    let call = run.call("hipMalloc", 1100, 1190);
    (call.process, call.thread) = (ProcessIdx(1), ThreadIdx(1));
    run.kernel("a", 1200, 1300);
    run.kernel("b", 1300, 1400).process = ProcessIdx(1);
    let profile = run.profile();
    assert_eq!(parts(&profile), [300, 0, 90, 10]);
    assert_eq!(profile.agents[0].processes, [ProcessIdx(0), ProcessIdx(1)]);
    assert_eq!(profile.gaps.of(GapCause::Alloc).total, Nanos(100));
}

#[test]
fn verdicts_of_the_worked_examples() {
    let health = perfxpert_trace::Health::default();
    let decide = |run: &Run| {
        let (verdict, confidence) = crate::evidence::verdict(&run.profile(), None, &health);
        (verdict.kind.as_str(), verdict.detail.map(|detail| detail.as_str()), confidence)
    };
    // 53 % exposed copies against 20 %: 0.5 + 0.5 * 0.33 / 0.8.
    assert_eq!(decide(&step()), ("memory_transfer", Some("host_device_copy"), 0.71));
    let mut launches = Run::new(1, 1);
    for step in 0..2000_i64 {
        let start = 1_000_000 + step * 10_000;
        launches.call("hipLaunchKernel", start - 5500, start - 500);
        launches.kernel("step()", start, start + 4000).call = step + 1;
    }
    // 60 % waiting against 30 %, all of it for launches: 0.5 + 0.5 * 0.2999 / 0.7.
    assert_eq!(decide(&launches), ("latency", Some("launch_overhead"), 0.71));
    assert_eq!(decide(&Run::new(1, 1)), ("data_insufficient", None, 0.0));
}

#[test]
fn the_hot_set_covers_most_of_the_time() {
    let mut run = Run::new(1, 1);
    for (name, length, start) in [("matmul", 700, 1000), ("conv2d", 200, 2000), ("add", 100, 3000)] {
        run.kernel(name, start, start + length);
    }
    let profile = run.profile();
    let hot: Vec<_> = crate::hotspots::hot_set(&profile)
        .into_iter()
        .map(|(kernel, reason)| (kernel.name.to_string(), reason == crate::hotspots::HotReason::Coverage))
        .collect();
    assert_eq!(hot, [("matmul".to_owned(), true), ("conv2d".to_owned(), true), ("add".to_owned(), false)]);
    let decisive: Vec<_> =
        crate::hotspots::decisive(&profile.kernels).map(|kernel| kernel.name.to_string()).collect();
    assert_eq!(decisive, ["matmul"]);
    assert_eq!(profile.hot_median, Some(700.0));
}

#[test]
fn seventy_nine_of_ninety_nine_small_kernels_are_hot() {
    let mut run = Run::new(1, 1);
    let mut start = 1000;
    for kernel in 0..99 {
        let length = if kernel == 50 { 20 } else { 10 };
        run.kernel(&format!("kernel{kernel:02}"), start, start + length);
        start += 100;
    }
    let profile = run.profile();
    let hot = crate::hotspots::hot_set(&profile);
    assert_eq!(hot.len(), 79);
    assert!(hot.iter().all(|(_, reason)| *reason == crate::hotspots::HotReason::Coverage));
}

#[test]
fn ranks_with_different_clocks_are_noticed() {
    let shifted = |by: i64| {
        let mut run = Run::new(2, 2);
        for step in 0..30 {
            let start = 1_000_000 + step * 100_000;
            run.kernel("ncclDevKernel_AllReduce", start, start + 50_000);
            let row = run.kernel("ncclDevKernel_AllReduce", start + by, start + by + 50_000);
            (row.process, row.agent) = (ProcessIdx(1), AgentIdx(2));
        }
        run.profile().health.get("clock_skew_between_sources").map(|item| item.count)
    };
    assert_eq!(shifted(5_000_000_000), Some(1));
    assert_eq!(shifted(50_000), None);
}
