//! The identifier of a kernel inside its full, demangled or mangled, name.

/// The function's own identifier: no return type, namespaces, template arguments or parameters.
///
/// `void at::native::reduce_kernel<512, 1>(int)` gives `reduce_kernel`; a mangled `_ZN2at6native3fooEi` gives
/// `foo`; a lambda's call operator gives the function around it. One pass, no allocation; the whole name when
/// nothing better is found.
pub fn base_identifier(name: &str) -> &str {
    let name = name.trim();
    mangled(name).or_else(|| demangled(name).map(|(_, base)| base)).unwrap_or(name)
}

/// The namespaces in front of the base identifier of a demangled name, `at::native::`; template arguments and
/// parameters do not count. Empty for mangled and for unqualified names.
pub(super) fn namespaces(name: &str) -> &str {
    demangled(name.trim()).map_or("", |(outer, _)| outer)
}

// What stands between the last blank and the base identifier, and the base identifier.
fn demangled(name: &str) -> Option<(&str, &str)> {
    let mut depth = 0_u32;
    let mut start = None;
    let mut token = 0;
    let mut last = None;
    // A closing blank ends the last word like any other byte that is no part of an identifier.
    for (at, byte) in name.bytes().chain(std::iter::once(b' ')).enumerate() {
        let inside = depth > 0;
        match byte {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !inside && is_identifier(byte) {
            start = start.or(Some(at));
        } else if let Some((outer, word)) =
            start.take().and_then(|from: usize| Some((name.get(token..from)?, name.get(from..at)?)))
            && !matches!(word, "const" | "volatile" | "noexcept" | "operator")
        {
            last = Some((outer, word));
        }
        if !inside && byte == b' ' {
            token = at + 1;
        }
    }
    last
}

// Names outside ASCII are identifiers too.
fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.') || !byte.is_ascii()
}

// The last source name of an Itanium-mangled symbol, before its template arguments: `_ZN2ns3fooI...`.
fn mangled(name: &str) -> Option<&str> {
    let mut rest = name.strip_prefix("_Z")?;
    rest = rest.strip_prefix('L').unwrap_or(rest);
    let nested = rest.strip_prefix('N');
    rest = nested.unwrap_or(rest);
    let mut last = None;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (length, after) = rest.split_at_checked(digits)?;
        let Ok(length) = length.parse::<usize>() else {
            // Substitutions and qualifiers may stand between the parts of a nested name.
            let skipped = ["St", "S_", "K", "V", "L"].iter().find_map(|skip| rest.strip_prefix(skip));
            match (nested, skipped) {
                (Some(_), Some(next)) => rest = next,
                _ => return last,
            }
            continue;
        };
        let (word, after) = after.split_at_checked(length)?;
        last = Some(word);
        rest = after;
        if nested.is_none() {
            return last;
        }
    }
}
