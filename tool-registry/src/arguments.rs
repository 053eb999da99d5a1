//! Checks arguments against a tool's input schema, in one order and with one wording for all tools.

use perfxpert_schemas::{ErrorKind, ErrorObject};
use serde_json::{Map, Value, json};

/// Keys that clients are known to add to every call; removed before any check.
const INJECTED: [&str; 1] = ["wait_for_previous"];
/// Longest text and longest list unless the schema says otherwise.
const LONGEST: u64 = 4_096;
/// How far outside 0..1 a fraction may lie and still count as rounding.
const FRACTION_TOLERANCE: f64 = 1e-6;

/// Returns the arguments ready for deserialising: injected keys and nulls gone, whole floats as integers, fractions clamped.
///
/// # Errors
/// `invalid_argument` for the first of: unknown field, missing required field, wrong JSON type, value out of range.
pub fn check(schema: &Value, mut arguments: Map<String, Value>) -> Result<Map<String, Value>, ErrorObject> {
    arguments.retain(|key, _| !INJECTED.contains(&key.as_str()));
    rename_aliases(schema, &mut arguments)?;
    unquote(schema, &mut arguments)?;
    check_names(schema, &arguments, "")?;
    check_present(schema, &mut arguments, "")?;
    check_types(schema, &mut arguments, "")?;
    check_ranges(schema, &mut arguments, "")?;
    Ok(arguments)
}

/// Gives arguments sent under another accepted name their own.
fn rename_aliases(schema: &Value, arguments: &mut Map<String, Value>) -> Result<(), ErrorObject> {
    for (name, inner) in properties(schema) {
        let aliases = inner.get("x-aliases").and_then(Value::as_array).into_iter().flatten();
        for alias in aliases.filter_map(Value::as_str) {
            let Some(value) = arguments.remove(alias) else { continue };
            if arguments.contains_key(name) {
                let message = format!("{alias} is another name of {name}, and both were sent.");
                return Err(ErrorObject::invalid(alias, message, format!("Send only {name}.")));
            }
            arguments.insert(name.clone(), value);
        }
    }
    Ok(())
}

/// Reads objects that a client sent as the text of an object.
fn unquote(schema: &Value, arguments: &mut Map<String, Value>) -> Result<(), ErrorObject> {
    for (name, inner) in properties(schema) {
        if inner.get("x-quoted") != Some(&Value::Bool(true)) {
            continue;
        }
        let Some(Value::String(text)) = arguments.get(name) else { continue };
        let Ok(object @ Value::Object(_)) = serde_json::from_str::<Value>(text) else {
            let message = format!("{name} is a text that holds no JSON object.");
            return Err(
                ErrorObject::invalid(name, message, "Send an object, such as {\"key\": 1}.").value(text)
            );
        };
        arguments.insert(name.clone(), object);
    }
    Ok(())
}

/// Checks one nested object by its own schema; errors name its fields behind `prefix`.
///
/// # Errors
/// As [`check`].
pub fn check_nested(
    schema: &Value,
    prefix: &str,
    object: Map<String, Value>,
) -> Result<Map<String, Value>, ErrorObject> {
    let outer = json!({ "properties": { prefix: schema } });
    let arguments = Map::from_iter([(prefix.to_owned(), Value::Object(object))]);
    match check(&outer, arguments)?.remove(prefix) {
        Some(Value::Object(object)) => Ok(object),
        _ => Ok(Map::new()),
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn is_closed(schema: &Value) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

fn place(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}

fn nested<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(key).filter(|inner| inner.get("properties").is_some())
}

fn check_names(schema: &Value, arguments: &Map<String, Value>, prefix: &str) -> Result<(), ErrorObject> {
    for (key, value) in arguments {
        let known = schema.get("properties").and_then(|inner| inner.get(key)).is_some();
        if !known && is_closed(schema) {
            let field = place(prefix, key);
            let names: Vec<&str> = properties(schema).map(|(name, _)| name.as_str()).collect();
            let error = ErrorObject::invalid(
                &field,
                format!("There is no argument {}.", shown(key)),
                if names.is_empty() {
                    "The tool takes no arguments."
                } else {
                    "Use one of the known arguments."
                },
            );
            return Err(with_names(error, key, names));
        }
        if let (Some(inner), Value::Object(map)) = (nested(schema, key), value) {
            check_names(inner, map, &place(prefix, key))?;
        }
    }
    Ok(())
}

fn accepts_null(schema: &Value, key: &str) -> bool {
    let kinds = schema.get("properties").and_then(|inner| inner.get(key)?.get("x-accepts")?.as_array());
    kinds.is_some_and(|kinds| kinds.contains(&json!("null")))
}

fn check_present(
    schema: &Value,
    arguments: &mut Map<String, Value>,
    prefix: &str,
) -> Result<(), ErrorObject> {
    // A required argument that accepts null means something by it; elsewhere null is absence.
    arguments.retain(|key, value| !value.is_null() || accepts_null(schema, key));
    for name in
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !arguments.contains_key(name) {
            let field = place(prefix, name);
            let about = schema.pointer(&format!("/properties/{name}/description")).and_then(Value::as_str);
            return Err(ErrorObject::invalid(
                &field,
                format!("The argument {field} is missing."),
                about.map_or_else(
                    || format!("Send {field}."),
                    |about| format!("Send {field}: {}", sentence(about)),
                ),
            ));
        }
    }
    for (key, value) in arguments.iter_mut() {
        if let (Some(inner), Value::Object(map)) = (nested(schema, key), value) {
            check_present(inner, map, &place(prefix, key))?;
        }
    }
    Ok(())
}

fn check_types(schema: &Value, arguments: &mut Map<String, Value>, prefix: &str) -> Result<(), ErrorObject> {
    for (key, inner) in properties(schema) {
        if let Some(value) = arguments.get_mut(key) {
            check_type(inner, value, &place(prefix, key))?;
        }
    }
    Ok(())
}

fn check_type(schema: &Value, value: &mut Value, field: &str) -> Result<(), ErrorObject> {
    let Some(wanted) = schema.get("type").and_then(Value::as_str) else { return Ok(()) };
    let also = schema.get("x-accepts").and_then(Value::as_array);
    let kind = kind_of(value);
    if also.is_some_and(|kinds| kinds.contains(&json!(kind))) {
        return Ok(());
    }
    let fits = match wanted {
        "integer" => whole(value).is_some(),
        "number" => value.is_number(),
        _ => kind == wanted,
    };
    if !fits {
        let hint = match (wanted, &*value) {
            ("number" | "integer", Value::String(text)) if text.trim().parse::<f64>().is_ok() => {
                format!("Send a number: {}, not {}.", text.trim(), json!(text))
            }
            ("integer", Value::Number(_)) => "Send a whole number.".to_owned(),
            ("array", _) => "Send a list, such as [\"a\",\"b\"].".to_owned(),
            ("object", _) => "Send an object, such as {\"key\": 1}.".to_owned(),
            _ => format!("Send {}.", article(wanted)),
        };
        let message = format!("{field} is {}, but it must be {}.", article(kind), article(wanted));
        return Err(ErrorObject::invalid(field, message, hint).value(&plain(value)));
    }
    match (wanted, &mut *value) {
        ("integer", Value::Number(_)) => {
            if let Some(number) = whole(value) {
                *value = number;
            }
        }
        ("object", Value::Object(map)) => check_types(schema, map, field)?,
        ("array", Value::Array(rows)) => {
            if let Some(items) = schema.get("items") {
                for (index, row) in rows.iter_mut().enumerate() {
                    let field = format!("{field}[{index}]");
                    check_type(items, row, &field)?;
                    if let (Value::Object(map), true) = (&*row, items.get("properties").is_some()) {
                        check_names(items, map, &field)?;
                    }
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn check_ranges(schema: &Value, arguments: &mut Map<String, Value>, prefix: &str) -> Result<(), ErrorObject> {
    for (key, inner) in properties(schema) {
        if let Some(value) = arguments.get_mut(key) {
            check_range(inner, value, &place(prefix, key))?;
        }
    }
    Ok(())
}

fn check_range(schema: &Value, value: &mut Value, field: &str) -> Result<(), ErrorObject> {
    match value {
        Value::Number(number) => {
            let Some(asked) = number.as_f64() else { return Ok(()) };
            if schema.get("x-unit") == Some(&json!("fraction")) {
                return check_fraction(value, asked, field);
            }
            let least = schema.get("minimum").and_then(Value::as_f64);
            let most = schema.get("maximum").and_then(Value::as_f64);
            let above = schema.get("exclusiveMinimum").and_then(Value::as_f64);
            let outside = least.is_some_and(|least| asked < least)
                || most.is_some_and(|most| asked > most)
                || above.is_some_and(|above| asked <= above);
            if outside {
                let range = match (least, above, most) {
                    (Some(least), _, Some(most)) => format!("from {least} to {most}"),
                    (Some(least), _, None) => format!("of at least {least}"),
                    (None, Some(above), Some(most)) => format!("above {above}, at most {most}"),
                    (None, Some(above), None) => format!("above {above}"),
                    (None, None, Some(most)) => format!("of at most {most}"),
                    (None, None, None) => "in range".to_owned(),
                };
                return Err(ErrorObject::invalid(
                    field,
                    format!("{field} is {number}, but it must be a number {range}."),
                    format!("Send a number {range}."),
                )
                .value(&number.to_string()));
            }
        }
        Value::String(text) => {
            if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
                let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
                if !names.contains(&text.as_str()) {
                    let error = ErrorObject::invalid(
                        field,
                        format!("{field} is {}, which is not one of its choices.", shown(text)),
                        "Use one of the known choices.",
                    )
                    .value(text);
                    return Err(with_names(error, text, names));
                }
            }
            let longest = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(LONGEST);
            let length = text.chars().count() as u64;
            let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
            if length > longest || length < least {
                let (bound, hint) = if length < least {
                    (format!("at least {least}"), "Send a longer text.")
                } else {
                    (format!("at most {longest}"), "Send a shorter text.")
                };
                return Err(ErrorObject::invalid(
                    field,
                    format!("{field} has {length} characters; it may have {bound}."),
                    hint,
                )
                .value(text));
            }
        }
        Value::Array(rows) => {
            let longest = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(LONGEST);
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let length = rows.len() as u64;
            if length > longest || length < least {
                let bound =
                    if length < least { format!("at least {least}") } else { format!("at most {longest}") };
                let hint = if length < least { "Send a longer list." } else { "Send a shorter list." };
                return Err(ErrorObject::invalid(
                    field,
                    format!("{field} has {length} items; it may have {bound}."),
                    hint,
                )
                .value(&length.to_string()));
            }
            if let Some(items) = schema.get("items") {
                for (index, row) in rows.iter_mut().enumerate() {
                    check_range(items, row, &format!("{field}[{index}]"))?;
                }
            }
        }
        Value::Object(map) => check_ranges(schema, map, field)?,
        _ => {}
    }
    Ok(())
}

fn check_fraction(value: &mut Value, asked: f64, field: &str) -> Result<(), ErrorObject> {
    let fraction = fraction(field, asked)?;
    if fraction != asked {
        *value = json!(fraction);
    }
    Ok(())
}

/// A fraction from 0 to 1: clamped within rounding, refused with the unit beyond it.
pub(crate) fn fraction(field: &str, asked: f64) -> Result<f64, ErrorObject> {
    if (-FRACTION_TOLERANCE..=1.0 + FRACTION_TOLERANCE).contains(&asked) {
        return Ok(asked.clamp(0.0, 1.0));
    }
    let hint = if asked > 1.0 && asked <= 100.0 {
        format!("Send {:.2} for {asked} %.", asked / 100.0)
    } else {
        "Send a fraction, such as 0.05 for 5 %.".to_owned()
    };
    Err(ErrorObject::invalid(field, format!("{field} is {asked}, but it is a fraction from 0 to 1."), hint)
        .value(&asked.to_string()))
}

/// `5.0` as the integer 5; anything with a fraction, or beyond 64 bits, is `None`.
fn whole(value: &Value) -> Option<Value> {
    if value.is_i64() || value.is_u64() {
        return Some(value.clone());
    }
    // Beyond 2^53 a double no longer says which integer was meant.
    let number = value.as_f64()?;
    (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then(|| json!(number as i64))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "integer" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// The first 60 characters of a text, for a sentence.
pub(crate) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

fn sentence(text: &str) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.ends_with('.') { text } else { format!("{text}.") }
}

fn with_names<'a>(
    error: ErrorObject,
    asked: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> ErrorObject {
    let error = error.known(names.clone());
    match nearest(asked, names) {
        Some(near) => error.with("did_you_mean", near),
        None => error,
    }
}

/// The nearest name by Damerau-Levenshtein distance: at most 3 and at most 40 % of the length, lower-cased; ties alphabetical.
pub fn nearest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Distances of very long texts cost quadratic time and never fall under the limit against short names.
    let asked: String = asked.to_lowercase();
    let length = asked.chars().count();
    if length > 256 {
        return None;
    }
    names
        .into_iter()
        .filter(|name| name.chars().count().abs_diff(length) <= 3)
        .map(|name| (strsim::damerau_levenshtein(&asked, &name.to_lowercase()), name))
        .filter(|(distance, name)| {
            *distance <= 3 && (*distance as f64) <= 0.4 * (name.chars().count().max(length) as f64)
        })
        .min()
        .map(|(_, name)| name.to_owned())
}

/// The error for a name that is in no catalogue: `what` is the noun, such as `architecture`.
pub fn unknown_name<'a>(
    field: &str,
    value: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    what: &str,
) -> ErrorObject {
    let plural = if what.ends_with('s') { what.to_owned() } else { format!("{what}s") };
    let error = ErrorObject::new(
        ErrorKind::UnknownName,
        format!("No {what} {}.", shown(value)),
        format!("Use one of the known {plural}."),
    )
    .field(field)
    .value(value);
    with_names(error, value, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["gfx_id"],
            "properties": {
                "gfx_id": { "type": "string", "description": "architecture, such as gfx942" },
                "share": { "type": "number", "x-unit": "fraction" },
                "limit": { "type": "integer", "minimum": 0, "maximum": 500, "default": 20 },
                "mode": { "type": "string", "enum": ["brief", "full"] },
                "paths": { "type": "string", "x-accepts": ["array"] },
                "options": {
                    "type": "object", "additionalProperties": false,
                    "properties": { "depth": { "type": "integer" } }
                }
            }
        })
    }

    fn asked(value: Value) -> Result<Map<String, Value>, ErrorObject> {
        check(&schema(), value.as_object().unwrap().clone())
    }

    #[test]
    fn the_first_fault_in_the_stated_order_answers() {
        let error = asked(json!({ "gfxid": 1, "limit": "x" })).unwrap_err();
        assert_eq!(error.details["field"], "gfxid");
        assert_eq!(error.details["did_you_mean"], "gfx_id");
        assert_eq!(error.details["known_total"], 6);
        let error = asked(json!({ "limit": "x" })).unwrap_err();
        assert_eq!(error.details["field"], "gfx_id");
        let error = asked(json!({ "gfx_id": "a", "limit": "5", "share": 30 })).unwrap_err();
        assert_eq!(
            (error.details["field"].as_str(), error.hint.as_str()),
            (Some("limit"), "Send a number: 5, not \"5\".")
        );
        let error = asked(json!({ "gfx_id": "a", "limit": 501 })).unwrap_err();
        assert_eq!(error.message, "limit is 501, but it must be a number from 0 to 500.");
        let error = asked(json!({ "gfx_id": "a", "options": { "dept": 1 } })).unwrap_err();
        assert_eq!(error.details["field"], "options.dept");
    }

    #[test]
    fn a_percentage_where_a_fraction_is_meant_is_refused_with_the_unit() {
        let error = asked(json!({ "gfx_id": "a", "share": 30 })).unwrap_err();
        assert_eq!(error.message, "share is 30, but it is a fraction from 0 to 1.");
        assert_eq!(error.hint, "Send 0.30 for 30 %.");
        assert_eq!(error.details["value"], "30");
        assert_eq!(asked(json!({ "gfx_id": "a", "share": 1.0000005 })).unwrap()["share"], 1.0);
    }

    #[test]
    fn injected_keys_nulls_and_whole_floats_are_tolerated() {
        let clean =
            asked(json!({ "gfx_id": "a", "wait_for_previous": true, "limit": 5.0, "mode": null })).unwrap();
        assert_eq!(Value::Object(clean), json!({ "gfx_id": "a", "limit": 5 }));
        assert!(asked(json!({ "gfx_id": null })).unwrap_err().message.contains("missing"));
        assert!(asked(json!({ "gfx_id": "a", "paths": ["x"] })).is_ok());
        assert!(asked(json!({ "gfx_id": "a", "limit": 5.5 })).is_err());
    }

    #[test]
    fn nearest_names_follow_distance_and_share() {
        assert_eq!(nearest("BARRIER_WAITS", ["BARRIER_WAIT", "WAITCNT"]).as_deref(), Some("BARRIER_WAIT"));
        assert_eq!(nearest("gfx943", ["gfx942", "gfx940x"]).as_deref(), Some("gfx942"));
        assert_eq!(nearest("gfx9999", ["gfx908", "gfx90a"]), None);
        assert_eq!(nearest("ab", ["xy"]), None);
    }
}
