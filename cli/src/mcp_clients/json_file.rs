//! Adds and removes one member of a JSON file as text: everything else keeps its bytes.

use std::ops::Range;

use serde_json::Value;

/// Why a file is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not strict JSON, with the parser's words.
    NotStrict(String),
    /// The place for the entry holds something that is no object.
    NotAnObject,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStrict(why) => write!(f, "it is not strict JSON ({why})"),
            Self::NotAnObject => f.write_str("the place for the entry is no object"),
        }
    }
}

/// One member of an object: where its key begins and where its value lies.
#[derive(Clone, Debug)]
struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

/// An object: its span with braces, and its members.
#[derive(Clone, Debug)]
struct Object {
    span: Range<usize>,
    members: Vec<Member>,
}

impl Object {
    fn member(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.key == key)
    }
}

/// A file's text with what is needed to edit it.
pub struct JsonFile<'a> {
    text: &'a str,
    root: Object,
    indent: String,
    newline: &'static str,
}

impl<'a> JsonFile<'a> {
    /// Reads a text; an empty one counts as an object without members.
    ///
    /// # Errors
    /// When it is not strict JSON or not an object.
    pub fn read(text: &'a str) -> Result<Self, Refusal> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        if text.trim().is_empty() {
            let root = Object { span: 0..0, members: Vec::new() };
            return Ok(Self { text, root, indent: "  ".to_owned(), newline });
        }
        let value: Value =
            serde_json::from_str(text).map_err(|error| Refusal::NotStrict(error.to_string()))?;
        if !value.is_object() {
            return Err(Refusal::NotAnObject);
        }
        let start = text.find('{').ok_or(Refusal::NotAnObject)?;
        let root = object_at(text, start).ok_or(Refusal::NotAnObject)?;
        let indent = root.members.first().and_then(|member| own_indent(text, member.start));
        Ok(Self { text, root, indent: indent.unwrap_or_else(|| "  ".to_owned()), newline })
    }

    fn parent(&self, name: &str) -> Result<Option<Object>, Refusal> {
        match self.root.member(name) {
            None => Ok(None),
            Some(member) => object_at(self.text, member.value.start).map(Some).ok_or(Refusal::NotAnObject),
        }
    }

    /// The entry `parent.name`.
    ///
    /// # Errors
    /// When `parent` is no object.
    pub fn entry(&self, parent: &str, name: &str) -> Result<Option<Value>, Refusal> {
        let found =
            self.parent(parent)?.and_then(|object| object.member(name).map(|member| member.value.clone()));
        Ok(found.and_then(|span| serde_json::from_str(self.text.get(span)?).ok()))
    }

    /// The text with the entry `parent.name`, added last or replaced.
    ///
    /// # Errors
    /// When `parent` is no object.
    pub fn with(&self, parent: &str, name: &str, entry: &Value) -> Result<String, Refusal> {
        if self.root.span.is_empty() {
            let whole = serde_json::json!({ parent: { name: entry } });
            return Ok(self.pretty(&whole, 0) + self.newline);
        }
        match self.parent(parent)? {
            None => Ok(self.append(&self.root, parent, &serde_json::json!({ name: entry }), 1)),
            Some(object) => match object.member(name) {
                Some(member) => Ok(self.splice(member.value.clone(), &self.pretty(entry, 2))),
                None => Ok(self.append(&object, name, entry, 2)),
            },
        }
    }

    /// The text without the entry `parent.name`, and without `parent` when nothing else is in it.
    ///
    /// # Errors
    /// When `parent` is no object.
    pub fn without(&self, parent: &str, name: &str) -> Result<String, Refusal> {
        let Some(object) = self.parent(parent)? else { return Ok(self.text.to_owned()) };
        if object.member(name).is_none() {
            return Ok(self.text.to_owned());
        }
        Ok(if object.members.len() == 1 {
            self.remove(&self.root, parent)
        } else {
            self.remove(&object, name)
        })
    }

    fn append(&self, object: &Object, key: &str, value: &Value, depth: usize) -> String {
        let lead = format!("{}{}", self.newline, self.indent.repeat(depth));
        let member = format!("{lead}{}: {}", Value::from(key), self.pretty(value, depth));
        match object.members.last() {
            Some(last) => self.splice(last.value.end..last.value.end, &format!(",{member}")),
            None => {
                let close = format!("{}{}", self.newline, self.indent.repeat(depth - 1));
                self.splice(object.span.start + 1..object.span.end - 1, &format!("{member}{close}"))
            }
        }
    }

    fn remove(&self, object: &Object, key: &str) -> String {
        let Some(place) = object.members.iter().position(|member| member.key == key) else {
            return self.text.to_owned();
        };
        let before = place.checked_sub(1).and_then(|place| object.members.get(place));
        let this = object.members.get(place);
        let after = object.members.get(place + 1);
        let span = match (before, this, after) {
            (Some(before), Some(this), _) => before.value.end..this.value.end,
            (None, Some(this), Some(after)) => this.start..after.start,
            _ => object.span.start + 1..object.span.end - 1,
        };
        self.splice(span, "")
    }

    fn splice(&self, span: Range<usize>, new: &str) -> String {
        let head = self.text.get(..span.start).unwrap_or_default();
        let tail = self.text.get(span.end..).unwrap_or_default();
        format!("{head}{new}{tail}")
    }

    fn pretty(&self, value: &Value, depth: usize) -> String {
        use serde::Serialize;
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        if value.serialize(&mut serializer).is_err() {
            return value.to_string();
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        text.replace('\n', &format!("{}{}", self.newline, self.indent.repeat(depth)))
    }
}

/// The blanks before a member that stands on a line of its own.
fn own_indent(text: &str, start: usize) -> Option<String> {
    let line = text.get(..start)?.rsplit_once('\n')?.1;
    (!line.is_empty() && line.chars().all(|c| c == ' ' || c == '\t')).then(|| line.to_owned())
}

/// The object that begins at a byte; `None` when something else does. The text is known to be valid JSON.
fn object_at(text: &str, start: usize) -> Option<Object> {
    let bytes = text.as_bytes();
    if bytes.get(start) != Some(&b'{') {
        return None;
    }
    let mut members = Vec::new();
    let mut place = blank(bytes, start + 1);
    while bytes.get(place) == Some(&b'"') {
        let key_start = place;
        let key_end = value_end(bytes, place)?;
        let key = serde_json::from_str(text.get(key_start..key_end)?).ok()?;
        let value_start = blank(bytes, blank(bytes, key_end) + 1);
        let value = value_start..value_end(bytes, value_start)?;
        place = blank(bytes, value.end);
        members.push(Member { key, start: key_start, value });
        if bytes.get(place) == Some(&b',') {
            place = blank(bytes, place + 1);
        }
    }
    (bytes.get(place) == Some(&b'}')).then_some(Object { span: start..place + 1, members })
}

fn blank(bytes: &[u8], mut place: usize) -> usize {
    while bytes.get(place).is_some_and(u8::is_ascii_whitespace) {
        place += 1;
    }
    place
}

/// The byte after a value of valid JSON.
fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut place = start;
    loop {
        match bytes.get(place)? {
            b'"' => {
                place += 1;
                while bytes.get(place)? != &b'"' {
                    place += if bytes.get(place) == Some(&b'\\') { 2 } else { 1 };
                }
                place += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                place += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                place += 1;
            }
            b',' | b':' => place += 1,
            byte if byte.is_ascii_whitespace() => place += 1,
            _ => {
                while bytes
                    .get(place)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
                {
                    place += 1;
                }
            }
        }
        if depth == 0 {
            return Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry() -> Value {
        json!({"command": "/p", "args": ["mcp"]})
    }

    fn install(text: &str) -> String {
        JsonFile::read(text).unwrap().with("mcpServers", "perfxpert", &entry()).unwrap()
    }

    fn uninstall(text: &str) -> String {
        JsonFile::read(text).unwrap().without("mcpServers", "perfxpert").unwrap()
    }

    #[test]
    fn there_and_back_is_the_same_file() {
        for original in [
            "{\n  \"theme\": \"dark\"\n}\n",
            "{\n    \"theme\": \"dark\",\n    \"n\": 1.0e5\n}",
            "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\", \"args\": []}\n\t},\n\t\"z\": [1,2, 3]\n}\n",
            "{\"a\":1}",
            "{\r\n  \"a\": \"q\\\"}{\"\r\n}\r\n",
        ] {
            let installed = install(original);
            assert_eq!(
                serde_json::from_str::<Value>(&installed).unwrap()["mcpServers"]["perfxpert"],
                entry()
            );
            assert_eq!(install(&installed), installed, "a second time changes nothing");
            assert_eq!(uninstall(&installed), original);
        }
    }

    #[test]
    fn the_files_own_indentation_is_used() {
        assert_eq!(
            install("{\n    \"a\": 1\n}\n"),
            "{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"perfxpert\": {\n            \"command\": \"/p\",\n            \"args\": [\n                \"mcp\"\n            ]\n        }\n    }\n}\n"
        );
        assert!(install("").ends_with("}\n"));
    }

    #[test]
    fn the_first_of_several_members_can_go() {
        let text = "{\n  \"mcpServers\": {\n    \"perfxpert\": {},\n    \"b\": {}\n  }\n}\n";
        assert_eq!(uninstall(text), "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n");
    }

    #[test]
    fn what_is_not_strict_json_is_left_alone() {
        for text in ["{ // c\n}", "{\"a\":1,}", "[]", "nonsense", "\u{feff}{}"] {
            assert!(JsonFile::read(text).is_err(), "{text}");
        }
        let file = JsonFile::read("{\"mcpServers\": 3}").unwrap();
        assert_eq!(file.with("mcpServers", "x", &entry()), Err(Refusal::NotAnObject));
    }
}
