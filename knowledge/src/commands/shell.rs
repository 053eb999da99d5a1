//! POSIX shell words: splitting a line, quoting a word, escaping a name for a regular expression.

/// A quote in the line is never closed, or a backslash ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a quote is not closed")]
pub struct UnbalancedQuote;

/// Splits a line into words as a POSIX shell does, without expansion: single quotes, double quotes with
/// backslash before `"`, `\`, `$` and a backquote, backslash outside quotes.
///
/// # Errors
/// [`UnbalancedQuote`].
pub fn split(line: &str) -> Result<Vec<String>, UnbalancedQuote> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(UnbalancedQuote)? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(UnbalancedQuote)? {
                        '"' => break,
                        '\\' => match rest.next().ok_or(UnbalancedQuote)? {
                            '\n' => {}
                            escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => match rest.next().ok_or(UnbalancedQuote)? {
                '\n' => {}
                escaped => word.get_or_insert_default().push(escaped),
            },
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// A word as a shell reads it back: unchanged when it holds only `[A-Za-z0-9_./:=+@%,-]`, else single-quoted.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=+@%,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { quote_always(word) }
}

/// A word in single quotes; line breaks and other control characters become blanks, since a printed command is
/// one line.
pub fn quote_always(word: &str) -> String {
    let word: String = word.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A name as a regular expression that matches it literally.
pub fn escape_regex(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if r".+*?()[]{}^$|\".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
