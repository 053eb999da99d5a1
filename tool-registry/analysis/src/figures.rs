//! Numbers in the sentences of agents; half away from zero.

/// Longest name in a sentence, in characters.
const NAME: usize = 80;

/// `78.0%` of a fraction.
#[must_use]
pub fn pct(fraction: f64) -> String {
    format!("{:.1}%", crate::rounding::round(fraction * 100.0, 1))
}

/// `-12.4%`, `+3.0%` of a percentage.
#[must_use]
pub fn signed_pct(percent: f64) -> String {
    let rounded = crate::rounding::round(percent, 1);
    if rounded < 0.0 { format!("{rounded:.1}%") } else { format!("+{:.1}%", rounded.abs()) }
}

/// `2.60x`.
#[must_use]
pub fn ratio(value: f64) -> String {
    format!("{:.2}x", crate::rounding::round(value, 2))
}

/// Three significant digits: `450 µs`, `84.0 ms`, `1.25 s`.
#[must_use]
pub fn time(ns: f64) -> String {
    significant(ns, &[(1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms"), (f64::INFINITY, 1e9, "s")])
}

/// Three significant digits: `1.00 MiB`.
#[must_use]
pub fn bytes(count: f64) -> String {
    const K: f64 = 1024.0;
    let steps = [
        (K, 1.0, "B"),
        (K * K, K, "KiB"),
        (K * K * K, K * K, "MiB"),
        (K * K * K * K, K * K * K, "GiB"),
        (f64::INFINITY, K * K * K * K, "TiB"),
    ];
    if count.abs() < K { format!("{count:.0} B") } else { significant(count, &steps) }
}

fn significant(value: f64, steps: &[(f64, f64, &str)]) -> String {
    let step = steps.iter().find(|(below, ..)| value.abs() < *below).or(steps.last());
    let Some((_, unit, name)) = step else { return value.to_string() };
    let scaled = value / unit;
    let places: u8 = match scaled.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{:.*} {name}", usize::from(places), crate::rounding::round(scaled, places))
}

/// A name in backticks, at most 80 characters of it with the middle left out.
#[must_use]
pub fn name(text: &str) -> String {
    let clean: Vec<char> = text.chars().filter(|letter| !letter.is_control() && *letter != '`').collect();
    if clean.len() <= NAME {
        return format!("`{}`", clean.into_iter().collect::<String>());
    }
    let head = (NAME - 1).div_ceil(2);
    let tail = NAME - 1 - head;
    let front: String = clean.iter().take(head).collect();
    let back: String = clean.iter().skip(clean.len() - tail).collect();
    format!("`{front}…{back}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_the_examples() {
        assert_eq!(
            [84_000_000.0, 57_450_000.0, 450_000.0, 12.0].map(time),
            ["84.0 ms", "57.5 ms", "450 µs", "12.0 ns"]
        );
        assert_eq!(pct(0.78), "78.0%");
        assert_eq!([-12.4, 30.0, -0.01].map(signed_pct), ["-12.4%", "+30.0%", "+0.0%"]);
        assert_eq!([0.0, 1_048_576.0, 17_301_504.0].map(bytes), ["0 B", "1.00 MiB", "16.5 MiB"]);
        assert_eq!(ratio(2.604), "2.60x");
        assert_eq!(name(&"x".repeat(81)).chars().count(), 82);
    }
}
