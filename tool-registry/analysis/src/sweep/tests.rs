//! The sweep against the contract's worked examples and against a slow, obvious oracle.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod examples;
mod oracle;

mod run;
