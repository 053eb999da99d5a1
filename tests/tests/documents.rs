//! Documents stay true: generated pages match the registry, paths exist, counts agree, commands parse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;

use perfxpert_tests::{files, reference, workspace};
use perfxpert_tool_registry::{Class, Registry};

fn documents() -> Vec<(PathBuf, String)> {
    let root = workspace();
    let mut found = vec![root.join("README.md")];
    found.extend(files(&root.join("docs"), &[".md"]));
    assert!(found.len() > 5, "the documents were not found");
    found.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn the_tool_reference_is_the_registry() {
    let written = std::fs::read_to_string(workspace().join("docs/tools.md")).unwrap();
    assert!(
        written == reference::page(),
        "docs/tools.md differs from the registry; run: cargo run --package perfxpert-tests --bin reference"
    );
}

#[test]
fn links_lead_to_files_that_exist() {
    let mut checked = 0;
    for (path, text) in documents() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.starts_with("http") || target.starts_with('#') || target.contains(' ') {
                continue;
            }
            let file = target.split('#').next().unwrap();
            assert!(
                path.parent().unwrap().join(file).exists(),
                "{}: {target} does not exist",
                path.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 5, "no link was checked");
}

#[test]
fn every_number_of_tools_in_the_documents_is_the_counted_one() {
    let registry = Registry::new();
    let agents = registry.tools().filter(|tool| tool.class == Class::Agent).count();
    let mut seen = 0;
    for (path, text) in documents() {
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            let noun = pair[1].trim_matches(|letter: char| !letter.is_alphanumeric());
            let Ok(number) = pair[0].trim_matches(|letter: char| !letter.is_alphanumeric()).parse::<usize>()
            else {
                continue;
            };
            let expected = match noun {
                "tools" if number > 20 && number != registry.len() - agents - 1 => registry.len(),
                "agents" => agents,
                _ => continue,
            };
            assert_eq!(number, expected, "{}: \"{} {}\"", path.display(), pair[0], pair[1]);
            seen += 1;
        }
    }
    assert!(seen >= 2, "no count was checked");
}

#[test]
fn documents_speak_of_the_product_alone() {
    for (path, text) in documents() {
        for word in ["/home/", "/root/", "localhost:", "TODO", "FIXME"] {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}
