//! `rccl_analysis.*`.

use perfxpert_fixtures::{CallId, HIP, KernelKind, KernelSpec, RCCL, TraceBuilder, scenario};
use serde_json::{Value, json};

use crate::ask::{ask, holds, keys, refused};
use crate::databases::{about, text, with_path};

const TOOL: &str = "rccl_analysis.analyze_collectives";
const US: i64 = 1_000;
const KERNEL: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
const GENERIC: &str = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)";

/// What one rank does each step: an RCCL call of 20 µs, and its kernel of `device` ns.
struct Step {
    call: &'static str,
    count: Option<&'static str>,
    kernel: &'static str,
    device: i64,
}

impl Step {
    fn plant(&self, t: &mut TraceBuilder, at: i64) {
        let gpu = t.gpu("mi300x");
        let kernel = t.kernel(KernelSpec::new(self.kernel).kind(KernelKind::Collective));
        let call = t.region(RCCL, self.call, at..at + 20 * US);
        if let Some(count) = self.count {
            let name = if self.call == "ncclAllGather" { "sendcount" } else { "count" };
            call.arg("size_t", name, count).arg("ncclDataType_t", "datatype", "ncclFloat");
        }
        let call = call.id();
        t.dispatch(gpu, kernel, at + 30 * US..at + 30 * US + self.device).launched_by(call);
    }

    /// The same in `ranks` processes of one file.
    fn ranks(&self, ranks: i64) -> TraceBuilder {
        let mut t = TraceBuilder::new();
        for rank in 0..ranks {
            if rank > 0 {
                t.next_process(5000 + rank);
            }
            self.plant(&mut t, 0);
        }
        t
    }
}

fn found(t: &TraceBuilder, more: &Value) -> Value {
    about(TOOL, &t.build().unwrap(), more)
}

#[test]
fn an_all_reduce_of_four_ranks_is_held_against_the_links() {
    let step = Step { call: "ncclAllReduce", count: Some("262144"), kernel: KERNEL, device: 1_000 * US };
    let answer = found(&step.ranks(4), &json!({}));
    holds(
        &answer["collectives"][0],
        &json!({ "op": "AllReduce", "op_type": "AllReduce", "count": 4, "msg_bytes": 1_048_576, "dtype": "float32",
                 "ranks": 4, "duration_ns": 1_000_000, "total_ns": 4_000_000, "host_call_ns": 20_000, "link": "id",
                 "effective_bw_gbps": 1.573, "algo_bw_gbps": 1.049, "peak_bw_gbps": 340, "efficiency_pct": 0.46,
                 "link_peak_gbps": 192, "efficiency_label": "poor", "regime": "algo-dependent", "algo_hint": "Ring",
                 "topology_hint": "intra-node", "overlap_ratio": 0 }),
    );
    holds(&answer, &json!({ "capture_incomplete": false, "total": 1, "missing": [] }));
    holds(
        &answer["summary"],
        &json!({ "op_count": 4, "ranks": 4, "ranks_source": "processes", "dominant_op": "AllReduce",
                 "total_device_ns": 4_000_000, "avg_bw_gbps": 1.573, "avg_efficiency_pct": 0.46, "overlap_pct": 0,
                 "measured_metrics_available": true, "link_peak_gbps": 192 }),
    );
    assert!(!keys(&answer["summary"]).contains(&"incomplete_reason"));
    let each = found(&step.ranks(4), &json!({ "group_by": "call", "limit": 3 }));
    holds(&each, &json!({ "total": 4, "returned": 3, "truncated": true }));
}

#[test]
fn an_all_gather_counts_the_parts_of_all_ranks() {
    let step = Step {
        call: "ncclAllGather",
        count: Some("262144"),
        kernel: "ncclDevKernel_AllGather_RING_LL(int)",
        device: 100 * US,
    };
    holds(
        &found(&step.ranks(8), &json!({}))["collectives"][0],
        &json!({ "op": "AllGather", "msg_bytes": 8_388_608, "effective_bw_gbps": 73.4, "peak_bw_gbps": 340,
                 "efficiency_pct": 21.59, "link_peak_gbps": 448, "efficiency_label": "poor" }),
    );
}

#[test]
fn one_process_does_not_know_the_ranks() {
    let step = Step { call: "ncclAllReduce", count: None, kernel: KERNEL, device: 1_000 * US };
    let file = step.ranks(1).build().unwrap();
    let answer = about(TOOL, &file, &json!({}));
    holds(&answer, &json!({ "capture_incomplete": true, "stragglers": null }));
    holds(
        &answer["collectives"][0],
        &json!({ "ranks": null, "msg_bytes": null, "effective_bw_gbps": null, "efficiency_label": "unknown",
                 "regime": "unknown", "algo_hint": "unknown", "topology_hint": "unknown", "duration_ns": 1_000_000,
                 "host_call_ns": 20_000 }),
    );
    holds(
        &answer["summary"],
        &json!({ "ranks": null, "ranks_source": "unknown", "observed_total_duration_ns": 1_000_000 }),
    );
    assert_eq!(answer["missing"].as_array().unwrap().len(), 2, "{answer:#}");
    let told = about(TOOL, &file, &json!({ "ranks": 8 }));
    holds(&told["summary"], &json!({ "ranks": 8, "ranks_source": "input", "capture_incomplete": true }));
}

#[test]
fn arguments_of_communicators_tell_the_ranks() {
    let step = Step { call: "ncclAllReduce", count: Some("262144"), kernel: KERNEL, device: 1_000 * US };
    let mut t = step.ranks(1);
    t.region(RCCL, "ncclCommInitRank", 0..5 * US).arg("int", "nranks", "16");
    let answer = found(&t, &json!({}));
    holds(&answer["summary"], &json!({ "ranks": 16, "ranks_source": "init_rank", "link_peak_gbps": null }));
    assert_eq!(answer["collectives"][0]["topology_hint"], "multi-node");
    // The card's line rate instead of the GPU's links.
    let card = found(&t, &json!({ "gfx_id": "connectx7" }));
    holds(&card["summary"], &json!({ "peak_bw_gbps": 50, "link_peak_gbps": 50 }));
}

#[test]
fn small_messages_are_latency_bound() {
    let step = Step { call: "ncclAllReduce", count: Some("1024"), kernel: KERNEL, device: 20 * US };
    holds(
        &found(&step.ranks(4), &json!({}))["collectives"][0],
        &json!({ "msg_bytes": 4096, "efficiency_label": "latency-bound", "regime": "latency-bound", "algo_hint": "Tree" }),
    );
}

#[test]
fn every_spelling_of_a_collective_kernel_counts_and_no_other() {
    let planted = scenario("collective_names").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(planted.path()) }));
    holds(
        &answer["summary"],
        &json!({ "op_count": 6, "fallback_kernel_count": 6, "observed_total_duration_ns": 300_000 }),
    );
    assert!(answer["summary"]["incomplete_reason"].as_str().unwrap().contains("no RCCL call"));
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("broadcast_add(float*, float const*, int)"));
    t.dispatch(gpu, kernel, 0..50 * US);
    let file = t.build().unwrap();
    let error = refused(TOOL, &json!({ "db_path": text(file.path()) }));
    assert_eq!(error.kind.as_str(), "no_evidence");
    assert!(error.details["command"].as_str().unwrap().starts_with("rocprofv3 --rccl-trace --kernel-trace"));
    let unknown = refused(TOOL, &with_path(&text(file.path()), &json!({ "gfx_id": "gfx9999" })));
    assert_eq!(unknown.kind.as_str(), "unknown_name");
}

#[test]
fn calls_without_kernels_say_so() {
    let planted = scenario("rccl_unmatched").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(planted.path()) }));
    holds(&answer, &json!({ "capture_incomplete": true }));
    holds(
        &answer["collectives"][0],
        &json!({ "count": 50, "link": "none", "duration_ns": null, "host_call_ns": 10_000 }),
    );
    assert!(
        answer["summary"]["incomplete_reason"].as_str().unwrap().contains("no collective kernel"),
        "{answer:#}"
    );
}

fn grouped(t: &mut TraceBuilder, sizes: [&str; 2]) -> CallId {
    t.region(RCCL, "ncclGroupStart", 0..US);
    for (at, size) in (0_i64..).zip(sizes) {
        t.region(RCCL, "ncclAllReduce", (2 + 2 * at) * US..(3 + 2 * at) * US)
            .arg("size_t", "count", size)
            .arg("ncclDataType_t", "datatype", "7");
    }
    t.region(RCCL, "ncclGroupEnd", 10 * US..20 * US).id()
}

#[test]
fn a_group_in_one_kernel_is_split_by_bytes() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new(GENERIC).kind(KernelKind::Collective));
    let end = grouped(&mut t, ["3000000", "1000000"]);
    let launch = t.region(HIP, "hipExtLaunchKernel", 12 * US..14 * US).inside(end).id();
    t.dispatch(gpu, kernel, 30 * US..430 * US).launched_by(launch);
    let answer = found(&t, &json!({ "ranks": 2 }));
    let row = |at: usize| answer["collectives"][at].clone();
    holds(&row(0), &json!({ "msg_bytes": 12_000_000, "duration_ns": 300_000, "link": "id" }));
    holds(&row(1), &json!({ "msg_bytes": 4_000_000, "duration_ns": 100_000, "link": "id" }));
}

#[test]
fn kernels_without_ids_pair_in_order_when_they_are_as_many() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new(GENERIC).kind(KernelKind::Collective));
    for step in 0..3 {
        let at = step * 1_000 * US;
        t.region(RCCL, "ncclBroadcast", at..at + 5 * US)
            .arg("size_t", "count", "1048576")
            .arg("int", "datatype", "0");
        t.dispatch(gpu, kernel, at + 10 * US..at + 20 * US);
    }
    holds(
        &found(&t, &json!({ "ranks": 4 }))["collectives"][0],
        &json!({ "op": "Broadcast", "count": 3, "link": "order", "duration_ns": 10_000, "effective_bw_gbps": 104.858 }),
    );
}

#[test]
fn overlap_with_computation_is_that_of_the_same_gpu() {
    let planted = scenario("rccl").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(planted.path()), "ranks": 8 }));
    // Each all-reduce runs from 110 to 280 of 301 µs, the kernels from 100 to 199 and from 200 to 299: 1 µs stands alone.
    holds(
        &answer["collectives"][0],
        &json!({ "count": 100, "overlap_ratio": 99.41, "duration_ns": 170_000 }),
    );
    holds(&answer["summary"], &json!({ "overlap_pct": 99.41 }));
    let alone = scenario("communication").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(alone.path()), "ranks": 8 }));
    holds(&answer["collectives"][0], &json!({ "overlap_ratio": 0, "duration_ns": 200_000 }));
}

#[test]
fn the_late_rank_comes_first() {
    let planted = scenario("ranks").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(planted.folder()) }));
    let last = planted.truth.notes["straggler_last_in"].as_u64().unwrap();
    let rows = answer["stragglers"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    #[expect(clippy::cast_precision_loss)]
    let share = (last as f64 / 50.0 * 10_000.0).round() / 10_000.0;
    // It keeps seven ranks waiting 80 µs each time.
    holds(
        &rows[0],
        &json!({ "pid": 5004, "last_count": last, "last_share": share, "wait_caused_ns": last * 7 * 80_000,
                 "host": "gpu-node-01" }),
    );
}

#[test]
fn a_shifted_clock_changes_no_ranking() {
    let planted = scenario("ranks_skewed").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(planted.folder()) }));
    let rows = answer["stragglers"].as_array().expect("clocks can be aligned");
    assert_eq!(rows[0]["pid"], 5000, "{rows:#?}");
}

#[test]
fn eight_ranks_one_of_them_late_in_86_of_100() {
    let mut t = TraceBuilder::new();
    for rank in 0..8 {
        if rank > 0 {
            t.next_process(5000 + rank);
        }
        if rank == 6 {
            t.epoch += 50_000 * US;
        }
        let gpu = t.gpu("mi300x");
        let kernel = t.kernel(KernelSpec::new(KERNEL).kind(KernelKind::Collective));
        for step in 0..100 {
            // Late in 86 steps; in the other 14 the ranks take turns.
            let late = if step < 86 { 3 } else { step % 8 };
            let start = step * 2_000 * US + if late == rank { 200 * US } else { 0 };
            let call = t.region(RCCL, "ncclAllReduce", start - 10 * US..start - 5 * US).id();
            t.dispatch(gpu, kernel, start..step * 2_000 * US + 1_000 * US).launched_by(call);
        }
    }
    let rows = found(&t, &json!({}))["stragglers"].as_array().unwrap().clone();
    // Steps 91 and 99 are its turn as well.
    holds(
        &rows[0],
        &json!({ "pid": 5003, "last_count": 88, "last_share": 0.88, "wait_caused_ns": 88 * 7 * 200_000 }),
    );
    assert_eq!(rows.len(), 8);
}

#[test]
fn the_report_tells_the_same_as_the_tool() {
    let planted = scenario("communication").unwrap();
    let report =
        ask("agent.root", &json!({ "database_path": text(planted.path()), "options": { "detail": "full" } }));
    let tool = ask(TOOL, &json!({ "db_path": text(planted.path()) }));
    let section = &report["communication"];
    // 200 of each 500 µs hold nothing but the all-reduce; the last step ends with it.
    holds(
        &section["summary"],
        &json!({ "op_count": 100, "dominant_op": "AllReduce", "total_ns": 20_000_000, "exposed_ns": 20_000_000,
                 "exposed_pct": 40, "overlap_pct": 0, "ranks": null, "capture_incomplete": true,
                 "incomplete_reason": tool["summary"]["incomplete_reason"] }),
    );
    holds(
        &section["collectives"][0],
        &json!({ "op_type": "AllReduce", "count": 100, "msg_bytes": 67_108_864, "duration_ns": 200_000,
                 "efficiency_label": "unknown", "regime": "bandwidth-bound", "effective_bw_gbps": null }),
    );
    let quiet = scenario("healthy").unwrap();
    let report =
        ask("agent.root", &json!({ "database_path": text(quiet.path()), "options": { "detail": "full" } }));
    assert!(report["communication"].is_null());
}
