//! `dependency_graph.*`.

use perfxpert_fixtures::{AgentId, Direction, EPOCH_NS, KernelId, KernelSpec, TraceBuilder, scenario};
use perfxpert_knowledge::thresholds;
use serde_json::{Value, json};

use crate::ask::{ask, holds};
use crate::databases::{about, text};

const TOOL: &str = "dependency_graph.reconstruct_dag";

fn start() -> (TraceBuilder, AgentId, KernelId) {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("work(float*)"));
    (t, gpu, kernel)
}

fn graph(t: &TraceBuilder) -> Value {
    about(TOOL, &t.build().unwrap(), &json!({}))
}

#[test]
fn a_gap_on_the_only_stream_is_a_bubble() {
    let (mut t, gpu, kernel) = start();
    t.dispatch(gpu, kernel, 0..5_000).on(0, 0);
    t.dispatch(gpu, kernel, 15_000..20_000).on(0, 0);
    let answer = graph(&t);
    holds(
        &answer,
        &json!({ "critical_path_ns": 10_000, "critical_path_share": 0.5, "total_bubble_ns": 10_000,
                 "bubbles_total": 1, "sync_event_count": 0, "node_count": 2, "edge_count": 1, "order_conflicts": 0,
                 "critical_path": ["k0", "k1"], "critical_path_total": 2, "total": 2, "returned": 2,
                 "truncated": false,
                 "edges": [{ "from": "k0", "to": "k1", "kind": "stream_order", "gap_ns": 10_000 }],
                 "critical_path_by_kernel":
                     [{ "name": "work(float*)", "kind": "kernel", "total_ns": 10_000, "count": 2 }] }),
    );
    assert_eq!(
        answer["bubbles"],
        json!([{ "start": EPOCH_NS + 5_000, "end": EPOCH_NS + 15_000, "duration_ns": 10_000, "agent": gpu.0,
                 "cause": "idle_gap_stream_0", "host_call": null }])
    );
    holds(
        &answer["nodes"][1],
        &json!({ "id": "k1", "kind": "kernel", "name": "work(float*)", "start_ns": EPOCH_NS + 15_000,
                 "end_ns": EPOCH_NS + 20_000, "duration_ns": 5_000, "stream": 0, "agent": gpu.0, "pid": 4711 }),
    );
}

#[test]
fn short_gaps_and_gaps_of_one_stream_beside_another_are_no_bubbles() {
    let (mut short, gpu, kernel) = start();
    short.dispatch(gpu, kernel, 0..5_000);
    short.dispatch(gpu, kernel, 5_500..9_000);
    holds(&graph(&short), &json!({ "bubbles": [], "total_bubble_ns": 0, "bubbles_total": 0 }));
    let asked = about(TOOL, &short.build().unwrap(), &json!({ "min_gap_ns": 500 }));
    holds(&asked, &json!({ "total_bubble_ns": 500, "bubbles_total": 1 }));

    let (mut beside, gpu, kernel) = start();
    beside.dispatch(gpu, kernel, 0..5_000).on(1, 0);
    beside.dispatch(gpu, kernel, 15_000..20_000).on(1, 0);
    beside.dispatch(gpu, kernel, 4_000..16_000).on(2, 1);
    holds(&graph(&beside), &json!({ "bubbles_total": 0, "edge_count": 1, "order_conflicts": 0 }));
}

#[test]
fn the_longest_stream_is_the_path() {
    let (mut t, gpu, kernel) = start();
    t.dispatch(gpu, kernel, 0..2_000).on(1, 0);
    t.dispatch(gpu, kernel, 2_000..3_900).on(1, 0);
    t.dispatch(gpu, kernel, 100..10_100).on(2, 1);
    t.dispatch(gpu, kernel, 10_100..20_000).on(2, 1);
    let answer = graph(&t);
    // In time order: stream 0 at 0, stream 1 at 100, stream 0 at 2000, stream 1 at 10100.
    holds(&answer, &json!({ "critical_path_ns": 19_900, "critical_path": ["k1", "k3"] }));
}

#[test]
fn a_wait_of_the_host_orders_two_streams() {
    let (mut t, gpu, kernel) = start();
    t.dispatch(gpu, kernel, 0..5_000).on(1, 0);
    t.hip("hipDeviceSynchronize", 1_000..6_000);
    let call = t.hip("hipLaunchKernel", 6_200..6_400);
    t.dispatch(gpu, kernel, 7_000..9_000).on(2, 1).launched_by(call);
    let answer = graph(&t);
    holds(
        &answer,
        &json!({ "edges": [{ "from": "k0", "to": "k1", "kind": "host_sync", "gap_ns": 2_000 }],
                 "critical_path": ["k0", "k1"], "critical_path_ns": 7_000, "sync_event_count": 1,
                 "bubbles_total": 1 }),
    );
    // The wait covers 1,000 of the 2,000 ns without work.
    holds(
        &answer["bubbles"][0],
        &json!({ "host_call": "hipDeviceSynchronize", "cause": "idle_gap_stream_1" }),
    );
}

#[test]
fn a_copy_is_a_node_of_the_queue_its_thread_used() {
    let (mut t, gpu, kernel) = start();
    t.dispatch(gpu, kernel, 0..5_000).on(3, 0);
    t.copy(Direction::DeviceToHost, gpu, 4096, 5_100..6_000).on(0);
    let answer = graph(&t);
    holds(&answer, &json!({ "edge_count": 1, "critical_path_ns": 5_900 }));
    holds(&answer["nodes"][1], &json!({ "kind": "copy", "name": "Device-to-Host", "agent": gpu.0 }));
}

#[test]
fn overlapping_work_of_one_stream_is_a_conflict_not_a_negative_gap() {
    let (mut t, gpu, kernel) = start();
    t.dispatch(gpu, kernel, 0..5_000);
    t.dispatch(gpu, kernel, 4_000..9_000);
    let answer = graph(&t);
    holds(&answer, &json!({ "order_conflicts": 1, "edge_count": 0, "critical_path_ns": 5_000 }));
    assert!(answer["notes"][0].as_str().unwrap().contains("order is doubtful"));
    let planted = scenario("clock_order").unwrap();
    let doubtful = ask(TOOL, &json!({ "db_path": text(planted.path()) }));
    for edge in doubtful["edges"].as_array().unwrap() {
        assert!(edge["gap_ns"].as_i64().unwrap() >= 0, "{edge}");
    }
}

#[test]
fn two_gpus_have_streams_and_bubbles_of_their_own() {
    let (mut t, first, kernel) = start();
    let second = t.gpu("mi300x");
    t.dispatch(first, kernel, 0..5_000).on(0, 0);
    t.dispatch(second, kernel, 5_000..30_000).on(0, 0);
    t.dispatch(first, kernel, 20_000..25_000).on(0, 0);
    let answer = graph(&t);
    holds(
        &answer,
        &json!({ "edge_count": 1, "bubbles_total": 1, "total_bubble_ns": 15_000, "critical_path_ns": 25_000 }),
    );
    assert_eq!(answer["bubbles"][0]["agent"], json!(first.0));
}

#[test]
fn pages_hold_their_nodes_and_the_edges_between_them() {
    let (mut t, gpu, kernel) = start();
    for index in 0..100 {
        t.dispatch(gpu, kernel, index * 1_000..index * 1_000 + 900);
    }
    let file = t.build().unwrap();
    let page = about(TOOL, &file, &json!({ "offset": 90, "limit": 5 }));
    holds(
        &page,
        &json!({ "total": 100, "returned": 5, "truncated": true, "edge_count": 99, "critical_path_total": 100 }),
    );
    assert_eq!(page["nodes"][0]["id"], "k90");
    assert_eq!(
        page["edges"][0],
        json!({ "from": "k90", "to": "k91", "kind": "stream_order", "gap_ns": 100 })
    );
    // 4 edges inside the page, then those of the path.
    assert_eq!(page["edges"].as_array().unwrap().len(), 99);
    let none = about(TOOL, &file, &json!({ "limit": 0 }));
    holds(&none, &json!({ "total": 100, "returned": 0, "truncated": true, "nodes": [] }));
}

#[test]
fn the_default_gap_is_the_fact() {
    assert_eq!(thresholds::dag().min_gap_ns, 2_000);
    let planted = scenario("multi_process").unwrap();
    let answer = ask(TOOL, &json!({ "db_path": text(planted.path()) }));
    // 10 + 20 + 30 dispatches of three processes with equal ids: each process orders its own.
    holds(&answer, &json!({ "node_count": 60, "edge_count": 57, "order_conflicts": 0 }));
}
