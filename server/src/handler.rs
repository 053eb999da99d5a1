//! The protocol side: who we are, what we list, and which call goes where.

use std::sync::{Arc, OnceLock};

use perfxpert_tool_registry::{Registry, arguments};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool as WireTool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::call::Calls;
use crate::{instructions, listing};

/// How long a client may keep the list: the tools are fixed for the life of the process.
const LIST_TTL_MS: u64 = 3_600_000;

/// Answers the requests of one client.
pub(crate) struct Handler {
    pub(crate) registry: Registry,
    pub(crate) calls: Calls,
    pub(crate) page: OnceLock<Vec<WireTool>>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut server = Implementation::new("perfxpert", env!("CARGO_PKG_VERSION"));
        server.title = Some("PerfXpert".to_owned());
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions(instructions::instructions(&self.registry, self.calls.options.spelling));
        config.server_info = server;
        config
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // There is one page, so no cursor was ever handed out.
        if request.and_then(|params| params.cursor).is_some_and(|cursor| !cursor.is_empty()) {
            return Err(ErrorData::invalid_params("tools/list has one page; send no cursor.", None));
        }
        let page = self.page.get_or_init(|| listing::page(&self.registry, self.calls.options.spelling));
        let mut result = ListToolsResult::with_all_items(page.clone());
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            result.ttl_ms = Some(LIST_TTL_MS);
            result.cache_scope = Some(CacheScope::Public);
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.registry.find(&request.name) else {
            return Err(self.unknown_tool(&request.name));
        };
        Ok(self.calls.run(Arc::clone(&tool), request.arguments, context).await.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "perfxpert/registry" => return Ok(CustomResult(self.own_registry())),
            "perfxpert/schema" => return self.full_schema(request.params.as_ref()).map(CustomResult),
            _ => {}
        }
        // A known method lands here when its parameters have the wrong shape.
        let shape = match request.method.as_str() {
            "tools/call" => "tools/call takes {\"name\": text, \"arguments\": object}.",
            "tools/list" => "tools/list takes an object without a cursor.",
            "initialize" => "initialize takes protocolVersion, capabilities and clientInfo.",
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        Err(ErrorData::invalid_params(shape, None))
    }
}

/// Two questions of our own client that the protocol has no place for.
impl Handler {
    /// The dotted names and the build: `{"registry": {"tools": [...], "build": {...}}}`.
    fn own_registry(&self) -> Value {
        let names: Vec<&str> = self.registry.tools().map(|tool| tool.name).collect();
        json!({ "registry": { "tools": names, "build": perfxpert_tool_registry::build::info() } })
    }

    /// The schema of a tool's whole answer: `{"schema": {...}}`.
    fn full_schema(&self, parameters: Option<&Value>) -> Result<Value, ErrorData> {
        let name = parameters.and_then(|inner| inner.get("name")).and_then(Value::as_str).unwrap_or_default();
        match self.registry.find(name) {
            Some(tool) => Ok(json!({ "schema": tool.full_output_schema() })),
            None => Err(self.unknown_tool(name)),
        }
    }

    fn unknown_tool(&self, name: &str) -> ErrorData {
        let names: Vec<&str> = self.registry.tools().map(|tool| tool.name).collect();
        let error = arguments::unknown_name("name", name, names, "tool");
        ErrorData::invalid_params(error.to_string(), serde_json::to_value(&error).ok())
    }
}
