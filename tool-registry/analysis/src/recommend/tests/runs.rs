//! Rules about the run: each at its threshold, just below it, and with a precondition that does not hold.

use perfxpert_trace::Direction;

use crate::profile::{CallClass, CauseTotal, GapCause, KernelKind};
use crate::recommend::observed::{FusionPair, ObservedAgent, ObservedCall, ObservedCopies, ObservedKernel};
use crate::recommend::{Collective, Communication, Context, Observed, RuleEntry, Throttled, for_observed};
use crate::units::{Bytes, Nanos};

/// A run of 100 ms, so that 1 ms is 1 %.
const MS: u64 = 1_000_000;

fn quiet() -> Observed {
    Observed {
        window: Nanos(100 * MS),
        kernel_busy: Nanos(90 * MS),
        api_traced: true,
        dispatches: 1000,
        median_dispatch: Some(90_000.0),
        ..Observed::default()
    }
}

fn copies(direction: Direction) -> ObservedCopies {
    ObservedCopies {
        direction,
        count: 10,
        bytes: Bytes(640 << 20),
        busy: Nanos(20 * MS),
        exposed: Nanos::ZERO,
        small_count: 0,
        small_exposed: Nanos::ZERO,
        small_median: None,
        large_count: 10,
        large_exposed: Nanos::ZERO,
        large_gbps: Some(54.0),
        link_peak_gbps: Some(63.0),
        split_calls: 0,
    }
}

fn advise(run: &Observed) -> Vec<RuleEntry> {
    for_observed(run, &Context::default())
}

fn find(run: &Observed, id: &str) -> Option<RuleEntry> {
    advise(run).into_iter().find(|advice| advice.id == id)
}

/// Whether a rule fires, with its priority and gain.
fn fires(run: &Observed, id: &str) -> Option<(&'static str, Option<f64>)> {
    find(run, id).map(|advice| (advice.priority.label(), advice.gain_bound_pct))
}

fn gap(run: &mut Observed, cause: GapCause, ns: u64) {
    run.gaps[cause as usize] = CauseTotal { count: 4, total: Nanos(ns) };
}

#[test]
fn a_quiet_run_gets_nothing() {
    assert_eq!(advise(&quiet()), []);
    assert_eq!(advise(&Observed::default()), []);
}

#[test]
fn exposed_copies() {
    let mut run = quiet();
    run.copies = vec![copies(Direction::HostToDevice)];
    run.copies[0].exposed = Nanos(5 * MS);
    assert_eq!(fires(&run, "ROCPD-MEMCPY-001"), Some(("MEDIUM", Some(5.0))));
    run.copies[0].exposed = Nanos(4_990_000);
    assert_eq!(fires(&run, "ROCPD-MEMCPY-001"), None);
    run.copies[0].exposed = Nanos(30 * MS);
    run.copies[0].small_exposed = Nanos(26 * MS);
    assert_eq!(fires(&run, "ROCPD-MEMCPY-001"), None, "small copies are another rule's");
    run.runtime_copy_exposed = Nanos(20 * MS);
    let found = find(&run, "ROCPD-MEMCPY-001").expect("copy kernels of the runtime are copies");
    assert_eq!(found.priority.label(), "HIGH");
    assert!(
        found.issue.ends_with(": copy kernels of the runtime 20.000 ms, Host-to-Device 4.000 ms."),
        "{}",
        found.issue
    );
}

#[test]
fn small_copies() {
    let mut run = quiet();
    run.copies = vec![copies(Direction::DeviceToHost)];
    run.copies[0].small_count = 100;
    run.copies[0].small_exposed = Nanos(2 * MS);
    run.copies[0].exposed = Nanos(2 * MS);
    run.copies[0].small_median = Some(Bytes(4096));
    let found = find(&run, "ROCPD-SMALLCOPY-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("LOW", Some(2.0), 0.85));
    assert_eq!(
        found.issue,
        "100 copies are smaller than 64 KiB (median 4.0 KiB); 2.0% of the run is spent in them alone."
    );
    run.copies[0].small_count = 99;
    assert_eq!(fires(&run, "ROCPD-SMALLCOPY-001"), None);
    run.copies[0].small_count = 100;
    run.copies[0].small_exposed = Nanos(1_990_000);
    assert_eq!(fires(&run, "ROCPD-SMALLCOPY-001"), None);
}

#[test]
fn slow_copies() {
    let mut run = quiet();
    run.copies = vec![copies(Direction::HostToDevice)];
    run.copies[0].large_gbps = Some(31.0);
    run.copies[0].large_exposed = Nanos(20 * MS);
    run.copies[0].exposed = Nanos(20 * MS);
    // 20 % x (1 - (31/63)/0.85) = 8.4220 %
    let found = find(&run, "ROCPD-MEMBW-001").expect("below half of the link");
    assert_eq!((found.priority.label(), found.gain_bound_pct), ("MEDIUM", Some(8.42)));
    assert_eq!(found.overlaps_with, ["ROCPD-MEMCPY-001"]);
    assert_eq!(
        found.issue,
        "Host-to-Device copies of 1 MiB and more reach 31.00 GB/s, 49.2% of the link's 63.00 GB/s."
    );
    run.copies[0].split_calls = 1;
    assert!(
        find(&run, "ROCPD-MEMBW-001")
            .is_some_and(|found| found.issue.ends_with("as it does for pageable memory."))
    );
    run.both_directions = Nanos(5 * MS);
    let shared = find(&run, "ROCPD-MEMBW-001").expect("the link may be shared");
    assert_eq!((shared.confidence, shared.preconditions[1].state.as_str()), (0.55, "unknown"));
    run.copies[0].large_gbps = Some(31.5);
    assert_eq!(fires(&run, "ROCPD-MEMBW-001"), None, "half of the link is not slow");
    run.copies[0].large_gbps = Some(10.0);
    run.copies[0].link_peak_gbps = None;
    assert_eq!(fires(&run, "ROCPD-MEMBW-001"), None, "the link is not known");
    run.copies[0].direction = Direction::DeviceToDevice;
    run.copies[0].link_peak_gbps = Some(63.0);
    assert_eq!(fires(&run, "ROCPD-MEMBW-001"), None, "no host link");
}

#[test]
fn launches() {
    let mut run = quiet();
    run.dispatches = 100;
    run.median_dispatch = Some(9_999.0);
    gap(&mut run, GapCause::Launch, 2 * MS);
    assert_eq!(fires(&run, "ROCPD-LAUNCH-001"), Some(("LOW", Some(2.0))));
    gap(&mut run, GapCause::Launch, 1_990_000);
    assert_eq!(fires(&run, "ROCPD-LAUNCH-001"), None);
    gap(&mut run, GapCause::Launch, 30 * MS);
    run.median_dispatch = Some(10_000.0);
    assert_eq!(fires(&run, "ROCPD-LAUNCH-001"), None, "the kernels are not short");
    run.median_dispatch = Some(5_000.0);
    run.dispatches = 99;
    assert_eq!(fires(&run, "ROCPD-LAUNCH-001"), None, "too few launches");
    run.dispatches = 100;
    run.api_traced = false;
    assert_eq!(fires(&run, "ROCPD-LAUNCH-001"), None, "without host calls no gap is known to be a launch");
    run.short_unknown = CauseTotal { count: 99, total: Nanos(30 * MS) };
    let found = find(&run, "ROCPD-LAUNCH-001").expect("short gaps of unknown cause");
    assert_eq!(
        (found.priority.label(), found.confidence),
        ("MEDIUM", 0.6),
        "capped: it is not known that they were launches"
    );
}

#[test]
fn waits_after_blocking_calls() {
    let mut run = quiet();
    gap(&mut run, GapCause::Sync, 2 * MS);
    run.sync_calls = ["a", "b", "c", "d"].map(|name| (name.to_owned(), 1)).to_vec();
    let found = find(&run, "ROCPD-SYNC-001").expect("at the threshold");
    assert!(found.issue.ends_with("a (1 gap), b (1 gap), c (1 gap), and 1 more."), "{}", found.issue);
    gap(&mut run, GapCause::Sync, 1_990_000);
    assert_eq!(fires(&run, "ROCPD-SYNC-001"), None);
}

#[test]
fn waits_in_other_calls() {
    let mut run = quiet();
    gap(&mut run, GapCause::Alloc, 400_000);
    gap(&mut run, GapCause::Module, 1_600_000);
    run.calls = vec![
        ObservedCall {
            name: "hipModuleLoadData".to_owned(),
            class: CallClass::Module,
            blocking: false,
            calls: 3,
            exposed: Nanos(1_600_000),
        },
        ObservedCall {
            name: "hipMalloc".to_owned(),
            class: CallClass::Alloc,
            blocking: false,
            calls: 9,
            exposed: Nanos(400_000),
        },
    ];
    let found = find(&run, "ROCPD-API-001").expect("together at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("LOW", Some(2.0), 0.75));
    assert_eq!(
        found.issue,
        "The GPU waits 2.0% of the run while the host is in module loading: hipModuleLoadData x3 (1.600 ms)."
    );
    assert_eq!(found.actions, ["Load and warm up before the measured part."]);
    gap(&mut run, GapCause::Module, 1_590_000);
    assert_eq!(fires(&run, "ROCPD-API-001"), None);
}

#[test]
fn unexplained_idle_time() {
    let mut run = quiet();
    run.longest_idle = Some((Nanos(3 * MS), "gemm<float>".to_owned()));
    gap(&mut run, GapCause::Host, 10 * MS);
    let found = find(&run, "ROCPD-UTILIZATION-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct), ("MEDIUM", Some(10.0)));
    assert_eq!(
        found.issue,
        "The GPU is idle 10.0% of the run with no HIP or HSA call to explain it; the longest gap is 3.000 ms, after gemm<float>."
    );
    gap(&mut run, GapCause::Host, 9_990_000);
    assert_eq!(fires(&run, "ROCPD-UTILIZATION-001"), None);
    gap(&mut run, GapCause::Host, 0);
    gap(&mut run, GapCause::Unknown, 50 * MS);
    run.api_traced = false;
    let found = find(&run, "ROCPD-UTILIZATION-001").expect("half of the run");
    assert_eq!((found.priority.label(), found.confidence), ("MEDIUM", 0.5), "capped: no call was recorded");
}

#[test]
fn pairs_to_fuse() {
    let mut run = quiet();
    let pair = |ns| FusionPair {
        first: "scale".to_owned(),
        second: "add_bias".to_owned(),
        names: ["scale(float*)".to_owned(), "add_bias(float*)".to_owned()],
        count: 1500,
        saving: Nanos(ns),
    };
    run.pairs = vec![pair(25 * MS)];
    let found = find(&run, "ROCPD-LAUNCH-EFFICIENCY-001").expect("a quarter of the run");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", Some(25.0), 0.4));
    assert_eq!(found.title, "1 pair of short kernels can be fused");
    assert_eq!(
        found.issue,
        "1 pair of short kernels runs back to back, for example scale then add_bias 1,500 times."
    );
    run.pairs = vec![pair(MS), pair(MS)];
    let found = find(&run, "ROCPD-LAUNCH-EFFICIENCY-001").expect("together at the threshold");
    assert_eq!(found.title, "2 pairs of short kernels can be fused");
    run.pairs = vec![pair(MS), pair(990_000)];
    assert_eq!(fires(&run, "ROCPD-LAUNCH-EFFICIENCY-001"), None);
}

#[test]
fn one_gpu_with_more_work_than_the_others() {
    let agent = |kernel: u64| ObservedAgent {
        window: Nanos(100 * MS),
        kernel: Nanos(kernel * MS),
        collective: Nanos::ZERO,
        exposed_collective: Nanos::ZERO,
    };
    let mut run = quiet();
    run.window = Nanos(200 * MS);
    run.agents = vec![agent(60), agent(80)];
    run.kernel_busy = Nanos(140 * MS);
    run.common_kernel_time = Some(1.0);
    // (80 - 70) / 100 = 10 %; 10 % x (100 / 200 x 2) = 10 %
    let found = find(&run, "ROCPD-IMBALANCE-001").expect("at the threshold");
    assert_eq!(
        (found.priority.label(), found.gain_bound_pct, found.confidence),
        ("MEDIUM", Some(10.0), 0.75)
    );
    assert_eq!((found.target.as_deref(), found.target_kind.label()), (Some("GPU 1"), "agent"));
    assert_eq!(found.issue, "GPU 1 computes 80.000 ms, the mean is 70.000 ms.");
    assert_eq!(found.title, "GPU 1 computes 14.3% more than the mean");
    run.common_kernel_time = Some(0.79);
    assert_eq!(
        find(&run, "ROCPD-IMBALANCE-001").map(|found| found.confidence),
        Some(0.55),
        "other kernels: unknown"
    );
    run.agents = vec![agent(60), agent(79)];
    assert_eq!(fires(&run, "ROCPD-IMBALANCE-001"), None);
    run.agents = vec![agent(80)];
    assert_eq!(fires(&run, "ROCPD-IMBALANCE-001"), None, "one GPU has no peers");
}

#[test]
fn collectives_alone() {
    let mut run = quiet();
    run.agents = vec![ObservedAgent {
        window: Nanos(100 * MS),
        kernel: Nanos(90 * MS),
        collective: Nanos(10 * MS),
        exposed_collective: Nanos(5 * MS),
    }];
    run.kernels = vec![ObservedKernel {
        name: "ncclDevKernel_AllReduce(X)".to_owned(),
        short: "ncclDevKernel_AllReduce".to_owned(),
        kind: KernelKind::Collective,
        ..ObservedKernel::default()
    }];
    let found = find(&run, "ROCPD-COMM-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", Some(5.0), 0.8));
    assert_eq!(
        found.issue,
        "ncclDevKernel_AllReduce and other collectives run alone for 5.0% of the run; 50.0% of their time is overlapped."
    );
    run.agents[0].exposed_collective = Nanos(4_990_000);
    assert_eq!(fires(&run, "ROCPD-COMM-001"), None);
}

#[test]
fn slow_large_messages() {
    let mut run = quiet();
    let slow = Collective {
        op: "AllReduce".to_owned(),
        bytes: (16 << 20) + 1,
        ranks: Some(8),
        gbps: Some(35.0),
        peak_gbps: Some(100.0),
        exposed: Nanos(20 * MS),
    };
    let mut with = |change: &dyn Fn(&mut Collective)| {
        let mut one = slow.clone();
        change(&mut one);
        run.communication = Some(Communication { dominant: None, collectives: vec![one] });
        find(&run, "ROCPD-COMM-BW-001")
    };
    // 20 % x (1 - 35/70) = 10 %
    let found = with(&|_| ()).expect("35 % of what is achievable");
    assert_eq!(
        (found.priority.label(), found.gain_bound_pct, found.confidence),
        ("MEDIUM", Some(10.0), 0.65)
    );
    assert_eq!(found.issue, "AllReduce of 16.0 MiB on 8 ranks reaches 35.00 GB/s, 35.0% of 100.00 GB/s.");
    assert!(with(&|one| one.gbps = Some(40.0)).is_none(), "not poor");
    assert!(with(&|one| one.bytes = 16 << 20).is_none(), "not large");
    assert!(with(&|one| one.exposed = Nanos(1_990_000)).is_none(), "below 2 % of the run");
    assert!(with(&|one| one.peak_gbps = None).is_none(), "the peak is not known");
    assert_eq!(with(&|one| one.ranks = None).map(|found| found.confidence), Some(0.45));
}

#[test]
fn throttled_gpus() {
    let mut run = quiet();
    run.throttled =
        vec![Throttled { gpu: 3, samples: 12, temperature: Some(99.4), limit: Some(95.0), same_time: None }];
    let found = find(&run, "ROCPD-THERMAL-001").expect("it throttled");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", None, 0.5));
    assert_eq!(found.issue, "GPU 3 reported 12 throttled samples, 99 °C of 95 °C.");
    run.throttled[0].same_time = Some(true);
    assert_eq!(find(&run, "ROCPD-THERMAL-001").map(|found| found.confidence), Some(0.7));
}
