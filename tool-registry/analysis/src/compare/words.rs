//! Numbers as sentences show them.

use super::series::{float, wide};
use crate::rounding::round;

/// `+6.90%`; half away from zero.
pub(super) fn signed(percent: f64) -> String {
    format!("{:+.2}%", round(percent, 2))
}

/// `[-0.70%, +0.90%]`.
pub(super) fn range(low: f64, high: f64) -> String {
    format!("[{}, {}]", signed(low), signed(high))
}

/// `5.00%`.
pub(super) fn limit(percent: f64) -> String {
    format!("{:.2}%", round(percent, 2))
}

/// `52.0%`.
pub(super) fn tenth(percent: f64) -> String {
    format!("{:.1}%", round(percent, 1))
}

/// `10.020 ms`.
pub(super) fn milliseconds(ns: u64) -> String {
    format!("{} ms", thousandths(u128::from(ns)))
}

/// `+0.686 ms`.
pub(super) fn signed_milliseconds(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{} ms", thousandths(u128::from(ns.unsigned_abs())))
}

/// Nanoseconds as milliseconds with three decimals, in whole numbers: exact at any size.
fn thousandths(ns: u128) -> String {
    let micros = (ns + 500) / 1000;
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

/// At least one decimal, else as short as possible: `3.0`, `2.25`.
pub(super) fn plain(percent: f64) -> String {
    format!("{percent:?}")
}

/// `1,234`.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 kernel`, `2 kernels`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count as u64), if count == 1 { "" } else { "s" })
}

/// `12.5 GB/s`.
pub(super) fn gbps(bytes: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { float(wide(bytes)) / float(wide(ns)) }
}
