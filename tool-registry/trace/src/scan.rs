//! Streams the large tables: decodes rows, joins them with their events, puts invalid ones aside and orders them by time.

mod arguments;
mod counters;
mod feed;
mod order;
mod pipeline;
mod rows;
mod sample;
mod spill;
mod sweep;
mod tally;

pub(crate) use arguments::arguments;
pub(crate) use counters::counters;
pub(crate) use sweep::sweep;
pub(crate) use tally::invalid_text;
#[cfg(test)]
mod tests;
