//! JSON Schemas as real clients accept them: inlined, one `type` each, no boolean sub-schemas, no dialect.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Extension keys that guide the argument check and are stripped before a schema is shown:
/// `x-accepts` (further JSON types), `x-aliases` (other names of an argument), `x-quoted` (an object that may come as its
/// text), `x-unit` (`fraction`).
const PRIVATE: [&str; 4] = ["x-accepts", "x-aliases", "x-quoted", "x-unit"];

/// Bounds that are checked and not listed.
const UNLISTED: [&str; 4] = ["maxLength", "minLength", "maxItems", "minItems"];

fn generated<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = schema.to_value();
    fold(&mut value);
    value
}

/// The input schema with the private extension keys.
pub fn input<T: JsonSchema>() -> Value {
    let mut value = generated::<T>();
    if let Value::Object(object) = &mut value {
        object.remove("description");
        object.entry("type").or_insert_with(|| json!("object"));
        object.entry("properties").or_insert_with(|| json!({}));
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    value
}

/// A schema as clients see it: without the private keys.
pub fn advertised(schema: &Value) -> Value {
    let mut value = schema.clone();
    // Closed like the whole; saying so once is enough.
    if let Some(Value::Object(fields)) = value.get_mut("properties") {
        fields.values_mut().for_each(open_nested);
    }
    strip_private(&mut value);
    value
}

/// Longest description of an input.
const INPUT_DESCRIPTION: usize = 90;

/// Lists only the names of an object's fields, as its description; as many as fit.
pub fn name_fields(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    let Some(Value::Object(fields)) = object.remove("properties") else { return };
    object.remove("required");
    let mut about = "Fields:".to_owned();
    for (at, name) in fields.keys().enumerate() {
        let separator = if at == 0 { " " } else { ", " };
        if about.len() + separator.len() + name.len() + 3 > INPUT_DESCRIPTION {
            about.push_str(", …");
            break;
        }
        about.push_str(separator);
        about.push_str(name);
    }
    object.insert("description".to_owned(), Value::from(about));
}

fn open_nested(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.get("additionalProperties") == Some(&Value::Bool(false)) {
                object.remove("additionalProperties");
            }
            object.values_mut().for_each(open_nested);
        }
        Value::Array(rows) => rows.iter_mut().for_each(open_nested),
        _ => {}
    }
}

fn strip_private(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // Lengths are checked on every call; in the list they only cost room in a client's context.
            if object.get("type").is_some_and(Value::is_string) {
                object.retain(|key, _| !UNLISTED.contains(&key.as_str()));
            }
            object.retain(|key, _| !PRIVATE.contains(&key.as_str()));
            // An empty default says nothing that "not required" does not.
            let empty = [json!([]), json!({}), json!(false)];
            object.retain(|key, value| key != "default" || !empty.contains(value));
            object.values_mut().for_each(strip_private);
        }
        Value::Array(rows) => rows.iter_mut().for_each(strip_private),
        _ => {}
    }
}

/// The full schema of an answer, made from the type.
pub fn full<T: JsonSchema>() -> Value {
    // Answers are only ever serialised: a key that may be left out must not count as required.
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The advertised output schema: an open object. The keys of every answer are in the full schema and in the reference
/// page; 56 tools that list them take a third more than a list's share of a client's context.
pub fn output() -> Value {
    json!({ "type": "object", "properties": { "error": { "type": "object", "description": "fault" } } })
}

/// Folds what schemars writes into the forms that every client accepts.
fn fold(value: &mut Value) {
    let Value::Object(object) = value else { return };
    for key in ["$schema", "title", "format", "$defs"] {
        object.remove(key);
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    if let Some(Value::Array(kinds)) = object.get("type") {
        let kept: Vec<&Value> = kinds.iter().filter(|kind| **kind != json!("null")).collect();
        if let [one] = kept.as_slice() {
            let one = (*one).clone();
            object.insert("type".to_owned(), one);
        }
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(variants)) = object.get(union) else { continue };
        let kept: Vec<Value> =
            variants.iter().filter(|v| v.get("type") != Some(&json!("null"))).cloned().collect();
        let texts: Vec<Value> = kept.iter().filter_map(|v| v.get("const").cloned()).collect();
        if !texts.is_empty() && texts.len() == kept.len() {
            object.remove(union);
            object.insert("type".to_owned(), json!("string"));
            object.insert("enum".to_owned(), Value::Array(texts));
        } else if let [Value::Object(only)] = kept.as_slice() {
            let only = only.clone();
            object.remove(union);
            for (key, inner) in only {
                object.entry(key).or_insert(inner);
            }
            // The folded variant may itself be a union of constants.
            let mut again = Value::Object(std::mem::take(object));
            fold(&mut again);
            if let Value::Object(folded) = again {
                *object = folded;
            }
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    for key in ["properties", "patternProperties"] {
        if let Some(Value::Object(inner)) = object.get_mut(key) {
            for schema in inner.values_mut() {
                if schema.is_boolean() {
                    *schema = json!({ "type": "object" });
                }
                fold(schema);
            }
        }
    }
    match object.get_mut("items") {
        Some(items @ Value::Bool(_)) => *items = json!({ "type": "object" }),
        Some(items) => fold(items),
        None => {}
    }
    if let Some(inner @ Value::Object(_)) = object.get_mut("additionalProperties") {
        *inner = Value::Bool(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// Sides of a thing.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Side {
        /// The left one.
        Left,
        /// The right one.
        Right,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the schema is looked at")]
    struct Input {
        /// Which side.
        side: Option<Side>,
        /// Share of the run, a fraction.
        #[schemars(range(min = 0.0, max = 1.0), extend("x-unit" = "fraction"))]
        share: f64,
        /// Rows.
        #[serde(default)]
        #[schemars(range(min = 0, max = 500))]
        limit: u32,
        /// Anything.
        free: Option<serde_json::Map<String, Value>>,
    }

    #[test]
    fn options_and_enums_fold_to_one_type() {
        let schema = input::<Input>();
        assert_eq!(schema["properties"]["side"]["enum"], json!(["left", "right"]));
        assert_eq!(schema["properties"]["side"]["type"], "string");
        assert_eq!(schema["properties"]["free"]["type"], "object");
        assert_eq!(schema["properties"]["limit"]["default"], 0);
        assert_eq!(schema["properties"]["share"]["x-unit"], "fraction");
        assert_eq!(schema["required"], json!(["share"]));
        let text = advertised(&schema).to_string();
        for banned in ["anyOf", "oneOf", "$ref", "$defs", "$schema", "format", "x-unit", "title"] {
            assert!(!text.contains(banned), "{banned} in {text}");
        }
    }
}
