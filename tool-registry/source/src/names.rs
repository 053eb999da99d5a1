//! Reduces kernel names of a trace (mangled, demangled, cut off) to the qualified name a source would show.

use std::fmt::Write;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

use crate::limits::MAX_TRACE_NAME_BYTES;

/// How an anonymous namespace is written in every qualified name.
pub(crate) const ANONYMOUS: &str = "(anonymous namespace)";

/// Nesting the demangler follows; deeper symbols are read only as far as their plain components go.
const RECURSION_LIMIT: u32 = 64;

/// The qualified name of a kernel as a trace records it: without return type, parameters, template arguments and the
/// suffixes that compilers append (`.kd`, `.llvm.123`, `.__uniq.1`, ` [clone .kd]`). Case is kept.
///
/// Only the first [`MAX_TRACE_NAME_BYTES`] bytes are read, in one pass.
pub fn qualified_name(trace_name: &str) -> String {
    let name = strip_suffixes(prefix(trace_name.trim(), MAX_TRACE_NAME_BYTES));
    let plain = if name.starts_with("_Z") { demangled(name) } else { None };
    reduce(plain.as_deref().unwrap_or(name))
}

/// Name without the argument signature that Triton may append: `add_kernel_0d1d2de` is `add_kernel`.
pub(crate) fn without_triton_suffix(name: &str) -> Option<&str> {
    let (head, tail) = name.rsplit_once('_')?;
    let signature = tail.starts_with(|c: char| c.is_ascii_digit())
        && tail.chars().all(|c| c.is_ascii_digit() || matches!(c, 'c' | 'd' | 'e'));
    (signature && !head.is_empty()).then_some(head)
}

/// Last component of a qualified name.
pub(crate) fn base_name(qualified: &str) -> &str {
    qualified.rsplit_once("::").map_or(qualified, |(_, base)| base)
}

fn prefix(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}

fn strip_suffixes(mut name: &str) -> &str {
    loop {
        let trimmed = name.trim_end();
        let shorter = match trimmed.strip_suffix(']').and_then(|_| trimmed.rfind(" [clone ")) {
            Some(at) => trimmed.get(..at).unwrap_or(trimmed),
            None => strip_dot_suffix(trimmed),
        };
        if shorter.len() == name.len() {
            return shorter;
        }
        name = shorter;
    }
}

fn strip_dot_suffix(name: &str) -> &str {
    const WORDS: [&str; 7] = ["kd", "cold", "llvm", "__uniq", "isra", "constprop", "part"];
    let Some((head, last)) = name.rsplit_once('.') else { return name };
    if WORDS.contains(&last) {
        return head;
    }
    let numbered = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    match head.rsplit_once('.') {
        Some((front, word)) if numbered && WORDS.contains(&word) => front,
        _ => name,
    }
}

/// A text that refuses to grow past the limit: substitutions let a short symbol expand without bound.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        if self.0.len() + s.len() > MAX_TRACE_NAME_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(s);
        Ok(())
    }
}

fn demangled(symbol: &str) -> Option<String> {
    let parse = ParseOptions::default().recursion_limit(RECURSION_LIMIT);
    let options = DemangleOptions::new().no_params().no_return_type().recursion_limit(RECURSION_LIMIT);
    if let Ok((parsed, _)) = BorrowedSymbol::with_tail_and_options(symbol.as_bytes(), &parse) {
        let mut out = Bounded(String::new());
        if parsed.structured_demangle(&mut out, &options).is_ok() && !out.0.is_empty() {
            return Some(out.0);
        }
    }
    plain_components(symbol)
}

/// The leading `<length><identifier>` components of a symbol that does not parse, for names that were cut off.
fn plain_components(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_Z")?;
    let mut rest = rest.strip_prefix('N').unwrap_or(rest).trim_start_matches(['r', 'V', 'K', 'L']);
    let mut parts: Vec<&str> = Vec::new();
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&end| end > 0) {
        let (digits, after) = rest.split_at(end);
        let Ok(length) = digits.parse::<usize>() else { break };
        let Some(part) = after.get(..length) else { break };
        parts.push(if part.starts_with("_GLOBAL__N") { ANONYMOUS } else { part });
        rest = after.get(length..).unwrap_or("").trim_start_matches('L');
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

/// Drops return type, parameter list, template arguments and tags of a demangled name.
fn reduce(name: &str) -> String {
    let mut out = String::with_capacity(name.len().min(256));
    let mut rest = name;
    let mut angle = 0_usize;
    // Parentheses and braces inside template arguments: `<(x > 3), {lambda(int)#1}>`; their angle brackets are operators.
    let mut inner = 0_usize;
    // Set by what separates a return type from the name; the next character then starts the name anew.
    let mut separated = false;
    while let Some(c) = rest.chars().next() {
        let tail = rest.get(c.len_utf8()..).unwrap_or("");
        if angle == 0 {
            if separated && !matches!(c, ' ' | '*' | '&' | '(') {
                out.clear();
                separated = false;
            }
            if let Some(after) = anonymous(rest) {
                if separated {
                    out.clear();
                    separated = false;
                }
                out.push_str(ANONYMOUS);
                rest = after;
                continue;
            }
            if let Some((text, after)) = operator(rest, &out) {
                out.push_str(&text);
                rest = after.trim_start_matches(' ');
                continue;
            }
            match c {
                '(' => break,
                '<' => angle = 1,
                '[' => {
                    rest = tail.split_once(']').map_or("", |(_, after)| after);
                    continue;
                }
                ' ' | '*' | '&' => separated = true,
                _ => out.push(c),
            }
        } else {
            match c {
                '(' | '{' | '[' => inner += 1,
                ')' | '}' | ']' => inner = inner.saturating_sub(1),
                '<' if inner == 0 => angle += 1,
                '>' if inner == 0 => angle -= 1,
                _ => {}
            }
        }
        rest = tail;
    }
    out.trim_start_matches("::").to_owned()
}

fn anonymous(rest: &str) -> Option<&str> {
    ["(anonymous namespace)", "{anonymous}", "(anonymous)", "`anonymous namespace'", "_GLOBAL__N_1"]
        .iter()
        .find_map(|spelling| rest.strip_prefix(spelling))
}

/// `operator` with its symbol, whose brackets and spaces are part of the name.
fn operator<'a>(rest: &'a str, before: &str) -> Option<(String, &'a str)> {
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let after = rest.strip_prefix("operator")?;
    if let Some(call) = after.strip_prefix("()") {
        return Some(("operator()".to_owned(), call));
    }
    let end = match after.chars().next()? {
        c if c.is_alphanumeric() || c == '_' => return None,
        ' ' => after.find('(').unwrap_or(after.len()),
        _ => after.find(|c: char| !"+-*/%^&|~!=<>,[]".contains(c)).unwrap_or(after.len()),
    };
    let (symbol, tail) = after.split_at(end);
    Some((format!("operator{symbol}"), tail))
}

#[cfg(test)]
mod tests;
