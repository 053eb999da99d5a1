//! The one door to a tool in tests: calls it by name and holds the answer against both of its output schemas.

use perfxpert_schemas::ErrorObject;
use perfxpert_tool_registry::{Context, Registry};
use serde_json::Value;

/// Calls a tool; arguments are a JSON object.
pub(crate) fn call(name: &str, arguments: &Value) -> Result<Value, ErrorObject> {
    let tool = Registry::new().find(name).unwrap_or_else(|| panic!("no tool {name}"));
    let arguments = arguments.as_object().expect("arguments are an object").clone();
    let outcome = tool.call(&Context::detached(), Some(arguments));
    let (wire, schemas) = match &outcome {
        Ok(answer) => {
            assert_bounded(name, answer);
            (answer.clone(), vec![tool.output_schema(), tool.full_output_schema()])
        }
        Err(error) => (error.envelope(), vec![tool.output_schema()]),
    };
    for schema in schemas {
        let validator = jsonschema::validator_for(&schema).unwrap();
        let faults: Vec<String> =
            validator.iter_errors(&wire).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
        assert!(faults.is_empty(), "{name} against its own schema: {faults:#?}\n{wire:#}");
    }
    outcome
}

/// The answer of a call that must succeed.
pub(crate) fn ask(name: &str, arguments: &Value) -> Value {
    call(name, arguments).unwrap_or_else(|error| panic!("{name} {arguments}: {error}"))
}

/// The error of a call that must be refused, after checking that its fixed fields say something.
pub(crate) fn refused(name: &str, arguments: &Value) -> ErrorObject {
    let error = call(name, arguments).expect_err(&format!("{name} {arguments} must be refused"));
    assert!(!error.message.is_empty() && !error.hint.is_empty(), "{error:?}");
    error
}

/// The refusal's wire kind, such as `invalid_argument`.
pub(crate) fn refusal(name: &str, arguments: &Value) -> &'static str {
    refused(name, arguments).kind.as_str()
}

/// Keys of an object in wire order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// Asserts that `answer` has every key of `expected` with that value; keys not named may hold anything.
#[track_caller]
pub(crate) fn holds(answer: &Value, expected: &Value) {
    for (key, wanted) in expected.as_object().expect("an object") {
        let found = answer.get(key).unwrap_or_else(|| panic!("no key {key} in {answer:#}"));
        assert!(same(found, wanted), "{key} is {found}, expected {wanted}, in {answer:#}");
    }
}

/// JSON equality in which `1` and `1.0` are the same number, as they are in JSON.
pub(crate) fn same(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Number(found), Value::Number(wanted)) => found.as_f64() == wanted.as_f64(),
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(f, w)| same(f, w))
        }
        (Value::Object(found), Value::Object(wanted)) => {
            found.len() == wanted.len()
                && found.iter().all(|(key, f)| wanted.get(key).is_some_and(|w| same(f, w)))
        }
        _ => found == wanted,
    }
}

/// An answer has at most 8 notes of at most 240 characters, never an empty list of them.
fn assert_bounded(name: &str, answer: &Value) {
    if let Some(notes) = answer.get("notes") {
        let notes = notes.as_array().expect("notes are a list");
        assert!((1..=8).contains(&notes.len()), "{name}: {notes:?}");
        for note in notes {
            assert!(note.as_str().is_some_and(|text| text.chars().count() <= 240), "{name}: {note}");
        }
    }
}
