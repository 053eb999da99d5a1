//! One piece of advice with everything a reader needs to judge it.

use perfxpert_knowledge::techniques::State;

use crate::source_plan::PlannedCommand;
use crate::words;

/// How much a piece of advice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// A fifth of the run or more can be won.
    High,
    /// Some.
    Medium,
    /// Little, or little is known.
    Low,
    /// Worth knowing; nothing is lost by leaving it.
    Info,
}

impl Priority {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
            Self::Info => "INFO",
        }
    }

    /// The priority of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::High, Self::Medium, Self::Low, Self::Info]
            .into_iter()
            .find(|priority| priority.label() == word)
    }
}

/// What a piece of advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetKind {
    /// The run.
    Trace,
    /// One kernel.
    Kernel,
    /// One GPU.
    Agent,
    /// A place in the source.
    Source,
}

impl TargetKind {
    /// The word used on every surface.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Kernel => "kernel",
            Self::Agent => "agent",
            Self::Source => "source",
        }
    }
}

/// Something that must hold for the advice to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Precondition {
    /// What must hold.
    pub name: String,
    /// Whether it does.
    pub state: State,
    /// What it was judged by.
    pub detail: String,
}

/// A number held against a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceItem {
    /// Stable id.
    pub id: &'static str,
    /// One sentence.
    pub text: String,
    /// Name of the metric.
    pub metric: &'static str,
    /// Its value.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// `>=`, `>`, `<=`, `<` or `==`; `None` for context.
    pub comparator: Option<&'static str>,
    /// What it was held against.
    pub threshold: Option<f64>,
    /// `supports` or `context`.
    pub role: &'static str,
    /// `kernels`, `memory_copies`, `regions`, `counters`, `att`, `source` or `facts`.
    pub source: &'static str,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceRef {
    /// Path relative to the scanned folder.
    pub file: String,
    /// Line from 1.
    pub line: u64,
    /// `definition`, `launch`, `pattern` or `instruction`.
    pub kind: &'static str,
    /// The code pattern, when it is one.
    pub pattern_id: Option<&'static str>,
}

/// A predicted effect, as the model of the change answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Speed-up of the kernel (overlap: of the run), low and high, 3 decimals.
    pub impact: [f64; 2],
    /// Speed-up of the run, low and high, 3 decimals.
    pub program: [f64; 2],
    /// Fraction.
    pub confidence: f64,
    /// Why.
    pub rationale: String,
    /// Fact ids of the model.
    pub source_citation: String,
    /// Arithmetic intensity now, FLOP per byte, when known.
    pub intensity_before: Option<f64>,
    /// Stable id.
    pub prediction_id: String,
}

/// What only a loop hint has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopHint {
    /// File of the loop.
    pub file: String,
    /// Line of the loop.
    pub line: u64,
    /// The hint, `clang_loop_unroll_full`.
    pub pragma_id: String,
    /// Factors to try.
    pub factor_sweep: Vec<u64>,
    /// What may go wrong.
    pub risk: String,
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleEntry {
    /// Stable id, counting per report in rank order.
    pub id: String,
    /// Rule name; with the target the identity.
    pub rule: String,
    /// Place from 1.
    pub rank: u64,
    /// How much it matters.
    pub priority: Priority,
    /// Heading.
    pub category: String,
    /// Bottleneck class it addresses, or `code_pattern`, `loop_hint`.
    pub class: String,
    /// Full kernel name, GPU, copy direction or `file:line`; `None` for the run as a whole.
    pub target: Option<String>,
    /// What the target is.
    pub target_kind: TargetKind,
    /// Technique id.
    pub technique: String,
    /// One line with the key number.
    pub title: String,
    /// What was found.
    pub issue: String,
    /// What to do.
    pub suggestion: String,
    /// How, one to five steps.
    pub actions: Vec<String>,
    /// Upper bound of the time saved, percent of the run, 2 decimals; `None` when the trace does not bound it.
    pub gain_bound_pct: Option<f64>,
    /// How the bound was computed.
    pub gain_basis: String,
    /// Ids of entries whose bounds count the same time.
    pub overlaps_with: Vec<String>,
    /// Fraction, 2 decimals.
    pub confidence: f64,
    /// What must hold for it to work.
    pub preconditions: Vec<Precondition>,
    /// The numbers behind it, one to six.
    pub evidence: Vec<EvidenceItem>,
    /// Places in the source, at most ten.
    pub source_refs: Vec<SourceRef>,
    /// Ids of code patterns folded in.
    pub merged_ids: Vec<String>,
    /// Fact id of the rule.
    pub citation: String,
    /// Commands; the last one verifies.
    pub commands: Vec<PlannedCommand>,
    /// `pragma`, for loop hints.
    pub subtype: Option<&'static str>,
    /// Whether it is shown only on request.
    pub advanced: bool,
    /// Line of the scanned source.
    pub snippet_before: Option<String>,
    /// The same with the change.
    pub snippet_after: Option<String>,
    /// HTML id.
    pub anchor: String,
    /// A predicted effect, when the model of the change allows one.
    pub prediction: Option<Prediction>,
    /// What only a loop hint has.
    pub hint: Option<LoopHint>,
}

impl RuleEntry {
    /// The bound in words: `at most 53.0% of the run (2.13x)`.
    #[must_use]
    pub fn estimated_impact(&self) -> String {
        let Some(gain) = self.gain_bound_pct else { return "not bounded by this trace".to_owned() };
        match words::speedup(gain) {
            Some(times) => format!("at most {} of the run ({times}x)", words::percent(gain)),
            None => format!("at most {} of the run", words::percent(gain)),
        }
    }
}
