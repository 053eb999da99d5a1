//! The one answer a model may send: its schema, and a reader that is lenient where that does no harm.

use serde_json::{Map, Value, json};

/// Wire name of the tool that carries the answer.
pub const SUBMIT_ANSWER: &str = "submit_answer";

const CLAIMS: usize = 8;
const CLAIM_LENGTH: usize = 300;
const CITES: usize = 6;
const TITLES: usize = 10;
const TITLE_LENGTH: usize = 90;
const NOTE_LENGTH: usize = 400;
/// Violations repeated to a model at once.
const LISTED: usize = 5;

/// The closed schema of the answer; `proposals` only while that lane is on.
pub fn reply_schema(lane_on: bool) -> Value {
    let text = |most: usize| json!({"type": "string", "minLength": 1, "maxLength": most});
    let mut properties = Map::new();
    properties.insert(
        "claims".to_owned(),
        json!({"type": "array", "maxItems": CLAIMS, "items": {
            "type": "object", "additionalProperties": false, "required": ["text", "cites"],
            "properties": {
                "text": text(CLAIM_LENGTH),
                "cites": {"type": "array", "minItems": 1, "maxItems": CITES, "items": {"type": "string"}}
            }
        }}),
    );
    properties.insert(
        "titles".to_owned(),
        json!({"type": "array", "maxItems": TITLES, "items": {
            "type": "object", "additionalProperties": false, "required": ["key"],
            "properties": {"key": {"type": "string"}, "title": text(TITLE_LENGTH), "note": text(NOTE_LENGTH)}
        }}),
    );
    if lane_on {
        properties.insert("proposals".to_owned(), crate::proposals::schema());
    }
    json!({"type": "object", "additionalProperties": false, "required": ["claims"], "properties": properties})
}

/// A sentence and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) cites: Vec<String>,
}

/// New words for a listed entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Title {
    pub(crate) key: String,
    pub(crate) title: Option<String>,
    pub(crate) note: Option<String>,
}

/// An answer of the agreed form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) claims: Vec<Claim>,
    pub(crate) titles: Vec<Title>,
    /// As sent; judged apart.
    pub(crate) proposals: Vec<Value>,
    /// Unknown keys and surplus items that were left out.
    pub(crate) trimmed: Vec<String>,
}

impl Reply {
    /// Reads an answer. Unknown keys are dropped and long lists cut; wrong types and missing claims are violations,
    /// at most five of which come back.
    pub(crate) fn read(value: &Value) -> Result<Self, Vec<String>> {
        let Some(map) = value.as_object() else {
            return Err(vec!["the answer must be a JSON object".to_owned()]);
        };
        let mut reader = Reader::default();
        let mut reply = Self::default();
        reader.unknown_keys(map, &["claims", "titles", "proposals"], "");
        match map.get("claims") {
            None => reader.violations.push("`claims` is missing".to_owned()),
            Some(claims) => {
                for (place, claim) in reader.items(claims, "claims", CLAIMS) {
                    reply.claims.extend(reader.claim(claim, &place));
                }
            }
        }
        if let Some(titles) = map.get("titles").filter(|titles| !titles.is_null()) {
            for (place, title) in reader.items(titles, "titles", TITLES) {
                reply.titles.extend(reader.title(title, &place));
            }
        }
        if let Some(proposals) = map.get("proposals").filter(|proposals| !proposals.is_null()) {
            match proposals.as_array() {
                Some(items) => reply.proposals.clone_from(items),
                None => reader.violations.push("`proposals` must be an array".to_owned()),
            }
        }
        if !reader.violations.is_empty() {
            reader.violations.truncate(LISTED);
            return Err(reader.violations);
        }
        reply.trimmed = reader.trimmed;
        Ok(reply)
    }

    /// Reads a text reply: a JSON object, trimmed and freed of one surrounding code fence.
    pub(crate) fn object_in(text: &str) -> Option<Value> {
        let mut text = text.trim();
        if let Some(fenced) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
            text = fenced.split_once('\n').map_or(fenced, |(_, rest)| rest).trim();
        }
        serde_json::from_str::<Value>(text).ok().filter(Value::is_object)
    }
}

#[derive(Default)]
struct Reader {
    violations: Vec<String>,
    trimmed: Vec<String>,
}

impl Reader {
    fn unknown_keys(&mut self, map: &Map<String, Value>, known: &[&str], place: &str) {
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let key: String = key.chars().take(40).collect();
            self.trimmed.push(format!("{place}{key}"));
        }
    }

    fn items<'v>(&mut self, value: &'v Value, place: &str, most: usize) -> Vec<(String, &'v Value)> {
        let Some(items) = value.as_array() else {
            self.violations.push(format!("`{place}` must be an array"));
            return Vec::new();
        };
        if items.len() > most {
            self.trimmed.push(format!("{place} beyond {most}"));
        }
        items.iter().take(most).enumerate().map(|(i, item)| (format!("{place}[{i}]"), item)).collect()
    }

    fn text(&mut self, map: &Map<String, Value>, key: &str, most: usize, place: &str) -> Option<String> {
        match map.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.trim().is_empty() => {
                self.violations.push(format!("`{place}.{key}` is empty"));
                None
            }
            Some(Value::String(text)) if text.chars().count() > most => {
                self.violations.push(format!("`{place}.{key}` is longer than {most} characters"));
                None
            }
            Some(Value::String(text)) => Some(text.trim().to_owned()),
            Some(_) => {
                self.violations.push(format!("`{place}.{key}` must be a string"));
                None
            }
        }
    }

    fn claim(&mut self, value: &Value, place: &str) -> Option<Claim> {
        let Some(map) = value.as_object() else {
            self.violations.push(format!("`{place}` must be an object"));
            return None;
        };
        self.unknown_keys(map, &["text", "cites"], &format!("{place}."));
        let text = self.text(map, "text", CLAIM_LENGTH, place);
        if text.is_none() && map.get("text").is_none_or(Value::is_null) {
            self.violations.push(format!("`{place}.text` is missing"));
        }
        let cites = match map.get("cites") {
            Some(cites) => self.items(cites, &format!("{place}.cites"), CITES),
            None => {
                self.violations.push(format!("`{place}.cites` is missing"));
                Vec::new()
            }
        };
        let mut ids = Vec::new();
        for (place, id) in cites {
            match id.as_str() {
                Some(id) => ids.push(id.to_owned()),
                None => self.violations.push(format!("`{place}` must be a string")),
            }
        }
        text.map(|text| Claim { text, cites: ids })
    }

    fn title(&mut self, value: &Value, place: &str) -> Option<Title> {
        let Some(map) = value.as_object() else {
            self.violations.push(format!("`{place}` must be an object"));
            return None;
        };
        self.unknown_keys(map, &["key", "title", "note"], &format!("{place}."));
        let title = self.text(map, "title", TITLE_LENGTH, place);
        let note = self.text(map, "note", NOTE_LENGTH, place);
        match map.get("key").and_then(Value::as_str) {
            Some(key) => Some(Title { key: key.to_owned(), title, note }),
            None => {
                self.violations.push(format!("`{place}.key` must be a string"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_answer_is_read_and_unknown_keys_and_surplus_items_are_left_out() {
        let claim = json!({"text": " Fine. ", "cites": ["m.a"], "mood": "good"});
        let reply = Reply::read(&json!({"claims": vec![claim; 9], "titles": null, "extra": 1})).unwrap();
        assert_eq!(reply.claims.len(), 8);
        assert_eq!(reply.claims[0], Claim { text: "Fine.".to_owned(), cites: vec!["m.a".to_owned()] });
        assert!(reply.trimmed.contains(&"extra".to_owned()));
        assert!(reply.trimmed.contains(&"claims beyond 8".to_owned()));
        assert!(reply.trimmed.contains(&"claims[0].mood".to_owned()));
    }

    #[test]
    fn wrong_types_and_missing_claims_are_violations_at_most_five() {
        assert_eq!(Reply::read(&json!({})).unwrap_err(), ["`claims` is missing"]);
        assert_eq!(Reply::read(&json!({"claims": "x"})).unwrap_err(), ["`claims` must be an array"]);
        let bad = json!({"text": 1, "cites": [2]});
        assert_eq!(Reply::read(&json!({"claims": vec![bad; 4]})).unwrap_err().len(), 5);
        let long = json!({"claims": [{"text": "x".repeat(301), "cites": ["m.a"]}]});
        assert_eq!(Reply::read(&long).unwrap_err(), ["`claims[0].text` is longer than 300 characters"]);
    }

    #[test]
    fn a_text_answer_may_stand_in_one_code_fence() {
        assert!(Reply::object_in(" {\"claims\": []} ").is_some());
        assert!(Reply::object_in("```json\n{\"claims\": []}\n```").is_some());
        assert!(Reply::object_in("Here it is: {\"claims\": []}").is_none());
        assert!(Reply::object_in("[1]").is_none());
    }
}
