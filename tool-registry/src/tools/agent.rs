//! `agent`: whole answers to a question, computed without a model and worded by one only when told to.

mod analysis;
mod ask;
mod asking;
mod correctness;
mod diff_specialist;
mod given;
mod paths;
mod root;
mod spec;
mod specialists;
mod wording;

use perfxpert_schemas::tools::agent as wire;

use crate::answer::Bounds;
use crate::{Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::root::Root>(
            "Performance report",
            "Why a GPU program is slow and what to change: the whole report on a trace, a source tree or both, for a question. Set options.detail to full for every row.",
            root::run,
        )
        .agent()
        .bounded(Bounds::uncut()),
        tool::<wire::analysis::Analysis>(
            "What limits a run",
            "What limits a GPU run, and which kernels matter: verdict with its evidence, time shares, hot kernels, what is not known. Gives no advice; use agent_recommendation for that.",
            analysis::run,
        )
        .agent()
        .bounded(Bounds::uncut()),
        tool::<wire::correctness::Correctness>(
            "What a gate verdict means",
            "What to do after a gate checked a code change: accept, revert or reject, and which technique to try next. Runs no gate and writes nothing.",
            correctness::run,
        )
        .agent(),
        tool::<wire::diff_specialist::DiffSpecialist>(
            "Verdict on two runs",
            "Did a change help? Judges two traces by elapsed time and lists the kernels that lost and won most. Use trace_diff_diff_runs for the whole document.",
            diff_specialist::run,
        )
        .agent(),
        tool::<wire::specialists::Compute>(
            "Compute techniques",
            "Techniques for kernels limited by computing: matrix units, registers, occupancy, block size. From a trace, or from kernel rows and counters.",
            specialists::compute,
        )
        .agent(),
        tool::<wire::specialists::Memory>(
            "Memory techniques",
            "Techniques for kernels limited by memory, and for host copies. From a trace, or from kernel rows, counters and copy totals.",
            specialists::memory,
        )
        .agent(),
        tool::<wire::specialists::Latency>(
            "Latency techniques",
            "Techniques for launches, waits, an idle GPU and collectives. From a trace, or from kernel rows and the share of launch overhead.",
            specialists::latency,
        )
        .agent(),
    ]
}
