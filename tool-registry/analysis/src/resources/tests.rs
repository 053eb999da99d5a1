//! The report's table of worked examples on gfx942, and what databases of other architectures record.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_knowledge::arch;
use perfxpert_trace::{AgentIdx, KernelIdx, MachineIdx, ProcessIdx};

use super::*;
use crate::occupancy::Limiter;

pub(crate) fn gpu(gfx: &str) -> Gpu {
    let known = arch::find(gfx).unwrap();
    let sku = known.default_sku().unwrap();
    Gpu {
        agent: AgentIdx(1),
        machine: MachineIdx(0),
        gfx_id: Some(gfx.to_owned()),
        name: None,
        arch: Some(known),
        sku: Some(sku),
        sku_source: crate::gpu::SkuSource::GfxOnly,
        links: None,
        cu_count: Some(sku.cu_count),
        xcc_count: None,
        shader_engines: None,
        wave_size: Some(known.native_wave),
        max_waves_per_cu: None,
        lds_per_cu: None,
        clock_mhz: None,
        memory: None,
        hbm_peak: None,
        partition: false,
    }
}

fn of(gfx: &str, vgpr: u32, accum: u32, lds: u32, threads: u32) -> Resources {
    let symbol = Symbol {
        process: ProcessIdx(0),
        id: 1,
        kernel: KernelIdx(0),
        mangled: None,
        arch_vgpr: Some(vgpr),
        accum_vgpr: Some(accum),
        sgpr: Some(48),
        lds_bytes: Some(0),
        scratch_bytes: Some(0),
        kernarg_bytes: None,
    };
    let shape = Shape {
        workgroup: [threads, 1, 1],
        grid: [threads * 1000, 1, 1],
        lds_bytes: Some(lds),
        scratch_bytes: None,
    };
    of_shape(Some(&gpu(gfx)), Some(&symbol), Some(&shape), 1)
}

fn waves(found: &Resources) -> (u64, f64, Limiter) {
    let fit = found.occupancy.as_ref().unwrap();
    (fit.occupancy.waves, fit.occupancy.fraction * 100.0, fit.occupancy.limiter)
}

#[test]
fn worked_examples_on_gfx942() {
    for (vgpr, accum, lds, threads, expected) in [
        (128, 0, 0, 256, (4, 50.0, Limiter::Vgpr)),
        (64, 0, 0, 256, (8, 100.0, Limiter::None)),
        (64, 8, 0, 256, (7, 87.5, Limiter::Vgpr)),
        (64, 9, 0, 256, (6, 75.0, Limiter::Vgpr)),
        (32, 0, 65_536, 256, (1, 12.5, Limiter::Lds)),
        (32, 0, 0, 1024, (8, 100.0, Limiter::None)),
        (96, 0, 0, 1024, (4, 50.0, Limiter::Vgpr)),
    ] {
        let found = of("gfx942", vgpr, accum, lds, threads);
        assert_eq!(waves(&found), expected, "{vgpr}+{accum}, {lds} B, {threads} threads");
        assert_eq!(found.workgroups, Some(1000));
    }
    let lds = of("gfx942", 32, 0, 65_536, 256).occupancy.unwrap();
    assert_eq!((lds.vgpr_limited, lds.sgpr_limited, lds.lds_limited, lds.block_limited), (8, 8, 1, 8));
}

#[test]
fn counts_are_decoded_as_the_profiler_wrote_them() {
    // gfx950 stores half of the unified total: 64 in the file are 128 registers, four waves.
    let halved = of("gfx950", 64, 0, 0, 256);
    assert_eq!((halved.vgpr, waves(&halved).0), (Some(128), 4));
    // gfx908 repeats the architectural count as accumulation count.
    let repeated = of("gfx908", 24, 24, 0, 256);
    assert_eq!((repeated.vgpr, repeated.accum_vgpr, waves(&repeated).0), (Some(24), Some(0), 10));
}

#[test]
fn an_unknown_architecture_has_no_occupancy() {
    let mut unknown = gpu("gfx942");
    (unknown.arch, unknown.gfx_id) = (None, Some("gfx1250".to_owned()));
    let shape = Shape { workgroup: [256, 1, 1], grid: [257, 2, 1], lds_bytes: None, scratch_bytes: None };
    let found = of_shape(Some(&unknown), None, Some(&shape), 1);
    assert!(found.occupancy.is_none() && found.vgpr.is_none());
    assert_eq!((found.grid, found.workgroups), (Some([2, 2, 1]), Some(4)));
}
