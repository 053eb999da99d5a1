//! Contract types of the `agent` namespace.

pub mod analysis;
pub mod call;
pub mod correctness;
pub mod details;
pub mod diff_specialist;
pub mod options;
pub mod recommendation;
pub mod root;
pub mod run;
pub mod specialists;
