//! The one page of `tools/list`.

use std::sync::Arc;

use perfxpert_schemas::names::Spelling;
use perfxpert_tool_registry::{Registry, Tool};
use rmcp::model::{JsonObject, Tool as WireTool, ToolAnnotations};
use serde_json::Value;

/// Every tool of the registry as clients see it, in the registry's order.
pub(crate) fn page(registry: &Registry, spelling: Spelling) -> Vec<WireTool> {
    registry.tools().map(|tool| entry(tool, spelling)).collect()
}

fn entry(tool: &Tool, spelling: Spelling) -> WireTool {
    let mut entry =
        WireTool::new(Registry::advertised(tool, spelling), tool.description, object(tool.listed_input()));
    entry.title = Some(tool.title.to_owned());
    entry.output_schema = Some(object(tool.output_schema()));
    entry.annotations = Some(
        ToolAnnotations::new()
            .read_only(true)
            .destructive(false)
            .idempotent(tool.class.idempotent())
            .open_world(tool.class.open_world()),
    );
    entry
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}
