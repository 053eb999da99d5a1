//! Functions and loops around places of a C-family file.

use std::collections::HashSet;

use super::structure::{Function, Structure};
use super::tokens::{Kind, Tokens};
use crate::intervals::Innermost;
use crate::limits::MAX_LOOPS_PER_KERNEL;
use crate::model::{KernelLoop, LoopContext};
use crate::text::Source;

/// Functions and loops around offsets of one file.
pub(super) struct Around {
    structure: Structure,
    functions: Innermost,
    loops: Innermost,
    /// Starts of the loops `loops` answers with.
    loop_starts: Vec<usize>,
    /// Functions called, by name, from a loop of the file.
    called_in_loop: HashSet<String>,
}

impl Around {
    pub(super) fn new(structure: Structure, tokens: &Tokens<'_>) -> Self {
        let function_ranges: Vec<(usize, usize)> =
            structure.functions.iter().map(|f| (f.start, f.end)).collect();
        let mut bodies: Vec<(usize, usize, usize)> =
            structure.loops.iter().map(|found| (found.start, found.body_start, found.body_end)).collect();
        // Where the grammar lost its way a loop is still a keyword, a header and a statement.
        let known: HashSet<usize> = bodies.iter().map(|(start, _, _)| *start).collect();
        bodies.extend(token_loops(tokens).into_iter().filter(|(start, _, _)| !known.contains(start)));
        let ranges: Vec<(usize, usize)> = bodies.iter().map(|(_, from, to)| (*from, *to)).collect();
        let mut around = Self {
            functions: Innermost::new(&function_ranges),
            loops: Innermost::new(&ranges),
            loop_starts: bodies.iter().map(|(start, _, _)| *start).collect(),
            called_in_loop: HashSet::new(),
            structure,
        };
        around.called_in_loop = around.calls_in_loops(tokens);
        around
    }

    fn calls_in_loops(&self, tokens: &Tokens<'_>) -> HashSet<String> {
        let mut members: HashSet<&str> = HashSet::new();
        let mut all: HashSet<&str> = HashSet::new();
        for function in self.structure.functions.iter().filter(|function| !function.name.is_empty()) {
            all.insert(&function.name);
            if function.member {
                members.insert(&function.name);
            }
        }
        (0..tokens.len())
            .filter_map(|at| Some((at, tokens.word(at)?)))
            .filter(|(at, name)| {
                let member_call = *at > 0 && matches!(tokens.kind(at - 1), Kind::Arrow | Kind::Op(b'.'));
                let through_this = *at > 1 && tokens.word(at - 2) == Some("this");
                let set = if member_call && !through_this { &members } else { &all };
                set.contains(name)
                    && (tokens.is(at + 1, b'(')
                        || tokens.after_template(at + 1).is_some_and(|after| tokens.is(after, b'(')))
                    && self.direct(tokens.start(*at))
            })
            .map(|(_, name)| name.to_owned())
            .collect()
    }

    pub(super) fn function(&self, offset: usize) -> Option<&Function> {
        self.functions.at(offset).and_then(|at| self.structure.functions.get(at))
    }

    fn direct(&self, offset: usize) -> bool {
        let from = self.function(offset).map_or(0, |function| function.start);
        self.loops.at(offset).and_then(|at| self.loop_starts.get(at)).is_some_and(|start| *start >= from)
    }

    pub(super) fn context(&self, offset: usize) -> LoopContext {
        if self.direct(offset) {
            return LoopContext::Direct;
        }
        match self.function(offset) {
            Some(function) if self.called_in_loop.contains(&function.name) => LoopContext::Caller,
            _ => LoopContext::None,
        }
    }

    pub(super) fn kernel_loops(
        &self,
        (from, to): (usize, usize),
        source: &Source,
        unroll_lines: &[usize],
    ) -> Vec<KernelLoop> {
        let first = self.structure.loops.partition_point(|found| found.start < from);
        let mut ends: Vec<usize> = Vec::new();
        self.structure
            .loops
            .iter()
            .skip(first)
            .take_while(|found| found.start < to)
            .take(MAX_LOOPS_PER_KERNEL)
            .map(|found| {
                while ends.last().is_some_and(|end| *end <= found.start) {
                    ends.pop();
                }
                let depth = u32::try_from(ends.len()).unwrap_or(u32::MAX);
                ends.push(found.body_end);
                let site = source.site(found.start);
                let pragma = unroll_lines.partition_point(|line| *line < found.start);
                let above =
                    pragma.checked_sub(1).and_then(|at| unroll_lines.get(at)).map(|at| source.site(*at).line);
                KernelLoop {
                    line: site.line,
                    column: site.column,
                    depth,
                    trip_count: found.trip_count,
                    body_operations: self.structure.operations_in(found.body_start, found.body_end),
                    text: source.line(found.start),
                    has_unroll_pragma: above.is_some_and(|line| line + 1 == site.line),
                }
            })
            .collect()
    }
}

/// `(start, body start, body end)` of the loops that tokens alone show.
fn token_loops(tokens: &Tokens<'_>) -> Vec<(usize, usize, usize)> {
    let mut out = Vec::new();
    for at in 0..tokens.len() {
        let body = match tokens.word(at) {
            Some("for" | "while") if tokens.is(at + 1, b'(') => tokens.partner(at + 1).map(|close| close + 1),
            Some("do") => Some(at + 1),
            _ => None,
        };
        let Some(body) = body.filter(|body| *body < tokens.len()) else { continue };
        out.push((tokens.start(at), tokens.start(body), statement_end(tokens, body)));
    }
    out
}

/// End of the statement that starts at a token: its block, or its semicolon.
fn statement_end(tokens: &Tokens<'_>, from: usize) -> usize {
    // A statement without a block is short; the bound keeps a chain of loop keywords linear.
    const MAX_TOKENS: usize = 128;
    let mut at = from;
    while at < tokens.len() && at - from < MAX_TOKENS {
        match tokens.kind(at) {
            Kind::Op(b'{') => {
                let close = tokens.partner(at).unwrap_or(at);
                if tokens.word(close + 1) != Some("else") {
                    return tokens.end(close);
                }
                at = close;
            }
            Kind::Op(b'(' | b'[') => at = tokens.partner(at).unwrap_or(at),
            Kind::Op(b';') if tokens.word(at + 1) != Some("else") => return tokens.end(at),
            Kind::Op(b'}') => return tokens.start(at),
            _ => {}
        }
        at += 1;
    }
    tokens.end(at.min(tokens.len().saturating_sub(1)))
}
