//! `interconnect.lookup_peaks`.

use serde_json::json;

use crate::ask::{ask, holds, refused};

#[test]
fn links_of_gpus_and_adapters() {
    let name = "interconnect.lookup_peaks";
    holds(
        &ask(name, &json!({ "gfx_id": "gfx942:xnack-" })),
        &json!({ "kind": "gpu", "xgmi_peak_gbps": 1024.0, "xgmi_links": 8, "xgmi_per_link_gbps": 128.0,
            "peer_links": 7, "peer_per_link_one_way_gbps": 64.0, "peer_one_way_gbps": 448.0, "peer_both_ways_gbps": 896.0,
            "achievable_gbps": 340.0, "achievable_confidence": "reported", "pcie_tier": "Gen5 x16",
            "pcie_peak_gbps": 64.0, "pcie_payload_gbps": 63.0, "scope": "device", "measured_with": null }),
    );
    holds(
        &ask(name, &json!({ "gfx_id": "gfx90a" })),
        &json!({ "xgmi_peak_gbps": 800.0, "xgmi_links": 8, "xgmi_per_link_gbps": 100.0, "peer_links": null,
            "peer_per_link_one_way_gbps": 50.0, "achievable_confidence": "unverified", "scope": "package" }),
    );
    holds(
        &ask(name, &json!({ "gfx_id": "ConnectX7" })),
        &json!({ "kind": "nic", "nic_line_rate_gbps": 50.0, "achievable_gbps": 50.0, "xgmi_links": null, "pcie_tier": "Gen5 x16" }),
    );
    holds(
        &ask(name, &json!({ "gfx_id": "gfx1102" })),
        &json!({ "xgmi_peak_gbps": 0.0, "pcie_tier": "Gen4 x8", "pcie_peak_gbps": 16.0 }),
    );
    let error = refused(name, &json!({ "gfx_id": "gfx9999" }));
    assert_eq!(error.kind.as_str(), "unknown_name");
    assert!(error.details["known"].as_array().unwrap().contains(&json!("connectx6")));
}

#[test]
fn every_known_architecture_has_links() {
    for id in perfxpert_knowledge::arch::KNOWN {
        let answer = ask("interconnect.lookup_peaks", &json!({ "gfx_id": id }));
        assert_eq!(answer["kind"], "gpu", "{id}");
    }
}
