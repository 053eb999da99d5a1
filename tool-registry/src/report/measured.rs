//! One run as the sections see it: its profile, its GPUs, what is wrong with it, and the kernels they list.

use perfxpert_analysis::gpu::{self, Gpu};
use perfxpert_analysis::profile::{AgentTimes, KernelProfile};
use perfxpert_analysis::units::{Nanos, Percent};
use perfxpert_trace::{AgentIdx, Health, MachineIdx, Status};

use crate::traces::LoadedRun;

/// A run and what follows from it at once.
pub(crate) struct Measured<'a> {
    pub(crate) run: &'a LoadedRun,
    pub(crate) gpus: Vec<Gpu>,
    /// Of the trace, its rows and its GPUs together.
    pub(crate) health: Health,
    /// Kernels with calls kept by the filter, longest first.
    pub(crate) kernels: Vec<&'a KernelProfile>,
    /// How many of them the report lists.
    pub(crate) listed: usize,
}

impl<'a> Measured<'a> {
    pub(crate) fn new(run: &'a LoadedRun, gfx_id: Option<&str>, listed: usize) -> Self {
        let gpus = gpu::of_run(&run.trace, &run.profile, gfx_id);
        let mut health = run.health.clone();
        health.merge(&gpu::health(&gpus));
        let mut kernels: Vec<&KernelProfile> =
            run.profile.kernels.iter().filter(|kernel| kernel.durations.count > 0).collect();
        kernels.sort_by(|a, b| {
            b.durations.total.cmp(&a.durations.total).then_with(|| a.name.as_bytes().cmp(b.name.as_bytes()))
        });
        Self { run, gpus, health, kernels, listed }
    }

    /// The kernels the report lists.
    pub(crate) fn hotspots(&self) -> &[&'a KernelProfile] {
        self.kernels.get(..self.listed).unwrap_or(&self.kernels)
    }

    /// Share of the run in percent; 0 for an empty run.
    pub(crate) fn of_run(&self, time: Nanos) -> f64 {
        percent(time, self.run.profile.normalized_runtime())
    }

    /// A time added up over the GPUs.
    pub(crate) fn sum(&self, of: fn(&AgentTimes) -> Nanos) -> Nanos {
        self.run.profile.agents.iter().map(|agent| of(&agent.times)).sum()
    }

    /// Place of a GPU in the report's list.
    pub(crate) fn gpu_index(&self, agent: AgentIdx) -> u64 {
        self.gpus.iter().position(|gpu| gpu.agent == agent).map_or(0, |at| at as u64)
    }

    /// An instant as time since its machine's first GPU event, ns.
    pub(crate) fn since_start(&self, machine: MachineIdx, instant: i64) -> u64 {
        let machine = self.run.profile.machines.iter().find(|found| found.machine == machine);
        machine.map_or(0, |machine| Nanos::between(machine.first, instant).0)
    }

    pub(crate) fn status(&self) -> Status {
        self.health.status(self.run.profile.judgeable())
    }

    /// Whether the trace holds counter rows of any process.
    pub(crate) fn has_counter_rows(&self) -> bool {
        self.run.trace.processes().iter().any(|process| process.has.counters)
    }
}

/// `part` of `whole` in percent, 2 decimals; 0 when there is no whole.
pub(crate) fn percent(part: Nanos, whole: Nanos) -> f64 {
    Percent::of(part.0.min(whole.0), whole.0).unwrap_or_default().value()
}

/// A mean in ns with 1 decimal.
pub(crate) fn one_decimal(value: Option<f64>) -> f64 {
    perfxpert_analysis::rounding::round(value.unwrap_or(0.0), 1)
}

/// A quantile in whole ns.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a duration in range, never negative"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// `256x1x1`.
pub(crate) fn extent(sizes: [u32; 3]) -> String {
    sizes.map(|size| size.to_string()).join("x")
}
