//! Code patterns worth changing, as recommendations made from the source alone.

use perfxpert_knowledge::thresholds;
use perfxpert_source::{Occurrence, Pattern, PatternId, Scan, Site};

/// Places in the source that one recommendation names.
const MAX_REFERENCES: usize = 10;

/// A recommendation made from a code pattern. Its gain is not known: the source does not say how often a line runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeAdvice {
    /// The pattern; with the target the identity.
    pub pattern: PatternId,
    /// Stable id, `ROCPD-T0-MEMCPY-001`.
    pub id: &'static str,
    /// Heading.
    pub category: &'static str,
    /// Technique id.
    pub technique: &'static str,
    /// One line with the numbers.
    pub title: String,
    /// What was found and where first.
    pub issue: String,
    /// What to do.
    pub suggestion: &'static str,
    /// How, one to five steps.
    pub actions: &'static [&'static str],
    /// First place; the target of the recommendation.
    pub target: Site,
    /// Fraction, a fact.
    pub confidence: f64,
    /// Occurrences in the tree and those in a loop: the evidence.
    pub count: u64,
    /// Those in a loop.
    pub in_loop_count: u64,
    /// First places, at most ten.
    pub references: Vec<Site>,
    /// The first place's source line.
    pub snippet_before: String,
    /// The same line with the change, where it is one of a form that can be rewritten safely.
    pub snippet_after: Option<String>,
}

struct Words {
    id: &'static str,
    category: &'static str,
    technique: &'static str,
    suggestion: &'static str,
    actions: &'static [&'static str],
}

fn words(pattern: PatternId) -> Words {
    match pattern {
        PatternId::MemcpySync => Words {
            id: "ROCPD-T0-MEMCPY-001",
            category: "Memory Transfer",
            technique: "hip_stream_overlap",
            suggestion: "Use pinned memory and hipMemcpyAsync on a stream, outside the loop where possible.",
            actions: &[
                "Move copies whose data does not change out of the loop.",
                "Allocate the host buffers with hipHostMalloc.",
                "Issue the remaining copies with hipMemcpyAsync on their own stream and order them with events.",
            ],
        },
        PatternId::DeviceSync => Words {
            id: "ROCPD-T0-SYNC-001",
            category: "Synchronization",
            technique: "device_sync_removal",
            suggestion: "Wait only where a result is needed.",
            actions: &[
                "Remove waits between work on the same stream: it runs in order anyway.",
                "Replace device-wide waits by events on the stream that needs them.",
                "Queue the next work before waiting for the last.",
            ],
        },
        PatternId::DefaultStream => Words {
            id: "ROCPD-T0-STREAM-001",
            category: "No Streams",
            technique: "hip_stream_overlap",
            suggestion: "Put copies and independent kernels on explicit streams.",
            actions: &[
                "Create the streams once, before the work starts.",
                "Give independent kernels and copies streams of their own and order them with events.",
            ],
        },
        PatternId::AllocInLoop => Words {
            id: "ROCPD-T0-ALLOC-001",
            category: "Allocation in Loop",
            technique: "api_hoisting",
            suggestion: "Allocate once, outside the loop.",
            actions: &[
                "Allocate the largest size once and reuse the buffer.",
                "Where sizes vary, use hipMallocAsync with a memory pool.",
            ],
        },
        PatternId::CreateInLoop => Words {
            id: "ROCPD-T0-OBJECTS-001",
            category: "Object Creation in Loop",
            technique: "api_hoisting",
            suggestion: "Create once, outside the loop.",
            actions: &["Create streams, events, modules and library handles before the loop and reuse them."],
        },
        PatternId::PythonSync => Words {
            id: "ROCPD-T0-PYSYNC-001",
            category: "Synchronization",
            technique: "device_sync_removal",
            suggestion: "Wait only where a result is needed.",
            actions: &[
                "Keep values on the GPU and read them every few steps instead of every step.",
                "Copy with non_blocking=True from pinned memory.",
                "Move logging and checks of values out of the loop.",
            ],
        },
    }
}

/// The patterns of a scan that are worth a recommendation, in the order of the patterns.
pub fn code_advice(scan: &Scan) -> Vec<CodeAdvice> {
    scan.patterns.iter().filter(|pattern| pattern.recommend).filter_map(advice).collect()
}

fn advice(pattern: &Pattern) -> Option<CodeAdvice> {
    let first = pattern.occurrences.first()?;
    let words = words(pattern.id);
    let mut references: Vec<Site> = Vec::new();
    for occurrence in &pattern.occurrences {
        if references
            .last()
            .is_none_or(|last| (&last.file, last.line) != (&occurrence.site.file, occurrence.site.line))
        {
            references.push(occurrence.site.clone());
        }
        if references.len() == MAX_REFERENCES {
            break;
        }
    }
    Some(CodeAdvice {
        pattern: pattern.id,
        id: words.id,
        category: words.category,
        technique: words.technique,
        title: pattern.description.clone(),
        issue: format!("{}; first at {}.", pattern.description, first.site),
        suggestion: words.suggestion,
        actions: words.actions,
        target: first.site.clone(),
        confidence: thresholds::report().code_confidence,
        count: pattern.count,
        in_loop_count: pattern.in_loop_count,
        references,
        snippet_before: first.text.to_string(),
        snippet_after: rewritten(pattern.id, first),
    })
}

/// The line with the call replaced, when the whole call stands on it. The stream is the caller's to make.
fn rewritten(pattern: PatternId, occurrence: &Occurrence) -> Option<String> {
    let line = &*occurrence.text;
    match pattern {
        PatternId::MemcpySync if matches!(&*occurrence.call, "hipMemcpy" | "cudaMemcpy") => {
            let (before, rest) = line.split_once(&format!("{}(", occurrence.call))?;
            let (arguments, after) = rest.split_at(closing(rest)?);
            Some(format!("{before}{}Async({arguments}, stream{after}", occurrence.call))
        }
        PatternId::DefaultStream => {
            let (before, rest) = line.split_once("<<<")?;
            let (configuration, after) = rest.split_once(">>>")?;
            // Grid and block only: with a third expression the shared memory size is already there.
            let plain = !configuration.contains(['(', '<', '{']) && configuration.matches(',').count() == 1;
            plain.then(|| format!("{before}<<<{configuration}, 0, stream>>>{after}"))
        }
        _ => None,
    }
}

/// Offset of the parenthesis that closes a call whose opening one stands before the text. Text with quotes is left
/// alone: a parenthesis in it need not be one.
fn closing(text: &str) -> Option<usize> {
    if text.contains(['"', '\'']) {
        return None;
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
