//! Kernel launches in tokens of a C-family file.

use std::collections::HashMap;

use crate::apis::{DEFAULT_STREAMS, LaunchCall, launch_call};
use crate::clike::kernels::written_qualification;
use crate::clike::tokens::{Kind, Tokens};
use crate::model::{LaunchType, StreamUse};
use crate::text::expression;

/// A launch before its place, model and loop are known.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) qualified_name: String,
    pub(crate) name_known: bool,
    /// Offset of the name token, or of the API's name.
    pub(crate) offset: usize,
    pub(crate) launch_type: LaunchType,
    pub(crate) template: bool,
    pub(crate) stream: StreamUse,
    /// Name of the API for API launches.
    pub(crate) api: Option<String>,
}

/// Kernel expression of a launch.
struct Target {
    name: String,
    qualified_name: String,
    known: bool,
    template: bool,
    /// Token of the base name.
    token: usize,
}

/// Every launch of the file in order of its tokens.
pub(crate) fn find(tokens: &Tokens<'_>, source: &str) -> Vec<Found> {
    let mut out = Vec::new();
    for at in 0..tokens.len() {
        let found = match tokens.kind(at) {
            Kind::LaunchOpen => triple_angle(tokens, source, at),
            Kind::Word => api(tokens, source, at),
            _ => None,
        };
        out.extend(found);
    }
    out
}

fn triple_angle(tokens: &Tokens<'_>, source: &str, open: usize) -> Option<Found> {
    let close = configuration_end(tokens, open)?;
    let target = target_before(tokens, source, open)?;
    let arguments = tokens.arguments(open + 1, close);
    if arguments.is_empty() {
        return None;
    }
    let stream = match arguments.get(3) {
        None => StreamUse::Default,
        Some(&range) => stream(tokens, source, range),
    };
    Some(Found {
        offset: tokens.start(target.token),
        name: target.name,
        qualified_name: target.qualified_name,
        name_known: target.known,
        launch_type: LaunchType::TripleAngleLaunch,
        template: target.template,
        stream,
        api: None,
    })
}

/// Index of the first `>` of the `>>>` that ends a launch configuration and is followed by the kernel's arguments.
fn configuration_end(tokens: &Tokens<'_>, open: usize) -> Option<usize> {
    // A configuration has at most four expressions; the bound keeps stray `<<<` from searching the whole file.
    const MAX_TOKENS: usize = 2048;
    let mut at = open + 1;
    while at < tokens.len() && at - open < MAX_TOKENS {
        match tokens.kind(at) {
            Kind::Op(b'(' | b'[' | b'{') => at = tokens.partner(at)?,
            Kind::Op(b'>') => {
                let adjacent = |a: usize| tokens.is(a + 1, b'>') && tokens.end(a) == tokens.start(a + 1);
                if adjacent(at) && adjacent(at + 1) && tokens.is(at + 3, b'(') {
                    return Some(at);
                }
            }
            Kind::Op(b')' | b']' | b'}' | b';') | Kind::LaunchOpen => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The kernel named right before a `<<<`.
fn target_before(tokens: &Tokens<'_>, source: &str, open: usize) -> Option<Target> {
    let last = open.checked_sub(1)?;
    match tokens.kind(last) {
        Kind::Word => named(tokens, last, false),
        Kind::Op(b'>') => named(tokens, tokens.before_template(last)?.checked_sub(1)?, true),
        Kind::Op(b')') => {
            let inner = tokens.partner(last)?;
            // A call that returns a function pointer, or a parenthesised name.
            if inner > 0 && tokens.kind(inner - 1) == Kind::Word {
                return Some(unknown(tokens, source, inner - 1, open));
            }
            Some(kernel_expression(tokens, source, inner, open))
        }
        Kind::Op(b']') => {
            let inner = tokens.partner(last)?;
            Some(unknown(tokens, source, inner.saturating_sub(1), open))
        }
        _ => None,
    }
}

fn named(tokens: &Tokens<'_>, token: usize, template: bool) -> Option<Target> {
    let name = tokens.word(token)?.to_owned();
    let member = token > 0 && matches!(tokens.kind(token - 1), Kind::Arrow | Kind::Op(b'.'));
    let qualified_name = written_qualification(tokens, token);
    Some(Target { name, qualified_name, known: !member, template, token })
}

fn unknown(tokens: &Tokens<'_>, source: &str, from: usize, to: usize) -> Target {
    let text = expression(source.get(tokens.start(from)..tokens.end(to.saturating_sub(1))).unwrap_or(""));
    Target { qualified_name: text.clone(), name: text, known: false, template: false, token: from }
}

/// The kernel an expression names: parentheses, casts, `&` and `HIP_KERNEL_NAME` around it are dropped.
fn kernel_expression(tokens: &Tokens<'_>, source: &str, from: usize, to: usize) -> Target {
    let (mut start, mut end) = (from, to);
    for _ in 0..16 {
        if start >= end {
            break;
        }
        match tokens.kind(start) {
            Kind::Op(b'(') => match tokens.partner(start).filter(|close| *close < end) {
                Some(close) if close + 1 == end => (start, end) = (start + 1, close),
                // A cast: what it casts stands behind it.
                Some(close) => start = close + 1,
                None => break,
            },
            Kind::Op(b'&' | b'*') | Kind::Scope => start += 1,
            Kind::Word => {
                let text = tokens.text(start);
                let wrapper =
                    matches!(text, "HIP_KERNEL_NAME" | "reinterpret_cast" | "static_cast" | "const_cast");
                let open = if tokens.is(start + 1, b'<') {
                    tokens.after_template(start + 1)
                } else {
                    Some(start + 1)
                };
                match open.filter(|open| wrapper && tokens.is(*open, b'(')) {
                    Some(open) => {
                        end = tokens.partner(open).filter(|close| *close < end).unwrap_or(end);
                        start = open + 1;
                    }
                    None => break,
                }
            }
            _ => break,
        }
    }
    whole_name(tokens, start, end).unwrap_or_else(|| unknown(tokens, source, from, to))
}

/// A possibly qualified name or template-id that fills a range, trailing comma lists of a macro apart.
fn whole_name(tokens: &Tokens<'_>, start: usize, end: usize) -> Option<Target> {
    let mut at = start;
    let mut last = None;
    let mut template = false;
    while at < end {
        tokens.word(at)?;
        last = Some(at);
        template = false;
        at += 1;
        if at < end && tokens.is(at, b'<') {
            at = tokens.after_template(at)?;
            template = true;
        }
        if at >= end {
            break;
        }
        if tokens.kind(at) != Kind::Scope {
            return None;
        }
        at += 1;
    }
    named(tokens, last?, template)
}

fn api(tokens: &Tokens<'_>, source: &str, at: usize) -> Option<Found> {
    let api = tokens.word(at)?;
    if !api.ends_with("Kernel") && !api.contains("Launch") {
        return None;
    }
    let (form, stream_at) = launch_call(api)?;
    let open = call_open(tokens, at)?;
    let close = tokens.partner(open)?;
    let (LaunchCall::Kernel(position)
    | LaunchCall::Module(position)
    | LaunchCall::Graph(position)
    | LaunchCall::OpenCl(position)) = form;
    let arguments = split_kernel_argument(tokens, open + 1, close, position);
    let &(from, to) = arguments.get(position)?;
    let target = match form {
        LaunchCall::Kernel(_) => kernel_expression(tokens, source, from, to),
        _ => unknown(tokens, source, from, to),
    };
    let stream = match (form, stream_at) {
        (LaunchCall::OpenCl(_), _) => StreamUse::Explicit,
        (_, Some(position)) => {
            arguments.get(position).map_or(StreamUse::Unknown, |range| stream(tokens, source, *range))
        }
        (_, None) => StreamUse::Unknown,
    };
    let launch_type = match form {
        LaunchCall::Kernel(_) => LaunchType::HipKernelLaunch,
        LaunchCall::Module(_) => LaunchType::ModuleLaunch,
        LaunchCall::Graph(_) => LaunchType::GraphLaunch,
        LaunchCall::OpenCl(_) => LaunchType::OpenClLaunch,
    };
    Some(Found {
        name: target.name,
        qualified_name: target.qualified_name,
        name_known: target.known,
        offset: tokens.start(at),
        launch_type,
        template: target.template,
        stream,
        api: Some(api.to_owned()),
    })
}

/// Arguments of a call; a template-id that is the kernel stays whole although a comma follows its `>`.
fn split_kernel_argument(
    tokens: &Tokens<'_>,
    from: usize,
    to: usize,
    position: usize,
) -> Vec<(usize, usize)> {
    let mut arguments = tokens.arguments(from, to);
    let Some(&(start, _)) = arguments.get(position) else { return arguments };
    let mut at = start;
    while tokens.kind(at) == Kind::Word || tokens.kind(at) == Kind::Scope {
        at += 1;
    }
    if let Some(after) = tokens.after_template(at).filter(|after| *after <= to && tokens.is(*after, b',')) {
        arguments.truncate(position);
        arguments.push((start, after));
        arguments.extend(tokens.arguments(after + 1, to));
    }
    arguments
}

/// Index of the `(` of a call of the word at `at`; nothing for a declaration, a member or another namespace's function.
pub(crate) fn call_open(tokens: &Tokens<'_>, at: usize) -> Option<usize> {
    let open = match tokens.kind(at + 1) {
        Kind::Op(b'(') => at + 1,
        Kind::Op(b'<') => tokens.after_template(at + 1).filter(|after| tokens.is(*after, b'('))?,
        _ => return None,
    };
    let Some(before) = at.checked_sub(1) else { return Some(open) };
    let call = match tokens.kind(before) {
        Kind::Word => matches!(
            tokens.text(before),
            "return" | "else" | "do" | "co_return" | "co_await" | "throw" | "not" | "and" | "or"
        ),
        Kind::Arrow | Kind::Op(b'.') => false,
        Kind::Scope => {
            before == 0 || tokens.kind(before - 1) != Kind::Word || is_keyword(tokens.text(before - 1))
        }
        // `hipError_t *hipMalloc(` declares; `a * f(` and `&f(` are rare enough next to it only after a type's name.
        Kind::Op(b'*') => {
            before == 0 || !tokens.word(before - 1).is_some_and(|word| word.ends_with("_t") || word == "void")
        }
        _ => true,
    };
    call.then_some(open)
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "return"
            | "else"
            | "case"
            | "do"
            | "goto"
            | "new"
            | "delete"
            | "throw"
            | "co_return"
            | "co_await"
            | "co_yield"
    )
}

fn stream(tokens: &Tokens<'_>, source: &str, (from, to): (usize, usize)) -> StreamUse {
    let (mut start, mut end) = (from, to);
    // Casts and parentheses around the value.
    for _ in 0..4 {
        if tokens.is(start, b'(') {
            match tokens.partner(start).filter(|close| *close < end) {
                Some(close) if close + 1 == end => (start, end) = (start + 1, close),
                Some(close) => start = close + 1,
                None => break,
            }
        } else if matches!(tokens.word(start), Some("static_cast" | "reinterpret_cast"))
            && let Some(open) = tokens.after_template(start + 1)
        {
            start = open;
        } else {
            break;
        }
    }
    if start >= end {
        return StreamUse::Unknown;
    }
    let text = expression(source.get(tokens.start(start)..tokens.end(end - 1)).unwrap_or(""));
    if DEFAULT_STREAMS.contains(&text.as_str()) { StreamUse::Default } else { StreamUse::Explicit }
}

/// Offsets at which names are declared as parameters or variables, ascending per name.
pub(crate) fn declared_variables<'a>(tokens: &Tokens<'a>) -> HashMap<&'a str, Vec<usize>> {
    let mut out: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in 1..tokens.len() {
        let Some(word) = tokens.word(at) else { continue };
        if !matches!(tokens.kind(at + 1), Kind::Op(b',' | b')' | b'=' | b';' | b'{' | b'[' | b':' | b'>')) {
            continue;
        }
        let before_is_type = |index: usize| match tokens.kind(index) {
            Kind::Word => !is_keyword(tokens.text(index)),
            Kind::Op(b'>') => true,
            _ => false,
        };
        let mut before = at - 1;
        let mut pointer = false;
        while before > 0 && matches!(tokens.kind(before), Kind::Op(b'*' | b'&')) {
            pointer |= tokens.is(before, b'*');
            before -= 1;
        }
        let function_pointer =
            pointer && tokens.is(before, b'(') && tokens.is(at + 1, b')') && tokens.is(at + 2, b'(');
        let kind_before = before_is_type(before) || function_pointer;
        if kind_before && (before + 1 < at || !tokens.is(before, b'>') || !tokens.is(at + 1, b'>')) {
            out.entry(word).or_default().push(tokens.start(at));
        }
    }
    out
}
