//! The worked examples of the report.

use super::planted::of;

#[test]
fn copies_around_two_kernels() {
    let found = of("we1");
    let ranks: Vec<_> = found
        .iter()
        .map(|advice| {
            (
                advice.rank,
                advice.id.as_str(),
                advice.priority.label(),
                advice.gain_bound_pct,
                advice.confidence,
            )
        })
        .collect();
    assert_eq!(
        ranks,
        [
            (1, "ROCPD-MEMCPY-001", "HIGH", Some(53.0), 0.9),
            (2, "ROCPD-SYNC-001", "LOW", Some(2.8), 0.8),
            (3, "ROCPD-HOTSPOT-001", "LOW", None, 0.5),
        ]
    );
    let copy = &found[0];
    assert_eq!(copy.rule, "exposed_copy");
    assert_eq!(
        (copy.category.as_str(), copy.class.as_str()),
        ("Memory Transfer", "memory_transfer.host_device_copy")
    );
    assert_eq!((copy.target.as_deref(), copy.target_kind.label()), (None, "trace"));
    assert_eq!(copy.technique, "hip_stream_overlap");
    assert_eq!(copy.title, "Exposed copies take 53.0% of the run");
    assert_eq!(
        copy.issue,
        "Copies run with no kernel beside them for 53.0% of the run (0.530 ms): Host-to-Device 0.450 ms, Device-to-Host 0.080 ms."
    );
    assert_eq!(copy.suggestion, "Overlap the copies with kernels, or keep the data on the device.");
    assert_eq!(
        copy.actions,
        [
            "Issue the copies with hipMemcpyAsync on their own stream and order them with events.",
            "Allocate the host buffers with hipHostMalloc (copies from pageable memory do not overlap).",
            "Keep buffers on the device between steps and copy only what changed.",
        ]
    );
    assert_eq!(copy.estimated_impact(), "at most 53.0% of the run (2.13x)");
    assert_eq!(copy.gain_basis, "exposed time of copies of 64 KiB and more / normalized runtime");
    assert!(copy.overlaps_with.is_empty() && copy.preconditions.is_empty());
    assert!(copy.source_refs.is_empty() && copy.merged_ids.is_empty());
    assert_eq!(
        (copy.citation.as_str(), copy.anchor.as_str()),
        ("rules/exposed_copy", "rec-rocpd-memcpy-001")
    );
    assert_eq!((copy.subtype, copy.advanced), (None, false));
    let [item] = copy.evidence.as_slice() else { panic!("one piece of evidence") };
    assert_eq!(
        (item.id, item.metric, item.value, item.unit),
        ("exposed_copy", "exposed_copy_pct", Some(53.0), "percent")
    );
    assert_eq!(
        (item.comparator, item.threshold, item.role, item.source),
        (Some(">="), Some(5.0), "supports", "memory_copies")
    );
    assert_eq!(item.text, "Copies with no kernel beside them take 53.0% of the run");
    let [collect, verify] = copy.commands.as_slice() else { panic!("two commands") };
    assert_eq!(
        (collect.purpose, collect.tool.as_str(), collect.description.as_str()),
        ("collect", "rocprofv3", "Record again after the change")
    );
    assert_eq!(collect.flags, ["--sys-trace"]);
    assert_eq!(collect.args, [("-d".to_owned(), "./after".to_owned())]);
    assert_eq!(collect.full_command, "rocprofv3 --sys-trace -d ./after -- ./your_app");
    assert_eq!(
        (verify.purpose, verify.tool.as_str(), verify.description.as_str()),
        ("verify", "perfxpert", "Verify")
    );
    assert!(verify.flags.is_empty());
    assert_eq!(
        verify.args,
        [("BASELINE".to_owned(), "results_results.db".to_owned()), ("NEW".to_owned(), "./after".to_owned())]
    );
    assert_eq!(verify.full_command, "perfxpert diff results_results.db ./after");
}

#[test]
fn blocking_calls_and_the_unexplained_kernel() {
    let found = of("we1");
    let sync = &found[1];
    assert_eq!(
        sync.issue,
        "The GPU waits 2.8% of the run (0.028 ms in 3 gaps) for the host after a blocking call: hipMemcpy (2 gaps), hipDeviceSynchronize (1 gap)."
    );
    assert_eq!(sync.category, "Synchronization");
    assert_eq!(sync.suggestion, "Let the host queue the next work before it waits.");
    assert_eq!(
        sync.actions,
        [
            "Replace device-wide waits by events on the stream that needs them.",
            "Queue the next work before waiting.",
            "Use asynchronous copies.",
        ]
    );
    assert_eq!(sync.estimated_impact(), "at most 2.8% of the run (1.03x)");
    let hotspot = &found[2];
    assert_eq!(
        hotspot.issue,
        "Kernel 'gemm<float, 16>' takes 90.9% of GPU kernel time; this trace cannot say what limits it."
    );
    assert_eq!(
        hotspot.actions,
        [
            "Known: 4 of 8 waves per SIMD (50.0%), limited by VGPR.",
            "Known: 4,096 workgroups of 256 threads, no scratch memory.",
            "Collect counters with the commands below.",
        ]
    );
    assert_eq!(hotspot.estimated_impact(), "not bounded by this trace");
    assert_eq!((hotspot.technique.as_str(), hotspot.anchor.as_str()), ("hot_kernel_triage", "rec-gemm"));
    let commands: Vec<_> = hotspot
        .commands
        .iter()
        .map(|command| (command.purpose, command.description.as_str(), command.full_command.as_str()))
        .collect();
    assert_eq!(
        commands,
        [
            (
                "collect",
                "Counters, pass 1 of 3",
                "rocprofv3 --pmc SQ_WAVES GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVE_CYCLES SQ_ACTIVE_INST_VALU SQ_BUSY_CU_CYCLES SQ_VALU_MFMA_BUSY_CYCLES -d ./profile_out_pmc1 -- ./your_app"
            ),
            (
                "collect",
                "Counters, pass 2 of 3",
                "rocprofv3 --pmc FETCH_SIZE -d ./profile_out_pmc2 -- ./your_app"
            ),
            (
                "collect",
                "Counters, pass 3 of 3",
                "rocprofv3 --pmc WRITE_SIZE -d ./profile_out_pmc3 -- ./your_app"
            ),
            (
                "verify",
                "Verify",
                "perfxpert analyze -i results_results.db --counters ./profile_out_pmc1 ./profile_out_pmc2 ./profile_out_pmc3"
            ),
        ]
    );
}

#[test]
fn a_launch_bound_run() {
    let found = of("we2");
    let ranks: Vec<_> = found
        .iter()
        .map(|advice| (advice.id.as_str(), advice.priority.label(), advice.gain_bound_pct, advice.confidence))
        .collect();
    assert_eq!(
        ranks,
        [("ROCPD-LAUNCH-001", "HIGH", Some(59.99), 0.8), ("ROCPD-HOTSPOT-001", "LOW", None, 0.5)]
    );
    assert_eq!(found[0].estimated_impact(), "at most 60.0% of the run (2.50x)");
    assert_eq!(
        found[0].issue,
        "2,000 kernels with a median of 4.0 μs leave the GPU waiting for the next launch 60.0% of the run."
    );
}
