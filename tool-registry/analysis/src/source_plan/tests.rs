//! Plans and advice for small trees whose answers are written by hand.

use perfxpert_knowledge::commands::check;
use perfxpert_source::{PatternId, Scan, ScanOptions, scan};

use super::*;

fn scanned(files: &[(&str, &str)]) -> Scan {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    scan(folder.path(), &ScanOptions::default()).unwrap()
}

/// A step with a matrix product in LDS, a copy and a wait in a loop, and a copy behind it.
const STEP: &str = "#include <hip/hip_runtime.h>
__global__ void gemm(float* c) { __shared__ float t[4]; c[0] = t[0]; }
void step(float* h, float* d, int n, hipStream_t s) {
  for (int i = 0; i < 100; ++i) {
    hipMemcpy(d, h, n * sizeof(float), hipMemcpyHostToDevice);
    gemm<<<1, 64, 0, s>>>(d);
    hipDeviceSynchronize();
  }
  hipMemcpy(h, d, n * sizeof(float), hipMemcpyDeviceToHost);
}
";

#[test]
fn the_worked_example_gets_twelve_counters_in_three_passes() {
    let scan = scanned(&[("step.hip", STEP)]);
    let plan = plan(&scan, Some("gfx942"), None);
    assert_eq!(
        plan.first_command.as_ref().unwrap().full_command,
        "rocprofv3 --sys-trace -d ./profile_out -- ./your_app"
    );
    assert_eq!(
        plan.counters.join(" "),
        "SQ_WAVES GRBM_COUNT GRBM_GUI_ACTIVE SQ_LDS_BANK_CONFLICT SQ_LDS_IDX_ACTIVE SQ_INSTS_VALU SQ_INSTS_MFMA \
         SQ_VALU_MFMA_BUSY_CYCLES SQ_WAVE_CYCLES SQ_ACTIVE_INST_VALU FETCH_SIZE WRITE_SIZE"
    );
    let passes: Vec<String> = plan.passes.iter().map(|pass| pass.counters.join(" ")).collect();
    assert_eq!(passes.len(), 3);
    assert_eq!(passes[0], plan.counters[..10].join(" "));
    assert_eq!(passes[1..], ["FETCH_SIZE", "WRITE_SIZE"]);
    // An unknown GPU gets the same set.
    assert_eq!(super::plan(&scan, None, None), plan);
    assert_eq!(super::plan(&scan, Some("gfx7000"), None), plan);
    for command in &plan.actions {
        check(&command.full_command).unwrap();
    }
    assert_eq!(plan.actions.last().unwrap().purpose, "inspect");
    let advice = code_advice(&scan);
    let found: Vec<_> = advice.iter().map(|a| (a.id, a.target.to_string(), a.title.as_str())).collect();
    assert_eq!(
        found,
        [
            ("ROCPD-T0-MEMCPY-001", "step.hip:5".to_owned(), "2 blocking copies, 1 of them in a loop"),
            ("ROCPD-T0-SYNC-001", "step.hip:7".to_owned(), "1 synchronization call, in a loop"),
        ]
    );
    assert_eq!(advice[0].issue, "2 blocking copies, 1 of them in a loop; first at step.hip:5.");
    assert_eq!(advice[0].confidence, 0.60);
    assert_eq!(advice[0].snippet_before, "hipMemcpy(d, h, n * sizeof(float), hipMemcpyHostToDevice);");
    assert_eq!(
        advice[0].snippet_after.as_deref(),
        Some("hipMemcpyAsync(d, h, n * sizeof(float), hipMemcpyHostToDevice, stream);")
    );
    assert_eq!(advice[1].snippet_after, None);
    assert_eq!(
        source_only_narrative(&scan, &advice, &plan),
        "Source scan only: 1 file, 1 kernel definition, 1 launch (HIP). 2 code patterns need attention, first: 2 blocking \
         copies, 1 of them in a loop at step.hip:5. Profile first: `rocprofv3 --sys-trace -d ./profile_out -- ./your_app`."
    );
}

#[test]
fn counters_the_gpu_lacks_are_dropped() {
    let scan = scanned(&[("step.hip", STEP)]);
    let plan = plan(&scan, Some("gfx1100"), None);
    assert!(plan.counters.iter().any(|counter| counter == "SQ_WAVES"));
    for cdna_only in ["SQ_INSTS_MFMA", "SQ_VALU_MFMA_BUSY_CYCLES"] {
        assert!(!plan.counters.iter().any(|counter| counter == cdna_only), "{cdna_only}");
    }
    let atomics = scanned(&[("a.hip", "__global__ void k(int* x) { atomicAdd(x, 1); }")]);
    let counters = super::plan(&atomics, Some("gfx90a"), None).counters;
    assert_eq!(counters.last().unwrap(), "TCC_ATOMIC_sum");
    assert!(!super::plan(&atomics, Some("gfx1100"), None).counters.iter().any(|c| c.starts_with("TCC")));
}

#[test]
fn a_trace_leaves_only_what_it_lacks() {
    let scan = scanned(&[("step.hip", STEP)]);
    let held: Vec<String> = ["SQ_WAVES", "FETCH_SIZE"].map(str::to_owned).to_vec();
    let recorded = Recorded { dispatches: 20, counters: &held, timeline: true, collectives: false };
    let plan = plan(&scan, Some("gfx942"), Some(recorded));
    assert!(plan.already_profiled);
    assert_eq!(plan.description, "Already profiled: 20 dispatches, 2 counters in this trace.");
    let commands: Vec<&str> = plan.actions.iter().map(|action| action.full_command.as_str()).collect();
    assert_eq!(commands.len(), 2);
    assert!(commands.iter().all(|command| !command.contains("SQ_WAVES ") && !command.contains("FETCH_SIZE")));
    assert!(commands[1].contains("--pmc WRITE_SIZE"));
    let all = Recorded { counters: &plan.counters, ..recorded };
    assert!(super::plan(&scan, Some("gfx942"), Some(all)).actions.is_empty());
    let no_timeline = Recorded { timeline: false, ..all };
    let actions = super::plan(&scan, Some("gfx942"), Some(no_timeline)).actions;
    assert_eq!(actions.len(), 1);
    assert!(actions[0].full_command.contains("--sys-trace"));
}

#[test]
fn the_first_command_follows_what_the_tree_is_built_on() {
    let first =
        |files: &[(&str, &str)]| plan(&scanned(files), None, None).first_command.map(|c| c.full_command);
    assert_eq!(first(&[("a.txt", "")]), None);
    assert_eq!(
        first(&[("a.py", "import torch\n")]).unwrap(),
        "rocprofv3 --sys-trace -d ./profile_out -- python train.py"
    );
    let kernel = ("k.hip", "__global__ void k() {}");
    assert_eq!(
        first(&[("a.py", "import torch\n"), kernel]).unwrap(),
        "rocprofv3 --sys-trace -d ./profile_out -- ./your_app"
    );
    let rccl = ("r.cpp", "#include <rccl/rccl.h>\n");
    assert_eq!(
        first(&[kernel, rccl]).unwrap(),
        "rocprofv3 --sys-trace --rccl-trace -d ./profile_out -- ./your_app"
    );
    let mpi = ("m.cpp", "#include <mpi.h>\n");
    assert_eq!(
        first(&[kernel, mpi]).unwrap(),
        "mpirun -n <n> rocprofv3 --sys-trace -d ./profile_out -o results_%env{OMPI_COMM_WORLD_RANK}% -- ./your_app"
    );
}

#[test]
fn an_empty_tree_has_nothing_to_profile() {
    let scan = scanned(&[("readme.txt", "no code")]);
    let plan = plan(&scan, None, None);
    assert!(
        plan.first_command.is_none()
            && plan.counters.is_empty()
            && plan.passes.is_empty()
            && plan.actions.is_empty()
    );
    assert_eq!((plan.kernel_count, plan.programming_model), (0, "Unknown"));
    assert_eq!(
        source_only_narrative(&scan, &code_advice(&scan), &plan),
        "Source scan only: 0 files, 0 kernel definitions, 0 launches (Unknown). No code pattern needs attention."
    );
}

#[test]
fn launches_that_name_no_stream_show_the_change() {
    let scan = scanned(&[("a.hip", "void f(int n) {\n  k<<<n, 64>>>(n);\n  k<<<n, 64>>>(n);\n}\n")]);
    let advice = code_advice(&scan);
    assert_eq!((advice.len(), advice[0].id), (1, "ROCPD-T0-STREAM-001"));
    assert_eq!(advice[0].snippet_after.as_deref(), Some("k<<<n, 64, 0, stream>>>(n);"));
}

#[test]
fn patterns_fold_into_the_rules_that_fired() {
    let measured = Measured { exposed_copy_pct: 0.44, sync_gap_pct: 1.96, alloc_gap_pct: 3.0 };
    let at = |pattern, rules: &[&str]| place(pattern, Some((rules, measured)));
    let alone = |priority, cost: Option<&str>| Placement::Alone { priority, cost: cost.map(str::to_owned) };
    assert_eq!(place(PatternId::MemcpySync, None), alone(Priority::Medium, None));
    assert_eq!(at(PatternId::MemcpySync, &["sync_bound", "exposed_copy"]), Placement::Merged("exposed_copy"));
    assert_eq!(at(PatternId::MemcpySync, &["sync_bound", "small_copies"]), Placement::Merged("small_copies"));
    assert_eq!(at(PatternId::MemcpySync, &["sync_bound"]), Placement::Merged("sync_bound"));
    assert_eq!(
        at(PatternId::MemcpySync, &[]),
        alone(Priority::Info, Some("in this trace it costs 0.4% of the run"))
    );
    assert_eq!(
        at(PatternId::PythonSync, &["exposed_copy"]),
        alone(Priority::Info, Some("in this trace it costs 2.0% of the run"))
    );
    assert_eq!(at(PatternId::AllocInLoop, &[]), alone(Priority::Medium, None));
    assert_eq!(at(PatternId::AllocInLoop, &["host_api"]), Placement::Merged("host_api"));
    assert_eq!(at(PatternId::CreateInLoop, &[]), alone(Priority::Info, None));
    assert_eq!(at(PatternId::DefaultStream, &["host_api"]), alone(Priority::Info, None));
    assert_eq!(at(PatternId::DefaultStream, &["launch_bound"]), alone(Priority::Medium, None));
}
