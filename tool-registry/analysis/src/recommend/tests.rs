//! Advice on planted runs, against the worked examples and what each scenario calls for.

mod examples;
mod kernels;
mod planted;
mod runs;
mod source;
