//! A credential that cannot be printed by accident.

use zeroize::Zeroizing;

/// A value that never shows in `Debug`, has no `Display`, and is zeroed when dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a value, trimmed of surrounding blanks.
    pub fn new(value: &str) -> Self {
        Self(Zeroizing::new(value.trim().to_owned()))
    }

    /// The value itself, for the one header that carries it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the value can stand in a header: printable ASCII only.
    pub fn fits_a_header(&self) -> bool {
        self.0.chars().all(|c| c.is_ascii() && !c.is_ascii_control())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_the_value() {
        let secret = Secret::new("  sk-planted-value ");
        assert_eq!(secret.expose(), "sk-planted-value");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(***) Some(Secret(***))");
    }

    #[test]
    fn control_and_foreign_characters_do_not_fit_a_header() {
        assert!(Secret::new("sk-ok_1").fits_a_header());
        assert!(!Secret::new("sk\nx").fits_a_header());
        assert!(!Secret::new("sk-ключ").fits_a_header());
    }
}
