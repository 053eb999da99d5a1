//! Theoretical occupancy from registers, LDS and workgroup size, as the compiler and the driver count it.
//!
//! Source of the formula: LLVM's AMDGPU backend (`AMDGPUBaseInfo.cpp`: `getMaxWavesPerEU`, `getVGPRAllocGranule`,
//! `getTotalNumVGPRs`, `getMaxWorkGroupsPerCU`, `getOccupancyWithNumSGPRs`) and AMD's occupancy table for MI300X.

use perfxpert_knowledge::arch::{Arch, RegisterFiles};

/// How a SIMD keeps its vector registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterFile {
    /// Architecture and accumulation registers share one file (gfx90a and later CDNA).
    Unified,
    /// Accumulation registers have a file of their own (gfx908).
    Separate,
    /// There are no accumulation registers (RDNA).
    ArchOnly,
}

/// A workgroup processor is two CUs by definition.
const CUS_PER_WGP: u64 = 2;

/// What one scheduling unit, a CU or a WGP, can hold in the chosen wave size and mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// Work-items per wave.
    pub wave_size: u64,
    /// SIMDs that share the unit's LDS and barriers.
    pub simds: u64,
    /// Wave slots per SIMD.
    pub max_waves: u64,
    /// How registers are kept.
    pub file: RegisterFile,
    /// Registers per lane in a SIMD's file.
    pub vgprs: u64,
    /// Registers are allocated in steps of this many.
    pub granule: u64,
    /// Most registers of one kind that a work-item can address.
    pub addressable: u64,
    /// (up to so many SGPRs, so many waves), ascending; empty = SGPRs never limit.
    pub sgpr_steps: Vec<(u64, u64)>,
    /// Bytes of LDS in the unit.
    pub lds_bytes: u64,
    /// Most bytes of LDS that one workgroup may take.
    pub lds_per_workgroup: u64,
    /// LDS is allocated in steps of this many bytes.
    pub lds_granule: u64,
    /// Workgroups of more than one wave that the unit's barriers allow.
    pub barriers: u64,
}

/// What a kernel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Use {
    /// Architecture registers per lane.
    pub vgprs: u64,
    /// Accumulation registers per lane.
    pub agprs: u64,
    /// Scalar registers per wave, when known.
    pub sgprs: Option<u64>,
    /// Bytes of LDS per workgroup.
    pub lds_bytes: u64,
    /// Work-items per workgroup, when known.
    pub workgroup_size: Option<u64>,
}

/// What holds the number of waves down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limiter {
    /// Vector registers.
    Vgpr,
    /// Scalar registers.
    Sgpr,
    /// LDS.
    Lds,
    /// Barriers of the unit.
    Barrier,
    /// Whole workgroups do not fill the wave slots.
    Workgroup,
    /// Nothing: every slot is taken.
    None,
}

impl Limiter {
    /// The word used on every surface.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Vgpr => "VGPR",
            Self::Sgpr => "SGPR",
            Self::Lds => "LDS",
            Self::Barrier => "barrier",
            Self::Workgroup => "workgroup",
            Self::None => "none",
        }
    }
}

/// Workgroups per unit that each resource allows; `None` = no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workgroups {
    /// Waves of one workgroup.
    pub waves: u64,
    /// Vector and scalar registers.
    pub registers: u64,
    /// LDS.
    pub lds: Option<u64>,
    /// Barriers.
    pub barriers: Option<u64>,
    /// Wave slots.
    pub wave_slots: u64,
    /// The least of these.
    pub fitting: u64,
}

/// Theoretical occupancy of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Occupancy {
    /// Waves per SIMD, rounded down.
    pub waves: u64,
    /// What holds it down.
    pub limiter: Limiter,
    /// Waves that vector registers alone allow.
    pub vgpr_waves: u64,
    /// Waves that scalar registers alone allow; `None` without a count or a limit.
    pub sgpr_waves: Option<u64>,
    /// Vector registers in use, both kinds as the file counts them.
    pub registers: u64,
    /// Vector registers really taken.
    pub allocated: u64,
    /// Workgroup figures; `None` without a workgroup size.
    pub workgroups: Option<Workgroups>,
    /// Waves over wave slots, 0 to 1.
    pub fraction: f64,
}

/// Why a kernel cannot run as described.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// More vector registers than a work-item can address.
    #[error("{asked} vector registers; at most {most}")]
    Registers {
        /// Registers of the offending kind, or of both.
        asked: u64,
        /// The most there can be.
        most: u64,
    },
    /// Accumulation registers on hardware that has none.
    #[error("{asked} accumulation registers on hardware that has none")]
    NoAccumulation {
        /// Registers asked for.
        asked: u64,
    },
    /// LDS without the size of the workgroup that takes it.
    #[error("LDS is taken per workgroup, and the workgroup size is not given")]
    NoWorkgroupSize,
    /// Not even one workgroup fits.
    #[error("a workgroup of {waves} waves with {lds_bytes} bytes of LDS does not fit")]
    Workgroup {
        /// Waves of the workgroup.
        waves: u64,
        /// Its LDS.
        lds_bytes: u64,
    },
}

impl Unit {
    /// The unit of an architecture for waves of `wave` work-items: a CU, or on RDNA a WGP unless `cu_mode` keeps
    /// workgroups on one CU. `None` when the architecture has no such waves.
    pub fn of(arch: &Arch, wave: u32, cu_mode: bool) -> Option<Self> {
        if !arch.wave_sizes.contains(&wave) {
            return None;
        }
        let wgp = arch.lds_bytes_per_wgp.zip(arch.barriers_per_wgp).filter(|_| !cu_mode);
        let (lds_bytes, barriers) = wgp.unwrap_or((arch.lds_bytes_per_cu, arch.barriers_per_cu));
        let cus = if wgp.is_some() { CUS_PER_WGP } else { 1 };
        Some(Self {
            wave_size: u64::from(wave),
            simds: u64::from(arch.simds_per_cu) * cus,
            max_waves: u64::from(arch.max_waves_per_simd),
            file: match arch.registers {
                RegisterFiles::Unified => RegisterFile::Unified,
                RegisterFiles::Separate => RegisterFile::Separate,
                RegisterFiles::Arch => RegisterFile::ArchOnly,
            },
            vgprs: u64::from(arch.vgprs_per_simd.get(wave)?),
            granule: u64::from(arch.vgpr_granule.get(wave)?),
            addressable: u64::from(arch.max_arch_vgprs),
            sgpr_steps: arch
                .sgpr_steps
                .iter()
                .map(|step| (step.up_to.map_or(u64::MAX, u64::from), u64::from(step.waves)))
                .collect(),
            lds_bytes,
            lds_per_workgroup: arch.lds_bytes_per_workgroup,
            lds_granule: arch.lds_granule_bytes,
            barriers: u64::from(barriers),
        })
    }

    /// Registers as the file counts them.
    ///
    /// # Errors
    /// [`Misfit::Registers`], [`Misfit::NoAccumulation`].
    pub fn registers(&self, vgprs: u64, agprs: u64) -> Result<u64, Misfit> {
        let within = |asked: u64, most: u64| {
            if asked > most { Err(Misfit::Registers { asked, most }) } else { Ok(asked) }
        };
        match self.file {
            RegisterFile::Unified if agprs == 0 => within(vgprs, self.vgprs),
            RegisterFile::Unified => {
                let (vgprs, agprs) = (within(vgprs, self.addressable)?, within(agprs, self.addressable)?);
                // The accumulation part starts at a multiple of four.
                within(vgprs.next_multiple_of(4) + agprs, self.vgprs)
            }
            RegisterFile::Separate => {
                Ok(within(vgprs, self.addressable)?.max(within(agprs, self.addressable)?))
            }
            RegisterFile::ArchOnly if agprs > 0 => Err(Misfit::NoAccumulation { asked: agprs }),
            RegisterFile::ArchOnly => within(vgprs, self.addressable),
        }
    }

    /// Registers really taken for `registers` in use; at least one step.
    pub fn allocated(&self, registers: u64) -> u64 {
        registers.max(1).next_multiple_of(self.granule.max(1))
    }

    /// Waves per SIMD that `registers` in use allow.
    pub fn vgpr_waves(&self, registers: u64) -> u64 {
        (self.vgprs / self.allocated(registers)).min(self.max_waves)
    }

    fn sgpr_waves(&self, sgprs: u64) -> Option<u64> {
        let step = self.sgpr_steps.iter().find(|(most, _)| sgprs <= *most).or(self.sgpr_steps.last())?;
        Some(step.1.min(self.max_waves))
    }

    /// Occupancy of a kernel.
    ///
    /// # Errors
    /// [`Misfit`]: the kernel cannot run so.
    pub fn occupancy(&self, kernel: &Use) -> Result<Occupancy, Misfit> {
        let registers = self.registers(kernel.vgprs, kernel.agprs)?;
        self.with_registers(registers, kernel)
    }

    fn with_registers(&self, registers: u64, kernel: &Use) -> Result<Occupancy, Misfit> {
        let allocated = self.allocated(registers);
        let vgpr_waves = self.vgpr_waves(registers);
        let sgpr_waves = kernel.sgprs.and_then(|sgprs| self.sgpr_waves(sgprs));
        let register_waves = sgpr_waves.map_or(vgpr_waves, |sgpr| sgpr.min(vgpr_waves));
        let by_registers =
            if sgpr_waves.is_some_and(|sgpr| sgpr < vgpr_waves) { Limiter::Sgpr } else { Limiter::Vgpr };
        let slots = self.max_waves * self.simds;
        let Some(size) = kernel.workgroup_size else {
            if kernel.lds_bytes > 0 {
                return Err(Misfit::NoWorkgroupSize);
            }
            let full = register_waves == self.max_waves;
            return Ok(Occupancy {
                waves: register_waves,
                limiter: if full { Limiter::None } else { by_registers },
                vgpr_waves,
                sgpr_waves,
                registers,
                allocated,
                workgroups: None,
                fraction: register_waves as f64 / self.max_waves as f64,
            });
        };
        let waves = size.max(1).div_ceil(self.wave_size);
        let lds = match kernel.lds_bytes {
            0 => None,
            bytes if bytes > self.lds_per_workgroup => Some(0),
            bytes => Some(self.lds_bytes / bytes.next_multiple_of(self.lds_granule.max(1))),
        };
        let mut workgroups = Workgroups {
            waves,
            registers: register_waves * self.simds / waves,
            lds,
            barriers: (waves > 1).then_some(self.barriers),
            wave_slots: slots / waves,
            fitting: 0,
        };
        let limits = [
            (Some(workgroups.registers), by_registers),
            (workgroups.lds, Limiter::Lds),
            (workgroups.barriers, Limiter::Barrier),
            (Some(workgroups.wave_slots), Limiter::Workgroup),
        ];
        // `min_by_key` keeps the first of equals, the order in which a limit is named.
        let (fitting, limiter) = limits
            .into_iter()
            .filter_map(|(limit, name)| Some((limit?, name)))
            .min_by_key(|(limit, _)| *limit)
            .unwrap_or((0, Limiter::Workgroup));
        if fitting == 0 {
            return Err(Misfit::Workgroup { waves, lds_bytes: kernel.lds_bytes });
        }
        workgroups.fitting = fitting;
        let resident = fitting * waves;
        Ok(Occupancy {
            waves: resident / self.simds,
            limiter: if resident == slots { Limiter::None } else { limiter },
            vgpr_waves,
            sgpr_waves,
            registers,
            allocated,
            workgroups: Some(workgroups),
            fraction: resident as f64 / slots as f64,
        })
    }

    /// Largest register count that gives more waves than `registers` does, with the waves it gives.
    pub fn next_step_down(&self, registers: u64) -> Option<Step> {
        let now = self.vgpr_waves(registers);
        let wanted = now + 1;
        if wanted > self.max_waves {
            return None;
        }
        let granule = self.granule.max(1);
        let fewer = self.vgprs / wanted / granule * granule;
        (fewer > 0).then(|| Step { registers: fewer, waves: self.vgpr_waves(fewer) })
    }

    /// Every number of waves above the kernel's that fewer registers alone would reach, fewest waves first, each with
    /// the largest register count that reaches it. Steps that another resource caps are not there.
    ///
    /// # Errors
    /// [`Misfit`]: the kernel cannot run as it is.
    pub fn steps_up(&self, kernel: &Use) -> Result<Vec<Step>, Misfit> {
        let now = self.occupancy(kernel)?;
        let mut best = now.waves;
        let mut steps = Vec::new();
        let mut registers = now.registers;
        while let Some(step) = self.next_step_down(registers) {
            registers = step.registers;
            let reached = self.with_registers(registers, kernel)?.waves;
            if reached > best {
                best = reached;
                steps.push(Step { registers, waves: reached });
            }
        }
        Ok(steps)
    }
}

/// A register count and the waves per SIMD it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Registers in use, both kinds as the file counts them.
    pub registers: u64,
    /// Waves per SIMD.
    pub waves: u64,
}

#[cfg(test)]
mod tests;
