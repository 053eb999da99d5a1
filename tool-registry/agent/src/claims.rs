//! The claim gate: a model's sentence is used only if every number, name, flag and verdict word in it matches the
//! evidence it cites.

mod numbers;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};

use perfxpert_schemas::tools::agent::run::ClaimCount;

use crate::pack::{EvidencePack, Lexicon, PackEvidence, name_forms};
use crate::redact::Redactor;
use crate::reply::Claim;

/// Why a statement was dropped, in the order the rules are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// Not one paragraph of plain text.
    Shape,
    /// Cites no known id.
    CitesNothing,
    /// A number is no rounding of a cited value.
    Number,
    /// A backticked token is not in the pack.
    Name,
    /// A flag is in no catalogue.
    Command,
    /// A bottleneck word other than the verdict's.
    Contradicts,
    /// A secret, or a path token that stands for nothing.
    Redaction,
    /// A word that never appears.
    Phrase,
    /// Said before.
    Duplicate,
}

impl DropReason {
    /// The word in the run object.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::CitesNothing => "cites_nothing",
            Self::Number => "number",
            Self::Name => "name",
            Self::Command => "command",
            Self::Contradicts => "contradicts",
            Self::Redaction => "redaction",
            Self::Phrase => "phrase",
            Self::Duplicate => "duplicate",
        }
    }
}

/// What a reason means to a reader of the warning.
fn in_words(reason: &str) -> &'static str {
    match reason {
        "shape" => "not plain text",
        "cites_nothing" => "cited nothing known",
        "number" => "wrong numbers",
        "name" => "unknown names",
        "command" => "unknown flags",
        "contradicts" => "contradicted the verdict",
        "redaction" => "secrets or unknown paths",
        "phrase" => "unwanted words",
        "duplicate" => "said twice",
        _ => "not in this answer",
    }
}

/// The verdict whose words are allowed: label and detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Bottleneck label.
    pub label: String,
    /// Its detail.
    pub detail: Option<String>,
}

/// Judges statements against one pack.
pub struct ClaimGate<'a> {
    evidence: HashMap<&'a str, &'a PackEvidence>,
    names: HashSet<String>,
    flags: HashSet<&'a str>,
    labels: &'a [String],
    verdict: Option<Verdict>,
    redactor: &'a Redactor,
}

impl<'a> ClaimGate<'a> {
    /// A gate for this pack, lexicon and redaction.
    pub fn new(pack: &'a EvidencePack, lexicon: &'a Lexicon, redactor: &'a Redactor) -> Self {
        let verdict = pack.verdict.as_ref().map(|verdict| Verdict {
            label: verdict.primary_bottleneck.clone(),
            detail: verdict.bottleneck_detail.clone(),
        });
        Self {
            evidence: pack.evidence.iter().map(|item| (item.id.as_str(), item)).collect(),
            names: names_of(pack, lexicon, redactor),
            flags: lexicon.flags.iter().map(String::as_str).collect(),
            labels: &lexicon.labels,
            verdict,
            redactor,
        }
    }

    /// The claim's text with paths put back and its known citations, or why it is dropped.
    pub(crate) fn claim(&self, claim: &Claim) -> Result<(String, Vec<String>), DropReason> {
        if !words::is_plain(&claim.text) {
            return Err(DropReason::Shape);
        }
        let cited: Vec<&PackEvidence> =
            claim.cites.iter().filter_map(|id| self.evidence.get(id.as_str()).copied()).collect();
        if cited.is_empty() {
            return Err(DropReason::CitesNothing);
        }
        let text = self.judge(&claim.text, &cited)?;
        Ok((text, cited.iter().map(|item| item.id.clone()).collect()))
    }

    /// The words of a title or note, judged against the evidence of its entry.
    pub(crate) fn entry_text(&self, text: &str, evidence: &[String]) -> Result<String, DropReason> {
        if !words::is_plain(text) {
            return Err(DropReason::Shape);
        }
        let cited: Vec<&PackEvidence> =
            evidence.iter().filter_map(|id| self.evidence.get(id.as_str()).copied()).collect();
        self.judge(text, &cited)
    }

    /// The rules a proposal's texts must pass: shape, name and redaction.
    pub(crate) fn proposal_text(&self, text: &str) -> Result<String, DropReason> {
        if !words::is_plain(text) {
            return Err(DropReason::Shape);
        }
        self.check_names(text)?;
        self.restore(text)
    }

    fn judge(&self, text: &str, cited: &[&PackEvidence]) -> Result<String, DropReason> {
        if !numbers::all_match(text, cited) {
            return Err(DropReason::Number);
        }
        self.check_names(text)?;
        let known = |flag: &str| {
            self.flags.contains(flag)
                || flag.split_once('=').is_some_and(|(name, _)| self.flags.contains(name))
        };
        if words::flags(text).any(|flag| !known(flag)) {
            return Err(DropReason::Command);
        }
        if words::contradicts(text, self.verdict.as_ref(), self.labels) {
            return Err(DropReason::Contradicts);
        }
        let restored = self.restore(text)?;
        if words::has_unwanted_phrase(text) {
            return Err(DropReason::Phrase);
        }
        Ok(restored)
    }

    fn check_names(&self, text: &str) -> Result<(), DropReason> {
        let known = |name: &str| {
            let flag = name.starts_with('-') && self.flags.contains(name);
            flag || self.names.contains(name) || self.is_path_token(name)
        };
        if words::backticked(text).all(known) { Ok(()) } else { Err(DropReason::Name) }
    }

    fn is_path_token(&self, name: &str) -> bool {
        (name.starts_with('@') || name.starts_with("[PATH-")) && self.redactor.restore_text(name).is_ok()
    }

    fn restore(&self, text: &str) -> Result<String, DropReason> {
        if self.redactor.holds_secret(text) {
            return Err(DropReason::Redaction);
        }
        self.redactor.restore_text(text).map_err(|_| DropReason::Redaction)
    }
}

/// Every token a model may put into backticks.
fn names_of(pack: &EvidencePack, lexicon: &Lexicon, redactor: &Redactor) -> HashSet<String> {
    let mut names: HashSet<String> = redactor.root_tokens().into_iter().collect();
    let mut add = |name: &str| {
        names.extend(name_forms(name));
        names.insert(redactor.text(name));
    };
    for kernel in &pack.kernels {
        add(&kernel.name);
        add(&kernel.handle);
        kernel.metrics.iter().for_each(|(name, _)| add(name));
    }
    for item in &pack.evidence {
        add(&item.id);
        let metric = item.id.split_once('.').map_or(item.id.as_str(), |(_, rest)| rest);
        add(metric.split('@').next().unwrap_or(metric));
        words::backticked(&item.label).for_each(&mut add);
        if let crate::pack::EvidenceValue::Text(value) = &item.value {
            add(value);
        }
    }
    for entry in &pack.entries {
        add(&entry.key);
        add(entry.key.split('@').next().unwrap_or(&entry.key));
        words::backticked(&entry.title).for_each(&mut add);
    }
    if let Some(verdict) = &pack.verdict {
        add(&verdict.primary_bottleneck);
        verdict.bottleneck_detail.iter().for_each(|detail| add(detail));
    }
    lexicon.names.iter().for_each(|name| add(name));
    names
}

/// Counts what became of the statements and says so in one sentence.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    count: ClaimCount,
}

impl Tally {
    pub(crate) fn keep(&mut self) {
        self.count.made = self.count.made.saturating_add(1);
        self.count.kept = self.count.kept.saturating_add(1);
    }

    pub(crate) fn drop(&mut self, reason: &str) {
        self.count.made = self.count.made.saturating_add(1);
        self.count.dropped = self.count.dropped.saturating_add(1);
        let times = self.count.reasons.entry(reason.to_owned()).or_insert(0);
        *times = times.saturating_add(1);
    }

    pub(crate) fn finish(self) -> ClaimCount {
        self.count
    }
}

/// The warning about dropped statements, with its code; `None` when none was dropped.
pub(crate) fn dropped_notice(count: &ClaimCount) -> Option<(&'static str, String)> {
    if count.dropped == 0 {
        return None;
    }
    let reasons: &BTreeMap<String, u32> = &count.reasons;
    let listed: Vec<String> = reasons.iter().map(|(reason, n)| format!("{n} {}", in_words(reason))).collect();
    let code = if count.kept == 0 { "model_text_rejected" } else { "model_text_trimmed" };
    let message = format!(
        "Model text: {} of {} statements used, {} dropped ({}).",
        count.kept,
        count.made,
        count.dropped,
        listed.join(", ")
    );
    Some((code, message))
}

/// Case and spaces aside, what a claim says.
pub(crate) fn fingerprint(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a narrative names a percentage or a kernel, as every narrative must.
pub(crate) fn is_concrete(text: &str) -> bool {
    words::backticked(text).next().is_some() || text.contains('%')
}

/// The first sentence of a text: up to a full stop in front of a space, backticks aside.
pub(crate) fn first_sentence(text: &str) -> &str {
    let mut quoted = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '`' => quoted = !quoted,
            '.' | '!' | '?' if !quoted && characters.peek().is_none_or(|(_, next)| next.is_whitespace()) => {
                return text.get(..at + c.len_utf8()).unwrap_or(text);
            }
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests;
