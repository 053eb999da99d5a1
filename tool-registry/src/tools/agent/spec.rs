//! What each agent is: its layer, the tools a model may call for it, and its prompt.

#![cfg_attr(not(test), allow(dead_code, reason = "the report agents do not ask for words yet"))]

use perfxpert_agent::{AgentSpec, PromptFiles, PromptId};

pub(super) const ROOT: AgentSpec = AgentSpec::new(
    "agent.root",
    0,
    &[
        "counters.lookup_info",
        "bottleneck.lookup_signatures",
        "compiler.explain_flag",
        "workflow.next_step",
        "intent.classify",
    ],
    PromptId::new("root"),
    false,
);

pub(super) const ANALYSIS: AgentSpec = AgentSpec::new(
    "agent.analysis",
    1,
    &[
        "regression.identify_hot_kernels",
        "bottleneck.classify_from_metrics",
        "roofline.classify",
        "counters.validate_for_gpu",
        "topdown.classify_overhead",
    ],
    PromptId::new("analysis"),
    false,
);

pub(super) const RECOMMENDATION: AgentSpec = AgentSpec::new(
    "agent.recommendation",
    1,
    &[
        "plateau.check",
        "trace_fingerprint.fingerprint",
        "profiling.fill_gap",
        "bottleneck.prioritize_by_amdahl",
        "predict_impact.predict_change_impact",
    ],
    PromptId::new("recommendation"),
    false,
);

pub(super) const CORRECTNESS: AgentSpec = AgentSpec::new(
    "agent.correctness",
    1,
    &[
        "trace_fingerprint.fingerprint",
        "bottleneck.lookup_signatures",
        "predict_impact.list_supported_changes",
    ],
    PromptId::new("correctness"),
    false,
);

pub(super) const COMPUTE: AgentSpec = AgentSpec::new(
    "agent.compute_specialist",
    2,
    &[
        "arch.lookup_peaks",
        "roofline.classify",
        "compiler.lookup_flags",
        "kernel_fusion.find_fusion_candidates",
        "occupancy.lookup_waves_per_eu",
    ],
    PromptId::new("compute"),
    true,
);

pub(super) const MEMORY: AgentSpec = AgentSpec::new(
    "agent.memory_specialist",
    2,
    &[
        "arch.lookup_peaks",
        "bottleneck.lookup_signatures",
        "predict_impact.predict_change_impact",
        "unified_memory.analyze_paging",
        "memory.classify_cache_performance",
    ],
    PromptId::new("memory"),
    true,
);

pub(super) const LATENCY: AgentSpec = AgentSpec::new(
    "agent.latency_specialist",
    2,
    &[
        "arch.lookup_peaks",
        "rccl_analysis.analyze_collectives",
        "interconnect.lookup_peaks",
        "dependency_graph.reconstruct_dag",
        "gpu_runtime_monitor.analyze_thermal",
    ],
    PromptId::new("latency"),
    true,
);

pub(super) const DIFF: AgentSpec = AgentSpec::new(
    "agent.diff_specialist",
    2,
    &["trace_diff.diff_runs", "regression.compare_runs", "roofline.classify"],
    PromptId::new("diff"),
    true,
);

/// Every agent.
pub(super) const ALL: [&AgentSpec; 8] =
    [&ROOT, &ANALYSIS, &RECOMMENDATION, &CORRECTNESS, &COMPUTE, &MEMORY, &LATENCY, &DIFF];

/// The prompt files of an agent.
pub(super) fn prompts(agent: &AgentSpec) -> PromptFiles<'static> {
    let own = match agent.prompt.as_str() {
        "root" => include_str!("prompts/root.md"),
        "analysis" => include_str!("prompts/analysis.md"),
        "recommendation" => include_str!("prompts/recommendation.md"),
        "correctness" => include_str!("prompts/correctness.md"),
        "compute" => include_str!("prompts/compute.md"),
        "memory" => include_str!("prompts/memory.md"),
        "latency" => include_str!("prompts/latency.md"),
        _ => include_str!("prompts/diff.md"),
    };
    PromptFiles {
        always: include_str!("prompts/always.md"),
        agent: own,
        lane: include_str!("prompts/lane.md"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use perfxpert_agent::{ComposedPrompt, FenceProfile};
    use perfxpert_knowledge::techniques;

    use super::*;
    use crate::Registry;

    /// Longest composed prompt, in lines.
    const LINES: usize = 400;

    fn composed(agent: &AgentSpec, lane: bool) -> String {
        ComposedPrompt::compose(agent.prompt, prompts(agent), lane, FenceProfile::Full).text
    }

    #[test]
    fn every_tool_a_model_may_call_is_a_pure_tool_of_the_registry() {
        // Namespaces whose tools are made elsewhere show up here as soon as they are listed.
        let registry = Registry::new();
        let mut found = 0;
        for agent in ALL {
            for name in agent.tools {
                let Some(tool) = registry.find(name) else { continue };
                found += 1;
                assert_eq!(tool.class, crate::Class::Pure, "{name}");
            }
        }
        assert!(found > 20, "control: {found} tools were found");
    }

    #[test]
    fn prompts_are_short_and_name_only_what_exists() {
        let registry = Registry::new();
        let ids = ["m.primary_bottleneck", "m.verdict", "submit_answer", "Question:"];
        for agent in ALL {
            let text = composed(agent, true);
            assert!(text.lines().count() <= LINES, "{}", agent.name);
            let own = text.split("The arguments of `submit_answer`").next().unwrap_or_default();
            for word in own.split('`').skip(1).step_by(2) {
                let known = ids.contains(&word)
                    || techniques::find(word).is_some()
                    || techniques::metric(word).is_some()
                    || (agent.tools.contains(&word) && registry.find(word).is_some());
                assert!(known, "{}: `{word}` is no tool, metric, technique or id", agent.name);
            }
        }
    }

    #[test]
    fn prompts_hold_no_threshold() {
        for agent in ALL {
            let files = prompts(agent);
            for text in [files.always, files.agent, files.lane] {
                let text = text.replace("<!--", "").replace("-->", "");
                for mark in ['%', '<', '>', '≥', '≤'] {
                    assert!(!text.contains(mark), "{}: {mark}", agent.name);
                }
                assert!(!text.chars().any(|c| c.is_ascii_digit()), "{}: a number", agent.name);
            }
        }
    }

    #[test]
    fn the_schema_in_a_prompt_is_the_generated_one() {
        for lane in [false, true] {
            let schema = perfxpert_agent::reply_schema(lane).to_string();
            assert!(composed(&ROOT, lane).ends_with(&schema));
        }
    }

    #[test]
    fn no_two_agents_share_a_name() {
        let names: BTreeSet<&str> = ALL.iter().map(|agent| agent.name).collect();
        assert_eq!(names.len(), ALL.len());
    }
}
