//! Times of one GPU.

use std::iter::Sum;
use std::ops::AddAssign;

use perfxpert_trace::{AgentIdx, KernelIdx, MachineIdx, ProcessIdx};

use super::gap::{CauseTotal, GapCause};
use crate::units::{Nanos, Percent, shares};

/// Exclusive parts of a window: they add up to it exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeParts {
    /// At least one kernel runs (copy kernels of the runtime are copies).
    pub kernel: Nanos,
    /// A copy runs and no kernel.
    pub exposed_copy: Nanos,
    /// Neither runs, while a HIP, HSA or RCCL call of a process that uses the GPU is open.
    pub host_api: Nanos,
    /// None of these.
    pub idle: Nanos,
}

impl TimeParts {
    /// The window the parts add up to.
    #[must_use]
    pub fn window(&self) -> Nanos {
        self.kernel + self.exposed_copy + self.host_api + self.idle
    }

    /// Time with neither kernel nor copy.
    #[must_use]
    pub fn waiting(&self) -> Nanos {
        self.host_api + self.idle
    }

    /// Kernel, exposed copy, host API and idle in percent of the window, adding up to 100.00.
    #[must_use]
    pub fn percentages(&self) -> [Percent; 4] {
        shares([self.kernel.0, self.exposed_copy.0, self.host_api.0, self.idle.0])
    }
}

impl AddAssign for TimeParts {
    fn add_assign(&mut self, other: Self) {
        self.kernel += other.kernel;
        self.exposed_copy += other.exposed_copy;
        self.host_api += other.host_api;
        self.idle += other.idle;
    }
}

impl Sum for TimeParts {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}

/// One GPU with work.
#[derive(Clone, Debug)]
pub struct AgentProfile {
    /// The GPU.
    pub agent: AgentIdx,
    /// Its machine.
    pub machine: MachineIdx,
    /// Processes that ran dispatches or copies on it, ascending.
    pub processes: Vec<ProcessIdx>,
    /// Whether any of these processes recorded host calls.
    pub api_known: bool,
    /// Its times.
    pub times: AgentTimes,
    /// Its kernels, in the order of [`super::RunProfile::kernels`].
    pub kernels: Vec<AgentKernel>,
}

/// Times of one GPU over its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentTimes {
    /// First start of its dispatches and copies.
    pub window_start: i64,
    /// Last end of its dispatches and copies.
    pub window_end: i64,
    /// Exclusive parts of the window.
    pub parts: TimeParts,
    /// Dispatches.
    pub dispatches: u64,
    /// Copies that touch it.
    pub copies: u64,
    /// Summed durations of all dispatches, copy kernels of the runtime included.
    pub dispatch_sum: Nanos,
    /// Summed durations of the runtime's copy kernels.
    pub runtime_copy_sum: Nanos,
    /// Summed durations of copies that touch it.
    pub copy_sum: Nanos,
    /// Union of copies and copy kernels of the runtime.
    pub copy_busy: Nanos,
    /// Copies and kernels at the same time.
    pub overlap: Nanos,
    /// Union of kernels that are not collectives.
    pub compute_busy: Nanos,
    /// Union of the application's own kernels.
    pub user_busy: Nanos,
    /// Union of collective kernels.
    pub collective_busy: Nanos,
    /// Collective kernels with no other kernel beside them; part of `parts.kernel`.
    pub exposed_collective: Nanos,
    /// Collective kernels with a kernel of the application beside them.
    pub collective_overlap: Nanos,
    /// Two or more kernels at the same time.
    pub concurrent: Nanos,
    /// Union of copies between two GPUs.
    pub peer_copy_busy: Nanos,
    /// Only copies between GPUs run.
    pub exposed_peer_copy: Nanos,
    /// Only copies between host and GPU run.
    pub exposed_host_copy: Nanos,
    /// Only copy kernels of the runtime run.
    pub exposed_runtime_copy: Nanos,
    /// Host-to-Device and Device-to-Host copies at the same time.
    pub both_directions: Nanos,
    /// Gaps by cause, in the order of [`GapCause::ALL`].
    pub gaps: [CauseTotal; GapCause::COUNT],
}

impl AgentTimes {
    /// Length of the window.
    #[must_use]
    pub fn window(&self) -> Nanos {
        self.parts.window()
    }

    /// Summed durations of what counts as kernel.
    #[must_use]
    pub fn kernel_sum(&self) -> Nanos {
        self.dispatch_sum.saturating_sub(self.runtime_copy_sum)
    }

    /// Mean number of kernels while any runs; `None` without kernels.
    #[must_use]
    pub fn concurrency(&self) -> Option<f64> {
        self.kernel_sum().fraction_of(self.parts.kernel)
    }

    /// Union of kernels and copies.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.parts.kernel + self.parts.exposed_copy
    }

    /// Gaps of one cause.
    #[must_use]
    pub fn gaps_of(&self, cause: GapCause) -> CauseTotal {
        self.gaps.get(cause as usize).copied().unwrap_or_default()
    }
}

/// One kernel on one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentKernel {
    /// The kernel.
    pub kernel: KernelIdx,
    /// Dispatches.
    pub calls: u64,
    /// Summed durations.
    pub total: Nanos,
    /// Union of its intervals.
    pub busy: Nanos,
    /// Time when it is the only kernel that runs.
    pub alone: Nanos,
}
