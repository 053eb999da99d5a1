//! The perfxpert tools: one file a namespace, one registry, one way to call them.

pub mod answer;
pub mod arguments;
pub mod build;
pub mod context;
mod device;
mod diff_document;
mod free_map;
pub mod models;
pub mod registry;
mod report;
pub mod schema;
mod sides;
mod stamp;
mod tools;
pub mod trace_answer;
pub mod trace_errors;
mod trace_health;
pub mod traces;

pub use context::{Cancelled, Context, Phase, Services};
pub use registry::{Class, Registry, Subset, Tool, tool};
