//! Reads the recognised names of a free map with the same refusals as declared arguments.

use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value};

use crate::arguments::{fraction, shown};

/// Most names that an answer repeats as unrecognised.
const UNKNOWN_SHOWN: usize = 20;

/// A free map argument.
pub(crate) struct FreeMap<'a> {
    /// The argument's name, in front of every field of a refusal.
    pub(crate) argument: &'static str,
    pub(crate) values: &'a Map<String, Value>,
}

impl<'a> FreeMap<'a> {
    fn present(&self, name: &str) -> Option<&'a Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.argument)
    }

    fn refuse(&self, name: &str, value: &Value, wanted: &str) -> ErrorObject {
        let field = self.field(name);
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let message = format!("{field} is {}, but it must be {wanted}.", shown(&value.to_string()));
        ErrorObject::invalid(&field, message, format!("Send {wanted}.")).value(&plain)
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, ErrorObject> {
        match self.present(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| self.refuse(name, value, "a number")),
        }
    }

    /// A number from `least` to `most`.
    pub(crate) fn number_within(
        &self,
        name: &str,
        least: f64,
        most: f64,
    ) -> Result<Option<f64>, ErrorObject> {
        match self.number(name)? {
            Some(number) if !(least..=most).contains(&number) => {
                let wanted = if most == f64::MAX {
                    format!("a number of at least {least}")
                } else {
                    format!("a number from {least} to {most}")
                };
                Err(self.refuse(name, &Value::from(number), &wanted))
            }
            number => Ok(number),
        }
    }

    /// A fraction, clamped within rounding.
    pub(crate) fn fraction(&self, name: &str) -> Result<Option<f64>, ErrorObject> {
        self.number(name)?.map(|number| fraction(&self.field(name), number)).transpose()
    }

    /// A whole number of at least `least`.
    pub(crate) fn whole(&self, name: &str, least: u64) -> Result<Option<u64>, ErrorObject> {
        let Some(value) = self.present(name) else { return Ok(None) };
        let whole = value.as_u64().or_else(|| {
            // A whole number may arrive as a float; beyond 2^53 it no longer says which integer was meant.
            let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
            (0.0..=9_007_199_254_740_992.0).contains(&number).then_some(number as u64)
        });
        match whole.filter(|whole| *whole >= least) {
            Some(whole) => Ok(Some(whole)),
            None => Err(self.refuse(name, value, &format!("a whole number of at least {least}"))),
        }
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, ErrorObject> {
        match self.present(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(value) => Err(self.refuse(name, value, "a string")),
        }
    }

    /// A boolean.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ErrorObject> {
        match self.present(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(value) => Err(self.refuse(name, value, "true or false")),
        }
    }

    /// Names that are not among `known`, sorted, all of them.
    pub(crate) fn unknown(&self, known: &[&str]) -> Vec<&'a str> {
        let mut unknown: Vec<&str> =
            self.values.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
        unknown.sort_unstable();
        unknown
    }

    /// The same, as an answer repeats them.
    pub(crate) fn unknown_shown(&self, known: &[&str]) -> Vec<String> {
        self.unknown(known).into_iter().take(UNKNOWN_SHOWN).map(str::to_owned).collect()
    }
}
