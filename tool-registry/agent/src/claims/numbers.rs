//! Numbers in sentences: each must be a correct rounding of a cited value, in a unit that value has.

use crate::pack::{EvidenceValue, PackEvidence};

/// What a unit measures, and how many base units it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// A share; base 1.
    Share(f64),
    /// A factor.
    Factor,
    /// Nanoseconds.
    Time(f64),
    /// Bytes.
    Bytes(f64),
    /// Bytes per second.
    Rate(f64),
    /// Watts.
    Power,
    /// Degrees Celsius.
    Heat,
    /// Hertz.
    Frequency(f64),
}

const KIB: f64 = 1024.0;

/// The unit a word stands for; `None` for a word that is no unit.
fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "%" | "percent" => Unit::Share(0.01),
        "x" | "X" | "×" | "times" | "fold" | "-fold" => Unit::Factor,
        "ns" => Unit::Time(1.0),
        "µs" | "μs" | "us" => Unit::Time(1e3),
        "ms" => Unit::Time(1e6),
        "s" | "seconds" | "second" => Unit::Time(1e9),
        "B" | "bytes" | "byte" => Unit::Bytes(1.0),
        "KB" | "kB" => Unit::Bytes(1e3),
        "MB" => Unit::Bytes(1e6),
        "GB" => Unit::Bytes(1e9),
        "KiB" => Unit::Bytes(KIB),
        "MiB" => Unit::Bytes(KIB * KIB),
        "GiB" => Unit::Bytes(KIB * KIB * KIB),
        "TiB" => Unit::Bytes(KIB * KIB * KIB * KIB),
        "GB/s" => Unit::Rate(1e9),
        "MB/s" => Unit::Rate(1e6),
        "TB/s" => Unit::Rate(1e12),
        "W" => Unit::Power,
        "°C" => Unit::Heat,
        "MHz" => Unit::Frequency(1e6),
        "GHz" => Unit::Frequency(1e9),
        _ => return None,
    })
}

/// The unit of an evidence item, which also knows some long spellings.
fn evidence_unit(word: &str) -> Option<Unit> {
    match word {
        "fraction" | "ratio_of_one" => Some(Unit::Share(1.0)),
        "pct" => Some(Unit::Share(0.01)),
        "ratio" | "speedup" => Some(Unit::Factor),
        "gbps" | "gb_per_s" => Some(Unit::Rate(1e9)),
        "bytes_per_s" | "B/s" => Some(Unit::Rate(1.0)),
        "mhz" => Some(Unit::Frequency(1e6)),
        "watts" => Some(Unit::Power),
        "celsius" => Some(Unit::Heat),
        other => unit(other),
    }
}

/// The value in the other unit; `None` when the two measure different things.
fn convert(value: f64, from: Unit, to: Unit) -> Option<f64> {
    match (from, to) {
        (Unit::Share(a), Unit::Share(b))
        | (Unit::Time(a), Unit::Time(b))
        | (Unit::Bytes(a), Unit::Bytes(b))
        | (Unit::Rate(a), Unit::Rate(b))
        | (Unit::Frequency(a), Unit::Frequency(b)) => Some(value * a / b),
        (Unit::Factor, Unit::Factor) | (Unit::Power, Unit::Power) | (Unit::Heat, Unit::Heat) => Some(value),
        _ => None,
    }
}

/// A number as it stands in a sentence.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    value: f64,
    decimals: i32,
    unit: Option<Unit>,
    /// Cannot be read as one plain number.
    odd: bool,
}

/// Whether every number of the text, backticks aside, is a correct rounding of a cited value.
pub(super) fn all_match(text: &str, cited: &[&PackEvidence]) -> bool {
    let plain = without_path_tokens(&super::words::without_backticked(text));
    tokens(&plain).iter().all(|token| matches(token, cited))
}

/// The number in `[PATH-3]` counts paths, not anything measured; the path rule judges it.
fn without_path_tokens(text: &str) -> String {
    let mut parts = text.split("[PATH-");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('[');
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn matches(token: &Token, cited: &[&PackEvidence]) -> bool {
    /// Whole numbers up to here need no evidence when they carry no unit.
    const SMALL: f64 = 10.0;
    if token.odd {
        return false;
    }
    let near = |value: f64| (token.value - value).abs() <= 0.5 * 10f64.powi(-token.decimals) + 1e-9;
    if token.unit.is_none() && token.decimals == 0 && (0.0..=SMALL).contains(&token.value) {
        return true;
    }
    cited.iter().any(|item| {
        let value = match item.value {
            EvidenceValue::Number(value) => value,
            #[allow(clippy::cast_precision_loss, reason = "a sentence never shows more than 15 digits")]
            EvidenceValue::Integer(value) => value as f64,
            EvidenceValue::Boolean(_) | EvidenceValue::Text(_) => return false,
        };
        match (token.unit, evidence_unit(&item.unit)) {
            // "called 48 times" is a count, not a factor.
            (Some(Unit::Factor), None) => near(value) && token.decimals == 0,
            (Some(to), Some(from)) => convert(value, from, to).is_some_and(near),
            (Some(_), None) => false,
            // Without a unit: a plain number or count, or a fraction as it stands.
            (None, None) => near(value),
            (None, Some(Unit::Share(base))) => (base - 1.0).abs() < f64::EPSILON && near(value),
            (None, Some(_)) => false,
        }
    })
}

/// Reads every number that does not touch a letter, digit or underscore on its left.
fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let at = |i: usize| characters.get(i).copied();
    let mut found = Vec::new();
    let mut i = 0;
    while let Some(c) = at(i) {
        if c.is_numeric() && !c.is_ascii_digit() {
            // Digits of other scripts, and signs such as `½`, cannot be checked.
            found.push(Token { value: 0.0, decimals: 0, unit: None, odd: true });
            i += 1;
            continue;
        }
        if !c.is_ascii_digit() {
            i += 1;
            continue;
        }
        let start = i;
        let mut digits = String::new();
        while let Some(c) = at(i).filter(|c| c.is_ascii_digit() || *c == ',') {
            // A comma belongs to the number only in front of another digit.
            if c == ',' && !at(i + 1).is_some_and(|next| next.is_ascii_digit()) {
                break;
            }
            digits.push(c);
            i += 1;
        }
        let mut decimals = 0;
        if at(i) == Some('.') && at(i + 1).is_some_and(|next| next.is_ascii_digit()) {
            digits.push('.');
            i += 1;
            while let Some(c) = at(i).filter(char::is_ascii_digit) {
                digits.push(c);
                decimals += 1;
                i += 1;
            }
        }
        let before = start.checked_sub(1).and_then(at);
        let touches = |c: char| c.is_alphanumeric() || c == '_';
        if before.is_some_and(touches) {
            continue;
        }
        let grouped = digits.contains(',') && !well_grouped(&digits);
        let exponent = matches!(at(i), Some('e' | 'E'))
            && at(i + 1).is_some_and(|c| c.is_ascii_digit() || c == '+' || c == '-');
        let sign = match before {
            Some('-' | '−') if !start.checked_sub(2).and_then(at).is_some_and(touches) => -1.0,
            _ => 1.0,
        };
        let value = digits.replace(',', "").parse::<f64>();
        let unit = unit(&word_after(&characters, i));
        found.push(Token {
            value: sign * value.as_ref().copied().unwrap_or_default(),
            decimals,
            unit,
            odd: value.is_err() || exponent || grouped,
        });
    }
    found
}

/// Commas every three digits, as numbers are written; `1,2` is no number.
fn well_grouped(digits: &str) -> bool {
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().map_or(0, str::len);
    (1..=3).contains(&first) && groups.all(|group| group.len() == 3)
}

/// The word right behind a number, with or without one space.
fn word_after(characters: &[char], from: usize) -> String {
    let mut rest = characters.iter().skip(from).copied().peekable();
    if rest.peek().is_some_and(|c| matches!(c, ' ' | '\u{A0}' | '\u{202F}')) {
        rest.next();
    }
    let mut word: String =
        rest.take_while(|c| c.is_alphanumeric() || matches!(c, '%' | '°' | '/' | '×' | '-' | '_')).collect();
    if let Some(percent) = word.strip_prefix('%') {
        // "78%-ish" is still a percentage.
        if !percent.starts_with(char::is_alphanumeric) {
            word = "%".to_owned();
        }
    }
    // "12-fold" is a factor; "ms-long" a time.
    if let Some((first, rest)) = word.split_once('-')
        && !first.is_empty()
        && rest != "fold"
    {
        return first.to_owned();
    }
    word
}
