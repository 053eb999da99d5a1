//! What a kernel's name says: kind, category, whether it is a library's.
//!
//! Plain substring tests on the base identifier; no pattern is compiled. Twenty thousand names take a few
//! milliseconds.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::FactError;
use crate::document::{self, built_in};

mod base_name;
mod dtype;

pub use base_name::base_identifier;
pub use dtype::{DtypeWords, dtype, dtype_words};

/// Who launched a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The program.
    User,
    /// The runtime itself: copy, fill and initialisation kernels, barrier packets.
    Runtime,
    /// A collective communication library.
    Collective,
}

impl Kind {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Runtime => "runtime",
            Self::Collective => "collective",
        }
    }
}

/// What a runtime kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuntimeRole {
    /// Moves data: counts as a copy, not as kernel time.
    Copy,
    /// Fills memory.
    Fill,
    /// Prepares memory.
    Init,
    /// Anything else.
    Other,
}

/// What a kernel computes, as far as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub enum Category {
    /// Collective communication.
    #[serde(rename = "NCCL")]
    Nccl,
    /// Attention.
    #[serde(rename = "SDPA")]
    Sdpa,
    /// Matrix product.
    #[serde(rename = "GEMM")]
    Gemm,
    /// Convolution.
    #[serde(rename = "CONV")]
    Conv,
    /// Normalization.
    Normalization,
    /// Reduction.
    Reduction,
    /// Copy and fill.
    Copy,
    /// Elementwise.
    Elementwise,
    /// None of these.
    Other,
}

impl Category {
    /// The label used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nccl => "NCCL",
            Self::Sdpa => "SDPA",
            Self::Gemm => "GEMM",
            Self::Conv => "CONV",
            Self::Normalization => "Normalization",
            Self::Reduction => "Reduction",
            Self::Copy => "Copy",
            Self::Elementwise => "Elementwise",
            Self::Other => "Other",
        }
    }
}

/// One row of the category catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryRow {
    /// Label.
    pub name: Category,
    /// Substrings of the lower-cased base identifier.
    pub patterns: Vec<String>,
    /// Those of them that win over the rows ahead.
    #[serde(default)]
    pub first: Vec<String>,
    /// What the category means for advice.
    pub hint: String,
}

/// Name patterns of kernel kinds, lower case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinds {
    /// Prefixes of collective kernels.
    pub collective_prefixes: Vec<String>,
    /// Prefixes of runtime kernels.
    pub runtime_prefixes: Vec<String>,
    /// Whole names of runtime packets.
    pub runtime_names: Vec<String>,
    /// Substrings of runtime copy kernels.
    pub runtime_copy: Vec<String>,
    /// Substrings of runtime fill kernels.
    pub runtime_fill: Vec<String>,
    /// Substrings of runtime initialisation kernels.
    pub runtime_init: Vec<String>,
}

/// Name patterns of library and stencil kernels, lower case.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Libraries {
    /// Prefixes of the base identifier.
    pub prefixes: Vec<String>,
    /// Outer namespaces of the kernel itself.
    pub namespaces: Vec<String>,
    /// Substrings of base identifiers of kernels that reuse neighbouring data.
    pub stencil: Vec<String>,
}

/// Decodes the three files.
///
/// # Errors
/// One of them is malformed.
pub fn load() -> Result<(Vec<CategoryRow>, Kinds, Libraries), FactError> {
    Ok((
        document::load("kernels/categories")?.facts,
        document::load("kernels/kinds")?.facts,
        document::load("kernels/libraries")?.facts,
    ))
}

fn tables() -> &'static (Vec<CategoryRow>, Kinds, Libraries) {
    static CELL: OnceLock<(Vec<CategoryRow>, Kinds, Libraries)> = OnceLock::new();
    CELL.get_or_init(|| built_in(load()))
}

/// The category catalogue in match order.
pub fn categories() -> &'static [CategoryRow] {
    &tables().0
}

/// The patterns behind [`kind`].
pub fn kinds() -> &'static Kinds {
    &tables().1
}

/// The patterns behind [`is_library`] and [`is_stencil`].
pub fn libraries() -> &'static Libraries {
    &tables().2
}

/// Kind of a kernel, from its name, demangled or not.
///
/// A kernel is collective when its base identifier *starts* with a library's prefix; one that merely contains
/// "broadcast" or "reduce" is the user's.
pub fn kind(name: &str) -> Kind {
    let base = base_identifier(name).to_ascii_lowercase();
    let kinds = kinds();
    let starts = |prefixes: &[String]| prefixes.iter().any(|prefix| base.starts_with(prefix.as_str()));
    if starts(&kinds.collective_prefixes) {
        Kind::Collective
    } else if starts(&kinds.runtime_prefixes)
        || kinds.runtime_names.iter().any(|whole| name.trim().eq_ignore_ascii_case(whole))
    {
        Kind::Runtime
    } else {
        Kind::User
    }
}

/// What a runtime kernel does; `None` for other kernels.
pub fn runtime_role(name: &str) -> Option<RuntimeRole> {
    if kind(name) != Kind::Runtime {
        return None;
    }
    let base = base_identifier(name).to_ascii_lowercase();
    let kinds = kinds();
    Some(if contains(&base, &kinds.runtime_copy) {
        RuntimeRole::Copy
    } else if contains(&base, &kinds.runtime_fill) {
        RuntimeRole::Fill
    } else if contains(&base, &kinds.runtime_init) {
        RuntimeRole::Init
    } else {
        RuntimeRole::Other
    })
}

/// Category of a kernel, from its name, demangled or not.
pub fn category(name: &str) -> Category {
    let base = base_identifier(name).to_ascii_lowercase();
    let rows = categories();
    for (at, row) in rows.iter().enumerate() {
        let later = rows.iter().skip(at + 1).find(|later| contains(&base, &later.first));
        if contains(&base, &row.patterns) {
            return later.map_or(row.name, |later| later.name);
        }
    }
    Category::Other
}

/// Whether a kernel belongs to a library, a framework or the runtime, so its source is not the user's.
pub fn is_library(name: &str) -> bool {
    let libraries = libraries();
    let base = base_identifier(name).to_ascii_lowercase();
    libraries.prefixes.iter().any(|prefix| base.starts_with(prefix.as_str()))
        || libraries.namespaces.iter().any(|outer| base_name::namespaces(name).starts_with(outer.as_str()))
}

/// Whether a kernel's name says it is a stencil, which reuses neighbouring data.
pub fn is_stencil(name: &str) -> bool {
    contains(&base_identifier(name).to_ascii_lowercase(), &libraries().stencil)
}

fn contains(text: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| text.contains(pattern.as_str()))
}
