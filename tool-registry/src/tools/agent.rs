//! `agent`: whole answers to a question, computed without a model and worded by one only when told to.

mod analysis;
mod asking;
mod root;

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
    ]
}
