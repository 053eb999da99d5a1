//! `diff` and `ci` as a user or a CI job runs them: outputs to the letter, exit codes, and a gate that can fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;

use perfxpert_fixtures::{Direction, KernelSpec, TraceBuilder};
use perfxpert_tests::process::{Home, Ran};
use serde_json::Value;

/// Plants kernels back to back, and a copy that ends the run after `elapsed` ns.
fn plant(home: &Home, name: &str, product: &str, kernels: &[(&str, i64)], elapsed: i64) {
    plant_of(home, name, product, kernels, elapsed, 4096);
}

fn plant_of(home: &Home, name: &str, product: &str, kernels: &[(&str, i64)], elapsed: i64, groups: u32) {
    let mut trace = TraceBuilder::new();
    let gpu = trace.gpu(product);
    let mut now = 0;
    for (name, time) in kernels {
        let kernel = trace.kernel(KernelSpec::new(name));
        trace.dispatch(gpu, kernel, now..now + time).shape(256, groups);
        now += time;
    }
    assert!(elapsed > now, "the copy ends the run");
    trace.copy(Direction::HostToDevice, gpu, 4096, elapsed - 1..elapsed);
    let path = home.work().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    trace.write_to(path).unwrap();
}

fn plant_empty(home: &Home, name: &str) {
    let mut trace = TraceBuilder::new();
    trace.gpu("mi300x");
    trace.hip("hipInit", 0..1000);
    trace.write_to(home.work().join(name)).unwrap();
}

/// Five runs per side: elapsed time 6.9 % and gemm 9.8 % slower.
fn five_per_side() -> Home {
    let home = Home::new().set("SOURCE_DATE_EPOCH", "1768469400");
    let runs = [
        (
            "base",
            [10_000, 10_100, 9_950, 10_050, 10_020],
            [7_000, 7_070, 6_965, 7_035, 7_014],
            [1_000, 1_004, 998, 1_002, 1_001],
        ),
        (
            "new",
            [10_700, 10_650, 10_800, 10_720, 10_690],
            [7_700, 7_660, 7_790, 7_715, 7_680],
            [1_003, 999, 1_001, 1_004, 1_000],
        ),
    ];
    for (side, walls, gemm, relu) in runs {
        for at in 0..5 {
            let kernels = [("gemm", gemm[at] * 1000), ("relu", relu[at] * 1000)];
            plant(&home, &format!("{side}/{}.db", at + 1), "mi300x", &kernels, walls[at] * 1000);
        }
    }
    home
}

fn five(home: &Home, more: &[&str]) -> Ran {
    let mut words = vec!["ci", "--baseline", "base/*.db", "--candidate", "new/*.db", "--threshold", "5"];
    words.extend(["--kernel-threshold", "8"]);
    words.extend(more);
    home.run(&words)
}

const TEXT: &str = "\
================================================================================
                              PERFXPERT TRACE DIFF
================================================================================
Baseline:       5 runs, first base/1.db
Candidate:      5 runs, first new/1.db
GPUs:           1x gfx942 (AMD Instinct MI300X, 304 CU)

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ OVERVIEW ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
Wall time:      10.020 ms -> 10.700 ms (+6.90%)
Kernel time:    8.015 ms -> 8.703 ms (+8.58%)
Kernels:        2 compared: 1 regressed, 0 improved, 0 added, 0 removed

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ GATE ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
Verdict:        REGRESSED
Wall:           +6.90%, interval [+5.94%, +7.78%] at 96.8% confidence
Threshold:      5.00% (flag)
Detectable:     changes of 0.96% and more
Runs:           5 baseline (spread 1.50%), 5 candidate (spread 1.40%)
Kernel gate:    8.00%, 2 of 2 kernels hold 1.0% of kernel time or more
  regressed   gemm                                  +9.78%  [+8.63%, +11.29%]
  pass        relu                                  +0.00%  [-0.40%, +0.50%]
Reasons:        wall time +6.90% is above 5.00%
                kernel gemm +9.78% is above 8.00%

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ PER-KERNEL DELTAS ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
Kernel                               Base (ms)    New (ms)      Delta    Share
────────────────────────────────────────────────────────────────────────────────
gemm                                     7.014       7.700     +9.78%    87.5%
relu                                     1.001       1.001     +0.00%    12.5%

━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ SUMMARY ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
Elapsed time went from 10.020 ms to 10.700 ms (+6.90%); kernel time +8.58%. 1
kernel regressed by more than 3.0%: `gemm` +9.78% (+0.686 ms).
";

const JUNIT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="perfxpert ci" tests="3" failures="2" errors="0" skipped="0">
  <testsuite name="perfxpert ci" tests="3" failures="2" errors="0" skipped="0" timestamp="2026-01-15T09:30:00Z">
    <properties><property name="method" value="rank_interval"/><property name="runs" value="5+5"/></properties>
    <testcase classname="perfxpert.ci" name="wall time" time="0.010700">
      <failure type="regression" message="+6.90% [+5.94%, +7.78%], threshold 5.00%">baseline 10.020 ms, candidate 10.700 ms</failure>
    </testcase>
    <testcase classname="perfxpert.ci.kernel" name="gemm" time="0.007700">
      <failure type="regression" message="+9.78% [+8.63%, +11.29%], threshold 8.00%">baseline 7.014 ms, candidate 7.700 ms</failure>
    </testcase>
    <testcase classname="perfxpert.ci.kernel" name="relu" time="0.001001"/>
  </testsuite>
</testsuites>
"#;

#[test]
fn the_worked_gate_in_every_format() {
    let home = five_per_side();
    let text = five(&home, &["--write", "junit=out/gate.xml", "--write", "webview=out/gate.html"]);
    assert_eq!((text.code, text.stdout.as_str()), (1, TEXT), "{}", text.stderr);
    assert!(
        text.stderr.ends_with(
            "✗ regressed: wall +6.90% [+5.94%, +7.78%] (threshold 5.00%); kernel `gemm` +9.78% (threshold 8.00%)\n"
        ),
        "{}",
        text.stderr
    );
    assert_eq!(fs::read_to_string(home.work().join("out/gate.xml")).unwrap(), JUNIT);
    assert!(fs::read_to_string(home.work().join("out/gate.html")).unwrap().contains("id=\"gate\""));
    assert_eq!(five(&home, &["--format", "junit", "-q"]).stdout, JUNIT);
    let json = five(&home, &["--format", "json", "-q"]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((document["gate"]["exit_code"].as_u64(), json.stderr.as_str()), (Some(1), ""));
    let markdown = five(&home, &["--format", "markdown", "--title", "nightly"]).stdout;
    assert!(markdown.starts_with("## nightly: regressed\n\n| What |"), "{markdown}");
    assert!(
        markdown.contains("| wall time | 10.020 ms | 10.700 ms | +6.90% | [+5.94%, +7.78%] | regressed |")
    );
    assert!(markdown.contains("<details>"));
}

#[test]
fn workflow_commands_and_their_files() {
    let home = five_per_side();
    let commands = "::error title=perfxpert ci::wall time +6.90%25 [+5.94%25, +7.78%25], threshold 5.00%25\n\
                    ::error title=perfxpert ci::kernel gemm +9.78%25, threshold 8.00%25\n";
    let ran = five(&home, &["--format", "github"]);
    assert!(
        ran.stdout.starts_with(commands) && ran.stdout.contains("## perfxpert ci: regressed"),
        "{}",
        ran.stdout
    );
    let (summary, output) = (home.work().join("summary.md"), home.work().join("output.txt"));
    fs::write(&summary, "before\n").unwrap();
    let home = home
        .set("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())
        .set("GITHUB_OUTPUT", output.to_str().unwrap());
    assert_eq!(five(&home, &["--format", "github"]).stdout, commands);
    assert!(fs::read_to_string(&summary).unwrap().starts_with("before\n## perfxpert ci: regressed"));
    assert_eq!(
        fs::read_to_string(&output).unwrap(),
        "verdict=regressed\nexit_code=1\nwall_delta_pct=6.9000\n"
    );
}

#[test]
fn the_gate_never_passes_what_measured_nothing() {
    let home = Home::new();
    plant(&home, "good.db", "mi300x", &[("k", 900_000)], 1_000_000);
    plant_empty(&home, "empty.db");
    for (words, code) in
        [(["good.db", "empty.db"], "empty_candidate"), (["empty.db", "good.db"], "empty_baseline")]
    {
        let ran = home.run(&["ci", words[0], words[1], "--allow-no-verdict", "--allow-kernel-changes"]);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.stderr.ends_with(&format!("? no verdict: {code}\n")), "{}", ran.stderr);
        assert!(ran.stdout.contains("NO VERDICT"), "{}", ran.stdout);
        let junit = home.run(&["ci", words[0], words[1], "--format", "junit"]).stdout;
        assert!(junit.contains("errors=\"1\"") && junit.contains("<error type=\"no_verdict\""), "{junit}");
    }
    let missing = home.run(&["ci", "good.db", "gone.db"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (2, ""));
    home.file("notes.txt", "text");
    assert_eq!(home.run(&["ci", "good.db", "notes.txt"]).code, 2);
    let diff = home.run(&["diff", "good.db", "empty.db"]);
    assert_eq!((diff.code, diff.stdout.as_str()), (2, ""), "an empty side is no diff: {}", diff.stderr);
}

#[test]
fn exit_codes_follow_the_verdict() {
    let home = Home::new();
    let k = |time: i64| [("k", time)];
    plant_of(&home, "base.db", "mi300x", &k(900_000), 1_000_000, 1000);
    plant_of(&home, "half.db", "mi300x", &k(500_000), 550_000, 500);
    plant_of(&home, "half_slower.db", "mi300x", &k(500_000), 1_060_000, 500);
    plant_of(&home, "slower.db", "mi300x", &k(900_000), 1_060_000, 1000);
    plant_of(&home, "old_gpu.db", "mi250x", &k(900_000), 1_000_000, 1000);
    for (candidate, more, code) in [
        ("base.db", &[][..], 0),
        ("slower.db", &[], 1),
        ("slower.db", &["--threshold", "7"], 0),
        ("slower.db", &["--min-delta-ms", "1"], 0),
        ("half.db", &[], 3),
        ("half.db", &["--allow-kernel-changes"], 0),
        ("half_slower.db", &[], 1),
        ("old_gpu.db", &[], 3),
        ("old_gpu.db", &["--allow-different-gpu"], 0),
    ] {
        let ran = home.run(&[&["ci", "base.db", candidate][..], more].concat());
        assert_eq!(ran.code, code, "{candidate} {more:?}: {ran:?}");
    }
    assert_eq!(home.run(&["diff", "base.db", "slower.db"]).code, 0);
}

#[test]
fn noise_is_no_verdict_and_can_be_allowed() {
    let home = Home::new();
    for (side, walls) in [("a", [1000, 1200, 900, 1100, 1050]), ("b", [1090, 1250, 980, 1160, 1120])] {
        for (at, wall) in walls.into_iter().enumerate() {
            plant(&home, &format!("{side}/{at}.db"), "mi300x", &[("k", 800_000)], wall * 1000);
        }
    }
    let words = ["ci", "--baseline", "a/*.db", "--candidate", "b/*.db"];
    let ran = home.run(&words);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stderr.ends_with("? no verdict: wall +6.67% [-9.17%, +25.00%] (threshold 5.00%): noise\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(home.run(&[&words[..], &["--allow-no-verdict"]].concat()).code, 0);
}

#[test]
fn wrong_command_lines_are_refused_before_anything_is_read() {
    let home = Home::new();
    plant(&home, "a.db", "mi300x", &[("k", 900_000)], 1_000_000);
    for words in [
        &["ci"][..],
        &["ci", "a.db"],
        &["ci", "a.db", "--baseline", "a.db"],
        &["ci", "--baseline", "a.db"],
        &["ci", "--baseline", "a.db", "./a.db", "--candidate", "a.db"],
        &["ci", "gone.db", "gone.db", "--threshold", "nan"],
        &["ci", "gone.db", "gone.db", "--threshold", "5%"],
        &["ci", "gone.db", "gone.db", "--threshold", "-1"],
        &["ci", "gone.db", "gone.db", "--threshold", "1001"],
        &["ci", "a.db", "a.db", "--min-time-share", "2"],
        &["ci", "a.db", "a.db", "--confidence", "91"],
        &["ci", "a.db", "a.db", "--write", "junit"],
        &["ci", "a.db", "a.db", "--write", "junit=a.db"],
        &["diff", "a.db"],
        &["diff", "a.db", "a.db", "--top-kernels", "0"],
    ] {
        let ran = home.run(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{words:?}: {ran:?}");
        assert!(!ran.stderr.contains("gone.db does not exist"), "{words:?}: {}", ran.stderr);
    }
    let loose = Home::new().set("PERFXPERT_CI_REGRESSION_THRESHOLD", "loose");
    assert_eq!(
        loose.run(&["ci", "a.db", "b.db"]).stderr,
        "perfxpert: error: PERFXPERT_CI_REGRESSION_THRESHOLD: 'loose' is not a number. Set it to a percentage such as 5.\n"
    );
    let same = home.run(&["ci", "a.db", "a.db"]);
    assert_eq!(same.code, 0);
    assert!(same.stderr.contains("warning: a.db stands on both sides"), "{}", same.stderr);
    assert!(same.stderr.ends_with("✓ pass: wall +0.00% (threshold 5.00%)\n"), "{}", same.stderr);
}

#[test]
fn a_diff_goes_where_it_is_sent_in_all_formats() {
    let home = Home::new();
    plant(&home, "a.db", "mi300x", &[("gemm", 400_000), ("relu", 40_000)], 1_000_000);
    plant(&home, "b.db", "mi300x", &[("gemm", 430_000), ("relu", 40_000), ("fused", 5_000)], 1_060_000);
    let text = home.run(&["diff", "a.db", "b.db"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    for part in [
        "Wall time:      1.000 ms -> 1.060 ms (+6.00%)\nKernel time:    0.440 ms -> 0.475 ms (+7.95%)\n",
        "Kernels:        2 compared: 1 regressed, 0 improved, 1 added, 0 removed\n",
        "Verdict:        regressed (threshold 5.00%)\n",
    ] {
        assert!(text.stdout.contains(part), "{part}\n{}", text.stdout);
    }
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    let json: Value =
        serde_json::from_str(&home.run(&["diff", "a.db", "b.db", "--format", "json"]).stdout).unwrap();
    assert_eq!(
        (json["wall_delta_pct"].as_f64(), json["kernel_time_delta_pct"].as_f64()),
        (Some(6.0), Some(7.9545))
    );
    let markdown = home.run(&["diff", "a.db", "b.db", "--format", "markdown"]).stdout;
    assert!(markdown.starts_with("# PerfXpert - Trace diff\n"), "{markdown}");
    assert!(markdown.contains("| Kernel | Baseline (ns) | New (ns) | Delta (ns) | Delta % | Hot? |"));
    let page = home.run(&["diff", "a.db", "b.db", "--format", "webview"]);
    let written = home.work().join("diff_report.html");
    assert_eq!(page.stdout, "");
    assert_eq!(page.stderr, format!("Wrote webview diff report to {}\n", written.display()));
    let html = fs::read_to_string(written).unwrap();
    for id in ["overview", "kernel-deltas", "kernel-changes", "summary"] {
        assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
    }
    let named = home.run(&["diff", "a.db", "b.db", "-o", "x", "-d", "out"]);
    assert_eq!(named.stdout, "");
    assert!(home.work().join("out/x.txt").is_file());
    let redacted = home.run(&["diff", "./a.db", "./b.db", "--redact-paths", "--format", "json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&redacted).unwrap()["baseline_db"], "a.db");
}
