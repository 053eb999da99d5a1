//! `trace_fingerprint`: shows what a profiling command would collect.

use perfxpert_analysis::fingerprint;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::trace_fingerprint as wire;

use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::Fingerprint>(
        "Fingerprint of a profiling command",
        "What a profiling command would collect, as tokens, to spot repeats. Use profiling_fill_gap for what is still missing.",
        fingerprint,
    )]
}

fn fingerprint(_: &Context, input: wire::FingerprintInput) -> Result<wire::FingerprintOutput, ErrorObject> {
    let found = fingerprint::of_command(&input.cmd).map_err(|_| {
        ErrorObject::invalid(
            "cmd",
            "cmd has a quote that is never closed.",
            "Send the command as a shell would accept it.",
        )
        .value(&input.cmd)
    })?;
    let id = found.id();
    let total = found.items.len() as u64;
    Ok(wire::FingerprintOutput {
        total,
        returned: total,
        truncated: false,
        items: found.items,
        covers: found.covers,
        fingerprint_id: id,
        tool: found.tool.as_str().to_owned(),
        recognised: found.recognised,
        complete: found.complete,
        pmc_groups: found.pmc_groups,
        filters: found.filters.into_iter().map(|(option, value)| wire::Filter { option, value }).collect(),
        unresolved_inputs: found.unresolved_inputs,
        unknown_options: found.unknown_options,
        application: found.application,
    })
}
