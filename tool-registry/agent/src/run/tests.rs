//! Whole runs against scripted services: providers, chain, gate, budgets, leaks.

mod chain;
mod leaks;
mod limits;
mod opencode;
mod providers;
mod replayed;
mod words;
