//! Rules about kernels: each at its threshold, just below it, and with a precondition that does not hold.

use perfxpert_knowledge::arch;
use perfxpert_knowledge::commands;
use perfxpert_knowledge::kernels::Category;

use crate::occupancy::{Unit, Use};
use crate::recommend::observed::ObservedKernel;
use crate::recommend::{
    AttCategory, AttInstruction, AttKernel, Context, KernelMetrics, Observed, RuleEntry, for_observed,
};
use crate::resources::{Fit, Resources};
use crate::units::{Bytes, BytesPerSecond, Nanos};

fn unit() -> Unit {
    Unit::of(arch::find("gfx942").expect("a known GPU"), 64, false).expect("wave64")
}

/// Resources of a kernel on an MI300X, with the occupancy that follows from them.
fn resources(vgpr: u32, lds: u64, threads: u32, workgroups: u64) -> Resources {
    let kernel =
        Use { vgprs: vgpr.into(), lds_bytes: lds, workgroup_size: Some(threads.into()), ..Use::default() };
    let occupancy = unit().occupancy(&kernel).expect("it fits");
    Resources {
        gfx_id: Some("gfx942".to_owned()),
        block: Some([threads, 1, 1]),
        grid: Some([u32::try_from(workgroups).expect("a small grid"), 1, 1]),
        workgroups: Some(workgroups),
        launch_shapes: 1,
        vgpr: Some(vgpr),
        accum_vgpr: Some(0),
        sgpr: None,
        lds: Some(Bytes(lds)),
        scratch: Some(Bytes(0)),
        occupancy: Some(Fit {
            max_waves: 8,
            vgpr_limited: occupancy.vgpr_waves,
            sgpr_limited: 8,
            lds_limited: 8,
            block_limited: 8,
            occupancy,
        }),
        misfit: None,
    }
}

/// A kernel with 40 % of the run and of the kernel time, full occupancy and a large grid.
fn kernel() -> ObservedKernel {
    ObservedKernel {
        name: "void ns::k<int>(int*)".to_owned(),
        short: "ns::k<int>".to_owned(),
        slug: "k".to_owned(),
        calls: 10,
        judged_calls: 10,
        first: Nanos(100_000),
        median_rest: Some(100_000.0),
        pct_of_total: Some(40.0),
        pct_of_runtime: Some(40.0),
        alone: Some(1.0),
        resources: Some(resources(32, 0, 256, 4096)),
        unit: Some(unit()),
        cu_count: Some(304),
        wave_size: Some(64),
        matrix_pipe: Some("mfma"),
        ..ObservedKernel::default()
    }
}

fn advise(kernel: ObservedKernel) -> Vec<RuleEntry> {
    let run = Observed {
        window: Nanos(100_000_000),
        kernel_busy: Nanos(99_000_000),
        api_traced: true,
        dispatches: 10,
        median_dispatch: Some(100_000.0),
        gfx_id: Some("gfx942".to_owned()),
        kernels: vec![kernel],
        ..Observed::default()
    };
    for_observed(&run, &Context::default())
}

fn with(change: impl FnOnce(&mut ObservedKernel)) -> Vec<RuleEntry> {
    let mut kernel = kernel();
    change(&mut kernel);
    advise(kernel)
}

fn find(advice: Vec<RuleEntry>, id: &str) -> Option<RuleEntry> {
    let found = advice.into_iter().find(|advice| advice.id == id);
    for command in found.iter().flat_map(|found| &found.commands) {
        commands::check(&command.full_command).expect("a command with real options");
    }
    found
}

fn summary(advice: Vec<RuleEntry>, id: &str) -> Option<(&'static str, Option<f64>, f64)> {
    find(advice, id).map(|found| (found.priority.label(), found.gain_bound_pct, found.confidence))
}

#[test]
fn a_kernel_without_any_sign_gets_nothing() {
    assert_eq!(advise(kernel()), []);
}

#[test]
fn kernels_below_five_percent_of_the_run_are_left_alone() {
    let advice = with(|kernel| {
        kernel.pct_of_runtime = Some(4.99);
        kernel.metrics.lds_conflict = Some(0.9);
    });
    assert_eq!(advice, []);
}

#[test]
fn a_dominant_kernel_nobody_can_explain() {
    let dominant = |kernel: &mut ObservedKernel| kernel.pct_of_total = Some(50.01);
    assert_eq!(summary(with(dominant), "ROCPD-HOTSPOT-001"), Some(("LOW", None, 0.5)));
    assert_eq!(summary(with(|kernel| kernel.pct_of_total = Some(50.0)), "ROCPD-HOTSPOT-001"), None);
    let explained = with(|kernel| {
        dominant(kernel);
        kernel.metrics.valu = Some(0.5);
    });
    assert_eq!(summary(explained, "ROCPD-HOTSPOT-001"), None);
    let slow_start = with(|kernel| {
        dominant(kernel);
        kernel.first = Nanos(900_000);
    });
    let found = find(slow_start, "ROCPD-HOTSPOT-001").expect("it dominates");
    assert_eq!(
        found.actions,
        [
            "Known: 8 of 8 waves per SIMD (100.0%).",
            "Known: 4,096 workgroups of 256 threads, no scratch memory.",
            "Known: its first call took 9.00x the others.",
            "Collect counters with the commands below.",
        ]
    );
}

#[test]
fn a_first_call_that_takes_longer() {
    // 1.1 ms against 0.1 ms in a run of 100 ms: 1 %.
    let found =
        find(with(|kernel| kernel.first = Nanos(1_100_000)), "ROCPD-WARMUP-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct), ("INFO", Some(1.0)));
    assert_eq!(
        found.issue,
        "First call of ns::k<int> took 1.100 ms, 11.00x the median of the others (100.0 μs)."
    );
    assert_eq!(summary(with(|kernel| kernel.first = Nanos(1_090_000)), "ROCPD-WARMUP-001"), None);
    let few = with(|kernel| {
        kernel.first = Nanos(5_000_000);
        kernel.judged_calls = 2;
    });
    assert_eq!(summary(few, "ROCPD-WARMUP-001"), None);
}

fn calm() -> KernelMetrics {
    KernelMetrics { valu: Some(0.5), mfma: Some(0.3), hbm: Some(0.5), ..KernelMetrics::default() }
}

#[test]
fn few_waves_fit() {
    let low = |kernel: &mut ObservedKernel| {
        kernel.resources = Some(resources(128, 0, 256, 4096));
        kernel.metrics = calm();
    };
    // 4 of 8 waves; the next step is 5: k = 1 + 0.55 x 0.25 = 1.1375; 40 x (1 - 1/1.1375) = 4.84.
    let found = find(with(low), "ROCPD-OCCUPANCY-001").expect("half of the waves");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("LOW", Some(4.84), 0.5));
    assert_eq!(found.technique, "vgpr_reduction");
    assert_eq!(
        found.issue,
        "'ns::k<int>' can hold 4 of 8 waves per SIMD (50.0%), limited by VGPR: 128 VGPRs + 0 accumulation, 0 B LDS, 256 threads."
    );
    assert_eq!(
        found.actions,
        [
            "`__launch_bounds__(256, 5)` with the second argument in waves per SIMD, or shorter live ranges, down to 96 registers."
        ]
    );
    let resident = with(|kernel| {
        low(kernel);
        kernel.metrics.resident = Some(0.4);
    });
    assert_eq!(
        summary(resident, "ROCPD-OCCUPANCY-001"),
        Some(("LOW", Some(4.84), 0.7)),
        "all preconditions met"
    );
    let more = with(|kernel| {
        low(kernel);
        kernel.resources = Some(resources(96, 0, 256, 4096));
    });
    assert_eq!(summary(more, "ROCPD-OCCUPANCY-001"), None, "5 of 8 waves are not low");
    for limit in [
        |metrics: &mut KernelMetrics| metrics.hbm = Some(0.7),
        |metrics: &mut KernelMetrics| metrics.valu = Some(0.8),
        |metrics: &mut KernelMetrics| metrics.mfma = Some(0.5),
    ] {
        let bound = with(|kernel| {
            low(kernel);
            limit(&mut kernel.metrics);
        });
        assert_eq!(summary(bound, "ROCPD-OCCUPANCY-001"), None, "something else limits it");
    }
    let blind = with(|kernel| {
        low(kernel);
        kernel.metrics = KernelMetrics::default();
    });
    assert_eq!(summary(blind, "ROCPD-OCCUPANCY-001"), None, "three unknown preconditions");
}

#[test]
fn lds_holds_the_waves_down() {
    let found = with(|kernel| {
        kernel.resources = Some(resources(32, 16_384, 256, 4096));
        kernel.metrics = calm();
    });
    let found = find(found, "ROCPD-OCCUPANCY-001").expect("four workgroups fit");
    assert_eq!(found.technique, "occupancy_tuning");
    // A fifth workgroup needs 65536 / 5 bytes in steps of 512.
    assert_eq!(found.actions, ["Smaller tile, down to 12.5 KiB."]);
}

#[test]
fn scratch_memory() {
    let spill = |kernel: &mut ObservedKernel, vgpr: u32| {
        let mut found = resources(vgpr, 0, 256, 4096);
        found.scratch = Some(Bytes(96));
        kernel.resources = Some(found);
    };
    // Without launch bounds the compiler spills at 128 registers, what a workgroup of 1024 leaves.
    assert_eq!(summary(with(|kernel| spill(kernel, 128)), "ROCPD-SPILL-001"), Some(("MEDIUM", None, 0.6)));
    let arrays = find(with(|kernel| spill(kernel, 60)), "ROCPD-SPILL-001").expect("scratch is used");
    assert_eq!((arrays.confidence, arrays.preconditions[0].state.as_str()), (0.4, "unknown"));
    assert_eq!(arrays.issue, "'ns::k<int>' uses 96 bytes of scratch memory per work-item with 60 VGPRs.");
    assert_eq!(summary(advise(kernel()), "ROCPD-SPILL-001"), None);
}

#[test]
fn at_the_memory_roof() {
    // The kernel of the example: 30 % of the run, ridge over intensity 2.0.
    let bound = |hbm: f64, l2: Option<f64>| {
        with(|kernel| {
            kernel.pct_of_runtime = Some(30.0);
            kernel.metrics.hbm = Some(hbm);
            kernel.metrics.hbm_bandwidth = Some(BytesPerSecond(3.71e12));
            kernel.metrics.l2_hit = l2;
            kernel.metrics.intensity_over_ridge = Some(0.5);
        })
    };
    let found = find(bound(0.70, Some(0.49)), "ROCPD-MEMORY-BOUND-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", Some(15.0), 0.8));
    assert_eq!(
        found.issue,
        "'ns::k<int>' moves 3710.00 GB/s, 70.0% of peak HBM bandwidth, and takes 30.0% of the run."
    );
    assert_eq!((found.technique.as_str(), found.anchor.as_str()), ("cache_blocking", "rec-k"));
    assert_eq!(found.overlaps_with, ["ROCPD-L2-001"]);
    assert_eq!(summary(bound(0.6999, Some(0.49)), "ROCPD-MEMORY-BOUND-001"), None);
    assert_eq!(summary(bound(0.70, Some(0.5)), "ROCPD-MEMORY-BOUND-001"), Some(("MEDIUM", Some(15.0), 0.6)));
    let product = with(|kernel| {
        kernel.category = Category::Gemm;
        kernel.metrics.hbm = Some(0.9);
    });
    assert_eq!(
        find(product, "ROCPD-MEMORY-BOUND-001").map(|found| found.technique),
        Some("lds_tiling".to_owned())
    );
}

#[test]
fn poor_reuse_of_l2() {
    let poor = |hit: f64, hbm: f64| {
        with(|kernel| {
            kernel.metrics.l2_hit = Some(hit);
            kernel.metrics.hbm = Some(hbm);
        })
    };
    let found = find(poor(0.49, 0.40), "ROCPD-L2-001").expect("at the threshold");
    // Intensity unknown: the cap of 5.1 bounds it; 40 x (1 - 1/5.1) = 32.16, but one precondition is never known.
    assert_eq!(
        (found.priority.label(), found.gain_bound_pct, found.confidence),
        ("MEDIUM", Some(32.16), 0.4)
    );
    assert_eq!(found.issue, "'ns::k<int>' hits L2 49.0% of the time while it uses 40.0% of HBM bandwidth.");
    assert_eq!(summary(poor(0.50, 0.60), "ROCPD-L2-001"), None);
    assert_eq!(summary(poor(0.10, 0.39), "ROCPD-L2-001"), None);
}

#[test]
fn uncoalesced_access() {
    let scattered = |ratio: f64, hbm: Option<f64>, lines: Option<f64>| {
        with(|kernel| {
            kernel.metrics.coalescing = Some(ratio);
            kernel.metrics.hbm = hbm;
            kernel.metrics.lines_per_access = lines;
        })
    };
    // 40 x (1 - 0.4) = 24
    assert_eq!(
        summary(scattered(0.40, Some(0.40), None), "ROCPD-COALESCE-001"),
        Some(("HIGH", Some(24.0), 0.6))
    );
    assert_eq!(
        summary(scattered(0.10, Some(0.1), Some(2.0)), "ROCPD-COALESCE-001"),
        Some(("HIGH", Some(30.0), 0.6))
    );
    assert_eq!(
        summary(scattered(0.40, Some(0.1), None), "ROCPD-COALESCE-001"),
        Some(("MEDIUM", Some(24.0), 0.4))
    );
    assert_eq!(summary(scattered(0.50, Some(0.40), None), "ROCPD-COALESCE-001"), None);
    assert_eq!(
        summary(scattered(0.40, Some(0.39), Some(1.9)), "ROCPD-COALESCE-001"),
        None,
        "it does not matter"
    );
}

#[test]
fn bank_conflicts() {
    let conflicts = |part: f64| with(|kernel| kernel.metrics.lds_conflict = Some(part));
    let found = find(conflicts(0.10), "ROCPD-LDS-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("LOW", Some(4.0), 0.8));
    assert_eq!(found.issue, "'ns::k<int>' spends 10.0% of its time in LDS bank conflicts.");
    assert_eq!(summary(conflicts(0.0999), "ROCPD-LDS-001"), None);
}

#[test]
fn at_the_vector_roof() {
    let busy = |valu: f64, hbm: Option<f64>, vgpr: u32| {
        with(|kernel| {
            kernel.metrics.valu = Some(valu);
            kernel.metrics.hbm = hbm;
            kernel.resources = Some(resources(vgpr, 0, 256, 4096));
        })
    };
    let found = find(busy(0.80, Some(0.69), 32), "ROCPD-COMPUTE-BOUND-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", None, 0.65));
    assert_eq!(
        (found.technique.as_str(), found.suggestion.as_str()),
        ("reduce_valu_work", "Do less vector work.")
    );
    assert_eq!(
        found.issue,
        "Kernel 'ns::k<int>' dominates GPU time: 40.0%; vector units busy 80.0%, HBM 69.0% of peak."
    );
    let registers =
        find(busy(0.80, Some(0.2), 128), "ROCPD-COMPUTE-BOUND-001").expect("registers hold it down");
    assert_eq!(
        (registers.priority.label(), registers.gain_bound_pct, registers.confidence),
        ("LOW", Some(4.84), 0.85)
    );
    assert_eq!(registers.suggestion, "Reduce VGPR pressure via __launch_bounds__");
    assert_eq!(summary(busy(0.7999, Some(0.2), 32), "ROCPD-COMPUTE-BOUND-001"), None);
    assert_eq!(summary(busy(0.9, Some(0.7), 32), "ROCPD-COMPUTE-BOUND-001"), None);
    assert_eq!(summary(busy(0.9, None, 32), "ROCPD-COMPUTE-BOUND-001"), None, "memory is not known");
    let idle = with(|kernel| {
        kernel.metrics.valu = Some(0.9);
        kernel.metrics.hbm = Some(0.1);
        kernel.metrics.lane_efficiency = Some(0.75);
    });
    let idle = find(idle, "ROCPD-COMPUTE-BOUND-001").expect("lanes can be won");
    assert_eq!(idle.confidence, 0.85);
    assert!(idle.issue.ends_with(" 25.0% of the lanes are idle."));
}

#[test]
fn idle_matrix_units() {
    let product = |valu: f64, instructions: Option<f64>, pipe: &'static str| {
        with(|kernel| {
            kernel.category = Category::Gemm;
            kernel.matrix_pipe = Some(pipe);
            kernel.metrics.valu = Some(valu);
            kernel.metrics.matrix_instructions = instructions;
            kernel.metrics.matrix_ratio = Some(2.0);
            kernel.metrics.matrix_dtype = Some(true);
        })
    };
    // 40 x (1 - 1/2) = 20: HIGH, but its shape is never known.
    let found = find(product(0.60, Some(0.0), "mfma"), "ROCPD-MFMA-001").expect("at the threshold");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", Some(20.0), 0.5));
    assert_eq!(
        found.issue,
        "'ns::k<int>' looks like GEMM, keeps the vector units busy 60.0% and issues no matrix instruction."
    );
    assert_eq!(summary(product(0.5999, Some(0.0), "mfma"), "ROCPD-MFMA-001"), None);
    assert_eq!(summary(product(0.9, Some(1.0), "mfma"), "ROCPD-MFMA-001"), None, "it uses them");
    assert_eq!(summary(product(0.9, None, "mfma"), "ROCPD-MFMA-001"), None, "not collected");
    assert_eq!(summary(product(0.9, Some(0.0), "none"), "ROCPD-MFMA-001"), None, "the GPU has none");
    let other = with(|kernel| {
        kernel.category = Category::Gemm;
        kernel.metrics.valu = Some(0.9);
        kernel.metrics.matrix_instructions = Some(0.0);
        kernel.metrics.matrix_dtype = Some(false);
    });
    assert_eq!(summary(other, "ROCPD-MFMA-001"), None, "its type has no matrix form");
}

#[test]
fn waiting_more_than_working() {
    let waits = |valu: f64, mfma: Option<f64>, hbm: f64, vgpr: u32| {
        with(|kernel| {
            kernel.metrics =
                KernelMetrics { valu: Some(valu), mfma, hbm: Some(hbm), ..KernelMetrics::default() };
            kernel.resources = Some(resources(vgpr, 0, 256, 4096));
        })
    };
    let found = find(waits(0.39, Some(0.24), 0.39, 96), "ROCPD-LATENCY-001").expect("just below all limits");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", None, 0.6));
    assert_eq!(found.issue, "'ns::k<int>' waits: vector units 39.0%, matrix units 24.0%, HBM 39.0% busy.");
    assert!(
        found.commands[0].full_command.contains("--att")
            && found.commands[0].full_command.contains("--kernel-include-regex")
    );
    assert_eq!(found.commands.last().map(|command| command.purpose), Some("verify"));
    assert_eq!(summary(waits(0.40, Some(0.0), 0.1, 96), "ROCPD-LATENCY-001"), None);
    assert_eq!(summary(waits(0.1, Some(0.25), 0.1, 96), "ROCPD-LATENCY-001"), None);
    assert_eq!(summary(waits(0.1, None, 0.1, 96), "ROCPD-LATENCY-001"), None, "matrix units are not known");
    assert_eq!(summary(waits(0.1, Some(0.0), 0.1, 128), "ROCPD-LATENCY-001"), None, "few waves fit");
}

#[test]
fn a_grid_that_does_not_fill_the_gpu() {
    let grid = |groups: u64, alone: f64| {
        with(|kernel| {
            kernel.resources = Some(resources(32, 0, 256, groups));
            kernel.alone = Some(alone);
        })
    };
    // 40 x (1 - 228/304) = 10
    let found = find(grid(228, 1.0), "ROCPD-GRID-001").expect("three quarters");
    assert_eq!(
        (found.priority.label(), found.gain_bound_pct, found.confidence),
        ("MEDIUM", Some(10.0), 0.55)
    );
    assert_eq!(found.issue, "'ns::k<int>' launches 228 workgroups on 304 CUs.");
    assert_eq!(summary(grid(304, 1.0), "ROCPD-GRID-001"), None);
    assert_eq!(summary(grid(228, 0.5), "ROCPD-GRID-001"), None, "others run beside it");
}

#[test]
fn waves_that_are_not_full() {
    let block = |threads: u32| with(|kernel| kernel.resources = Some(resources(32, 0, threads, 4096)));
    // The example: 96 threads in waves of 64 are two waves with a quarter of the lanes idle.
    let found = find(block(96), "ROCPD-WAVE-001").expect("a quarter is idle");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("MEDIUM", Some(10.0), 0.8));
    assert_eq!(found.actions, ["Block size a multiple of 64."]);
    assert_eq!(summary(block(250), "ROCPD-WAVE-001"), None, "2.3 % idle");
    assert_eq!(summary(block(128), "ROCPD-WAVE-001"), None);
}

#[test]
fn what_a_thread_trace_says() {
    let traced = |part: f64, hits: u64, ratio: f64, name: &str| {
        let run = Observed {
            window: Nanos(100_000_000),
            kernels: vec![kernel()],
            thread_trace: vec![AttKernel {
                name: name.to_owned(),
                categories: vec![(AttCategory::Vmem, part), (AttCategory::Lds, 0.03)],
                instructions: vec![AttInstruction {
                    text: "global_load_dwordx4 v[0:3], v4, s[0:1]".to_owned(),
                    category: AttCategory::Vmem,
                    hits,
                    stall_ratio: ratio,
                    source: Some("ops.hip:43".to_owned()),
                }],
            }],
            ..Observed::default()
        };
        find(for_observed(&run, &Context::default()), "ROCPD-ATT-VMEM-001")
    };
    // The example: 55 % of the latency of a kernel with 40 % of the run.
    let found = traced(0.55, 1000, 0.70, "ns::k").expect("it waits for memory");
    assert_eq!((found.priority.label(), found.gain_bound_pct, found.confidence), ("HIGH", Some(22.0), 0.85));
    assert_eq!(found.target.as_deref(), Some("void ns::k<int>(int*)"));
    assert_eq!((found.source_refs[0].file.as_str(), found.source_refs[0].line), ("ops.hip", 43));
    assert_eq!(found.title, "ns::k<int>: VMEM Latency holds 55.0% of its cycles");
    assert_eq!(
        found.issue,
        "'ns::k<int>': global_load_dwordx4 v[0:3], v4, s[0:1] (ops.hip:43) stalls 70.0% of its latency; VMEM Latency holds 55.0% of the kernel's cycles."
    );
    assert!(traced(0.1999, 1000, 0.70, "ns::k").is_none());
    assert!(traced(0.55, 99, 0.70, "ns::k").is_none());
    assert!(traced(0.55, 1000, 0.3999, "ns::k").is_none());
    let stranger = traced(0.55, 1000, 0.70, "other").expect("not among the hotspots");
    assert_eq!((stranger.priority.label(), stranger.gain_bound_pct), ("LOW", None));
}
