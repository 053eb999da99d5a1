//! What a comparison needs to know of one run.

use std::collections::BTreeMap;
use std::sync::Arc;

use perfxpert_trace::{Health, RowCounts, Severity, Trace};

use crate::RunProfile;
use crate::gpu::Gpu;
use crate::profile::{Distribution, KernelProfile};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// One run of one side: a file, or the files of one recording.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// First start to last end over kernels and copies, per machine, the longest.
    pub wall: Nanos,
    /// Summed durations of all dispatches.
    pub kernel_sum: Nanos,
    /// Kernels by name bytewise, one entry a name.
    pub kernels: Vec<KernelRun>,
    /// GPUs with work, by kind.
    pub gpus: Vec<GpuCount>,
    /// Whether there is any kernel or copy.
    pub has_gpu_work: bool,
    /// Sentences of the health items that say rows are missing.
    pub losses: Vec<String>,
    /// Dispatches read.
    pub dispatches: u64,
    /// Dispatch rows put aside.
    pub dispatches_left_out: u64,
    /// What the memory of the fastest GPU can move; `None` when a GPU's rate is not known.
    pub memory_rate: Option<BytesPerSecond>,
}

/// One kernel of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRun {
    /// Full cleaned name.
    pub name: Arc<str>,
    /// Calls.
    pub calls: u64,
    /// Summed durations.
    pub total: Nanos,
    /// Durations of the calls.
    pub spread: Spread,
    /// Work-items launched; `None` when the launches' shapes are not all known.
    pub work_items: Option<u128>,
    /// Bytes counted by hardware counters; `None` without them.
    pub counted: Option<Counted>,
}

/// Count, mean and variance of durations, so that several runs can be pooled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// How many.
    pub count: f64,
    /// Mean, ns.
    pub mean: f64,
    /// Sum of squared deviations from the mean, ns².
    pub squares: f64,
}

impl Spread {
    /// Of a distribution.
    #[must_use]
    pub fn of(durations: &Distribution) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a spread needs no more than 53 bits")]
        let count = durations.count as f64;
        let deviation = durations.stddev.unwrap_or_default();
        Self {
            count,
            mean: durations.mean().unwrap_or_default(),
            squares: deviation * deviation * (count - 1.0).max(0.0),
        }
    }

    /// Both together.
    #[must_use]
    pub fn pooled(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count <= 0.0 {
            return Self::default();
        }
        let apart = other.mean - self.mean;
        Self {
            count,
            mean: self.mean + apart * other.count / count,
            squares: self.squares + other.squares + apart * apart * self.count * other.count / count,
        }
    }

    /// Squared standard error of the mean, ns²; `None` below two values.
    #[must_use]
    pub fn error_squared(self) -> Option<f64> {
        (self.count >= 2.0).then(|| self.squares / (self.count - 1.0) / self.count)
    }
}

/// Bytes that counters saw in some calls of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Bytes moved.
    pub bytes: Bytes,
    /// Summed durations of these calls.
    pub duration: Nanos,
    /// How many calls.
    pub calls: u64,
    /// Work-items of these calls, when all their shapes are known.
    pub work_items: Option<u128>,
}

/// A kind of GPU and how many of it had work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuCount {
    /// Architecture id.
    pub gfx_id: Option<String>,
    /// Compute units.
    pub cu_count: Option<u32>,
    /// Product name.
    pub name: Option<String>,
    /// How many.
    pub count: u64,
}

impl Run {
    /// A run without any GPU work.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// From a profiled trace. `gpus` are those of [`crate::gpu::of_run`]; `counted` gives the bytes of a kernel by its place in
    /// [`RunProfile::kernels`].
    #[must_use]
    pub fn of(
        trace: &Trace,
        profile: &RunProfile,
        health: &Health,
        rows: RowCounts,
        gpus: &[Gpu],
        counted: impl Fn(usize) -> Option<Counted>,
    ) -> Self {
        let mut kernels: Vec<KernelRun> = profile
            .kernels
            .iter()
            .enumerate()
            .map(|(at, kernel)| KernelRun {
                name: Arc::clone(&kernel.name),
                calls: kernel.calls,
                total: kernel.total,
                spread: Spread::of(&kernel.durations),
                work_items: work_items(trace, kernel),
                counted: counted(at),
            })
            .collect();
        kernels.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            wall: profile.total_runtime(),
            kernel_sum: profile.kernel_sum(),
            kernels,
            gpus: kinds(gpus),
            has_gpu_work: profile.judgeable(),
            losses: health
                .items()
                .iter()
                .filter(|item| item.severity == Severity::DataLoss)
                .map(|item| item.message.clone())
                .collect(),
            dispatches: rows.dispatches,
            dispatches_left_out: rows.dispatches_left_out,
            memory_rate: memory_rate(gpus),
        }
    }

    /// Kinds of GPU without their names, which do not tell two GPUs apart.
    pub(crate) fn gpu_identity(&self) -> Vec<(Option<&str>, Option<u32>, u64)> {
        let mut kinds: BTreeMap<(Option<&str>, Option<u32>), u64> = BTreeMap::new();
        for gpu in &self.gpus {
            *kinds.entry((gpu.gfx_id.as_deref(), gpu.cu_count)).or_default() += gpu.count;
        }
        kinds.into_iter().map(|((gfx, units), count)| (gfx, units, count)).collect()
    }
}

fn kinds(gpus: &[Gpu]) -> Vec<GpuCount> {
    let mut kinds: BTreeMap<_, u64> = BTreeMap::new();
    for gpu in gpus {
        *kinds.entry((gpu.gfx_id.clone(), gpu.cu_count, gpu.name.clone())).or_default() += 1;
    }
    kinds
        .into_iter()
        .map(|((gfx_id, cu_count, name), count)| GpuCount { gfx_id, cu_count, name, count })
        .collect()
}

/// What no kernel of the run can exceed: the last-level cache where the GPU has one, else its memory.
fn memory_rate(gpus: &[Gpu]) -> Option<BytesPerSecond> {
    let rates: Option<Vec<f64>> = gpus
        .iter()
        .map(|gpu| {
            let sku = gpu.sku.filter(|_| !gpu.partition)?;
            match (sku.infinity_cache_mib, sku.infinity_cache_bandwidth_tbs) {
                (Some(_), rate) => rate.map(|tbs| tbs * 1e12),
                (None, _) => gpu.hbm_peak.map(|peak| peak.0),
            }
        })
        .collect();
    rates?.into_iter().max_by(f64::total_cmp).map(BytesPerSecond)
}

fn work_items(trace: &Trace, kernel: &KernelProfile) -> Option<u128> {
    let known: u64 = kernel.shapes.iter().map(|shape| shape.calls).sum();
    if known != kernel.calls {
        return None;
    }
    kernel.shapes.iter().try_fold(0_u128, |sum, launch| {
        let shape = trace.shape(launch.shape)?;
        let items: u128 = shape.grid.iter().map(|&side| u128::from(side)).product();
        (items > 0).then(|| sum.saturating_add(items.saturating_mul(u128::from(launch.calls))))
    })
}
