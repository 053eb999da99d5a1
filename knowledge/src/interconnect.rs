//! Link bandwidths per architecture and network card, GB/s (10⁹ bytes per second).

use serde::Deserialize;

use crate::arch;
use crate::document::{Confidence, table};

/// What a row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// A GPU.
    Gpu,
    /// A network card.
    Nic,
}

/// What the peer figures cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One device.
    Device,
    /// A package of several devices.
    Package,
}

/// Links of one GPU or network card; `None` where the figure does not apply or is not known.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// gfx id, or the card's code name.
    pub id: String,
    /// Product.
    pub name: String,
    /// GPU or card.
    pub kind: LinkKind,
    /// The vendor's figure: both directions, all links.
    pub xgmi_peak_gbps: Option<f64>,
    /// Links counted in it.
    pub xgmi_links: Option<u32>,
    /// Both directions of one.
    pub xgmi_per_link_gbps: Option<f64>,
    /// Host link, `Gen5 x16`.
    pub pcie_tier: String,
    /// One way, nominal.
    pub pcie_peak_gbps: f64,
    /// One way, after 128b/130b coding.
    pub pcie_payload_gbps: f64,
    /// Links to other GPUs.
    pub peer_links: Option<u32>,
    /// One way of one of them.
    pub peer_per_link_one_way_gbps: Option<f64>,
    /// One way of all of them.
    pub peer_one_way_gbps: Option<f64>,
    /// Both ways of all of them.
    pub peer_both_ways_gbps: Option<f64>,
    /// GPUs each GPU reaches directly on a full-mesh board.
    pub mesh_peers: Option<u32>,
    /// Bus bandwidth an all-reduce is reported to reach on a full node; a card's line rate.
    pub achievable_gbps: f64,
    /// How sure that is.
    pub achievable_confidence: Confidence,
    /// Line rate of a card.
    pub nic_line_rate_gbps: Option<f64>,
    /// What the peer figures cover.
    pub scope: Scope,
    /// Which figures are one way.
    pub direction_note: String,
    /// Where to read more.
    pub source_url: String,
    /// How sure the link figures are.
    pub confidence: Confidence,
}

impl Links {
    /// Fact id of the row.
    pub fn fact_id(&self) -> String {
        format!("interconnect/links#{}", self.id)
    }

    /// What the links allow one way between `ranks` GPUs, GB/s: on a full mesh one link per peer; a card its
    /// line rate. `None` beyond the mesh, where links are shared, and where no mesh is known.
    pub fn link_peak_gbps(&self, ranks: u32) -> Option<f64> {
        if self.nic_line_rate_gbps.is_some() {
            return self.nic_line_rate_gbps;
        }
        let peers = ranks.checked_sub(1).filter(|peers| *peers > 0)?;
        let within = peers <= self.mesh_peers?;
        self.peer_per_link_one_way_gbps.filter(|_| within).map(|link| link * f64::from(peers))
    }
}

table! {
    /// All rows, architectures first.
    pub fn all() -> Vec<Links> = "interconnect/links";
}

/// The row of an architecture, in any spelling, or of a network card, in any case.
pub fn find(id: &str) -> Option<&'static Links> {
    let wanted = arch::normalise(id).unwrap_or_else(|| id.trim().to_ascii_lowercase());
    all().iter().find(|row| row.id == wanted)
}
