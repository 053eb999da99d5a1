//! Targets of techniques from what a caller gives without a trace: kernel rows, counters, copies, launches.

use std::collections::BTreeSet;

use perfxpert_analysis::naming::{short_name, slug};
use perfxpert_analysis::occupancy::Unit;
use perfxpert_analysis::recommend::techniques::{MetricValue, Subject, Subjects, Values, reuses};
use perfxpert_knowledge::arch::Arch;
use perfxpert_knowledge::kernels;
use perfxpert_knowledge::techniques::{self as catalogue, Format, Target};
use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value};

use crate::arguments::{fraction, nearest};

/// Other names of metrics; `true` turns a miss rate into a hit rate.
const ALIASES: [(&str, &str, bool); 16] = [
    ("vgpr_used", "vgpr_total", false),
    ("vgpr_count", "vgpr_total", false),
    ("vgpr_per_thread", "vgpr_total", false),
    ("vgpr", "vgpr_total", false),
    ("waves_per_eu", "waves_per_simd", false),
    ("valu_util_pct", "valu_util", false),
    ("mfma_util_pct", "mfma_util", false),
    ("occupancy_pct", "occ_frac", false),
    ("lds_bank_conflict_pct", "lds_conflict_frac", false),
    ("hbm_bw_utilization", "hbm_util", false),
    ("l2_hit_rate", "l2_hit", false),
    ("l1_hit_rate", "l1_hit", false),
    ("l1_miss_rate", "l1_hit", true),
    ("lds_usage_bytes", "lds_bytes", false),
    ("scratch_size", "scratch_bytes", false),
    ("transcendental_share", "trans_frac", false),
];
/// Keys of kernel rows that hold no metric.
const ROW_KEYS: [&str; 22] = [
    "handle",
    "name",
    "calls",
    "count",
    "total_duration",
    "duration_ns",
    "total_duration_ns",
    "avg_duration",
    "min_duration",
    "max_duration",
    "percent_of_total",
    "pct_of_total",
    "pct",
    "pct_total",
    "pct_of_runtime",
    "severity",
    "category",
    "kind",
    "resources",
    "metrics",
    "source_locations",
    "rank",
];

/// What a caller gives instead of a trace.
#[derive(Default)]
pub(super) struct Given<'a> {
    pub(super) kernels: &'a [Map<String, Value>],
    pub(super) counters: Option<&'a Map<String, Value>>,
    pub(super) copies: Option<&'a Map<String, Value>>,
    pub(super) hints: Option<&'a Map<String, Value>>,
    /// Time waiting for launches, fraction of the run; typical kernel, µs.
    pub(super) launches: Option<(f64, Option<f64>)>,
    pub(super) arch: Option<&'static Arch>,
}

/// Targets made of it, and the keys nobody knows.
pub(super) struct Read {
    pub(super) subjects: Subjects,
    pub(super) ignored: BTreeSet<String>,
    pub(super) names: Vec<String>,
}

fn number(row: &Map<String, Value>, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| row.get(*key)?.as_f64())
}

/// Sets every metric of an object; fractions are checked.
fn metrics(
    values: &mut Values,
    from: &Map<String, Value>,
    place: &str,
    ignored: &mut BTreeSet<String>,
) -> Result<(), ErrorObject> {
    for (key, value) in from.iter().filter(|(_, value)| !value.is_null()) {
        let alias = ALIASES.iter().find(|(alias, ..)| alias == key);
        let (name, miss) = alias.map_or((key.as_str(), false), |(_, name, miss)| (*name, *miss));
        let Some(metric) = catalogue::metric(name).filter(|metric| metric.scope == Target::Kernel) else {
            ignored.insert(key.clone());
            continue;
        };
        match (metric.format, value) {
            (Format::Flag, Value::Bool(flag)) => values.flag(name, Some(*flag)),
            (Format::Label, Value::String(text)) => values.label(name, Some(text)),
            (Format::Pct, Value::Number(_)) => {
                let share = fraction(&format!("{place}.{key}"), value.as_f64().unwrap_or_default())?;
                values.number(name, Some(if miss { 1.0 - share } else { share }));
            }
            (_, Value::Number(_)) => values.number(name, value.as_f64()),
            _ => {
                ignored.insert(key.clone());
            }
        }
    }
    Ok(())
}

/// Reads it all.
///
/// # Errors
/// `invalid_argument` for a row without a name and for a fraction outside 0 to 1.
pub(super) fn read(given: &Given<'_>) -> Result<Read, ErrorObject> {
    let mut ignored = BTreeSet::new();
    let mut rows: Vec<GivenRow<'_>> = Vec::new();
    for (at, row) in given.kernels.iter().enumerate() {
        let field = format!("input.hot_kernels[{at}]");
        let Some(name) = row.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
            let message = format!("{field} has no name.");
            return Err(ErrorObject::invalid(&format!("{field}.name"), message, "Send the kernel's name."));
        };
        if let Some(share) = number(row, &["pct", "pct_total"]) {
            fraction(&format!("{field}.pct"), share)?;
        }
        ignored.extend(
            row.keys()
                .filter(|key| !ROW_KEYS.contains(&key.as_str()))
                .filter(|key| catalogue::metric(key).is_none())
                .cloned(),
        );
        let time = number(row, &["total_duration", "duration_ns", "total_duration_ns"]).unwrap_or_default();
        rows.push((name, time.max(0.0), number(row, &["calls", "count"]), row));
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let whole: f64 = rows.iter().map(|row| row.1).sum();
    let mut subjects = Subjects { health: 1.0, ..Subjects::default() };
    for (at, (name, time, calls, row)) in rows.iter().enumerate() {
        let category = kernels::category(name);
        let mut values = Values::default();
        values.number(
            "share",
            if whole > 0.0 { Some(time / whole) } else { number(row, &["pct", "pct_total"]) },
        );
        values.number("calls", *calls);
        values.number("avg_us", calls.filter(|calls| *calls > 0.0).map(|calls| time / calls / 1000.0));
        values.label("category", Some(category.as_str()));
        values.flag("is_library", Some(kernels::is_library(name)));
        values.flag("reuse_pattern", reuses(name, category));
        values.label("matrix_pipe", given.arch.map(|arch| arch.matrix_pipe.as_str()));
        if let Some(Value::Object(found)) = row.get("metrics") {
            metrics(&mut values, found, &format!("input.hot_kernels.{name}.metrics"), &mut ignored)?;
        }
        if let Some(Value::Object(found)) = row.get("resources") {
            let numbers = found.iter().filter(|(_, value)| value.is_number() || value.is_string());
            let numbers: Map<String, Value> =
                numbers.map(|(key, value)| (key.clone(), value.clone())).collect();
            metrics(
                &mut values,
                &numbers,
                &format!("input.hot_kernels.{name}.resources"),
                &mut BTreeSet::new(),
            )?;
        }
        counters(&mut values, given, at, name, &mut ignored)?;
        if let Some(hints) = given.hints {
            values.flag("src_launch_bounds", hints.get("launch_bounds").and_then(Value::as_bool));
        }
        waves(&mut values, given.arch);
        subjects.kernels.push(Subject {
            handle: format!("k{}", at + 1),
            label: short_name(name),
            key: slug(name),
            values,
            ..Subject::default()
        });
    }
    subjects.run = run(given, &rows);
    subjects.copies = copies(given);
    if let Some(hints) = given.hints {
        let known = ["launch_bounds", "sync_in_loop", "pageable_copy", "tier0_findings"];
        ignored.extend(hints.keys().filter(|key| !known.contains(&key.as_str())).cloned());
    }
    Ok(Read { subjects, ignored, names: rows.iter().map(|row| row.0.to_owned()).collect() })
}

/// Counters are flat, for the longest kernel, or keyed by kernel name.
fn counters(
    values: &mut Values,
    given: &Given<'_>,
    at: usize,
    name: &str,
    ignored: &mut BTreeSet<String>,
) -> Result<(), ErrorObject> {
    let Some(counters) = given.counters else { return Ok(()) };
    if counters.values().any(Value::is_object) {
        if let Some(Value::Object(own)) = counters.get(name) {
            metrics(values, own, &format!("input.counter_data.{name}"), ignored)?;
        }
        return Ok(());
    }
    if at == 0 { metrics(values, counters, "input.counter_data", ignored) } else { Ok(()) }
}

/// What the register count alone says about waves.
fn waves(values: &mut Values, arch: Option<&'static Arch>) {
    let (Some(arch), Some(registers)) = (arch, values.get("vgpr_total")) else { return };
    let Some(unit) = arch.wave_sizes.first().and_then(|wave| Unit::of(arch, *wave, false)) else { return };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a register count; saturates"
    )]
    let registers = registers.max(0.0) as u64;
    let most = unit.max_waves;
    let now = unit.vgpr_waves(registers).min(most);
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let as_number = |count: u64| count as f64;
    let mut set = |name: &str, value: Option<f64>| {
        if values.get(name).is_none() {
            values.number(name, value);
        }
    };
    set("waves_per_simd", Some(as_number(now)));
    set("occ_frac", (most > 0).then(|| as_number(now) / as_number(most)));
    if let Some(step) = unit.next_step_down(registers) {
        set("waves_target", Some(as_number(step.waves)));
        set("vgpr_cut_frac", (registers > 0).then(|| 1.0 - as_number(step.registers) / as_number(registers)));
    }
    if !values.0.contains_key("occ_limiter") {
        values.label("occ_limiter", (now < most).then_some("vgpr"));
    }
}

/// Name, summed time (ns), calls when known, and the other keys of a kernel row.
type GivenRow<'a> = (&'a str, f64, Option<f64>, &'a Map<String, Value>);

fn run(given: &Given<'_>, rows: &[GivenRow<'_>]) -> Subject {
    let mut values = Values::default();
    let calls: f64 = rows.iter().filter_map(|row| row.2).sum();
    values.number("dispatch_count", (calls > 0.0).then_some(calls));
    if let Some((waiting, typical)) = given.launches {
        values.number("launch_gap_frac", (waiting > 0.0).then_some(waiting));
        values.number("median_kernel_us", typical);
    }
    if let Some(copies) = given.copies {
        values.number("exposed_copy_frac", number(copies, &["exposed_copy_pct"]).map(|pct| pct / 100.0));
        let sum = |what: &str| -> Option<f64> {
            let sides =
                ["host_to_device", "device_to_host"].map(|side| number(copies, &[&format!("{side}_{what}")]));
            sides.into_iter().flatten().reduce(|a, b| a + b)
        };
        let count = sum("count").filter(|count| *count > 0.0);
        values.number("avg_copy_bytes", sum("bytes").zip(count).map(|(bytes, count)| bytes / count));
    }
    if let Some(hints) = given.hints {
        values.flag("src_sync_in_loop", hints.get("sync_in_loop").and_then(Value::as_bool));
    }
    Subject { handle: "run".to_owned(), key: "run".to_owned(), values, ..Subject::default() }
}

fn copies(given: &Given<'_>) -> Vec<Subject> {
    let Some(copies) = given.copies else { return Vec::new() };
    let total = number(copies, &["total_runtime_ns"]).filter(|total| *total > 0.0);
    let sides = [("host_to_device", "h2d", "Host-to-Device"), ("device_to_host", "d2h", "Device-to-Host")];
    sides
        .into_iter()
        .filter(|(side, ..)| copies.keys().any(|key| key.starts_with(side)))
        .map(|(side, handle, label)| {
            let mut values = Values::default();
            let share = number(copies, &[&format!("{side}_ns")]).zip(total).map(|(ns, total)| ns / total);
            values.number("large_copy_share", share.filter(|share| *share <= 1.0));
            let hint = given.hints.and_then(|hints| hints.get("pageable_copy")).and_then(Value::as_bool);
            values.flag("src_pageable_copy", hint);
            Subject {
                handle: handle.to_owned(),
                label: label.to_owned(),
                key: handle.to_owned(),
                values,
                ..Subject::default()
            }
        })
        .collect()
}

/// One sentence about keys that were not used.
pub(super) fn ignored(keys: &BTreeSet<String>) -> Vec<String> {
    let raw = |key: &&String| key.chars().any(|c| c.is_ascii_uppercase()) && key.contains('_');
    let mut warnings = Vec::new();
    let counters: Vec<&str> = keys.iter().filter(raw).map(String::as_str).collect();
    if !counters.is_empty() {
        warnings.push(format!(
            "Raw counters are not used ({}): give `database_path` to use raw counters.",
            counters.join(", ")
        ));
    }
    let known: Vec<&str> = catalogue::metrics().iter().map(|metric| metric.name.as_str()).collect();
    let others: Vec<String> = keys
        .iter()
        .filter(|key| !raw(key))
        .map(|key| match nearest(key, known.iter().copied()) {
            Some(near) => format!("{key} (near {near})"),
            None => key.clone(),
        })
        .collect();
    if !others.is_empty() {
        warnings.push(format!("Ignored keys: {}.", others.join(", ")));
    }
    warnings
}

/// A metric's value on the wire; 4 decimals are more than any sentence shows.
pub(super) fn shown(value: &MetricValue) -> Value {
    match value {
        MetricValue::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
            let whole = *number as i64;
            Value::from(whole)
        }
        MetricValue::Number(number) => Value::from(perfxpert_analysis::rounding::round(*number, 4)),
        MetricValue::Flag(flag) => Value::from(*flag),
        MetricValue::Label(text) => Value::from(text.clone()),
    }
}
