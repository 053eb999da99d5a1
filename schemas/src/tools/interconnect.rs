//! `interconnect`: link bandwidths of GPUs and network adapters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `interconnect.lookup_peaks`.
pub struct LookupPeaks;

impl Contract for LookupPeaks {
    const NAME: &'static str = "interconnect.lookup_peaks";
    type Input = LookupPeaksInput;
    type Output = LookupPeaksOutput;
}

/// Arguments of `interconnect.lookup_peaks`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupPeaksInput {
    /// Architecture such as gfx942, or adapter connectx6, connectx7.
    pub gfx_id: String,
}

/// Answer of `interconnect.lookup_peaks`; bandwidths in GB/s (1e9 bytes/s), null = does not apply or not published.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupPeaksOutput {
    /// Product or adapter.
    pub name: String,
    /// `gpu` or `nic`.
    pub kind: String,
    /// Vendor's figure: both directions, all links.
    pub xgmi_peak_gbps: Option<f64>,
    /// Links of the device or package.
    pub xgmi_links: Option<u32>,
    /// Both directions of one link.
    pub xgmi_per_link_gbps: Option<f64>,
    /// PCIe generation and width.
    pub pcie_tier: String,
    /// One way, nominal, GB/s.
    pub pcie_peak_gbps: f64,
    /// Bus bandwidth that an all-reduce is reported to reach on a full node.
    pub achievable_gbps: Option<f64>,
    /// How sure that is.
    pub achievable_confidence: String,
    /// GPU-to-GPU links.
    pub peer_links: Option<u32>,
    /// One way of one of them.
    pub peer_per_link_one_way_gbps: Option<f64>,
    /// One way of all of them.
    pub peer_one_way_gbps: Option<f64>,
    /// Both directions of all of them.
    pub peer_both_ways_gbps: Option<f64>,
    /// One way after line coding, GB/s.
    pub pcie_payload_gbps: f64,
    /// Line rate of an adapter; null for GPUs.
    pub nic_line_rate_gbps: Option<f64>,
    /// `device` or `package`.
    pub scope: String,
    /// Which figure counts which direction.
    pub direction_note: String,
    /// Where the figures come from.
    pub source_url: String,
    /// Always null: nothing was measured.
    pub measured_with: Option<String>,
    /// Why it is null.
    pub measured_with_reason: &'static str,
    /// Why some figures are null.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
