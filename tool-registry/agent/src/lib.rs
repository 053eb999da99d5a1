//! Language-model providers, agent loop, claim gate and redaction.
//!
//! An agent computes its whole answer first; what is here may only word it. [`Runtime::preflight`] decides from
//! [`Settings`] alone whether a model may be asked, before any file or socket is opened; [`Runtime::run`] shows a
//! redacted [`EvidencePack`] to the model, answers its tool calls through a [`Toolbox`] and hands back those of its
//! sentences that the evidence supports. Whatever fails on the way, the deterministic answer stands and the failure
//! is said in the [`RunOutcome`].

mod adapt;
mod assemble;
mod budget;
mod chain;
mod claims;
mod classify;
mod clock;
pub mod config;
mod converse;
mod error;
#[cfg(test)]
mod fake;
mod http;
mod ladder;
mod message;
mod pack;
mod preflight;
mod prompt;
mod proposals;
mod provider;
mod providers;
mod redact;
#[cfg(any(test, feature = "replay"))]
mod replay;
mod reply;
mod retry;
mod run;
mod secret;
mod session;
mod settings;
mod toolbox;

pub use adapt::{ThinkingForm, TokenKey, ToolChoiceForm, WireShape};
pub use budget::Budgets;
pub use claims::{ClaimGate, DropReason, Verdict as ClaimVerdict};
pub use clock::{Clock, SystemClock};
pub use error::{FailureKind, FatalCode, ProviderError, TransientKind};
pub use message::{ChatReply, ChatRequest, Message, Part, Role, Stop, ToolChoice, Usage};
pub use pack::{
    EntryKind, EvidencePack, EvidenceValue, Lexicon, PackComparability, PackEntry, PackEvidence, PackGate,
    PackKernel, PackMissing, PackPrecondition, PackRunnerUp, PackTime, PackVerdict,
};
pub use preflight::{Candidate, ModelChoice, Plan, ProviderStatus, probe};
pub use prompt::{ComposedPrompt, FenceProfile, PromptFiles, PromptId};
pub use proposals::{Proposal, ProposalProvenance, proposal_id};
pub use provider::{BoxFuture, Provider};
pub use redact::{Outbound, PathRoot, Redactor};
#[cfg(any(test, feature = "replay"))]
pub use replay::{Recording, ReplayProvider, request_sha256};
pub use reply::{SUBMIT_ANSWER, reply_schema};
pub use run::{AcceptedTitle, Creativity, OnFailure, Progress, RunCx, RunOutcome, RunRequest, Runtime};
pub use secret::Secret;
pub use settings::{ConfigValues, Identity, LlmFacts, ModelQuirk, Settings, UnknownFact, boolean};
pub use toolbox::{AgentSpec, CallCx, ToolFailure, ToolSpec, Toolbox};
