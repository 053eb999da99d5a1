//! Kernel definitions and declarations in tokens of a C-family file.

use std::sync::Arc;

use crate::clike::tokens::{Kind, Tokens};
use crate::limits::MAX_NAME_CHARS;
use crate::model::{Bound, LaunchBounds, RowKind};
use crate::names::ANONYMOUS;
use crate::text::expression;

/// A kernel before its place and model are known.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) qualified_name: String,
    /// Offset of the name token.
    pub(crate) offset: usize,
    pub(crate) kind: RowKind,
    pub(crate) template: bool,
    pub(crate) launch_bounds: Option<LaunchBounds>,
    /// Byte range from the marker to the end of the body (or of the declaration).
    pub(crate) range: (usize, usize),
}

/// Tokens between the marker and the body; real signatures, groups counted as one token, are far shorter.
const MAX_SIGNATURE_TOKENS: usize = 1024;

/// Words that take a parenthesised argument and are no declarator.
const ATTRIBUTES: &[&str] = &[
    "__launch_bounds__",
    "__attribute__",
    "__declspec",
    "alignas",
    "_Alignas",
    "__align__",
    "decltype",
    "noexcept",
    "requires",
    "__cluster_dims__",
    "__maxnreg__",
    "explicit",
    "typeof",
    "__typeof__",
];

/// Words that end the search: what they introduce is no kernel signature.
const STATEMENTS: &[&str] = &["if", "for", "while", "switch", "return", "operator", "do", "else", "sizeof"];

/// The kernels marked by `__global__`, or by `__kernel` and `kernel` in OpenCL files.
pub(crate) fn find(tokens: &Tokens<'_>, source: &str, opencl: bool) -> Vec<Found> {
    let mut out: Vec<Found> = Vec::new();
    let scopes = Scopes::read(tokens);
    let mut past = 0;
    for at in 0..tokens.len() {
        let Some(word) = tokens.word(at) else { continue };
        let marked = if opencl { matches!(word, "__kernel" | "kernel") } else { word == "__global__" };
        if !marked || at < past {
            continue;
        }
        // What a failed signature has passed is not tried again, so that a file is read once.
        let (found, signature_end) = signature(tokens, source, at, word);
        past = signature_end;
        if let Some(mut found) = found {
            found.qualified_name = clip(scopes.qualify(found.offset, &found.qualified_name));
            out.push(found);
        }
    }
    out
}

/// Byte ranges of device code: kernels and functions marked `__device__`.
pub(crate) fn device_ranges(tokens: &Tokens<'_>, kernels: &[Found]) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = kernels.iter().map(|kernel| kernel.range).collect();
    for at in (0..tokens.len()).filter(|&at| tokens.word(at) == Some("__device__")) {
        let mut index = at + 1;
        while index < tokens.len() && index - at < MAX_SIGNATURE_TOKENS {
            match tokens.kind(index) {
                Kind::Op(b'{') => {
                    let end = tokens.partner(index).map_or(tokens.end(index), |close| tokens.end(close));
                    out.push((tokens.start(at), end));
                    break;
                }
                Kind::Op(b'(' | b'[') => index = tokens.partner(index).unwrap_or(index),
                Kind::Op(b';') => {
                    out.push((tokens.start(at), tokens.end(index)));
                    break;
                }
                Kind::Op(b'}' | b')') => break,
                _ => {}
            }
            index += 1;
        }
    }
    out
}

struct Candidate {
    token: usize,
    template: bool,
}

/// What the tokens after a marker say before the body or the semicolon.
struct Signature {
    candidates: Vec<Candidate>,
    launch_bounds: Option<LaunchBounds>,
    returns_void: bool,
    kind: RowKind,
    /// Last token of the body or declaration.
    end: usize,
}

/// The kernel whose signature starts at a marker, and the token up to which the tokens were read.
fn signature(tokens: &Tokens<'_>, source: &str, marker: usize, word: &str) -> (Option<Found>, usize) {
    let mut index = marker + 1;
    let found = read_signature(tokens, source, word, &mut index).and_then(|read| {
        let named = |candidate: &&Candidate| !is_macro_name(tokens.text(candidate.token));
        let chosen = read.candidates.iter().rev().find(named).or(read.candidates.last())?;
        let before = before_marker(tokens, source, marker);
        read.returns_void.then(|| Found {
            name: clip(tokens.text(chosen.token).to_owned()),
            qualified_name: written_qualification(tokens, chosen.token),
            offset: tokens.start(chosen.token),
            kind: read.kind,
            template: chosen.template || before.template,
            launch_bounds: read.launch_bounds.or(before.launch_bounds),
            range: (tokens.start(marker), tokens.end(read.end)),
        })
    });
    (found, index)
}

fn read_signature(tokens: &Tokens<'_>, source: &str, word: &str, index: &mut usize) -> Option<Signature> {
    let first = *index;
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut bounds = None;
    // A second marker starts an alternative signature of the same body (`#ifdef`); the first one names the kernel.
    let mut frozen = false;
    let mut returns_void = word != "kernel";
    while *index < tokens.len() && *index - first < MAX_SIGNATURE_TOKENS {
        match tokens.kind(*index) {
            Kind::Op(b'{' | b';') => {
                let body = tokens.is(*index, b'{');
                let kind = if body { RowKind::Definition } else { RowKind::Declaration };
                let end = tokens.partner(*index).unwrap_or(*index);
                return Some(Signature { candidates, launch_bounds: bounds, returns_void, kind, end });
            }
            Kind::Op(b'}' | b')' | b'#' | b'=') | Kind::LaunchOpen => return None,
            Kind::Op(b'(' | b'[') => *index = tokens.partner(*index)?,
            Kind::Word => {
                let text = tokens.text(*index);
                if STATEMENTS.contains(&text) {
                    return None;
                }
                frozen |= text == word;
                returns_void |= text == "void";
                let open = match tokens.kind(*index + 1) {
                    Kind::Op(b'(') => Some(*index + 1),
                    Kind::Op(b'<') => {
                        tokens.after_template(*index + 1).filter(|after| tokens.is(*after, b'('))
                    }
                    _ => None,
                };
                if let Some(close) = open.and_then(|open| tokens.partner(open)) {
                    if text == "__launch_bounds__" {
                        bounds = bounds.or_else(|| launch_bounds(tokens, source, *index));
                    } else if !ATTRIBUTES.contains(&text) && !frozen {
                        candidates.push(Candidate { token: *index, template: open != Some(*index + 1) });
                    }
                    *index = close;
                }
            }
            _ => {}
        }
        *index += 1;
    }
    None
}

/// An attribute macro such as `MY_BOUNDS(256)`, which is written in capitals.
fn is_macro_name(name: &str) -> bool {
    name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn clip(name: String) -> String {
    match name.char_indices().nth(MAX_NAME_CHARS) {
        Some((end, _)) => name.get(..end).unwrap_or("").to_owned(),
        None => name,
    }
}

/// `a::b::name` as written before and at the name token, template arguments left out.
pub(crate) fn written_qualification(tokens: &Tokens<'_>, name: usize) -> String {
    let mut parts = vec![tokens.text(name)];
    let mut at = name;
    while at >= 2 && tokens.kind(at - 1) == Kind::Scope && parts.len() < 32 {
        let before = at - 2;
        let part = if tokens.is(before, b'>') {
            tokens.before_template(before).and_then(|open| open.checked_sub(1))
        } else {
            Some(before)
        };
        match part.filter(|part| tokens.kind(*part) == Kind::Word) {
            Some(part) => {
                parts.push(tokens.text(part));
                at = part;
            }
            None => break,
        }
    }
    parts.reverse();
    clip(parts.join("::"))
}

struct Before {
    template: bool,
    launch_bounds: Option<LaunchBounds>,
}

/// Looks at the specifiers before the marker: `template <…>`, return type, attributes.
fn before_marker(tokens: &Tokens<'_>, source: &str, marker: usize) -> Before {
    let mut found = Before { template: false, launch_bounds: None };
    let mut at = marker;
    for _ in 0..32 {
        let Some(before) = at.checked_sub(1) else { break };
        match tokens.kind(before) {
            Kind::Op(b'>') => {
                let header = tokens.before_template(before).and_then(|open| open.checked_sub(1));
                found.template |= header.is_some_and(|word| tokens.word(word) == Some("template"));
                break;
            }
            Kind::Op(b')') => {
                let Some(word) = tokens.partner(before).and_then(|open| open.checked_sub(1)) else { break };
                match tokens.word(word) {
                    Some("__launch_bounds__") => found.launch_bounds = launch_bounds(tokens, source, word),
                    Some(_) => {}
                    None => break,
                }
                at = word;
            }
            Kind::Op(b']') => match tokens.partner(before) {
                Some(open) => at = open,
                None => break,
            },
            Kind::Word => {
                found.template |= tokens.text(before) == "template";
                at = before;
            }
            Kind::Text | Kind::Scope => at = before,
            _ => break,
        }
    }
    found
}

fn launch_bounds(tokens: &Tokens<'_>, source: &str, word: usize) -> Option<LaunchBounds> {
    let open = word + 1;
    let close = tokens.partner(open)?;
    let arguments = tokens.arguments(open + 1, close);
    let bound = |&(from, to): &(usize, usize)| {
        let text = expression(source.get(tokens.start(from)..tokens.end(to.saturating_sub(1)))?);
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
        Some(digits.parse().map_or_else(|_| Bound::Expression(text.into()), Bound::Value))
    };
    Some(LaunchBounds {
        max_threads: arguments.first().and_then(bound)?,
        min_waves_per_simd: arguments.get(1).and_then(bound),
    })
}

/// Namespaces and classes around a place.
struct Scopes {
    innermost: crate::intervals::Innermost,
    /// Full name of each scope.
    names: Vec<Arc<str>>,
}

impl Scopes {
    fn read(tokens: &Tokens<'_>) -> Self {
        let mut found: Vec<(String, usize, usize)> = Vec::new();
        for at in 0..tokens.len() {
            let scope = match tokens.word(at) {
                Some("namespace") => namespace(tokens, at),
                Some("class" | "struct" | "union") if at == 0 || tokens.word(at - 1) != Some("enum") => {
                    class(tokens, at)
                }
                _ => None,
            };
            if let Some((name, open)) = scope
                && let Some(close) = tokens.partner(open)
            {
                found.push((name, tokens.start(open), tokens.end(close)));
            }
        }
        // Ranges nest and come in order of their start, so a stack gives each its parent.
        let mut names: Vec<Arc<str>> = Vec::with_capacity(found.len());
        let mut open: Vec<(usize, Arc<str>)> = Vec::new();
        for (name, start, end) in &found {
            while open.last().is_some_and(|(outer_end, _)| outer_end <= start) {
                open.pop();
            }
            let full = match open.last() {
                Some((_, outer)) => clip(format!("{outer}::{name}")),
                None => name.clone(),
            };
            let full: Arc<str> = full.into();
            open.push((*end, full.clone()));
            names.push(full);
        }
        let ranges: Vec<(usize, usize)> = found.iter().map(|(_, start, end)| (*start, *end)).collect();
        Self { innermost: crate::intervals::Innermost::new(&ranges), names }
    }

    fn qualify(&self, offset: usize, name: &str) -> String {
        match self.innermost.at(offset).and_then(|at| self.names.get(at)) {
            Some(scope) => format!("{scope}::{name}"),
            None => name.to_owned(),
        }
    }
}

fn namespace(tokens: &Tokens<'_>, at: usize) -> Option<(String, usize)> {
    let mut parts: Vec<&str> = Vec::new();
    let mut index = at + 1;
    while index - at < 64 {
        match tokens.kind(index) {
            Kind::Op(b'{') => {
                let name = if parts.is_empty() { ANONYMOUS.to_owned() } else { parts.join("::") };
                return Some((clip(name), index));
            }
            Kind::Word if tokens.is(index + 1, b'(') => index = tokens.partner(index + 1)?,
            Kind::Word if tokens.text(index) != "inline" => parts.push(tokens.text(index)),
            Kind::Word | Kind::Scope => {}
            Kind::Op(b'[') => index = tokens.partner(index)?,
            _ => return None,
        }
        index += 1;
    }
    None
}

fn class(tokens: &Tokens<'_>, at: usize) -> Option<(String, usize)> {
    let mut name = "";
    let mut bases = false;
    let mut index = at + 1;
    while index - at < 128 {
        match tokens.kind(index) {
            Kind::Op(b'{') => return (!name.is_empty()).then(|| (clip(name.to_owned()), index)),
            Kind::Op(b':') => bases = true,
            Kind::Word if tokens.is(index + 1, b'(') => index = tokens.partner(index + 1)?,
            Kind::Word if !bases && tokens.text(index) != "final" => name = tokens.text(index),
            Kind::Word | Kind::Scope | Kind::Number => {}
            Kind::Op(b'[') => index = tokens.partner(index)?,
            Kind::Op(b'<') => index = tokens.after_template(index)? - 1,
            Kind::Op(b',' | b'.') if bases => {}
            _ => return None,
        }
        index += 1;
    }
    None
}
