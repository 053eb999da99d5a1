//! Reads rocpd databases into a trace.
//!
//! [`Trace::open`] reads the small tables of one or several files; [`Trace::sweep`] streams dispatches, copies and host
//! calls of all processes merged by time; [`Trace::counters`] streams dispatches with their counters. What is wrong with a
//! file is returned beside its rows as [`Health`].

mod error;
mod health;
mod intern;
pub mod model;
mod names;
mod open;
mod pages;
mod scan;
mod sweep;
mod trace;

pub use error::{Looks, OpenError, Readable, ScanError};
pub use health::{Health, HealthItem, Severity, Status};
pub use model::*;
pub use open::input_files;
pub use sweep::{Argument, Control, CounterSweep, RowCounts, ScanReport, Select, Sweep};
pub use trace::{OpenOptions, Trace};

/// The version of the SQLite library in this build, such as `3.54.1`.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
