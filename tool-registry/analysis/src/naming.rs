//! Names of kernels as people and anchors use them.

use perfxpert_source::qualified_name;
use sha2::{Digest, Sha256};

/// Longest slug, in characters.
const SLUG: usize = 80;

/// A kernel's name without return type and parameter list; template arguments and namespaces stay.
///
/// `void ns::gemm<float, 4>(float const*, int)` is `ns::gemm<float, 4>`.
#[must_use]
pub fn short_name(name: &str) -> String {
    let name = name.trim();
    let end = parameters(name).unwrap_or(name.len());
    let head = name.get(..end).unwrap_or(name).trim_end();
    let begin = return_type(head);
    let short = head.get(begin..).unwrap_or(head).trim();
    if short.is_empty() { name.to_owned() } else { short.to_owned() }
}

/// Where the parameter list begins: the first parenthesis outside template arguments that belongs to no name.
fn parameters(name: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut inner = 0_usize;
    let mut skip = 0_usize;
    for (at, letter) in name.char_indices() {
        if at < skip {
            continue;
        }
        let rest = name.get(at..).unwrap_or_default();
        if depth == 0 {
            if let Some(after) = part_of_name(rest) {
                skip = at + after;
                continue;
            }
            match letter {
                '(' if at > 0 => return Some(at),
                '<' => depth = 1,
                _ => {}
            }
        } else {
            // Angle brackets inside parentheses or braces of template arguments are operators.
            match letter {
                '(' | '{' | '[' => inner += 1,
                ')' | '}' | ']' => inner = inner.saturating_sub(1),
                '<' if inner == 0 => depth += 1,
                '>' if inner == 0 => depth -= 1,
                _ => {}
            }
        }
    }
    None
}

/// Bytes of what looks like a list or a bracket but is part of a name.
fn part_of_name(rest: &str) -> Option<usize> {
    const WHOLE: [&str; 3] = ["(anonymous namespace)", "(anonymous)", "operator()"];
    if let Some(whole) = WHOLE.iter().find(|whole| rest.starts_with(**whole)) {
        return Some(whole.len());
    }
    let symbol = rest.strip_prefix("operator")?;
    let length = symbol.find(|letter: char| !"+-*/%^&|~!=<>,[]".contains(letter)).unwrap_or(symbol.len());
    (length > 0).then_some("operator".len() + length)
}

/// Where the name begins: behind the last blank outside brackets, unless an operator's name holds it.
fn return_type(head: &str) -> usize {
    let mut depth = 0_i64;
    let mut begin = 0;
    let mut skip = 0;
    for (at, letter) in head.char_indices() {
        if at < skip {
            continue;
        }
        let rest = head.get(at..).unwrap_or_default();
        if depth == 0 && rest.starts_with("operator ") {
            return begin;
        }
        if depth == 0
            && let Some(after) = part_of_name(rest)
        {
            skip = at + after;
            continue;
        }
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ' ' if depth <= 0 => begin = at + 1,
            _ => {}
        }
    }
    begin
}

/// A kernel's name as used in anchors: the last component of its qualified name, with `_` for everything that is no
/// letter, digit or underscore, at most 80 characters; never empty.
#[must_use]
pub fn slug(name: &str) -> String {
    let qualified = qualified_name(name);
    let base = qualified.rsplit_once("::").map_or(qualified.as_str(), |(_, base)| base);
    let mut slug = String::with_capacity(base.len());
    for letter in base.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            slug.push(letter);
        } else if !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let slug: String = slug.trim_matches('_').chars().take(SLUG).collect();
    let slug = slug.trim_end_matches('_');
    if slug.is_empty() { format!("k_{}", hash8(name)) } else { slug.to_owned() }
}

/// First 8 hex digits of the SHA-256 of a text.
#[must_use]
pub fn hash8(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_of_the_examples() {
        for (name, wanted) in [
            ("void ns::gemm<float, 4>(float const*, int)", "gemm"),
            ("(anonymous namespace)::k(int)", "k"),
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::F>(int, at::native::F)",
                "vectorized_elementwise_kernel",
            ),
            ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_SE.kd", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_SE"),
            ("__amd_rocclr_copyBuffer", "amd_rocclr_copyBuffer"),
            ("ひら", "k_0f2bb0bb"),
            ("rec-rocpd-memcpy-001", "rec_rocpd_memcpy_001"),
        ] {
            assert_eq!(slug(name), wanted, "{name}");
        }
    }

    #[test]
    fn short_names_lose_return_type_and_parameters_only() {
        for (name, wanted) in [
            ("void gemm<float, 16>(float const*, float const*, float*, int)", "gemm<float, 16>"),
            ("relu(float*, int)", "relu"),
            ("void ns::gemm<float, 4>(float const*, int)", "ns::gemm<float, 4>"),
            ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
            ("void (anonymous namespace)::k<(E)1>(int)", "(anonymous namespace)::k<(E)1>"),
            ("void f<g(int), (3 > 2)>(int)", "f<g(int), (3 > 2)>"),
            ("bool ns::X::operator()(int) const", "ns::X::operator()"),
            ("int ns::operator<(X, X)", "ns::operator<"),
            ("Cijk_Ailk", "Cijk_Ailk"),
            ("()", "()"),
            ("", ""),
            ("a<b>|c", "a<b>|c"),
        ] {
            assert_eq!(short_name(name), wanted, "{name}");
        }
    }
}
