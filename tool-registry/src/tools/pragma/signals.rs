//! Reads the evidence for loop hints out of a free map.

use perfxpert_analysis::loop_hints;
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value};

use crate::device;
use crate::free_map::FreeMap;

const KNOWN: [&str; 11] = [
    "hotspot_pct",
    "loop_trip_count",
    "loop_body_size",
    "valu_util_pct",
    "vgpr_per_thread",
    "arch_max_vgpr",
    "scratch_size",
    "waves_per_eu",
    "gfx_id",
    "source_path",
    "source_line",
];

/// Evidence for one kernel; `None` = not known.
pub(super) struct Signals {
    /// Percent of kernel time.
    pub(super) hotspot_pct: Option<f64>,
    pub(super) loop_trip_count: Option<u64>,
    /// Instructions.
    pub(super) loop_body_size: Option<u64>,
    pub(super) valu_util_pct: Option<f64>,
    pub(super) vgpr_per_thread: Option<u64>,
    /// Registers one work-item can use.
    pub(super) max_vgpr: u64,
    /// Bytes.
    pub(super) scratch_size: u64,
    pub(super) waves_per_eu: u64,
    pub(super) source_path: Option<String>,
    pub(super) source_line: Option<u64>,
    pub(super) unknown: Vec<String>,
}

impl Signals {
    pub(super) fn read(values: &Map<String, Value>) -> Result<Self, ErrorObject> {
        let map = FreeMap { argument: "signals", values };
        let limits = thresholds::pragma();
        let by_arch = match map.text("gfx_id")? {
            Some(id) => Some(u64::from(device::architecture("signals.gfx_id", &id)?.max_vgprs_per_thread())),
            None => None,
        };
        Ok(Self {
            hotspot_pct: map.number_within("hotspot_pct", 0.0, 100.0)?,
            loop_trip_count: map.whole("loop_trip_count", 1)?,
            loop_body_size: map.whole("loop_body_size", 0)?,
            valu_util_pct: map.fraction("valu_util_pct")?,
            vgpr_per_thread: map.whole("vgpr_per_thread", 0)?,
            max_vgpr: map.whole("arch_max_vgpr", 1)?.or(by_arch).unwrap_or(limits.default_max_vgpr),
            scratch_size: map.whole("scratch_size", 0)?.unwrap_or(0),
            waves_per_eu: map.whole("waves_per_eu", 0)?.unwrap_or(limits.default_waves),
            source_path: map.text("source_path")?,
            source_line: map.whole("source_line", 1)?,
            unknown: map.unknown_shown(&KNOWN),
        })
    }

    /// What the hints look at.
    pub(super) fn evidence(&self) -> loop_hints::Signals {
        loop_hints::Signals {
            trip_count: self.loop_trip_count,
            body_size: self.loop_body_size,
            valu: self.valu_util_pct,
            vgprs: self.vgpr_per_thread,
            max_vgprs: self.max_vgpr,
            scratch: self.scratch_size,
            waves: self.waves_per_eu,
        }
    }
}
