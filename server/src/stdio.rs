//! The process entry: the server on standard input and output, its log on standard error.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use perfxpert_schemas::ErrorObject;
use perfxpert_tool_registry::models::Models;
use perfxpert_tool_registry::{Registry, Services};
use rmcp::transport::stdio_pipes;
use tracing_subscriber::EnvFilter;

use crate::call::RUNNING;
use crate::{Options, options, serve};

/// Stack of a thread that runs tools; demanglers and parsers recurse on input they did not choose.
const STACK: usize = 8 * 1024 * 1024;

/// What the command line says; each beats its variable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'a> {
    /// `prefixed` or `bare`.
    pub tool_names: Option<&'a str>,
    /// One of the six level words.
    pub log_level: Option<&'a str>,
    /// `all`, `agents`, or a comma list of names and namespaces.
    pub tools: Option<&'a str>,
    /// Never use a model.
    pub airgap: bool,
    /// The configuration file.
    pub config: Option<&'a str>,
}

/// Reads the environment, lets the command line's words override it, and serves.
///
/// # Errors
/// `unknown_name` when `tools` names no tool or namespace.
pub fn start(start: &Start<'_>) -> Result<ExitCode, ErrorObject> {
    let (mut options, problems) = Options::from_environment(|name| std::env::var(name).ok());
    if let Some(spelling) = start.tool_names.and_then(options::spelling) {
        options.spelling = spelling;
    }
    if let Some(level) = start.log_level.and_then(options::log_level) {
        options.log = level;
    }
    if let Some(tools) = start.tools {
        options.subset = tools.parse()?;
    }
    let models = Models::started(start.airgap, start.config.map(str::to_owned));
    Ok(serve_stdio(options, Arc::new(Services { models, ..Services::default() }), &problems))
}

/// Serves standard input until it ends: 0 when the client is done, 1 when the session could not be held.
/// `problems` are start-up remarks for the log.
pub fn serve_stdio(options: Options, services: Arc<Services>, problems: &[String]) -> ExitCode {
    start_log(&options);
    for problem in problems {
        tracing::warn!("{problem}");
    }
    if std::io::stdin().is_terminal() {
        eprintln!("perfxpert: note: waiting for MCP messages on stdin; press Ctrl-D to end");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Two more than the calls, for standard input and output where they are no pipes.
        .max_blocking_threads(RUNNING + 2)
        .thread_stack_size(STACK)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "the server could not start");
            return ExitCode::FAILURE;
        }
    };
    let registry = Registry::with(&options.subset);
    let outcome = runtime.block_on(async {
        let (read, write) = stdio_pipes();
        serve(registry, services, options, read, write).await
    });
    // Threads of tools that do not notice their cancellation must not hold the process.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the session ended");
            ExitCode::FAILURE
        }
    }
}

fn start_log(options: &Options) {
    // Only our own words and the protocol's: an HTTP library at trace level would print headers.
    let level = options.log;
    let filter = EnvFilter::new(format!("off,perfxpert={level},rmcp={level}"));
    let logging =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_env_filter(filter);
    // A second start in one process (tests) keeps the first log.
    let _ = logging.try_init();
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
}
