//! Scores a bag of metrics against four signatures of three rules each.

use perfxpert_knowledge::thresholds;

use super::{Candidate, DecidedBy, Detail, Evidence, Held, Kind, Verdict};

/// One signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// Arithmetic units are busy.
    Compute,
    /// Copies or memory bandwidth are used up.
    MemoryTransfer,
    /// Too little runs at a time.
    Latency,
    /// Launches cost as much as kernels.
    ApiOverhead,
}

impl Signature {
    /// In file order, which also breaks ties.
    pub const ALL: [Self; 4] = [Self::Compute, Self::MemoryTransfer, Self::Latency, Self::ApiOverhead];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::MemoryTransfer => "memory_transfer",
            Self::Latency => "latency",
            Self::ApiOverhead => "api_overhead",
        }
    }

    /// The type it is reported as.
    pub fn kind(self) -> Kind {
        match self {
            Self::Compute => Kind::Compute,
            Self::MemoryTransfer => Kind::MemoryTransfer,
            Self::Latency | Self::ApiOverhead => Kind::Latency,
        }
    }
}

pub(super) const ABOVE: &str = "arithmetic_intensity_above_ridge";
pub(super) const BELOW: &str = "arithmetic_intensity_below_ridge";
pub(super) const VALU: &str = "valu_util_pct";
pub(super) const MFMA: &str = "mfma_util_pct";
pub(super) const HBM: &str = "hbm_bw_utilization";
pub(super) const OCCUPANCY: &str = "occupancy_pct";
pub(super) const EXPOSED_COPY: &str = "exposed_copy_pct";
const MEMCPY: &str = "memcpy_pct";
const GPU_UTIL: &str = "gpu_util_pct";

impl Evidence {
    /// The metric a rule looks at: its wire name and value. Exposed copies, where known, say more than copies.
    fn of(&self, metric: &'static str) -> (&'static str, Option<f64>) {
        let flag = |this: Option<bool>, other: Option<bool>| {
            // One side known to hold means that the other does not.
            this.or(other.filter(|held| *held).map(|_| false)).map(f64::from)
        };
        let exposed = self.window.map(|window| window.exposed_copy).or(self.exposed_copy);
        let value = match metric {
            VALU => self.valu_util,
            MFMA => self.mfma_util,
            ABOVE => flag(self.above_ridge, self.below_ridge),
            BELOW => flag(self.below_ridge, self.above_ridge),
            MEMCPY if exposed.is_some() => return (EXPOSED_COPY, exposed),
            MEMCPY => self.memcpy,
            HBM => self.hbm_utilization,
            "avg_waves_per_cu" => self.waves_per_cu,
            GPU_UTIL => self.gpu_util,
            OCCUPANCY => self.occupancy,
            "api_overhead_pct" => self.api_overhead,
            "avg_kernel_duration_us" => self.kernel_duration_us,
            "total_kernel_calls" => self.kernel_calls,
            _ => None,
        };
        (metric, value)
    }
}

/// What the signatures say, before anything is decided.
pub(super) struct Scored {
    pub(super) held: Vec<Held>,
    missing: Vec<(Signature, &'static str)>,
}

pub(super) fn score(evidence: &Evidence) -> Scored {
    let (mut held, mut missing) = (Vec::new(), Vec::new());
    for (signature, facts) in Signature::ALL.into_iter().zip(&thresholds::bottleneck::signatures().signatures)
    {
        for rule in &facts.rules {
            let (metric, value) = evidence.of(&rule.metric);
            match value {
                Some(value) => {
                    held.push(Held::new(signature.as_str(), metric, value, rule.op, rule.threshold))
                }
                None => missing.push((signature, metric)),
            }
        }
    }
    Scored { held, missing }
}

const RULES_PER_SIGNATURE: f64 = 3.0;

impl Scored {
    pub(super) fn evaluated(&self, signature: Signature) -> usize {
        self.held.iter().filter(|held| held.of == signature.as_str()).count()
    }

    fn passed(&self, signature: Signature) -> usize {
        self.held.iter().filter(|held| held.of == signature.as_str() && held.passed).count()
    }

    pub(super) fn scores(&self) -> [f64; 4] {
        Signature::ALL.map(|signature| self.passed(signature) as f64 / RULES_PER_SIGNATURE)
    }

    /// Share of all rules that could be evaluated.
    pub(super) fn coverage(&self) -> f64 {
        self.held.len() as f64 / (RULES_PER_SIGNATURE * Signature::ALL.len() as f64)
    }

    /// Confidence of a mixed verdict: never above one half, lower the fewer signatures could be looked at.
    pub(super) fn mixed_confidence(&self) -> f64 {
        let seen = Signature::ALL.iter().filter(|signature| self.evaluated(**signature) > 0).count();
        thresholds::bottleneck::signatures().mixed_factor * seen as f64 / Signature::ALL.len() as f64
    }

    /// Signatures with what they scored, best first; ties in file order.
    fn ranked(&self) -> Vec<(Signature, f64)> {
        let mut ranked: Vec<(Signature, f64)> = Signature::ALL.into_iter().zip(self.scores()).collect();
        ranked.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        ranked
    }

    /// Metrics of `first` that are missing, then those of the others.
    pub(super) fn missing(&self, first: Option<Signature>) -> Vec<&'static str> {
        let (mut front, back): (Vec<_>, Vec<_>) =
            self.missing.iter().partition(|(signature, _)| Some(*signature) == first);
        front.extend(back);
        front.into_iter().map(|(_, metric)| metric).collect()
    }

    fn missing_of(&self, signature: Signature) -> Vec<&'static str> {
        self.missing.iter().filter(|(of, _)| *of == signature).map(|(_, metric)| *metric).collect()
    }

    /// Rules of a signature that were evaluated and do not hold.
    fn failed(&self, signature: Signature) -> Vec<Held> {
        self.held.iter().filter(|held| held.of == signature.as_str() && !held.passed).copied().collect()
    }
}

fn candidate((signature, score): &(Signature, f64)) -> Option<Candidate> {
    (*score > 0.0).then(|| Candidate { label: signature.as_str(), detail: None, score: *score })
}

pub(super) fn classify(evidence: &Evidence) -> Verdict {
    let scored = score(evidence);
    let ranked = scored.ranked();
    let scores = scored.scores();
    let empty = Verdict {
        kind: Kind::DataInsufficient,
        detail: None,
        confidence: 0.0,
        reason: "Score 0.00: none of the recognised metrics was sent, so this is data_insufficient."
            .to_owned(),
        coverage: scored.coverage(),
        match_ratio: None,
        scores,
        decided_by: DecidedBy::Nothing,
        signature: None,
        contradictions: Vec::new(),
        runner_up: None,
        best: None,
        evidence: Vec::new(),
        missing: scored.missing(None),
    };
    // The best signature; among those without a passed rule, the first that could be looked at at all.
    let best = ranked.iter().find(|(signature, _)| scored.evaluated(*signature) > 0);
    let Some(&(winner, score)) = best.filter(|_| !scored.held.is_empty()) else { return empty };
    let runner_up = ranked.iter().filter(|(signature, _)| *signature != winner).find_map(candidate);
    let evaluated = scored.evaluated(winner);
    let decided = Verdict {
        match_ratio: Some(scored.passed(winner) as f64 / evaluated as f64),
        contradictions: scored.failed(winner),
        decided_by: DecidedBy::Signatures,
        runner_up,
        ..empty
    };
    if score < thresholds::bottleneck::signatures().min_score {
        let confidence = scored.mixed_confidence();
        return Verdict {
            kind: Kind::Mixed,
            confidence,
            reason: format!(
                "Score {score:.2} of {}, the best signature, is below {:.2}, so this is mixed.",
                winner.as_str(),
                thresholds::bottleneck::signatures().min_score
            ),
            best: candidate(&(winner, score)),
            missing: scored.missing(Some(winner)),
            evidence: scored.held,
            ..decided
        };
    }
    let detail = detail(winner, &scored.held);
    let passed: Vec<String> = scored
        .held
        .iter()
        .filter(|held| held.of == winner.as_str() && held.passed)
        .map(|held| format!("{} {} {} {}", held.metric, held.value, held.op.as_str(), held.threshold))
        .collect();
    Verdict {
        kind: winner.kind(),
        detail: Some(detail),
        confidence: score,
        reason: format!(
            "Score {score:.2} for {} ({}): {}.",
            winner.kind().as_str(),
            detail.as_str(),
            passed.join(", ")
        ),
        coverage: evaluated as f64 / RULES_PER_SIGNATURE,
        signature: Some(winner),
        missing: scored.missing_of(winner),
        evidence: scored.held,
        ..decided
    }
}

fn detail(winner: Signature, held: &[Held]) -> Detail {
    let passing = |metric: &str| {
        held.iter().find(|rule| rule.metric == metric && rule.passed && rule.of == winner.as_str())
    };
    let ratio = |metric: &str| passing(metric).map_or(0.0, |rule| rule.value / rule.threshold);
    match winner {
        Signature::Compute if passing(MFMA).is_some() => Detail::Mfma,
        Signature::Compute => Detail::Valu,
        Signature::MemoryTransfer if ratio(HBM) > ratio(MEMCPY).max(ratio(EXPOSED_COPY)) => {
            Detail::HbmBandwidth
        }
        Signature::MemoryTransfer => Detail::HostDeviceCopy,
        Signature::Latency if passing(GPU_UTIL).is_some() => Detail::GpuIdle,
        Signature::Latency => Detail::LowOccupancy,
        Signature::ApiOverhead => Detail::LaunchOverhead,
    }
}
