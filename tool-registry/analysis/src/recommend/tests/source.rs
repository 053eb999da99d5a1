//! Code patterns beside a trace, patterns alone, and loop hints.

use perfxpert_fixtures::scenario;
use perfxpert_knowledge::commands;
use perfxpert_source::{Scan, ScanOptions, scan};

use super::planted::advice_with;
use crate::recommend::observed::ObservedKernel;
use crate::recommend::{Context, Observed, RuleEntry, for_observed, for_source};
use crate::units::Nanos;

/// The source tree of the report's worked example.
const STEP: &str = r#"#include <hip/hip_runtime.h>
// hipMemcpy( in a comment never counts
namespace ops {
template <typename T, int TILE>
__global__ void __launch_bounds__(256, 2) gemm(const T* a, const T* b, T* c, int n) {
  __shared__ T tile[TILE][TILE];
  c[n] = a[n] * b[n];
}
}
__global__ void relu(float* x, int n) { x[n] = x[n] > 0 ? x[n] : 0; }
const char* text = "relu<<<1, 1>>>(x)";
void step(float* h, float* d, int n, hipStream_t s) {
  for (int i = 0; i < 100; ++i) {
    hipMemcpy(d, h, n * sizeof(float), hipMemcpyHostToDevice);
    ops::gemm<float, 16><<<dim3(n / 256), dim3(256), 0, s>>>(d, d, d, n);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(relu), dim3(n / 256), dim3(256), 0, s, d, n);
    hipDeviceSynchronize();
  }
  hipMemcpy(h, d, n * sizeof(float), hipMemcpyDeviceToHost);
}
"#;

fn scanned(text: &str) -> Scan {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("step.hip"), text).unwrap();
    scan(folder.path(), &ScanOptions::default()).unwrap()
}

fn places(advice: &RuleEntry) -> Vec<String> {
    advice
        .source_refs
        .iter()
        .map(|place| format!("{}:{} {}", place.file, place.line, place.pattern_id.unwrap_or("-")))
        .collect()
}

#[test]
fn patterns_fold_into_what_they_explain() {
    let planted = scenario("we1").expect("a known scenario");
    let found = advice_with(&planted, Some(&scanned(STEP))).expect("it can be read");
    let ids: Vec<&str> = found.iter().map(|advice| advice.id.as_str()).collect();
    assert_eq!(ids, ["ROCPD-MEMCPY-001", "ROCPD-SYNC-001", "ROCPD-HOTSPOT-001"]);
    assert_eq!(found[0].merged_ids, ["ROCPD-T0-MEMCPY-001"]);
    assert_eq!(places(&found[0]), ["step.hip:14 memcpy_sync"]);
    assert_eq!(found[1].merged_ids, ["ROCPD-T0-SYNC-001"]);
    assert_eq!(places(&found[1]), ["step.hip:17 device_sync"]);
}

#[test]
fn patterns_that_cost_nothing_are_information() {
    let planted = scenario("healthy").expect("a known scenario");
    let found = advice_with(&planted, Some(&scanned(STEP))).expect("it can be read");
    let got: Vec<_> = found
        .iter()
        .map(|advice| (advice.id.as_str(), advice.priority.label(), advice.target.as_deref()))
        .collect();
    assert_eq!(
        got,
        [
            ("ROCPD-T0-MEMCPY-001", "INFO", Some("step.hip:14")),
            ("ROCPD-T0-SYNC-001", "INFO", Some("step.hip:17")),
        ]
    );
    for advice in &found {
        assert!(
            advice.issue.contains("; in this trace it costs ") && advice.issue.ends_with("% of the run."),
            "{}",
            advice.issue
        );
        assert_eq!((advice.class.as_str(), advice.target_kind.label()), ("code_pattern", "source"));
    }
}

#[test]
fn patterns_alone() {
    let found = for_source(&scanned(STEP));
    let got: Vec<_> = found
        .iter()
        .map(|advice| (advice.id.as_str(), advice.priority.label(), advice.confidence, advice.gain_bound_pct))
        .collect();
    assert_eq!(
        got,
        [("ROCPD-T0-MEMCPY-001", "MEDIUM", 0.6, None), ("ROCPD-T0-SYNC-001", "MEDIUM", 0.6, None)]
    );
    let commands: Vec<&str> = found[0].commands.iter().map(|command| command.full_command.as_str()).collect();
    assert_eq!(
        commands,
        [
            "rocprofv3 --sys-trace -d ./profile_out -- ./your_app",
            "rocprofv3 --sys-trace -d ./after -- ./your_app",
            "perfxpert diff ./profile_out ./after",
        ]
    );
    assert!(commands.iter().all(|command| commands::check(command).is_ok()));
    assert!(found[0].snippet_after.as_deref().is_some_and(|line| line.contains("hipMemcpyAsync(")));
}

const LOOPS: &str = "__global__ void sum(float* x) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      x[i] += x[j];
    }
  }
  for (int k = 0; k < 64; ++k) {
    x[k] = 0;
  }
}
";

fn hinted(share: f64, advanced: bool) -> Vec<RuleEntry> {
    let run = Observed {
        window: Nanos(1_000_000),
        kernels: vec![ObservedKernel {
            name: "sum(float*)".to_owned(),
            short: "sum".to_owned(),
            slug: "sum".to_owned(),
            pct_of_total: Some(share),
            pct_of_runtime: Some(share),
            ..ObservedKernel::default()
        }],
        ..Observed::default()
    };
    let scan = scanned(LOOPS);
    for_observed(&run, &Context { scan: Some(&scan), advanced, ..Context::default() })
}

#[test]
fn loop_hints_on_request() {
    let found = hinted(25.0, true);
    let [hint] = found.as_slice() else { panic!("one hint for the outermost short loop: {found:?}") };
    assert_eq!(
        (hint.id.as_str(), hint.category.as_str()),
        ("ROCPD-PRAGMA-UNROLL-FULL-001", "Loop Hint (clang_loop_unroll_full)")
    );
    assert_eq!(
        (hint.priority.label(), hint.confidence, hint.subtype, hint.advanced),
        ("LOW", 0.55, Some("pragma"), true)
    );
    assert_eq!(hint.target.as_deref(), Some("step.hip:2"));
    let keys = hint.hint.as_ref().expect("keys of a hint");
    assert_eq!(
        (keys.file.as_str(), keys.line, keys.pragma_id.as_str()),
        ("step.hip", 2, "clang_loop_unroll_full")
    );
    assert_eq!(
        hint.actions.last().map(String::as_str),
        Some("Verify with: perfxpert diff <this>.db <new>.db")
    );
    assert_eq!(
        hint.snippet_after.as_deref(),
        Some("#pragma clang loop unroll(full)\nfor (int i = 0; i < 16; ++i) {")
    );
    assert!(hinted(25.0, false).is_empty(), "not asked for");
    assert!(hinted(9.9, true).is_empty(), "below the share for full unrolling");
}
