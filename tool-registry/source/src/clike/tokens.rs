//! Tokens of masked code and the brackets that belong together.

/// What a token is; other operators are single bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    Text,
    /// `::`
    Scope,
    /// `->`
    Arrow,
    /// `<<<`
    LaunchOpen,
    Op(u8),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

const NO_PARTNER: u32 = u32::MAX;
/// Tokens looked at for the end of template arguments; without a bound `a < a < a …` would be quadratic.
const MAX_ANGLE_TOKENS: usize = 256;

/// The tokens of one file with their text.
pub(crate) struct Tokens<'a> {
    code: &'a [u8],
    list: Vec<Token>,
    partner: Vec<u32>,
}

impl<'a> Tokens<'a> {
    /// Splits masked code; braces at `ghosts` (ascending offsets) do not nest.
    pub(crate) fn new(code: &'a [u8], ghosts: &[usize]) -> Self {
        let list = split(code);
        let mut tokens = Self { code, partner: vec![NO_PARTNER; list.len()], list };
        tokens.pair(ghosts);
        tokens
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Token> {
        self.list.get(at).copied()
    }

    /// Kind of a token; past the end an operator that is never written.
    pub(crate) fn kind(&self, at: usize) -> Kind {
        self.list.get(at).map_or(Kind::Op(0), |token| token.kind)
    }

    pub(crate) fn is(&self, at: usize, op: u8) -> bool {
        self.kind(at) == Kind::Op(op)
    }

    /// Text of a token; empty for one that is not ASCII or UTF-8.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        self.list
            .get(at)
            .and_then(|token| self.code.get(token.start as usize..token.end as usize))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    /// Text of a word, or nothing.
    pub(crate) fn word(&self, at: usize) -> Option<&'a str> {
        (self.kind(at) == Kind::Word).then(|| self.text(at))
    }

    pub(crate) fn start(&self, at: usize) -> usize {
        self.list.get(at).map_or(self.code.len(), |token| token.start as usize)
    }

    pub(crate) fn end(&self, at: usize) -> usize {
        self.list.get(at).map_or(self.code.len(), |token| token.end as usize)
    }

    /// Index of the bracket that closes or opens this one.
    pub(crate) fn partner(&self, at: usize) -> Option<usize> {
        self.partner.get(at).filter(|partner| **partner != NO_PARTNER).map(|partner| *partner as usize)
    }

    /// Index after the template arguments that open at `at`, when what stands there can be template arguments.
    pub(crate) fn after_template(&self, at: usize) -> Option<usize> {
        if !self.is(at, b'<') {
            return None;
        }
        let mut depth = 0_usize;
        let mut index = at;
        while index < self.len() && index - at < MAX_ANGLE_TOKENS {
            match self.kind(index) {
                Kind::Op(b'<') => depth += 1,
                Kind::Op(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(index + 1);
                    }
                }
                Kind::Op(b'(' | b'[' | b'{') => index = self.partner(index)?,
                Kind::Op(b';' | b')' | b']' | b'}') | Kind::LaunchOpen => return None,
                _ => {}
            }
            index += 1;
        }
        None
    }

    /// Index of the `<` that opens the template arguments closed by the `>` at `at`.
    pub(crate) fn before_template(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let mut index = at;
        while at - index < MAX_ANGLE_TOKENS {
            match self.kind(index) {
                Kind::Op(b'>') => depth += 1,
                Kind::Op(b'<') => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(index);
                    }
                }
                Kind::Op(b')' | b']' | b'}') => index = self.partner(index)?,
                Kind::Op(b';' | b'(' | b'[' | b'{') => return None,
                _ => {}
            }
            index = index.checked_sub(1)?;
        }
        None
    }

    /// Token ranges of a comma list between `from` and `to` (exclusive); brackets and template arguments stay whole.
    pub(crate) fn arguments(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let mut start = from;
        let mut index = from;
        while index < to {
            match self.kind(index) {
                Kind::Op(b',') => {
                    out.push((start, index));
                    start = index + 1;
                }
                Kind::Op(b'(' | b'[' | b'{') => {
                    index = self.partner(index).filter(|p| *p < to).unwrap_or(index)
                }
                Kind::Op(b'<') if index > from && self.kind(index - 1) == Kind::Word => {
                    let after = self.after_template(index).filter(|after| {
                        *after <= to && matches!(self.kind(*after), Kind::Op(b'(' | b'{') | Kind::Scope)
                    });
                    index = after.map_or(index, |after| after - 1);
                }
                _ => {}
            }
            index += 1;
        }
        if start < to {
            out.push((start, to));
        }
        out
    }

    fn pair(&mut self, ghosts: &[usize]) {
        let mut open: Vec<(usize, u8)> = Vec::new();
        for index in 0..self.list.len() {
            let Some(Token { kind: Kind::Op(op), start, .. }) = self.get(index) else { continue };
            match op {
                b'{' | b'}' if ghosts.binary_search(&(start as usize)).is_ok() => {}
                b'(' | b'[' | b'{' => open.push((index, op)),
                b')' | b']' | b'}' => {
                    let wanted = match op {
                        b')' => b'(',
                        b']' => b'[',
                        _ => b'{',
                    };
                    // A closing brace ends whatever was left open inside it; a stray parenthesis is ignored.
                    if op == b'}' {
                        while open.last().is_some_and(|(_, opened)| *opened != b'{') {
                            open.pop();
                        }
                    }
                    if let Some((opener, _)) = open.pop_if(|(_, opened)| *opened == wanted) {
                        self.link(opener, index);
                    }
                }
                _ => {}
            }
        }
    }

    fn link(&mut self, opener: usize, closer: usize) {
        for (from, to) in [(opener, closer), (closer, opener)] {
            if let Some(slot) = self.partner.get_mut(from) {
                *slot = u32::try_from(to).unwrap_or(NO_PARTNER);
            }
        }
    }
}

fn split(code: &[u8]) -> Vec<Token> {
    let at = |offset: usize| code.get(offset).copied().unwrap_or(0);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let mut out = Vec::with_capacity(code.len() / 4);
    let mut start = 0;
    while start < code.len() {
        let byte = at(start);
        if byte.is_ascii_whitespace() || byte == 0x0b {
            start += 1;
            continue;
        }
        let (kind, end) = match byte {
            _ if byte.is_ascii_digit() => {
                let mut end = start + 1;
                while is_word(at(end)) || matches!(at(end), b'.' | b'\'') {
                    end += 1;
                }
                (Kind::Number, end)
            }
            _ if is_word(byte) => {
                let mut end = start + 1;
                while is_word(at(end)) {
                    end += 1;
                }
                (Kind::Word, end)
            }
            b'"' => (Kind::Text, start + if at(start + 1) == b'"' { 2 } else { 1 }),
            b':' if at(start + 1) == b':' => (Kind::Scope, start + 2),
            b'-' if at(start + 1) == b'>' => (Kind::Arrow, start + 2),
            b'<' if at(start + 1) == b'<' && at(start + 2) == b'<' => (Kind::LaunchOpen, start + 3),
            _ => (Kind::Op(byte), start + 1),
        };
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        out.push(Token { kind, start: narrow(start), end: narrow(end.min(code.len())) });
        start = end;
    }
    out
}
