//! Scans of broken, hostile and oddly encoded trees.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::time::{Duration, Instant};

use perfxpert_source::{RowKind, Scan, ScanError, ScanOptions, SkipReason, scan};
use proptest::prelude::*;

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

fn scanned(path: &Path) -> Scan {
    scan(path, &ScanOptions::default()).unwrap()
}

fn places(files: &[(&str, &[u8])]) -> Vec<(String, u32, u32)> {
    let folder = folder(files);
    scanned(folder.path()).kernels.iter().map(|k| (k.name.to_string(), k.site.line, k.site.column)).collect()
}

#[test]
fn lines_are_exact_whatever_the_line_ends() {
    let at = |name: &str, line, column| (name.to_owned(), line, column);
    assert_eq!(places(&[("a.hip", b"__global__ void first(int n) {}")]), [at("first", 1, 17)]);
    assert_eq!(places(&[("a.hip", b"\xef\xbb\xbf__global__ void bom(int n) {}")]), [at("bom", 1, 17)]);
    assert_eq!(places(&[("a.hip", b"\n\n__global__ void last(int n) {}")]), [at("last", 3, 17)]);
    assert_eq!(
        places(&[("a.hip", b"// one\r\n/* two\r\nthree */\r\n__global__ void crlf(int n) {}\r\n")]),
        [at("crlf", 4, 17)]
    );
    assert_eq!(
        places(&[("a.hip", b"#define M(x) \\\r\n  x + \\\r\n  x\r\n__global__ void macro(int n) {}")]),
        [at("macro", 4, 17)]
    );
    // A lone carriage return ends no line.
    assert_eq!(places(&[("a.hip", b"int a;\r__global__ void cr(int n) {}")]), [at("cr", 1, 24)]);
    // Columns count characters; invalid bytes are one replacement character each.
    assert_eq!(
        places(&[("a.hip", "/* é */ __global__ void wide(int n) {}".as_bytes())]),
        [at("wide", 1, 25)]
    );
    assert_eq!(places(&[("a.hip", b"/* \xff\xfe */ __global__ void bad(int n) {}")]), [at("bad", 1, 26)]);
    assert_eq!(
        places(&[("a.py", b"import triton\r\n@triton.jit\r\ndef kernel(x):\r\n    pass")]),
        [at("kernel", 3, 5)]
    );
}

#[test]
fn folders_of_builds_and_dependencies_are_left_out() {
    let kernel = |name: &str| format!("__global__ void {name}() {{}}");
    let names = [
        "src/a.hip",
        "build/b.hip",
        "build-x/b.hip",
        "cmake-build-debug/b.hip",
        ".git/b.hip",
        "third_party/b.hip",
        "sub/target/b.hip",
        "venv/pyvenv.cfg",
        "venv/b.hip",
        "builder/a.hip",
        "a.HIP",
        "a.txt",
        ".hidden.hip",
        "a-b/a.hip",
        "a/a.hip",
    ];
    let texts: Vec<String> = names.iter().map(|_| kernel("k")).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (*name, text.as_bytes())).collect();
    let folder = folder(&files);
    let scan = scanned(folder.path());
    let files: Vec<&str> = scan.files.iter().map(|file| &**file).collect();
    // Bytewise: `-` sorts before `/`, capitals before small letters.
    assert_eq!(files, [".hidden.hip", "a-b/a.hip", "a.HIP", "a/a.hip", "builder/a.hip", "src/a.hip"]);
    assert_eq!(scan.skipped_total(), 0);
    assert_eq!((scan.counts.definitions, scan.counts.kernels), (6, 1));
    // The folder that was asked for is read whatever it is called.
    assert_eq!(scanned(&folder.path().join("build")).files.len(), 1);
}

#[test]
fn what_is_not_read_is_counted_by_reason() {
    let text = b"__global__ void k() {}";
    let big = vec![b' '; 200];
    let folder =
        folder(&[("a.hip", text), ("b.hip", b"k\0k"), ("c.hip", &big), ("d.hip", text), ("e.hip", text)]);
    let options = ScanOptions { max_files: 3, max_file_bytes: 100, ..ScanOptions::default() };
    let scan = scan(folder.path(), &options).unwrap();
    let skipped: Vec<_> = scan.skipped.iter().map(|s| (&*s.file, s.reason)).collect();
    assert_eq!(
        skipped,
        [("b.hip", SkipReason::Binary), ("c.hip", SkipReason::TooLarge), ("e.hip", SkipReason::TooMany)]
    );
    assert_eq!(scan.files.len(), 2);
    assert_eq!(scan.skipped_by_reason.get(&SkipReason::TooLarge), Some(&1));
    let total = ScanOptions { max_total_bytes: 30, ..ScanOptions::default() };
    let scan = perfxpert_source::scan(folder.path(), &total).unwrap();
    assert_eq!(scan.files.len(), 1, "only the first file fits");
    let no_time = ScanOptions { parse_time: Duration::ZERO, ..ScanOptions::default() };
    let slow = tempfile::tempdir().unwrap();
    std::fs::write(slow.path().join("a.hip"), "__global__ void k() { a = b; }\n".repeat(5000)).unwrap();
    let scan = perfxpert_source::scan(slow.path(), &no_time).unwrap();
    assert_eq!(scan.skipped_by_reason.get(&SkipReason::ParseTimeout), Some(&1));
}

#[test]
fn a_file_of_fifty_megabytes_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::File::create(folder.path().join("big.cpp")).unwrap().set_len(50 << 20).unwrap();
    let start = Instant::now();
    let scan = scanned(folder.path());
    assert_eq!(scan.skipped_by_reason.get(&SkipReason::TooLarge), Some(&1));
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let outside = folder(&[("secret.hip", b"__global__ void k() {}")]);
    let inside = folder(&[("a.hip", b"__global__ void a() {}")]);
    std::os::unix::fs::symlink(outside.path(), inside.path().join("linked")).unwrap();
    std::os::unix::fs::symlink(inside.path(), inside.path().join("loop")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.hip"), inside.path().join("linked.hip")).unwrap();
    let scan = scanned(inside.path());
    assert_eq!((scan.files.len(), scan.links_ignored), (1, 3));
}

#[test]
fn wrong_roots_are_errors() {
    let folder = folder(&[("a.hip", b"")]);
    let ask = |path: &Path| scan(path, &ScanOptions::default());
    assert!(matches!(ask(&folder.path().join("missing")), Err(ScanError::NotFound(_))));
    assert!(matches!(ask(&folder.path().join("a.hip")), Err(ScanError::NotAFolder(_))));
}

#[test]
fn an_empty_tree_has_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let scan = scanned(folder.path());
    assert_eq!(scan.programming_model(), None);
    assert!(scan.kernels.is_empty() && scan.patterns.is_empty() && scan.files.is_empty());
}

/// Each repeats what could make a pass quadratic; the bar is what a debug build on a loaded machine still reaches.
#[test]
fn hostile_files_end_in_bounded_time() {
    let size = 100_000;
    let options = ScanOptions { parse_time: Duration::from_secs(2), ..ScanOptions::default() };
    let fill = |text: &str| text.repeat(size / text.len());
    let trigger = "__global__ void k() {}\n";
    let hostile = [
        fill("{"),
        fill("("),
        fill("<"),
        fill("<<<"),
        fill("a<"),
        fill("k<<<1,1>>>();\n"),
        fill("hipMalloc(p);"),
        fill("for(;;)"),
        fill("namespace a{"),
        fill("class a{"),
        fill("class a "),
        fill("#if A\n{\n#else\n"),
        fill("#if 0\n"),
        fill("R\"("),
        fill("/*"),
        fill("\""),
        fill("\\\n"),
        fill("__global__ "),
        fill("__global__ void k("),
        fill("__device__ "),
        fill("a::"),
        fill("template<"),
        fill("do "),
        fill("k<<<1,"),
        fill("if(a)for(;;)"),
        fill("[&]{"),
        fill("'"),
    ];
    for text in hostile {
        let folder = folder(&[("a.hip", format!("{trigger}{text}").as_bytes())]);
        let start = Instant::now();
        let scan = scan(folder.path(), &options).unwrap();
        assert!(scan.counts.definitions >= 1 || scan.skipped_total() == 1, "{:.20}", text);
        assert!(start.elapsed() < Duration::from_secs(20), "{:.20} took {:?}", text, start.elapsed());
    }
    let python = [
        fill("("),
        fill("["),
        fill("x.y."),
        fill("a[b](c)."),
        fill("for x in y:\n "),
        fill("'''"),
        fill("\\\n"),
        fill("@"),
        fill("def f():\n "),
        fill("f("),
    ];
    for text in python {
        let folder = folder(&[("a.py", text.as_bytes())]);
        let start = Instant::now();
        scan(folder.path(), &options).unwrap();
        assert!(start.elapsed() < Duration::from_secs(20), "{:.20} took {:?}", text, start.elapsed());
    }
}

#[test]
fn a_table_of_numbers_does_not_hide_the_kernel_beside_it() {
    let table = format!("const int t[] = {{{}}};\n", "1,".repeat(320_000));
    let text = format!("{table}__global__ void k() {{}}\nvoid f() {{ for (;;) {{ k<<<1, 1>>>(); }} }}\n");
    let folder = folder(&[("a.hip", text.as_bytes())]);
    let scan = scanned(folder.path());
    assert_eq!((scan.counts.definitions, scan.counts.launches), (1, 1));
    assert_eq!(scan.launches[0].loop_context, perfxpert_source::LoopContext::Direct);
    assert_eq!(scan.launches[0].site.line, 3);
}

#[test]
fn counts_stay_exact_where_lists_are_cut() {
    let text = format!("void f() {{\n{}}}\n", "k<<<1, 1>>>(); hipDeviceSynchronize();\n".repeat(2_500));
    let folder = folder(&[("a.hip", text.as_bytes())]);
    let scan = scanned(folder.path());
    assert_eq!(
        (scan.counts.launches, scan.launches.len()),
        (2_500, perfxpert_source::limits::MAX_ROWS_PER_FILE)
    );
    assert!(
        scan.patterns
            .iter()
            .all(|p| p.count == 2_500 && p.occurrences.len() == perfxpert_source::limits::MAX_OCCURRENCES)
    );
    let long_line = format!("void f() {{ {} }}", "k<<<1, 1>>>(); ".repeat(60_000));
    std::fs::write(folder.path().join("a.hip"), long_line).unwrap();
    let scan = scanned(folder.path());
    // 11 characters stand before the first launch, each takes 15.
    let columns: Vec<u32> = scan.launches.iter().take(3).map(|l| l.site.column).collect();
    assert_eq!((scan.counts.launches, columns), (60_000, vec![12, 27, 42]));
}

#[test]
fn the_same_tree_gives_the_same_scan() {
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees");
    let first = format!("{:?}", scanned(&trees).launches);
    for _ in 0..5 {
        assert_eq!(format!("{:?}", scanned(&trees).launches), first);
    }
}

/// Pieces that steer random text into the corners of the scanner.
fn code_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "__global__ ",
        "void ",
        "k",
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        "<<<",
        ">>>",
        ";",
        ",",
        "\n",
        "\r\n",
        "#if 0\n",
        "#if A\n",
        "#else\n",
        "#endif\n",
        "#define X \\\n",
        "\"",
        "'",
        "R\"(",
        ")\"",
        "//",
        "/*",
        "*/",
        "for(",
        "while(",
        "do ",
        "hipMemcpy(",
        "hipLaunchKernelGGL(",
        "template<",
        "::",
        "namespace ",
        "class ",
        "__launch_bounds__(",
        "é",
        "\u{0}",
        "1'0",
        "@triton.jit\n",
        "def f(x):\n    ",
        "import torch\n",
        "f[1](",
        ".item()",
    ]);
    prop::collection::vec(pieces, 0..120).prop_map(|pieces| pieces.concat())
}

fn check_lines(scan: &Scan, bytes: &[u8]) {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    let sites = scan.kernels.iter().map(|k| &k.site).chain(scan.launches.iter().map(|l| &l.site));
    for site in sites.chain(scan.patterns.iter().flat_map(|p| p.occurrences.iter().map(|o| &o.site))) {
        assert!(site.line >= 1 && site.line <= lines && site.column >= 1, "{site}");
    }
    for kernel in scan.kernels.iter().filter(|k| k.kind == RowKind::Definition) {
        assert!(!kernel.name.is_empty());
        assert!(!scan.locate(&kernel.qualified_name).is_empty(), "{}", kernel.qualified_name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        for name in ["a.hip", "a.py", "a.cl"] {
            let folder = folder(&[(name, &bytes)]);
            check_lines(&scanned(folder.path()), &bytes);
        }
    }

    #[test]
    fn random_code_never_panics(text in code_like()) {
        for name in ["a.hip", "a.py", "a.cl"] {
            let folder = folder(&[(name, text.as_bytes())]);
            check_lines(&scanned(folder.path()), text.as_bytes());
        }
    }
}
