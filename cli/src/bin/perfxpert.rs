//! The `perfxpert` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    perfxpert::run(std::env::args_os(), |request| {
        perfxpert_server::stdio::start(
            request.tool_names.as_deref(),
            request.log_level.as_deref(),
            request.tools.as_deref(),
        )
    })
}
