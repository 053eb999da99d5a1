//! Loop hints for the kernels that matter, where the source shows their loops. Made on request only.

use perfxpert_knowledge::{arch, compiler, thresholds};
use perfxpert_source::{Kernel, KernelLoop, RowKind, Scan};

use super::draft::{Draft, Number};
use super::entry::{LoopHint, Priority, SourceRef, TargetKind};
use super::observed::{Observed, ObservedKernel};
use super::{order, rules};
use crate::loop_hints::{self, Signals};
use crate::words;

/// Drafts for every loop that the evidence singles out.
pub(super) fn drafts(run: &Observed, scan: Option<&Scan>) -> Vec<Draft> {
    let Some(scan) = scan else { return Vec::new() };
    let drafts = rules::hot(run).flat_map(|kernel| {
        let definition = scan.definition(&kernel.name).filter(|found| found.kind == RowKind::Definition);
        definition.map(|definition| of_kernel(kernel, definition)).unwrap_or_default()
    });
    order::kept(drafts.collect(), run.health)
}

fn of_kernel(kernel: &ObservedKernel, definition: &Kernel) -> Vec<Draft> {
    if loop_hints::is_generated(&definition.site.file) {
        return Vec::new();
    }
    let mut drafts = Vec::new();
    // A hint on a loop settles what becomes of the loops inside it.
    let mut settled: Option<u32> = None;
    for found in &definition.loops {
        if settled.is_some_and(|depth| found.depth > depth) {
            continue;
        }
        settled = None;
        if found.has_unroll_pragma {
            continue;
        }
        if let Some(draft) = of_loop(kernel, definition, found) {
            settled = Some(found.depth);
            drafts.push(draft);
        }
    }
    drafts
}

fn of_loop(kernel: &ObservedKernel, definition: &Kernel, found: &KernelLoop) -> Option<Draft> {
    let limits = thresholds::pragma();
    let hotspot = kernel.pct_of_total.filter(|share| *share >= limits.amdahl_gate_pct)?;
    let resources = kernel.resources.as_ref();
    let gpu = resources.and_then(|found| found.gfx_id.as_deref()).and_then(arch::find);
    let signals = Signals {
        trip_count: found.trip_count,
        body_size: Some(found.body_operations.into()),
        valu: kernel.metrics.valu,
        vgprs: resources.and_then(|found| found.vgpr).map(u64::from),
        max_vgprs: gpu.map_or(limits.default_max_vgpr, |gpu| u64::from(gpu.max_vgprs_per_thread())),
        scratch: resources.and_then(|found| found.scratch).map_or(0, |bytes| bytes.0),
        waves: rules::waves(kernel).map_or(limits.default_waves, |waves| waves.now),
    };
    let fired = loop_hints::fired(&signals, hotspot);
    let (id, evidence) = fired.iter().find(|(id, _)| loop_hints::suppressed(id, &fired).is_none())?;
    let pragma = compiler::pragmas().iter().find(|row| row.pragma == *id && row.allowlist)?;
    let place = format!("{}:{}", definition.site.file, found.line);
    let word = id.trim_start_matches("clang_loop_").to_uppercase().replace('_', "-");
    let mut actions = vec![format!("Put `{}` on the line above the loop at {place}.", pragma.syntax)];
    if !pragma.factor_sweep.is_empty() {
        let factors: Vec<String> = pragma.factor_sweep.iter().map(u32::to_string).collect();
        actions.push(format!("Try N = {}, one at a time.", factors.join(", ")));
    }
    actions.push("Verify with: perfxpert diff <this>.db <new>.db".to_owned());
    let draft = Draft {
        rule: pragma.pragma.clone(),
        id: format!("ROCPD-PRAGMA-{word}-001"),
        category: format!("Loop Hint ({id})"),
        class: "loop_hint".to_owned(),
        citation: format!("compiler/pragmas#{id}"),
        technique: pragma.pragma.clone(),
        title: format!("A loop of {} may gain from {}", kernel.short, pragma.syntax),
        issue: format!(
            "'{}' takes {} of GPU kernel time; its loop at {place}: {evidence}.",
            kernel.short,
            words::percent(hotspot)
        ),
        suggestion: format!("Try the hint that {}.", pragma.description),
        actions,
        base: limits.confidence,
        fixed: Some(Priority::Low),
        source_refs: vec![SourceRef {
            file: definition.site.file.to_string(),
            line: found.line.into(),
            kind: "definition",
            pattern_id: None,
        }],
        snippets: (Some(found.text.to_string()), Some(format!("{}\n{}", pragma.syntax, found.text))),
        hint: Some(LoopHint {
            file: definition.site.file.to_string(),
            line: found.line.into(),
            pragma_id: pragma.pragma.clone(),
            factor_sweep: pragma.factor_sweep.iter().map(|factor| u64::from(*factor)).collect(),
            risk: pragma.risk.clone(),
        }),
        ..Draft::default()
    };
    let shown = Number::percent("dominant_kernel", "pct_of_total", hotspot, "kernels").at_least(
        limits.amdahl_gate_pct,
        format!("'{}' takes {} of GPU kernel time", kernel.short, words::percent(hotspot)),
    );
    Some(
        draft
            .unbounded("the effect of a hint has to be measured")
            .on(TargetKind::Source, place)
            .showing(shown),
    )
}
