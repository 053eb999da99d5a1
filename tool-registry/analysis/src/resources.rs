//! What a kernel takes of a compute unit, and how many waves fit.

use perfxpert_trace::{Shape, ShapeIdx, Symbol, SymbolIdx, Trace};

use crate::gpu::Gpu;
use crate::occupancy::{Misfit, Occupancy, Unit, Use};
use crate::profile::KernelProfile;
use crate::units::Bytes;

/// Registers, memory and launch shape of a kernel, of its most frequent shape; `None` where the trace does not tell.
#[derive(Clone, Debug)]
pub struct Resources {
    /// The GPU it is judged on: the first that ran it.
    pub gfx_id: Option<String>,
    /// Work-items per workgroup, x y z.
    pub block: Option<[u32; 3]>,
    /// Workgroups, x y z, rounded up.
    pub grid: Option<[u32; 3]>,
    /// Workgroups of a launch.
    pub workgroups: Option<u64>,
    /// Distinct launch shapes.
    pub launch_shapes: u64,
    /// Architectural vector registers per lane.
    pub vgpr: Option<u32>,
    /// Accumulation vector registers per lane.
    pub accum_vgpr: Option<u32>,
    /// Scalar registers per wave.
    pub sgpr: Option<u32>,
    /// LDS per workgroup, static and dynamic.
    pub lds: Option<Bytes>,
    /// Scratch per work-item.
    pub scratch: Option<Bytes>,
    /// How many waves fit; `None` when registers, shape or architecture are unknown.
    pub occupancy: Option<Fit>,
    /// Why the kernel cannot run as recorded, when its numbers do not fit the architecture.
    pub misfit: Option<Misfit>,
}

/// Waves that fit, and what each resource alone would allow.
#[derive(Clone, Debug)]
pub struct Fit {
    /// All together.
    pub occupancy: Occupancy,
    /// Wave slots per SIMD.
    pub max_waves: u64,
    /// Waves per SIMD by vector registers alone.
    pub vgpr_limited: u64,
    /// By scalar registers alone.
    pub sgpr_limited: u64,
    /// By LDS alone.
    pub lds_limited: u64,
    /// By whole workgroups, wave slots and barriers alone.
    pub block_limited: u64,
}

/// Resources of a kernel on the GPUs of its run.
#[must_use]
pub fn of_kernel(trace: &Trace, gpus: &[Gpu], kernel: &KernelProfile) -> Resources {
    let gpu = gpus.iter().find(|gpu| kernel.agents.contains(&gpu.agent));
    let launch = kernel.shapes.first();
    let shape = launch.and_then(|launch| trace.shape(launch.shape));
    let symbol = launch.and_then(|launch| trace.symbols().get(launch.symbol.get()));
    of_shape(gpu, symbol, shape.as_ref(), kernel.shape_count)
}

/// Resources of one launch shape of a kernel.
#[must_use]
pub fn of_launch(trace: &Trace, gpu: Option<&Gpu>, symbol: SymbolIdx, shape: ShapeIdx) -> Resources {
    of_shape(gpu, trace.symbols().get(symbol.get()), trace.shape(shape).as_ref(), 1)
}

fn of_shape(
    gpu: Option<&Gpu>,
    symbol: Option<&Symbol>,
    shape: Option<&Shape>,
    launch_shapes: u64,
) -> Resources {
    let arch = gpu.and_then(|gpu| gpu.arch);
    let recorded = symbol.and_then(|symbol| Some((symbol.arch_vgpr?, symbol.accum_vgpr.unwrap_or(0))));
    let registers = match arch {
        Some(arch) => recorded.map(|(vgpr, accum)| arch.decode_vgprs(vgpr, accum)),
        None => recorded,
    };
    let sgpr = symbol.and_then(|symbol| symbol.sgpr);
    let lds = shape.and_then(|shape| shape.lds_bytes).or(symbol.and_then(|symbol| symbol.lds_bytes));
    let scratch =
        shape.and_then(|shape| shape.scratch_bytes).or(symbol.and_then(|symbol| symbol.scratch_bytes));
    let known = shape.filter(|shape| shape.workgroup.iter().all(|&size| size > 0));
    let grid = known.map(|shape| {
        let mut grid = shape.grid;
        for (items, size) in grid.iter_mut().zip(shape.workgroup) {
            *items = items.div_ceil(size.max(1)).max(1);
        }
        grid
    });
    let size = known.map(|shape| shape.workgroup.iter().map(|&size| u64::from(size)).product::<u64>());
    let wave = arch.map(|arch| gpu.and_then(|gpu| gpu.wave_size).unwrap_or(arch.native_wave));
    let unit = arch.zip(wave).and_then(|(arch, wave)| Unit::of(arch, wave, false));
    let fit = unit.zip(registers).zip(size).map(|((unit, (vgpr, accum)), size)| {
        // On architectures where scalar registers never limit, the recorded count is a constant.
        let kernel = Use {
            vgprs: u64::from(vgpr),
            agprs: u64::from(accum),
            sgprs: sgpr.map(u64::from),
            lds_bytes: u64::from(lds.unwrap_or(0)),
            workgroup_size: Some(size),
        };
        fit(&unit, &kernel)
    });
    let (occupancy, misfit) = match fit {
        Some(Ok(fit)) => (Some(fit), None),
        Some(Err(misfit)) => (None, Some(misfit)),
        None => (None, None),
    };
    Resources {
        gfx_id: gpu.and_then(|gpu| gpu.gfx_id.clone()),
        block: known.map(|shape| shape.workgroup),
        grid,
        workgroups: grid.map(|grid| grid.iter().map(|&count| u64::from(count)).fold(1, u64::saturating_mul)),
        launch_shapes,
        vgpr: registers.map(|(vgpr, _)| vgpr),
        accum_vgpr: registers.map(|(_, accum)| accum),
        sgpr,
        lds: lds.map(|bytes| Bytes(u64::from(bytes))),
        scratch: scratch.map(|bytes| Bytes(u64::from(bytes))),
        occupancy,
        misfit,
    }
}

fn fit(unit: &Unit, kernel: &Use) -> Result<Fit, Misfit> {
    let occupancy = unit.occupancy(kernel)?;
    // Each term alone: the same function with everything else taken away.
    let alone = |only: Use| unit.occupancy(&only).map_or(0, |found| found.waves);
    let nothing = Use { vgprs: 1, workgroup_size: kernel.workgroup_size, ..Use::default() };
    let max_waves = unit.max_waves;
    let lds = occupancy.workgroups.and_then(|groups| {
        groups.lds.map(|count| (count.saturating_mul(groups.waves) / unit.simds.max(1)).min(max_waves))
    });
    Ok(Fit {
        max_waves,
        vgpr_limited: occupancy.vgpr_waves,
        sgpr_limited: occupancy.sgpr_waves.unwrap_or(max_waves),
        lds_limited: lds.unwrap_or(max_waves),
        block_limited: alone(nothing),
        occupancy,
    })
}

#[cfg(test)]
pub(crate) mod tests;
