//! What is left of a file after masking, written by hand.

use super::*;

fn code(source: &str) -> String {
    let masked = mask(source);
    assert_eq!(masked.code.len(), source.len());
    String::from_utf8(masked.code).unwrap()
}

#[test]
fn comments_and_literals_vanish_and_offsets_stay() {
    let truth: [(&str, &[&str]); 9] = [
        ("a /* b */ c // d\ne", &["a", "c", "e"]),
        ("f(\"x(y)\");", &["f(\"\"", ");"]),
        ("c = '\"'; d", &["c", "=", "0", ";", "d"]),
        ("n = 1'000'000; x", &["n", "=", "1'000'000;", "x"]),
        ("r = R\"(a\n\")b)\" ;", &["r", "=", "\"\"", ";"]),
        ("r = u8R\"xy(a)\" )xy\" ;", &["r", "=", "\"\"", ";"]),
        ("// joined \\\nstill comment\nx", &["x"]),
        ("\"joined \\\nstill text\" x", &["\"\"", "x"]),
        ("/* open", &[]),
    ];
    for (source, words) in truth {
        let left = code(source);
        assert_eq!(left.split_whitespace().collect::<Vec<_>>(), words, "{source}");
        assert_eq!(left.matches('\n').count(), source.matches('\n').count(), "{source}");
    }
}

#[test]
fn preprocessor_lines_vanish() {
    assert_eq!(code("#define K(a) \\\n  k<<<1, 1>>>(a)\nx").trim(), "x");
    assert_eq!(code("#if 0\nhipMemcpy(a)\n#else\ny\n#endif\n").trim(), "y");
    assert_eq!(code("#if 0\n#ifdef A\nq\n#else\nr\n#endif\n#endif\nz").trim(), "z");
    assert_eq!(code("#if 0\nnever").trim(), "");
    let live = code("#ifdef A\na\n#elif B\nb\n#else\nc\n#endif\n");
    assert_eq!(live.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(code("#if 0 // it's off\nit's\n#endif\nk").trim(), "k");
}

#[test]
fn directives_are_logical_lines() {
    let masked = mask(
        "  # include <hip/hip_runtime.h> // x\n#pragma \\\r\n unroll 4\n#if 0\n#include <mpi.h>\n#endif\n",
    );
    let texts: Vec<&str> = masked.directives.iter().map(|d| d.text.as_str()).collect();
    assert_eq!(texts.first(), Some(&"include <hip/hip_runtime.h>"));
    assert!(texts.get(1).is_some_and(|t| t.split_whitespace().eq(["pragma", "unroll", "4"])));
    assert!(!texts.iter().any(|t| t.contains("mpi.h")));
}

#[test]
fn repeated_braces_of_branches_do_not_nest() {
    let source = "#ifdef A\nvoid f(int) {\n#else\nvoid f(float) {\n#endif\n}\n";
    let second = source.rfind('{').unwrap();
    assert_eq!(mask(source).ghosts, [second]);
    assert!(mask("#ifdef A\nif (x) {\n#endif\ny;\n#ifdef A\n}\n#endif\n").ghosts.is_empty());
}
