//! The tool reference page, written from the registry so that it cannot drift from it.

use std::fmt::Write;

use perfxpert_tool_registry::{Class, Registry, Tool, schema};
use serde_json::Value;

/// The page.
pub fn page() -> String {
    let registry = Registry::new();
    let agents = registry.tools().filter(|tool| tool.class == Class::Agent).count();
    let diff = registry.tools().filter(|tool| tool.namespace() == "trace_diff").count();
    let tools = registry.len() - agents - diff;
    let mut out = String::from("# Tool reference\n\n");
    let _ = writeln!(
        out,
        "{} tools: {agents} agents, {tools} tools, {diff} diff. This page is made from the registry by\n`cargo run --package perfxpert-tests --bin reference`; a test compares the two.\n\nEvery tool is read-only. Names are `namespace.function` here, `namespace_function` or `perfxpert_namespace_function`\non the wire. A failed call answers `{{\"error\": {{\"kind\", \"message\", \"hint\", ...}}}}`. Keys marked *or null* are null when\nthe input cannot support them; `<key>_reason` or `notes` then says why.\n",
        registry.len()
    );
    for tool in registry.tools() {
        entry(&mut out, tool);
    }
    out
}

fn entry(out: &mut String, tool: &Tool) {
    let _ = writeln!(out, "## `{}`\n\n{}\n", tool.name, prose(tool.description));
    let input = schema::advertised(tool.input_schema());
    let required: Vec<&str> = input
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields: Vec<(&String, &Value)> =
        input.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
    if !fields.is_empty() {
        out.push_str("| argument | type | default | meaning |\n|---|---|---|---|\n");
        for (name, field) in fields {
            let default = match field.get("default") {
                _ if required.contains(&name.as_str()) => "required".to_owned(),
                Some(value) => format!("`{}`", cell(&value.to_string())),
                None => "–".to_owned(),
            };
            let _ =
                writeln!(out, "| `{name}` | {} | {default} | {} |", kind(field), cell(description(field)));
        }
        out.push('\n');
    }
    let output = tool.full_output_schema();
    let keys: Vec<(&String, &Value)> =
        output.get("properties").and_then(Value::as_object).into_iter().flatten().collect();
    if !keys.is_empty() {
        out.push_str("| answer | type | meaning |\n|---|---|---|\n");
        for (name, field) in keys {
            let _ = writeln!(out, "| `{name}` | {} | {} |", kind(field), cell(description(field)));
        }
        out.push('\n');
    }
}

fn description(field: &Value) -> &str {
    field.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// The JSON type in words.
fn kind(field: &Value) -> String {
    if let Some(choices) = field.get("enum").and_then(Value::as_array) {
        let words: Vec<String> =
            choices.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    match field.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let words: Vec<&str> =
                kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect();
            format!("{} or null", words.join(" or "))
        }
        _ => match field.get("anyOf").and_then(Value::as_array) {
            Some(variants) => {
                let words: Vec<String> = variants
                    .iter()
                    .filter(|variant| variant.get("type") != Some(&Value::from("null")))
                    .map(kind)
                    .collect();
                let nullable = variants.len() > words.len();
                format!("{}{}", words.join(" or "), if nullable { " or null" } else { "" })
            }
            None => "any".to_owned(),
        },
    }
}

/// Text inside a table cell.
fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}

/// One line; what looks like a tag stays text.
fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('<', "&lt;")
}
