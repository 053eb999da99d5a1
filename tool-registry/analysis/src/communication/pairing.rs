//! Ties collective kernels to the calls that asked for them.

use std::collections::HashMap;

use perfxpert_trace::{ProcessIdx, Trace};

use super::calls::{Calls, Target};
use super::operation::Operation;
use super::sizes::Arguments;
use super::{Collective, Link};
use crate::profile::{CollectiveInstance, RunProfile};
use crate::units::{Bytes, Nanos};

/// Collectives with their device times.
pub(super) struct Paired {
    pub(super) collectives: Vec<Collective>,
    /// Operation of each kernel of the profile, by position.
    pub(super) operations: Vec<Operation>,
    /// Kernels without a call.
    pub(super) unlinked: u64,
}

/// Pairs calls and kernels; without calls the kernels stand for themselves.
pub(super) fn pair(
    trace: &Trace,
    profile: &RunProfile,
    calls: &Calls<'_>,
    arguments: &Arguments,
    ranks: Option<u32>,
) -> Paired {
    let kernels = &profile.collectives;
    let mut names: HashMap<u32, Operation> = HashMap::new();
    let mut operations: Vec<Operation> = kernels
        .iter()
        .map(|row| {
            *names.entry(row.kernel.0).or_insert_with(|| {
                trace
                    .kernel(row.kernel)
                    .map_or(Operation::Unknown, |kernel| Operation::of_kernel(&kernel.name))
            })
        })
        .collect();
    if calls.operations.is_empty() {
        let collectives =
            kernels.iter().zip(&operations).map(|(row, operation)| alone(row, *operation)).collect();
        return Paired { collectives, operations, unlinked: kernels.len() as u64 };
    }
    let mut collectives: Vec<Collective> = calls
        .operations
        .iter()
        .map(|call| {
            let (data_type, bytes) = arguments.message(call.process, call.event, call.operation, ranks);
            Collective {
                operation: call.operation,
                bytes,
                data_type,
                link: Link::None,
                device: None,
                beside_user: Nanos::ZERO,
                host: Some(Nanos::between(call.start, call.end)),
                start: call.start,
            }
        })
        .collect();
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); calls.groups.len()];
    let mut loose: Vec<usize> = Vec::new();
    for (at, kernel) in kernels.iter().enumerate() {
        match calls.target(kernel.process, kernel.call) {
            Some(Target::Call(call)) => give(&mut collectives, call, kernel, Link::Id, &mut operations, at),
            Some(Target::Group(group)) => groups.get_mut(group).into_iter().for_each(|group| group.push(at)),
            None => loose.push(at),
        }
    }
    for (members, launched) in calls.groups.iter().zip(&groups) {
        if members.len() == launched.len() {
            for (&call, &at) in members.iter().zip(launched) {
                if let Some(kernel) = kernels.get(at) {
                    give(&mut collectives, call, kernel, Link::Id, &mut operations, at);
                }
            }
        } else if !launched.is_empty() {
            split(&mut collectives, members, launched, kernels);
        }
    }
    let unlinked = by_order(&mut collectives, calls, kernels, &loose, &mut operations);
    Paired { collectives, operations, unlinked }
}

fn alone(row: &CollectiveInstance, operation: Operation) -> Collective {
    Collective {
        operation,
        bytes: None,
        data_type: None,
        link: Link::None,
        device: Some(Nanos::between(row.start, row.end)),
        beside_user: row.beside_user,
        host: None,
        start: row.start,
    }
}

fn give(
    collectives: &mut [Collective],
    call: usize,
    kernel: &CollectiveInstance,
    link: Link,
    operations: &mut [Operation],
    at: usize,
) {
    let Some(collective) = collectives.get_mut(call) else { return };
    if collective.device.is_none() {
        collective.start = kernel.start;
    }
    collective.link = link;
    collective.device =
        Some(collective.device.unwrap_or_default() + Nanos::between(kernel.start, kernel.end));
    collective.beside_user += kernel.beside_user;
    if let Some(operation) = operations.get_mut(at) {
        *operation = collective.operation;
    }
}

/// Several calls in fewer kernels: the time is split by bytes, or equally when any size is unknown.
fn split(
    collectives: &mut [Collective],
    members: &[usize],
    launched: &[usize],
    kernels: &[CollectiveInstance],
) {
    let rows: Vec<&CollectiveInstance> = launched.iter().filter_map(|at| kernels.get(*at)).collect();
    let time: Nanos = rows.iter().map(|row| Nanos::between(row.start, row.end)).sum();
    let beside: Nanos = rows.iter().map(|row| row.beside_user).sum();
    let start = rows.iter().map(|row| row.start).min().unwrap_or_default();
    let sizes: Option<Vec<u64>> =
        members.iter().map(|call| collectives.get(*call)?.bytes.map(|Bytes(bytes)| bytes)).collect();
    let weights =
        sizes.filter(|sizes| sizes.iter().any(|bytes| *bytes > 0)).unwrap_or_else(|| vec![1; members.len()]);
    let whole: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let part = |of: Nanos, weight: u64| {
        let part = u128::from(of.0) * u128::from(weight) / whole.max(1);
        Nanos(u64::try_from(part).unwrap_or(u64::MAX))
    };
    for (&call, &weight) in members.iter().zip(&weights) {
        if let Some(collective) = collectives.get_mut(call) {
            collective.link = Link::Id;
            collective.device = Some(part(time, weight));
            collective.beside_user = part(beside, weight);
            collective.start = start;
        }
    }
}

/// Pairs what ids do not connect, per process and operation, where calls and kernels are equally many. Kernels that do not
/// tell their operation count where all calls of the process have the same. Returns how many kernels remain.
fn by_order(
    collectives: &mut [Collective],
    calls: &Calls<'_>,
    kernels: &[CollectiveInstance],
    loose: &[usize],
    operations: &mut [Operation],
) -> u64 {
    type Key = (ProcessIdx, Operation);
    let mut waiting: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut only: HashMap<ProcessIdx, Option<Operation>> = HashMap::new();
    for (at, call) in calls.operations.iter().enumerate() {
        let one = only.entry(call.process).or_insert(Some(call.operation));
        *one = one.filter(|operation| *operation == call.operation);
        if collectives.get(at).is_some_and(|collective| collective.device.is_none()) {
            waiting.entry((call.process, call.operation)).or_default().push(at);
        }
    }
    let mut free: HashMap<Key, Vec<usize>> = HashMap::new();
    for &at in loose {
        let (Some(kernel), Some(&operation)) = (kernels.get(at), operations.get(at)) else { continue };
        let only = only.get(&kernel.process).copied().flatten();
        let operation = if operation == Operation::Unknown { only.unwrap_or(operation) } else { operation };
        free.entry((kernel.process, operation)).or_default().push(at);
    }
    let mut left = 0;
    for (key, rows) in free {
        match waiting.get(&key).filter(|calls| calls.len() == rows.len()) {
            Some(calls) => {
                for (&call, &at) in calls.iter().zip(&rows) {
                    if let Some(kernel) = kernels.get(at) {
                        give(collectives, call, kernel, Link::Order, operations, at);
                    }
                }
            }
            None => left += rows.len() as u64,
        }
    }
    left
}
