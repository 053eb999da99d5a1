//! `memory`: holds cache hit rates against their bounds, and says whether the misses matter.

use perfxpert_knowledge::thresholds;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::memory as wire;

use crate::{Context, Tool, tool};

pub(crate) fn entries() -> Vec<Tool> {
    vec![tool::<wire::ClassifyCachePerformance>(
        "Cache hit rates",
        "Severity of L1 and L2 hit rates, and whether the misses matter given the memory bandwidth used. Use metrics_compute_l2_hit_rate to get a rate.",
        classify_cache_performance,
    )]
}

fn level(rate: f64, good: f64, warn: f64) -> wire::Level {
    let (severity, threshold_used) = if rate >= good {
        (wire::Severity::Good, good)
    } else if rate >= warn {
        (wire::Severity::Warn, warn)
    } else {
        (wire::Severity::Critical, warn)
    };
    wire::Level { severity, hit_rate: rate, threshold_used, thresholds: wire::Bounds { good, warn } }
}

fn classify_cache_performance(
    _: &Context,
    input: wire::ClassifyCachePerformanceInput,
) -> Result<wire::ClassifyCachePerformanceOutput, ErrorObject> {
    let facts = thresholds::cache();
    let l1 = input.l1_hit_rate.map(|rate| level(rate, facts.l1_good, facts.l1_warn));
    let l2 = input.l2_hit_rate.map(|rate| level(rate, facts.l2_good, facts.l2_warn));
    let Some(overall) = [&l1, &l2].into_iter().flatten().map(|level| level.severity).max() else {
        return Err(ErrorObject::invalid(
            "l1_hit_rate",
            "Neither l1_hit_rate nor l2_hit_rate was sent.",
            "Send at least one of them, a fraction such as 0.85.",
        ));
    };
    let (impact, reason) = match input.hbm_bw_utilization {
        None => (wire::Impact::Unknown, "hbm_bw_utilization was not sent".to_owned()),
        Some(used) if used >= facts.impact_likely && overall != wire::Severity::Good => (
            wire::Impact::Likely,
            format!("{:.0} % of the memory bandwidth is in use, so misses cost time", used * 100.0),
        ),
        Some(used) if used < facts.impact_unlikely => (
            wire::Impact::Unlikely,
            "misses of a streaming or idle kernel; bandwidth is not used up".to_owned(),
        ),
        Some(used) => (
            wire::Impact::Unknown,
            format!("{:.0} % of the memory bandwidth in use does not tell", used * 100.0),
        ),
    };
    Ok(wire::ClassifyCachePerformanceOutput {
        overall_severity: overall,
        impact,
        impact_reason: reason,
        l1_reason: l1.is_none().then_some("l1_hit_rate was not sent"),
        l2_reason: l2.is_none().then_some("l2_hit_rate was not sent"),
        l1,
        l2,
    })
}
