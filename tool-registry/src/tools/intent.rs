//! `intent`: words the outcome of the routing rules.

use perfxpert_analysis::intent;
use perfxpert_analysis::rounding::round;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::intent as wire;

use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::Classify>(
        "Intent of a request",
        "Routes a sentence to one of five intents (analyze, optimize, verify, explain, help) without a model. Use workflow_next_step for the action that follows.",
        classify,
    )]
}

/// Characters of a request that are read.
const READ: usize = 4_000;

fn classify(_: &Context, input: wire::ClassifyInput) -> Result<wire::ClassifyOutput, ErrorObject> {
    let read: String = input.user_query.chars().take(READ).collect();
    let notes = if read.len() < input.user_query.len() {
        vec![format!("Only the first {READ} characters were read.")]
    } else {
        Vec::new()
    };
    let found = intent::classify(&read);
    let warning = if found.rule.is_none() {
        Some("No rule matched; analyze is the fallback.".to_owned())
    } else if found.close {
        let second = found.candidates.get(1).map_or("", |second| second.intent);
        Some(format!("{second} is nearly as likely; ask the user when it matters."))
    } else {
        None
    };
    Ok(wire::ClassifyOutput {
        intent: found.intent.to_owned(),
        confidence: round(found.confidence, 3),
        matched_pattern: found.rule.map(str::to_owned),
        warning,
        candidates: found
            .candidates
            .iter()
            .map(|candidate| wire::Candidate {
                intent: candidate.intent.to_owned(),
                score: round(candidate.score, 3),
                rule: candidate.rule.to_owned(),
            })
            .collect(),
        notes,
    })
}
