//! Paths among an agent's arguments: each once, bounded, and with the token a model sees instead.


use perfxpert_agent::PathRoot;
use perfxpert_schemas::ErrorObject;
use perfxpert_schemas::tools::agent::options::{MAX_PATH, MAX_PATHS, Paths};

use super::wording::root;

/// Paths of an argument, each once, in the order given.
///
/// # Errors
/// `invalid_argument` for an empty or overlong path and for too many.
pub(super) fn checked<'a>(
    field: &str,
    given: impl Iterator<Item = &'a String>,
) -> Result<Vec<String>, ErrorObject> {
    let mut paths: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for path in given {
        if path.is_empty() || path.chars().count() > MAX_PATH {
            let message = format!("A path of {field} has {} characters.", path.chars().count());
            return Err(ErrorObject::invalid(
                field,
                message,
                format!("Send paths of 1 to {MAX_PATH} characters."),
            ));
        }
        if seen.insert(path.as_str()) {
            paths.push(path.clone());
        }
    }
    if paths.len() > MAX_PATHS {
        let message = format!("{field} names {} paths; {MAX_PATHS} are accepted.", paths.len());
        return Err(ErrorObject::invalid(field, message, "Name the folder that holds them."));
    }
    Ok(paths)
}


/// Tokens for what the caller named.
pub(super) fn roots(
    databases: Option<&Paths>,
    source: Option<&str>,
    att: Option<&str>,
    log: Option<&str>,
) -> Vec<PathRoot> {
    let databases = databases.map_or(&[][..], |paths| &paths.0);
    let mut roots: Vec<PathRoot> = match databases {
        [one] => vec![root("@db", "database", one)],
        several => several
            .iter()
            .enumerate()
            .map(|(at, path)| root(&format!("@db{}", at + 1), &format!("database{}", at + 1), path))
            .collect(),
    };
    let others = [("@src", "source", source), ("@att", "thread_trace", att), ("@log", "monitor_log", log)];
    roots.extend(others.into_iter().filter_map(|(token, key, path)| Some(root(token, key, path?))));
    roots
}
