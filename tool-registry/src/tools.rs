//! The list of namespaces: each is a file of this folder, one `mod` line and one row of the list.

mod agent;
mod arch;
mod att;
mod bottleneck;
mod compiler;
mod counters;
mod dependency_graph;
pub(crate) mod gpu_runtime_monitor;
mod intent;
mod interconnect;
mod kernel_fusion;
mod memory;
mod metrics;
mod occupancy;
mod plateau;
mod pragma;
mod predict_impact;
mod profiling;
mod rccl_analysis;
mod regression;
mod roofline;
mod sol;
mod topdown;
mod trace_diff;
mod trace_fingerprint;
mod tracelens;
mod unified_memory;
mod workflow;

use crate::Tool;

type Entries = fn() -> Vec<Tool>;

/// Namespace → its tools. A new namespace is a file and a row here.
const NAMESPACES: &[(&str, Entries)] = &[
    ("agent", agent::entries),
    ("arch", arch::entries),
    ("att", att::entries),
    ("bottleneck", bottleneck::entries),
    ("compiler", compiler::entries),
    ("counters", counters::entries),
    ("dependency_graph", dependency_graph::entries),
    ("gpu_runtime_monitor", gpu_runtime_monitor::entries),
    ("interconnect", interconnect::entries),
    ("intent", intent::entries),
    ("kernel_fusion", kernel_fusion::entries),
    ("memory", memory::entries),
    ("metrics", metrics::entries),
    ("occupancy", occupancy::entries),
    ("plateau", plateau::entries),
    ("pragma", pragma::entries),
    ("predict_impact", predict_impact::entries),
    ("profiling", profiling::entries),
    ("rccl_analysis", rccl_analysis::entries),
    ("regression", regression::entries),
    ("roofline", roofline::entries),
    ("sol", sol::entries),
    ("topdown", topdown::entries),
    ("trace_diff", trace_diff::entries),
    ("trace_fingerprint", trace_fingerprint::entries),
    ("tracelens", tracelens::entries),
    ("unified_memory", unified_memory::entries),
    ("workflow", workflow::entries),
];

/// Every tool of every namespace, in no particular order.
pub(crate) fn all() -> Vec<Tool> {
    NAMESPACES.iter().flat_map(|(_, entries)| entries()).collect()
}

/// One tool by its dotted name, for tools that rest on another.
pub(crate) fn find(name: &str) -> Option<Tool> {
    let namespace = name.split_once('.').map(|(namespace, _)| namespace)?;
    let (_, entries) = NAMESPACES.iter().find(|(listed, _)| *listed == namespace)?;
    entries().into_iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn stems(folder: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let stems: BTreeSet<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert!(!stems.is_empty(), "control: {} holds files", folder.display());
        stems
    }

    #[test]
    fn every_file_of_the_folder_is_on_the_list_and_holds_its_own_tools_only() {
        let listed: BTreeSet<String> = NAMESPACES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, stems("src/tools"), "the list in tools.rs and the files of tools/ differ");
        assert_eq!(listed.len(), NAMESPACES.len(), "a namespace is listed twice");
        for (namespace, entries) in NAMESPACES {
            let tools = entries();
            assert!(!tools.is_empty(), "{namespace} has no tool");
            for tool in tools {
                assert_eq!(tool.namespace(), *namespace, "{} stands in the wrong file", tool.name);
            }
        }
    }

    #[test]
    fn every_namespace_has_its_contract_file() {
        let contracts = stems("../schemas/src/tools");
        for (namespace, _) in NAMESPACES {
            assert!(contracts.contains(*namespace), "schemas/src/tools/{namespace}.rs is missing");
        }
    }

    #[test]
    fn no_two_tools_share_a_name() {
        let names: Vec<&str> = all().iter().map(|tool| tool.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
