//! Numbers, names and preconditions in the sentences of agents: one function each, half away from zero.

use perfxpert_knowledge::Compare;
use perfxpert_knowledge::techniques::{self, Condition, Format, MetricValue};

use crate::rounding::round;
use crate::words;

/// Longest name, in characters.
const NAME: usize = 80;

/// A fraction as percent with one decimal: `78.0%`.
#[must_use]
pub fn pct(fraction: f64) -> String {
    format!("{:.1}%", round(100.0 * fraction, 1))
}

/// Two decimals: `1.25x`.
#[must_use]
pub fn ratio(value: f64) -> String {
    format!("{:.2}x", round(value, 2))
}

/// Thousands commas: `10,000`.
#[must_use]
pub fn count(value: u64) -> String {
    words::count(value)
}

/// Two decimals of 1e9 bytes per second: `54.12 GB/s`.
#[must_use]
pub fn rate(gbps: f64) -> String {
    format!("{:.2} GB/s", round(gbps, 2))
}

/// Three significant digits: `84.0 ms`, `450 µs`.
#[must_use]
pub fn time(ns: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let ns = ns.max(0.0);
    UNITS.iter().find(|(unit, _)| ns >= *unit).map_or_else(
        || format!("{} ns", significant(ns)),
        |(unit, name)| format!("{} {name}", significant(ns / unit)),
    )
}

/// Three significant digits in binary units: `64.0 KiB`.
#[must_use]
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut rest = value.max(0.0);
    let mut name = "B";
    for unit in UNITS {
        if rest < 1024.0 {
            break;
        }
        rest /= 1024.0;
        name = unit;
    }
    if name == "B" { format!("{rest:.0} B") } else { format!("{} {name}", significant(rest)) }
}

fn significant(value: f64) -> String {
    match value {
        value if round(value, 2) < 10.0 => format!("{:.2}", round(value, 2)),
        value if round(value, 1) < 100.0 => format!("{:.1}", round(value, 1)),
        value => format!("{:.0}", round(value, 0)),
    }
}

/// A name in backticks: control characters and backticks removed, the middle cut out of long ones.
#[must_use]
pub fn name(text: &str) -> String {
    let clean: Vec<char> = text.chars().filter(|letter| !letter.is_control() && *letter != '`').collect();
    if clean.len() <= NAME {
        return format!("`{}`", clean.into_iter().collect::<String>());
    }
    let head = NAME / 2;
    let tail = NAME - 1 - head;
    let head: String = clean.iter().take(head).collect();
    let tail: String = clean.iter().skip(clean.len() - tail).collect();
    format!("`{head}…{tail}`")
}

/// How sentences call what a condition looks at.
fn label(condition: &Condition) -> String {
    let labels: Vec<&str> = condition
        .metrics()
        .into_iter()
        .map(|name| techniques::metric(name).map_or(name, |metric| metric.label.as_str()))
        .collect();
    match labels.as_slice() {
        [only] => (*only).to_owned(),
        several => format!("largest of {}", several.join(", ")),
    }
}

fn format_of(condition: &Condition) -> Format {
    let first = condition.metrics().into_iter().next();
    first.and_then(techniques::metric).map_or(Format::Number, |metric| metric.format)
}

fn number(value: f64, format: Format) -> String {
    match format {
        Format::Pct => pct(value),
        Format::Bytes => bytes(value),
        Format::Us => format!("{} µs", significant(value)),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count in a sentence")]
        Format::Count => count(value.max(0.0).round() as u64),
        Format::Number | Format::Flag | Format::Label => format!("{:.2}", round(value, 2)),
    }
}

/// What a condition compares with, with its operator: `>= 60.0%`.
fn limit(condition: &Condition) -> String {
    let op = condition.op().as_str();
    match (condition.number(), condition.words()) {
        (Some(value), _) => format!("{op} {}", number(value, format_of(condition))),
        (None, []) => String::new(),
        (None, words) => format!("{op} {}", words.join(", ")),
    }
}

/// A condition in words: `VALU utilization >= 60.0%`; a flag is its label.
pub(super) fn condition(condition: &Condition) -> String {
    match (condition.flag(), limit(condition)) {
        (Some(false), _) => format!("not {}", label(condition)),
        (Some(true), _) => label(condition),
        (None, limit) => format!("{} {limit}", label(condition)),
    }
}

/// The value a condition was judged by: of several metrics the largest known one.
pub(super) fn judged_value(
    condition: &Condition,
    look: &dyn Fn(&str) -> Option<MetricValue>,
) -> Option<MetricValue> {
    let known: Vec<MetricValue> = condition.metrics().into_iter().filter_map(look).collect();
    let numbers = known.iter().filter_map(|value| match value {
        MetricValue::Number(number) => Some(*number),
        _ => None,
    });
    numbers.reduce(f64::max).map(MetricValue::Number).or_else(|| known.into_iter().next())
}

/// A condition with its value: `VALU utilization 78.0% (>= 60.0%)`.
pub(super) fn with_value(condition: &Condition, value: &MetricValue) -> String {
    match value {
        MetricValue::Flag(true) => label(condition),
        MetricValue::Flag(false) => format!("not {}", label(condition)),
        MetricValue::Number(found) => {
            format!("{} {} ({})", label(condition), number(*found, format_of(condition)), limit(condition))
        }
        MetricValue::Label(found) if condition.op() == Compare::OneOf => {
            format!("{} {found} ({})", label(condition), limit(condition))
        }
        MetricValue::Label(found) => format!("{} {found}", label(condition)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_examples() {
        assert_eq!([84e6, 57.45e6, 450e3, 812.0].map(time), ["84.0 ms", "57.5 ms", "450 µs", "812 ns"]);
        assert_eq!([65536.0, 33_554_432.0, 100.0].map(bytes), ["64.0 KiB", "32.0 MiB", "100 B"]);
        assert_eq!(
            (pct(0.78), ratio(1.25), rate(54.1201)),
            ("78.0%".to_owned(), "1.25x".to_owned(), "54.12 GB/s".to_owned())
        );
        assert_eq!(name(&"x".repeat(200)).chars().count(), 82);
    }
}
