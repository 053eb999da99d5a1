//! The MCP server: answers `tools/list` and `tools/call` from the registry over any pair of byte streams.
//!
//! It never computes anything itself, never writes to standard output but JSON-RPC, and outlives neither its client
//! nor its input. [`stdio::serve_stdio`] is the process entry; [`serve`] is the same over given streams.

mod call;
mod handler;
mod instructions;
mod listing;
mod options;
mod progress;
mod serve;
pub mod stdio;
mod transport;

pub use options::Options;
pub use serve::{ServeError, serve};
