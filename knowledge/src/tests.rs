//! Every embedded file decodes, and nothing without a source gets in.

use crate::{FactError, arch, document, fact, kernels, thresholds};

#[test]
fn a_file_without_source_or_confidence_is_refused() {
    let parse = |text: &str| document::parse::<serde_yaml::Value>("x", text).map(|_| ());
    assert_eq!(parse("confidence: verified\nfacts: {}"), Err(FactError::NoSource { file: "x".into() }));
    assert_eq!(
        parse("source: ' '\nconfidence: verified\nfacts: {}"),
        Err(FactError::NoSource { file: "x".into() })
    );
    assert_eq!(parse("source: a\nfacts: {}"), Err(FactError::NoConfidence { file: "x".into() }));
    assert!(matches!(parse("source: a\nconfidence: sure\nfacts: {}"), Err(FactError::Malformed { .. })));
    assert!(matches!(
        parse("source: a\nconfidence: verified\nfacts: {}\nfact: 1"),
        Err(FactError::Malformed { .. })
    ));
    assert_eq!(parse("source: a\nconfidence: verified\nfacts: {}"), Ok(()));
}

#[test]
fn every_file_of_the_folder_is_decoded_by_its_accessor() {
    for file in document::files() {
        let (folder, name) = file.split_once('/').expect("facts live in folders");
        let decoded = match folder {
            "arch" => arch::load(name).map(|_| ()),
            "kernels" => kernels::load().map(|_| ()),
            "thresholds" => thresholds::load(name),
            _ => panic!("no accessor decodes {file}"),
        };
        assert_eq!(decoded, Ok(()), "{file}");
        fact(&file).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn the_folder_and_the_known_architectures_agree() {
    let on_disk: Vec<_> =
        document::files().iter().filter_map(|file| file.strip_prefix("arch/").map(str::to_owned)).collect();
    assert_eq!(on_disk, arch::KNOWN);
    for gpu in arch::all() {
        assert_eq!(gpu.skus.iter().filter(|sku| sku.default).count(), 1, "{}", gpu.gfx_id);
    }
}

#[test]
fn each_threshold_file_is_one_namespace() {
    let on_disk: Vec<_> = document::files()
        .iter()
        .filter_map(|file| file.strip_prefix("thresholds/").map(str::to_owned))
        .collect();
    let mut declared: Vec<_> = thresholds::NAMESPACES.iter().map(|(name, _)| (*name).to_owned()).collect();
    declared.push("bottleneck".to_owned());
    declared.sort();
    assert_eq!(on_disk, declared);
}
