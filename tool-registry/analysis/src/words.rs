//! Numbers in sentences of the report; integers by integer arithmetic, half up.

/// Longest name in a sentence, in characters.
const NAME: usize = 60;

/// `1204` is `1,204`.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 call`, `1,204 calls`.
#[must_use]
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// `53.0%`.
#[must_use]
pub fn percent(value: f64) -> String {
    format!("{value:.1}%")
}

/// `812 ns`, `20.0 μs`, `1.000 ms`, `12.345 s`.
#[must_use]
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} μs", scaled(ns, 1_000, 1)),
        1_000_000..1_000_000_000 => format!("{} ms", scaled(ns, 1_000_000, 3)),
        _ => format!("{} s", scaled(ns, 1_000_000_000, 3)),
    }
}

/// `0.440 ms`, whatever the size.
#[must_use]
pub fn milliseconds(ns: u64) -> String {
    format!("{} ms", scaled(ns, 1_000_000, 3))
}

/// `value / unit` with `places` decimals, half up.
fn scaled(value: u64, unit: u64, places: u32) -> String {
    let scale = 10_u128.pow(places);
    let rounded = (u128::from(value) * scale * 2 + u128::from(unit)) / (u128::from(unit) * 2);
    let whole = u64::try_from(rounded / scale).unwrap_or(u64::MAX);
    format!("{}.{:0width$}", count(whole), rounded % scale, width = places as usize)
}

/// A name in backticks: control characters and backticks removed, the middle cut out of long ones.
#[must_use]
pub fn name(text: &str) -> String {
    let clean: Vec<char> = text.chars().filter(|letter| !letter.is_control() && *letter != '`').collect();
    if clean.len() <= NAME {
        return format!("`{}`", clean.into_iter().collect::<String>());
    }
    let head = 3 * (NAME - 1) / 5;
    let tail = NAME - 1 - head;
    let head: String = clean.iter().take(head).collect();
    let tail: String = clean.iter().skip(clean.len() - tail).collect();
    format!("`{head}…{tail}`")
}

/// Speed-up when `gain_pct` percent of the run went away, `2.13`; `None` from 100 % on.
#[must_use]
pub fn speedup(gain_pct: f64) -> Option<String> {
    (0.0..100.0).contains(&gain_pct).then(|| format!("{:.2}", 1.0 / (1.0 - gain_pct / 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_the_examples() {
        assert_eq!(
            [812, 20_000, 1_000_000, 12_345_000_000].map(duration),
            ["812 ns", "20.0 μs", "1.000 ms", "12.345 s"]
        );
        assert_eq!(count(1204), "1,204");
        assert_eq!(percent(53.0), "53.0%");
        assert_eq!(speedup(53.0).as_deref(), Some("2.13"));
        assert_eq!(speedup(100.0), None);
        assert_eq!(name("a`b\u{1b}"), "`ab`");
        assert_eq!(name(&"x".repeat(61)).chars().count(), 62);
    }
}
