//! The sentences of the worked examples.

use super::*;

fn story() -> Story {
    Story {
        kind: Kind::MemoryTransfer,
        detail: Some(Detail::HostDeviceCopy),
        total_runtime_ns: 1_000_000,
        shares: RunShares {
            kernel_pct: 44.0,
            copy_pct: 53.0,
            api_pct: 2.8,
            idle_pct: 0.2,
            ..RunShares::default()
        },
        dominant: Some(Dominant {
            short_name: "gemm<float, 16>".to_owned(),
            share_pct: 90.91,
            calls: 2,
            has_counters: false,
        }),
        counters: CounterShares::default(),
        dispatches: 4,
        median_ns: None,
        largest_gain: Some(("Memory Transfer".to_owned(), 53.0)),
        missing_reason: None,
        has_counters: false,
        care: None,
    }
}

#[test]
fn copies_alone() {
    assert_eq!(
        sentences(&story()).join(" "),
        "Limited by memory_transfer (host_device_copy): copies with no kernel beside them take 53.0% of the 1.000 ms \
         run, kernels 44.0%. The dominant kernel is `gemm<float, 16>` with 90.9% of kernel time in 2 calls. Largest \
         bounded gain: Memory Transfer, at most 53.0% of the run (2.13x). What limits `gemm<float, 16>` is not known, \
         because the trace holds no hardware counters."
    );
}

#[test]
fn launches() {
    let story = Story {
        kind: Kind::Latency,
        detail: Some(Detail::LaunchOverhead),
        total_runtime_ns: 19_994_000,
        shares: RunShares { launch_gap_pct: 59.99, ..RunShares::default() },
        dispatches: 2000,
        median_ns: Some(4000),
        ..story()
    };
    assert_eq!(
        sentences(&story)[0],
        "Limited by latency (launch_overhead): the GPU waits for launches 60.0% of the 19.994 ms run, between 2,000 \
         kernels with a median of 4.0 μs."
    );
}

#[test]
fn a_busy_kernel_is_named_once_and_an_unknown_figure_drops_its_clause() {
    let valu = Story {
        kind: Kind::Compute,
        detail: Some(Detail::Valu),
        counters: CounterShares { valu_pct: Some(78.0), hbm_pct: Some(12.0), ..CounterShares::default() },
        dominant: Some(Dominant {
            short_name: "gemm_f16_naive".to_owned(),
            share_pct: 94.92,
            calls: 48,
            has_counters: true,
        }),
        largest_gain: None,
        has_counters: true,
        ..story()
    };
    assert_eq!(
        sentences(&valu).join(" "),
        "Limited by compute (valu): `gemm_f16_naive` keeps the vector units busy 78.0% of its time at 12.0% of peak \
         HBM bandwidth and takes 94.9% of kernel time."
    );
    let unknown =
        Story { counters: CounterShares { valu_pct: Some(78.0), ..CounterShares::default() }, ..valu };
    assert_eq!(
        sentences(&unknown).join(" "),
        "Limited by compute (valu): `gemm_f16_naive` keeps the vector units busy 78.0% of its time and takes 94.9% of \
         kernel time."
    );
}

#[test]
fn what_is_missing_is_said_once() {
    let story = Story {
        kind: Kind::DataInsufficient,
        detail: None,
        missing_reason: Some("the trace holds no hardware counters".to_owned()),
        largest_gain: None,
        care: Some("2 rows were left out.".to_owned()),
        ..story()
    };
    assert_eq!(
        sentences(&story),
        [
            "The trace cannot say what limits this run: the trace holds no hardware counters.",
            "The dominant kernel is `gemm<float, 16>` with 90.9% of kernel time in 2 calls.",
            "Read with care: 2 rows were left out.",
        ]
    );
}
