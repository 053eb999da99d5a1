//! Fills what the caller did not say from the trace before the change.

use std::path::PathBuf;
use std::sync::Arc;

use perfxpert_analysis::gpu;
use perfxpert_analysis::impact::{COUNTERS, Inputs, SHARE};
use perfxpert_analysis::occupancy::{Unit, Use};
use perfxpert_analysis::profile::KernelProfile;
use perfxpert_analysis::resources;
use perfxpert_knowledge::arch;
use perfxpert_schemas::ErrorObject;

use crate::Context;
use crate::answer::{name_hash, short_name};
use crate::arguments::unknown_name;
use crate::traces::{LoadedRun, Wish};

/// Kernel names longer than this are shown shortened.
const LONGEST_NAME: usize = 300;
/// Names an unknown kernel is compared with, most time first.
const KNOWN_NAMES: usize = 2_000;
const MB: f64 = 1e6;

/// Opens the database.
///
/// # Errors
/// Those of opening and reading a trace.
pub(super) fn open(context: &Context, path: &str) -> Result<Arc<LoadedRun>, ErrorObject> {
    context.load_gpu(&[PathBuf::from(path)], Wish::default(), "baseline_db")
}

fn find<'a>(run: &'a LoadedRun, asked: &str) -> Result<&'a KernelProfile, ErrorObject> {
    let kernels = &run.profile.kernels;
    let exact = kernels.iter().find(|kernel| &*kernel.name == asked);
    let short = || {
        kernels.iter().find(|kernel| {
            short_name(&kernel.name, LONGEST_NAME).as_deref() == Some(asked)
                || name_hash(&kernel.name) == asked
        })
    };
    exact.or_else(short).ok_or_else(|| {
        let names: Vec<&str> = kernels.iter().take(KNOWN_NAMES).map(|kernel| &*kernel.name).collect();
        unknown_name("kernel_name", asked, names, "kernel")
    })
}

/// Adds what the run knows about a kernel to inputs; what the caller said stays.
///
/// # Errors
/// `unknown_name` when the run has no such kernel.
pub(super) fn fill(run: &LoadedRun, kernel: &str, inputs: &mut Inputs) -> Result<(), ErrorObject> {
    let kernel = find(run, kernel)?;
    let mut set = |name: &str, value: Option<f64>| {
        if let (Some(value), false) = (value, inputs.numbers.contains_key(name)) {
            inputs.set(name, value);
        }
    };
    set(SHARE, kernel.total.fraction_of(run.profile.kernel_sum()));
    let has_counters = run.trace.processes().iter().any(|process| process.has.counters);
    set(COUNTERS, Some(f64::from(has_counters)));
    let parts = run.profile.parts();
    set("exposed_copy_pct", parts.exposed_copy.fraction_of(parts.window()));
    set("kernel_window_pct", parts.kernel.fraction_of(parts.window()));
    let copies = run.profile.copies.iter().map(|copy| copy.durations.count).sum::<u64>();
    let bytes = run.profile.copies.iter().map(|copy| copy.bytes.as_f64()).sum::<f64>();
    set("avg_memcpy_size_mb", (copies > 0).then(|| bytes / copies as f64 / MB));
    let gpus = gpu::of_run(&run.trace, &run.profile, inputs.gfx_id.as_deref());
    let found = resources::of_kernel(&run.trace, &gpus, kernel);
    let mut set = |name: &str, value: Option<f64>| {
        if let (Some(value), false) = (value, inputs.numbers.contains_key(name)) {
            inputs.set(name, value);
        }
    };
    set("vgpr_per_thread", found.vgpr.map(f64::from));
    set("lds_usage_bytes", found.lds.map(|lds| lds.as_f64()));
    set("waves_now", found.occupancy.as_ref().map(|fit| fit.occupancy.waves as f64));
    if inputs.gfx_id.is_none() {
        inputs.gfx_id = found.gfx_id.filter(|id| arch::find(id).is_some());
    }
    Ok(())
}

/// Waves now and after the change, where registers and architecture tell them and the caller did not.
pub(super) fn derive_waves(inputs: &mut Inputs) {
    let Some(arch) = inputs.gfx_id.as_deref().and_then(arch::find) else { return };
    let Some(unit) = Unit::of(arch, arch.native_wave, false) else { return };
    let Some(vgprs) = inputs.get("vgpr_per_thread") else { return };
    let kernel = Use { vgprs: vgprs as u64, ..Use::default() };
    let Ok(now) = unit.occupancy(&kernel) else { return };
    let target = match inputs.get("target_vgpr") {
        Some(target) => Some(unit.vgpr_waves(target as u64)),
        None => unit.steps_up(&kernel).ok().and_then(|steps| steps.first().map(|step| step.waves)),
    };
    if inputs.get("waves_now").is_none() {
        inputs.set("waves_now", now.waves as f64);
    }
    if let (Some(target), None) = (target, inputs.get("waves_target")) {
        inputs.set("waves_target", target as f64);
    }
}
