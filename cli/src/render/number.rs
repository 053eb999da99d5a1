//! Numbers as people read them; integers by integer arithmetic, half up.

/// `1204` → `1,204`.
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

/// `1 kernel`, `1,204 kernels`.
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// `value ÷ unit` with `places` decimals, half up.
fn scaled(value: u64, unit: u64, places: u32) -> String {
    let scale = 10_u128.pow(places);
    let rounded = (u128::from(value) * scale * 2 + u128::from(unit)) / (u128::from(unit) * 2);
    let whole = u64::try_from(rounded / scale).unwrap_or(u64::MAX);
    if places == 0 {
        return count(whole);
    }
    format!("{}.{:0width$}", count(whole), rounded % scale, width = places as usize)
}

/// Nanoseconds in running text: `812 ns`, `20.0 μs`, `1.000 ms`, `12.345 s`.
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} μs", scaled(ns, 1_000, 1)),
        1_000_000..1_000_000_000 => format!("{} ms", scaled(ns, 1_000_000, 3)),
        _ => format!("{} s", scaled(ns, 1_000_000_000, 3)),
    }
}

/// Nanoseconds in a millisecond column: `12,345.678`.
pub fn milliseconds(ns: u64) -> String {
    scaled(ns, 1_000_000, 3)
}

/// A JSON decimal of nanoseconds in a microsecond column, 1 decimal.
pub fn microseconds(ns: f64) -> String {
    decimal(ns / 1_000.0, 1)
}

/// A JSON decimal with thousands commas, correctly rounded.
pub fn decimal(value: f64, places: usize) -> String {
    let text = format!("{:.*}", places, value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), count);
    let all_zero = whole == "0" && fraction.chars().all(|digit| digit == '0');
    let sign = if value < 0.0 && !all_zero { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// Binary units, 1 decimal; below 1 KiB whole bytes.
pub fn bytes(value: u64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("PiB", 1 << 50), ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    UNITS
        .iter()
        .find(|(_, unit)| value >= *unit)
        .map_or_else(|| format!("{value} B"), |(name, unit)| format!("{} {name}", scaled(value, *unit, 1)))
}

/// `53.0%`.
pub fn percent(value: f64) -> String {
    format!("{}%", decimal(value, 1))
}

/// `+6.90%`.
pub fn change(value: f64) -> String {
    let text = decimal(value, 2);
    if text.starts_with('-') { format!("{text}%") } else { format!("+{text}%") }
}

/// A fraction as whole percent: `90%`.
pub fn confidence(fraction: f64) -> String {
    format!("{}%", decimal(fraction * 100.0, 0))
}

/// Operations per second with three digits before the unit changes: `112.0 TFLOP/s`.
pub fn rate(per_second: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6)];
    UNITS.iter().find(|(_, unit)| per_second >= *unit).map_or_else(
        || format!("{} FLOP/s", decimal(per_second, 1)),
        |(name, unit)| format!("{} {name}FLOP/s", decimal(per_second / unit, 1)),
    )
}

/// An optional value in a table; unknown is a dash.
pub fn or_dash<T>(value: Option<T>, form: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_the_documented_ones() {
        assert_eq!(
            [duration(812), duration(20_000), duration(1_000_000), duration(12_345_000_000)],
            ["812 ns", "20.0 μs", "1.000 ms", "12.345 s"]
        );
        assert_eq!([milliseconds(440_000), milliseconds(12_345_678_000)], ["0.440", "12,345.678"]);
        assert_eq!([bytes(512), bytes(65_536), bytes(33_554_432)], ["512 B", "64.0 KiB", "32.0 MiB"]);
        assert_eq!(
            [percent(53.0), change(6.9), change(-0.004), change(-1.0)],
            ["53.0%", "+6.90%", "+0.00%", "-1.00%"]
        );
        assert_eq!([rate(1.12e14), rate(6.4e11)], ["112.0 TFLOP/s", "640.0 GFLOP/s"]);
        assert_eq!(count(1_204), "1,204");
    }
}
