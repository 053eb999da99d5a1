//! Edits the configuration file line by line, so that comments, order and other keys stay as they are.

use perfxpert_agent::config::name_of_line;

/// The text with one key set: its value is replaced on its own line, or a line is added at the end.
pub fn set(text: &str, key: &str, value: &str) -> String {
    let ending = line_ending(text);
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let Some(place) = place_of(&lines, key) else {
        if let Some(last) = lines.last_mut().filter(|line| !line.ends_with('\n')) {
            last.push_str(ending);
        }
        lines.push(format!("{key}: {value}{ending}"));
        return lines.concat();
    };
    let rows = rows_after(&lines, place);
    lines.drain(place + 1..place + 1 + rows);
    if let Some(line) = lines.get_mut(place) {
        *line = with_value(line, value);
    }
    lines.concat()
}

/// The text without one key.
pub fn unset(text: &str, key: &str) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if let Some(place) = place_of(&lines, key) {
        let rows = rows_after(&lines, place);
        lines.drain(place..=place + rows);
    }
    lines.concat()
}

fn line_ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn place_of(lines: &[String], key: &str) -> Option<usize> {
    lines.iter().position(|line| name_of_line(line) == Some(key))
}

/// How many rows of a block list follow a key.
fn rows_after(lines: &[String], place: usize) -> usize {
    lines.iter().skip(place + 1).take_while(|line| line.trim_start().starts_with("- ")).count()
}

/// A line `key: old  # why` with another value; the comment and the space before it stay.
fn with_value(line: &str, value: &str) -> String {
    let (name, rest) = line.split_once(':').unwrap_or((line, ""));
    let body = rest.trim_end_matches(['\n', '\r']);
    let ending = rest.get(body.len()..).unwrap_or_default();
    let comment = comment_start(body).map_or("", |start| body.get(start..).unwrap_or_default());
    format!("{name}: {value}{comment}{ending}")
}

/// Where the space before a trailing comment begins: a `#` after a blank, outside quotes.
fn comment_start(body: &str) -> Option<usize> {
    let mut quote: Option<char> = None;
    let mut blank_from = None;
    for (place, c) in body.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '#') if blank_from.is_some() => return blank_from,
            (None, ' ' | '\t') => {
                blank_from = blank_from.or(Some(place));
                continue;
            }
            (None, _) => {}
        }
        blank_from = None;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "# mine\nprovider: openai   # cheap\n\nfallback_chain:\n  - ollama\n  - private\nairgap: false\n";

    #[test]
    fn a_value_is_replaced_in_place_with_its_comment() {
        assert_eq!(
            set(FILE, "provider", "ollama"),
            "# mine\nprovider: ollama   # cheap\n\nfallback_chain:\n  - ollama\n  - private\nairgap: false\n"
        );
        assert_eq!(set("model: \"a # b\" # c\r\n", "model", "x"), "model: x # c\r\n");
        assert_eq!(set("model:\n", "model", "x"), "model: x\n");
    }

    #[test]
    fn a_list_gives_way_as_a_whole_and_a_new_key_comes_last() {
        assert_eq!(
            set(FILE, "fallback_chain", "[openai]"),
            "# mine\nprovider: openai   # cheap\n\nfallback_chain: [openai]\nairgap: false\n"
        );
        assert_eq!(set("airgap: true", "max_tokens", "5"), "airgap: true\nmax_tokens: 5\n");
        assert_eq!(set("", "max_tokens", "5"), "max_tokens: 5\n");
        assert_eq!(set("a: 1\r\n", "b", "2"), "a: 1\r\nb: 2\r\n");
    }

    #[test]
    fn a_key_goes_with_its_rows_and_nothing_else() {
        assert_eq!(unset(FILE, "fallback_chain"), "# mine\nprovider: openai   # cheap\n\nairgap: false\n");
        assert_eq!(unset(FILE, "model"), FILE);
    }
}
