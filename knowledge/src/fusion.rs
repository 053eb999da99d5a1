//! Names of kernel pairs that can be fused, and of attention kernels.

use serde::Deserialize;

use crate::document::table;
use crate::kernels::base_identifier;
use crate::thresholds;

/// A pair of name patterns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Name, `gemm_epilogue`.
    pub name: String,
    /// Words of the first kernel's name.
    pub first: Vec<String>,
    /// Words of the second kernel's name.
    pub second: Vec<String>,
    /// Fits both ways round.
    pub either_order: bool,
}

/// What an attention kernel's name says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attention {
    /// Id.
    pub id: String,
    /// Parts of lower-cased names; of one kernel, or of kernels in a row when `sequence`.
    pub names: Vec<String>,
    /// `names` is a launch order.
    pub sequence: bool,
    /// Nothing to do.
    pub healthy: bool,
    /// What to do, or that nothing is to do.
    pub advice: Vec<String>,
}

table! {
    /// Patterns of fusable pairs in match order.
    pub fn patterns() -> Vec<Pattern> = "fusion/patterns";
}

table! {
    /// Attention patterns.
    pub fn attention() -> Vec<Attention> = "attention/patterns";
}

/// The first pattern two consecutive kernels fit, from their names.
pub fn pattern(first: &str, second: &str) -> Option<&'static Pattern> {
    let (first, second) = (Words::of(first), Words::of(second));
    patterns().iter().find(|row| {
        let fits = |a: &Words, b: &Words| a.have(&row.first) && b.have(&row.second);
        fits(&first, &second) || (row.either_order && fits(&second, &first))
    })
}

struct Words {
    whole: String,
    tokens: Vec<String>,
}

impl Words {
    fn of(name: &str) -> Self {
        let base = base_identifier(name);
        let mut tokens: Vec<String> = Vec::new();
        let mut previous = ' ';
        for c in base.chars() {
            let starts = !previous.is_alphabetic() || (previous.is_lowercase() && c.is_uppercase());
            if c.is_alphabetic() {
                if starts {
                    tokens.push(String::new());
                }
                if let Some(token) = tokens.last_mut() {
                    token.extend(c.to_lowercase());
                }
            }
            previous = c;
        }
        Self { whole: base.to_lowercase(), tokens }
    }

    fn have(&self, words: &[String]) -> bool {
        let short = usize::try_from(thresholds::fusion().whole_word_letters).unwrap_or(usize::MAX);
        words.iter().any(|word| {
            if word.chars().count() <= short {
                self.tokens.contains(word)
            } else {
                self.whole.contains(word.as_str())
            }
        })
    }
}
