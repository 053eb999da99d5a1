//! The `perfxpert-mcp` program: the MCP server alone.

use std::process::ExitCode;

use perfxpert_server::stdio::Start;

fn main() -> ExitCode {
    perfxpert::run_server(std::env::args_os(), |request| {
        perfxpert_server::stdio::start(&Start {
            tool_names: request.tool_names.as_deref(),
            log_level: request.log_level.as_deref(),
            tools: request.tools.as_deref(),
            airgap: request.airgap,
            config: request.config.as_deref(),
        })
    })
}
