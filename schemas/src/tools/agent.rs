//! Contract types of the `agent` namespace.

pub mod analysis;
pub mod options;
pub mod root;
pub mod run;
