//! Renderings of the diff document, alone, with the gate, or as a section of the report.

pub mod markdown;
pub mod text;
pub mod webview;

use perfxpert_schemas::diff::{DiffDocument, GpuKind};

use super::number::{change, count, milliseconds};

/// `10.020 ms -> 10.700 ms (+6.90%)`.
pub(crate) fn movement(before: u64, after: u64, percent: Option<f64>) -> String {
    let percent = percent.map_or_else(|| "–".to_owned(), change);
    format!("{} ms -> {} ms ({percent})", milliseconds(before), milliseconds(after))
}

/// `2 compared: 1 regressed, 0 improved, 0 added, 0 removed`.
pub(crate) fn kernel_counts(document: &DiffDocument) -> String {
    let compared = document
        .per_kernel_total
        .saturating_sub(document.added_kernels_total)
        .saturating_sub(document.removed_kernels_total);
    format!(
        "{} compared: {} regressed, {} improved, {} added, {} removed",
        count(compared),
        count(document.primary_regressions_total),
        count(document.primary_improvements_total),
        count(document.added_kernels_total),
        count(document.removed_kernels_total)
    )
}

/// `1x gfx942 (AMD Instinct MI300X, 304 CU)`.
pub(crate) fn gpu_kinds(kinds: &[GpuKind]) -> Vec<String> {
    kinds
        .iter()
        .map(|kind| {
            let id = kind.gfx_id.as_deref().unwrap_or("unknown GPU");
            let units = kind.cu_count.map(|units| format!("{} CU", count(units)));
            let details: Vec<String> = kind.name.clone().into_iter().chain(units).collect();
            let details =
                if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
            format!("{}x {id}{details}", count(kind.count))
        })
        .collect()
}

/// `5 runs, first base/1.db`, or the path alone.
pub(crate) fn side(runs: u64, first: &str) -> String {
    if runs > 1 { format!("{} runs, first {first}", count(runs)) } else { first.to_owned() }
}

/// `[+5.94%, +7.78%]`, when an interval was computed.
pub fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    Some(format!("[{}, {}]", change(low?), change(high?)))
}
