//! `kernel_fusion.*`.

use perfxpert_fixtures::{AgentId, Direction, KernelId, KernelSpec, TraceBuilder, scenario};
use perfxpert_knowledge::thresholds;
use serde_json::{Value, json};

use crate::ask::{ask, holds, refusal};
use crate::databases::{about, text};

const TOOL: &str = "kernel_fusion.find_fusion_candidates";

/// A trace of `count` pairs `first` → `second`, 100 µs apart, with the given durations and gap.
fn pairs(names: [&str; 2], lengths: [i64; 2], gap: i64, count: i64) -> TraceBuilder {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernels = names.map(|name| t.kernel(KernelSpec::new(name)));
    for index in 0..count {
        let at = index * 100_000;
        t.dispatch(gpu, kernels[0], at..at + lengths[0]).shape(256, 10);
        let next = at + lengths[0] + gap;
        t.dispatch(gpu, kernels[1], next..next + lengths[1]).shape(128, 10);
    }
    t
}

fn found(t: &TraceBuilder) -> Value {
    about(TOOL, &t.build().unwrap(), &json!({}))
}

#[test]
fn savings_follow_from_means_and_pattern() {
    for (names, lengths, gap, pattern, lo, hi, confidence) in [
        (["gemm_f16", "relu_f16"], [5000, 5000], 120, json!("gemm_epilogue"), 1.012, 2.024, 0.6),
        (["bias_add", "gelu"], [2000, 4000], 250, json!("elementwise_chain"), 1.042, 1.563, 0.6),
        (["foo", "bar"], [3000, 9000], 400, Value::Null, 1.033, 1.033, 0.3),
    ] {
        let answer = found(&pairs(names, lengths, gap, 3));
        assert_eq!(answer["total"], 1, "{answer:#}");
        let saving = 3 * (gap + if pattern.is_null() { 0 } else { lengths[0].min(lengths[1]) });
        holds(
            &answer["items"][0],
            &json!({ "pair": names, "count": 3, "gap_ns": gap, "est_speedup_lo": lo, "est_speedup_hi": hi,
                     "pattern": pattern, "confidence": confidence, "first_mean_ns": lengths[0],
                     "second_mean_ns": lengths[1], "saving_lo_ns": 3 * gap, "saving_hi_ns": saving,
                     "same_grid": false, "total_ns": lengths[0] + lengths[1] + gap }),
        );
        holds(
            &answer,
            &json!({ "program_saving_hi_ns": saving, "repeated_kernels": [], "truncated": false }),
        );
    }
}

#[test]
fn equal_shapes_and_many_occurrences_raise_the_confidence_to_its_limit() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let (gemm, relu) = (t.kernel(KernelSpec::new("gemm")), t.kernel(KernelSpec::new("relu")));
    for index in 0..100 {
        let at = index * 50_000;
        t.dispatch(gpu, gemm, at..at + 20_000).shape(256, 64);
        t.dispatch(gpu, relu, at + 20_100..at + 25_100).shape(256, 64);
    }
    // The first is not short: the pattern admits the pair.
    holds(&found(&t)["items"][0], &json!({ "confidence": 0.9, "same_grid": true, "count": 100 }));
}

#[test]
fn one_kernel_again_and_again_is_no_pair() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("step"));
    for index in 0..1000 {
        t.dispatch(gpu, kernel, index * 2_100..index * 2_100 + 2_000);
    }
    let answer = found(&t);
    holds(&answer, &json!({ "total": 0, "items": [], "program_saving_hi_ns": 0, "program_speedup_hi": 1.0 }));
    assert_eq!(
        answer["repeated_kernels"],
        json!([{ "name": "step", "runs": 1, "launches": 1000, "longest_run": 1000, "total_gap_ns": 99_900 }])
    );
}

fn dispatch_both(t: &mut TraceBuilder, gpus: [AgentId; 2], kernels: [KernelId; 2], streams: [i64; 2]) {
    for index in 0..5 {
        let at = index * 100_000;
        t.dispatch(gpus[0], kernels[0], at..at + 5_000).on(streams[0], streams[0]);
        t.dispatch(gpus[1], kernels[1], at + 5_100..at + 9_000).on(streams[1], streams[1]);
    }
}

#[test]
fn neighbours_in_time_only_are_no_pair() {
    let mut two_gpus = TraceBuilder::new();
    let gpus = [two_gpus.gpu("mi300x"), two_gpus.gpu("mi300x")];
    let kernels = ["gemm", "relu"].map(|name| two_gpus.kernel(KernelSpec::new(name)));
    dispatch_both(&mut two_gpus, gpus, kernels, [1, 1]);
    holds(&found(&two_gpus), &json!({ "total": 0 }));

    let mut two_streams = TraceBuilder::new();
    let gpu = two_streams.gpu("mi300x");
    let kernels = ["gemm", "relu"].map(|name| two_streams.kernel(KernelSpec::new(name)));
    dispatch_both(&mut two_streams, [gpu, gpu], kernels, [0, 2]);
    holds(&found(&two_streams), &json!({ "total": 0 }));
    // Queue and stream 0 are as good as any.
    let mut zero = TraceBuilder::new();
    let gpu = zero.gpu("mi300x");
    let kernels = ["gemm", "relu"].map(|name| zero.kernel(KernelSpec::new(name)));
    dispatch_both(&mut zero, [gpu, gpu], kernels, [0, 0]);
    holds(&found(&zero), &json!({ "total": 1 }));
}

#[test]
fn a_copy_or_a_wait_between_breaks_a_pair() {
    let mut copies = TraceBuilder::new();
    let gpu = copies.gpu("mi300x");
    let kernels = ["gemm", "relu"].map(|name| copies.kernel(KernelSpec::new(name)));
    for index in 0..5 {
        let at = index * 100_000;
        copies.dispatch(gpu, kernels[0], at..at + 5_000);
        copies.copy(Direction::DeviceToHost, gpu, 4, at + 5_010..at + 5_050);
        copies.dispatch(gpu, kernels[1], at + 5_100..at + 9_000);
    }
    holds(&found(&copies), &json!({ "total": 0 }));

    let mut waits = TraceBuilder::new();
    let gpu = waits.gpu("mi300x");
    let kernels = ["gemm", "relu"].map(|name| waits.kernel(KernelSpec::new(name)));
    for index in 0..5 {
        let at = index * 100_000;
        waits.launch(gpu, kernels[0], at - 3_000..at - 2_000, at..at + 5_000);
        waits.hip("hipStreamSynchronize", at + 1_000..at + 5_100);
        waits.launch(gpu, kernels[1], at + 5_200..at + 5_300, at + 5_400..at + 9_000);
    }
    holds(&found(&waits), &json!({ "total": 0 }));
}

#[test]
fn a_dispatch_counts_once_for_the_program() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernels = ["gemm_a", "relu_b", "add_c"].map(|name| t.kernel(KernelSpec::new(name)));
    for index in 0..2 {
        let at = index * 100_000;
        for (step, kernel) in (0_i64..).zip(kernels) {
            t.dispatch(gpu, kernel, at + step * 5_100..at + step * 5_100 + 5_000);
        }
    }
    // gemm → relu and relu → add save 2 * 5,100 each; the relu can be fused once only.
    let answer = found(&t);
    holds(&answer, &json!({ "total": 2, "program_saving_hi_ns": 10_200 }));
    // The run lasts 115,200 ns.
    holds(&answer, &json!({ "program_speedup_hi": 1.097 }));
    let one = about(TOOL, &t.build().unwrap(), &json!({ "limit": 1, "offset": 1 }));
    holds(&one, &json!({ "total": 2, "returned": 1, "truncated": false }));
    assert_eq!(one["items"][0]["pair"], json!(["relu_b", "add_c"]));
}

#[test]
fn gap_and_count_bounds_hold() {
    let trace = pairs(["gemm", "relu"], [5000, 5000], 600, 1);
    let file = trace.build().unwrap();
    holds(&about(TOOL, &file, &json!({})), &json!({ "total": 0 }));
    holds(&about(TOOL, &file, &json!({ "max_gap_ns": 600 })), &json!({ "total": 0 }));
    holds(&about(TOOL, &file, &json!({ "max_gap_ns": 600, "min_count": 1 })), &json!({ "total": 1 }));
    holds(&about(TOOL, &file, &json!({ "max_gap_ns": 599, "min_count": 1 })), &json!({ "total": 0 }));
    for bad in [json!({ "max_gap_ns": 1_000_001 }), json!({ "min_count": 0 }), json!({ "limit": 501 })] {
        assert_eq!(refusal(TOOL, &crate::databases::with_path(&text(file.path()), &bad)), "invalid_argument");
    }
}

#[test]
fn a_healthy_run_has_no_candidate() {
    let planted = scenario("healthy").unwrap();
    holds(
        &ask(TOOL, &json!({ "db_path": text(planted.path()) })),
        &json!({ "total": 0, "repeated_kernels": [] }),
    );
}

#[test]
fn defaults_are_the_facts() {
    let facts = thresholds::fusion();
    assert_eq!((facts.max_gap_ns, facts.min_count), (500, 2));
}
