//! The collection passes that a question needs, as commands.

use perfxpert_knowledge::arch::Arch;
use perfxpert_knowledge::collect::{self, CounterSet};
use perfxpert_knowledge::commands::{self, Command, Target};

fn of(set: &'static [CounterSet], arch: Option<&Arch>) -> &'static [Vec<String>] {
    collect::passes(set, arch.map(|arch| arch.gfx_id.as_str()))
}

/// Passes that tell compute from memory: the classify set, then bytes read, then bytes written, which the hardware
/// cannot always count together.
pub fn classify_passes(arch: Option<&Arch>) -> Vec<&'static [String]> {
    let sets = collect::counter_sets();
    [&sets.classify, &sets.fetch, &sets.write]
        .into_iter()
        .flat_map(|set| of(set, arch))
        .map(Vec::as_slice)
        .collect()
}

/// Passes that count operations by type; empty where the architecture has no such counters.
pub fn typed_operation_passes(arch: Option<&Arch>) -> Vec<&'static [String]> {
    of(&collect::counter_sets().typed_operations, arch).iter().map(Vec::as_slice).collect()
}

/// One command per pass, each with an output folder of its own: `<out>_pmc1`, `<out>_pmc2` ...
pub fn counter_commands(passes: &[&'static [String]], target: &Target<'_>) -> Vec<Command> {
    passes
        .iter()
        .zip(1..)
        .map(|(counters, index)| {
            let counters: Vec<&str> = counters.iter().map(String::as_str).collect();
            let out = format!("{}_pmc{index}", target.out);
            commands::pmc(&Target { out: &out, ..*target }, &counters)
        })
        .collect()
}
