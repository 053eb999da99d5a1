//! Blanks everything of a C-family file that is not code, keeping every offset.
//!
//! Comments, literals, preprocessor lines and `#if 0` blocks become spaces (literals an empty string or `0`), so the
//! passes behind this one cannot see a call that is only text. Directives are returned as logical lines.

/// A preprocessor line: comments dropped, continuation lines joined.
pub(crate) struct Directive {
    /// Offset of the `#`.
    pub(crate) offset: usize,
    /// Text after the `#`, trimmed.
    pub(crate) text: String,
}

/// A file with only its code left.
pub(crate) struct Masked {
    /// As long as the source; line ends are kept.
    pub(crate) code: Vec<u8>,
    /// Live directives in order.
    pub(crate) directives: Vec<Directive>,
    /// Offsets of braces that repeat those of an earlier `#if` branch and so must not count as nesting; ascending.
    pub(crate) ghosts: Vec<usize>,
}

/// Conditionals nested deeper than this are not balanced: the cost grows with depth times length.
const MAX_BALANCED_DEPTH: usize = 64;

struct Conditional {
    branch_start: usize,
    dead: bool,
    outer_dead: bool,
    /// Position in the brace list at which the branch starts, and the surplus of braces of the first live branch.
    braces_from: usize,
    first_surplus: Option<i64>,
}

struct Masker<'a> {
    source: &'a [u8],
    out: Masked,
    stack: Vec<Conditional>,
    braces: Vec<(usize, bool)>,
}

/// Masks a whole file in one pass.
pub(crate) fn mask(source: &str) -> Masked {
    let bytes = source.as_bytes();
    let out = Masked { code: bytes.to_vec(), directives: Vec::new(), ghosts: Vec::new() };
    let mut masker = Masker { source: bytes, out, stack: Vec::new(), braces: Vec::new() };
    masker.run();
    masker.out.ghosts.sort_unstable();
    masker.out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Masker<'_> {
    fn at(&self, offset: usize) -> u8 {
        self.source.get(offset).copied().unwrap_or(0)
    }

    fn blank(&mut self, from: usize, to: usize) {
        for byte in self.out.code.get_mut(from..to).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn put(&mut self, offset: usize, text: &[u8]) {
        for (slot, byte) in self.out.code.get_mut(offset..).unwrap_or_default().iter_mut().zip(text) {
            *slot = *byte;
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        let mut line_is_blank = true;
        while at < self.source.len() {
            let byte = self.at(at);
            let end = match byte {
                b'\n' => {
                    line_is_blank = true;
                    at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    at += 1;
                    continue;
                }
                b'#' if line_is_blank => self.directive(at),
                b'/' if self.at(at + 1) == b'/' => {
                    let end = self.line_end(at);
                    self.blank(at, end);
                    end
                }
                b'/' if self.at(at + 1) == b'*' => {
                    let end = self.block_comment_end(at);
                    self.blank(at, end);
                    at = end;
                    continue;
                }
                b'"' => self.string(at, at),
                b'\'' => self.character(at),
                b'\\' => {
                    self.blank(at, at + 1);
                    at + 1
                }
                b'{' | b'}' => {
                    self.braces.push((at, byte == b'{'));
                    at + 1
                }
                _ if byte.is_ascii_digit() => self.number_end(at),
                _ if is_word(byte) => self.word(at),
                _ => at + 1,
            };
            line_is_blank = byte == b'#' && line_is_blank;
            at = end;
        }
        let end = self.source.len();
        while let Some(open) = self.stack.pop() {
            if open.dead && !open.outer_dead {
                self.blank(open.branch_start, end);
            }
        }
    }

    /// End of a logical line: a backslash before the line end joins the next one.
    fn line_end(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.source.len() && self.at(at) != b'\n' {
            at += self.escape_length(at);
        }
        at.min(self.source.len())
    }

    /// 1, or the length of an escape (`\n`, a joined line with LF or CRLF).
    fn escape_length(&self, at: usize) -> usize {
        match (self.at(at), self.at(at + 1), self.at(at + 2)) {
            (b'\\', b'\r', b'\n') => 3,
            (b'\\', b'\n', _) => 2,
            _ => 1,
        }
    }

    fn block_comment_end(&self, from: usize) -> usize {
        let rest = self.source.get(from + 2..).unwrap_or_default();
        rest.windows(2).position(|pair| pair == b"*/").map_or(self.source.len(), |found| from + 4 + found)
    }

    fn number_end(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            let byte = self.at(at);
            let sign = matches!(byte, b'+' | b'-')
                && matches!(self.at(at.wrapping_sub(1)), b'e' | b'E' | b'p' | b'P');
            let hexadecimal = matches!(self.at(from + 1), b'x' | b'X');
            let separator = byte == b'\'' && is_word(self.at(at + 1));
            let exponent = sign && (!hexadecimal || matches!(self.at(at.wrapping_sub(1)), b'p' | b'P'));
            if !(is_word(byte) || byte == b'.' || separator || exponent) || at >= self.source.len() {
                return at.max(from + 1);
            }
            at += 1;
        }
    }

    fn word(&mut self, from: usize) -> usize {
        let mut end = from + 1;
        while is_word(self.at(end)) && end < self.source.len() {
            end += 1;
        }
        let raw = matches!(self.source.get(from..end), Some(b"R" | b"LR" | b"uR" | b"UR" | b"u8R"));
        if raw && self.at(end) == b'"' {
            return self.raw_string(from, end);
        }
        end
    }

    fn string(&mut self, from: usize, quote: usize) -> usize {
        let mut at = quote + 1;
        while at < self.source.len() && !matches!(self.at(at), b'"' | b'\n') {
            at += if self.at(at) == b'\\' { self.escape_length(at).max(2) } else { 1 };
        }
        let closed = self.at(at) == b'"';
        let end = (at + usize::from(closed)).min(self.source.len());
        self.blank(from, end);
        if end - from >= 2 {
            self.put(from, b"\"\"");
        }
        end
    }

    fn character(&mut self, from: usize) -> usize {
        let mut at = from + 1;
        while at < self.source.len() && !matches!(self.at(at), b'\'' | b'\n') {
            at += if self.at(at) == b'\\' { self.escape_length(at).max(2) } else { 1 };
        }
        let end = (at + usize::from(self.at(at) == b'\'')).min(self.source.len());
        self.blank(from, end);
        self.put(from, b"0");
        end
    }

    fn raw_string(&mut self, from: usize, quote: usize) -> usize {
        // The language allows at most 16 characters of delimiter.
        let delimiter =
            self.source.get(quote + 1..).unwrap_or_default().iter().take(17).position(|b| *b == b'(');
        let Some(length) = delimiter else { return self.string(from, quote) };
        let mut close = vec![b')'];
        close.extend_from_slice(self.source.get(quote + 1..quote + 1 + length).unwrap_or_default());
        close.push(b'"');
        let body = quote + 2 + length;
        let rest = self.source.get(body..).unwrap_or_default();
        let end = rest
            .windows(close.len())
            .position(|window| window == close)
            .map_or(self.source.len(), |found| body + found + close.len());
        self.blank(from, end);
        self.put(from, b"\"\"");
        end
    }

    fn directive(&mut self, hash: usize) -> usize {
        let mut text = String::new();
        let mut at = hash + 1;
        let mut plain_from = at;
        let mut keep = |from: usize, to: usize| {
            text.push_str(&String::from_utf8_lossy(self.source.get(from..to).unwrap_or_default()));
            text.push(' ');
        };
        while at < self.source.len() && self.at(at) != b'\n' {
            let next = match (self.at(at), self.at(at + 1)) {
                (b'/', b'/') => self.line_end(at),
                (b'/', b'*') => self.block_comment_end(at),
                (b'\\', b'\n' | b'\r') if self.escape_length(at) > 1 => at + self.escape_length(at),
                (b'"', _) => {
                    let mut end = at + 1;
                    while end < self.source.len() && !matches!(self.at(end), b'"' | b'\n') {
                        end += if self.at(end) == b'\\' { self.escape_length(end).max(2) } else { 1 };
                    }
                    at = if self.at(end) == b'"' { end + 1 } else { end };
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            keep(plain_from, at);
            at = next;
            plain_from = next;
        }
        let end = at.min(self.source.len());
        keep(plain_from.min(end), end);
        self.blank(hash, end);
        self.conditional(hash, end, text.trim());
        let dead = self.stack.last().is_some_and(|open| open.dead);
        if !dead {
            self.out.directives.push(Directive { offset: hash, text: text.trim().to_owned() });
        }
        end
    }

    fn conditional(&mut self, hash: usize, end: usize, text: &str) {
        let word_end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (word, rest) = text.split_at(word_end);
        match word {
            "if" | "ifdef" | "ifndef" => {
                let outer_dead = self.stack.last().is_some_and(|open| open.dead);
                let zero = word == "if" && matches!(rest.trim(), "0" | "(0)" | "false");
                self.stack.push(Conditional {
                    branch_start: end,
                    dead: outer_dead || zero,
                    outer_dead,
                    braces_from: self.braces.len(),
                    first_surplus: None,
                });
            }
            "else" | "elif" | "elifdef" | "elifndef" => {
                if let Some(mut open) = self.stack.pop() {
                    self.close_branch(&mut open, hash);
                    open.dead = open.outer_dead;
                    open.branch_start = end;
                    open.braces_from = self.braces.len();
                    self.stack.push(open);
                }
            }
            "endif" => {
                if let Some(mut open) = self.stack.pop() {
                    self.close_branch(&mut open, hash);
                }
            }
            _ => {}
        }
    }

    fn close_branch(&mut self, open: &mut Conditional, hash: usize) {
        if open.dead {
            self.braces.truncate(open.braces_from);
            if !open.outer_dead {
                self.blank(open.branch_start, hash);
            }
            return;
        }
        if self.stack.len() >= MAX_BALANCED_DEPTH {
            return;
        }
        let mut unmatched: Vec<(usize, bool)> = Vec::new();
        for &(offset, opens) in self.braces.get(open.braces_from..).unwrap_or_default() {
            match unmatched.last() {
                Some((_, true)) if !opens => {
                    unmatched.pop();
                }
                _ => unmatched.push((offset, opens)),
            }
        }
        let surplus: i64 = unmatched.iter().map(|(_, opens)| if *opens { 1 } else { -1 }).sum();
        match open.first_surplus {
            None => open.first_surplus = Some(surplus),
            Some(first) if first != 0 && surplus != 0 => {
                self.out.ghosts.extend(unmatched.iter().map(|(offset, _)| *offset));
                self.braces.truncate(open.braces_from);
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
