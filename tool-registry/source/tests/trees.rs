//! Scans of the trees beside this file against what a careful reader wrote on each line of them.
//!
//! A line of a tree ends in `//:` (`#:` in Python) and the rows a reader sees on it: `def NAME`, `decl NAME`,
//! `launch NAME LOOP STREAM` (`?` for a kernel that is a run-time value), or `PATTERN LOOP`. Lines without a marker
//! hold nothing. Comments are invisible to a scan, so the truth cannot leak into the answer.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use perfxpert_source::{
    Bound, Framework, Library, MatchKind, PatternId, PatternSeverity, ProgrammingModel, RowKind, Scan,
    ScanOptions, scan,
};

fn tree(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(name)
}

fn scanned(name: &str) -> Scan {
    scan(&tree(name), &ScanOptions::default()).unwrap()
}

/// Rows by `file:line`, as read by a person.
fn marked(name: &str) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(tree(name)).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        for (at, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let marker = line.split_once("//: ").or_else(|| line.split_once("#: "));
            if let Some((_, rows)) = marker {
                let rows = rows.split("; ").map(|row| row.trim().to_owned());
                out.entry(format!("{file}:{}", at + 1)).or_default().extend(rows);
            }
        }
    }
    out.values_mut().for_each(|rows| rows.sort());
    out
}

/// The same rows, as scanned.
fn found(scan: &Scan) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kernel in &scan.kernels {
        let kind = if kernel.kind == RowKind::Definition { "def" } else { "decl" };
        out.entry(kernel.site.to_string()).or_default().push(format!("{kind} {}", kernel.name));
    }
    for launch in &scan.launches {
        let name = if launch.name_known { &*launch.name } else { "?" };
        let row = format!("launch {name} {} {}", launch.loop_context.id(), launch.stream.id());
        out.entry(launch.site.to_string()).or_default().push(row);
    }
    for pattern in &scan.patterns {
        for occurrence in &pattern.occurrences {
            let row = format!("{} {}", pattern.id.id(), occurrence.loop_context.id());
            out.entry(occurrence.site.to_string()).or_default().push(row);
        }
    }
    out.values_mut().for_each(|rows| rows.sort());
    out
}

#[test]
fn every_line_holds_what_its_reader_saw() {
    for name in ["shapes", "hosts", "python"] {
        let (truth, scan) = (marked(name), scanned(name));
        assert!(truth.len() > 5, "{name} has markers");
        let found = found(&scan);
        for (line, rows) in &truth {
            assert_eq!(found.get(line), Some(rows), "{name}/{line}");
        }
        for line in found.keys() {
            assert!(truth.contains_key(line), "{name}/{line} holds nothing, found {:?}", found[line]);
        }
    }
}

#[test]
fn the_worked_example_is_read_as_written() {
    let scan = scanned("worked");
    assert_eq!(scan.files.len(), 1);
    assert_eq!(scan.programming_model(), Some(ProgrammingModel::Hip));
    assert_eq!((scan.counts.kernels, scan.counts.definitions, scan.counts.launches), (2, 2, 2));
    let gemm = &scan.kernels[0];
    assert_eq!(
        (&*gemm.qualified_name, gemm.site.line, gemm.site.column, gemm.template),
        ("ops::gemm", 5, 43, true)
    );
    let bounds = gemm.launch_bounds.as_ref().unwrap();
    assert_eq!(
        (&bounds.max_threads, &bounds.min_waves_per_simd),
        (&Bound::Value(256), &Some(Bound::Value(2)))
    );
    assert_eq!(scan.kernels[1].site.line, 10);
    let launches: Vec<_> = scan
        .launches
        .iter()
        .map(|l| (l.site.line, l.launch_type.id(), l.stream.id(), l.loop_context.id()))
        .collect();
    assert_eq!(
        launches,
        [(15, "TRIPLE_ANGLE_LAUNCH", "explicit", "direct"), (16, "HIP_KERNEL_LAUNCH", "explicit", "direct")]
    );
    assert_eq!(scan.launches[0].in_function.as_deref(), Some("step"));
    let patterns: Vec<_> = scan
        .patterns
        .iter()
        .map(|p| (p.id.id(), p.count, p.in_loop_count, p.locations().join(" "), p.recommend))
        .collect();
    assert_eq!(
        patterns,
        [
            ("memcpy_sync", 2, 1, "step.hip:14 step.hip:19".to_owned(), true),
            ("device_sync", 1, 1, "step.hip:17".to_owned(), true)
        ]
    );
    assert_eq!(scan.patterns[0].description, "2 blocking copies, 1 of them in a loop");
    assert_eq!(scan.patterns[0].severity, PatternSeverity::Medium);
    let plan = scan.plan_inputs();
    assert!(plan.lds && plan.matrix && plan.any_kernel && plan.native_kernel);
    assert!(!plan.atomics && !plan.rccl && !plan.mpi && !plan.python_framework);
}

#[test]
fn trace_names_find_their_source() {
    let scan = scanned("worked");
    let places = |name: &str| -> Vec<(String, RowKind, MatchKind)> {
        scan.locate(name).into_iter().map(|l| (l.site.to_string(), l.kind, l.matched)).collect()
    };
    let both = |first: &str, second: &str, matched| {
        vec![(first.to_owned(), RowKind::Definition, matched), (second.to_owned(), RowKind::Launch, matched)]
    };
    let gemm = |matched| both("step.hip:5", "step.hip:15", matched);
    let relu = both("step.hip:10", "step.hip:16", MatchKind::Exact);
    assert_eq!(
        places("void ops::gemm<float, 16>(float const*, float const*, float*, int)"),
        gemm(MatchKind::Exact)
    );
    assert_eq!(places("void gemm<float>(float*)"), gemm(MatchKind::BaseName));
    for suffix in ["", ".kd", " [clone .kd]", ".llvm.42", ".__uniq.77", ".__uniq.77.llvm.42 [clone .kd]"] {
        assert_eq!(places(&format!("_Z4reluPfi{suffix}")), relu, "{suffix}");
        assert_eq!(places(&format!("relu(float*, int){suffix}")), relu, "{suffix}");
    }
    assert_eq!(places("(anonymous namespace)::k(int)"), []);
    assert_eq!(places("Relu(float*)"), []);
    assert_eq!(places(""), []);

    let python = scanned("python");
    let triton = python.locate("add_kernel_0d1d2de3");
    assert_eq!(
        triton.iter().map(|l| l.site.to_string()).collect::<Vec<_>>(),
        ["kernels.py:9", "train.py:11"]
    );

    let shapes = scanned("shapes");
    assert!(
        shapes
            .locate("a::b::v1::(anonymous namespace)::hidden(int)")
            .iter()
            .all(|l| l.matched == MatchKind::Exact)
    );
    assert_eq!(shapes.locate("_ZN1a1b2v112_GLOBAL__N_16hiddenEi").len(), 1);
    let elsewhere = shapes.locate("void other::elsewhere(int)");
    assert_eq!(elsewhere.len(), 1);
    assert_eq!((elsewhere[0].kind, elsewhere[0].matched), (RowKind::Launch, MatchKind::Exact));
    let overloads = shapes.locate("templated<float>(float*)");
    assert_eq!(overloads.iter().filter(|l| l.kind == RowKind::Definition).count(), 2);
}

#[test]
fn kernels_carry_their_names_bounds_and_loops() {
    let scan = scanned("shapes");
    let kernel =
        |name: &str| scan.kernels.iter().find(|k| *k.name == *name && k.kind == RowKind::Definition).unwrap();
    assert_eq!(&*kernel("hidden").qualified_name, "a::b::v1::(anonymous namespace)::hidden");
    assert_eq!(&*kernel("inside").qualified_name, "a::b::v1::Holder::inside");
    let declared =
        scan.kernels.iter().find(|k| *k.name == *"inside" && k.kind == RowKind::Declaration).unwrap();
    assert_eq!(&*declared.qualified_name, "a::b::v1::Holder::inside");
    for (name, threads) in [
        ("bounds_first", Bound::Value(64)),
        ("bounds_outside", Bound::Value(64)),
        ("name_alone", Bound::Expression("BLOCK * 2".into())),
    ] {
        assert_eq!(kernel(name).launch_bounds.as_ref().unwrap().max_threads, threads, "{name}");
    }
    assert!(kernel("templated").template && !kernel("after_macro").template);
    let loops: Vec<_> =
        kernel("uses").loops.iter().map(|l| (l.line, l.depth, l.trip_count, l.has_unroll_pragma)).collect();
    assert_eq!(loops, [(63, 0, Some(8), true), (64, 1, Some(32), false), (66, 0, None, false)]);
    let features = scan.features;
    assert_eq!(
        (features.lds_arrays, features.atomics, features.launch_bounds, features.unroll_pragmas),
        (1, 1, 3, 1)
    );
    // helper's result and parameter, templated<double> with its parameter, one_body, uses with its LDS.
    assert_eq!(features.double_precision, 7);
}

#[test]
fn trees_say_what_they_are_built_on() {
    let hosts = scanned("hosts");
    let libraries: Vec<Library> = hosts.libraries.iter().map(|usage| usage.what).collect();
    assert_eq!(libraries, [Library::Rccl, Library::Mpi]);
    assert_eq!(hosts.libraries[0].first.to_string(), "loops.cpp:3");
    // Two OpenCL definitions and a launch; one CUDA definition and a launch.
    assert_eq!(hosts.models, [(ProgrammingModel::OpenCl, 3), (ProgrammingModel::Cuda, 2)]);
    assert_eq!((hosts.counts.async_copies, hosts.counts.stream_creates, hosts.counts.markers), (2, 2, 3));
    // `old`, `scale` and `bare`; the handle of the OpenCL launch is no name.
    assert_eq!((hosts.counts.kernels, hosts.counts.declarations), (3, 1));
    let python = scanned("python");
    let frameworks: Vec<Framework> = python.frameworks.iter().map(|usage| usage.what).collect();
    assert_eq!(frameworks, [Framework::PyTorch, Framework::Triton, Framework::Numba]);
    assert_eq!(python.models, [(ProgrammingModel::Triton, 4), (ProgrammingModel::Numba, 3)]);
    let plan = python.plan_inputs();
    assert!(plan.python_framework && plan.any_kernel && !plan.native_kernel && plan.atomics);
}

#[test]
fn the_default_stream_is_advised_on_only_when_nothing_uses_another() {
    let pattern = |scan: &Scan| scan.patterns.iter().find(|p| p.id == PatternId::DefaultStream).cloned();
    assert!(!pattern(&scanned("shapes")).unwrap().recommend);
    assert!(pattern(&scanned("worked")).is_none());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.hip");
    let all_default = |text: &str| {
        std::fs::write(&file, text).unwrap();
        pattern(&scan(folder.path(), &ScanOptions::default()).unwrap()).unwrap().recommend
    };
    assert!(!all_default("void f() { k<<<1, 1>>>(); }"), "nothing to overlap with");
    assert!(all_default("void f() { k<<<1, 1>>>(); k<<<1, 1>>>(); }"));
    assert!(all_default("void f() { hipMemcpy(a, b, 4, c); k<<<1, 1>>>(); }"));
    assert!(!all_default("void f() { k<<<1, 1, 0, s>>>(); k<<<1, 1>>>(); }"));
}
