//! Scans of the fixture trees against the truth their author wrote beside them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;

use perfxpert_fixtures::sources::{SourceTruth, TREES, path, truth};
use perfxpert_source::{Bound, LaunchBounds, Scan, ScanOptions, scan};

fn bounds(bounds: &LaunchBounds) -> serde_json::Value {
    let value = |bound: &Bound| match bound {
        Bound::Value(value) => serde_json::json!(value),
        Bound::Expression(text) => serde_json::json!(text),
    };
    serde_json::json!({
        "max_threads": value(&bounds.max_threads),
        "min_waves_per_simd": bounds.min_waves_per_simd.as_ref().map(value),
    })
}

fn check_kernels(tree: &str, scan: &Scan, truth: &SourceTruth) {
    let mut rows: Vec<String> = scan
        .kernels
        .iter()
        .map(|k| {
            let bounds = k.launch_bounds.as_ref().map(bounds).unwrap_or_default();
            format!(
                "{} {} {} {} {} {} {bounds}",
                k.site,
                k.kind.id(),
                k.name,
                k.qualified_name,
                k.launch_type.id(),
                k.template
            )
        })
        .collect();
    rows.extend(scan.launches.iter().map(|l| {
        let (name, qualified) = (&l.name, &l.qualified_name);
        let stream = (l.stream.id(), l.loop_context.id());
        format!(
            "{} launch {name} {qualified} {} {} {} {}",
            l.site,
            l.launch_type.id(),
            stream.0,
            stream.1,
            l.name_known
        )
    }));
    rows.sort();
    let mut expected: Vec<String> = truth
        .kernels
        .iter()
        .map(|k| {
            let place =
                format!("{}:{} {} {} {} {}", k.file, k.line, k.kind, k.name, k.qualified_name, k.launch_type);
            if k.kind != "launch" {
                return format!("{place} {} {}", k.template, k.launch_bounds.clone().unwrap_or_default());
            }
            // What the tree does not decide is taken as scanned.
            let at = format!("{}:{}", k.file, k.line);
            let scanned =
                scan.launches.iter().find(|l| l.site.to_string() == at).expect("a launch on that line");
            let stream = k.stream.as_deref().unwrap_or(scanned.stream.id());
            let within = k.within_loop.as_deref().unwrap_or(scanned.loop_context.id());
            format!("{place} {stream} {within} {}", k.name_known)
        })
        .collect();
    expected.sort();
    assert_eq!(rows, expected, "{tree}");
}

#[test]
fn every_tree_is_read_as_its_author_wrote_it() {
    for tree in TREES.into_iter().chain(["demo"]) {
        let truth = truth(tree).unwrap();
        let folder = if tree == "demo" { perfxpert_fixtures::demo::source_folder() } else { path(tree) };
        let scan = scan(&folder, &ScanOptions::default()).unwrap();
        let model = scan.programming_model().map_or("Unknown", |model| model.name());
        assert_eq!(model, truth.programming_model, "{tree}");
        assert_eq!(scan.files.len() as u32, truth.files_scanned, "{tree}");
        let counts = [
            scan.counts.definitions,
            scan.counts.launches,
            scan.counts.declarations,
            scan.counts.async_copies,
        ];
        let expected =
            [truth.definition_count, truth.launch_count, truth.declaration_count, truth.async_copy_count];
        assert_eq!(counts, expected.map(u64::from), "{tree}");
        check_kernels(tree, &scan, &truth);
        let ids: BTreeSet<&str> = scan.patterns.iter().map(|pattern| pattern.id.id()).collect();
        let expected: BTreeSet<&str> =
            truth.patterns.iter().map(|pattern| pattern.pattern_id.as_str()).collect();
        assert_eq!(ids, expected, "{tree}");
        for (pattern, expected) in scan
            .patterns
            .iter()
            .flat_map(|p| truth.patterns.iter().filter(|t| t.pattern_id == p.id.id()).map(move |t| (p, t)))
        {
            assert_eq!(pattern.count, u64::from(expected.count), "{tree} {}", expected.pattern_id);
            if let Some(in_loop) = expected.in_loop_count {
                assert_eq!(pattern.in_loop_count, u64::from(in_loop), "{tree} {}", expected.pattern_id);
            }
            let places: BTreeSet<String> = pattern.locations().into_iter().collect();
            assert_eq!(
                places,
                expected.locations.iter().cloned().collect(),
                "{tree} {}",
                expected.pattern_id
            );
        }
        let frameworks: Vec<&str> = scan.frameworks.iter().map(|usage| usage.what.name()).collect();
        assert_eq!(frameworks, truth.frameworks, "{tree}");
        let libraries: Vec<&str> = scan.libraries.iter().map(|usage| usage.what.name()).collect();
        assert_eq!(libraries, truth.libraries, "{tree}");
        for absent in &truth.absent {
            assert!(scan.kernels.iter().all(|k| *k.name != **absent), "{tree}: {absent} is no kernel");
            assert!(
                scan.launches.iter().all(|l| !l.name_known || *l.name != **absent),
                "{tree}: {absent} is not launched"
            );
        }
    }
}
