//! `occupancy`: theoretical occupancy, and whether fewer registers would raise it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Contract;

/// Contract of `occupancy.lookup_waves_per_eu`.
pub struct LookupWavesPerEu;

impl Contract for LookupWavesPerEu {
    const NAME: &'static str = "occupancy.lookup_waves_per_eu";
    type Input = LookupWavesPerEuInput;
    type Output = LookupWavesPerEuOutput;
}

/// Arguments of `occupancy.lookup_waves_per_eu`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LookupWavesPerEuInput {
    /// Architecture VGPRs per lane, a count.
    #[schemars(range(min = 0))]
    pub vgpr_count: u64,
    /// Architecture such as gfx942.
    pub gfx_id: String,
    /// Accumulation VGPRs per lane, a count; 0 on RDNA.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub agpr_count: u64,
    /// SGPRs per wave, a count.
    #[schemars(range(min = 0, max = 128))]
    pub sgpr_count: Option<u64>,
    /// LDS per workgroup, bytes; above 0 needs workgroup_size.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub lds_bytes: u64,
    /// Work-items per workgroup, a count.
    #[schemars(range(min = 1, max = 1024))]
    pub workgroup_size: Option<u64>,
    /// 32 or 64 work-items per wave; native by default.
    #[schemars(range(min = 32, max = 64))]
    pub wave_size: Option<u32>,
    /// RDNA only: workgroups stay on one CU instead of a WGP.
    pub cu_mode: Option<bool>,
}

/// What holds the number of waves down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limiter {
    /// Vector registers.
    Vgpr,
    /// Scalar registers.
    Sgpr,
    /// Shared memory.
    Lds,
    /// Barriers of a unit.
    Barrier,
    /// Wave slots that whole workgroups cannot fill.
    Workgroup,
    /// Nothing: it is full.
    None,
}

/// Workgroups that each resource allows; null = no limit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorkgroupLimits {
    /// Vector and scalar registers.
    pub registers: u64,
    /// Shared memory.
    pub lds: Option<u64>,
    /// Barriers.
    pub barriers: Option<u64>,
    /// Wave slots.
    pub wave_slots: u64,
}

/// A register count that gives more waves.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StepDown {
    /// Registers (arch + acc on unified files).
    pub vgprs: u64,
    /// Waves it gives.
    pub waves: u64,
}

/// Answer of `occupancy.lookup_waves_per_eu`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LookupWavesPerEuOutput {
    /// Waves per SIMD.
    pub waves_per_eu: u64,
    /// What holds it down.
    pub limiter: Limiter,
    /// Most waves per SIMD.
    pub max_waves_per_eu: u64,
    /// What vector registers allow.
    pub vgpr_waves: u64,
    /// What scalar registers allow; null without a count, or no limit.
    pub sgpr_waves: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sgpr_waves_reason: Option<&'static str>,
    /// Registers really taken.
    pub allocated_vgprs: u64,
    /// Waves of one workgroup.
    pub waves_per_workgroup: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves_per_workgroup_reason: Option<&'static str>,
    /// Workgroups per CU or WGP.
    pub workgroups_per_unit: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workgroups_per_unit_reason: Option<&'static str>,
    /// Waves per CU or WGP.
    pub waves_per_unit: Option<u64>,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves_per_unit_reason: Option<&'static str>,
    /// `CU` or `WGP`.
    pub allocation_unit: &'static str,
    /// `waves`.
    pub unit: &'static str,
    /// Waves over wave slots, a fraction.
    pub occupancy: f64,
    /// Workgroups per resource; null without workgroup_size.
    pub limits: Option<WorkgroupLimits>,
    /// Why they are null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits_reason: Option<&'static str>,
    /// Largest register count with one more wave; null at the maximum.
    pub next_step_down: Option<StepDown>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step_down_reason: Option<&'static str>,
}

/// Contract of `occupancy.suggest_vgpr_reduction`.
pub struct SuggestVgprReduction;

impl Contract for SuggestVgprReduction {
    const NAME: &'static str = "occupancy.suggest_vgpr_reduction";
    type Input = SuggestVgprReductionInput;
    type Output = SuggestVgprReductionOutput;
}

/// Arguments of `occupancy.suggest_vgpr_reduction`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestVgprReductionInput {
    /// Architecture VGPRs per lane now, a count.
    #[schemars(range(min = 0))]
    pub current_vgpr: u64,
    /// Measured occupancy, a fraction; 0 = not measured.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub occupancy_pct: Option<f64>,
    /// Share of the runtime in this kernel, a fraction.
    #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
    pub kernel_time_pct: f64,
    /// Architecture.
    #[serde(default = "default_gfx")]
    pub gfx_id: String,
    /// Accumulation VGPRs per lane, a count; 0 on RDNA.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub agpr_count: u64,
    /// SGPRs per wave, a count.
    #[schemars(range(min = 0, max = 128))]
    pub sgpr_count: Option<u64>,
    /// LDS per workgroup, bytes.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub lds_bytes: u64,
    /// Work-items per workgroup, a count.
    #[serde(default = "workgroup")]
    #[schemars(range(min = 1, max = 1024))]
    pub workgroup_size: u64,
    /// 32 or 64 work-items per wave; native by default.
    #[schemars(range(min = 32, max = 64))]
    pub wave_size: Option<u32>,
}

fn default_gfx() -> String {
    "gfx942".to_owned()
}

const fn workgroup() -> u64 {
    256
}

/// Why fewer registers would not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// The kernel's share is too small to matter.
    TooSmall,
    /// No more waves fit.
    AtMaximum,
    /// Something else limits.
    OtherLimiter,
    /// The measured occupancy is far below what registers allow.
    NotOccupancyBound,
}

/// How likely registers spill to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpillRisk {
    /// Up to a tenth fewer registers.
    Low,
    /// Up to a quarter fewer.
    Medium,
    /// More than that.
    High,
}

/// One step up in waves.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Step {
    /// Waves per SIMD.
    pub waves: u64,
    /// Most registers (arch + acc on unified files).
    pub max_vgprs: u64,
    /// Registers to give up.
    pub reduction: u64,
}

/// Answer of `occupancy.suggest_vgpr_reduction`; the keys after `reason_code` only when applicable.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SuggestVgprReductionOutput {
    /// Fewer registers would raise occupancy.
    pub applicable: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why not, as a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<ReasonCode>,
    /// The suggestion.
    #[serde(flatten)]
    pub reduction: Option<VgprReduction>,
}

/// A reduction that pays.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VgprReduction {
    /// Registers now.
    pub current_vgpr: u64,
    /// Registers to aim at.
    pub target_vgpr: u64,
    /// Waves per SIMD now.
    pub current_waves: u64,
    /// Waves per SIMD then.
    pub target_waves: u64,
    /// Target over current waves.
    pub expected_occupancy_multiplier: f64,
    /// Launch bounds that ask the compiler for it; the second argument is waves per SIMD.
    pub suggested_flag: String,
    /// Every step up.
    pub steps: Vec<Step>,
    /// How likely registers spill.
    pub spill_risk: SpillRisk,
    /// What to check afterwards.
    pub verify: &'static str,
}
