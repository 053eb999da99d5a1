//! Adds the counters of other runs of the same program, matched by kernel name and kind of GPU.

use std::collections::{BTreeMap, HashMap};

use perfxpert_trace::{Shape, Trace};

use super::finish::join;
use super::{CounterProfile, Group, KernelCounters};
use crate::RunProfile;
use crate::gpu::Gpu;
use crate::profile::Text;
use crate::units::Nanos;

/// Counters of other runs that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// Kernels this run does not have.
    pub kernels: u64,
    /// The first of them, at most three.
    pub examples: Vec<String>,
    /// Dispatches on GPUs this run did not use.
    pub foreign_dispatches: u64,
    /// Architectures of these GPUs, sorted.
    pub foreign_gpus: Vec<String>,
}

/// How long the kernels of a run last: what stands in for the times of a run that was only recorded for its counters.
#[derive(Clone, Debug, Default)]
pub struct KernelTimes {
    kernels: HashMap<Text, Times>,
}

#[derive(Clone, Debug, Default)]
struct Times {
    calls: u64,
    total: Nanos,
    shapes: HashMap<Shape, (u64, Nanos)>,
}

impl KernelTimes {
    /// Times of a run.
    #[must_use]
    pub fn of_run(trace: &Trace, profile: &RunProfile) -> Self {
        let mut kernels = HashMap::new();
        for kernel in &profile.kernels {
            let mut times = Times { calls: kernel.calls, total: kernel.total, shapes: HashMap::new() };
            for launched in &kernel.shapes {
                if let Some(shape) = trace.shape(launched.shape) {
                    let known = times.shapes.entry(shape).or_insert((0, Nanos::ZERO));
                    known.0 += launched.calls;
                    known.1 += launched.total;
                }
            }
            kernels.insert(Text::clone(&kernel.name), times);
        }
        Self { kernels }
    }

    /// Mean duration of a kernel's calls with a shape, else of all its calls, times `dispatches`; `None` for a kernel
    /// the run does not have.
    fn expect(&self, name: &str, shape: Option<&Shape>, dispatches: u64) -> Option<Nanos> {
        let times = self.kernels.get(name)?;
        let same = shape.and_then(|shape| times.shapes.get(shape)).filter(|(calls, _)| *calls > 0);
        let (calls, total) = same.copied().unwrap_or((times.calls, times.total));
        let expected = u128::from(total.0) * u128::from(dispatches) / u128::from(calls.max(1));
        Some(Nanos(u64::try_from(expected).unwrap_or(u64::MAX)))
    }
}

impl CounterProfile {
    /// Adds the counters of another run. Its times are never used: the durations this run has for the same kernel and
    /// launch shape stand in for them. `gpus` are those of this run.
    pub fn absorb(&mut self, other: &Self, times: &KernelTimes, gpus: &[Gpu]) {
        let devices: Vec<Option<usize>> =
            other.devices.iter().map(|gpu| self.device_like(gpu, gpus)).collect();
        self.rename(&other.names);
        let place: Vec<usize> = other.names.iter().filter_map(|name| self.position(name)).collect();
        let moved = |set: &[usize]| -> Vec<usize> {
            // Both lists are sorted by name, so order is kept.
            set.iter().filter_map(|at| place.get(*at).copied()).collect()
        };
        let mut kernels: BTreeMap<Text, KernelCounters> =
            self.kernels.drain(..).map(|kernel| (Text::clone(&kernel.name), kernel)).collect();
        for kernel in &other.kernels {
            if times.expect(&kernel.name, None, 1).is_none() {
                self.unmatched.kernels += 1;
                if self.unmatched.examples.len() < 3 {
                    self.unmatched.examples.push(super::finish::short(&kernel.name));
                }
                continue;
            }
            for group in &kernel.groups {
                let Some(device) = devices.get(group.device).copied().flatten() else {
                    self.unmatched.foreign_dispatches += group.dispatches;
                    continue;
                };
                let time = times.expect(&kernel.name, group.shape.as_ref(), group.dispatches);
                let fresh = Group {
                    device,
                    set: moved(&group.set),
                    time: time.unwrap_or(group.time),
                    ..group.clone()
                };
                let known = kernels.entry(Text::clone(&kernel.name)).or_insert_with(|| KernelCounters {
                    name: Text::clone(&kernel.name),
                    runs: 0,
                    time: Nanos::ZERO,
                    groups: Vec::new(),
                });
                known.runs += fresh.runs;
                known.time += fresh.time;
                self.runs += fresh.runs;
                self.time += fresh.time;
                let same = |group: &&mut Group| {
                    group.device == fresh.device && group.shape == fresh.shape && group.set == fresh.set
                };
                match known.groups.iter_mut().find(same) {
                    Some(group) => join(group, &fresh),
                    None => known.groups.push(fresh),
                }
            }
        }
        self.kernels = kernels.into_values().collect();
        for (gpu, device) in other.devices.iter().zip(&devices) {
            if device.is_none() {
                self.unmatched.foreign_gpus.push(gpu.gfx_id.clone().unwrap_or_else(|| "unknown".to_owned()));
            }
        }
        self.unmatched.foreign_gpus.sort();
        self.unmatched.foreign_gpus.dedup();
        for set in &other.pass_sets {
            let set = moved(set);
            if !self.pass_sets.contains(&set) {
                self.pass_sets.push(set);
                self.passes += 1;
            }
        }
        self.pass_sets.sort_unstable();
        self.put_aside.clock += other.put_aside.clock;
        self.put_aside.zero += other.put_aside.zero;
        self.put_aside.clock_examples.extend(other.put_aside.clock_examples.iter().cloned());
        self.put_aside.clock_examples.truncate(3);
        for name in &other.zero_counters {
            if !self.zero_counters.contains(name) {
                self.zero_counters.push(Text::clone(name));
            }
        }
        self.zero_counters.sort();
    }

    /// The device of this run that counts like `gpu`: same architecture and as many compute units.
    fn device_like(&mut self, gpu: &Gpu, gpus: &[Gpu]) -> Option<usize> {
        let alike = |own: &&Gpu| own.gfx_id == gpu.gfx_id && own.cu_count == gpu.cu_count;
        if let Some(at) = self.devices.iter().position(|own| alike(&own)) {
            return Some(at);
        }
        self.devices.push(gpus.iter().find(alike)?.clone());
        Some(self.devices.len() - 1)
    }

    /// Makes room for more counters, keeping `names` sorted.
    fn rename(&mut self, more: &[Text]) {
        let mut names: Vec<Text> = self.names.iter().chain(more).cloned().collect();
        names.sort();
        names.dedup();
        let old = std::mem::replace(&mut self.names, names);
        let place: Vec<usize> = old.iter().filter_map(|name| self.position(name)).collect();
        let groups =
            self.kernels.iter_mut().flat_map(|kernel| &mut kernel.groups).map(|group| &mut group.set);
        for set in groups.chain(&mut self.pass_sets) {
            for at in set.iter_mut() {
                if let Some(moved) = place.get(*at) {
                    *at = *moved;
                }
            }
        }
    }
}
