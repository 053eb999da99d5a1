//! Functions and loops around places of a Python file.

use std::collections::HashSet;

use super::{Collected, Function};
use crate::intervals::Innermost;
use crate::model::LoopContext;

/// Functions and loops around offsets of one file.
pub(super) struct Around<'a> {
    found: &'a Collected,
    functions: Innermost,
    loops: Innermost,
    called_in_loop: HashSet<&'a str>,
}

impl<'a> Around<'a> {
    pub(super) fn new(found: &'a Collected) -> Self {
        let functions: Vec<(usize, usize)> = found.functions.iter().map(|f| (f.start, f.end)).collect();
        let loops: Vec<(usize, usize)> = found.loops.iter().map(|(_, from, to)| (*from, *to)).collect();
        let mut around = Self {
            found,
            functions: Innermost::new(&functions),
            loops: Innermost::new(&loops),
            called_in_loop: HashSet::new(),
        };
        let members: HashSet<&str> =
            found.functions.iter().filter(|f| f.member).map(|f| f.name.as_str()).collect();
        let all: HashSet<&str> = found.functions.iter().map(|f| f.name.as_str()).collect();
        let mut called = HashSet::new();
        for call in &found.calls {
            let (owner, name) = call.dotted.rsplit_once('.').unwrap_or(("", &call.dotted));
            let plain = matches!(owner, "" | "self" | "cls") && !call.dotted.starts_with('.');
            let known = if plain { all.get(name) } else { members.get(name) };
            if let Some(name) = known.filter(|_| around.direct(call.offset)) {
                called.insert(*name);
            }
        }
        around.called_in_loop = called;
        around
    }

    pub(super) fn function(&self, offset: usize) -> Option<&'a Function> {
        self.functions.at(offset).and_then(|at| self.found.functions.get(at))
    }

    fn direct(&self, offset: usize) -> bool {
        let from = self.function(offset).map_or(0, |function| function.start);
        self.loops
            .at(offset)
            .and_then(|at| self.found.loops.get(at))
            .is_some_and(|(start, _, _)| *start >= from)
    }

    pub(super) fn context(&self, offset: usize) -> LoopContext {
        if self.direct(offset) {
            return LoopContext::Direct;
        }
        match self.function(offset) {
            Some(function) if self.called_in_loop.contains(function.name.as_str()) => LoopContext::Caller,
            _ => LoopContext::None,
        }
    }
}
