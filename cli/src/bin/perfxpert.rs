//! The `perfxpert` program.
fn main() {}
