//! Hardware facts, thresholds and patterns with a source each.
//!
//! Facts are YAML files under `facts/`, embedded in the binary and decoded on first use: nothing is read at
//! start-up. Every file states `source` and `confidence` (a row may state its own); a file without them is
//! refused. The typed accessors are the API; a fact's id, `file#key`, serves evidence and citations.
//!
//! | module | answers |
//! |---|---|
//! | [`arch`] | structure, products, peaks of a gfx id in any spelling; which product a device is |
//! | [`thresholds`] | limits as typed values, one accessor and one table of fact ids per namespace |
//! | [`counters`] | what a counter counts, where it exists, what it costs, how its instances combine, pass limits |
//! | [`formulas`] | metrics from counters per architecture, as expressions to evaluate |
//! | [`kernels`], [`fusion`] | kind, category, library or not from a name; pairs that can be fused |
//! | [`api`], [`att`] | families of runtime calls; stall reasons and instruction categories |
//! | [`interconnect`], [`compiler`], [`intent`], [`clients`] | links, flags and loop hints, sentence rules, client programs |
//! | [`collect`], [`commands`] | profiler options, counter sets, goals, workflow; every printed command, quoted and checked |
//! | [`techniques`], [`impact`], [`rules`] | what to do, when it applies, what it can bring; texts of recommendations |
//!
//! A new fact is a key in a file and, for a threshold, a line in `src/thresholds/`; a test walks the folder and
//! fails on a file that no accessor decodes and on a threshold that none reads.
//!
//! ```
//! use perfxpert_knowledge::{arch, fact, kernels, thresholds};
//!
//! let mi300a = arch::find("GFX942:sramecc+:xnack-").and_then(|gpu| gpu.select(None, None, Some(228)));
//! assert_eq!(mi300a.map(|found| found.sku.sku.as_str()), Some("MI300A"));
//! assert_eq!(thresholds::att().critical, 0.80);
//! assert_eq!(thresholds::att::ID.critical, "thresholds/att#critical");
//! assert_eq!(kernels::kind("ncclDevKernel_Generic(ncclDevComm*)"), kernels::Kind::Collective);
//! assert_eq!(kernels::category("Cijk_Ailk_Bljk_HHS_BH_MT128x128"), kernels::Category::Gemm);
//! assert!(fact("arch/gfx942#sgpr_steps").is_ok());
//! ```

pub mod api;
pub mod arch;
pub mod att;
pub mod clients;
pub mod collect;
pub mod commands;
mod compare;
pub mod compiler;
pub mod counters;
mod document;
mod error;
mod fact;
pub mod formulas;
pub mod fusion;
pub mod impact;
pub mod intent;
pub mod interconnect;
pub mod kernels;
pub mod rules;
pub mod techniques;
pub mod thresholds;

pub use compare::Compare;
pub use document::{Confidence, Document, files, parse, version};
pub use error::FactError;
pub use fact::{Fact, FactValue, fact, number};

#[cfg(test)]
mod tests;
