//! Index types: positions in the tables of one [`Trace`](crate::Trace), never comparable between traces.

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// No such thing: the row's column is NULL. Never a valid position.
            pub const NONE: Self = Self(u32::MAX);

            /// The position as a slice index.
            #[must_use]
            pub const fn get(self) -> usize {
                self.0 as usize
            }

            /// Whether the row names one at all.
            #[must_use]
            pub const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// Whether the row's column is NULL.
            #[must_use]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }
    )+};
}

index! {
    /// One input file.
    SourceIdx,
    /// One process: a uuid-suffixed set of tables of one file.
    ProcessIdx,
    /// One machine (node), shared by the processes that ran on it.
    MachineIdx,
    /// One physical agent (GPU, CPU) of one machine, shared by the processes that saw it.
    AgentIdx,
    /// One kernel: all symbols of all files with the same cleaned name.
    KernelIdx,
    /// One kernel symbol of one process: the register and memory needs of one compiled form of a kernel.
    SymbolIdx,
    /// One hardware queue of one process.
    QueueIdx,
    /// One stream of one process.
    StreamIdx,
    /// One host thread of one process.
    ThreadIdx,
    /// One launch shape: workgroup, grid, LDS and scratch sizes.
    ShapeIdx,
    /// One API function or marker text.
    NameIdx,
    /// One hardware counter, by name.
    CounterIdx,
}
