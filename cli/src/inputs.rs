//! Paths given as inputs: patterns a shell left alone, and the checks that need no analysis.

use std::fs;
use std::path::{Path, PathBuf};

use perfxpert_schemas::ErrorKind;

use crate::failure::Failure;

/// Expands patterns and checks that every path is there. Folders stay folders; the server reads what is in them.
///
/// # Errors
/// `usage` for `-`, `file_not_found` for what is missing or matches nothing.
pub fn databases(paths: &[String], field: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path == "-" {
            return Err(Failure::usage(
                field,
                format!("{field}: a database cannot be read from stdin."),
                "Give the path of a .db file.",
            ));
        }
        if !Path::new(path).exists() && path.contains(['*', '?', '[']) {
            let matches = expand(path);
            if matches.is_empty() {
                return Err(missing(path, "Nothing matches this pattern."));
            }
            found.extend(matches);
        } else {
            found.push(existing(path)?);
        }
    }
    Ok(found)
}

/// A path that must be there.
///
/// # Errors
/// `file_not_found`.
pub fn existing(path: &str) -> Result<String, Failure> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.is_file() || metadata.is_dir()) {
        return Ok(path.to_owned());
    }
    Err(missing(path, "Check the path; rocprofv3 writes <dir>/<host>/<pid>_results.db."))
}

/// A folder that must be there.
///
/// # Errors
/// `file_not_found`, or `usage` when it is something else.
pub fn folder(path: &str, field: &str) -> Result<String, Failure> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(path.to_owned()),
        Ok(_) => Err(Failure::usage(field, format!("{field}: {path} is not a folder."), "Give a folder.")),
        Err(_) => Err(missing(path, "Check the path; a folder is needed here.")),
    }
}

/// A file that must be there.
///
/// # Errors
/// `file_not_found`, or `usage` when it is something else.
pub fn file(path: &str, field: &str) -> Result<String, Failure> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(path.to_owned()),
        Ok(_) => Err(Failure::usage(field, format!("{field}: {path} is not a file."), "Give a file.")),
        Err(_) => Err(missing(path, "Check the path; a file is needed here.")),
    }
}

fn missing(path: &str, hint: &str) -> Failure {
    Failure::new(ErrorKind::FileNotFound, format!("{path} does not exist."), hint)
        .map(|error| error.path(path))
}

/// Every file that a report must not replace: the inputs, and the databases in an input folder.
pub fn protected(paths: &[String]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        let path = Path::new(path);
        files.push(path.to_path_buf());
        if path.is_dir() {
            files.extend(entries(path));
            entries(path)
                .iter()
                .filter(|entry| entry.is_dir())
                .for_each(|entry| files.extend(entries(entry)));
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The paths a pattern matches, one folder level per component, bytewise sorted.
fn expand(pattern: &str) -> Vec<String> {
    let (root, parts) = match pattern.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", pattern),
    };
    let mut paths = vec![root.to_owned()];
    for part in parts.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for path in &paths {
            if part.contains(['*', '?', '[']) {
                let listed = entries(Path::new(if path.is_empty() { "." } else { path }));
                let names = listed.iter().filter_map(|entry| entry.file_name()?.to_str());
                let part: Vec<char> = part.chars().collect();
                next.extend(names.filter(|name| matches(&part, name)).map(|name| join(path, name)));
            } else if Path::new(&join(path, part)).exists() {
                next.push(join(path, part));
            }
        }
        paths = next;
    }
    paths.sort();
    paths
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() || path.ends_with('/') { format!("{path}{name}") } else { format!("{path}/{name}") }
}

/// Shell matching of one name: `*`, `?`, `[a-z]`, `[!a]`; a leading dot is matched by a dot only. Linear in practice:
/// only the last star is ever retried.
fn matches(pattern: &[char], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    if name.first() == Some(&'.') && pattern.first() != Some(&'.') {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while let Some(c) = name.get(n) {
        let step = match pattern.get(p) {
            Some('*') => {
                retry = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => class(pattern, p, *c),
            Some(literal) if literal == c => Some(p + 1),
            _ => None,
        };
        match (step, retry) {
            (Some(next), _) => {
                p = next;
                n += 1;
            }
            (None, Some((after, at))) => {
                p = after;
                n = at + 1;
                retry = Some((after, at + 1));
            }
            (None, None) => return false,
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

/// The place after a bracket expression when it holds `c`; a bracket without its end is a literal.
fn class(pattern: &[char], open: usize, c: char) -> Option<usize> {
    let inner = pattern.get(open + 1..)?;
    let negated = matches!(inner.first(), Some('!' | '^'));
    let start = usize::from(negated);
    let Some(length) = inner.iter().skip(start + 1).position(|c| *c == ']').map(|place| place + 1) else {
        return (c == '[').then_some(open + 1);
    };
    let members = inner.get(start..start + length)?;
    let mut found = false;
    let mut place = 0;
    while let Some(low) = members.get(place) {
        match (members.get(place + 1), members.get(place + 2)) {
            (Some('-'), Some(high)) => {
                found |= (*low..=*high).contains(&c);
                place += 3;
            }
            _ => {
                found |= *low == c;
                place += 1;
            }
        }
    }
    (found != negated).then_some(open + 1 + start + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &str, name: &str) -> bool {
        matches(&pattern.chars().collect::<Vec<_>>(), name)
    }

    #[test]
    fn names_match_like_in_a_shell() {
        for (pattern, name, expected) in [
            ("*.db", "a.db", true),
            ("*.db", ".a.db", false),
            (".*", ".a", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[0-9]*_results.db", "7_results.db", true),
            ("[!0-9]*", "7", false),
            ("[ab", "[ab", true),
            ("*a*b*c*", "xxaxxbxxc", true),
            ("*a*b*c*", "xxaxxcxxb", false),
            ("[]]", "]", true),
        ] {
            assert_eq!(matched(pattern, name), expected, "{pattern} {name}");
        }
        assert!(!matched(&"*a".repeat(40), &"a".repeat(39)));
    }

    #[test]
    fn patterns_expand_one_level_per_star_in_byte_order() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        for file in ["h1/2_results.db", "h1/10_results.db", "h0/1_results.db", "top.db"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = databases(&[format!("{root}/*/*.db")], "-i").unwrap();
        let expected =
            ["h0/1_results.db", "h1/10_results.db", "h1/2_results.db"].map(|name| format!("{root}/{name}"));
        assert_eq!(found, expected);
        let failure = databases(&[format!("{root}/*.rpd")], "-i").unwrap_err();
        assert_eq!(failure.error.hint, "Nothing matches this pattern.");
        assert_eq!(databases(&["-".to_owned()], "-i").unwrap_err().error.kind, ErrorKind::Usage);
        assert_eq!(protected(&[root.to_owned()]).len(), 1 + 3 + 3);
    }
}
