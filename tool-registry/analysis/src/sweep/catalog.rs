//! What the sweep must know about kernels, calls, GPUs and streams beyond their ids.

use perfxpert_trace::{
    AgentIdx, AgentKind, Family, KernelIdx, MachineIdx, Name, NameIdx, ProcessIdx, SourceIdx, StreamIdx,
    Trace,
};

use perfxpert_knowledge::kernels::Category;
use perfxpert_knowledge::{api, kernels};

use crate::profile::{CallClass, KernelKind, Text};

/// The tables a sweep looks ids up in.
pub trait Tables {
    /// Cleaned name of a kernel.
    fn kernel(&self, kernel: KernelIdx) -> Option<Text>;
    /// Function or text of a host call.
    fn name(&self, name: NameIdx) -> Option<Name>;
    /// What an agent is and where.
    fn agent(&self, agent: AgentIdx) -> Option<(AgentKind, MachineIdx)>;
    /// Where a process ran and which file it is in.
    fn process(&self, process: ProcessIdx) -> Option<(MachineIdx, SourceIdx)>;
    /// Number of processes.
    fn processes(&self) -> usize;
    /// Id of a stream.
    fn stream_id(&self, stream: StreamIdx) -> Option<i64>;
}

impl Tables for Trace {
    fn kernel(&self, kernel: KernelIdx) -> Option<Text> {
        Self::kernel(self, kernel).map(|kernel| kernel.name.clone())
    }

    fn name(&self, name: NameIdx) -> Option<Name> {
        Self::name(self, name)
    }

    fn agent(&self, agent: AgentIdx) -> Option<(AgentKind, MachineIdx)> {
        Self::agent(self, agent).map(|agent| (agent.kind, agent.machine))
    }

    fn process(&self, process: ProcessIdx) -> Option<(MachineIdx, SourceIdx)> {
        self.processes().get(process.get()).map(|process| (process.machine, process.source))
    }

    fn processes(&self) -> usize {
        Self::processes(self).len()
    }

    fn stream_id(&self, stream: StreamIdx) -> Option<i64> {
        self.stream(stream).map(|stream| stream.id)
    }
}

/// What the name of a kernel tells.
#[derive(Clone, Debug)]
pub(crate) struct KernelTraits {
    pub(crate) name: Text,
    pub(crate) kind: KernelKind,
    pub(crate) category: Category,
}

/// What the name of a call tells.
#[derive(Clone, Debug)]
pub(crate) struct CallTraits {
    pub(crate) text: Text,
    pub(crate) family: Family,
    pub(crate) class: CallClass,
    pub(crate) blocking: bool,
    /// HIP, HSA or RCCL: a call the GPU may be waiting for.
    pub(crate) host_api: bool,
    pub(crate) graph_launch: bool,
}

/// Looks a kernel up and says what it is.
pub(crate) fn kernel_traits(tables: &dyn Tables, kernel: KernelIdx) -> KernelTraits {
    let name = tables.kernel(kernel).unwrap_or_else(|| Text::from(""));
    let kind = match kernels::kind(&name) {
        kernels::Kind::User => KernelKind::User,
        kernels::Kind::Collective => KernelKind::Collective,
        kernels::Kind::Runtime if kernels::runtime_role(&name) == Some(kernels::RuntimeRole::Copy) => {
            KernelKind::RuntimeCopy
        }
        kernels::Kind::Runtime => KernelKind::Runtime,
    };
    let category = kernels::category(&name);
    KernelTraits { name, kind, category }
}

/// Looks a call up and says what it is.
pub(crate) fn call_traits(tables: &dyn Tables, name: NameIdx) -> CallTraits {
    let Some(name) = tables.name(name) else {
        let (text, family) = (Text::from(""), Family::Other);
        return CallTraits {
            text,
            family,
            class: CallClass::Other,
            blocking: false,
            host_api: false,
            graph_launch: false,
        };
    };
    let class = api::family(&name.text);
    let graph_launch = class == CallClass::Launch && name.text.to_ascii_lowercase().contains("graph");
    let blocking = api::blocks(&name.text);
    let host_api =
        matches!(name.family, Family::HipRuntime | Family::HipCompiler | Family::Hsa | Family::Rccl);
    CallTraits { text: name.text, family: name.family, class, blocking, host_api, graph_launch }
}
