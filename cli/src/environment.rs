//! The environment as read once at the start, with one parser for its booleans and numbers.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub use perfxpert_agent::boolean;

use crate::failure::Failure;

pub mod table;

/// A snapshot of the process's environment. Values that are not UTF-8 are kept with replacement characters: no
/// variable that this program reads may hold them.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    values: BTreeMap<String, String>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let values = std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        Self { values }
    }

    /// An environment made of these pairs, for callers that test.
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { values: pairs.iter().map(pair).collect() }
    }

    /// The value of a variable; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// All of it.
    pub fn map(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// The first of several names that is set, with its value.
    pub fn first<'a>(&self, names: &[&'a str]) -> Option<(&'a str, &str)> {
        names.iter().find_map(|name| self.get(name).map(|value| (*name, value)))
    }

    /// Every name that is set to something.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str).filter(|name| self.get(name).is_some())
    }

    /// A boolean variable; `None` when unset.
    ///
    /// # Errors
    /// `usage`, naming the variable, for a word that is neither true nor false.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match boolean(text) {
            Some(value) => Ok(Some(value)),
            None => Err(Failure::usage(
                name,
                format!("{name}: '{text}' is neither true nor false."),
                "Set it to 1 or 0.",
            )),
        }
    }

    /// A boolean that protects: every value that is not false means on.
    pub fn safe_boolean(&self, name: &str) -> Option<bool> {
        self.get(name).map(|text| boolean(text) != Some(false))
    }

    /// A number in a range; `None` when unset. `such_as` completes "Set it to …".
    ///
    /// # Errors
    /// `usage`, naming the variable.
    pub fn number(
        &self,
        name: &str,
        range: RangeInclusive<f64>,
        such_as: &str,
    ) -> Result<Option<f64>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let hint = format!("Set it to {such_as}.");
        match number(text) {
            None => Err(Failure::usage(name, format!("{name}: '{text}' is not a number."), hint)),
            Some(value) if !range.contains(&value) => {
                let range = format!("{name}: {text} is not from {} to {}.", range.start(), range.end());
                Err(Failure::usage(name, range, hint))
            }
            Some(value) => Ok(Some(value)),
        }
    }

    /// A whole number in a range; `None` when unset.
    ///
    /// # Errors
    /// `usage`, naming the variable.
    pub fn integer(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let hint = match *range.end() {
            i64::MAX => format!("Set it to a whole number of at least {}.", range.start()),
            end => format!("Set it to a whole number from {} to {end}.", range.start()),
        };
        match integer(text) {
            None => Err(Failure::usage(name, format!("{name}: '{text}' is not a whole number."), hint)),
            Some(value) if !range.contains(&value) => {
                Err(Failure::usage(name, format!("{name}: {text} is out of range."), hint))
            }
            Some(value) => Ok(Some(value)),
        }
    }

    /// One of several words; `None` when unset.
    ///
    /// # Errors
    /// `usage`, naming the variable and the nearest word.
    pub fn choice(&self, name: &str, words: &[&str]) -> Result<Option<String>, Failure> {
        let Some(text) = self.get(name).map(str::trim) else { return Ok(None) };
        if words.contains(&text) {
            return Ok(Some(text.to_owned()));
        }
        Err(Failure::choice(name, text, words))
    }
}

/// Decimal or scientific notation; never `nan`, `inf` or a percent sign.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value: f64 = if plain && !text.is_empty() { text.parse().ok()? } else { return None };
    value.is_finite().then_some(value)
}

/// Decimal digits with an optional sign.
pub fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_have_one_parser() {
        for text in ["1", "true", "Yes", " on ", "YES", " 1 "] {
            assert_eq!(boolean(text), Some(true), "{text}");
        }
        for text in ["0", "false", "NO", "Off", "", " "] {
            assert_eq!(boolean(text), Some(false), "{text}");
        }
        for text in ["maybe", "2", "n", "enabled", "-1"] {
            assert_eq!(boolean(text), None, "{text}");
        }
    }

    #[test]
    fn the_protecting_boolean_is_on_unless_it_is_false() {
        for text in ["1", "true", "On", "enabled", "2", "n", "maybe"] {
            assert_eq!(
                Environment::of(&[("PERFXPERT_AIRGAP", text)]).safe_boolean("PERFXPERT_AIRGAP"),
                Some(true)
            );
        }
        for text in ["0", "false", "off", "No"] {
            assert_eq!(
                Environment::of(&[("PERFXPERT_AIRGAP", text)]).safe_boolean("PERFXPERT_AIRGAP"),
                Some(false)
            );
        }
        assert_eq!(Environment::of(&[("PERFXPERT_AIRGAP", "")]).safe_boolean("PERFXPERT_AIRGAP"), None);
    }

    #[test]
    fn numbers_are_finite_and_bare() {
        assert_eq!(number("5"), Some(5.0));
        assert_eq!(number("-1.5e3"), Some(-1500.0));
        assert_eq!(number("+2"), Some(2.0));
        for text in ["", "5%", "nan", "inf", "-inf", "1e999", "0x10", "1_000", "five", "e", "infinity"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(integer("+10"), Some(10));
        assert_eq!(integer("1.0"), None);
    }

    #[test]
    fn a_bad_variable_is_named_with_what_to_set() {
        let environment = Environment::of(&[("PERFXPERT_CI_REGRESSION_THRESHOLD", "loose")]);
        let failure = environment
            .number("PERFXPERT_CI_REGRESSION_THRESHOLD", 0.0..=1000.0, "a percentage such as 5")
            .unwrap_err();
        assert_eq!(
            failure.line(),
            "perfxpert: error: PERFXPERT_CI_REGRESSION_THRESHOLD: 'loose' is not a number. \
             Set it to a percentage such as 5."
        );
    }
}
