//! GPU architectures: structure, products, peaks; ids in any spelling a runtime writes.
//!
//! One file per gfx id, `facts/arch/<gfx>.yaml`, decoded on first use. Peaks are per *device* (what the
//! runtime shows as one agent), dense, a fused multiply-add counted as two operations.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::FactError;
use crate::document::{self, Confidence, built_in};

mod select;
mod traits;

pub use select::{Selected, SelectedBy};
pub use traits::{Family, MatrixPipe, PcSampling, RegisterEncoding, RegisterFiles};

/// A number per wave size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerWave {
    wave32: Option<u32>,
    wave64: u32,
}

impl PerWave {
    /// The number for waves of 32 or 64 lanes; `None` when the GPU has no such waves.
    pub fn get(self, wave: u32) -> Option<u32> {
        match wave {
            32 => self.wave32,
            64 => Some(self.wave64),
            _ => None,
        }
    }
}

/// Waves per SIMD up to a number of SGPRs the code itself uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SgprStep {
    /// Largest SGPR count of this step; `None` for the last.
    pub up_to: Option<u32>,
    /// Waves per SIMD.
    pub waves: u32,
}

/// Scalar data and instruction cache, shared by neighbouring CUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarCache {
    /// Scalar data cache, bytes.
    pub scalar_bytes: u64,
    /// Instruction cache, bytes.
    pub instruction_bytes: u64,
    /// Compute units that share them.
    pub shared_by_cus: u32,
}

/// A package that holds several devices.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Product.
    pub name: String,
    /// Devices in it.
    pub devices: u32,
    /// Compute units of all devices.
    pub cu_count: u32,
    /// TB/s, decimal, of all devices.
    pub memory_bandwidth_tbs: f64,
    /// TFLOP/s of all devices, vector.
    pub peak_fp64_tflops: f64,
    /// TFLOP/s of all devices, matrix.
    pub peak_fp16_tflops: f64,
}

/// Peak rates of one device, TFLOP/s or TOP/s; `None` where the format is not supported.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peaks {
    /// FP64, vector.
    pub fp64: f64,
    /// FP32, vector, the vendor's figure.
    pub fp32: f64,
    /// FP32, vector, with packed or dual-issued instructions.
    pub fp32_max: f64,
    /// FP16 on the fastest pipe.
    pub fp16: Option<f64>,
    /// BF16 on the fastest pipe.
    pub bf16: Option<f64>,
    /// FP8 on the fastest pipe.
    pub fp8: Option<f64>,
    /// INT8 on the fastest pipe.
    pub int8: Option<f64>,
    /// FP64 on the matrix pipe.
    pub fp64_matrix: Option<f64>,
    /// FP32 on the matrix pipe.
    pub fp32_matrix: Option<f64>,
    /// XF32 (TF32) on the matrix pipe.
    pub xf32_matrix: Option<f64>,
    /// FP6 and FP4 on the matrix pipe.
    pub fp4_matrix: Option<f64>,
    /// FP16, vector.
    pub fp16_vector: Option<f64>,
}

/// One product, as one device.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sku {
    /// Short product name, `MI300X`.
    pub sku: String,
    /// Full product name.
    pub name: String,
    /// Chosen when nothing tells the products of this gfx id apart.
    #[serde(default)]
    pub default: bool,
    /// Other products with the same device.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// PCI device ids, physical and virtual functions.
    #[serde(default)]
    pub device_ids: Vec<u32>,
    /// Compute units of the device.
    pub cu_count: u32,
    /// Dies with compute units of the device in its default partition mode.
    #[serde(default = "one")]
    pub xcd_count: u32,
    /// Shader engines of the device, where confirmed.
    pub shader_engines: Option<u32>,
    /// Peak clock, MHz.
    pub peak_clock_mhz: u32,
    /// Memory of the device, GB.
    pub memory_gb: u32,
    /// Memory technology.
    pub memory_kind: String,
    /// TB/s, decimal.
    pub memory_bandwidth_tbs: f64,
    /// Board power, W.
    pub tdp_w: f64,
    /// L2 of the device, MiB.
    pub l2_mib: u32,
    /// Infinity Cache behind the L2, MiB.
    pub infinity_cache_mib: Option<u32>,
    /// Peak rate of the Infinity Cache, TB/s, decimal, where published.
    pub infinity_cache_bandwidth_tbs: Option<f64>,
    /// Peak rates.
    pub peaks: Peaks,
    /// Where the figures come from.
    pub source: String,
    /// How sure they are.
    pub confidence: Confidence,
    /// What to beware of.
    pub note: Option<String>,
}

fn one() -> u32 {
    1
}

impl Sku {
    /// Peak memory bandwidth, bytes per second.
    pub fn bandwidth_bytes_per_s(&self) -> f64 {
        self.memory_bandwidth_tbs * 1e12
    }
}

/// One architecture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arch {
    /// Normalised id, `gfx942`.
    pub gfx_id: String,
    /// Generation.
    pub family: Family,
    /// Matrix instructions.
    pub matrix_pipe: MatrixPipe,
    /// Packed or dual-issued FP32 exists, so plain FP32 code reaches half of `fp32_max`.
    pub packed_fp32: bool,
    /// SIMDs per CU.
    pub simds_per_cu: u32,
    /// Wave slots per SIMD.
    pub max_waves_per_simd: u32,
    /// Lanes of a wave unless the compiler chose otherwise.
    pub native_wave: u32,
    /// Lanes a wave can have.
    pub wave_sizes: Vec<u32>,
    /// How the register files are shared.
    pub registers: RegisterFiles,
    /// VGPRs of one lane position per SIMD.
    pub vgprs_per_simd: PerWave,
    /// VGPRs are allocated in multiples of this.
    pub vgpr_granule: PerWave,
    /// Arch VGPRs one work-item can use.
    pub max_arch_vgprs: u32,
    /// Accumulation VGPRs one work-item can use.
    pub max_acc_vgprs: u32,
    /// How a database spells register counts.
    pub register_encoding: RegisterEncoding,
    /// Waves by SGPR use, ascending; empty when SGPRs never limit.
    pub sgpr_steps: Vec<SgprStep>,
    /// LDS of a CU, bytes.
    pub lds_bytes_per_cu: u64,
    /// LDS of a workgroup processor (two CUs), bytes; RDNA only.
    pub lds_bytes_per_wgp: Option<u64>,
    /// Most LDS one workgroup can use, bytes.
    pub lds_bytes_per_workgroup: u64,
    /// LDS is allocated in multiples of this, bytes.
    pub lds_granule_bytes: u64,
    /// Workgroups of several waves a CU can hold.
    pub barriers_per_cu: u32,
    /// Workgroups of several waves a workgroup processor can hold; RDNA only.
    pub barriers_per_wgp: Option<u32>,
    /// Vector L1 (L0 on RDNA) per CU, bytes.
    pub vl1_bytes: u64,
    /// Its line, bytes.
    pub vl1_line_bytes: u64,
    /// L2 line, bytes; CDNA only.
    pub l2_line_bytes: Option<u64>,
    /// L2 channels per die; CDNA only.
    pub l2_channels_per_die: Option<u32>,
    /// Scalar and instruction cache.
    pub scalar_cache: ScalarCache,
    /// PC sampling supported.
    pub pc_sampling: PcSampling,
    /// Thread trace supported.
    pub thread_trace: bool,
    /// Package with several such devices.
    pub package: Option<Package>,
    /// Products, in table order; exactly one is the default.
    pub skus: Vec<Sku>,
}

impl Arch {
    /// Fact id of this architecture, or of one of its keys: `arch/gfx942#MI300X.peaks.fp64` with
    /// key `skus.MI300X.peaks.fp64`.
    pub fn fact_id(&self, key: &str) -> String {
        if key.is_empty() { format!("arch/{}", self.gfx_id) } else { format!("arch/{}#{key}", self.gfx_id) }
    }

    /// Wave slots of a CU.
    pub fn max_waves_per_cu(&self) -> u32 {
        self.max_waves_per_simd * self.simds_per_cu
    }

    /// Registers one work-item can use, arch and accumulation together.
    pub fn max_vgprs_per_thread(&self) -> u32 {
        self.max_arch_vgprs + self.max_acc_vgprs
    }

    /// Waves per SIMD that `used` SGPRs allow; `None` when SGPRs never limit.
    pub fn sgpr_waves(&self, used: u32) -> Option<u32> {
        self.sgpr_steps
            .iter()
            .find(|step| step.up_to.is_none_or(|limit| used <= limit))
            .map(|step| step.waves)
    }

    /// Arch and accumulation VGPRs behind the counts of a database row.
    ///
    /// On gfx950 with no accumulation count the profiler stored half of the unified total, and the split is
    /// not recorded: the whole total is returned as arch. On gfx908 the accumulation count is a copy of
    /// the arch count and says nothing: 0 is returned for it.
    pub fn decode_vgprs(&self, arch_vgpr_count: u32, accum_vgpr_count: u32) -> (u32, u32) {
        match self.register_encoding {
            RegisterEncoding::Halved if accum_vgpr_count == 0 => (arch_vgpr_count.saturating_mul(2), 0),
            RegisterEncoding::AccumRepeatsArch if accum_vgpr_count == arch_vgpr_count => (arch_vgpr_count, 0),
            RegisterEncoding::ArchOnly => (arch_vgpr_count, 0),
            _ => (arch_vgpr_count, accum_vgpr_count),
        }
    }

    /// FP32 peak of plain fused multiply-adds on a product, TFLOP/s, rounded to two decimals.
    pub fn fp32_unpacked(&self, sku: &Sku) -> f64 {
        let max = sku.peaks.fp32_max;
        if self.packed_fp32 { (max / 2.0 * 100.0).round() / 100.0 } else { max }
    }
}

macro_rules! embedded {
    ($($id:literal),+ $(,)?) => {
        /// Ids with facts, sorted by byte order.
        pub const KNOWN: &[&str] = &[$($id),+];
        static ARCHS: [(&str, OnceLock<Arch>); KNOWN.len()] = [$(($id, OnceLock::new())),+];
    };
}
embedded!(
    "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201", "gfx908", "gfx90a", "gfx942", "gfx950"
);

/// Decodes one architecture's file.
///
/// # Errors
/// There is no such file, or it is malformed.
pub fn load(gfx_id: &str) -> Result<Arch, FactError> {
    Ok(document::load(&format!("arch/{gfx_id}"))?.facts)
}

/// Brings an id to the form `gfx942`: blanks and case, an `amdgcn-amd-amdhsa--` prefix and target features
/// after `:` removed. `None` when what is left is not `gfx` with three or four characters, all decimal digits
/// but for one final hex letter (`gfx9-4-generic` is none).
pub fn normalise(id: &str) -> Option<String> {
    let id = id.trim().to_ascii_lowercase();
    let id = id.strip_prefix("amdgcn-amd-amdhsa--").unwrap_or(&id);
    let id = id.split(':').next().unwrap_or(id).trim();
    let version = id.strip_prefix("gfx")?;
    let (last, digits) = version.as_bytes().split_last()?;
    let shaped =
        matches!(version.len(), 3 | 4) && digits.iter().all(u8::is_ascii_digit) && last.is_ascii_hexdigit();
    shaped.then(|| id.to_owned())
}

/// The architecture of an id in any spelling; `None` when it is unknown. No other GPU's figures stand in.
pub fn find(id: &str) -> Option<&'static Arch> {
    let id = normalise(id)?;
    let (id, cell) = ARCHS.iter().find(|(known, _)| *known == id)?;
    Some(cell.get_or_init(|| built_in(load(id))))
}

/// All architectures, in the order of [`KNOWN`].
pub fn all() -> impl Iterator<Item = &'static Arch> {
    KNOWN.iter().filter_map(|id| find(id))
}
