//! Paths as tokens: known roots by name, every other one by number, and the way back for tool calls.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

/// A path the caller named and the token it travels as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRoot {
    /// `@db`, `@db2`, `@baseline`, `@new`, `@src`, `@att` or `@log`.
    pub token: String,
    /// The key of the evidence pack that shows the token, such as `database`.
    pub pack_key: String,
    /// As the caller wrote it; tool calls and sentences get this back.
    pub as_given: String,
    /// The same as an absolute path, when it differs.
    pub absolute: Option<String>,
}

/// A token or path that stands for nothing the caller named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownPath;

/// Anything that looks like a path or an address, the latter only to leave it alone.
const PATHS: &str = r#"(?x)
    (?P<web>https?://[^\s"'<>`]+)
  | (?P<path>
      file://[^\s"'<>`|]+
    | \\\\[A-Za-z0-9._$-]+(?:\\[A-Za-z0-9._$\x20-]*[A-Za-z0-9._$-])+
    | [A-Za-z]:[\\/](?:[^\s"'<>`|:*?]+)
    | ~[A-Za-z0-9_.-]*(?:/[^\s"'<>`|:;,()\[\]{}*?\#]*)?
    | (?:\.\./)+[^\s"'<>`|:;,()\[\]{}*?\#]*
    | /[A-Za-z0-9_.@%+~=-]+(?:/[A-Za-z0-9_.@%+~=-]+)+/?
    )"#;
const TOKENS: &str = r"@(?:db[0-9]*|baseline|new|src|att|log)\b(?:/[A-Za-z0-9_.+~=@%/-]*)?|\[PATH-[0-9]+\]";

/// The tokens of one run.
pub(crate) struct PathMap {
    roots: Vec<PathRoot>,
    /// Spellings of the roots with their tokens, longest first.
    spellings: Vec<(String, String)>,
    home: Option<String>,
    numbered: HashMap<String, usize>,
    originals: Vec<String>,
    paths: Option<Regex>,
    tokens: Option<Regex>,
}

impl PathMap {
    pub(crate) fn new(roots: &[PathRoot], home: Option<&str>) -> Self {
        let mut spellings: Vec<(String, String)> = roots
            .iter()
            .flat_map(|root| {
                [Some(&root.as_given), root.absolute.as_ref()].into_iter().flatten().map(move |p| (p, root))
            })
            .map(|(path, root)| (path.trim_end_matches(['/', '\\']).to_owned(), root.token.clone()))
            .filter(|(path, _)| is_distinct(path))
            .collect();
        spellings.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        spellings.dedup();
        Self {
            roots: roots.to_vec(),
            spellings,
            home: home.map(|home| home.trim_end_matches('/').to_owned()).filter(|home| home.len() > 1),
            numbered: HashMap::new(),
            originals: Vec::new(),
            paths: Regex::new(PATHS).ok(),
            tokens: Regex::new(TOKENS).ok(),
        }
    }

    pub(crate) fn root_tokens(&self) -> Vec<String> {
        self.roots.iter().map(|root| root.token.clone()).collect()
    }

    /// The text with tokens for paths.
    pub(crate) fn tokens(&mut self, text: &str) -> String {
        let text = self.root_tokens_in(text);
        let Some(rule) = self.paths.clone() else { return text };
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for found in rule.captures_iter(&text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(text.get(end..whole.start()).unwrap_or_default());
            end = whole.end();
            let before = text.get(..whole.start()).and_then(|text| text.chars().next_back());
            match found.name("path") {
                Some(path) if starts_a_path(path.as_str(), before) => {
                    // A full stop behind a path ends the sentence.
                    let trimmed = path.as_str().trim_end_matches(['.', ',']);
                    out.push_str(&self.number(trimmed));
                    out.push_str(path.as_str().get(trimmed.len()..).unwrap_or_default());
                }
                Some(path) => out.push_str(path.as_str()),
                None => out.push_str(&plain_address(whole.as_str())),
            }
        }
        out.push_str(text.get(end..).unwrap_or_default());
        match &self.home {
            Some(home) if out.contains(home.as_str()) => {
                let home = home.clone();
                let token = self.number(&home);
                out.replace(&home, &token)
            }
            _ => out,
        }
    }

    /// Known roots first, at places where a path begins and ends.
    fn root_tokens_in(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, token) in &self.spellings {
            if !text.contains(path.as_str()) {
                continue;
            }
            let mut out = String::with_capacity(text.len());
            let mut rest = text.as_str();
            while let Some(at) = rest.find(path.as_str()) {
                let (before, from) = rest.split_at(at);
                let after = from.get(path.len()..).unwrap_or_default();
                let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '~');
                let previous = before.chars().next_back().or_else(|| out.chars().next_back());
                let starts = previous.is_none_or(|c| !joins(c) && c != '/');
                let mut next = after.chars();
                let ends = match next.next() {
                    None => true,
                    Some('.') => next.next().is_none_or(|c| !c.is_alphanumeric()),
                    Some(c) => !joins(c),
                };
                out.push_str(before);
                out.push_str(if starts && ends { token } else { path });
                rest = after;
            }
            out.push_str(rest);
            text = out;
        }
        text
    }

    fn number(&mut self, path: &str) -> String {
        let next = self.originals.len() + 1;
        let number = *self.numbered.entry(path.to_owned()).or_insert(next);
        if number == next {
            self.originals.push(path.to_owned());
        }
        format!("[PATH-{number}]")
    }

    /// The real path of a token, for a tool: a root, or a place below the source root.
    fn resolve(&self, token: &str) -> Result<String, UnknownPath> {
        let (name, below) = match token.split_once('/') {
            Some((name, below)) => (name, Some(below)),
            None => (token, None),
        };
        let root = self.roots.iter().find(|root| root.token == name).ok_or(UnknownPath)?;
        match below {
            None => Ok(root.as_given.clone()),
            Some(below) if name == "@src" && is_inside(below) => {
                Ok(format!("{}/{below}", root.as_given.trim_end_matches('/')))
            }
            Some(_) => Err(UnknownPath),
        }
    }

    /// Replaces tokens in the arguments of a tool call; any other path is refused.
    pub(crate) fn restore_arguments(&self, arguments: &mut Value) -> Result<(), UnknownPath> {
        self.restore_field(arguments, false)
    }

    fn restore_field(&self, value: &mut Value, names_a_path: bool) -> Result<(), UnknownPath> {
        match value {
            Value::String(text) if text.starts_with('@') => *text = self.resolve(text)?,
            Value::String(text) => {
                // A list of paths may come as a JSON text.
                if names_a_path && let Ok(Value::Array(mut items)) = serde_json::from_str::<Value>(text) {
                    for item in &mut items {
                        self.restore_field(item, true)?;
                    }
                    *text = Value::Array(items).to_string();
                } else if names_a_path && !text.is_empty() || self.looks_like_a_path(text) {
                    return Err(UnknownPath);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.restore_field(item, names_a_path)?;
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    self.restore_field(item, is_path_field(key))?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }

    fn looks_like_a_path(&self, text: &str) -> bool {
        let text = text.trim();
        if text.contains("..") && text.contains(['/', '\\'])
            || text.contains("[PATH-")
            || text.contains("@src")
        {
            return true;
        }
        let Some(rule) = &self.paths else { return text.contains('/') };
        rule.captures_iter(text).any(|found| {
            found.name("path").is_some_and(|path| {
                let before = text.get(..path.start()).and_then(|text| text.chars().next_back());
                starts_a_path(path.as_str(), before)
            })
        })
    }

    /// Puts what the caller wrote back into a sentence: a source place as the report shows it, relative to its root.
    pub(crate) fn restore_text(&self, text: &str) -> Result<String, UnknownPath> {
        let Some(rule) = &self.tokens else { return Ok(text.to_owned()) };
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for found in rule.find_iter(text) {
            // `reduction@log` is the key of an entry, not a token.
            let before = text.get(..found.start()).and_then(|text| text.chars().next_back());
            if found.as_str().starts_with('@') && before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            out.push_str(text.get(end..found.start()).unwrap_or_default());
            end = found.end();
            let token = found.as_str().trim_end_matches(['.', '/']);
            let rest = found.as_str().get(token.len()..).unwrap_or_default();
            out.push_str(&self.original(token)?);
            out.push_str(rest);
        }
        out.push_str(text.get(end..).unwrap_or_default());
        Ok(out)
    }

    fn original(&self, token: &str) -> Result<String, UnknownPath> {
        if let Some(number) = token.strip_prefix("[PATH-").and_then(|rest| rest.strip_suffix(']')) {
            let place = number.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).ok_or(UnknownPath)?;
            return self.originals.get(place).cloned().ok_or(UnknownPath);
        }
        match token.strip_prefix("@src/") {
            Some(below) if is_inside(below) && self.roots.iter().any(|root| root.token == "@src") => {
                Ok(below.to_owned())
            }
            Some(_) => Err(UnknownPath),
            None => {
                let (name, below) = token.split_once('/').unwrap_or((token, ""));
                let root = self.roots.iter().find(|root| root.token == name).ok_or(UnknownPath)?;
                Ok(if below.is_empty() {
                    root.as_given.clone()
                } else {
                    format!("{}/{below}", root.as_given)
                })
            }
        }
    }
}

/// A spelling that can be searched for: `.` and bare words would hit ordinary text.
fn is_distinct(path: &str) -> bool {
    path.chars().count() >= 4 && path.contains(['/', '\\', '.'])
}

/// Whether a match is a path at all, judged by what stands in front of it.
fn starts_a_path(path: &str, before: Option<char>) -> bool {
    if let Some(rest) = path.strip_prefix('~') {
        // `~12` is an estimate and `~Foo` a destructor; a home folder has a slash or a login name behind it.
        let home = rest.contains('/') || rest.starts_with(|c: char| c.is_ascii_lowercase());
        return home && !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '~'));
    }
    let Some(before) = before else { return true };
    !(before.is_alphanumeric() || matches!(before, '_' | '.' | '-' | '#' | ')' | ']' | '@' | '/' | '~' | '%'))
}

/// An address without user, password, query and fragment.
fn plain_address(address: &str) -> String {
    let end = address.find(['?', '#']).unwrap_or(address.len());
    let kept = address.get(..end).unwrap_or_default();
    let Some((scheme, rest)) = kept.split_once("://") else { return kept.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}{path}")
}

/// A relative path that stays below its root.
fn is_inside(below: &str) -> bool {
    !below.is_empty()
        && !below.starts_with('/')
        && !below.contains('\\')
        && !below.contains('\0')
        && below.split('/').all(|part| part != ".." && part != ".")
}

/// Argument names that hold paths in any of the tools.
fn is_path_field(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["path", "paths", "db", "dir", "file", "files", "log", "folder"]
        .iter()
        .any(|word| key == *word || key.ends_with(&format!("_{word}")))
}
