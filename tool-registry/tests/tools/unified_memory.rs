//! `unified_memory.*`.

use perfxpert_fixtures::{Direction, HIP, KernelSpec, TraceBuilder};
use serde_json::{Value, json};

use crate::ask::{holds, refused};
use crate::databases::{about, text};

const TOOL: &str = "unified_memory.analyze_paging";
const MIB: i64 = 1 << 20;
const US: i64 = 1_000;

fn traffic(t: &TraceBuilder) -> Value {
    about(TOOL, &t.build().unwrap(), &json!({}))
}

#[test]
fn copies_are_counted_by_direction_and_are_no_migrations() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    t.copy(Direction::HostToDevice, gpu, 2 * MIB, 0..100 * US);
    t.copy(Direction::DeviceToHost, gpu, 4 * MIB, 200 * US..300 * US);
    t.copy(Direction::HostToDevice, gpu, 512, 400 * US..401 * US);
    let answer = traffic(&t);
    holds(
        &answer,
        &json!({ "paging_events": null, "page_faults": null, "estimated_penalty_ns": null, "peer_bytes": 0 }),
    );
    holds(
        &answer["host_to_device"],
        &json!({ "count": 2, "bytes": 2_097_664, "small_count": 1, "small_bytes": 512, "duration_ns": 101_000,
                 "busy_ns": 101_000, "mean_bytes": 1_048_832.0 }),
    );
    // 4 MiB in 100 µs.
    holds(
        &answer["device_to_host"],
        &json!({ "count": 1, "bytes": 4_194_304, "gbps": 41.943, "small_count": 0 }),
    );
    // 201 of 401 µs, nothing but copies.
    holds(&answer, &json!({ "host_traffic_share": 0.5012, "exposed_host_copy_share": 0.5012, "total": 0 }));
    let reason = answer["paging_events_reason"].as_str().unwrap();
    assert!(reason.contains("--kfd-trace"), "{reason}");
}

#[test]
fn a_copy_between_gpus_is_peer_traffic() {
    let mut t = TraceBuilder::new();
    let gpus = [(); 5].map(|()| t.gpu("mi300x"));
    t.copy_between(Direction::Peer, gpus[3], gpus[4], 2 << 30, 0..50_000 * US);
    let answer = traffic(&t);
    holds(
        &answer,
        &json!({ "peer_bytes": 2_147_483_648_u64, "cross_die_bytes": null, "estimated_penalty_ns": null,
                 "host_traffic_share": 0, "recommendations": [] }),
    );
    assert_eq!(answer["device_to_device"]["count"], 1);
}

#[test]
fn copies_to_one_address_are_one_repeated_row() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    for step in 0..10 {
        let at = step * 1_000 * US;
        t.copy(Direction::HostToDevice, gpu, MIB, at..at + 100 * US)
            .addresses(0x1000 + step, 0x7f00_0000_0000);
        t.dispatch(gpu, kernel, at + 100 * US..at + 1_000 * US);
    }
    let answer = traffic(&t);
    assert_eq!(
        answer["repeated_copies"],
        json!([{ "direction": "host_to_device", "bytes_each": MIB, "count": 10, "total_bytes": 10 * MIB,
                 "total_ns": 1_000_000, "address": "0x7f0000000000" }])
    );
    holds(&answer, &json!({ "total": 1, "returned": 1, "truncated": false, "host_traffic_share": 0.1 }));
    // A tenth of the window is copied again, below the fifth from which exposed copies count.
    let advice = answer["recommendations"].as_array().unwrap();
    assert_eq!(advice.len(), 1, "{advice:?}");
    assert!(advice[0].as_str().unwrap().contains("resident"));
    let none = about(TOOL, &t.build().unwrap(), &json!({ "limit": 0 }));
    holds(&none, &json!({ "repeated_copies": [], "total": 1, "returned": 0, "truncated": true }));
}

#[test]
fn copies_to_places_of_their_own_do_not_repeat() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("rx7900xtx");
    for step in 0..20 {
        t.copy(Direction::HostToDevice, gpu, MIB, step * 200 * US..step * 200 * US + 100 * US);
    }
    let answer = traffic(&t);
    holds(&answer, &json!({ "total": 0, "repeated_copies": [] }));
    assert!(answer["recommendations"].to_string().contains("hipMemcpyAsync"), "{answer:#}");
    assert!(!answer["recommendations"].to_string().contains("die"), "no advice on dies of a GPU with one");
}

#[test]
fn driver_records_are_migrations_and_faults() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    t.dispatch(gpu, kernel, 0..1_000 * US);
    for step in 0..3 {
        t.region(
            "KFD_PAGE_MIGRATE",
            "KFD_PAGE_MIGRATE_PAGEFAULT_GPU",
            step * 10 * US..step * 10 * US + 4 * US,
        );
    }
    t.region("KFD_PAGE_FAULT", "KFD_PAGE_FAULT_WRITE_FAULT_MIGRATED", 50 * US..53 * US);
    t.region("KFD_QUEUE", "KFD_QUEUE_EVICT_SVM", 60 * US..70 * US);
    let answer = traffic(&t);
    holds(&answer, &json!({ "paging_events": 3, "page_faults": 1, "estimated_penalty_ns": 15_000 }));
    assert!(answer["recommendations"][0].as_str().unwrap().contains("hipMemAdvise"), "{answer:#}");
    assert!(answer.get("paging_events_reason").is_none());
}

#[test]
fn a_kernel_only_run_is_quiet_unless_copies_were_not_recorded() {
    let mut t = TraceBuilder::new();
    let gpu = t.gpu("mi300x");
    let kernel = t.kernel(KernelSpec::new("k(float*)"));
    t.dispatch(gpu, kernel, 0..1_000 * US);
    holds(&traffic(&t), &json!({ "recommendations": [], "host_traffic_share": 0 }));
    t.region(HIP, "hipMemcpyAsync", 0..10 * US);
    let file = t.build().unwrap();
    let error = refused(TOOL, &json!({ "db_path": text(file.path()) }));
    assert_eq!(error.kind.as_str(), "no_evidence");
    assert!(
        error.details["command"].as_str().unwrap().starts_with("rocprofv3 --memory-copy-trace"),
        "{error:?}"
    );
}
