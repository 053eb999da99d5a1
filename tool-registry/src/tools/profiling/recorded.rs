//! What a trace holds, as the tokens of the options that recorded it.

use std::collections::BTreeSet;

use perfxpert_knowledge::commands::Opt;
use perfxpert_schemas::ErrorObject;
use perfxpert_trace::{CounterSweep, CounterValue, Dispatch, Family, ScanError};

use crate::Context;
use crate::trace_errors;
use crate::traces::LoadedRun;

/// Tokens of the two kinds of page events.
const MIGRATION: &str = "--kfd-page-migration-trace";
const MAPPING: &str = "--kfd-page-mapping-trace";

/// Counters that have values, by index.
#[derive(Default)]
struct Seen(BTreeSet<usize>);

impl CounterSweep for Seen {
    fn counters(&mut self, _: &Dispatch, values: &[CounterValue]) {
        self.0.extend(values.iter().map(|value| value.counter.get()));
    }
}

/// The tokens of a run.
///
/// # Errors
/// Those of reading its counters.
pub(super) fn tokens(context: &Context, run: &LoadedRun) -> Result<Vec<String>, ErrorObject> {
    let processes = run.trace.processes();
    let mut tokens: BTreeSet<String> = BTreeSet::new();
    let mut add = |holds: bool, token: &str| {
        if holds {
            tokens.insert(token.to_owned());
        }
    };
    add(processes.iter().any(|process| process.has.dispatches), Opt::KernelTrace.as_str());
    add(processes.iter().any(|process| process.has.copies), Opt::MemoryCopyTrace.as_str());
    for call in &run.profile.calls {
        match call.family {
            Family::HipRuntime => add(true, Opt::HipRuntimeTrace.as_str()),
            Family::Hsa => add(true, Opt::HsaCoreTrace.as_str()),
            Family::Rccl => add(true, Opt::RcclTrace.as_str()),
            Family::Marker => add(true, Opt::MarkerTrace.as_str()),
            Family::Kfd => {
                let name = call.text.to_ascii_uppercase();
                add(name.contains("MIGRAT"), MIGRATION);
                add(name.contains("FAULT") || name.contains("MAP"), MAPPING);
            }
            Family::HipCompiler | Family::Other => {}
        }
    }
    if processes.iter().any(|process| process.has.counters) {
        let (seen, _) = context.watched(|control| run.trace.counters(control, Seen::default)).map_err(
            |error| match error {
                ScanError::Cancelled => context.stopped(),
                other => trace_errors::scan(&other, "db_path"),
            },
        )?;
        let catalogue = run.trace.counter_catalogue();
        tokens.extend(
            seen.0.iter().filter_map(|at| catalogue.get(*at)).map(|counter| format!("pmc:{}", counter.name)),
        );
    }
    Ok(tokens.into_iter().collect())
}
