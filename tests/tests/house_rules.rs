//! Rules that a reader relies on: opening sentences, file sizes, names, and words that do not belong into the sources.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use perfxpert_tests::{files, workspace};

/// Longest source file outside tests.
const LONGEST: usize = 800;

fn sources() -> Vec<(String, String)> {
    let root = workspace();
    let found: Vec<_> = files(&root, &[".rs"])
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    assert!(found.len() > 100, "the sources were not read");
    found
}

fn is_test(name: &str) -> bool {
    name.contains("/tests/")
        || name.starts_with("tests/")
        || name.ends_with("/tests.rs")
        || name.contains("/benches/")
}

#[test]
fn every_file_opens_with_one_sentence() {
    let bad: Vec<String> =
        sources().into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|(name, _)| name).collect();
    assert_eq!(bad, Vec::<String>::new(), "these files do not open with a //! sentence");
}

#[test]
fn files_stay_small_and_have_telling_names() {
    for (name, text) in sources() {
        let stem = name.rsplit('/').next().unwrap().trim_end_matches(".rs");
        assert!(
            !["utils", "util", "helpers", "helper", "common", "misc", "manager"].contains(&stem),
            "{name} has a name that says nothing"
        );
        assert!(is_test(&name) || text.lines().count() <= LONGEST, "{name} has more than {LONGEST} lines");
    }
}

#[test]
fn nothing_is_left_unfinished_or_switched_off() {
    let unfinished = ["todo", "unimplemented"].map(|word| format!("{word}!("));
    let ignored = format!("#[{}", "ignore]");
    for (name, text) in sources() {
        for mark in &unfinished {
            assert!(!text.contains(mark.as_str()), "{name} contains {mark}");
        }
        assert!(!text.contains(&ignored), "{name} ignores a test without a reason");
    }
}
