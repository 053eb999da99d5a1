//! From paths to an opened trace: which files, whether each is a rocpd database, and its small tables.

mod agents;
mod assemble;
mod inputs;
mod load;
mod process;
mod schema;
mod side;
mod sniff;

pub(crate) use assemble::open;
pub use inputs::input_files;
pub(crate) use process::{ProcessData, Track, text_of};
pub(crate) use side::PrivateCopy;
