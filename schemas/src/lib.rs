//! Wire types of the perfxpert tools and of the report document: names, inputs, outputs and the error object.

pub mod diff;
pub mod error;
pub mod names;
pub mod report;
pub mod tools;
pub mod trace_health;

pub use error::{ErrorKind, ErrorObject};
pub use trace_health::{TraceHealth, TraceHealthItem};
