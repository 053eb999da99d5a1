//! Makes untrusted text safe to print: control and bidirectional characters become visible escapes.

use std::fmt::Write;

pub use crate::render::name::{visible as escape_line, visible_prose as escape};

/// Whether a character could drive a terminal or reorder what a reader sees.
fn is_active(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// Escapes serialised JSON so that it stays the same JSON; the line breaks between its tokens stay.
pub fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_active(c) && c != '\n' {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Replacements for a terminal whose locale is not UTF-8.
const GLYPHS: [(char, &str); 8] =
    [('━', "="), ('─', "-"), ('█', "#"), ('✓', "OK"), ('✗', "FAIL"), ('⚠', "WARN"), ('μ', "u"), ('…', "...")];

/// Replaces our own glyphs by ASCII.
pub fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match GLYPHS.iter().find(|(glyph, _)| *glyph == c) {
            Some((_, replacement)) => plain.push_str(replacement),
            None => plain.push(c),
        }
    }
    plain
}

/// Cuts a text in the middle to at most `longest` characters, with `…` where it was cut.
pub fn cut_middle(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    if length <= longest {
        return text.to_owned();
    }
    let kept = longest.saturating_sub(1);
    let head: String = text.chars().take(kept - kept / 2).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}…{tail}")
}

/// The nearest of some names by Damerau-Levenshtein distance: at most 3 and 40 % of the length, lower-cased.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let length = text.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let distance = strsim::damerau_levenshtein(&text, &name.to_lowercase());
        let close = distance <= 3 && distance * 10 <= length * 4;
        if close && best.is_none_or(|(least, word)| (distance, name) < (least, word)) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// A unified diff with three lines of context; empty when nothing differs.
pub fn unified_diff(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(3)
        .header(old_name, new_name)
        .missing_newline_hint(true)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_characters_become_visible() {
        assert_eq!(escape("a\x1b[2Jb\nc\td"), "a\\x1b[2Jb\nc\\x09d");
        assert_eq!(escape("x\u{202e}y\u{2069}\u{200f}"), "x\\u{202e}y\\u{2069}\\u{200f}");
        assert_eq!(escape_line("a\nb\u{9b}c\x7f"), "a\\x0ab\\x9bc\\x7f");
        assert_eq!(escape("ひら ✓ é"), "ひら ✓ é");
    }

    #[test]
    fn escaped_json_is_the_same_json() {
        let value = serde_json::json!({ "name": "k\u{1b}[2J\u{9b}\u{202e}\u{7f}\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let escaped = escape_json(&text);
        assert!(escaped.chars().all(|c| c == '\n' || !is_active(c)), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn long_text_is_cut_in_the_middle() {
        assert_eq!(cut_middle("abcdefghij", 5), "ab…ij");
        assert_eq!(cut_middle("abcde", 5), "abcde");
        assert_eq!(cut_middle(&"x".repeat(1000), 400).chars().count(), 400);
    }

    #[test]
    fn only_near_names_are_offered() {
        assert_eq!(nearest("--formt", ["--format", "--from"]), Some("--format"));
        assert_eq!(nearest("gfx943", ["gfx942", "gfx90a"]), Some("gfx942"));
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn glyphs_have_ascii_words() {
        assert_eq!(ascii("✓ ok ━─█ ⚠ 3 μs…"), "OK ok =-# WARN 3 us...");
    }
}
