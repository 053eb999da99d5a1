//! The one rounding rule of answers.

/// Rounds to `digits` decimals, half away from zero: `(x·10ⁿ).round() / 10ⁿ`. Never yields a negative zero.
pub fn round(value: f64, digits: u8) -> f64 {
    let scale = 10_f64.powi(i32::from(digits));
    let scaled = value * scale;
    // Beyond the range of the scaled value there are no decimals to round.
    if scaled.is_finite() { scaled.round() / scale + 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn halves_go_away_from_zero() {
        assert_eq!(round(0.625, 2), 0.63);
        assert_eq!(round(-0.625, 2), -0.63);
        assert_eq!(round(2.0 / 3.0, 3), 0.667);
        assert_eq!(round(1e300, 3), 1e300);
        assert!(round(-0.0001, 2).is_sign_positive());
    }
}
