//! Reads one C-family file: HIP, CUDA, OpenCL C and the host code around them.

mod around;
mod kernels;
mod launches;
mod mask;
mod structure;
mod tokens;

use std::sync::Arc;
use std::time::Instant;

use crate::apis::{self, Call};
use crate::ecosystem;
use crate::file_scan::FileScan;
use crate::intervals::Innermost;
use crate::limits::MAX_TREE_TOKENS;
use crate::model::{Kernel, Launch, LaunchType, Occurrence, PatternId, ProgrammingModel, RowKind};
use crate::text::Source;
use around::Around;
use mask::Masked;
use structure::Structure;
pub(crate) use structure::{TimedOut, parse};
use tokens::{Kind, Tokens};

/// Scans one file; `extension` is lower case.
pub(crate) fn scan(source: &Source, extension: &str, deadline: Instant) -> Result<FileScan, TimedOut> {
    let masked = mask::mask(&source.text);
    let tokens = Tokens::new(&masked.code, &masked.ghosts);
    let mut out = FileScan::default();
    let directives = read_directives(&masked, source, &mut out);
    let model = gpu_model(&tokens, directives.hip, directives.cuda, extension);

    let kernels = kernels::find(&tokens, &source.text, extension == "cl");
    let launches = launches::find(&tokens, &source.text);
    let calls = find_calls(&tokens, &mut out);
    count_features(&tokens, &kernels, extension, &mut out);
    if kernels.is_empty() && launches.is_empty() && calls.is_empty() {
        return Ok(out);
    }

    // Without a tree the tokens still show kernels, launches and loops; only the functions around them are not known.
    let structure = match tokens.len() {
        0..=MAX_TREE_TOKENS => Structure::read(&for_the_grammar(&masked, &tokens), deadline)?,
        _ => Structure::default(),
    };
    let around = Around::new(structure, &tokens);
    let variables = launches::declared_variables(&tokens);
    for kernel in kernels {
        let loops = match kernel.kind {
            RowKind::Definition => around.kernel_loops(kernel.range, source, &directives.unroll_lines),
            _ => Vec::new(),
        };
        let opencl = extension == "cl";
        out.kernel(Kernel {
            name: kernel.name.into(),
            qualified_name: kernel.qualified_name.into(),
            site: source.site(kernel.offset),
            launch_type: if opencl { LaunchType::OpenClKernelDef } else { LaunchType::GlobalKernelDef },
            kind: kernel.kind,
            model: if opencl { ProgrammingModel::OpenCl } else { model },
            template: kernel.template,
            launch_bounds: kernel.launch_bounds,
            loops,
            text: source.line(kernel.offset),
        });
    }
    for launch in launches {
        let function = around.function(launch.offset);
        // A parameter or variable that holds a kernel is not a kernel's name.
        let variable = launch.name_known
            && launch.name == launch.qualified_name
            && function.is_some_and(|function| {
                variables.get(launch.name.as_str()).is_some_and(|at| {
                    let first = at.partition_point(|offset| *offset < function.start);
                    at.get(first).is_some_and(|offset| *offset < launch.offset)
                })
            });
        let in_function = function
            .map(|function| Arc::from(function.name.as_str()))
            .filter(|name: &Arc<str>| !name.is_empty());
        let loop_context = around.context(launch.offset);
        let model = match &launch.api {
            Some(api) if api.starts_with("cl") => ProgrammingModel::OpenCl,
            Some(api) if api.starts_with("cu") => ProgrammingModel::Cuda,
            Some(_) => ProgrammingModel::Hip,
            None => model,
        };
        let (name, qualified_name): (Arc<str>, Arc<str>) = (launch.name.into(), launch.qualified_name.into());
        out.launch(model, launch.stream, loop_context, || Launch {
            name: name.clone(),
            qualified_name: qualified_name.clone(),
            name_known: launch.name_known && !variable,
            site: source.site(launch.offset),
            launch_type: launch.launch_type,
            model,
            template: launch.template,
            stream: launch.stream,
            loop_context,
            in_function: in_function.clone(),
            text: source.line(launch.offset),
        });
    }
    for (pattern, offset, name) in calls {
        let loop_context = around.context(offset);
        out.occurrence(pattern, loop_context, || Occurrence {
            site: source.site(offset),
            loop_context,
            call: name.into(),
            text: source.line(offset),
        });
    }
    Ok(out)
}

struct Directives {
    hip: u64,
    cuda: u64,
    /// Offsets of unroll pragmas, ascending.
    unroll_lines: Vec<usize>,
}

fn read_directives(masked: &Masked, source: &Source, out: &mut FileScan) -> Directives {
    let mut found = Directives { hip: 0, cuda: 0, unroll_lines: Vec::new() };
    for directive in &masked.directives {
        let mut words = directive.text.split_whitespace();
        let first = words.next().unwrap_or("");
        if let Some(header) = directive.text.strip_prefix("include") {
            let header = header.trim().trim_matches(['<', '>', '"', ' ']);
            found.hip += u64::from(header.starts_with("hip/") || header.starts_with("hip_"));
            found.cuda += u64::from(header.starts_with("cuda"));
            for library in ecosystem::included(header) {
                out.library(library, || source.site(directive.offset));
            }
        } else if first == "pragma" {
            let rest: Vec<&str> = words.collect();
            let unroll = match rest.as_slice() {
                [word, ..] if word.starts_with("unroll") || word.starts_with("nounroll") => true,
                ["clang", "loop", clauses @ ..] => clauses.iter().any(|clause| clause.starts_with("unroll")),
                ["omp", clauses @ ..] => {
                    if clauses.iter().any(|clause| *clause == "target" || clause.starts_with("target(")) {
                        out.library(crate::model::Library::OpenMpOffload, || source.site(directive.offset));
                    }
                    false
                }
                _ => false,
            };
            if unroll {
                out.features.unroll_pragmas += 1;
                found.unroll_lines.push(directive.offset);
            }
        }
    }
    found
}

/// HIP or CUDA, by what the file includes and calls; without either, by its extension.
fn gpu_model(tokens: &Tokens<'_>, mut hip: u64, mut cuda: u64, extension: &str) -> ProgrammingModel {
    for word in (0..tokens.len()).filter_map(|at| tokens.word(at)) {
        let upper = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
        hip += u64::from(word.strip_prefix("hip").is_some_and(upper));
        cuda += u64::from(word.strip_prefix("cuda").is_some_and(upper));
    }
    let cuda_file = matches!(extension, "cu" | "cuh");
    if cuda > hip || (cuda == 0 && hip == 0 && cuda_file) {
        ProgrammingModel::Cuda
    } else {
        ProgrammingModel::Hip
    }
}

/// Calls that are occurrences of patterns; the others are only counted.
fn find_calls<'a>(tokens: &Tokens<'a>, out: &mut FileScan) -> Vec<(PatternId, usize, &'a str)> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some(name) = tokens.word(at) else { continue };
        let Some(call) = apis::classify(name) else { continue };
        let Some(open) = launches::call_open(tokens, at) else { continue };
        let pattern = match call {
            Call::Pattern(pattern) => Some(pattern),
            Call::ClTransfer => {
                let close = tokens.partner(open).unwrap_or(open);
                let blocking = tokens.arguments(open + 1, close).get(2).map(|&(from, _)| tokens.text(from));
                match blocking {
                    Some("CL_TRUE" | "1" | "true") => Some(PatternId::MemcpySync),
                    Some("CL_FALSE" | "0" | "false") => {
                        out.counts.async_copies += 1;
                        None
                    }
                    _ => None,
                }
            }
            Call::AsyncCopy => {
                out.counts.async_copies += 1;
                None
            }
            Call::StreamCreate => {
                out.counts.stream_creates += 1;
                Some(PatternId::CreateInLoop)
            }
            Call::Marker => {
                out.counts.markers += 1;
                None
            }
        };
        found.extend(pattern.map(|pattern| (pattern, tokens.start(at), name)));
    }
    found
}

fn count_features(tokens: &Tokens<'_>, kernels: &[kernels::Found], extension: &str, out: &mut FileScan) {
    let device = Innermost::new(&kernels::device_ranges(tokens, kernels));
    for at in 0..tokens.len() {
        let Some(word) = tokens.word(at) else { continue };
        let features = &mut out.features;
        match word {
            "__shared__" => features.lds_arrays += 1,
            "HIP_DYNAMIC_SHARED" if tokens.is(at + 1, b'(') => features.lds_arrays += 1,
            "__local" | "local" if extension == "cl" => features.lds_arrays += 1,
            "__launch_bounds__" if tokens.is(at + 1, b'(') => features.launch_bounds += 1,
            "double" if device.at(tokens.start(at)).is_some() => features.double_precision += 1,
            "mma_sync" if tokens.kind(at + 1) == Kind::Op(b'(') => features.mfma_builtins += 1,
            _ if apis::is_matrix_builtin(word) => features.mfma_builtins += 1,
            _ if apis::is_atomic(word, extension == "cl") && launches::call_open(tokens, at).is_some() => {
                features.atomics += 1
            }
            _ => {}
        }
    }
}

/// Masked code as the grammar understands it: attributes and OpenCL words it does not know are blanked, and so are
/// braces that an alternative `#if` branch repeats.
fn for_the_grammar(masked: &Masked, tokens: &Tokens<'_>) -> Vec<u8> {
    let mut code = masked.code.clone();
    let mut blank = |from: usize, to: usize| {
        for byte in code.get_mut(from..to).unwrap_or_default().iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    };
    for ghost in &masked.ghosts {
        blank(*ghost, ghost + 1);
    }
    for at in 0..tokens.len() {
        match tokens.word(at) {
            Some("__launch_bounds__" | "__attribute__") => {
                let end = tokens.partner(at + 1).filter(|_| tokens.is(at + 1, b'('));
                blank(tokens.start(at), end.map_or(tokens.end(at), |close| tokens.end(close)));
            }
            Some(
                "__global__" | "__device__" | "__host__" | "__forceinline__" | "__noinline__"
                | "__restrict__" | "__kernel" | "__local" | "__constant" | "__private",
            ) => blank(tokens.start(at), tokens.end(at)),
            _ => {}
        }
    }
    code
}
