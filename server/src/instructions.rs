//! What a client's model is told about the server as a whole, in under 2 kB.

use perfxpert_schemas::names::Spelling;
use perfxpert_tool_registry::Registry;

/// Tools a caller should know first, with what each is for; only those that are registered are named.
const FIRST: [(&str, &str); 8] = [
    ("agent.root", "whole report on a trace (database_path) or a source tree (source_dir): start here"),
    ("workflow.next_step", "what to record or do next"),
    ("agent.recommendation", "ranked things to do, each with its evidence and the command that verifies it"),
    ("trace_diff.diff_runs", "compares two runs"),
    ("regression.identify_hot_kernels", "kernels by time"),
    ("bottleneck.classify_from_metrics", "what bounds a run, from its metrics"),
    ("roofline.plot_points", "kernels against the memory and compute roofs"),
    ("profiling.build_command", "the rocprofv3 command for a question"),
];

/// The instructions for the tools that this server shows.
pub(crate) fn instructions(registry: &Registry, spelling: Spelling) -> String {
    let mut lines = vec![
        "perfxpert reads what rocprofv3 recorded on AMD GPUs (rocpd .db files) and says why a program is slow and what \
         to do about it. Every tool is read-only and local; files are never changed and nothing is run."
            .to_owned(),
    ];
    let first: Vec<String> = FIRST
        .iter()
        .filter_map(|(name, purpose)| {
            registry.find(name).map(|tool| format!("- {}: {purpose}", Registry::advertised(&tool, spelling)))
        })
        .collect();
    if !first.is_empty() {
        lines.push("Begin with:".to_owned());
        lines.extend(first);
    }
    lines.push(
        "Rules: null means unknown, never 0; the reason stands beside it. Lists are cut: `total` counts all rows, \
         `limit` or `offset` get more. Units are in the key: _ns, _bytes, _gbps; an argument's description says \
         whether a _pct is a fraction. An error says what is wrong (`kind`, `message`), what to do (`hint`) and often \
         a `command` that records what is missing. Report only numbers that a tool answered."
            .to_owned(),
    );
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_cut_instructions_at_two_kilobytes() {
        for spelling in [Spelling::Prefixed, Spelling::Bare] {
            assert!(instructions(&Registry::new(), spelling).len() < 2048);
        }
    }
}
