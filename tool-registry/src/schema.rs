//! JSON Schemas as real clients accept them: inlined, one `type` each, no boolean sub-schemas, no dialect.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

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

/// Longest description of a key of an advertised output schema, in characters.
const OUTPUT_DESCRIPTION: usize = 20;

/// Most keys of an advertised output schema. A list of 56 tools with every key takes a third more than its share of a
/// client's context; the first keys in wire order are the verdict and the key numbers, and the object stays open.
const OUTPUT_KEYS: usize = 1;

/// The advertised output schema: the first top-level keys that are never null, plus `error`; nothing required, rows left
/// open.
pub fn output<T: JsonSchema>() -> Value {
    let whole = full::<T>();
    let mut properties = Map::new();
    if let Some(Value::Object(keys)) = whole.get("properties") {
        let shown = keys.iter().filter_map(|(key, schema)| Some((key.clone(), shown_output(schema)?)));
        properties.extend(shown.take(OUTPUT_KEYS));
    }
    properties.insert("error".to_owned(), json!({ "type": "object", "description": "fault" }));
    json!({ "type": "object", "properties": properties })
}

fn shown_output(schema: &Value) -> Option<Value> {
    let kind = single_type(schema)?;
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut shown = Map::new();
    shown.insert("type".to_owned(), Value::from(kind.clone()));
    shown.insert("description".to_owned(), Value::from(first_words(description, OUTPUT_DESCRIPTION)));
    if kind == "array" {
        shown.insert("items".to_owned(), shown_row(schema.get("items")));
    }
    Some(Value::Object(shown))
}

/// The type of a list's rows; of lists of lists that of the inner rows too.
fn shown_row(row: Option<&Value>) -> Value {
    let kind = row.and_then(single_type).unwrap_or_else(|| "object".to_owned());
    if kind == "array" {
        return json!({ "type": kind, "items": shown_row(row.and_then(|row| row.get("items"))) });
    }
    json!({ "type": kind })
}

/// The one JSON type of a schema, or `None` when it can be null or is a union.
fn single_type(schema: &Value) -> Option<String> {
    if let Some(Value::String(kind)) = schema.get("type") {
        return Some(kind.clone());
    }
    let variants = schema.get("oneOf").and_then(Value::as_array)?;
    let all_texts = variants.iter().all(|variant| variant.get("type") == Some(&json!("string")));
    (all_texts && !variants.is_empty()).then(|| "string".to_owned())
}

fn first_words(text: &str, longest: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    if line.chars().count() <= longest {
        return line.to_owned();
    }
    let mut words = String::new();
    for word in line.split(' ') {
        if words.chars().count() + word.chars().count() + 1 > longest {
            break;
        }
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words.trim_end_matches([',', ';', ':', '(']).trim_end().to_owned()
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
        free: Option<Map<String, Value>>,
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
