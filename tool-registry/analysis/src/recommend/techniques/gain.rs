//! What a technique can bring on one target, for the whole run, and what bounds it.

use perfxpert_knowledge::techniques::{Cap as CapFact, Gain as GainFact, Model, Technique};
use perfxpert_knowledge::{techniques, thresholds};

use super::super::bracket::bracket;
use super::Subject;
use super::sentence::pct;

/// Bound on the speed-up of a kernel by what the technique leaves unchanged.
#[derive(Clone, Debug, PartialEq)]
pub enum Cap {
    /// A speed-up; `None` where what is left unchanged takes no time.
    Known {
        /// Largest speed-up.
        limit: Option<f64>,
        /// Why: `HBM 11.0% busy`.
        by: String,
    },
    /// Nothing it depends on was measured.
    Unknown,
    /// The target has none: copies and the run.
    None,
}

impl Cap {
    /// Largest speed-up, when there is one.
    #[must_use]
    pub fn limit(&self) -> Option<f64> {
        match self {
            Self::Known { limit, .. } => *limit,
            Self::Unknown | Self::None => None,
        }
    }
}

/// What a technique can bring. Fractions of the run, unrounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// Share of the run it is about; 1 for the run.
    pub share: Option<f64>,
    /// Speed-up of the kernel, low and high, cut by the cap; kernels only.
    pub local: Option<(f64, f64)>,
    /// What bounds it.
    pub cap: Cap,
    /// Saved at least.
    pub saved_lo: f64,
    /// Saved at most.
    pub saved_hi: f64,
}

impl Gain {
    /// Speed-ups of the run, low and high: 1 / (1 - saved), Amdahl (1967).
    #[must_use]
    pub fn run(&self) -> (f64, f64) {
        (1.0 / (1.0 - self.saved_lo), 1.0 / (1.0 - self.saved_hi))
    }
}

/// The gain, or why there can be none.
pub(super) fn of(technique: &Technique, subject: &Subject, run: &Subject) -> Result<Gain, String> {
    match technique.target {
        techniques::Target::Kernel => kernel(technique, subject),
        techniques::Target::Copy => Ok(whole(subject.values.get("large_copy_share"), technique, subject)),
        techniques::Target::Run => Ok(whole(Some(1.0), technique, run)),
    }
}

fn kernel(technique: &Technique, subject: &Subject) -> Result<Gain, String> {
    let share = subject.values.get("share").unwrap_or(0.0);
    let cap = cap(technique, subject);
    if let Cap::Known { limit: Some(limit), by } = &cap
        && *limit < thresholds::ranking().no_headroom
    {
        return Err(format!("no headroom: {}", already(by)));
    }
    let (lo, hi) = local(technique, subject).unwrap_or((1.0, 1.0));
    let cut = |speed: f64| cap.limit().map_or(speed, |limit| speed.min(limit));
    let (lo, hi) = (cut(lo), cut(hi));
    let saved = |speed: f64| share * (1.0 - 1.0 / speed);
    Ok(Gain { share: Some(share), local: Some((lo, hi)), cap, saved_lo: saved(lo), saved_hi: saved(hi) })
}

/// `HBM 97.0% busy` as `HBM is already 97.0% busy`.
fn already(by: &str) -> String {
    by.split_once(' ').map_or_else(|| by.to_owned(), |(unit, rest)| format!("{unit} is already {rest}"))
}

fn cap(technique: &Technique, subject: &Subject) -> Cap {
    let value =
        |metric: &'static str, unit: &'static str| subject.values.get(metric).map(|busy| (busy, unit));
    let floor = thresholds::ranking().coalescing_floor;
    let (valu, mfma, hbm) =
        (value("valu_util", "VALU"), value("mfma_util", "MFMA"), value("hbm_util", "HBM"));
    let mut busiest: Option<(f64, String)> = None;
    for fact in &technique.caps {
        let found: Vec<(f64, String)> = match fact {
            CapFact::HbmUtil => vec![hbm],
            CapFact::ComputeUtil => vec![valu, mfma],
            CapFact::BusiestUtil => vec![valu, mfma, hbm],
            CapFact::Coalescing => {
                let found = subject.values.get("coalescing");
                busiest =
                    larger(busiest, found.map(|now| (now.max(floor), format!("coalescing {}", pct(now)))));
                continue;
            }
        }
        .into_iter()
        .flatten()
        .map(|(busy, unit)| (busy, format!("{unit} {} busy", pct(busy))))
        .collect();
        for one in found {
            busiest = larger(busiest, Some(one));
        }
    }
    match busiest {
        Some((busy, by)) => {
            Cap::Known { limit: Some(1.0 / busy).filter(|limit| limit.is_finite() && busy > 0.0), by }
        }
        None => Cap::Unknown,
    }
}

fn larger(now: Option<(f64, String)>, other: Option<(f64, String)>) -> Option<(f64, String)> {
    match (now, other) {
        (Some(now), Some(other)) => Some(if other.0 > now.0 { other } else { now }),
        (now, other) => now.or(other),
    }
}

/// Speed-up of the kernel, low and high, before the cap.
fn local(technique: &Technique, subject: &Subject) -> Option<(f64, f64)> {
    let facts = thresholds::models();
    let get = |metric: &str| subject.values.get(metric);
    let spread = |hi: f64| (1.0 + (hi - 1.0) / facts.lo_divisor, hi);
    let model = match technique.model {
        GainFact::Bracket { lo, hi } => return Some((lo, hi)),
        GainFact::Model(model) => model,
    };
    match model {
        Model::Predict => {
            let inputs = |name: &str| match name {
                "waves_now" => get("waves_per_simd"),
                "waves_target" => get("waves_target"),
                // The model divides the ridge by the intensity: only their ratio matters.
                "ridge" | "vector_peak" => Some(1.0),
                "arithmetic_intensity" => get("ai_ratio").filter(|ratio| *ratio > 0.0),
                "matrix_peak" => get("matrix_ratio"),
                "transcendental_share" => get("trans_frac"),
                _ => None,
            };
            let range = bracket(technique.change_type.as_deref()?, &inputs)?;
            Some((range.lo, range.hi))
        }
        Model::Waves => {
            let now = get("waves_per_simd").filter(|now| *now > 0.0);
            let hi = now.zip(get("waves_target")).map_or(facts.waves_cap, |(now, target)| {
                (1.0 + facts.waves_factor * (target / now - 1.0)).clamp(1.0, facts.waves_cap)
            });
            Some(spread(hi))
        }
        Model::Lanes => Some(spread((1.0 / (1.0 - get("idle_lanes")?)).min(facts.lanes_cap))),
        Model::Fill => {
            let fill = get("grid_fill")?;
            Some(spread(if fill > 0.0 { (1.0 / fill).clamp(1.0, facts.fill_cap) } else { facts.fill_cap }))
        }
        Model::Conflict => {
            let lost = get("lds_conflict_frac")?;
            let part = |part: f64| if lost * part < 1.0 { Some(1.0 / (1.0 - lost * part)) } else { None };
            Some((part(facts.conflict_lo_part)?, part(1.0)?))
        }
        _ => None,
    }
}

/// What a copy or run technique saves of the run.
fn whole(share: Option<f64>, technique: &Technique, subject: &Subject) -> Gain {
    let (lo, hi) = saved(technique, subject).unwrap_or((0.0, 0.0));
    // Nothing can save the whole run.
    let part = |saved: f64| saved.clamp(0.0, 1.0 - f64::EPSILON);
    Gain { share, local: None, cap: Cap::None, saved_lo: part(lo), saved_hi: part(hi) }
}

fn saved(technique: &Technique, subject: &Subject) -> Option<(f64, f64)> {
    let facts = thresholds::models();
    let get = |metric: &str| subject.values.get(metric);
    let GainFact::Model(model) = technique.model else { return None };
    let most = |speedup: f64| 1.0 - 1.0 / speedup;
    let parts = |share: f64, lo: f64, hi: f64| (share * lo, share * hi);
    let capped = |(lo, hi): (f64, f64), cap: f64| (lo.min(cap), hi.min(cap));
    match model {
        Model::Predict => {
            let inputs = |name: &str| if name == "hideable_copy" { get("hideable_copy_frac") } else { None };
            let range = bracket(technique.change_type.as_deref()?, &inputs)?;
            Some((most(range.lo), most(range.hi)))
        }
        Model::Pinned => {
            let (share, reached) = (get("large_copy_share")?, get("link_eff"));
            let part = |reach: f64| reached.map_or(0.0, |reached| share * (1.0 - reached / reach).max(0.0));
            Some((part(facts.pinned_lo_reach), part(facts.pinned_hi_reach)))
        }
        Model::Batch => Some(parts(get("small_copy_share")?, facts.batch_lo, facts.batch_hi)),
        Model::Graph => Some(parts(get("launch_gap_frac")?, facts.graph_lo, facts.graph_hi)),
        Model::Fusion => match get("fusion_saving_frac") {
            Some(share) => {
                Some(capped(parts(share, facts.fusion_lo, facts.fusion_hi), most(facts.fusion_max_speedup)))
            }
            None => Some((0.0, facts.fusion_unknown_hi * get("launch_gap_frac")?)),
        },
        Model::Sync => Some(capped(
            parts(get("sync_gap_frac")?, facts.sync_lo, facts.sync_hi),
            most(facts.sync_max_speedup),
        )),
        Model::Host => Some(parts(get("host_gap_frac")?, facts.host_lo, facts.host_hi)),
        Model::Concurrency => {
            let kernel = get("kernel_frac")?;
            let fill = get("mean_grid_fill").unwrap_or(0.0).max(facts.concurrency_fill_floor);
            Some(capped(
                (facts.concurrency_lo * kernel, kernel * (1.0 - fill)),
                most(facts.concurrency_max_speedup),
            ))
        }
        Model::Comm => Some(parts(get("exposed_comm_frac")?, facts.comm_lo, facts.comm_hi)),
        _ => None,
    }
}
