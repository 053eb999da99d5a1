//! What real MCP clients accept of names, descriptions and schemas, held against every registered tool.

use perfxpert_schemas::names::{self, Spelling};
use perfxpert_tool_registry::Registry;
use serde_json::{Value, json};

/// Keywords that some client rejects or drops a tool for.
const BANNED: [&str; 11] =
    ["$ref", "$defs", "$schema", "oneOf", "anyOf", "allOf", "not", "format", "title", "x-unit", "x-accepts"];
/// Largest `tools/list` for 56 tools, in bytes.
const LIST_BYTES: usize = 60_000;
const TOOLS: usize = 56;

/// Walks a schema; `at` is its place, `depth` its nesting with the root at 1.
fn lint(schema: &Value, at: &str, depth: usize, longest_description: usize, faults: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        faults.push(format!("{at}: a {schema} as sub-schema"));
        return;
    };
    if depth > 4 {
        faults.push(format!("{at}: nested {depth} deep"));
    }
    faults
        .extend(BANNED.iter().filter(|word| object.contains_key(**word)).map(|word| format!("{at}: {word}")));
    let kind = object.get("type").and_then(Value::as_str);
    if kind.is_none() {
        faults.push(format!("{at}: type is {:?}, not one word", object.get("type")));
    }
    if kind == Some("array") && !object.get("items").is_some_and(Value::is_object) {
        faults.push(format!("{at}: a list without items"));
    }
    if let Some(items) = object.get("items") {
        lint(items, &format!("{at}[]"), depth + 1, longest_description, faults);
    }
    for (name, inner) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let at = format!("{at}.{name}");
        match inner.get("description").and_then(Value::as_str) {
            None => faults.push(format!("{at}: no description")),
            Some(text) if text.trim().is_empty() => faults.push(format!("{at}: an empty description")),
            Some(text) if text.chars().count() > longest_description => {
                faults.push(format!("{at}: description of {} characters", text.chars().count()));
            }
            Some(_) => {}
        }
        lint(inner, &at, depth + 1, longest_description, faults);
    }
}

#[test]
fn the_lint_finds_what_it_looks_for() {
    let bad = json!({
        "type": "object",
        "properties": {
            "a": { "type": ["string", "null"], "description": "x" },
            "b": { "type": "array", "description": "x" },
            "c": true,
            "d": { "type": "string", "description": "x".repeat(91), "format": "uri" },
            "e": { "type": "object", "description": "x", "properties": { "f": { "type": "string" } } }
        }
    });
    let mut faults = Vec::new();
    lint(&bad, "", 1, 90, &mut faults);
    assert_eq!(faults.len(), 7, "{faults:#?}");
}

#[test]
fn input_schemas_are_what_every_client_accepts() {
    let mut faults = Vec::new();
    for tool in Registry::new().tools() {
        let schema = tool.listed_input();
        lint(&schema, tool.name, 1, 90, &mut faults);
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        for (name, inner) in schema["properties"].as_object().expect("properties") {
            let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
            if required && inner.get("default").is_some() {
                faults.push(format!("{}.{name}: required, yet with a default", tool.name));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn output_schemas_accept_answers_and_errors_alike() {
    let mut faults = Vec::new();
    for tool in Registry::new().tools() {
        let schema = tool.output_schema();
        lint(&schema, tool.name, 1, 40, &mut faults);
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert!(schema.get("required").is_none(), "{}", tool.name);
        assert_eq!(schema["properties"]["error"]["type"], "object", "{}", tool.name);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn descriptions_say_enough_and_fit() {
    for tool in Registry::new().tools() {
        let length = tool.description.chars().count();
        assert!((40..=250).contains(&length), "{}: {length} characters", tool.name);
        assert!((3..=60).contains(&tool.title.chars().count()), "{}: title {:?}", tool.name, tool.title);
    }
}

#[test]
fn names_are_short_enough_for_model_services_in_both_spellings() {
    let allowed = |name: &str| {
        name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
    };
    for tool in Registry::new().tools() {
        let bare = names::bare(tool.name);
        assert!(bare.len() <= 45 && allowed(&bare), "{bare}");
        for spelling in [Spelling::Prefixed, Spelling::Bare] {
            let shown = Registry::advertised(tool, spelling);
            assert!(allowed(&shown), "{shown}");
            assert!(names::CLIENT_PREFIX.len() + shown.len() <= names::LONGEST, "{shown}");
        }
    }
}

#[test]
fn the_list_stays_within_its_share_of_a_clients_context() {
    let registry = Registry::new();
    let bytes: usize = registry
        .tools()
        .map(|tool| {
            json!({
                "name": Registry::advertised(tool, Spelling::Prefixed),
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.listed_input(),
                "outputSchema": tool.output_schema(),
                "annotations": { "readOnlyHint": true, "destructiveHint": false,
                    "idempotentHint": tool.class.idempotent(), "openWorldHint": tool.class.open_world() },
            })
            .to_string()
            .len()
                + 1
        })
        .sum();
    let share = LIST_BYTES * registry.len().min(TOOLS) / TOOLS;
    // A partial list may hold the talkative tools first, hence twice its share until it is whole.
    let limit = if registry.len() >= TOOLS { LIST_BYTES } else { (2 * share).min(LIST_BYTES) };
    assert!(bytes <= limit, "tools/list of {} tools takes {bytes} bytes, at most {limit}", registry.len());
}

#[test]
fn every_tool_ignores_arguments_that_clients_inject() {
    for tool in Registry::new().tools() {
        let arguments = json!({ "wait_for_previous": true });
        let outcome =
            tool.call(&perfxpert_tool_registry::Context::detached(), arguments.as_object().cloned());
        if let Err(error) = outcome {
            assert_ne!(error.details.get("field"), Some(&json!("wait_for_previous")), "{}", tool.name);
        }
    }
}
