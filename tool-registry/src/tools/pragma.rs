//! `pragma`: the loop-hint catalogue, and which hints the evidence for one kernel supports.

use perfxpert_analysis::loop_hints::{self, COUNT, DISABLE, FULL};
use perfxpert_knowledge::compiler::{self, Pragma};
use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::pragma as wire;

use crate::arguments::unknown_name;
use crate::{Context, Tool, tool};

mod signals;

use signals::Signals;

pub(crate) fn entries() -> Vec<Tool> {
    vec![
        tool::<wire::LookupPragmas>(
            "Loop hints",
            "The loop hints that may be suggested for GPU code. Use pragma_suggest_pragmas_for_kernel with evidence.",
            lookup_pragmas,
        ),
        tool::<wire::ExplainPragma>(
            "One loop hint",
            "One loop hint, allowed or rejected for GPU code, and why.",
            explain_pragma,
        ),
        tool::<wire::SuggestPragmasForKernel>(
            "Loop hints for a kernel",
            "Which loop hints the evidence supports for one kernel. Use pragma_lookup_pragmas for the catalogue.",
            suggest_pragmas_for_kernel,
        ),
    ]
}

const EXPECTATION: &str = "expected_impact is an expectation, not a measurement";

fn row(pragma: &Pragma) -> wire::PragmaRow {
    wire::PragmaRow {
        pragma: pragma.pragma.clone(),
        syntax: pragma.syntax.clone(),
        description: pragma.description.clone(),
        gpu_applicable: pragma.gpu_applicable,
        allowlist: pragma.allowlist,
        trigger_signal: pragma.trigger_signal.clone(),
        trigger_threshold: pragma.trigger_threshold.clone(),
        factor_sweep: pragma.factor_sweep.clone(),
        expected_impact: pragma.expected_impact.clone(),
        risk: pragma.risk.clone(),
        applies_to_gfx: pragma.applies_to_gfx.clone(),
        reason: pragma.reason.clone(),
    }
}

fn lookup_pragmas(
    _: &Context,
    input: wire::LookupPragmasInput,
) -> Result<wire::LookupPragmasOutput, ErrorObject> {
    let items: Vec<wire::PragmaRow> = compiler::pragmas()
        .iter()
        .filter(|pragma| pragma.gpu_applicable || !input.gpu_only)
        .map(row)
        .collect();
    let total = items.len();
    Ok(wire::LookupPragmasOutput { items, total, returned: total, truncated: false, note: EXPECTATION })
}

/// The hint's own words: lower case, without blanks, `#pragma`, `clang loop`; a number in parentheses as `n`.
fn core(text: &str) -> (String, bool) {
    let squeezed: String = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let after = squeezed.strip_prefix('#').map_or(squeezed.as_str(), str::trim_start);
    let after = after.strip_prefix("pragma ").unwrap_or(after);
    let (rest, is_clang) = match after.strip_prefix("clang loop ") {
        Some(rest) => (rest, true),
        None => (after, false),
    };
    let core: String = rest.chars().filter(|letter| *letter != ' ').collect();
    let core = match core.split_once('(') {
        Some((head, tail)) => match tail.strip_suffix(')') {
            Some(inside) if !inside.is_empty() && inside.chars().all(|digit| digit.is_ascii_digit()) => {
                format!("{head}(n)")
            }
            _ => core,
        },
        None => core,
    };
    (core, is_clang)
}

/// The row of an id or of source text, and whether the short form of the hint was written.
fn find(written: &str) -> Option<(&'static Pragma, bool)> {
    let rows = compiler::pragmas();
    let by_id = |id: &str| rows.iter().find(|row| row.pragma == id);
    if let Some(row) = by_id(&written.trim().to_lowercase()) {
        return Some((row, false));
    }
    let (wanted, is_clang) = core(written);
    if let Some(row) = rows.iter().find(|row| core(&row.syntax).0 == wanted) {
        return Some((row, false));
    }
    if is_clang {
        return None;
    }
    let short = match wanted.as_str() {
        "unroll" => FULL,
        "nounroll" => DISABLE,
        "unroll(n)" => COUNT,
        other => {
            let factor = other.strip_prefix("unroll")?;
            if factor.is_empty() || !factor.chars().all(|digit| digit.is_ascii_digit()) {
                return None;
            }
            COUNT
        }
    };
    by_id(short).map(|row| (row, true))
}

fn explain_pragma(
    _: &Context,
    input: wire::ExplainPragmaInput,
) -> Result<wire::ExplainPragmaOutput, ErrorObject> {
    let Some((pragma, is_short)) = find(&input.pragma_name) else {
        let known = compiler::pragmas().iter().map(|row| row.pragma.as_str());
        return Err(unknown_name("pragma_name", input.pragma_name.trim(), known, "loop hint"));
    };
    let note =
        if is_short { format!("prefer the clang loop form; {EXPECTATION}") } else { EXPECTATION.to_owned() };
    Ok(wire::ExplainPragmaOutput { row: row(pragma), note })
}

fn suggest_pragmas_for_kernel(
    _: &Context,
    input: wire::SuggestPragmasForKernelInput,
) -> Result<wire::SuggestPragmasForKernelOutput, ErrorObject> {
    let signals = Signals::read(&input.signals)?;
    let nothing = |reason| wire::SuggestPragmasForKernelOutput {
        items: Vec::new(),
        total: 0,
        reason: Some(reason),
        suppressed: Vec::new(),
        unknown_signals: signals.unknown.clone(),
        note: None,
    };
    let Some(hotspot) = signals.hotspot_pct else { return Ok(nothing(wire::NoSuggestion::HotspotUnknown)) };
    if hotspot < thresholds::pragma().amdahl_gate_pct {
        return Ok(nothing(wire::NoSuggestion::BelowAmdahlGate));
    }
    if signals.source_path.as_deref().is_some_and(loop_hints::is_generated) {
        return Ok(nothing(wire::NoSuggestion::GeneratedSource));
    }
    let fired = loop_hints::fired(&signals.evidence(), hotspot);
    let because = |id: &str| loop_hints::suppressed(id, &fired);
    let suppressed: Vec<wire::Suppressed> = fired
        .iter()
        .filter_map(|(id, _)| {
            Some(wire::Suppressed { pragma: (*id).to_owned(), because: because(id)?.to_owned() })
        })
        .collect();
    let anchor = signals.source_path.clone().zip(signals.source_line);
    let items: Vec<wire::Suggestion> = compiler::pragmas()
        .iter()
        .filter_map(|pragma| {
            let (id, evidence) = fired.iter().find(|(id, _)| *id == pragma.pragma)?;
            if because(id).is_some() {
                return None;
            }
            Some(wire::Suggestion {
                row: row(pragma),
                kernel_name: input.kernel_name.clone(),
                triggered_by: evidence.clone(),
                anchor: anchor.clone().map(|(file, line)| wire::Anchor { file, line }),
                anchor_reason: anchor.is_none().then_some("source_path and source_line were not both sent"),
                actionable: anchor.is_some(),
                verify: "perfxpert diff before.db after.db",
            })
        })
        .collect();
    if items.is_empty() {
        return Ok(nothing(wire::NoSuggestion::NoTrigger));
    }
    Ok(wire::SuggestPragmasForKernelOutput {
        total: items.len(),
        items,
        reason: None,
        suppressed,
        unknown_signals: signals.unknown,
        note: Some(EXPECTATION),
    })
}
