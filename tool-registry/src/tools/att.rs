//! `att`: explains stall reasons and judges stall ratios.

use perfxpert_knowledge::{att, thresholds};
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::att as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::ClassifyStallReason>(
            "Stall reason",
            "What one PC-sampling stall reason means and what to try. Use att_classify_stall_ratio for a number.",
            classify_stall_reason,
        ),
        tool::<wire::ClassifyStallRatio>(
            "Stall ratio",
            "Severity of a stall ratio (stall cycles over latency cycles of an instruction or kernel). Use att_classify_stall_reason for causes.",
            classify_stall_ratio,
        ),
    ]
}

/// In front of a reason in the profiler SDK's own enumeration.
const SDK_PREFIX: &str = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
/// The one reason that an instruction's text refines.
const WAITCNT: &str = "WAITCNT";

fn normalised(code: &str) -> String {
    let upper: String = code
        .trim()
        .chars()
        .map(|letter| if letter.is_whitespace() || letter == '-' { '_' } else { letter.to_ascii_uppercase() })
        .collect();
    upper.strip_prefix(SDK_PREFIX).map_or(upper.clone(), str::to_owned)
}

fn classify_stall_reason(
    _: &Context,
    input: wire::ClassifyStallReasonInput,
) -> Result<wire::ClassifyStallReasonOutput, ErrorObject> {
    let code = normalised(&input.stall_code);
    let Some((row, sdk)) = att::stall_reason(&code) else {
        let known: Vec<&str> = att::stall_reasons().iter().map(|row| row.code.as_str()).collect();
        return Err(unknown_name("stall_code", &code, known, "stall reason"));
    };
    let waits_on = match &input.instruction {
        Some(instruction) if sdk.code == WAITCNT => att::waits_on(instruction),
        _ => None,
    };
    let waits_on_reason = waits_on.is_none().then_some(if sdk.code != WAITCNT {
        "only WAITCNT waits on a counter"
    } else if input.instruction.is_none() {
        "instruction was not sent"
    } else {
        "the instruction names no wait counter"
    });
    Ok(wire::ClassifyStallReasonOutput {
        code: row.code.clone(),
        name: row.name.clone(),
        root_cause: sdk.root_cause.clone().unwrap_or_default(),
        mitigation: sdk.mitigations.first().cloned().unwrap_or_default(),
        mitigations: sdk.mitigations.clone(),
        actionable: sdk.actionable.unwrap_or_default(),
        sdk_code: sdk.code.clone(),
        matched_as: if row.legacy_of.is_some() { wire::MatchedAs::Legacy } else { wire::MatchedAs::Sdk },
        waits_on,
        waits_on_reason,
        valid_when: "wave did not issue".to_owned(),
    })
}

fn classify_stall_ratio(
    _: &Context,
    input: wire::ClassifyStallRatioInput,
) -> Result<wire::ClassifyStallRatioOutput, ErrorObject> {
    let facts = thresholds::att();
    let ratio = input.stall_ratio;
    let severity = if ratio >= facts.critical {
        wire::Severity::Critical
    } else if ratio >= facts.high {
        wire::Severity::High
    } else if ratio >= facts.medium {
        wire::Severity::Medium
    } else {
        wire::Severity::Low
    };
    let reliable = input.hitcount.map(|hits| hits >= facts.min_hits);
    Ok(wire::ClassifyStallRatioOutput {
        severity,
        stall_ratio: ratio,
        thresholds: wire::Thresholds { critical: facts.critical, high: facts.high, medium: facts.medium },
        reliable,
        reliable_reason: reliable.is_none().then_some("hitcount was not sent"),
    })
}
