//! Functions and loops of a C-family file, from its syntax tree.

use std::ops::ControlFlow;
use std::time::Instant;

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// A function definition.
pub(crate) struct Function {
    /// Base name; empty for what has none.
    pub(crate) name: String,
    /// Start, including a template header.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// True inside a class.
    pub(crate) member: bool,
}

/// A loop statement.
pub(crate) struct Loop {
    pub(crate) start: usize,
    pub(crate) body_start: usize,
    pub(crate) body_end: usize,
    pub(crate) trip_count: Option<u64>,
}

/// What the passes over tokens need to know about the structure around a token.
#[derive(Default)]
pub(crate) struct Structure {
    /// By start.
    pub(crate) functions: Vec<Function>,
    /// By start.
    pub(crate) loops: Vec<Loop>,
    /// Offsets of operators, calls and subscripts, ascending.
    pub(crate) operations: Vec<usize>,
}

/// The parser ran out of time, or the file is one it would need too long for.
pub(crate) struct TimedOut;

/// Parses text with a grammar, giving up at a deadline.
pub(crate) fn parse(
    text: &[u8],
    language: &tree_sitter::Language,
    deadline: Instant,
) -> Result<tree_sitter::Tree, TimedOut> {
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|_| TimedOut)?;
    let mut progress = |_: &ParseState| {
        if Instant::now() >= deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |offset: usize, _| text.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options)).ok_or(TimedOut)
}

impl Structure {
    /// Reads the tree of masked code.
    pub(crate) fn read(code: &[u8], deadline: Instant) -> Result<Self, TimedOut> {
        let tree = parse(code, &tree_sitter_cuda::LANGUAGE.into(), deadline)?;
        let mut structure = Self::default();
        let mut cursor = tree.walk();
        // Ends of the classes around the cursor: a function inside one is a member.
        let mut class_ends: Vec<usize> = Vec::new();
        let mut template_start: Option<(usize, usize)> = None;
        loop {
            let node = cursor.node();
            let (start, end) = (node.start_byte(), node.end_byte());
            while class_ends.last().is_some_and(|class_end| *class_end <= start) {
                class_ends.pop();
            }
            match node.kind() {
                "class_specifier" | "struct_specifier" | "union_specifier" => class_ends.push(end),
                "template_declaration" => template_start = Some((start, end)),
                "function_definition" => {
                    let header = template_start.filter(|(_, template_end)| *template_end == end);
                    structure.functions.push(Function {
                        name: function_name(node, code),
                        start: header.map_or(start, |(template, _)| template),
                        end,
                        member: !class_ends.is_empty(),
                    });
                }
                "for_statement" | "while_statement" | "do_statement" | "for_range_loop" => {
                    let last = u32::try_from(node.named_child_count().saturating_sub(1)).unwrap_or(0);
                    if let Some(body) = node.child_by_field_name("body").or_else(|| node.named_child(last)) {
                        structure.loops.push(Loop {
                            start,
                            body_start: body.start_byte(),
                            body_end: body.end_byte(),
                            trip_count: trip_count(node, code),
                        });
                    }
                }
                "binary_expression"
                | "assignment_expression"
                | "update_expression"
                | "unary_expression"
                | "call_expression"
                | "subscript_expression"
                | "pointer_expression"
                | "conditional_expression" => {
                    structure.operations.push(start);
                }
                _ => {}
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    structure.operations.sort_unstable();
                    structure
                        .functions
                        .sort_by_key(|function| (function.start, std::cmp::Reverse(function.end)));
                    return Ok(structure);
                }
            }
        }
    }

    /// Operators, calls and subscripts between two offsets.
    pub(crate) fn operations_in(&self, from: usize, to: usize) -> u32 {
        let first = self.operations.partition_point(|at| *at < from);
        let last = self.operations.partition_point(|at| *at < to);
        u32::try_from(last.saturating_sub(first)).unwrap_or(u32::MAX)
    }
}

fn text<'a>(node: Node<'_>, code: &'a [u8]) -> &'a str {
    code.get(node.byte_range()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
}

/// Follows the declarator to the name. The bound is far above what people nest and keeps hostile input linear.
fn function_name(function: Node<'_>, code: &[u8]) -> String {
    let mut node = function;
    for _ in 0..64 {
        match node.kind() {
            "identifier" | "field_identifier" | "operator_name" | "destructor_name" => {
                return text(node, code).to_owned();
            }
            "qualified_identifier" | "template_function" => match node.child_by_field_name("name") {
                Some(name) => node = name,
                None => return String::new(),
            },
            _ => {
                let inner = node.child_by_field_name("declarator").or_else(|| {
                    (node.kind() == "reference_declarator").then(|| node.named_child(0)).flatten()
                });
                match inner {
                    Some(inner) => node = inner,
                    None => return String::new(),
                }
            }
        }
    }
    String::new()
}

/// Iterations of `for (int i = A; i < B; i += C)` with literal A, B and C.
fn trip_count(node: Node<'_>, code: &[u8]) -> Option<u64> {
    if node.kind() != "for_statement" {
        return None;
    }
    let initializer = text(node.child_by_field_name("initializer")?, code);
    let condition = text(node.child_by_field_name("condition")?, code);
    let update = text(node.child_by_field_name("update")?, code);
    let (target, first) = initializer.trim_end_matches(';').split_once('=')?;
    let variable = target.split_whitespace().last()?;
    let at = condition.find(['<', '>', '!'])?;
    let (left, rest) = condition.split_at(at);
    let (compare, bound) = rest.split_at(rest.find(|c: char| !"<>=!".contains(c))?);
    if left.trim() != variable {
        return None;
    }
    let (first, bound) = (literal(first)?, literal(bound)?);
    let step = step(update, variable)?;
    let distance = match (compare, step > 0) {
        ("<", true) => bound.checked_sub(first)?,
        ("<=", true) => bound.checked_sub(first)?.checked_add(1)?,
        (">", false) => first.checked_sub(bound)?,
        (">=", false) => first.checked_sub(bound)?.checked_add(1)?,
        ("!=", _) if (bound.checked_sub(first)?).checked_rem(step)? == 0 => {
            (bound - first).checked_mul(step.signum())?
        }
        _ => return None,
    };
    let step = step.checked_abs()?;
    let count = distance.max(0).checked_add(step - 1)? / step;
    u64::try_from(count).ok()
}

fn step(update: &str, variable: &str) -> Option<i64> {
    let compact: String = update.split_whitespace().collect();
    if compact == format!("++{variable}") || compact == format!("{variable}++") {
        return Some(1);
    }
    if compact == format!("--{variable}") || compact == format!("{variable}--") {
        return Some(-1);
    }
    let rest = compact.strip_prefix(variable)?;
    let (sign, amount) = match (rest.strip_prefix("+="), rest.strip_prefix("-=")) {
        (Some(amount), _) => (1, amount),
        (_, Some(amount)) => (-1, amount),
        _ => return None,
    };
    literal(amount)?.checked_mul(sign).filter(|step| *step != 0)
}

fn literal(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => text.parse().ok(),
    }
}
