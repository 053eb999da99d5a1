//! Kernel and call names: cleaning, bounded demangling, families and architecture ids.

use std::borrow::Cow;

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, ParseOptions, Symbol};
use sha2::{Digest, Sha256};

use crate::model::Family;

/// Longer mangled names are left as they are.
const MAX_MANGLED: usize = 16 << 10;
/// A demangled form that grows past this is given up: substitutions can blow up exponentially.
const MAX_DEMANGLED: usize = 64 << 10;
const MAX_RECURSION: u32 = 64;

/// Collects demangled text up to a limit.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn push_demangle_node(&mut self, _: DemangleNodeType) {}

    fn write_string(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MAX_DEMANGLED {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }

    fn pop_demangle_node(&mut self) {}
}

fn demangle(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > MAX_MANGLED {
        return None;
    }
    let parse = ParseOptions::default().recursion_limit(MAX_RECURSION);
    let symbol = Symbol::new_with_options(name, &parse).ok()?;
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &DemangleOptions::new().recursion_limit(MAX_RECURSION)).ok()?;
    Some(text.0)
}

/// Strips one compiler suffix.
fn strip_one(name: &str) -> Option<&str> {
    if let Some(rest) = name.strip_suffix(".kd") {
        return Some(rest);
    }
    if name.ends_with(']') {
        return name.rfind(" [clone ").and_then(|at| name.get(..at));
    }
    // Demanglers write unknown suffixes as " (.llvm.42)".
    if name.ends_with(')') {
        let at = name.rfind(" (.")?;
        let inner = name.get(at + 2..name.len() - 1)?;
        let known = inner == ".kd" || inner.starts_with(".llvm.") || inner.starts_with(".__uniq.");
        return if known { name.get(..at) } else { None };
    }
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return None;
    }
    let stem = name.get(..name.len() - digits)?;
    stem.strip_suffix(".llvm.").or_else(|| stem.strip_suffix(".__uniq."))
}

/// The name for grouping: without `.kd`, ` [clone ...]`, `.llvm.<n>`, `.__uniq.<n>`.
fn strip(name: &str) -> &str {
    let mut name = name.trim();
    while let Some(rest) = strip_one(name) {
        let rest = rest.trim_end();
        if rest.is_empty() {
            break;
        }
        name = rest;
    }
    name
}

/// Cleans and, where it is still mangled, demangles a kernel's display name.
pub(crate) fn clean(name: &str) -> Cow<'_, str> {
    let stripped = strip(name);
    match demangle(stripped) {
        Some(text) => Cow::Owned(strip(&text).to_owned()),
        None => Cow::Borrowed(stripped),
    }
}

/// First 8 hex digits of the SHA-256 of a name.
pub(crate) fn id8(name: &str) -> String {
    Sha256::digest(name.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The family of a call, by its category or, without one, by its name.
pub(crate) fn family(category: Option<&str>, name: &str) -> Family {
    let category = category.unwrap_or_default().to_ascii_uppercase();
    let has = |word: &str| category.contains(word);
    if has("MARKER") || has("ROCTX") {
        Family::Marker
    } else if has("HIP_COMPILER") {
        Family::HipCompiler
    } else if has("RCCL") {
        Family::Rccl
    } else if has("HIP") {
        Family::HipRuntime
    } else if has("HSA") {
        Family::Hsa
    } else if category.starts_with("KFD") {
        Family::Kfd
    } else if !category.is_empty() {
        Family::Other
    } else {
        by_name(name)
    }
}

fn by_name(name: &str) -> Family {
    let lower: String = name.chars().take(16).collect::<String>().to_ascii_lowercase();
    if lower.starts_with("__hip") {
        Family::HipCompiler
    } else if lower.starts_with("hip") {
        Family::HipRuntime
    } else if lower.starts_with("hsa_") {
        Family::Hsa
    } else if lower.starts_with("nccl") || lower.starts_with("rccl") || lower.starts_with("msccl") {
        Family::Rccl
    } else if lower.starts_with("roctx") {
        Family::Marker
    } else {
        Family::Other
    }
}

/// The bare architecture id in a name like `amdgcn-amd-amdhsa--GFX90A:sramecc+:xnack-`.
pub(crate) fn gfx_id(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let rest = lower.get(lower.find("gfx")?..)?;
    let id: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    (id.len() > 3).then_some(id)
}

/// The architecture id of a `gfx_target_version` (major * 10000 + minor * 100 + step).
pub(crate) fn gfx_of_version(version: u32) -> Option<String> {
    (version > 0).then(|| format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_suffixes_do_not_split_a_kernel() {
        for name in
            ["foo.kd", "foo [clone .kd]", "foo.llvm.42", "foo.__uniq.9", "foo.__uniq.9.llvm.42", " foo.kd "]
        {
            assert_eq!(clean(name), "foo", "{name}");
        }
        assert_eq!(clean("foo<int>(float*) [clone .kd]"), "foo<int>(float*)");
        assert_eq!(clean("_Z3fooPf.kd"), "foo(float*)");
        assert_eq!(clean("_Z3fooPf.llvm.42"), "foo(float*)");
    }

    #[test]
    fn names_that_only_look_like_suffixes_stay() {
        for name in ["gemm_16", "foo.llvm.", "a (b)", "Cijk_MT256x256x64", ".kd", "x[3]"] {
            assert_eq!(clean(name), name);
        }
    }

    #[test]
    fn hostile_mangled_names_end_quickly_and_fall_back() {
        let nested = format!("_Z1f{}", "P".repeat(8000) + "i");
        assert_eq!(clean(&nested), nested.as_str());
        let million = format!("_Z{}", "1a".repeat(500_000));
        assert_eq!(clean(&million).len(), million.len());
        let mut growing = String::from("_Z1fI");
        for _ in 0..300 {
            growing.push_str("N1aIS_S_S_EE");
        }
        assert!(!clean(&growing).is_empty());
    }

    #[test]
    fn families_follow_the_category_of_any_writer() {
        assert_eq!(family(Some("HIP_RUNTIME_API_EXT"), "hipMalloc"), Family::HipRuntime);
        assert_eq!(family(Some("hip_compiler_api"), ""), Family::HipCompiler);
        assert_eq!(family(Some("HSA_CORE_API"), ""), Family::Hsa);
        assert_eq!(family(Some("RCCL_API"), ""), Family::Rccl);
        assert_eq!(family(Some("MARKER_CORE_RANGE_API"), ""), Family::Marker);
        assert_eq!(family(Some("KFD_PAGE_FAULT"), ""), Family::Kfd);
        assert_eq!(family(Some("OMPT"), "omp_target"), Family::Other);
        assert_eq!(family(None, "hsa_signal_wait_scacquire"), Family::Hsa);
    }

    #[test]
    fn architecture_ids_are_found_in_any_spelling() {
        for name in
            ["gfx942", "gfx942:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx942:sramecc+", "GFX942", " gfx942 "]
        {
            assert_eq!(gfx_id(name).as_deref(), Some("gfx942"));
        }
        assert_eq!(gfx_id("gfx9-4-generic").as_deref(), Some("gfx9-4-generic"));
        assert_eq!(gfx_id("AMD EPYC"), None);
        assert_eq!(gfx_of_version(90_402).as_deref(), Some("gfx942"));
        assert_eq!(gfx_of_version(90_010).as_deref(), Some("gfx90a"));
        assert_eq!(gfx_of_version(120_001).as_deref(), Some("gfx1201"));
    }

    #[test]
    fn short_ids_are_sha_256() {
        assert_eq!(id8("abc"), "ba7816bf");
    }
}
