//! Traffic between host and GPUs: what was copied, what was copied again, and what the driver migrated.

use std::collections::HashMap;

use perfxpert_knowledge::thresholds;
use perfxpert_trace::{AgentIdx, Control, Direction, Family, MemoryCopy, ScanError, Select, Sweep, Trace};

use crate::profile::{CopyProfile, RunProfile};
use crate::units::{Bytes, BytesPerSecond, Nanos};

/// Copies of one kind of direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub count: u64,
    /// Bytes moved.
    pub bytes: Bytes,
    /// Summed durations.
    pub duration: Nanos,
    /// Union of their times, added up over the GPUs.
    pub busy: Nanos,
    /// Copies smaller than the small-copy threshold.
    pub small_count: u64,
    /// Bytes these moved.
    pub small_bytes: Bytes,
}

impl Traffic {
    fn add(&mut self, copies: &CopyProfile) {
        self.count += copies.durations.count;
        self.bytes += copies.bytes;
        self.duration += copies.durations.total;
        self.busy += copies.busy;
        self.small_count += copies.small.count;
        self.small_bytes += copies.small.bytes;
    }

    /// Bytes over summed durations; `None` when no time passed.
    #[must_use]
    pub fn bandwidth(&self) -> Option<BytesPerSecond> {
        self.bytes.per(self.duration)
    }

    /// Mean size, bytes; `None` without copies.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    pub fn mean_bytes(&self) -> Option<f64> {
        (self.count > 0).then(|| self.bytes.as_f64() / self.count as f64)
    }
}

/// Copies of one size between the host and one place in GPU memory (upload: to it, download: from it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedCopy {
    /// Where they go.
    pub direction: Direction,
    /// Size of each.
    pub bytes: u64,
    /// The GPU.
    pub agent: AgentIdx,
    /// Address on the GPU as recorded.
    pub address: i64,
    /// How many.
    pub count: u64,
    /// Summed durations.
    pub total: Nanos,
}

/// Something to do about traffic; each only where the trace shows the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The driver migrated pages or served faults.
    Migrations,
    /// The same data is copied again and again.
    Repeated,
    /// Host copies run while no kernel does.
    Exposed,
    /// Most host copies are small.
    Small,
}

/// Traffic of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffics {
    /// Page migrations of the driver; `None` when the driver was not traced.
    pub migrations: Option<u64>,
    /// Page faults of the driver; `None` when the driver was not traced.
    pub faults: Option<u64>,
    /// Summed durations of both; `None` when none has a duration.
    pub penalty: Option<Nanos>,
    /// Host memory to a GPU.
    pub host_to_device: Traffic,
    /// A GPU to host memory.
    pub device_to_host: Traffic,
    /// Within a GPU, and between two.
    pub device_to_device: Traffic,
    /// Within host memory.
    pub host_to_host: Traffic,
    /// Direction unknown.
    pub unknown: Traffic,
    /// Bytes between two different GPUs.
    pub peer_bytes: Bytes,
    /// Time of copies between host and GPU over the windows, fraction.
    pub host_share: f64,
    /// The part of it that no kernel hides, fraction of the windows.
    pub exposed_host_share: f64,
    /// Repeated copies, by summed time descending, then address and agent.
    pub repeated: Vec<RepeatedCopy>,
    /// What to do, in fixed order.
    pub advice: Vec<Advice>,
}

impl Traffics {
    /// Whether the driver's events were recorded.
    #[must_use]
    pub const fn driver_traced(&self) -> bool {
        self.migrations.is_some()
    }
}

/// Measures the traffic of a run; reads the copies once more when there are any, for their addresses.
///
/// # Errors
/// Those of the trace's sweep.
pub fn of_run(trace: &Trace, profile: &RunProfile, control: &Control) -> Result<Traffics, ScanError> {
    let mut found = of_profile(profile);
    let uploads = found.host_to_device.count + found.device_to_host.count;
    if uploads >= thresholds::paging().repeat {
        let select = Select { copies: true, ..Select::default() };
        let (repeats, _) = trace.sweep(select, control, Repeats::default)?;
        found.repeated = repeats.finish();
    }
    found.advice = advice(&found, profile);
    Ok(found)
}

fn of_profile(profile: &RunProfile) -> Traffics {
    let mut found = Traffics::default();
    for copies in &profile.copies {
        match copies.direction {
            Direction::HostToDevice => found.host_to_device.add(copies),
            Direction::DeviceToHost => found.device_to_host.add(copies),
            Direction::DeviceToDevice => found.device_to_device.add(copies),
            Direction::Peer => {
                found.device_to_device.add(copies);
                found.peer_bytes += copies.bytes;
            }
            Direction::HostToHost => found.host_to_host.add(copies),
            Direction::Unknown => found.unknown.add(copies),
        }
    }
    let window = profile.normalized_runtime();
    let both: Nanos = profile.agents.iter().map(|agent| agent.times.both_directions).sum();
    let busy = (found.host_to_device.busy + found.device_to_host.busy).saturating_sub(both);
    let exposed: Nanos =
        profile.copies.iter().filter(|copies| host(copies.direction)).map(|copies| copies.exposed).sum();
    found.host_share = busy.fraction_of(window).unwrap_or(0.0);
    found.exposed_host_share = exposed.fraction_of(window).unwrap_or(0.0);
    driver(&mut found, profile);
    found
}

const fn host(direction: Direction) -> bool {
    matches!(direction, Direction::HostToDevice | Direction::DeviceToHost)
}

fn driver(found: &mut Traffics, profile: &RunProfile) {
    let mut calls = profile.calls.iter().filter(|call| call.family == Family::Kfd).peekable();
    if calls.peek().is_none() {
        return;
    }
    let (mut migrations, mut faults, mut penalty) = (0, 0, Nanos::ZERO);
    for call in calls {
        let text = call.text.to_ascii_uppercase();
        // A migration may name the fault that caused it, and a fault the migration that ended it: the first word counts.
        match (text.find("MIGRAT"), text.find("FAULT")) {
            (Some(migration), fault) if fault.is_none_or(|fault| migration < fault) => {
                migrations += call.calls
            }
            (_, Some(_)) => faults += call.calls,
            _ => continue,
        }
        penalty += call.total;
    }
    found.migrations = Some(migrations);
    found.faults = Some(faults);
    found.penalty = (penalty > Nanos::ZERO).then_some(penalty);
}

fn advice(found: &Traffics, profile: &RunProfile) -> Vec<Advice> {
    let facts = thresholds::paging();
    let window = profile.normalized_runtime();
    let repeated: Nanos = found.repeated.iter().map(|row| row.total).sum();
    let small = found.host_to_device.small_count + found.device_to_host.small_count;
    let copies = found.host_to_device.count + found.device_to_host.count;
    #[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
    let small_share = small as f64 / copies.max(1) as f64;
    [
        (found.migrations.unwrap_or(0) + found.faults.unwrap_or(0) > 0, Advice::Migrations),
        (
            repeated > Nanos::ZERO
                && repeated.fraction_of(window).is_some_and(|share| share >= facts.repeat_share),
            Advice::Repeated,
        ),
        (found.exposed_host_share >= facts.exposed, Advice::Exposed),
        (small >= facts.small_count && small_share >= facts.small_share, Advice::Small),
    ]
    .into_iter()
    .filter_map(|(holds, advice)| holds.then_some(advice))
    .collect()
}

/// Distinct places watched; a program that copies to more of them at once does not repeat itself.
const PLACES: usize = 200_000;

#[derive(Default)]
struct Repeats {
    places: HashMap<(Direction, u64, AgentIdx, i64), (u64, Nanos)>,
}

impl Sweep for Repeats {
    fn copy(&mut self, row: &MemoryCopy) {
        let (agent, address) = match row.direction {
            Direction::HostToDevice => (row.destination, row.destination_address),
            Direction::DeviceToHost => (row.source, row.source_address),
            _ => return,
        };
        // Address 0 means that none was recorded.
        if address == 0 || row.bytes < thresholds::paging().small_bytes {
            return;
        }
        let key = (row.direction, row.bytes, agent, address);
        if self.places.len() >= PLACES && !self.places.contains_key(&key) {
            return;
        }
        let place = self.places.entry(key).or_default();
        place.0 += 1;
        place.1 += Nanos::between(row.start, row.end);
    }
}

impl Repeats {
    fn finish(self) -> Vec<RepeatedCopy> {
        let mut rows: Vec<RepeatedCopy> = self
            .places
            .into_iter()
            .filter(|(_, (count, _))| *count >= thresholds::paging().repeat)
            .map(|((direction, bytes, agent, address), (count, total))| RepeatedCopy {
                direction,
                bytes,
                agent,
                address,
                count,
                total,
            })
            .collect();
        rows.sort_by(|a, b| {
            let key = |row: &RepeatedCopy| (row.address, row.agent.get(), row.bytes, row.direction);
            b.total.cmp(&a.total).then_with(|| key(a).cmp(&key(b)))
        });
        rows
    }
}
