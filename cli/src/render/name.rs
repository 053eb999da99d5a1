//! Names and prose on their way to a terminal or a markdown file: width, shortening, escaping.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns a text takes on a terminal: wide characters 2, combining 0.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// At most `columns` wide: the head, `…`, the tail; never splits a grapheme.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let head_columns = 3 * columns.saturating_sub(1) / 5;
    let tail_columns = columns.saturating_sub(1 + head_columns);
    let mut head = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        used += width(grapheme);
        if used > head_columns {
            break;
        }
        head.push_str(grapheme);
    }
    let mut tail: Vec<&str> = Vec::new();
    used = 0;
    for grapheme in text.graphemes(true).rev() {
        used += width(grapheme);
        if used > tail_columns {
            break;
        }
        tail.push(grapheme);
    }
    tail.reverse();
    format!("{head}…{}", tail.concat())
}

/// Control and bidirectional characters as visible escapes, so that no name can move a cursor.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {
                shown.push_str(&format!("\\x{:02x}", u32::from(letter)))
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {
                shown.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            _ => shown.push(letter),
        }
    }
    shown
}

/// As [`visible`], but newlines stay: for prose.
pub fn visible_prose(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// A markdown code span whose fence is longer than any run of backticks inside.
pub fn code_span(text: &str) -> String {
    let text = visible(&text.replace('\n', " "));
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // A span that starts or ends with a backtick needs a space, which markdown takes away again.
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A code span inside a table cell.
pub fn code_cell(text: &str) -> String {
    code_span(text).replace('|', "\\|")
}

/// Markdown prose: characters with a meaning are escaped, text in backticks becomes a code span.
pub fn prose(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = escaped(parts.next().unwrap_or_default());
    // An odd number of backticks leaves the last one unpaired.
    let rest: Vec<&str> = parts.collect();
    let mut index = 0;
    while let Some(inside) = rest.get(index) {
        match rest.get(index + 1) {
            Some(after) => {
                out.push_str(&code_span(inside));
                out.push_str(&escaped(after));
                index += 2;
            }
            None => {
                out.push_str("\\`");
                out.push_str(&escaped(inside));
                index += 1;
            }
        }
    }
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in visible(&text.replace('\n', " ")).chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            '&' => out.push_str("&amp;"),
            _ => out.push(letter),
        }
    }
    out
}

/// Markdown text without code spans: paths, labels.
pub fn plain(text: &str) -> String {
    escaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_shorten_in_the_middle() {
        assert_eq!(
            shorten("paged_attention_v2_reduce_kernel<__half, 128, 128>", 30),
            "paged_attention_v…f, 128, 128>"
        );
        assert_eq!(shorten("short", 30), "short");
        assert!(width(&shorten(&"界".repeat(40), 30)) <= 30);
    }

    #[test]
    fn hostile_names_are_text_in_every_form() {
        assert_eq!(visible("\u{1b}[2J"), "\\x1b[2J");
        assert_eq!(visible("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(code_cell("a<b>|c"), "`a<b>\\|c`");
        assert_eq!(code_span("k`x"), "``k`x``");
        assert_eq!(plain("results_results.db"), "results\\_results.db");
        assert_eq!(prose("uses `a_b` and c_d"), "uses `a_b` and c\\_d");
    }
}
