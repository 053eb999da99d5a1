//! `kernel_fusion`: shows the kernels of a trace that could become one.

use perfxpert_analysis::fusion::{self, Candidate};
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::units::Nanos;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::kernel_fusion as wire;

use crate::trace_answer::{self, ONE_TRACE, Page};
use crate::{Context, Tool, tool, trace_health};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::FindFusionCandidates>(
        "Fusion candidates",
        "Pairs of different kernels that follow each other on one stream closely and often enough for fusion to pay. Use dependency_graph_reconstruct_dag for gaps, topdown_classify_overhead for launch-bound programs.",
        find,
    )]
}

const FIELD: &str = "db_path";
/// Repeated kernels of an answer.
const REPEATED: usize = 10;

fn find(
    context: &Context,
    input: wire::FindFusionCandidatesInput,
) -> Result<wire::FindFusionCandidatesOutput, ErrorObject> {
    let run = context.load_kernels(&trace_answer::inputs(&input.db_path), ONE_TRACE, FIELD)?;
    let max_gap = Nanos(input.max_gap_ns);
    let found =
        context.scanned(FIELD, |control| fusion::find(&run.trace, max_gap, input.min_count, control))?;
    let wall = run.profile.total_runtime();
    let page = Page::of(&found.candidates, input.offset, input.limit);
    let speedup = fusion::program_speedup(found.program_saving, wall).map(|ratio| round(ratio, 3));
    let mut notes = Vec::new();
    if !found.candidates.is_empty() {
        notes.push(
            "Whether the second kernel needs the first one's result is not visible: compare outputs before accepting \
             a fusion."
                .to_owned(),
        );
    }
    if !found.repeated.is_empty() {
        notes.push(
            "Kernels launched in long runs call for graph capture or one persistent kernel, not fusion."
                .to_owned(),
        );
    }
    if found.left_out > 0 {
        notes.push(format!(
            "{} occurrences of rarer pairs were not counted: there are too many different pairs.",
            found.left_out
        ));
    }
    Ok(wire::FindFusionCandidatesOutput {
        total: page.total,
        returned: page.returned,
        truncated: page.truncated,
        program_saving_hi_ns: found.program_saving.0,
        program_speedup_hi: speedup,
        program_speedup_hi_reason: speedup
            .is_none()
            .then(|| "the saving, added up over streams, is not below the run's time".to_owned()),
        items: page.rows.into_iter().map(|row| pair(row, wall)).collect(),
        repeated_kernels: found
            .repeated
            .iter()
            .take(REPEATED)
            .map(|(name, row)| wire::RepeatedKernel {
                name: name.to_string(),
                runs: row.runs,
                launches: row.launches,
                longest_run: row.longest,
                total_gap_ns: row.gaps.0,
            })
            .collect(),
        repeated_kernels_total: found.repeated.len() as u64,
        trace_health: trace_health::of(&run),
        notes: trace_answer::notes(notes),
    })
}

fn pair(row: &Candidate, wall: Nanos) -> wire::FusionPair {
    wire::FusionPair {
        pair: [row.first.to_string(), row.second.to_string()],
        signature: row.signature(),
        count: row.seen.count,
        gap_ns: row.mean(row.seen.gaps),
        est_speedup_lo: round(row.speedup_lo, 3),
        est_speedup_hi: round(row.speedup_hi, 3),
        confidence: round(row.confidence, 2),
        pattern: row.pattern.map(str::to_owned),
        first_mean_ns: row.mean(row.seen.first),
        second_mean_ns: row.mean(row.seen.second),
        total_ns: row.mean_total(),
        saving_lo_ns: row.saving_lo.0,
        saving_hi_ns: row.saving_hi.0,
        program_speedup_hi: fusion::program_speedup(row.saving_hi, wall).map(|ratio| round(ratio, 3)),
        same_grid: row.same_grid,
        data_dependency: "not visible in a trace".to_owned(),
    }
}
