//! Which loop hints the evidence for one kernel supports, and which of them give way to others.

use perfxpert_knowledge::thresholds;

/// Unrolls a short loop of known trip count completely.
pub const FULL: &str = "clang_loop_unroll_full";
/// Unrolls a loop by a factor.
pub const COUNT: &str = "clang_loop_unroll_count";
/// Keeps a loop rolled to save registers.
pub const DISABLE: &str = "clang_loop_unroll_disable";

/// Evidence for one loop of one kernel; `None` = not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signals {
    /// Iterations of the loop, when they are a literal.
    pub trip_count: Option<u64>,
    /// Instructions of its body.
    pub body_size: Option<u64>,
    /// Vector-unit utilisation of the kernel, fraction.
    pub valu: Option<f64>,
    /// Registers per work-item.
    pub vgprs: Option<u64>,
    /// Registers one work-item can use.
    pub max_vgprs: u64,
    /// Scratch per work-item, bytes.
    pub scratch: u64,
    /// Waves per SIMD.
    pub waves: u64,
}

/// The hints that fire for a kernel with `hotspot` percent of the time, each with its evidence in words.
#[must_use]
pub fn fired(signals: &Signals, hotspot: f64) -> Vec<(&'static str, String)> {
    let limits = thresholds::pragma();
    let mut fired = Vec::new();
    if let Some(trip) = signals.trip_count
        && trip <= limits.full_max_trip
        && hotspot >= limits.full_min_hotspot_pct
    {
        fired.push((
            FULL,
            format!(
                "loop_trip_count {trip} <= {}, hotspot_pct {hotspot} >= {}",
                limits.full_max_trip, limits.full_min_hotspot_pct
            ),
        ));
    }
    if let (Some(valu), Some(vgprs), Some(body)) = (signals.valu, signals.vgprs, signals.body_size)
        && valu > limits.count_min_valu
        && vgprs < limits.count_max_vgpr
        && body < limits.count_max_body
    {
        fired.push((
            COUNT,
            format!(
                "valu_util_pct {valu} > {}, vgpr_per_thread {vgprs} < {}, loop_body_size {body} < {}",
                limits.count_min_valu, limits.count_max_vgpr, limits.count_max_body
            ),
        ));
    }
    if let Some(vgprs) = signals.vgprs {
        #[expect(clippy::cast_precision_loss, reason = "register counts")]
        let (bound, used) = (limits.disable_vgpr_share * signals.max_vgprs as f64, vgprs as f64);
        let spills = signals.scratch > 0;
        if used >= bound && (spills || signals.waves <= limits.disable_max_waves) {
            let also = if spills {
                format!("scratch_size {} > 0", signals.scratch)
            } else {
                format!("waves_per_eu {} <= {}", signals.waves, limits.disable_max_waves)
            };
            fired.push((DISABLE, format!("vgpr_per_thread {vgprs} >= {bound:.1}, {also}")));
        }
    }
    fired
}

/// Why a hint gives way to another one that fired with it.
#[must_use]
pub fn suppressed(hint: &str, fired: &[(&'static str, String)]) -> Option<&'static str> {
    let has = |id: &str| fired.iter().any(|(fired, _)| *fired == id);
    match hint {
        FULL | COUNT if has(DISABLE) => Some("registers are exhausted"),
        COUNT if has(FULL) => Some("the loop is unrolled fully"),
        _ => None,
    }
}

/// Whether a source file is made by a compiler or framework: a hint in it would be lost at the next run.
#[must_use]
pub fn is_generated(path: &str) -> bool {
    path.contains(".triton/") || path.ends_with(".py")
}
