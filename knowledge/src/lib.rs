//! Hardware facts, thresholds and patterns with a source each.
//!
//! Facts are YAML files under `facts/`, embedded in the binary and decoded on first use: nothing is read at
//! start-up. Every file states `source` and `confidence` (a row may state its own); a file without them is
//! refused. The typed accessors are the API; a fact's id, `file#key`, serves evidence and citations.
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
pub use document::{Confidence, Document, files, parse};
pub use error::FactError;
pub use fact::{Fact, FactValue, fact, number};

#[cfg(test)]
mod tests;
