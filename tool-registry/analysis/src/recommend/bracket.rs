//! Range of the speed-up of one kind of change, from the models of the facts.

use perfxpert_knowledge::impact as facts;

use crate::impact;

/// Low and high end of a speed-up of the changed part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// Low end, at least 1.
    pub lo: f64,
    /// High end, at least `lo`.
    pub hi: f64,
    /// Whether every input of the model was known; else the high end is the model's cap.
    pub known: bool,
}

/// Range of a change type of the impact facts; `None` for another name. `inputs` gives the model's inputs by name. The
/// preconditions of the model are not asked: this also bounds a change that the prediction would decline.
#[must_use]
pub fn bracket(change_type: &str, inputs: &dyn Fn(&str) -> Option<f64>) -> Option<Bracket> {
    let model = facts::find(change_type)?;
    Some(match impact::upper(model, inputs) {
        Some(upper) => {
            let hi = upper.min(model.hi_cap).max(1.0);
            Bracket { lo: 1.0 + (hi - 1.0) / facts::models().lo_divisor, hi, known: true }
        }
        None => Bracket { lo: 1.0, hi: model.hi_cap, known: false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: &str, inputs: &[(&str, f64)]) -> (f64, f64) {
        let look = |name: &str| inputs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let found = bracket(change, &look).expect("a known change");
        (crate::rounding::round(found.lo, 3), crate::rounding::round(found.hi, 3))
    }

    #[test]
    fn ranges_of_the_examples() {
        assert_eq!(of("vgpr_reduction", &[("waves_now", 4.0), ("waves_target", 5.0)]), (1.046, 1.138));
        assert_eq!(of("vgpr_reduction", &[("waves_now", 4.0), ("waves_target", 8.0)]), (1.148, 1.445));
        assert_eq!(of("vgpr_reduction", &[]), (1.0, 1.445));
        assert_eq!(of("lds_tiling", &[("ridge", 1.0), ("arithmetic_intensity", 0.16)]), (2.367, 5.1));
        assert_eq!(of("mfma_enablement", &[("matrix_peak", 163.4), ("vector_peak", 81.7)]), (1.333, 2.0));
        assert_eq!(of("mfma_enablement", &[("matrix_peak", 16.0), ("vector_peak", 1.0)]), (3.5, 8.5));
        assert!(bracket("wave64", &|_| None).is_none());
    }
}
