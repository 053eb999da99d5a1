//! The three spellings of a tool name: dotted, bare and prefixed.

/// In front of every prefixed wire name.
pub const PREFIX: &str = "perfxpert_";
/// What clients such as Claude Code put in front of an advertised name; accepted on calls.
pub const CLIENT_PREFIX: &str = "mcp__perfxpert__";
/// Longest full name that model services accept.
pub const LONGEST: usize = 64;

/// Which spelling a server advertises, chosen once at start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Spelling {
    /// `perfxpert_namespace_function`.
    #[default]
    Prefixed,
    /// `namespace_function`.
    Bare,
}

/// `arch.lookup_peaks` → `arch_lookup_peaks`.
pub fn bare(dotted: &str) -> String {
    dotted.replace('.', "_")
}

/// `arch.lookup_peaks` → `perfxpert_arch_lookup_peaks`.
pub fn prefixed(dotted: &str) -> String {
    format!("{PREFIX}{}", bare(dotted))
}

/// The advertised name. In prefixed mode a name that would pass 64 characters behind [`CLIENT_PREFIX`] stays bare.
pub fn advertised(dotted: &str, spelling: Spelling) -> String {
    let long = prefixed(dotted);
    if spelling == Spelling::Bare || CLIENT_PREFIX.len() + long.len() > LONGEST { bare(dotted) } else { long }
}

/// Reduces any accepted spelling of a call to the bare form; unknown spellings come back unchanged.
pub fn to_bare(called: &str) -> String {
    let name = called.strip_prefix(CLIENT_PREFIX).unwrap_or(called);
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    bare(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_leads_to_the_bare_name() {
        for called in [
            "arch.lookup_peaks",
            "arch_lookup_peaks",
            "perfxpert_arch_lookup_peaks",
            "mcp__perfxpert__perfxpert_arch_lookup_peaks",
            "mcp__perfxpert__arch_lookup_peaks",
        ] {
            assert_eq!(to_bare(called), "arch_lookup_peaks");
        }
    }

    #[test]
    fn two_long_names_stay_bare_in_prefixed_mode() {
        let long = "gpu_runtime_monitor.parse_rocm_smi_json";
        assert_eq!(advertised(long, Spelling::Prefixed), "gpu_runtime_monitor_parse_rocm_smi_json");
        assert_eq!(
            advertised("regression.extract_kernel_runtimes_from_db", Spelling::Prefixed),
            "regression_extract_kernel_runtimes_from_db"
        );
        assert_eq!(
            advertised("gpu_runtime_monitor.parse_amd_smi_json", Spelling::Prefixed),
            "perfxpert_gpu_runtime_monitor_parse_amd_smi_json"
        );
    }
}
