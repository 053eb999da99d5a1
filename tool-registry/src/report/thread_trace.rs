//! Reads the thread-trace tables of a folder.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use perfxpert_analysis::naming::slug;
use perfxpert_analysis::rounding::round;
use perfxpert_analysis::thread_trace::{self as csv, TracedKernel as Traced};
use perfxpert_schemas::report::hardware::{
    SkippedFile, StallCategory, StallingInstruction, ThreadTrace, ThreadTraceSummary, TracedKernel,
};

use crate::Context;

/// Files read.
const FILES: usize = 200;
/// Bytes of one file.
const BYTES: u64 = 64 << 20;
/// Files left out that are named.
const SKIPPED: usize = 50;

/// What a folder with thread-trace tables holds, and the kernels in the form the rules take.
pub(super) fn section(context: &Context, folder: &str) -> (ThreadTrace, Vec<Traced>) {
    let root = Path::new(folder);
    if !root.is_dir() {
        return (unusable("it is not a folder".to_owned()), Vec::new());
    }
    let mut files = tables(root);
    if files.is_empty() {
        let mut below: Vec<PathBuf> = entries(root).into_iter().filter(|path| path.is_dir()).collect();
        below.sort();
        files = below.iter().flat_map(|folder| tables(folder)).collect();
    }
    if files.is_empty() {
        let reason = if holds_raw(root) {
            "the folder holds raw trace files but no stats_*.csv: decode them with rocprofv3, which needs the trace \
             decoder library"
        } else {
            "the folder holds no stats_*.csv"
        };
        return (unusable(reason.to_owned()), Vec::new());
    }
    let mut found: Vec<(String, Traced)> = Vec::new();
    let mut failed: Vec<TracedKernel> = Vec::new();
    let mut summary = ThreadTraceSummary::default();
    for (index, path) in files.iter().enumerate() {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let read = if index >= FILES {
            Err(format!("more than {FILES} files"))
        } else if context.is_cancelled() {
            Err("the call was stopped".to_owned())
        } else {
            text(path).and_then(|text| csv::read(&text, stem(&name)).map_err(|fault| fault.to_string()))
        };
        match read {
            Ok(kernels) => {
                summary.files_read += 1;
                found.extend(kernels.into_iter().map(|kernel| (name.clone(), kernel)));
            }
            Err(reason) => {
                if reason.starts_with("column") {
                    failed.push(broken(&name, &reason));
                }
                if summary.files_skipped.len() < SKIPPED {
                    summary.files_skipped.push(SkippedFile { file: name, reason });
                }
            }
        }
    }
    found.sort_by(|(_, a), (_, b)| b.stall.cmp(&a.stall).then_with(|| a.name.cmp(&b.name)));
    summary.kernel_count = found.len() as u64;
    summary.high_stall_kernels = found.iter().filter(|(_, kernel)| kernel.stalls_much()).count() as u64;
    let has = !found.is_empty();
    let kernels: Vec<TracedKernel> =
        found.iter().map(|(file, kernel)| row(file, kernel)).chain(failed).collect();
    let trace = ThreadTrace {
        has_att_data: has,
        reason: (!has).then(|| "its stats_*.csv files hold no usable row".to_owned()),
        kernels_total: kernels.len() as u64,
        kernels,
        summary,
    };
    (trace, found.into_iter().map(|(_, kernel)| kernel).collect())
}

fn unusable(reason: String) -> ThreadTrace {
    ThreadTrace {
        has_att_data: false,
        reason: Some(reason),
        kernels: Vec::new(),
        kernels_total: 0,
        summary: ThreadTraceSummary::default(),
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listing = std::fs::read_dir(folder).ok();
    listing.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect()
}

fn named(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The tables directly in a folder, bytewise by name.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = entries(folder)
        .into_iter()
        .filter(|path| {
            let name = named(path);
            name.starts_with("stats_") && name.ends_with(".csv") && path.is_file()
        })
        .collect();
    files.sort();
    files
}

/// Whether the profiler's undecoded files are there.
fn holds_raw(folder: &Path) -> bool {
    let raw = |path: &PathBuf| {
        let name = named(path);
        path.extension().is_some_and(|extension| extension == "att") || name.contains("_shader_engine_")
    };
    let here = entries(folder);
    here.iter().any(raw)
        || here.iter().filter(|path| path.is_dir()).any(|below| entries(below).iter().any(raw))
}

fn stem(name: &str) -> &str {
    let name = name.strip_prefix("stats_").unwrap_or(name);
    name.strip_suffix(".csv").unwrap_or(name)
}

fn text(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut bytes = Vec::new();
    file.take(BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > BYTES {
        return Err(format!("larger than {} MiB", BYTES >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn broken(file: &str, reason: &str) -> TracedKernel {
    let nothing = Traced { name: stem(file).to_owned(), ..Traced::default() };
    TracedKernel { error: Some(reason.to_owned()), stall_category: None, ..row(file, &nothing) }
}

fn row(file: &str, kernel: &Traced) -> TracedKernel {
    let share = |stall: u64| {
        let percent = perfxpert_analysis::Percent::of(stall, kernel.latency).unwrap_or_default();
        percent.value()
    };
    let categories = kernel.categories.iter().map(|(category, stall)| {
        let row = StallCategory { stall_cycles: *stall, pct_of_latency: share(*stall) };
        ((*category).to_owned(), row)
    });
    TracedKernel {
        name: kernel.name.clone(),
        slug: slug(&kernel.name),
        csv_file: file.to_owned(),
        instruction_count: kernel.instructions,
        total_latency_cycles: kernel.latency,
        total_stall_cycles: kernel.stall,
        total_idle_cycles: kernel.idle,
        stall_pct: share(kernel.stall),
        avg_stall_ratio: round(kernel.stall_ratio(), 4),
        stall_category: kernel.stall_category().map(str::to_owned),
        categories: categories.collect(),
        top_stalling_instructions: kernel
            .top
            .iter()
            .map(|row| StallingInstruction {
                instruction: row.text.clone(),
                pc_offset: row.text.clone(),
                hitcount: row.hits,
                total_latency_cycles: row.latency,
                stall_cycles: row.stall,
                stall_ratio: round(row.stall_ratio(), 4),
                weighted_stall: row.stall,
                category: row.category.to_owned(),
                source_line: row.source.clone(),
            })
            .collect(),
        total_weighted_stall: kernel.stall,
        rows_left_out: kernel.left_out,
        error: None,
    }
}
