//! Puts the kept statements together: the narrative, titles and notes, and what is said about the rest.

use std::collections::{BTreeMap, HashSet};

use crate::chain::Trail;
use crate::claims::{ClaimGate, Tally, fingerprint, first_sentence, is_concrete};
use crate::reply::Reply;
use crate::run::{AcceptedTitle, RunRequest};

/// Longest assembled narrative, in characters.
const NARRATIVE: usize = 1500;

/// Kept claims in the model's order, with the verdict's own sentence in front when none of them rests on it.
pub(crate) fn narrative(
    request: &RunRequest<'_>,
    gate: &ClaimGate<'_>,
    reply: &Reply,
    tally: &mut Tally,
) -> Option<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut leads = false;
    for claim in &reply.claims {
        match gate.claim(claim) {
            Ok((text, cites)) if seen.insert(fingerprint(&text)) => {
                tally.keep();
                leads |= request.lead_id.is_some_and(|lead| cites.iter().any(|id| id == lead));
                kept.push(text);
            }
            Ok(_) => tally.drop("duplicate"),
            Err(reason) => tally.drop(reason.as_str()),
        }
    }
    if kept.is_empty() {
        return None;
    }
    // Every narrative names a percentage or a kernel; the computed first sentence does.
    let concrete = kept.iter().any(|text| is_concrete(text));
    if request.lead_id.is_some() && !(leads && concrete) {
        kept.insert(0, first_sentence(request.narrative).to_owned());
    }
    let mut text = String::new();
    for sentence in kept {
        let longer = text.chars().count() + 1 + sentence.chars().count();
        if !text.is_empty() && longer > NARRATIVE {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&sentence);
    }
    Some(text)
}

/// Titles and notes that pass the gate, by the entry they belong to.
pub(crate) fn titles(
    request: &RunRequest<'_>,
    gate: &ClaimGate<'_>,
    reply: &Reply,
    tally: &mut Tally,
) -> BTreeMap<String, AcceptedTitle> {
    let mut accepted: BTreeMap<String, AcceptedTitle> = BTreeMap::new();
    if !request.titles {
        return accepted;
    }
    for title in &reply.titles {
        let entry = request.pack.entries.iter().find(|entry| entry.key == title.key);
        let mut judge = |text: &Option<String>| -> Option<String> {
            let text = text.as_deref()?;
            let Some(entry) = entry else {
                tally.drop("cites_nothing");
                return None;
            };
            match gate.entry_text(text, &entry.evidence) {
                Ok(text) => {
                    tally.keep();
                    Some(text)
                }
                Err(reason) => {
                    tally.drop(reason.as_str());
                    None
                }
            }
        };
        let (new_title, note) = (judge(&title.title), judge(&title.note));
        if new_title.is_some() || note.is_some() {
            let slot = accepted.entry(title.key.clone()).or_default();
            slot.title = new_title.or(slot.title.take());
            slot.note = note.or(slot.note.take());
        }
    }
    accepted
}

/// One notice about proposals that were not listed, with the count of each reason.
pub(crate) fn note_dropped_proposals(trail: &mut Trail, dropped: &[&'static str]) {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for reason in dropped {
        let times = counts.entry(*reason).or_insert(0);
        *times = times.saturating_add(1);
    }
    if !counts.is_empty() {
        let listed: Vec<String> = counts.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        trail.note(
            "proposals_rejected",
            format!("Model proposals: {} not listed ({}).", dropped.len(), listed.join(", ")),
        );
    }
}
