//! What a thread trace says a kernel waits for.

use perfxpert_knowledge::thresholds;
use perfxpert_source::qualified_name;

use super::super::draft::{Draft, Number, Target};
use super::super::entry::{Priority, SourceRef, TargetKind};
use super::super::observed::{AttCategory, AttInstruction, AttKernel, Observed, ObservedKernel};
use super::super::text::{fraction, pct};
use super::share;
use crate::naming;
use crate::rounding::round;

pub(super) fn drafts(run: &Observed) -> Vec<Draft> {
    let hot = super::hot(run).map(|kernel| (qualified_name(&kernel.name), kernel)).collect::<Vec<_>>();
    let mut drafts: Vec<(f64, Draft)> = Vec::new();
    for traced in &run.thread_trace {
        let name = qualified_name(&traced.name);
        let kernel = hot.iter().find(|(known, _)| *known == name).map(|(_, kernel)| *kernel);
        for (category, part) in &traced.categories {
            let weight = kernel.map_or(0.0, share) * part;
            drafts.extend(waits(traced, kernel, *category, *part).map(|draft| (weight, draft)));
        }
    }
    drafts.sort_by(|a, b| b.0.total_cmp(&a.0));
    drafts.into_iter().map(|(_, draft)| draft).collect()
}

fn rule(category: AttCategory) -> &'static str {
    match category {
        AttCategory::Vmem => "att_vmem",
        AttCategory::Lds => "att_lds",
        AttCategory::Dependency => "att_dependency",
        AttCategory::Divergence => "att_divergence",
    }
}

fn waits(
    traced: &AttKernel,
    kernel: Option<&ObservedKernel>,
    category: AttCategory,
    part: f64,
) -> Option<Draft> {
    let limits = thresholds::report();
    if part < limits.att_share_min {
        return None;
    }
    let top: &AttInstruction = traced
        .instructions
        .iter()
        .find(|row| row.category == category && row.hits >= limits.att_min_hits)
        .filter(|row| row.stall_ratio >= limits.att_ratio)?;
    let named = Draft::of(rule(category), &[])?;
    let shown = named.category.strip_prefix("ATT ").unwrap_or(&named.category);
    let short = kernel.map_or_else(|| naming::short_name(&traced.name), |kernel| kernel.short.clone());
    let percent = round(100.0 * part, 2);
    let (q, r) = (pct(percent), fraction(top.stall_ratio));
    let source = top.source.as_deref().unwrap_or("no source line");
    let values = [
        ("short", &*short),
        ("category", shown),
        ("q", &q),
        ("r", &r),
        ("instruction", &top.text),
        ("source", source),
    ];
    let mut draft = Draft::of(rule(category), &values)?
        .showing(
            Number::percent("att_category", "pct_of_latency", percent, "att")
                .at_least(100.0 * limits.att_share_min, format!("{shown} holds {q}% of the kernel's cycles")),
        )
        .showing(
            Number { source: "att", ..Number::fraction("att_top_stall", "stall_ratio", top.stall_ratio) }
                .at_least(limits.att_ratio, format!("Its top instruction stalls {r}% of its latency")),
        )
        .showing(Number::count("att_hits", "hitcount", top.hits, "att").at_least(
            #[expect(clippy::cast_precision_loss, reason = "a threshold")]
            {
                limits.att_min_hits as f64
            },
            format!("That instruction ran {} times", crate::words::count(top.hits)),
        ));
    draft.source_refs.extend(top.source.as_deref().and_then(place));
    Some(match kernel {
        Some(kernel) => draft
            .bounded(share(kernel) * part, "share of the run x part of its latency cycles")
            .on_kernel(kernel)
            .showing(super::shape::share_item(kernel)),
        None => {
            draft.fixed = Some(Priority::Low);
            draft.target = Target {
                name: Some(traced.name.clone()),
                kind: Some(TargetKind::Kernel),
                slug: Some(naming::slug(&traced.name)),
            };
            draft.unbounded("the kernel is not among the hotspots of the trace")
        }
    })
}

/// `file:line` of an instruction.
fn place(source: &str) -> Option<SourceRef> {
    let (file, line) = source.trim().rsplit_once(':')?;
    let line = line.parse().ok()?;
    Some(SourceRef { file: file.to_owned(), line, kind: "instruction", pattern_id: None })
}
