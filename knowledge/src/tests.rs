//! Every embedded file decodes, and nothing without a source gets in.

use crate::{
    FactError, api, arch, att, clients, collect, commands, compiler, counters, document, fact, formulas,
    intent, interconnect, kernels, thresholds,
};

// An accessor panics when its file is malformed, so calling it is the check.
type Decode = fn();
fn read<T>(_: &T) {}
const TABLES: &[(&str, Decode)] = &[
    ("api/families", || read(&api::families())),
    ("api/blocking", || read(&api::blocking())),
    ("att/stall_reasons", || read(&att::stall_reasons())),
    ("att/waits", || read(&att::waits())),
    ("att/categories", || read(&att::categories())),
    ("collect/amd_smi", || read(&commands::tables())),
    ("collect/rocprof_compute", || read(&commands::tables())),
    ("collect/rocprof_sys", || read(&commands::tables())),
    ("collect/perfxpert", || read(&commands::tables())),
    ("collect/counter_sets", || read(&collect::counter_sets())),
    ("collect/environment", || read(&collect::environment())),
    ("collect/goals", || read(&collect::goals())),
    ("collect/implied", || read(&collect::implied())),
    ("collect/rocprofv3_options", || read(&collect::rocprofv3_options())),
    ("collect/source_scan", || read(&collect::source_counters())),
    ("collect/steps", || read(&collect::steps())),
    ("collect/workflow", || read(&collect::workflow())),
    ("compiler/flags", || read(&compiler::flags())),
    ("compiler/pragmas", || read(&compiler::pragmas())),
    ("compiler/vocabulary", || read(&compiler::vocabulary())),
    ("counters/raw", || read(&counters::raw())),
    ("counters/derived", || read(&counters::derived())),
    ("counters/limits", || read(&counters::Column::Gfx942.limit("SQ"))),
    ("counters/aliases", || read(&counters::aliases())),
    ("counters/equivalents", || read(&counters::equivalents())),
    ("counters/caveats", || read(&counters::caveats("SQ_WAVES", None))),
    ("metrics/formulas", || read(&formulas::all())),
    ("intent/rules", || read(&intent::matching(""))),
    ("interconnect/links", || read(&interconnect::all())),
    ("llm/models", || read(&clients::default_models())),
    ("mcp/injected_arguments", || read(&clients::injected_arguments())),
];

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
            _ => {
                let decode = TABLES.iter().find(|(known, _)| *known == file);
                decode.unwrap_or_else(|| panic!("no accessor decodes {file}")).1();
                Ok(())
            }
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
