//! Contract types of the `agent` namespace.

pub mod run;
