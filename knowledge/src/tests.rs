//! Every embedded file decodes, and nothing without a source gets in.

use crate::{
    FactError, api, arch, att, clients, collect, commands, compiler, counters, document, fact, formulas,
    fusion, impact, intent, interconnect, kernels, rules, techniques, thresholds,
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
    ("kernels/dtypes", || read(&kernels::dtype_words())),
    ("counters/never_zero", || read(&counters::never_zero())),
    ("counters/caveats", || read(&counters::caveats("SQ_WAVES", None))),
    ("metrics/formulas", || read(&formulas::all())),
    ("attention/patterns", || read(&fusion::attention())),
    ("fusion/patterns", || read(&fusion::patterns())),
    ("impact/models", || read(&impact::models())),
    ("rules/catalogue", || read(&rules::all())),
    ("techniques/catalogue", || read(&techniques::all())),
    ("techniques/metrics", || read(&techniques::metrics())),
    ("techniques/models", || read(&thresholds::models())),
    ("techniques/ranking", || read(&thresholds::ranking())),
    ("code/clients", || read(&clients::coding_clients())),
    ("code/launchers", || read(&clients::launchers())),
    ("code/writable", || read(&clients::writable())),
    ("intent/rules", || read(&intent::matching(""))),
    ("interconnect/links", || read(&interconnect::all())),
    ("llm/models", || read(&clients::default_models())),
    ("llm/quirks", || read(&clients::model_quirks())),
    ("llm/quota_messages", || read(&clients::quota_messages())),
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
            "techniques" if techniques::catalogue().iter().any(|id| id == name) => {
                techniques::load(name).map(|_| ())
            }
            "rules" if rules::catalogue().iter().any(|rule| rule == name) => rules::load(name).map(|_| ()),
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

#[test]
fn a_technique_must_have_a_source_known_metrics_and_an_ordered_bracket() {
    let good = document::text("techniques/cache_blocking").unwrap();
    let refused = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        techniques::checked("x", &good.replace(from, to)).map(|_| ())
    };
    assert_eq!(techniques::checked("x", good).map(|_| ()), Ok(()));
    let at = good.find("  sources:").unwrap();
    let bare = format!("{}  sources: []\n", &good[..at]);
    assert_eq!(techniques::checked("x", &bare).map(|_| ()), Err(FactError::NoSource { file: "x".into() }));
    assert!(refused("lo: 1.2", "lo: 2.2").is_err());
    assert!(refused("metric: \"l2_hit\"", "metric: \"l3_hit\"").is_err());
    assert!(refused("thresholds/report#l2.low_ratio", "thresholds/report#l9.low_ratio").is_err());
    assert!(refused("op: \"<\"", "op: \"in\"").is_err());
}

#[test]
fn the_facts_have_a_version() {
    assert_eq!(document::version().len(), 16);
    assert!(document::version().bytes().all(|byte| byte.is_ascii_hexdigit()));
}
