//! Collectives: device time, bandwidth against the links, overlap with computation, and which rank the others wait for.

mod calls;
mod operation;
mod pairing;
mod sizes;
mod stragglers;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use perfxpert_knowledge::interconnect::Links;
use perfxpert_knowledge::thresholds;
use perfxpert_trace::{AgentIdx, Control, ProcessIdx, ScanError, Select, Trace};

use crate::gpu;
use crate::profile::RunProfile;
use crate::units::{Bytes, Nanos};
use calls::Calls;
pub use operation::Operation;
pub use sizes::DataType;
pub use stragglers::Straggler;

/// What the caller knows better than the trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// Size of the communicator.
    pub ranks: Option<u32>,
    /// Links instead of those of the trace's GPU.
    pub links: Option<&'static Links>,
}

/// Where the number of ranks comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RanksSource {
    /// The caller.
    Input,
    /// An argument of `ncclCommInitRank`.
    InitRank,
    /// An argument of `ncclCommInitAll`.
    InitAll,
    /// Processes with RCCL calls.
    Processes,
    /// GPUs that ran collective kernels.
    Agents,
    /// Nowhere: a single process does not know how many others there are.
    Unknown,
}

impl RanksSource {
    /// The word used in answers.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::InitRank => "init_rank",
            Self::InitAll => "init_all",
            Self::Processes => "processes",
            Self::Agents => "agents",
            Self::Unknown => "unknown",
        }
    }
}

/// How a call was tied to the kernel that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Link {
    /// By recorded ids.
    Id,
    /// By order in time: as many calls as kernels.
    Order,
    /// Not at all, or only one of the two was recorded.
    None,
}

impl Link {
    /// The word used in answers.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Order => "order",
            Self::None => "none",
        }
    }
}

/// One collective of one rank.
#[derive(Clone, Debug)]
struct Collective {
    operation: Operation,
    bytes: Option<Bytes>,
    data_type: Option<DataType>,
    link: Link,
    /// Time on the GPU.
    device: Option<Nanos>,
    beside_user: Nanos,
    /// Span of the host call.
    host: Option<Nanos>,
    start: i64,
}

/// Collectives of one operation and size, or one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What they do.
    pub operation: Operation,
    /// How many.
    pub count: u64,
    /// Message size as nccl-tests count it.
    pub bytes: Option<Bytes>,
    /// Type of the elements.
    pub data_type: Option<DataType>,
    /// How they were tied to their kernels: the weakest of them.
    pub link: Link,
    /// Median time on the GPU of one.
    pub device: Option<Nanos>,
    /// Summed times on the GPU.
    pub total: Nanos,
    /// Shortest; `None` without device time.
    pub min: Option<Nanos>,
    /// Longest; `None` without device time.
    pub max: Option<Nanos>,
    /// Mean span of the host call: the cost of asking, not the collective.
    pub host: Option<Nanos>,
    /// Bytes per second times 1e-9 that the algorithm moves.
    pub algorithm_gbps: Option<f64>,
    /// Bytes per second times 1e-9 that a link carries.
    pub bus_gbps: Option<f64>,
    /// Bus bandwidth over what the hardware reaches, percent; `None` when it would exceed 100.
    pub efficiency: Option<f64>,
    /// Device time beside kernels of the application.
    pub beside_user: Nanos,
    /// The same in percent of the device time.
    pub overlap: Option<f64>,
    /// First start, clock value.
    pub first_start: i64,
}

impl Row {
    /// `latency-bound` below the size where bandwidth does not count, else by efficiency.
    #[must_use]
    pub fn label(&self) -> &'static str {
        let facts = thresholds::rccl();
        match (self.bytes, self.efficiency) {
            (Some(bytes), _) if bytes.0 < facts.latency_bytes => "latency-bound",
            (_, None) => "unknown",
            (_, Some(efficiency)) if efficiency < facts.fair => "poor",
            (_, Some(efficiency)) if efficiency < facts.good => "fair",
            _ => "good",
        }
    }

    /// What limits a message of this size.
    #[must_use]
    pub fn regime(&self) -> &'static str {
        let facts = thresholds::rccl();
        match self.bytes {
            None => "unknown",
            Some(bytes) if bytes.0 < facts.latency_bytes => "latency-bound",
            Some(bytes) if bytes.0 > facts.bandwidth_bytes => "bandwidth-bound",
            Some(_) => "algo-dependent",
        }
    }

    /// The algorithm a library would choose; a hint, not a measurement.
    #[must_use]
    pub fn algorithm_hint(&self) -> &'static str {
        let Some(bytes) = self.bytes else { return "unknown" };
        match self.operation {
            Operation::AllReduce if bytes.0 >= thresholds::rccl().ring_bytes => "Ring",
            Operation::AllReduce => "Tree",
            Operation::AllGather | Operation::ReduceScatter => "Ring",
            Operation::AllToAll => "Pairwise",
            _ => "direct",
        }
    }
}

/// Collectives of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Communication {
    /// Collectives: calls, or kernels where no call was recorded.
    pub count: u64,
    /// Ranks of the communicator.
    pub ranks: Option<u32>,
    /// Where their number comes from.
    pub ranks_source: RanksSource,
    /// `unknown`, `single-rank`, `intra-node` or `multi-node`.
    pub topology: &'static str,
    /// The operation with most device time.
    pub dominant: Option<Operation>,
    /// Summed durations of all collective kernels.
    pub device_total: Nanos,
    /// Bus bandwidth over all rows that have one, weighted by bytes.
    pub bus_gbps: Option<f64>,
    /// It over what the hardware reaches, percent.
    pub efficiency: Option<f64>,
    /// What the hardware is known to reach, 1e9 bytes per second.
    pub peak_gbps: Option<f64>,
    /// What the links allow one way, 1e9 bytes per second.
    pub link_peak_gbps: Option<f64>,
    /// Time of collectives beside kernels of the application, percent of it.
    pub overlap: Option<f64>,
    /// Time of collectives with no other kernel beside them, added up over the GPUs.
    pub exposed: Nanos,
    /// RCCL calls of the host that are collectives.
    pub calls: u64,
    /// Collective kernels.
    pub kernels: u64,
    /// Collective kernels without a call.
    pub unlinked_kernels: u64,
    /// Collective kernels that were too many to keep.
    pub kernels_left_out: u64,
    /// Whether no row has a size.
    pub sizes_unknown: bool,
    /// By device time descending, then operation and bytes.
    pub rows: Vec<Row>,
    /// Ranks the others wait for, by the wait they cause, then process id; or why that cannot be told.
    pub stragglers: Result<Vec<Straggler>, &'static str>,
}

impl Communication {
    /// Whether any row has a bandwidth.
    #[must_use]
    pub fn measured(&self) -> bool {
        self.rows.iter().any(|row| row.bus_gbps.is_some())
    }

    /// What the trace lacks to judge collectives; `None` when it lacks nothing.
    #[must_use]
    pub fn incomplete(&self) -> Option<&'static str> {
        if self.calls == 0 {
            Some("no RCCL call was recorded: operations come from kernel names, sizes are unknown")
        } else if self.kernels == 0 {
            Some("RCCL calls were recorded, but no collective kernel: device times are unknown")
        } else if self.sizes_unknown && self.ranks.is_none() {
            Some("neither message sizes nor the number of ranks were recorded")
        } else if self.sizes_unknown {
            Some("no message size was recorded")
        } else if self.ranks.is_none() {
            Some("the number of ranks is unknown")
        } else {
            None
        }
    }
}

/// Whether rows stand for one call each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Calls of one operation, size and type together.
    Signature,
    /// Every call.
    Call,
}

/// Measures the collectives of a run; `None` without any RCCL collective call and without any collective kernel.
///
/// # Errors
/// Those of the trace's sweep.
pub fn of_run(
    trace: &Trace,
    profile: &RunProfile,
    known: Known,
    grouping: Grouping,
    control: &Control,
) -> Result<Option<Communication>, ScanError> {
    let calls = if profile.host.rccl_calls > 0 {
        let select = Select { regions: true, instants: true, ..Select::default() };
        trace.sweep(select, control, || Calls::new(trace))?.0
    } else {
        Calls::new(trace)
    };
    if calls.operations.is_empty() && profile.collectives_total == 0 {
        return Ok(None);
    }
    let arguments = sizes::arguments(trace, &calls, control)?;
    let (ranks, ranks_source) = ranks(known, profile, &calls, &arguments);
    let paired = pairing::pair(trace, profile, &calls, &arguments, ranks);
    let links = known.links.or_else(|| links(trace, profile));
    let rows = rows(&paired.collectives, grouping, ranks, links);
    Ok(Some(summed(trace, profile, &calls, paired, rows, (ranks, ranks_source), links)))
}

fn links(trace: &Trace, profile: &RunProfile) -> Option<&'static Links> {
    let agents: BTreeSet<AgentIdx> = profile.collectives.iter().map(|row| row.agent).collect();
    let gpus = gpu::of_run(trace, profile, None);
    let mut fitting = gpus.iter().filter(|gpu| agents.is_empty() || agents.contains(&gpu.agent));
    fitting.find_map(|gpu| gpu.links)
}

fn ranks(
    known: Known,
    profile: &RunProfile,
    calls: &Calls<'_>,
    arguments: &sizes::Arguments,
) -> (Option<u32>, RanksSource) {
    let processes: BTreeSet<ProcessIdx> = calls.operations.iter().map(|call| call.process).collect();
    let agents: BTreeSet<AgentIdx> = profile.collectives.iter().map(|row| row.agent).collect();
    let several = |count: usize| u32::try_from(count).ok().filter(|count| *count > 1);
    [
        (known.ranks, RanksSource::Input),
        (arguments.init_rank, RanksSource::InitRank),
        (arguments.init_all, RanksSource::InitAll),
        (several(processes.len()), RanksSource::Processes),
        (several(agents.len()), RanksSource::Agents),
    ]
    .into_iter()
    .find(|(ranks, _)| ranks.is_some())
    .unwrap_or((None, RanksSource::Unknown))
}

/// Operation, size and type of a row, and the position of the call where each has its own.
type Key = (Operation, Option<u64>, Option<DataType>, usize);

fn rows(
    collectives: &[Collective],
    grouping: Grouping,
    ranks: Option<u32>,
    links: Option<&'static Links>,
) -> Vec<Row> {
    let mut groups: BTreeMap<Key, Vec<&Collective>> = BTreeMap::new();
    for (at, one) in collectives.iter().enumerate() {
        let own = if grouping == Grouping::Call { at } else { 0 };
        let key = (one.operation, one.bytes.map(|bytes| bytes.0), one.data_type, own);
        groups.entry(key).or_default().push(one);
    }
    let mut rows: Vec<Row> = groups.into_values().filter_map(|group| row(&group, ranks, links)).collect();
    rows.sort_by(|a, b| {
        let key = |row: &Row| {
            (row.operation.label(), row.bytes.map(|bytes| bytes.0), row.data_type, row.first_start)
        };
        b.total.cmp(&a.total).then_with(|| key(a).cmp(&key(b)))
    });
    rows
}

fn row(group: &[&Collective], ranks: Option<u32>, links: Option<&'static Links>) -> Option<Row> {
    let first = group.first()?;
    let mut times: Vec<Nanos> = group.iter().filter_map(|one| one.device).collect();
    times.sort_unstable();
    let total: Nanos = times.iter().copied().sum();
    let beside: Nanos = group.iter().map(|one| one.beside_user).sum();
    let hosts: Vec<Nanos> = group.iter().filter_map(|one| one.host).collect();
    let device = median(&times);
    let algorithm = first.bytes.zip(device).and_then(|(bytes, time)| bytes.per(time)).map(|rate| rate.gbps());
    let bus = algorithm.zip(ranks).and_then(|(rate, ranks)| Some(rate * first.operation.bus_factor(ranks)?));
    let peak = links.map(|links| links.achievable_gbps);
    let efficiency = bus.zip(peak).map(|(bus, peak)| 100.0 * bus / peak).filter(|share| *share <= 100.0);
    Some(Row {
        operation: first.operation,
        count: group.len() as u64,
        bytes: first.bytes,
        data_type: first.data_type,
        link: group.iter().map(|one| one.link).max().unwrap_or(Link::None),
        device,
        total,
        min: times.first().copied(),
        max: times.last().copied(),
        host: mean(&hosts),
        algorithm_gbps: algorithm,
        bus_gbps: bus,
        efficiency,
        beside_user: beside,
        overlap: beside.fraction_of(total).map(|share| 100.0 * share),
        first_start: group.iter().map(|one| one.start).min().unwrap_or_default(),
    })
}

/// Middle of sorted times; the mean of the two middle ones of an even number.
fn median(times: &[Nanos]) -> Option<Nanos> {
    let upper = times.get(times.len() / 2)?;
    let lower = times.get(times.len().saturating_sub(1) / 2)?;
    Some(Nanos(lower.0.midpoint(upper.0)))
}

fn mean(times: &[Nanos]) -> Option<Nanos> {
    let sum: Nanos = times.iter().copied().sum();
    sum.0.checked_div(times.len() as u64).map(Nanos)
}

fn summed(
    trace: &Trace,
    profile: &RunProfile,
    calls: &Calls<'_>,
    paired: pairing::Paired,
    rows: Vec<Row>,
    (ranks, ranks_source): (Option<u32>, RanksSource),
    links: Option<&'static Links>,
) -> Communication {
    let mut by_operation: HashMap<Operation, Nanos> = HashMap::new();
    for row in &rows {
        *by_operation.entry(row.operation).or_default() += row.total;
    }
    let dominant = by_operation
        .into_iter()
        .filter(|(_, total)| *total > Nanos::ZERO)
        .max_by_key(|(operation, total)| (*total, std::cmp::Reverse(operation.label())))
        .map(|(operation, _)| operation);
    let (mut bytes, mut time) = (0.0, Nanos::ZERO);
    for row in rows.iter().filter(|row| row.bus_gbps.is_some()) {
        let factor = ranks.and_then(|ranks| row.operation.bus_factor(ranks)).unwrap_or(0.0);
        #[expect(clippy::cast_precision_loss, reason = "a weight")]
        let count = row.count as f64;
        bytes += row.bytes.unwrap_or_default().as_f64() * factor * count;
        time += row.total;
    }
    let bus = (time > Nanos::ZERO).then(|| bytes / time.as_f64());
    let peak = links.map(|links| links.achievable_gbps);
    let times = profile.agents.iter().map(|agent| &agent.times);
    let (busy, beside, exposed) = times.fold(<(Nanos, Nanos, Nanos)>::default(), |sum, times| {
        (sum.0 + times.collective_busy, sum.1 + times.collective_overlap, sum.2 + times.exposed_collective)
    });
    let device_total =
        profile.kernels.iter().filter(|kernel| kernel.kind == crate::profile::KernelKind::Collective);
    Communication {
        count: paired.collectives.len() as u64,
        ranks,
        ranks_source,
        topology: topology(trace, calls, ranks),
        dominant,
        device_total: device_total.map(|kernel| kernel.total).sum(),
        bus_gbps: bus,
        efficiency: bus.zip(peak).map(|(bus, peak)| 100.0 * bus / peak).filter(|share| *share <= 100.0),
        peak_gbps: peak,
        link_peak_gbps: links.zip(ranks).and_then(|(links, ranks)| links.link_peak_gbps(ranks)),
        overlap: beside.fraction_of(busy).map(|share| 100.0 * share),
        exposed,
        calls: calls.operations.len() as u64,
        kernels: profile.collectives_total,
        unlinked_kernels: paired.unlinked,
        kernels_left_out: profile.collectives_total - profile.collectives.len() as u64,
        sizes_unknown: rows.iter().all(|row| row.bytes.is_none()),
        rows,
        stragglers: stragglers::find(trace, profile, &paired.operations),
    }
}

fn topology(trace: &Trace, calls: &Calls<'_>, ranks: Option<u32>) -> &'static str {
    let processes: BTreeSet<ProcessIdx> = calls.operations.iter().map(|call| call.process).collect();
    let machines: BTreeSet<_> = processes
        .iter()
        .filter_map(|at| trace.processes().get(at.get()))
        .map(|process| process.machine)
        .collect();
    let Some(ranks) = ranks else { return "unknown" };
    // With every rank in the trace the machines are known, else only a guess from the size of a node remains.
    let all = u32::try_from(processes.len()).ok() == Some(ranks);
    if ranks == 1 {
        "single-rank"
    } else if machines.len() > 1 {
        "multi-node"
    } else if all || u64::from(ranks) <= thresholds::rccl().node_ranks {
        "intra-node"
    } else {
        "multi-node"
    }
}
