//! The formula against what the LLVM 22.1 code generator and AMD's MI300X table say.

use super::*;

fn cdna(max_waves: u64, vgprs: u64, granule: u64, file: RegisterFile) -> Unit {
    Unit {
        wave_size: 64,
        simds: 4,
        max_waves,
        file,
        vgprs,
        granule,
        addressable: 256,
        sgpr_steps: Vec::new(),
        lds_bytes: 65_536,
        lds_per_workgroup: 65_536,
        lds_granule: 512,
        barriers: 16,
    }
}

fn gfx942() -> Unit {
    Unit { sgpr_steps: vec![(94, 8), (128, 7)], ..cdna(8, 512, 8, RegisterFile::Unified) }
}

fn rdna(vgprs: u64, granule: u64) -> Unit {
    Unit {
        wave_size: 32,
        lds_bytes: 131_072,
        barriers: 32,
        ..cdna(16, vgprs, granule, RegisterFile::ArchOnly)
    }
}

/// (up to so many registers, so many waves); measured by compiling kernels with every register count.
fn follows(unit: &Unit, table: &[(u64, u64)]) {
    let mut registers = 1;
    for (most, waves) in table {
        while registers <= *most {
            let kernel = Use { vgprs: registers, ..Use::default() };
            assert_eq!(unit.occupancy(&kernel).unwrap().waves, *waves, "{registers} registers of {unit:?}");
            registers += 1;
        }
    }
}

#[test]
fn waves_follow_the_measured_tables_at_every_register_count() {
    follows(
        &cdna(10, 256, 4, RegisterFile::Separate),
        &[(24, 10), (28, 9), (32, 8), (36, 7), (40, 6), (48, 5), (64, 4), (84, 3), (128, 2), (256, 1)],
    );
    follows(&gfx942(), &[(64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2), (512, 1)]);
    follows(
        &rdna(1024, 16),
        &[(64, 16), (80, 12), (96, 10), (112, 9), (128, 8), (144, 7), (160, 6), (192, 5), (256, 4)],
    );
    follows(
        &Unit { wave_size: 64, ..rdna(512, 8) },
        &[
            (32, 16),
            (40, 12),
            (48, 10),
            (56, 9),
            (64, 8),
            (72, 7),
            (80, 6),
            (96, 5),
            (128, 4),
            (168, 3),
            (256, 2),
        ],
    );
    follows(
        &rdna(1536, 24),
        &[(96, 16), (120, 12), (144, 10), (168, 9), (192, 8), (216, 7), (240, 6), (256, 5)],
    );
    follows(
        &Unit { wave_size: 64, ..rdna(768, 12) },
        &[
            (48, 16),
            (60, 12),
            (72, 10),
            (84, 9),
            (96, 8),
            (108, 7),
            (120, 6),
            (144, 5),
            (192, 4),
            (252, 3),
            (256, 2),
        ],
    );
}

#[test]
fn accumulation_registers_share_the_unified_file_only() {
    let waves = |unit: &Unit, vgprs, agprs| {
        let found = unit.occupancy(&Use { vgprs, agprs, ..Use::default() }).unwrap();
        (found.registers, found.waves)
    };
    assert_eq!(waves(&gfx942(), 61, 4), (68, 7));
    assert_eq!(waves(&gfx942(), 64, 8), (72, 7));
    assert_eq!(waves(&gfx942(), 64, 9), (73, 6));
    assert_eq!(waves(&gfx942(), 256, 256), (512, 1));
    assert_eq!(waves(&cdna(10, 256, 4, RegisterFile::Separate), 20, 64), (64, 4));
    let misfit = |unit: &Unit, vgprs, agprs| unit.registers(vgprs, agprs).unwrap_err();
    assert_eq!(misfit(&gfx942(), 513, 0), Misfit::Registers { asked: 513, most: 512 });
    assert_eq!(misfit(&gfx942(), 257, 1), Misfit::Registers { asked: 257, most: 256 });
    assert_eq!(misfit(&rdna(1536, 24), 10, 1), Misfit::NoAccumulation { asked: 1 });
    assert_eq!(misfit(&gfx942(), u64::MAX, u64::MAX), Misfit::Registers { asked: u64::MAX, most: 256 });
}

#[test]
fn whole_workgroups_decide_when_the_size_is_known() {
    let at = |vgprs, lds_bytes, size| {
        gfx942().occupancy(&Use { vgprs, lds_bytes, workgroup_size: Some(size), ..Use::default() }).unwrap()
    };
    let half = at(128, 0, 256);
    assert_eq!((half.waves, half.limiter, half.fraction), (4, Limiter::Vgpr, 0.5));
    let lds = at(32, 65_536, 256);
    assert_eq!((lds.waves, lds.limiter, lds.fraction), (1, Limiter::Lds, 0.125));
    let full = at(32, 0, 1024);
    assert_eq!((full.waves, full.limiter, full.fraction), (8, Limiter::None, 1.0));
    let odd = at(72, 0, 192);
    assert_eq!((odd.waves, odd.workgroups.unwrap().fitting * odd.workgroups.unwrap().waves), (6, 27));
    // 32 waves of one each: barriers do not count for single-wave workgroups.
    assert_eq!(at(32, 0, 64).fraction, 1.0);
    // 2 waves each, 16 barriers: 16 workgroups, all 32 slots.
    assert_eq!(at(32, 0, 128).fraction, 1.0);
}

#[test]
fn lds_is_taken_in_granules_and_never_beyond_the_workgroups_share() {
    let gfx950 = Unit { lds_bytes: 163_840, lds_per_workgroup: 163_840, lds_granule: 1_280, ..gfx942() };
    let kernel = Use { vgprs: 64, lds_bytes: 54_528, workgroup_size: Some(256), ..Use::default() };
    let found = gfx950.occupancy(&kernel).unwrap();
    assert_eq!((found.workgroups.unwrap().fitting, found.fraction, found.limiter), (2, 0.25, Limiter::Lds));
    let gfx1100 = rdna(1536, 24);
    let kernel = Use { vgprs: 96, lds_bytes: 18_688, workgroup_size: Some(256), ..Use::default() };
    let found = gfx1100.occupancy(&kernel).unwrap();
    assert_eq!((found.workgroups.unwrap().fitting, found.waves, found.fraction), (6, 12, 0.75));
    let greedy = Use { lds_bytes: 65_537, workgroup_size: Some(256), ..Use::default() };
    assert!(matches!(gfx1100.occupancy(&greedy), Err(Misfit::Workgroup { .. })));
    let huge = Use { lds_bytes: u64::MAX, workgroup_size: Some(256), ..Use::default() };
    assert!(matches!(gfx942().occupancy(&huge), Err(Misfit::Workgroup { .. })));
    let homeless = Use { lds_bytes: 1, ..Use::default() };
    assert_eq!(gfx942().occupancy(&homeless), Err(Misfit::NoWorkgroupSize));
}

#[test]
fn scalar_registers_limit_where_they_do() {
    let at = |sgprs| gfx942().occupancy(&Use { sgprs: Some(sgprs), ..Use::default() }).unwrap();
    assert_eq!((at(94).waves, at(94).limiter), (8, Limiter::None));
    assert_eq!((at(95).waves, at(95).limiter), (7, Limiter::Sgpr));
    let never = rdna(1536, 24).occupancy(&Use { sgprs: Some(128), ..Use::default() }).unwrap();
    assert_eq!((never.sgpr_waves, never.waves), (None, 16));
}

#[test]
fn steps_name_the_largest_count_of_each_wave_number() {
    let steps = |unit: &Unit, vgprs, size, lds_bytes| {
        let kernel = Use { vgprs, lds_bytes, workgroup_size: Some(size), ..Use::default() };
        unit.steps_up(&kernel).unwrap().iter().map(|step| (step.waves, step.registers)).collect::<Vec<_>>()
    };
    assert_eq!(steps(&gfx942(), 128, 256, 0), [(5, 96), (6, 80), (7, 72), (8, 64)]);
    assert_eq!(steps(&gfx942(), 100, 256, 0), [(5, 96), (6, 80), (7, 72), (8, 64)]);
    assert_eq!(steps(&gfx942(), 64, 256, 0), []);
    // Five workgroups of 12,288 bytes fit; registers cannot bring a sixth.
    assert_eq!(steps(&gfx942(), 128, 256, 12_288), [(5, 96)]);
    assert_eq!(rdna(1024, 16).next_step_down(65), Some(Step { registers: 64, waves: 16 }));
    assert_eq!(gfx942().next_step_down(64), None);
}
