//! Reads one Python file: Triton and Numba kernels, their launches, and calls that wait for the GPU.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use tree_sitter::Node;

use crate::apis;
use crate::clike::{TimedOut, parse};
use crate::ecosystem;
use crate::file_scan::{FileScan, PythonLaunch};
use crate::limits::{MAX_NAME_CHARS, MAX_ROWS_PER_FILE, MAX_TREE_TOKENS};
use crate::model::{Kernel, Launch, LaunchType, Occurrence, PatternId, ProgrammingModel, RowKind, StreamUse};
use crate::text::Source;

mod around;

use around::Around;

/// Attribute chains longer than this are not resolved; real ones have a handful of names.
const MAX_DOTS: usize = 16;

struct Function {
    name: String,
    start: usize,
    end: usize,
    member: bool,
}

/// A call by the dotted name of what is called.
struct CallSite {
    dotted: String,
    /// Offset of the last name.
    offset: usize,
}

struct SubscriptCall {
    name: String,
    offset: usize,
    subscripts: usize,
    third_is_zero: bool,
}

struct Decorated {
    name: String,
    offset: usize,
    decorators: Vec<(String, bool)>,
}

/// What one walk over the tree collects; names are resolved afterwards because an import may follow its use.
#[derive(Default)]
struct Collected {
    aliases: HashMap<String, String>,
    imports: Vec<(String, usize)>,
    functions: Vec<Function>,
    loops: Vec<(usize, usize, usize)>,
    calls: Vec<CallSite>,
    subscript_calls: Vec<SubscriptCall>,
    decorated: Vec<Decorated>,
}

/// Scans one file.
pub(crate) fn scan(source: &Source, deadline: Instant) -> Result<FileScan, TimedOut> {
    // Punctuation stands for the tokens of a language that is read through its tree only.
    if source.text.bytes().filter(u8::is_ascii_punctuation).count() > MAX_TREE_TOKENS {
        return Err(TimedOut);
    }
    let tree = parse(source.text.as_bytes(), &tree_sitter_python::LANGUAGE.into(), deadline)?;
    let found = collect(tree.root_node(), &source.text);
    let mut out = FileScan::default();
    for (module, offset) in &found.imports {
        if let Some(framework) = ecosystem::imported_framework(module) {
            out.framework(framework, || source.site(*offset));
        }
        for library in ecosystem::imported_libraries(module) {
            out.library(library, || source.site(*offset));
        }
    }
    for kernel in &found.decorated {
        if let Some((launch_type, model)) = found.kernel_type(kernel) {
            let name: Arc<str> = kernel.name.as_str().into();
            out.kernel(Kernel {
                qualified_name: name.clone(),
                name,
                site: source.site(kernel.offset),
                launch_type,
                kind: RowKind::Definition,
                model,
                template: false,
                launch_bounds: None,
                loops: Vec::new(),
                text: source.line(kernel.offset),
            });
        }
    }
    let around = Around::new(&found);
    for call in found.subscript_calls.iter().take(MAX_ROWS_PER_FILE) {
        let name: Arc<str> = call.name.as_str().into();
        let launch = Launch {
            qualified_name: name.clone(),
            name,
            name_known: true,
            site: source.site(call.offset),
            launch_type: LaunchType::TritonLaunch,
            model: ProgrammingModel::Triton,
            template: false,
            stream: StreamUse::Unknown,
            loop_context: around.context(call.offset),
            in_function: around.function(call.offset).map(|function| function.name.as_str().into()),
            text: source.line(call.offset),
        };
        let default = call.subscripts < 3 || call.third_is_zero;
        let numba_stream = if default { StreamUse::Default } else { StreamUse::Explicit };
        out.python_launches.push(PythonLaunch { launch, numba_stream });
    }
    let gpu_file = !out.frameworks.is_empty();
    for call in &found.calls {
        let dotted = found.resolve(&call.dotted);
        let last = dotted.rsplit('.').next().unwrap_or("");
        let method = call.dotted.contains('.');
        let waits = dotted == "torch.cuda.synchronize"
            || (method && apis::is_python_sync(last))
            || dotted == "jax.block_until_ready";
        if gpu_file && waits {
            let loop_context = around.context(call.offset);
            out.occurrence(PatternId::PythonSync, loop_context, || Occurrence {
                site: source.site(call.offset),
                loop_context,
                call: last.into(),
                text: source.line(call.offset),
            });
        }
        out.counts.stream_creates += u64::from(matches!(
            dotted.as_str(),
            "torch.cuda.Stream" | "cupy.cuda.Stream" | "numba.cuda.stream"
        ));
        out.counts.markers += u64::from(is_marker(&dotted));
        out.features.atomics += u64::from(
            dotted.starts_with("triton.language.atomic_") || dotted.starts_with("numba.cuda.atomic."),
        );
        out.features.lds_arrays += u64::from(dotted == "numba.cuda.shared.array");
    }
    Ok(out)
}

fn is_marker(dotted: &str) -> bool {
    const NAMES: [&str; 8] =
        ["range_push", "range_pop", "range_start", "range_end", "mark", "rangePush", "rangePop", "range"];
    let mut parts = dotted.rsplit('.');
    let (last, module) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    (matches!(module, "nvtx" | "roctx") && (NAMES.contains(&last) || last == "annotate"))
        || ["roctxRange", "roctxMark", "nvtxRange", "nvtxMark"].iter().any(|start| last.starts_with(start))
}

impl Collected {
    /// Replaces the first name of a dotted name by what it was imported from.
    fn resolve(&self, dotted: &str) -> String {
        let (first, rest) =
            dotted.split_once('.').map_or((dotted, None), |(first, rest)| (first, Some(rest)));
        match (self.aliases.get(first), rest) {
            (Some(module), Some(rest)) => format!("{module}.{rest}"),
            (Some(module), None) => module.clone(),
            (None, _) => dotted.to_owned(),
        }
    }

    fn kernel_type(&self, function: &Decorated) -> Option<(LaunchType, ProgrammingModel)> {
        function.decorators.iter().find_map(|(dotted, device)| match self.resolve(dotted).as_str() {
            "triton.jit" | "triton.runtime.jit" | "triton.experimental.gluon.jit" => {
                Some((LaunchType::TritonKernelDef, ProgrammingModel::Triton))
            }
            // `device=True` makes a function that kernels call.
            "numba.cuda.jit" | "numba.roc.jit" | "numba.hip.jit" if !device => {
                Some((LaunchType::NumbaKernelDef, ProgrammingModel::Numba))
            }
            _ => None,
        })
    }
}

fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or("")
}

fn clipped(name: &str) -> String {
    name.chars().take(MAX_NAME_CHARS).collect()
}

/// `a.b.c` and the node of the last name. What is no name (a call, a subscript) shows as an empty first part, so that
/// `f(x).item()` is `.item`.
fn dotted<'tree>(node: Node<'tree>, source: &str) -> Option<(String, Node<'tree>)> {
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    let mut at = node;
    for _ in 0..MAX_DOTS {
        match at.kind() {
            "identifier" => {
                parts.push(clipped(text(at, source)));
                last = last.or(Some(at));
                break;
            }
            "attribute" => {
                let name = at.child_by_field_name("attribute")?;
                parts.push(clipped(text(name, source)));
                last = last.or(Some(name));
                at = at.child_by_field_name("object")?;
            }
            _ => {
                parts.push(String::new());
                break;
            }
        }
    }
    parts.reverse();
    last.map(|last| (parts.join("."), last))
}

fn collect(root: Node<'_>, source: &str) -> Collected {
    let mut out = Collected::default();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        match node.kind() {
            "import_statement" => out.import(node, source),
            "import_from_statement" => out.import_from(node, source),
            "function_definition" => {
                if let Some(name) = node.child_by_field_name("name") {
                    let member = node
                        .parent()
                        .and_then(|parent| {
                            if parent.kind() == "decorated_definition" {
                                parent.parent()
                            } else {
                                Some(parent)
                            }
                        })
                        .and_then(|block| block.parent())
                        .is_some_and(|owner| owner.kind() == "class_definition");
                    out.functions.push(Function {
                        name: clipped(text(name, source)),
                        start: node.start_byte(),
                        end: node.end_byte(),
                        member,
                    });
                }
            }
            "decorated_definition" => out.decorated_function(node, source),
            "for_statement" | "while_statement" => {
                if let Some(body) = node.child_by_field_name("body") {
                    out.loops.push((node.start_byte(), body.start_byte(), body.end_byte()));
                }
            }
            "call" => out.call(node, source),
            _ => {}
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
            }
        }
    }
}

impl Collected {
    fn import(&mut self, node: Node<'_>, source: &str) {
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            let (module, alias) = imported(name, source);
            self.imports.push((module.clone(), node.start_byte()));
            match alias {
                Some(alias) => self.aliases.insert(alias, module),
                None => {
                    let first = module.split('.').next().unwrap_or("").to_owned();
                    self.aliases.insert(first.clone(), first)
                }
            };
        }
    }

    fn import_from(&mut self, node: Node<'_>, source: &str) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let relative = module.kind() == "relative_import";
        let module = compact(text(module, source));
        if !relative {
            self.imports.push((module.clone(), node.start_byte()));
        }
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            let (name, alias) = imported(name, source);
            let full = format!("{module}.{name}");
            if !relative {
                self.imports.push((full.clone(), node.start_byte()));
            }
            self.aliases.insert(alias.unwrap_or(name), full);
        }
    }

    fn decorated_function(&mut self, node: Node<'_>, source: &str) {
        let Some(name) = node
            .child_by_field_name("definition")
            .filter(|definition| definition.kind() == "function_definition")
            .and_then(|definition| definition.child_by_field_name("name"))
        else {
            return;
        };
        let mut cursor = node.walk();
        let mut decorators = Vec::new();
        for decorator in node.children(&mut cursor).filter(|child| child.kind() == "decorator") {
            let Some(expression) = decorator.named_child(0) else { continue };
            let (callee, arguments) = match expression.kind() {
                "call" => {
                    (expression.child_by_field_name("function"), expression.child_by_field_name("arguments"))
                }
                _ => (Some(expression), None),
            };
            let device =
                arguments.is_some_and(|arguments| compact(text(arguments, source)).contains("device=True"));
            decorators
                .extend(callee.and_then(|callee| dotted(callee, source)).map(|(dotted, _)| (dotted, device)));
        }
        self.decorated.push(Decorated {
            name: clipped(text(name, source)),
            offset: name.start_byte(),
            decorators,
        });
    }

    fn call(&mut self, node: Node<'_>, source: &str) {
        let Some(function) = node.child_by_field_name("function") else { return };
        if function.kind() == "subscript" {
            let Some((dotted, last)) =
                function.child_by_field_name("value").and_then(|value| dotted(value, source))
            else {
                return;
            };
            let mut cursor = function.walk();
            let subscripts: Vec<Node<'_>> =
                function.children_by_field_name("subscript", &mut cursor).collect();
            self.subscript_calls.push(SubscriptCall {
                name: dotted.rsplit('.').next().unwrap_or("").to_owned(),
                offset: last.start_byte(),
                subscripts: subscripts.len(),
                third_is_zero: subscripts.get(2).is_some_and(|third| text(*third, source) == "0"),
            });
        } else if let Some((dotted, last)) = dotted(function, source) {
            self.calls.push(CallSite { dotted, offset: last.start_byte() });
        }
    }
}

/// Module or name of an import and what it is called here.
fn imported(node: Node<'_>, source: &str) -> (String, Option<String>) {
    if node.kind() == "aliased_import" {
        let name = node.child_by_field_name("name").map_or("", |name| text(name, source));
        let alias = node.child_by_field_name("alias").map(|alias| clipped(text(alias, source)));
        return (compact(name), alias);
    }
    (compact(text(node, source)), None)
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).take(MAX_NAME_CHARS).collect()
}
