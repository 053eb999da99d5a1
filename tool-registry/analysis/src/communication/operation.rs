//! What a collective does, from the name of its call or kernel.

use perfxpert_knowledge::kernels::base_identifier;

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Reduces over all ranks, result everywhere.
    AllReduce,
    /// Gathers from all ranks, result everywhere.
    AllGather,
    /// Reduces over all ranks, each keeps a part.
    ReduceScatter,
    /// From one rank to all.
    Broadcast,
    /// Reduces over all ranks, result at one.
    Reduce,
    /// Every rank to every rank.
    AllToAll,
    /// Between two ranks.
    SendRecv,
    /// From all ranks to one.
    Gather,
    /// From one rank a part to each.
    Scatter,
    /// The name does not tell.
    Unknown,
}

/// Beginnings of the names of calls behind the library's prefix, and parts of names of kernels; longer ones first.
const NAMES: [(&str, Operation); 12] = [
    ("allreduce", Operation::AllReduce),
    ("allgather", Operation::AllGather),
    ("reducescatter", Operation::ReduceScatter),
    ("alltoall", Operation::AllToAll),
    ("sendrecv", Operation::SendRecv),
    ("broadcast", Operation::Broadcast),
    ("bcast", Operation::Broadcast),
    ("gather", Operation::Gather),
    ("scatter", Operation::Scatter),
    ("reduce", Operation::Reduce),
    ("send", Operation::SendRecv),
    ("recv", Operation::SendRecv),
];

/// Prefixes of the libraries' calls; `p` stands before the profiling entry points.
const LIBRARIES: [&str; 4] = ["pnccl", "nccl", "rccl", "msccl"];

impl Operation {
    /// The word used in answers.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::AllReduce => "AllReduce",
            Self::AllGather => "AllGather",
            Self::ReduceScatter => "ReduceScatter",
            Self::Broadcast => "Broadcast",
            Self::Reduce => "Reduce",
            Self::AllToAll => "AllToAll",
            Self::SendRecv => "SendRecv",
            Self::Gather => "Gather",
            Self::Scatter => "Scatter",
            Self::Unknown => "Unknown",
        }
    }

    /// Of a call; `None` for calls that only control (init, group, query).
    pub(super) fn of_call(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let rest = LIBRARIES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        NAMES.iter().find(|(start, _)| rest.starts_with(start)).map(|(_, operation)| *operation)
    }

    /// Of a collective kernel.
    pub(super) fn of_kernel(name: &str) -> Self {
        let base = base_identifier(name).to_ascii_lowercase();
        NAMES.iter().find(|(part, _)| base.contains(part)).map_or(Self::Unknown, |(_, operation)| *operation)
    }

    /// Bus over algorithm bandwidth (nccl-tests, PERFORMANCE.md): what a link carries of the message. `None` for one rank,
    /// which sends nothing.
    pub(super) fn bus_factor(self, ranks: u32) -> Option<f64> {
        let n = f64::from(ranks);
        let others = n - 1.0;
        (ranks > 1).then_some(match self {
            Self::AllReduce => 2.0 * others / n,
            Self::AllGather | Self::ReduceScatter | Self::AllToAll | Self::Gather | Self::Scatter => {
                others / n
            }
            Self::Broadcast | Self::Reduce | Self::SendRecv | Self::Unknown => 1.0,
        })
    }

    /// Whether the message counts the parts of all ranks (nccl-tests), so that its size needs their number.
    pub(super) const fn counts_all_ranks(self) -> bool {
        matches!(self, Self::AllGather | Self::ReduceScatter | Self::AllToAll | Self::Gather | Self::Scatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_map_and_control_calls_do_not() {
        for (name, operation) in [
            ("ncclAllReduce", Operation::AllReduce),
            ("ncclAllGatherV", Operation::AllGather),
            ("ncclReduceScatter", Operation::ReduceScatter),
            ("ncclBcast", Operation::Broadcast),
            ("ncclReduce", Operation::Reduce),
            ("ncclAllToAllv", Operation::AllToAll),
            ("ncclSend", Operation::SendRecv),
            ("ncclRecv", Operation::SendRecv),
            ("ncclScatter", Operation::Scatter),
        ] {
            assert_eq!(Operation::of_call(name), Some(operation), "{name}");
        }
        for name in
            ["ncclGroupStart", "ncclCommInitRank", "ncclGetUniqueId", "ncclRedOpCreatePreMulSum", "hipSend"]
        {
            assert_eq!(Operation::of_call(name), None, "{name}");
        }
    }

    #[test]
    fn kernels_tell_their_operation_or_do_not() {
        let reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
        assert_eq!(Operation::of_kernel(reduce), Operation::AllReduce);
        assert_eq!(Operation::of_kernel("ncclDevKernel_SendRecv(int)"), Operation::SendRecv);
        assert_eq!(Operation::of_kernel("ncclDevKernel_Generic(int)"), Operation::Unknown);
    }
}
