//! What the GPUs of a run are: architecture, product and peaks, from what the trace tells and the facts know.

use perfxpert_knowledge::arch::{self, Arch, SelectedBy, Sku};
use perfxpert_knowledge::interconnect::{self, Links};
use perfxpert_trace::{Agent, AgentIdx, Health, HealthItem, MachineIdx, Severity, Trace};

use crate::RunProfile;
use crate::units::{Bytes, BytesPerSecond};

/// How sure the choice of the product is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkuSource {
    /// The trace names it.
    Trace,
    /// The PCI device id tells.
    DeviceId,
    /// The number of compute units tells.
    CuCount,
    /// Only the architecture is known: its most common product.
    GfxOnly,
    /// The architecture itself is not known.
    Unknown,
}

impl SkuSource {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::DeviceId => "device_id",
            Self::CuCount => "cu_count",
            Self::GfxOnly => "gfx_only",
            Self::Unknown => "unknown",
        }
    }
}

/// One GPU of a run. What neither trace nor facts know is `None`; no other GPU's figures stand in.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The GPU.
    pub agent: AgentIdx,
    /// Its machine.
    pub machine: MachineIdx,
    /// Architecture id (`gfx942`).
    pub gfx_id: Option<String>,
    /// Product name.
    pub name: Option<String>,
    /// Facts of the architecture.
    pub arch: Option<&'static Arch>,
    /// Facts of the product.
    pub sku: Option<&'static Sku>,
    /// How the product was chosen.
    pub sku_source: SkuSource,
    /// Links of the architecture.
    pub links: Option<&'static Links>,
    /// Compute units.
    pub cu_count: Option<u32>,
    /// Dies with compute units.
    pub xcc_count: Option<u32>,
    /// Shader engines of the whole GPU.
    pub shader_engines: Option<u32>,
    /// Lanes of a wave.
    pub wave_size: Option<u32>,
    /// Wave slots per compute unit.
    pub max_waves_per_cu: Option<u32>,
    /// LDS per compute unit.
    pub lds_per_cu: Option<Bytes>,
    /// Highest clock, MHz.
    pub clock_mhz: Option<u32>,
    /// Local memory.
    pub memory: Option<Bytes>,
    /// Peak memory bandwidth; `None` for a partition of a product, whose share of it is not recorded.
    pub hbm_peak: Option<BytesPerSecond>,
    /// Whether it is only a part of the product: fewer than half of its compute units.
    pub partition: bool,
}

impl Gpu {
    /// Host link, one way, GB/s after coding.
    #[must_use]
    pub fn host_link_peak_gbps(&self) -> Option<f64> {
        self.links.map(|links| links.pcie_payload_gbps).filter(|peak| *peak > 0.0)
    }

    /// One link to one peer GPU, one way, GB/s.
    #[must_use]
    pub fn peer_link_peak_gbps(&self) -> Option<f64> {
        self.links.and_then(|links| links.peer_per_link_one_way_gbps).filter(|peak| *peak > 0.0)
    }

    fn of(agent: AgentIdx, machine: MachineIdx, described: Option<&Agent>, gfx: Option<&str>) -> Self {
        let properties = described.map(|agent| agent.properties.clone()).unwrap_or_default();
        let recorded = described.and_then(|agent| agent.gfx_id.clone());
        let gfx_id = gfx.and_then(arch::normalise).or(recorded);
        let arch = gfx_id.as_deref().and_then(arch::find);
        let product = described.and_then(|agent| agent.product_name.as_deref());
        let selected = arch.and_then(|arch| arch.select(product, properties.device_id, properties.cu_count));
        let sku = selected.as_ref().map(|found| found.sku);
        let sku_source = match selected.map(|found| found.by) {
            Some(SelectedBy::Name) => SkuSource::Trace,
            Some(SelectedBy::DeviceId) => SkuSource::DeviceId,
            Some(SelectedBy::CuCount) => SkuSource::CuCount,
            Some(SelectedBy::Default) => SkuSource::GfxOnly,
            None => SkuSource::Unknown,
        };
        let cu_count = properties.cu_count.or(sku.map(|sku| sku.cu_count));
        let partition =
            sku.zip(properties.cu_count).is_some_and(|(sku, count)| count.saturating_mul(2) <= sku.cu_count);
        let lds = properties.lds_kib.map(|kib| Bytes(u64::from(kib) * 1024));
        Self {
            agent,
            machine,
            name: sku.map(|sku| sku.name.clone()).or_else(|| product.map(str::to_owned)),
            links: arch.and_then(|arch| interconnect::find(&arch.gfx_id)),
            cu_count,
            xcc_count: properties.xcc_count.or(sku.map(|sku| sku.xcd_count)),
            shader_engines: properties.shader_engines.or(sku.and_then(|sku| sku.shader_engines)),
            wave_size: properties.wave_front_size.or(arch.map(|arch| arch.native_wave)),
            max_waves_per_cu: arch.map(Arch::max_waves_per_cu).or(properties.max_waves_per_cu),
            lds_per_cu: arch.map(|arch| Bytes(arch.lds_bytes_per_cu)).or(lds),
            clock_mhz: properties.max_engine_clock_mhz.or(sku.map(|sku| sku.peak_clock_mhz)),
            memory: properties
                .memory_bytes
                .map(Bytes)
                .or(sku.map(|sku| Bytes(u64::from(sku.memory_gb) * 1_000_000_000))),
            hbm_peak: sku
                .filter(|_| !partition)
                .map(|sku| BytesPerSecond(sku.bandwidth_bytes_per_s()))
                .filter(|peak| peak.0 > 0.0),
            partition,
            gfx_id,
            arch,
            sku,
            sku_source,
        }
    }
}

/// The GPU at an index of a trace. `gfx` overrides the recorded architecture.
#[must_use]
pub fn of_agent(trace: &Trace, agent: AgentIdx, gfx: Option<&str>) -> Gpu {
    let described = trace.agent(agent);
    let machine = described.as_ref().map_or(MachineIdx::NONE, |agent| agent.machine);
    Gpu::of(agent, machine, described.as_ref(), gfx)
}

/// The GPUs of a run, in the order of its agents. `gfx` overrides the recorded architecture.
#[must_use]
pub fn of_run(trace: &Trace, profile: &RunProfile, gfx: Option<&str>) -> Vec<Gpu> {
    let agents = profile.agents.iter();
    agents.map(|agent| Gpu::of(agent.agent, agent.machine, trace.agent(agent.agent).as_ref(), gfx)).collect()
}

/// Architectures without facts, and products that were assumed.
#[must_use]
pub fn health(gpus: &[Gpu]) -> Health {
    let mut health = Health::default();
    let names = |wanted: SkuSource| {
        let mut names: Vec<String> = gpus
            .iter()
            .filter(|gpu| gpu.sku_source == wanted)
            .map(|gpu| gpu.gfx_id.clone().unwrap_or_else(|| "an unnamed GPU".to_owned()))
            .collect();
        let count = names.len() as u64;
        names.sort();
        names.dedup();
        (count, names)
    };
    let (count, examples) = names(SkuSource::Unknown);
    if count > 0 {
        health.add(HealthItem {
            id: "unknown_arch",
            severity: Severity::Info,
            count,
            message: format!(
                "No facts about {}: peaks, occupancy and counter formulas are left out.",
                examples.join(", ")
            ),
            advice: "Times and shares do not depend on it; for the rest use a GPU the product knows."
                .to_owned(),
            examples,
        });
    }
    let (count, examples) = names(SkuSource::GfxOnly);
    if count > 0 {
        let assumed: Vec<&str> = gpus
            .iter()
            .filter(|gpu| gpu.sku_source == SkuSource::GfxOnly)
            .filter_map(|gpu| gpu.sku.map(|sku| sku.sku.as_str()))
            .take(1)
            .collect();
        health.add(HealthItem {
            id: "assumed_product",
            severity: Severity::Info,
            count,
            message: format!(
                "The trace does not say which {} product this is; figures are of the {}.",
                examples.join(", "),
                assumed.join(", ")
            ),
            advice: "Peaks are off if it is another product of this architecture.".to_owned(),
            examples,
        });
    }
    health
}
