//! Metrics of the targets of a run, from what it showed.

use perfxpert_knowledge::kernels::{self, Category};
use perfxpert_source::qualified_name;
use perfxpert_trace::Direction;

use super::{Subject, Subjects, Values};
use crate::occupancy::Limiter;
use crate::profile::{CallClass, GapCause, KernelKind};
use crate::recommend::observed::{AttCategory, Observed, ObservedCopies, ObservedKernel};
use crate::recommend::rules;
use crate::units::Nanos;

impl Subjects {
    /// The targets of a run with all that is known about them.
    #[must_use]
    pub fn of(run: &Observed) -> Self {
        Self {
            run: Subject {
                handle: "run".to_owned(),
                label: String::new(),
                key: "run".to_owned(),
                values: run_values(run),
                ..Subject::default()
            },
            copies: run.copies.iter().filter_map(|copies| copy(run, copies)).collect(),
            kernels: run
                .kernels
                .iter()
                .zip(1..)
                .filter(|(kernel, _)| kernel.kind == KernelKind::User)
                .map(|(kernel, rank)| self::kernel(run, kernel, rank))
                .collect(),
            health: run.health,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts to compare")]
fn as_number(count: u64) -> f64 {
    count as f64
}

fn run_values(run: &Observed) -> Values {
    let mut values = Values::default();
    let share = |part: Nanos| part.fraction_of(run.window);
    let traced = run.api_traced;
    let judged = run.window > Nanos::ZERO;
    let sum = |of: fn(&ObservedCopies) -> Nanos| -> Nanos { run.copies.iter().map(of).sum() };
    values.number("kernel_frac", share(run.kernel_busy));
    values.number("exposed_copy_frac", share(run.exposed_copies()));
    values.number("exposed_comm_frac", share(run.agents.iter().map(|agent| agent.exposed_collective).sum()));
    values.number("sync_gap_frac", share(run.gap(GapCause::Sync).total).filter(|_| traced));
    let launch = if traced { run.gap(GapCause::Launch).total } else { run.short_unknown.total };
    values.number("launch_gap_frac", share(launch));
    let host = run.gap(GapCause::Host).total + run.gap(GapCause::Unknown).total;
    values.number("host_gap_frac", share(host));
    let hideable = run.exposed_copies().min(run.kernel_busy.saturating_sub(run.overlap));
    values.number("hideable_copy_frac", share(hideable));
    let small: u64 = run.copies.iter().map(|copies| copies.small_count).sum();
    values.number("small_copy_count", judged.then(|| as_number(small)));
    values.number("small_copy_share", share(sum(|copies| copies.small_exposed)));
    let host_copies = run
        .copies
        .iter()
        .filter(|copies| matches!(copies.direction, Direction::HostToDevice | Direction::DeviceToHost));
    let count: u64 = host_copies.clone().map(|copies| copies.count).sum();
    let bytes: f64 = host_copies.map(|copies| copies.bytes.as_f64()).sum();
    values.number("avg_copy_bytes", (count > 0).then(|| bytes / as_number(count)));
    let blocking: u64 = run
        .calls
        .iter()
        .filter(|call| call.blocking && call.class == CallClass::Copy)
        .map(|call| call.calls)
        .sum();
    values.number("blocking_copy_calls", traced.then(|| as_number(blocking)));
    values.number("dispatch_count", judged.then(|| as_number(run.dispatches)));
    values.number("median_kernel_us", run.median_dispatch.map(|median| median / 1000.0));
    let dispatches = Some(run.dispatches).filter(|dispatches| *dispatches > 0);
    values.number(
        "syncs_per_dispatch",
        run.blocking_calls
            .zip(dispatches)
            .map(|(calls, dispatches)| as_number(calls) / as_number(dispatches)),
    );
    values.number("work_streams", run.work_streams.map(as_number));
    values.number("repeat_frac", run.repeat_frac);
    values.number("graph_launch_frac", run.graph_launch_frac);
    let fusion: f64 = run.pairs.iter().filter_map(|pair| run.pct(pair.saving)).sum();
    values.number("fusion_saving_frac", judged.then_some(fusion / 100.0));
    values.number("mean_grid_fill", mean_grid_fill(run));
    // What is not traced is unknown, never false.
    values.flag("api_traced", traced.then_some(true));
    values.flag("src_sync_in_loop", run.sync_in_loop);
    values
}

fn grid_fill(kernel: &ObservedKernel) -> Option<f64> {
    let groups = kernel.resources.as_ref()?.workgroups?;
    let units = kernel.cu_count.filter(|units| *units > 0)?;
    Some(as_number(groups) / f64::from(units))
}

/// Mean over the kernels of the program, weighted by their time; a full grid counts as one.
fn mean_grid_fill(run: &Observed) -> Option<f64> {
    let mut time = 0.0;
    let mut filled = 0.0;
    for kernel in run.kernels.iter().filter(|kernel| kernel.kind == KernelKind::User) {
        if let (Some(fill), Some(share)) = (grid_fill(kernel), kernel.pct_of_total) {
            time += share;
            filled += share * fill.min(1.0);
        }
    }
    (time > 0.0).then(|| filled / time)
}

fn copy(run: &Observed, copies: &ObservedCopies) -> Option<Subject> {
    let handle = match copies.direction {
        Direction::HostToDevice => "h2d",
        Direction::DeviceToHost => "d2h",
        _ => return None,
    };
    let mut values = Values::default();
    values.number("large_copy_share", copies.large_exposed.fraction_of(run.window));
    let peak = copies.link_peak_gbps.filter(|peak| *peak > 0.0);
    values.number("link_eff", copies.large_gbps.zip(peak).map(|(rate, peak)| rate / peak));
    Some(Subject {
        handle: handle.to_owned(),
        label: copies.direction.label().to_owned(),
        key: handle.to_owned(),
        values,
        ..Subject::default()
    })
}

/// Whether a kernel of this name and category uses its data again; `None` when neither tells.
pub fn reuses(name: &str, category: Category) -> Option<bool> {
    match category {
        Category::Gemm | Category::Conv => Some(true),
        _ if kernels::is_stencil(name) => Some(true),
        Category::Elementwise | Category::Copy | Category::Reduction | Category::Normalization => Some(false),
        _ => None,
    }
}

fn kernel(run: &Observed, kernel: &ObservedKernel, rank: u64) -> Subject {
    let mut values = Values::default();
    let metrics = &kernel.metrics;
    values.number("share", kernel.pct_of_runtime.map(|share| share / 100.0));
    values.number("calls", Some(as_number(kernel.calls)));
    values.number("avg_us", kernel.mean.map(|mean| mean / 1000.0));
    values.label("category", Some(kernel.category.as_str()));
    values.flag("is_library", Some(kernels::is_library(&kernel.name)));
    values.flag("reuse_pattern", reuses(&kernel.name, kernel.category));
    values.label("dtype", metrics.dtype.as_deref());
    values.flag("matrix_dtype", metrics.matrix_dtype);
    values.label("matrix_pipe", kernel.matrix_pipe);
    values.number("matrix_ratio", metrics.matrix_ratio);
    resources(&mut values, kernel);
    values.number("grid_fill", grid_fill(kernel));
    values.number("valu_util", metrics.valu);
    values.number("mfma_util", metrics.mfma);
    values.number("hbm_util", metrics.hbm);
    values.number("l1_hit", metrics.l1_hit);
    values.number("l2_hit", metrics.l2_hit);
    values.number("coalescing", metrics.coalescing);
    values.number("lds_conflict_frac", metrics.lds_conflict);
    values.number("trans_frac", metrics.transcendental);
    values.number("ai_ratio", metrics.intensity_over_ridge);
    let name = qualified_name(&kernel.name);
    if let Some(traced) = run.thread_trace.iter().find(|traced| qualified_name(&traced.name) == name) {
        let part = |wanted: AttCategory| {
            let found = traced.categories.iter().find(|(category, _)| *category == wanted);
            Some(found.map_or(0.0, |(_, part)| *part))
        };
        values.number("att_vmem_frac", part(AttCategory::Vmem));
        values.number("att_lds_frac", part(AttCategory::Lds));
        values.number("att_dep_frac", part(AttCategory::Dependency));
        values.number("att_branch_frac", part(AttCategory::Divergence));
    }
    values.flag("src_launch_bounds", kernel.in_source.then_some(kernel.launch_bounds.is_some()));
    let mut words = std::collections::BTreeMap::new();
    if let Some(threads) = threads(kernel) {
        words.insert("threads".to_owned(), threads.to_string());
    }
    if let Some(wave) = kernel.wave_size {
        words.insert("wave".to_owned(), wave.to_string());
    }
    Subject {
        handle: format!("k{rank}"),
        label: kernel.short.clone(),
        key: kernel.slug.clone(),
        values,
        words,
    }
}

fn threads(kernel: &ObservedKernel) -> Option<u64> {
    let block = kernel.resources.as_ref()?.block?;
    Some(block.iter().map(|&size| u64::from(size)).product())
}

fn resources(values: &mut Values, kernel: &ObservedKernel) {
    let Some(found) = kernel.resources.as_ref() else { return };
    values.number("lds_bytes", found.lds.map(|bytes| bytes.as_f64()));
    values.number("scratch_bytes", found.scratch.map(|bytes| bytes.as_f64()));
    if let (Some(threads), Some(wave)) =
        (threads(kernel), kernel.wave_size.map(u64::from).filter(|wave| *wave > 0))
    {
        let lanes = threads.div_ceil(wave) * wave;
        values.number("idle_lanes", (lanes > 0).then(|| 1.0 - as_number(threads) / as_number(lanes)));
    }
    let Some(waves) = rules::waves(kernel) else {
        values.number("vgpr_total", found.vgpr.map(f64::from));
        return;
    };
    let fit = found.occupancy.as_ref().map(|fit| &fit.occupancy);
    let registers = fit.map(|fit| as_number(fit.registers));
    values.number("vgpr_total", registers);
    values.number("waves_per_simd", Some(as_number(waves.now)));
    values.number("waves_target", waves.next.map(as_number));
    values.number("occ_frac", fit.map(|fit| fit.fraction));
    let limiter = match waves.limiter {
        Limiter::Vgpr => "vgpr",
        Limiter::Sgpr => "sgpr",
        Limiter::Lds => "lds",
        Limiter::Barrier => "barrier",
        Limiter::Workgroup => "workgroup",
        Limiter::None => "none",
    };
    values.label("occ_limiter", Some(limiter));
    let cut = registers.filter(|now| *now > 0.0).zip(waves.registers);
    values.number("vgpr_cut_frac", cut.map(|(now, target)| 1.0 - as_number(target) / now));
}
