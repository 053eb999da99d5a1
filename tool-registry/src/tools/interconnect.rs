//! `interconnect`: shows the link facts of a GPU or a network adapter.

use perfxpert_knowledge::interconnect::{self, LinkKind, Scope};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::interconnect as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::LookupPeaks>(
        "Link bandwidths",
        "Link bandwidths of a GPU or network adapter for communication analysis, GB/s. Use rccl_analysis_analyze_collectives to judge a trace.",
        lookup_peaks,
    )]
}

fn lookup_peaks(_: &Context, input: wire::LookupPeaksInput) -> Result<wire::LookupPeaksOutput, ErrorObject> {
    let Some(row) = interconnect::find(&input.gfx_id) else {
        let known: Vec<&str> = interconnect::all().iter().map(|row| row.id.as_str()).collect();
        let mut error = unknown_name("gfx_id", input.gfx_id.trim(), known, "architecture or adapter");
        error.hint = "Use one of the known ids.".to_owned();
        return Err(error);
    };
    let is_nic = row.kind == LinkKind::Nic;
    let mut notes = Vec::new();
    if is_nic {
        notes.push("xgmi and peer figures are null: a network adapter has no GPU-to-GPU links.".to_owned());
    } else {
        if row.peer_links.is_none() {
            notes.push(
                "Peer links and their sums are null: the vendor publishes them for the package only."
                    .to_owned(),
            );
        }
        notes.push("nic_line_rate_gbps is null: this is a GPU.".to_owned());
    }
    Ok(wire::LookupPeaksOutput {
        name: row.name.clone(),
        kind: if is_nic { "nic" } else { "gpu" }.to_owned(),
        xgmi_peak_gbps: row.xgmi_peak_gbps,
        xgmi_links: row.xgmi_links,
        xgmi_per_link_gbps: row.xgmi_per_link_gbps,
        pcie_tier: row.pcie_tier.clone(),
        pcie_peak_gbps: row.pcie_peak_gbps,
        achievable_gbps: Some(row.achievable_gbps),
        achievable_confidence: row.achievable_confidence.as_str().to_owned(),
        peer_links: row.peer_links,
        peer_per_link_one_way_gbps: row.peer_per_link_one_way_gbps,
        peer_one_way_gbps: row.peer_one_way_gbps,
        peer_both_ways_gbps: row.peer_both_ways_gbps,
        pcie_payload_gbps: row.pcie_payload_gbps,
        nic_line_rate_gbps: row.nic_line_rate_gbps,
        scope: match row.scope {
            Scope::Device => "device",
            Scope::Package => "package",
        }
        .to_owned(),
        direction_note: row.direction_note.clone(),
        source_url: row.source_url.clone(),
        measured_with: None,
        measured_with_reason: "nothing was measured here; the figures are the vendor's",
        notes,
    })
}
