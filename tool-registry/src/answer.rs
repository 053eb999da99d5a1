//! Bounds an answer's size deterministically and writes it as text that clients may cut by line.

use perfxpert_schemas::ErrorObject;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Ceilings of an answer's JSON in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Without an explicit larger limit.
    pub default: usize,
    /// With one.
    pub explicit: usize,
    /// Kernel names longer than this are shortened; `None` leaves names alone.
    pub longest_name: Option<usize>,
}

impl Default for Bounds {
    // The smallest inline limit of a real client, and the largest answer that is still read whole by most.
    fn default() -> Self {
        Self { default: 12_000, explicit: 40_000, longest_name: Some(300) }
    }
}

impl Bounds {
    /// For answers read by programs: lists are bounded by the tool, the size is not cut.
    pub const fn uncut() -> Self {
        Self { default: usize::MAX, explicit: usize::MAX, longest_name: None }
    }

    /// The bound that holds for one call.
    pub fn ceiling(self, explicit: bool) -> Self {
        Self { default: if explicit { self.explicit } else { self.default }, ..self }
    }
}

/// Names of inputs that play the role of a page size.
const LIMIT_NAMES: [&str; 3] = ["limit", "top_k", "top_kernels"];

/// Whether the caller asked for more rows than the default.
pub fn asks_for_more(schema: &Value, arguments: &Map<String, Value>) -> bool {
    LIMIT_NAMES.iter().any(|name| {
        let asked = arguments.get(*name).and_then(Value::as_u64);
        let default = schema.pointer(&format!("/properties/{name}/default")).and_then(Value::as_u64);
        matches!((asked, default), (Some(asked), Some(default)) if asked > default)
    })
}

/// Shortens long texts, then halves the list with the longest serialised form until the answer fits.
pub fn bound(mut value: Value, bounds: Bounds) -> Value {
    if let Some(longest) = bounds.longest_name {
        shorten_names(&mut value, longest);
    }
    if serialised_len(&value) <= bounds.default {
        return value;
    }
    let Value::Object(object) = &mut value else { return value };
    object.insert("truncated".to_owned(), Value::Bool(true));
    object.insert("cut_by".to_owned(), Value::from("size"));
    while serialised_len(&value) > bounds.default {
        if !halve_longest_list(&mut value) {
            break;
        }
    }
    value
}

fn serialised_len(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.chars().count())
}

/// Path of the list (as object keys) whose rows take the most room; lists inside rows do not count.
fn halve_longest_list(value: &mut Value) -> bool {
    let mut longest: Option<(usize, Vec<String>)> = None;
    find_longest(value, &mut Vec::new(), &mut longest);
    let Some((_, path)) = longest else { return false };
    let mut place = &mut *value;
    let mut parent_count: Option<usize> = None;
    for (depth, key) in path.iter().enumerate() {
        let Value::Object(object) = place else { return false };
        if depth + 1 == path.len() {
            let mut whole = 0;
            if let Some(Value::Array(rows)) = object.get_mut(key) {
                whole = rows.len();
                rows.truncate(whole / 2);
                parent_count = Some(rows.len());
            }
            // `returned` counts the paged list; a capped one has its own `<list>_total`.
            let paged = object.get("returned").and_then(Value::as_u64) == u64::try_from(whole).ok()
                && !object.contains_key(&format!("{key}_total"));
            if let (Some(count), true) = (parent_count, paged) {
                object.insert("returned".to_owned(), Value::from(count));
            }
            return parent_count.is_some();
        }
        match object.get_mut(key) {
            Some(next) => place = next,
            None => return false,
        }
    }
    false
}

fn find_longest(value: &Value, path: &mut Vec<String>, longest: &mut Option<(usize, Vec<String>)>) {
    let Value::Object(object) = value else { return };
    for (key, inner) in object {
        path.push(key.clone());
        match inner {
            Value::Array(rows) if !rows.is_empty() => {
                let length = serialised_len(inner);
                if longest.as_ref().is_none_or(|(best, _)| length > *best) {
                    *longest = Some((length, path.clone()));
                }
            }
            Value::Object(_) => find_longest(inner, path, longest),
            _ => {}
        }
        path.pop();
    }
}

/// First 200 + `…` + last 90 + `#` + 8 hex of the SHA-256 of the full text.
pub fn short_name(name: &str, longest: usize) -> Option<String> {
    name.chars().nth(longest)?;
    let head: String = name.chars().take(200).collect();
    let tail: Vec<char> = name.chars().rev().take(90).collect();
    let tail: String = tail.into_iter().rev().collect();
    Some(format!("{head}…{tail}#{}", name_hash(name)))
}

/// First 8 hex digits of the SHA-256 of a name.
pub fn name_hash(name: &str) -> String {
    Sha256::digest(name.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// Keys whose texts are names of kernels or of calls, never prose or commands.
const NAME_KEYS: [&str; 10] =
    ["name", "kernel", "kernel_name", "kernels", "pair", "before", "after", "call", "from", "to"];

fn shorten_names(value: &mut Value, longest: usize) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object.iter_mut() {
                if NAME_KEYS.contains(&key.as_str()) {
                    shorten_texts(inner, longest);
                }
                shorten_names(inner, longest);
            }
        }
        Value::Array(rows) => rows.iter_mut().for_each(|row| shorten_names(row, longest)),
        _ => {}
    }
}

fn shorten_texts(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) => {
            if let Some(short) = short_name(text, longest) {
                *text = short;
            }
        }
        Value::Array(rows) => {
            rows.iter_mut().filter(|row| row.is_string()).for_each(|row| shorten_texts(row, longest))
        }
        _ => {}
    }
}

/// The text form of an answer: one line per top-level key and one line per row of a list; parses as the same JSON.
pub fn text(value: &Value) -> String {
    let Value::Object(object) = value else { return value.to_string() };
    if object.is_empty() {
        return "{}".to_owned();
    }
    let mut lines = Vec::with_capacity(object.len());
    for (key, inner) in object {
        let key = Value::from(key.as_str());
        match inner {
            Value::Array(rows) if rows.iter().any(|row| row.is_object() || row.is_array()) => {
                let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
                lines.push(format!("{key}:[\n{}\n]", rows.join(",\n")));
            }
            _ => lines.push(format!("{key}:{inner}")),
        }
    }
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// The text form of an error answer.
pub fn error_text(error: &ErrorObject) -> String {
    error.envelope().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_list_is_halved_and_totals_stay() {
        let rows: Vec<Value> = (0..100).map(|i| json!({ "name": format!("kernel {i}") })).collect();
        let value =
            json!({ "verdict": "ok", "items": rows, "total": 100, "returned": 100, "truncated": false });
        let cut = bound(value, Bounds { default: 1000, explicit: 1000, longest_name: Some(300) });
        assert!(cut.to_string().len() <= 1000);
        assert_eq!(cut["total"], 100);
        assert_eq!(cut["truncated"], true);
        assert_eq!(cut["cut_by"], "size");
        assert_eq!(cut["returned"], cut["items"].as_array().unwrap().len());
        assert_eq!(cut["items"][0]["name"], "kernel 0");
    }

    #[test]
    fn long_names_keep_both_ends_and_a_hash() {
        let name = "a".repeat(500);
        let short = short_name(&name, 300).unwrap();
        assert_eq!(short.chars().count(), 200 + 1 + 90 + 1 + 8);
        // sha256 of 500 times "a", from sha256sum.
        assert!(short.ends_with(&name_hash(&name)));
        assert_eq!(short_name(&"a".repeat(300), 300), None);
    }

    #[test]
    fn text_has_one_line_per_key_and_row_and_is_the_same_json() {
        let value =
            json!({ "a": 1, "rows": [{ "x": 1 }, { "x": "line\nbreak" }], "names": ["p", "q"], "empty": [] });
        let text = text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(text.lines().count(), 9);
    }
}
