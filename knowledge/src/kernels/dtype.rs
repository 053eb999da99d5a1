//! The number format a kernel's name speaks of.

use serde::Deserialize;

use crate::document::table;

/// Words of one number format.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DtypeWords {
    /// The format, `bf16`.
    pub dtype: String,
    /// Words in any case.
    pub words: Vec<String>,
    /// Type letters of library kernels, in this case only.
    pub letters: Vec<String>,
}

table! {
    /// Number formats by the words of kernel names, in the order they are tried.
    pub fn dtype_words() -> Vec<DtypeWords> = "kernels/dtypes";
}

/// The number format a kernel's name speaks of; `None` when it names none.
///
/// ```
/// assert_eq!(perfxpert_knowledge::kernels::dtype("gemm_f16_kernel"), Some("fp16"));
/// assert_eq!(perfxpert_knowledge::kernels::dtype("matmul_kernel"), None);
/// ```
pub fn dtype(name: &str) -> Option<&'static str> {
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let row = dtype_words().iter().find(|row| {
        words.iter().any(|word| {
            row.words.iter().any(|known| known.eq_ignore_ascii_case(word))
                || row.letters.iter().any(|known| known == word)
        })
    })?;
    Some(&row.dtype)
}
