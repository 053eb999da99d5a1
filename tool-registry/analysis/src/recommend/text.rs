//! Texts of rules with their numbers filled in.

/// Replaces `{name}` by its value in one pass, so that a value with braces in it is not read again. Names without a value
/// stay as they are.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let found = after.split_once('}').and_then(|(name, tail)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, tail))
        });
        match found {
            Some((value, tail)) => {
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A percentage without its sign: `53.0`.
pub(super) fn pct(value: f64) -> String {
    format!("{value:.1}")
}

/// A fraction as percentage without its sign.
pub(super) fn fraction(value: f64) -> String {
    pct(100.0 * value)
}

/// Bytes in binary units with one decimal, half up: `512 B`, `64.0 KiB`.
pub(super) fn bytes(value: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut unit = 1024_u128;
    let mut name = "KiB";
    for next in UNITS {
        name = next;
        if u128::from(value) < unit * 1024 {
            break;
        }
        unit *= 1024;
    }
    let tenths = (u128::from(value) * 20 + unit) / (unit * 2);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// The first three of a list in words, and how many more there are.
pub(super) fn listed(parts: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = parts.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = parts.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!(", and {more} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_filled_once() {
        assert_eq!(fill("{a} of {b}, {c}", &[("a", "{b}"), ("b", "2")]), "{b} of 2, {c}");
        assert_eq!(fill("{", &[]), "{");
    }

    #[test]
    fn bytes_in_binary_units() {
        assert_eq!([512, 65536, 33_554_432].map(bytes), ["512 B", "64.0 KiB", "32.0 MiB"]);
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(bytes(1023 * 1024 + 1023), "1024.0 KiB");
    }
}
