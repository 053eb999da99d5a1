//! What to do about a run: one engine for the report, the command line and the agents.
//!
//! [`rules`] says what is wrong and bounds what can be won, each entry with its evidence and the command that verifies it.
//! A rule fires only on what was measured; a healthy run gets an empty list.
//!
//! | step | where |
//! |---|---|
//! | what the run showed, as plain numbers | [`observed`] |
//! | one function per rule, thresholds and texts from facts | `rules` |
//! | preconditions, priority, confidence, order, ids, code patterns folded in | `order`, `code` |
//! | predictions of changes, loop hints on request | `prediction`, `hints` |
//! | what to do about it, judged by preconditions with three values and ranked by what can be won | [`techniques`] |

mod bracket;
mod code;
mod draft;
mod entry;
mod hints;
mod metrics;
pub mod observed;
mod order;
mod prediction;
mod rules;
pub mod techniques;
mod text;

use perfxpert_source::Scan;

pub use bracket::{Bracket, bracket};
pub use entry::{
    EvidenceItem, LoopHint, Precondition, Prediction, Priority, RuleEntry, SourceRef, TargetKind,
};
pub use metrics::KernelMetrics;
pub use observed::{
    AttCategory, AttInstruction, AttKernel, Collective, Communication, Observed, RuleInput, Throttled,
};
pub use perfxpert_knowledge::techniques::State;

/// What surrounds a list of advice: how its commands are worded and what else is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// Files of the run as the caller named them; verifying commands repeat them.
    pub inputs: &'a [&'a str],
    /// The scanned source, when there is one.
    pub scan: Option<&'a Scan>,
    /// Whether loop hints are asked for.
    pub advanced: bool,
}

/// Advice on a run, best first.
#[must_use]
pub fn rules(input: &RuleInput<'_>) -> Vec<RuleEntry> {
    let context = Context { inputs: input.inputs, scan: input.scan, advanced: input.advanced };
    for_observed(&Observed::of(input), &context)
}

/// Advice on what is known of a run, wherever it comes from. A rule whose trigger is unknown does not fire.
#[must_use]
pub fn for_observed(run: &Observed, context: &Context<'_>) -> Vec<RuleEntry> {
    let mut drafts = order::kept(rules::all(run), run.health);
    prediction::attach(&mut drafts, run);
    let mut drafts = code::merged(drafts, run, context.scan);
    if context.advanced {
        drafts.extend(hints::drafts(run, context.scan));
    }
    order::ranked(drafts, context)
}

/// Advice made from the source alone.
#[must_use]
pub fn for_source(scan: &Scan) -> Vec<RuleEntry> {
    order::ranked(code::alone(scan), &Context { scan: Some(scan), ..Context::default() })
}

#[cfg(test)]
mod tests;
