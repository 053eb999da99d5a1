//! Model-written proposals: labelled, bounded, never merged with what was computed.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use perfxpert_schemas::tools::agent::run::ProviderName;

use crate::claims::ClaimGate;
use crate::pack::{EvidencePack, Lexicon, name_forms};
use crate::prompt::hex_sha256;

/// Most proposals of one answer.
pub(crate) const MOST: usize = 3;
/// Highest confidence a proposal may claim.
const HIGHEST_CONFIDENCE: f64 = 0.5;
/// Confidence of a proposal that states none.
const USUAL_CONFIDENCE: f64 = 0.3;

/// Something a proposal rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposalEvidence {
    /// tool, kernel or catalog.
    pub kind: String,
    /// Tool called in this run, kernel of the pack, or fact id.
    #[serde(rename = "ref")]
    pub reference: String,
    /// What was seen there.
    pub observation: String,
}

/// An effect a proposal expects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedEffect {
    /// Metric name.
    pub metric: String,
    /// increase, decrease or unchanged.
    pub direction: String,
}

/// A condition under which a proposal counts as confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuccessCriterion {
    /// Metric name.
    pub metric: String,
    /// One of < <= > >= ==.
    pub op: String,
    /// Always `measured`.
    pub baseline: String,
    /// Always `measured`.
    pub target: String,
}

/// How a proposal is to be verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// Metrics to measure.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// What must hold.
    #[serde(default)]
    pub success_criteria: Vec<SuccessCriterion>,
    /// Always true.
    pub requires_full_gate_cascade: bool,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    title: String,
    hypothesis: String,
    mechanism: String,
    #[serde(default)]
    target_kernel: Option<String>,
    evidence: Vec<ProposalEvidence>,
    #[serde(default)]
    expected_effects: Vec<ExpectedEffect>,
    #[serde(default)]
    assumptions: Vec<String>,
    #[serde(default)]
    failure_modes: Vec<String>,
    verification: Verification,
    #[serde(default = "usual_confidence")]
    confidence: f64,
}

fn usual_confidence() -> f64 {
    USUAL_CONFIDENCE
}

/// Where a proposal came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProposalProvenance {
    /// The service.
    pub provider: ProviderName,
    /// The model.
    pub model: Option<String>,
    /// Fingerprint of the trace.
    pub trace_fingerprint: Option<String>,
    /// SHA-256 of the composed prompt.
    pub fence_sha256: String,
    /// SHA-256 of the catalogue of facts.
    pub catalog_sha256: Option<String>,
}

/// A proposal as an answer lists it: exploratory, not verified.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// What to try.
    pub title: String,
    /// What it assumes to be true.
    pub hypothesis: String,
    /// Why it should help.
    pub mechanism: String,
    /// The measured kernel it is about.
    pub target_kernel: Option<String>,
    /// What it rests on.
    pub evidence: Vec<ProposalEvidence>,
    /// What it expects.
    pub expected_effects: Vec<ExpectedEffect>,
    /// What must hold for it.
    pub assumptions: Vec<String>,
    /// How it may fail.
    pub failure_modes: Vec<String>,
    /// How to verify it.
    pub verification: Verification,
    /// 0..0.5.
    pub confidence: f64,
    /// Stable id over its texts.
    pub proposal_id: String,
    /// Always `exploratory`.
    pub status: &'static str,
    /// compute, memory, latency or diff.
    pub specialist: String,
    /// Where it came from.
    pub provenance: ProposalProvenance,
}

/// What a proposal is judged against.
pub(crate) struct Judge<'a> {
    pub(crate) gate: &'a ClaimGate<'a>,
    pub(crate) pack: &'a EvidencePack,
    pub(crate) lexicon: &'a Lexicon,
    /// Dotted names of the tools that gave an answer in this run.
    pub(crate) called: &'a [String],
    pub(crate) specialist: &'a str,
    pub(crate) provenance: &'a ProposalProvenance,
}

impl Judge<'_> {
    /// The accepted proposals, at most three, and the reasons of the others.
    pub(crate) fn accept(&self, sent: &[Value]) -> (Vec<Proposal>, Vec<&'static str>) {
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for draft in sent {
            match self.read(draft) {
                Ok(_) if kept.len() >= MOST => dropped.push("too_many"),
                Ok(proposal) => kept.push(proposal),
                Err(reason) => dropped.push(reason),
            }
        }
        (kept, dropped)
    }

    fn read(&self, value: &Value) -> Result<Proposal, &'static str> {
        let draft: Draft = serde_json::from_value(value.clone()).map_err(|_| "malformed")?;
        if draft.evidence.is_empty() {
            return Err("no_evidence");
        }
        if !well_formed(&draft) {
            return Err("malformed");
        }
        if draft.evidence.iter().any(|item| !self.knows(item)) {
            return Err("unknown_reference");
        }
        if draft.target_kernel.as_deref().is_some_and(|name| !self.is_kernel(name)) {
            return Err("unmeasured_kernel");
        }
        if draft.confidence > HIGHEST_CONFIDENCE {
            return Err("confidence");
        }
        let text = |text: &str| self.gate.proposal_text(text).map_err(|reason| reason.as_str());
        // The other texts get the same look: nothing unread reaches an answer.
        let effects = draft.expected_effects.iter().map(|effect| &effect.metric);
        let criteria = draft.verification.success_criteria.iter().map(|criterion| &criterion.metric);
        let metrics = draft.verification.metrics.iter().chain(effects).chain(criteria);
        for other in draft.assumptions.iter().chain(&draft.failure_modes).chain(metrics) {
            text(other)?;
        }
        for item in &draft.evidence {
            text(&item.observation)?;
        }
        let proposal = Proposal {
            title: text(&draft.title)?,
            hypothesis: text(&draft.hypothesis)?,
            mechanism: text(&draft.mechanism)?,
            target_kernel: draft.target_kernel,
            evidence: draft.evidence,
            expected_effects: draft.expected_effects,
            assumptions: draft.assumptions,
            failure_modes: draft.failure_modes,
            verification: draft.verification,
            confidence: draft.confidence,
            proposal_id: String::new(),
            status: "exploratory",
            specialist: self.specialist.to_owned(),
            provenance: self.provenance.clone(),
        };
        let id = proposal_id(
            self.specialist,
            &proposal.title,
            &proposal.hypothesis,
            &proposal.mechanism,
            proposal.target_kernel.as_deref(),
        );
        Ok(Proposal { proposal_id: id, ..proposal })
    }

    fn is_kernel(&self, name: &str) -> bool {
        self.pack.kernels.iter().any(|kernel| name_forms(&kernel.name).iter().any(|form| form == name))
    }

    fn knows(&self, item: &ProposalEvidence) -> bool {
        match item.kind.as_str() {
            "tool" => {
                let bare = perfxpert_schemas::names::to_bare(&item.reference);
                self.called.iter().any(|tool| perfxpert_schemas::names::to_bare(tool) == bare)
            }
            "kernel" => self.is_kernel(&item.reference),
            "catalog" => {
                let fact =
                    |id: &str| id == item.reference || id.strip_prefix("k.") == Some(item.reference.as_str());
                self.lexicon.fact_ids.iter().any(|id| fact(id))
                    || self.pack.evidence.iter().any(|e| e.id.starts_with("k.") && fact(&e.id))
            }
            _ => false,
        }
    }
}

/// Lengths, counts and words of a draft.
fn well_formed(draft: &Draft) -> bool {
    let within = |text: &str, most: usize| (1..=most).contains(&text.chars().count());
    let texts = |list: &[String]| list.len() <= 10 && list.iter().all(|text| within(text, 300));
    within(&draft.title, 120)
        && within(&draft.hypothesis, 1000)
        && within(&draft.mechanism, 1000)
        && draft.target_kernel.as_deref().is_none_or(|name| within(name, 500))
        && draft.evidence.len() <= 10
        && draft.evidence.iter().all(|item| within(&item.reference, 200) && within(&item.observation, 500))
        && draft.expected_effects.len() <= 10
        && draft.expected_effects.iter().all(|effect| {
            within(&effect.metric, 100)
                && matches!(effect.direction.as_str(), "increase" | "decrease" | "unchanged")
        })
        && texts(&draft.assumptions)
        && texts(&draft.failure_modes)
        && draft.verification.metrics.len() <= 10
        && draft.verification.metrics.iter().all(|metric| within(metric, 100))
        && draft.verification.success_criteria.len() <= 10
        && draft.verification.success_criteria.iter().all(|criterion| {
            within(&criterion.metric, 100)
                && matches!(criterion.op.as_str(), "<" | "<=" | ">" | ">=" | "==")
                && criterion.baseline == "measured"
                && criterion.target == "measured"
        })
        && draft.verification.requires_full_gate_cascade
        && draft.confidence.is_finite()
        && draft.confidence >= 0.0
}

/// Stable id of a proposal: SHA-256 over compact JSON with sorted keys and escaped non-ASCII characters.
pub fn proposal_id(
    specialist: &str,
    title: &str,
    hypothesis: &str,
    mechanism: &str,
    target_kernel: Option<&str>,
) -> String {
    let text = |text: &str| ascii_json(text);
    let kernel = target_kernel.map_or_else(|| "null".to_owned(), text);
    let canonical = format!(
        "{{\"hypothesis\":{},\"mechanism\":{},\"specialist\":{},\"target_kernel\":{kernel},\"title\":{}}}",
        text(hypothesis),
        text(mechanism),
        text(specialist),
        text(title)
    );
    let hash = hex_sha256(canonical.as_bytes());
    format!("pxp-exp-{}", hash.get(..16).unwrap_or(&hash))
}

/// A JSON string with every non-ASCII character as `\uXXXX`.
fn ascii_json(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        if matches!(c, ' '..='~') {
            out.push(c);
        } else {
            let mut units = [0u16; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Schema of the `proposals` list.
pub(crate) fn schema() -> Value {
    let text = |most: usize| json!({"type": "string", "minLength": 1, "maxLength": most});
    let texts = json!({"type": "array", "maxItems": 10, "items": text(300)});
    json!({"type": "array", "maxItems": MOST, "items": {
        "type": "object", "additionalProperties": false,
        "required": ["title", "hypothesis", "mechanism", "evidence", "verification"],
        "properties": {
            "title": text(120), "hypothesis": text(1000), "mechanism": text(1000),
            "target_kernel": {"type": "string", "maxLength": 500},
            "evidence": {"type": "array", "minItems": 1, "maxItems": 10, "items": {
                "type": "object", "additionalProperties": false, "required": ["kind", "ref", "observation"],
                "properties": {"kind": {"type": "string", "enum": ["tool", "kernel", "catalog"]},
                               "ref": text(200), "observation": text(500)}}},
            "expected_effects": {"type": "array", "maxItems": 10, "items": {
                "type": "object", "additionalProperties": false, "required": ["metric", "direction"],
                "properties": {"metric": text(100),
                               "direction": {"type": "string", "enum": ["increase", "decrease", "unchanged"]}}}},
            "assumptions": texts, "failure_modes": texts,
            "verification": {"type": "object", "additionalProperties": false,
                "required": ["requires_full_gate_cascade"],
                "properties": {
                    "metrics": {"type": "array", "maxItems": 10, "items": text(100)},
                    "success_criteria": {"type": "array", "maxItems": 10, "items": {
                        "type": "object", "additionalProperties": false,
                        "required": ["metric", "op", "baseline", "target"],
                        "properties": {"metric": text(100),
                            "op": {"type": "string", "enum": ["<", "<=", ">", ">=", "=="]},
                            "baseline": {"type": "string", "enum": ["measured"]},
                            "target": {"type": "string", "enum": ["measured"]}}}},
                    "requires_full_gate_cascade": {"type": "boolean", "enum": [true]}}},
            "confidence": {"type": "number", "minimum": 0, "maximum": HIGHEST_CONFIDENCE}
        }
    }})
}
