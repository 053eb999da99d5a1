//! Routes a sentence to an intent by the rules it matches, without a model.

use perfxpert_knowledge::{intent, thresholds};

/// A scored intent.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// `analyze`, `optimize`, `verify`, `explain` or `help`.
    pub intent: &'static str,
    /// 0 to the largest score, unrounded.
    pub score: f64,
    /// Its strongest matching rule, the first on ties.
    pub rule: &'static str,
}

/// What a sentence asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// The intent; `analyze` when nothing matched.
    pub intent: &'static str,
    /// Its score, less when the second is close behind; unrounded.
    pub confidence: f64,
    /// The rule that decided; `None` when nothing matched.
    pub rule: Option<&'static str>,
    /// The second is close behind.
    pub close: bool,
    /// All scored intents, best first.
    pub candidates: Vec<Candidate>,
}

/// The intent when nothing matched.
const FALLBACK: &str = "analyze";
/// Which intent wins at equal scores.
const ORDER: [&str; 5] = ["verify", "optimize", "explain", "help", FALLBACK];

/// Classifies a sentence.
pub fn classify(sentence: &str) -> Intent {
    let limits = thresholds::intent();
    let line: String =
        sentence.to_lowercase().chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }).collect();
    let matching = intent::matching(&line);
    let mut candidates: Vec<Candidate> = ORDER
        .into_iter()
        .filter_map(|intent| {
            let rules: Vec<_> = matching.iter().filter(|rule| rule.intent == intent).collect();
            // Strictly greater: the first of equal weights names the score.
            let strongest = rules
                .iter()
                .copied()
                .reduce(|best, rule| if rule.weight > best.weight { rule } else { best })?;
            let further = (rules.len() - 1) as f64;
            let score = (strongest.weight + limits.further_rule * further).min(limits.score_max);
            Some(Candidate { intent, score, rule: strongest.id.as_str() })
        })
        .collect();
    // Stable: equal scores keep the order of intents.
    candidates.sort_by(|left, right| right.score.total_cmp(&left.score));
    let Some(best) = candidates.first().cloned() else {
        return Intent {
            intent: FALLBACK,
            confidence: limits.fallback,
            rule: None,
            close: false,
            candidates,
        };
    };
    let close = candidates.get(1).is_some_and(|second| is_close(best.score, second.score, limits.close));
    let penalty = if close { limits.close_penalty } else { 0.0 };
    Intent { intent: best.intent, confidence: best.score - penalty, rule: Some(best.rule), close, candidates }
}

/// Less than `limit` apart, where sums of decimal weights that are exactly `limit` apart do not count as less.
fn is_close(best: f64, second: f64, limit: f64) -> bool {
    const WEIGHT_STEPS: f64 = 1e6;
    ((best - second) * WEIGHT_STEPS).round() < (limit * WEIGHT_STEPS).round()
}
