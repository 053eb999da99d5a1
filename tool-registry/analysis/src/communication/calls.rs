//! RCCL calls of the host, their groups, and which calls stand under them.

use std::collections::HashMap;

use perfxpert_knowledge::thresholds;
use perfxpert_trace::{Family, NameIdx, ProcessIdx, Region, ThreadIdx, Trace};

use super::operation::Operation;
use crate::sweep::table::Table;

/// Calls kept.
const CALLS: usize = 500_000;
/// Calls under them kept.
const NESTED: usize = 2_000_000;

/// One collective call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) operation: Operation,
    pub(super) process: ProcessIdx,
    pub(super) event: i64,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// What a call is to communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Role {
    Operation(Operation),
    GroupStart,
    GroupEnd,
    InitRank,
    InitAll,
    #[default]
    Other,
}

/// Where the kernels under a call belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To one collective call.
    Call(usize),
    /// To the calls of a group, whose kernels are launched when it closes.
    Group(usize),
}

#[derive(Debug, Default)]
struct Open {
    depth: u32,
    members: Vec<usize>,
}

/// RCCL calls of a run, in time order.
pub(super) struct Calls<'t> {
    trace: &'t Trace,
    roles: Table<Option<(Role, bool)>>,
    open: HashMap<ThreadIdx, Open>,
    targets: HashMap<(ProcessIdx, i64), (Target, u64)>,
    pub(super) operations: Vec<Call>,
    pub(super) groups: Vec<Vec<usize>>,
    /// Calls that set up communicators, by process and event; whether each is for all devices of its process.
    pub(super) inits: Vec<(ProcessIdx, i64, bool)>,
}

impl<'t> Calls<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        Self {
            trace,
            roles: Table::default(),
            open: HashMap::new(),
            targets: HashMap::new(),
            operations: Vec::new(),
            groups: Vec::new(),
            inits: Vec::new(),
        }
    }

    /// Where work launched by a call belongs.
    pub(super) fn target(&self, process: ProcessIdx, call: i64) -> Option<Target> {
        self.targets.get(&(process, call)).map(|(target, _)| *target)
    }

    fn role(&mut self, name: NameIdx) -> (Role, bool) {
        let trace = self.trace;
        *self.roles.at(name.get()).get_or_insert_with(|| {
            let Some(name) = trace.name(name) else { return (Role::Other, false) };
            if name.family != Family::Rccl {
                return (Role::Other, false);
            }
            let text = name.text.to_ascii_lowercase();
            let role = if let Some(operation) = Operation::of_call(&text) {
                Role::Operation(operation)
            } else if text.contains("groupstart") {
                Role::GroupStart
            } else if text.contains("groupend") {
                Role::GroupEnd
            } else if text.contains("comminitrank") {
                Role::InitRank
            } else if text.contains("comminitall") {
                Role::InitAll
            } else {
                Role::Other
            };
            (role, true)
        })
    }

    fn lead(&mut self, process: ProcessIdx, call: i64, target: Target, steps: u64) {
        if call != 0 && self.targets.len() < NESTED {
            self.targets.insert((process, call), (target, steps));
        }
    }
}

impl perfxpert_trace::Sweep for Calls<'_> {
    fn region(&mut self, row: &Region) {
        let (role, rccl) = self.role(row.name);
        if !rccl {
            // A launch under an RCCL call belongs to it.
            if row.parent_call != 0
                && let Some(&(target, steps)) = self.targets.get(&(row.process, row.parent_call))
                && steps < thresholds::dag().max_parent_steps
                && row.parent_call != row.call
            {
                self.lead(row.process, row.call, target, steps + 1);
            }
            return;
        }
        match role {
            Role::Operation(operation) => {
                if self.operations.len() >= CALLS {
                    return;
                }
                let at = self.operations.len();
                self.operations.push(Call {
                    operation,
                    process: row.process,
                    event: row.event,
                    start: row.start,
                    end: row.end,
                });
                self.lead(row.process, row.call, Target::Call(at), 0);
                if let Some(open) = self.open.get_mut(&row.thread).filter(|open| open.depth > 0) {
                    open.members.push(at);
                }
            }
            Role::GroupStart => {
                let open = self.open.entry(row.thread).or_default();
                open.depth = open.depth.saturating_add(1);
            }
            Role::GroupEnd => {
                let Some(open) = self.open.get_mut(&row.thread) else { return };
                open.depth = open.depth.saturating_sub(1);
                if open.depth == 0 && !open.members.is_empty() {
                    self.groups.push(std::mem::take(&mut open.members));
                    self.lead(row.process, row.call, Target::Group(self.groups.len() - 1), 0);
                }
            }
            Role::InitRank | Role::InitAll => {
                if self.inits.len() < CALLS {
                    self.inits.push((row.process, row.event, role == Role::InitAll));
                }
            }
            Role::Other => {}
        }
    }

    fn instant(&mut self, row: &Region) {
        self.region(row);
    }
}
