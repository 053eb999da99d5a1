//! `occupancy`: theoretical occupancy of a kernel, and what fewer registers would bring.

use perfxpert_analysis::occupancy::{Limiter, Misfit, Occupancy, Unit, Use};
use perfxpert_analysis::rounding::round;
use perfxpert_knowledge::arch::Arch;
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::occupancy as wire;

use crate::{Context, Tool, device, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::LookupWavesPerEu>(
            "Theoretical occupancy",
            "Exact theoretical occupancy from registers, LDS and workgroup size. Use occupancy_suggest_vgpr_reduction for what to change.",
            lookup_waves_per_eu,
        ),
        tool::<wire::SuggestVgprReduction>(
            "Register reduction",
            "Would fewer vector registers raise a kernel's occupancy, and to what count? Use occupancy_lookup_waves_per_eu for the occupancy itself.",
            suggest_vgpr_reduction,
        ),
    ]
}

fn unit(arch: &'static Arch, wave: Option<u32>, cu_mode: Option<bool>) -> Result<Unit, ErrorObject> {
    let is_rdna = !arch.family.is_cdna();
    if cu_mode == Some(true) && !is_rdna {
        return Err(ErrorObject::invalid(
            "cu_mode",
            format!("{} has no WGP mode, so cu_mode means nothing there.", arch.gfx_id),
            "Leave cu_mode out; it is for RDNA.",
        )
        .value("true"));
    }
    let wave = wave.unwrap_or(arch.native_wave);
    Unit::of(arch, wave, cu_mode.unwrap_or(false)).ok_or_else(|| {
        let sizes: Vec<String> = arch.wave_sizes.iter().map(ToString::to_string).collect();
        ErrorObject::invalid(
            "wave_size",
            format!("{} has no waves of {wave} work-items.", arch.gfx_id),
            format!("Send {}.", sizes.join(" or ")),
        )
        .value(&wave.to_string())
    })
}

/// The refusal of a kernel that cannot run so; `vgprs` is the tool's own name for its register argument.
fn misfit(misfit: Misfit, arch: &Arch, vgprs: &str) -> ErrorObject {
    let (field, hint) = match misfit {
        Misfit::Registers { .. } => (vgprs, "Send the counts the compiler reports per work-item."),
        Misfit::NoAccumulation { .. } => ("agpr_count", "Send 0, or leave agpr_count out."),
        Misfit::NoWorkgroupSize => ("workgroup_size", "Send workgroup_size with lds_bytes."),
        Misfit::Workgroup { .. } => (
            "lds_bytes",
            "Send the LDS and the size of one workgroup as launched; the hardware could not run this.",
        ),
    };
    let sentence = misfit.to_string();
    ErrorObject::invalid(field, format!("On {}: {sentence}.", arch.gfx_id), hint)
}

fn limiter(limiter: Limiter) -> wire::Limiter {
    match limiter {
        Limiter::Vgpr => wire::Limiter::Vgpr,
        Limiter::Sgpr => wire::Limiter::Sgpr,
        Limiter::Lds => wire::Limiter::Lds,
        Limiter::Barrier => wire::Limiter::Barrier,
        Limiter::Workgroup => wire::Limiter::Workgroup,
        Limiter::None => wire::Limiter::None,
    }
}

fn lookup_waves_per_eu(
    _: &Context,
    input: wire::LookupWavesPerEuInput,
) -> Result<wire::LookupWavesPerEuOutput, ErrorObject> {
    let arch = device::architecture("gfx_id", &input.gfx_id)?;
    let unit = unit(arch, input.wave_size, input.cu_mode)?;
    let kernel = Use {
        vgprs: input.vgpr_count,
        agprs: input.agpr_count,
        sgprs: input.sgpr_count,
        lds_bytes: input.lds_bytes,
        workgroup_size: input.workgroup_size,
    };
    let found: Occupancy = unit.occupancy(&kernel).map_err(|fault| misfit(fault, arch, "vgpr_count"))?;
    let groups = found.workgroups;
    let unknown = groups.is_none().then_some("workgroup_size was not sent");
    let step = unit.next_step_down(found.registers);
    let is_wgp = !arch.family.is_cdna() && input.cu_mode != Some(true);
    Ok(wire::LookupWavesPerEuOutput {
        waves_per_eu: found.waves,
        limiter: limiter(found.limiter),
        max_waves_per_eu: unit.max_waves,
        vgpr_waves: found.vgpr_waves,
        sgpr_waves: found.sgpr_waves,
        sgpr_waves_reason: found.sgpr_waves.is_none().then_some(if kernel.sgprs.is_none() {
            "sgpr_count was not sent"
        } else {
            "scalar registers never limit on this architecture"
        }),
        allocated_vgprs: found.allocated,
        waves_per_workgroup: groups.map(|groups| groups.waves),
        waves_per_workgroup_reason: unknown,
        workgroups_per_unit: groups.map(|groups| groups.fitting),
        workgroups_per_unit_reason: unknown,
        waves_per_unit: groups.map(|groups| groups.fitting * groups.waves),
        waves_per_unit_reason: unknown,
        allocation_unit: if is_wgp { "WGP" } else { "CU" },
        unit: "waves",
        occupancy: round(found.fraction, 4),
        limits: groups.map(|groups| wire::WorkgroupLimits {
            registers: groups.registers,
            lds: groups.lds,
            barriers: groups.barriers,
            wave_slots: groups.wave_slots,
        }),
        limits_reason: unknown,
        next_step_down: step.map(|step| wire::StepDown { vgprs: step.registers, waves: step.waves }),
        next_step_down_reason: step.is_none().then_some("registers allow the maximum already"),
    })
}

fn refusal(code: wire::ReasonCode, reason: String) -> wire::SuggestVgprReductionOutput {
    wire::SuggestVgprReductionOutput {
        applicable: false,
        reason: Some(reason),
        reason_code: Some(code),
        reduction: None,
    }
}

fn suggest_vgpr_reduction(
    _: &Context,
    input: wire::SuggestVgprReductionInput,
) -> Result<wire::SuggestVgprReductionOutput, ErrorObject> {
    use wire::ReasonCode::{AtMaximum, NotOccupancyBound, OtherLimiter, TooSmall};
    let arch = device::architecture("gfx_id", &input.gfx_id)?;
    let unit = unit(arch, input.wave_size, None)?;
    let kernel = Use {
        vgprs: input.current_vgpr,
        agprs: input.agpr_count,
        sgprs: input.sgpr_count,
        lds_bytes: input.lds_bytes,
        workgroup_size: Some(input.workgroup_size),
    };
    let refused = |fault| misfit(fault, arch, "current_vgpr");
    let now = unit.occupancy(&kernel).map_err(refused)?;
    let (limits, gate) = (thresholds::occupancy(), thresholds::amdahl().low);
    if input.kernel_time_pct < gate {
        return Ok(refusal(
            TooSmall,
            format!(
                "The kernel takes {:.1} % of the runtime, below the {:.0} % from which a change can matter.",
                input.kernel_time_pct * 100.0,
                gate * 100.0
            ),
        ));
    }
    if now.waves == unit.max_waves {
        return Ok(refusal(AtMaximum, format!("All {} waves per SIMD fit already.", unit.max_waves)));
    }
    if now.limiter != Limiter::Vgpr {
        let what = match now.limiter {
            Limiter::Sgpr => "scalar registers",
            Limiter::Lds => "LDS",
            Limiter::Barrier => "barriers",
            _ => "the workgroup size",
        };
        return Ok(refusal(
            OtherLimiter,
            format!("Occupancy is limited by {what}, not by vector registers."),
        ));
    }
    let measured = input.occupancy_pct.unwrap_or(0.0);
    if measured > 0.0 && measured < limits.not_bound_ratio * now.fraction {
        return Ok(refusal(
            NotOccupancyBound,
            format!(
                "Measured occupancy {measured:.2} is far below the {:.2} that registers allow: the grid or imbalance \
                 limits.",
                now.fraction
            ),
        ));
    }
    let steps = unit.steps_up(&kernel).map_err(refused)?;
    let Some(target) = steps.first().copied() else {
        return Ok(refusal(
            OtherLimiter,
            "Fewer registers alone bring no further workgroup; LDS, barriers or the workgroup size cap it."
                .to_owned(),
        ));
    };
    let given_up = (now.registers - target.registers) as f64 / now.registers as f64;
    let spill_risk = if given_up <= limits.spill_low {
        wire::SpillRisk::Low
    } else if given_up <= limits.spill_medium {
        wire::SpillRisk::Medium
    } else {
        wire::SpillRisk::High
    };
    // With whole workgroups fewer than one wave per SIMD may round to none; one is then the base.
    let multiplier = target.waves as f64 / now.waves.max(1) as f64;
    Ok(wire::SuggestVgprReductionOutput {
        applicable: true,
        reason: None,
        reason_code: None,
        reduction: Some(wire::VgprReduction {
            current_vgpr: input.current_vgpr,
            target_vgpr: target.registers,
            current_waves: now.waves,
            target_waves: target.waves,
            expected_occupancy_multiplier: round(multiplier, 3),
            suggested_flag: format!("__launch_bounds__({}, {})", input.workgroup_size, target.waves),
            steps: steps
                .iter()
                .map(|step| wire::Step {
                    waves: step.waves,
                    max_vgprs: step.registers,
                    reduction: now.registers - step.registers,
                })
                .collect(),
            spill_risk,
            verify: "Rebuild with -Rpass-analysis=kernel-resource-usage and look for spills, record again, then: \
                     perfxpert diff before.db after.db",
        }),
    })
}
