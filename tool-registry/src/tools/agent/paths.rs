//! Paths among an agent's arguments, with the token a model sees instead.

use perfxpert_agent::PathRoot;
use perfxpert_schemas::tools::agent::options::Paths;

use super::wording::root;

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
