//! Machines and agents.

use super::{MachineIdx, ProcessIdx};

/// One machine (node).
#[derive(Clone, Debug)]
pub struct Machine {
    /// Machine id as recorded; else host name; else empty.
    pub id: String,
    /// Host name, when recorded.
    pub hostname: Option<String>,
}

/// What an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AgentKind {
    /// A GPU.
    Gpu,
    /// A CPU socket.
    Cpu,
    /// Anything else (network card), or an agent the file refers to but does not describe.
    Other,
}

/// One link from an agent to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoLink {
    /// Node id (absolute index) of the other end.
    pub to_node: i64,
    /// Link type as the driver numbers it: 2 PCIe, 11 xGMI.
    pub kind: i64,
    /// Lowest bandwidth, MB/s; 0 when not told.
    pub min_bandwidth_mbps: i64,
    /// Highest bandwidth, MB/s; 0 when not told.
    pub max_bandwidth_mbps: i64,
}

/// Numbers of an agent as the runtime reported them; absent ones are `None`, and zeros of the writer count as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentProperties {
    /// Compute units of the whole agent.
    pub cu_count: Option<u32>,
    /// SIMDs of the whole agent.
    pub simd_count: Option<u32>,
    /// SIMDs per compute unit.
    pub simd_per_cu: Option<u32>,
    /// Wave slots per SIMD.
    pub max_waves_per_simd: Option<u32>,
    /// Wave slots per compute unit.
    pub max_waves_per_cu: Option<u32>,
    /// Work-items per wave.
    pub wave_front_size: Option<u32>,
    /// LDS per compute unit, KiB.
    pub lds_kib: Option<u32>,
    /// Accelerator dies (XCC).
    pub xcc_count: Option<u32>,
    /// Shader engines of the whole agent.
    pub shader_engines: Option<u32>,
    /// Highest engine clock, MHz.
    pub max_engine_clock_mhz: Option<u32>,
    /// Architecture as major * 10000 + minor * 100 + step.
    pub gfx_target_version: Option<u32>,
    /// PCI vendor id.
    pub vendor_id: Option<u32>,
    /// PCI device id.
    pub device_id: Option<u32>,
    /// PCI domain.
    pub domain: Option<u32>,
    /// PCI location.
    pub location_id: Option<u32>,
    /// Local memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Memory clock of the first bank, MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Memory bus width of the first bank, bits.
    pub memory_width_bits: Option<u32>,
    /// Level-2 cache, bytes, added up over instances.
    pub l2_bytes: Option<u64>,
    /// Last-level cache, bytes, added up over instances.
    pub l3_bytes: Option<u64>,
    /// DMA engines.
    pub sdma_engines: Option<u32>,
    /// Unique id of the device, when not all zeros.
    pub uuid: Option<[u8; 16]>,
    /// Links to other agents, at most 64.
    pub links: Vec<IoLink>,
}

/// One physical agent of one machine.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its machine.
    pub machine: MachineIdx,
    /// What it is.
    pub kind: AgentKind,
    /// Node id in the machine's topology; 0 is valid.
    pub absolute_index: i64,
    /// Position among the agents of its kind; 0 is valid.
    pub type_index: Option<i64>,
    /// Architecture id: lower case, without prefix, suffixes and blanks (`gfx942`).
    pub gfx_id: Option<String>,
    /// Name as recorded.
    pub name: Option<String>,
    /// Marketing name as recorded.
    pub product_name: Option<String>,
    /// Vendor as recorded.
    pub vendor_name: Option<String>,
    /// Numbers the runtime reported.
    pub properties: AgentProperties,
    /// Processes that saw it, ascending.
    pub processes: Vec<ProcessIdx>,
    /// False when rows refer to it and no row describes it.
    pub described: bool,
}
