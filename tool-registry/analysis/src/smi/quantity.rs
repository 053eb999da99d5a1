//! Reads a measured quantity as these logs write it: a number, a text with or without unit, or `{value, unit}`.

use serde_json::Value;

/// A quantity in W, MHz or °C (mW and GHz are converted, other units ignored); `None` for `N/A`, empty and null.
pub(super) fn quantity(value: &Value) -> Option<f64> {
    let (number, unit) = match value {
        Value::Number(number) => (number.as_f64()?, ""),
        Value::String(text) => leading(text)?,
        Value::Object(_) => {
            let inner = value.get("value")?;
            let unit = value.get("unit").and_then(Value::as_str);
            let (number, own) = match inner {
                Value::Number(number) => (number.as_f64()?, ""),
                Value::String(text) => leading(text)?,
                _ => return None,
            };
            (number, unit.unwrap_or(own))
        }
        _ => return None,
    };
    let scaled = match unit.trim() {
        unit if unit.eq_ignore_ascii_case("mw") => number / 1000.0,
        unit if unit.eq_ignore_ascii_case("ghz") => number * 1000.0,
        _ => number,
    };
    scaled.is_finite().then_some(scaled)
}

/// The number a text begins with, and what follows it.
pub(super) fn leading(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|(at, letter)| {
            !(letter.is_ascii_digit() || *letter == '.' || (*at == 0 && (*letter == '-' || *letter == '+')))
        })
        .map_or(text.len(), |(at, _)| at);
    let (number, rest) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, rest))
}
