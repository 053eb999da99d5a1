//! From the state of a finished sweep to the profile.

use std::cmp::Reverse;
use std::collections::HashMap;

use perfxpert_trace::{AgentIdx, MachineIdx, ProcessIdx};

use super::agent::{AgentSweep, CopyTimes, DIRECTIONS, Shared, Size};
use super::kernels::KernelStats;
use super::quantile::median_over;
use super::slices::Slices;
use super::{Plan, Sweep};
use crate::health;
use crate::hotspots::decisive;
use crate::profile::{
    AgentKernel, AgentProfile, CALL_CLASSES, CallProfile, CauseTotal, ClassTotal, CopyProfile, GapCause,
    GapProfile, HostProfile, KernelKind, KernelProfile, MachineProfile, Order, ProcessProfile, RowCounts,
    RunProfile, ShortKernels, SizeClass, Timeline,
};
use crate::units::{Bytes, Nanos};

impl Sweep<'_> {
    /// Ends the sweep. With `again`, returns a plan for a better pass where this one could not know enough.
    ///
    /// # Errors
    /// The plan of the next pass; never without `again`.
    pub fn finish(mut self, again: bool) -> Result<RunProfile, Plan> {
        for agent in &mut self.agents {
            for queue in agent.queues.iter_mut() {
                queue.settle(&mut self.suspects, &self.limits);
            }
        }
        for kernel in self.kernels.iter_mut() {
            kernel.kept.settle();
            kernel.dropped.settle();
        }
        if again && let Some(plan) = self.next_plan() {
            return Err(plan);
        }
        let mut order: Vec<usize> = (0..self.agents.len())
            .filter(|&at| self.agents.get(at).is_some_and(AgentSweep::started))
            .collect();
        for &at in &order {
            let Some(agent) = self.agents.get_mut(at) else { continue };
            let Some(slices) = self.machines.at(agent.machine.get()).as_mut() else { continue };
            let (gaps, collectives, limits) = (&mut self.gaps, &mut self.collectives, &self.limits);
            agent.finish(&mut Shared { slices, gaps, collectives, limits });
            if !agent
                .processes
                .iter()
                .any(|process| self.processes.get(process.get()).is_some_and(|state| state.api_calls > 0))
            {
                agent.forget_host_gaps();
            }
        }
        order.sort_by_key(|&at| self.agents.get(at).map(|agent| (agent.machine, agent.agent)));
        let machines = self.machine_profiles(&order);
        let kernels = self.kernel_profiles(&order);
        let rank: HashMap<u32, usize> =
            kernels.iter().enumerate().map(|(at, kernel)| (kernel.kernel.0, at)).collect();
        let agents = self.agent_profiles(&order, &rank);
        let timeline = self.timeline(&machines);
        let copies = self.copy_profiles();
        let calls = self.call_profiles();
        let host = self.host_profile(&calls);
        let gaps = self.gap_profile(&agents);
        let processes = self.process_profiles();
        let all = self.kernels.iter().flat_map(|kernel| [&kernel.kept, &kernel.dropped]);
        let median_dispatch = median_over(all);
        let decisive: Vec<_> =
            decisive(&kernels).filter_map(|kernel| self.kernels.get(kernel.kernel.get())).collect();
        let hot_median = median_over(decisive.iter().flat_map(|kernel| [&kernel.kept, &kernel.dropped]));
        let short = kernels.iter().fold(ShortKernels::default(), |mut sum, kernel| {
            sum.count += kernel.short.count;
            sum.total += kernel.short.total;
            sum
        });
        let rows = RowCounts {
            dispatches: agents.iter().map(|agent| agent.times.dispatches).sum(),
            copies: copies.iter().map(|copy| copy.durations.count).sum(),
            regions: self.regions,
            clipped: self.clipped,
        };
        let name = |kernel: u32| {
            kernels.get(rank.get(&kernel).copied().unwrap_or(usize::MAX)).map(|kernel| &kernel.name)
        };
        let (mut pairs, pairs_left_out, mut repeated) =
            std::mem::take(&mut self.sequences).finish(&self.limits);
        pairs.sort_by(|a, b| {
            let saving = |pair: &crate::profile::KernelPair| pair.within.last().map(|within| within.gaps);
            saving(b)
                .cmp(&saving(a))
                .then_with(|| name(a.first.0).cmp(&name(b.first.0)))
                .then_with(|| name(a.second.0).cmp(&name(b.second.0)))
        });
        repeated.sort_by(|a, b| {
            b.launches.cmp(&a.launches).then_with(|| name(a.kernel.0).cmp(&name(b.kernel.0)))
        });
        let mut profile = RunProfile {
            min_duration: self.min_duration,
            machines,
            processes,
            agents,
            kernels,
            copies,
            calls,
            host,
            gaps,
            timeline,
            pairs,
            pairs_left_out,
            repeated,
            median_dispatch,
            hot_median,
            short,
            collectives: std::mem::take(&mut self.collectives),
            collectives_total: self.collectives_total,
            rows,
            order: Order { early_work: self.host.early, late_copies: self.order_conflicts },
            health: perfxpert_trace::Health::default(),
        };
        profile.health = health::of_profile(&profile);
        Ok(profile)
    }

    fn next_plan(&mut self) -> Option<Plan> {
        let mut plan = self.plan.clone();
        let before = (plan.shared.len(), plan.clips.len());
        let mut shared: HashMap<AgentIdx, Vec<ProcessIdx>> = HashMap::new();
        for (agent, _) in &self.late {
            let processes =
                self.agents.iter().find(|known| known.agent == *agent).map(|known| known.processes.clone());
            shared.insert(*agent, processes.unwrap_or_default());
        }
        for (agent, processes) in shared {
            plan.shared.retain(|(known, _)| *known != agent);
            plan.shared.push((agent, processes));
        }
        plan.shared.sort();
        for suspect in &self.suspects {
            let Some(kernel) = self.kernels.get(suspect.kernel.get()) else { continue };
            let usual = kernel.kept.median().or_else(|| kernel.dropped.median());
            if kernel.calls >= self.limits.overlong_calls
                && usual.is_some_and(|usual| suspect.length.as_f64() >= self.limits.overlong_ratio * usual)
            {
                plan.clips.insert((suspect.process, suspect.row), suspect.clip);
            }
        }
        (!self.late.is_empty() || before != (plan.shared.len(), plan.clips.len())).then_some(plan)
    }

    fn machine_profiles(&self, order: &[usize]) -> Vec<MachineProfile> {
        let mut machines: Vec<MachineProfile> = Vec::new();
        for agent in order.iter().filter_map(|&at| self.agents.get(at)) {
            let times = agent.times();
            match machines.iter_mut().find(|known| known.machine == agent.machine) {
                None => machines.push(MachineProfile {
                    machine: agent.machine,
                    first: times.window_start,
                    last: times.window_end,
                }),
                Some(known) => {
                    known.first = known.first.min(times.window_start);
                    known.last = known.last.max(times.window_end);
                }
            }
        }
        machines
    }

    fn kernel_profiles(&mut self, order: &[usize]) -> Vec<KernelProfile> {
        let mut times: HashMap<u32, (Nanos, Nanos, Nanos, Vec<AgentIdx>)> = HashMap::new();
        for agent in order.iter().filter_map(|&at| self.agents.get(at)) {
            for (kernel, beside) in agent.kernels() {
                let entry = times.entry(kernel.kernel.0).or_default();
                entry.0 += kernel.busy;
                entry.1 += kernel.alone;
                entry.2 += beside;
                entry.3.push(agent.agent);
            }
        }
        let limits = &self.limits;
        let mut kernels = Vec::new();
        for (index, stats) in (0_u32..).zip(self.kernels.iter_mut()) {
            let Some(traits) = stats.traits.clone() else { continue };
            let KernelStats { kept, calls, total, clipped, short, first, .. } = stats;
            let (busy, alone, beside_user, mut agents) = times.remove(&index).unwrap_or_default();
            agents.sort_unstable();
            let first = first.unwrap_or_default();
            let (shapes, shape_count) = std::mem::take(&mut stats.shapes).finish(limits);
            kernels.push(KernelProfile {
                kernel: perfxpert_trace::KernelIdx(index),
                name: traits.name,
                kind: traits.kind,
                category: traits.category,
                durations: kept.distribution(),
                calls: *calls,
                total: *total,
                clipped: *clipped,
                short: *short,
                busy,
                alone,
                beside_user: if traits.kind == KernelKind::Collective { beside_user } else { Nanos::ZERO },
                first,
                median_rest: kept.median_without(first),
                agents,
                shapes,
                shape_count,
            });
        }
        kernels.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
        kernels
    }

    fn agent_profiles(&self, order: &[usize], rank: &HashMap<u32, usize>) -> Vec<AgentProfile> {
        let profile = |agent: &AgentSweep| {
            let mut kernels: Vec<AgentKernel> = agent.kernels().map(|(kernel, _)| kernel).collect();
            kernels.sort_by_key(|kernel| rank.get(&kernel.kernel.0).copied());
            let mut processes = agent.processes.clone();
            processes.sort_unstable();
            AgentProfile {
                agent: agent.agent,
                machine: agent.machine,
                api_known: processes.iter().any(|process| {
                    self.processes.get(process.get()).is_some_and(|state| state.api_calls > 0)
                }),
                processes,
                times: agent.times(),
                kernels,
            }
        };
        order.iter().filter_map(|&at| self.agents.get(at)).map(profile).collect()
    }

    fn timeline(&mut self, machines: &[MachineProfile]) -> Timeline {
        let longest = machines.iter().max_by_key(|machine| (machine.span(), Reverse(machine.machine)));
        let Some(longest) = longest else { return Timeline::default() };
        let slices = self
            .machines
            .at(longest.machine.get())
            .as_ref()
            .map(|slices: &Slices| slices.timeline(longest.last, self.limits.slices));
        slices.unwrap_or_default()
    }

    fn copy_profiles(&mut self) -> Vec<CopyProfile> {
        let mut profiles = Vec::new();
        for (at, (direction, stats)) in DIRECTIONS.iter().zip(&mut self.copies).enumerate() {
            stats.durations.settle();
            stats.small_sizes.settle();
            if stats.durations.count() == 0 {
                continue;
            }
            let (mut busy, mut small_busy, mut large_busy) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
            let mut exposed = [Nanos::ZERO; 3];
            let homes =
                self.agents.iter().filter_map(|agent| agent.copies.get(at)).chain(stats.hostless.iter());
            for times in homes {
                let times: &CopyTimes = times;
                busy += times.busy.total();
                small_busy += times.small_busy.total();
                large_busy += times.large_busy.total();
                for (sum, part) in exposed.iter_mut().zip(times.exposed) {
                    *sum += part;
                }
            }
            let of = |size: Size| exposed.get(size as usize).copied().unwrap_or_default();
            profiles.push(CopyProfile {
                direction: *direction,
                durations: stats.durations.distribution(),
                bytes: stats.bytes,
                busy,
                exposed: exposed.into_iter().sum(),
                small: SizeClass {
                    count: stats.small_count,
                    bytes: stats.small_bytes,
                    busy: small_busy,
                    exposed: of(Size::Small),
                },
                small_median: (stats.small_count > 0).then(|| Bytes(stats.small_sizes.distribution().p50.0)),
                large: SizeClass {
                    count: stats.large_count,
                    bytes: stats.large_bytes,
                    busy: large_busy,
                    exposed: of(Size::Large),
                },
                split_calls: stats.split_calls,
            });
        }
        profiles.sort_by(|a, b| {
            b.durations
                .total
                .cmp(&a.durations.total)
                .then_with(|| a.direction.label().cmp(b.direction.label()))
        });
        profiles
    }

    fn call_profiles(&mut self) -> Vec<CallProfile> {
        let mut calls = Vec::new();
        for (index, stats) in (0_u32..).zip(self.names.iter()) {
            let Some(traits) = stats.traits.clone() else { continue };
            let exposed =
                self.agents.iter().filter_map(|agent| agent.exposed.get(index as usize)).copied().sum();
            calls.push(CallProfile {
                name: perfxpert_trace::NameIdx(index),
                text: traits.text,
                family: traits.family,
                host_api: traits.host_api,
                class: traits.class,
                blocking: traits.blocking,
                calls: stats.calls,
                total: stats.total,
                max: stats.max,
                own: stats.total.saturating_sub(stats.lost),
                exposed,
            });
        }
        calls.sort_by(|a, b| {
            b.total.cmp(&a.total).then_with(|| a.text.cmp(&b.text)).then(a.family.cmp(&b.family))
        });
        calls
    }

    fn host_profile(&mut self, calls: &[CallProfile]) -> HostProfile {
        let mut classes = [ClassTotal::default(); 6];
        for (class, total) in CALL_CLASSES.iter().zip(&mut classes) {
            for call in calls.iter().filter(|call| call.host_api && call.class == *class) {
                total.calls += call.calls;
                total.total += call.total;
                total.exposed += call.exposed;
            }
        }
        let count = |filter: &dyn Fn(&CallProfile) -> bool| {
            calls.iter().filter(|call| filter(call)).map(|call| call.calls).sum()
        };
        let host = &mut self.host;
        host.latency.settle();
        host.wait.settle();
        let api_calls: u64 = count(&|call| call.host_api);
        HostProfile {
            api_known: api_calls > 0,
            calls: api_calls,
            total: host.outermost,
            classes,
            blocking_calls: count(&|call| call.host_api && call.blocking),
            blocked: host.blocked,
            launch_latency: host.latency.distribution(),
            queue_wait: host.wait.distribution(),
            linked: host.linked,
            unlinked: host.unlinked,
            linked_latency: host.linked_latency,
            launching_calls: host.launching,
            multi_launch_calls: host.multi,
            graph_launches: host.graph_launches,
            graph_dispatches: host.graph_dispatches,
            rccl_calls: count(&|call| call.family == perfxpert_trace::Family::Rccl),
        }
    }

    fn gap_profile(&mut self, agents: &[AgentProfile]) -> GapProfile {
        self.gaps.lengths.settle();
        let mut by_cause = [CauseTotal::default(); GapCause::COUNT];
        let mut short_unknown = CauseTotal::default();
        for agent in agents {
            for (sum, cause) in by_cause.iter_mut().zip(agent.times.gaps) {
                sum.count += cause.count;
                sum.total += cause.total;
            }
            if !agent.api_known
                && let Some(short) = self.gaps.short_host.get(agent.agent.get())
            {
                short_unknown.count += short.count;
                short_unknown.total += short.total;
            }
        }
        let mut largest = std::mem::take(&mut self.gaps.largest);
        for gap in &mut largest {
            let known = agents.iter().any(|agent| agent.agent == gap.agent && agent.api_known);
            if gap.cause == GapCause::Host && !known {
                gap.cause = GapCause::Unknown;
            }
        }
        let mut sync_calls: Vec<_> = (0_u32..)
            .zip(self.gaps.waits.iter())
            .filter(|(_, total)| total.count > 0)
            .map(|(name, total)| (perfxpert_trace::NameIdx(name), *total))
            .collect();
        let text = |name: perfxpert_trace::NameIdx| {
            self.names
                .get(name.get())
                .and_then(|stats| stats.traits.as_ref())
                .map(|traits| traits.text.clone())
        };
        sync_calls.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| text(a.0).cmp(&text(b.0))));
        GapProfile { lengths: self.gaps.lengths.distribution(), by_cause, short_unknown, largest, sync_calls }
    }

    fn process_profiles(&self) -> Vec<ProcessProfile> {
        (0_u32..)
            .zip(&self.processes)
            .map(|(index, state)| {
                let process = ProcessIdx(index);
                let (machine, source) = self
                    .tables
                    .process(process)
                    .unwrap_or((MachineIdx::NONE, perfxpert_trace::SourceIdx::NONE));
                ProcessProfile {
                    process,
                    source,
                    machine,
                    gpu_span: state.gpu_span,
                    host_span: state.host_span,
                    dispatches: state.dispatches,
                    dispatch_sum: state.dispatch_sum,
                    copies: state.copies,
                    calls: state.api_calls,
                }
            })
            .collect()
    }
}
