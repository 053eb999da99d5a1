//! The MCP client: one child process, its handshake, its calls, and its end.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perfxpert_schemas::{ErrorKind, ErrorObject};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest, CustomRequest,
    Implementation, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError, serve_client};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;

use crate::failure::Failure;
use crate::signals::{self, Signal};
use crate::{App, text};

mod tap;

pub use tap::Phase;

/// How long the server may take to answer `initialize`.
const START: Duration = Duration::from_secs(10);
/// How long it may take to leave after its input was closed.
const LEAVE: Duration = Duration::from_secs(1);
/// Protocol versions with a handshake that this client can speak.
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// Carries the credential of `--llm-api-key` to the child; never inherited.
const API_KEY: &str = "PERFXPERT_CLI_LLM_API_KEY";

/// What a running server is told before it starts.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The credential of `--llm-api-key`.
    pub api_key: Option<String>,
    /// The working folder, when paths are meant relative to another one than ours.
    pub folder: Option<PathBuf>,
}

/// A tool's answer in both forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer object.
    pub structured: Value,
    /// The same as text broken into lines.
    pub text: String,
}

/// The analysis server as a child process.
pub struct Server {
    runtime: Runtime,
    service: Option<RunningService<RoleClient, ClientConfig>>,
    child: Child,
    last_words: Arc<Mutex<String>>,
    phases: tap::Listener,
    /// Time from the spawn to the answer of `initialize`.
    pub startup: Duration,
}

impl Server {
    /// Starts the server and shakes hands.
    ///
    /// # Errors
    /// `usage` for a bad `PERFXPERT_MCP_BIN`, `internal` when the server does not answer in 10 s.
    pub fn start(app: &App, launch: &Launch) -> Result<Self, Failure> {
        let began = std::time::Instant::now();
        let (program, arguments) = program(app)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| not_started().cause(error))?;
        let mut command = Command::new(&program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .env_remove(API_KEY);
        // Ctrl-C reaches the whole foreground group; the server is told in its own words instead.
        #[cfg(unix)]
        command.process_group(0);
        if app.environment.get("PERFXPERT_TOOL_TIMEOUT_S").is_none() {
            command.env("PERFXPERT_TOOL_TIMEOUT_S", "3600");
        }
        match app.terminal.verbosity {
            0 => {}
            1 => drop(command.env("PERFXPERT_LOG", "info")),
            2 => drop(command.env("PERFXPERT_LOG", "debug")),
            _ => drop(command.env("PERFXPERT_LOG", "trace")),
        }
        if let Some(path) = &app.config_flag {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
            command.env("PERFXPERT_CONFIG", absolute);
        }
        if let Some(folder) = &launch.folder {
            command.current_dir(folder);
        }
        if let Some(key) = &launch.api_key {
            command.env(API_KEY, key);
        }
        let entered = runtime.enter();
        let mut child = command
            .spawn()
            .map_err(|error| not_started().cause(format!("{}: {error}", program.display())))?;
        drop(entered);
        let last_words = Arc::new(Mutex::new(String::new()));
        if let Some(stderr) = child.stderr.take() {
            let heard = Arc::clone(&last_words);
            let terminal = app.terminal.clone();
            runtime.spawn(async move {
                let mut lines = BufReader::new(stderr).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if terminal.verbosity > 0 {
                        terminal.say(&line);
                    }
                    if let (false, Ok(mut last)) = (line.trim().is_empty(), heard.lock()) {
                        *last = line;
                    }
                }
            });
        }
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started());
        };
        let phases = tap::Listener::default();
        // The report of a large run is longer than the SDK's default line; whoever we started may say what it likes.
        let lines = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(usize::MAX);
        let transport = tap::Tap::new(lines, phases.clone());
        let mut config = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("perfxpert-cli", env!("CARGO_PKG_VERSION")),
        );
        config = config.with_protocol_version(rmcp::model::ProtocolVersion::V_2025_11_25);
        let mut server = Self { runtime, service: None, child, last_words, phases, startup: Duration::ZERO };
        let outcome = server.runtime.block_on(async {
            tokio::select! {
                served = tokio::time::timeout(START, serve_client(config, transport)) => Some(served),
                _ = signals::raised() => None,
            }
        });
        let service = match outcome {
            None => return Err(cancelled()),
            Some(Err(_)) => return Err(server.with_last_words(not_started())),
            Some(Ok(Err(error))) => return Err(server.with_last_words(not_started()).cause(error)),
            Some(Ok(Ok(service))) => service,
        };
        let version = service.peer_info().map(|info| info.protocol_version.as_str().to_owned());
        server.service = Some(service);
        server.startup = began.elapsed();
        match version {
            Some(version) if VERSIONS.contains(&version.as_str()) => Ok(server),
            version => Err(not_started().cause(format!(
                "it speaks protocol version {}",
                text::escape_line(&version.unwrap_or_else(|| "unknown".to_owned()))
            ))),
        }
    }

    fn peer(&self) -> Result<Peer<RoleClient>, Failure> {
        self.service.as_ref().map(|service| service.peer().clone()).ok_or_else(not_started)
    }

    /// The entries of `tools/list` as JSON.
    ///
    /// # Errors
    /// `internal` when the server fails.
    pub fn tools(&self) -> Result<Vec<Value>, Failure> {
        let peer = self.peer()?;
        let tools = self.runtime.block_on(async { tokio::time::timeout(START, peer.list_all_tools()).await });
        let tools = tools.map_err(|_| not_started())?.map_err(|error| self.broken(&error))?;
        Ok(tools.iter().filter_map(|tool| serde_json::to_value(tool).ok()).collect())
    }

    /// Asks one of our server's own questions; `None` when it does not know it.
    ///
    /// # Errors
    /// The error the server answered, or `internal`.
    pub fn ask(&self, method: &str, parameters: Value) -> Result<Option<Value>, Failure> {
        let peer = self.peer()?;
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(parameters)));
        let outcome =
            self.runtime.block_on(async { tokio::time::timeout(START, peer.send_request(request)).await });
        match outcome.map_err(|_| not_started())? {
            Ok(ServerResult::CustomResult(result)) => Ok(Some(result.0)),
            Ok(_) => Ok(None),
            Err(ServiceError::McpError(error)) if error.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND => {
                Ok(None)
            }
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// Calls a tool and waits for its answer, telling each new phase.
    ///
    /// # Errors
    /// The tool's error, `timeout` when `limit` passed, `cancelled` after a signal, `internal` when the server failed.
    pub fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        limit: Option<Duration>,
        listener: impl Fn(&Phase) + Send + Sync + 'static,
    ) -> Result<Answer, Failure> {
        let peer = self.peer()?;
        self.phases.listen(Box::new(listener));
        let parameters = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(parameters));
        let outcome = self.runtime.block_on(async {
            let mut handle = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
            let limited = async {
                match limit {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
            };
            let stop = tokio::select! {
                answer = &mut handle.rx => {
                    return answer.map_err(|_| ServiceError::TransportClosed)?.map(Ok);
                }
                _ = signals::raised() => cancelled(),
                () = limited => timeout(limit.unwrap_or_default()),
            };
            let _ = tokio::time::timeout(LEAVE, handle.cancel(Some("stopped by the user".to_owned()))).await;
            Ok(Err(stop))
        });
        self.phases.mute();
        match outcome {
            Ok(Err(stop)) => Err(stop),
            Ok(Ok(ServerResult::CallToolResult(result))) => {
                let content = serde_json::to_value(&result.content).unwrap_or_default();
                let text = content.pointer("/0/text").and_then(Value::as_str).unwrap_or_default().to_owned();
                let structured = result.structured_content.unwrap_or(Value::Null);
                if result.is_error == Some(true) {
                    return Err(tool_error(&structured, &text));
                }
                Ok(Answer { structured, text })
            }
            Ok(Ok(_)) => Err(self.broken(&ServiceError::UnexpectedResponse)),
            Err(error) => Err(self.broken(&error)),
        }
    }

    fn broken(&self, error: &ServiceError) -> Failure {
        if let Some(signal) = signals::current() {
            return cancelled_by(signal);
        }
        match error {
            ServiceError::McpError(error) => {
                let known =
                    error.data.clone().and_then(|data| serde_json::from_value::<ErrorObject>(data).ok());
                known.map_or_else(
                    || {
                        Failure::internal(
                            format!("The analysis server refused the request: {}", error.message),
                            "Run perfxpert doctor.",
                        )
                    },
                    Failure::from,
                )
            }
            other => self
                .with_last_words(Failure::internal(
                    "The analysis server ended early.",
                    "Run perfxpert doctor.",
                ))
                .cause(other),
        }
    }

    fn with_last_words(&self, failure: Failure) -> Failure {
        // The child's last line may still be in the pipe when its end is noticed.
        self.runtime.block_on(async { tokio::time::sleep(Duration::from_millis(50)).await });
        let last = self.last_words.lock().map(|last| last.clone()).unwrap_or_default();
        failure.cause(text::escape_line(&last))
    }
}

impl Drop for Server {
    /// Closes the child's input, waits a second, then ends it.
    fn drop(&mut self) {
        let service = self.service.take();
        let child = &mut self.child;
        self.runtime.block_on(async {
            if let Some(service) = service {
                let _ = tokio::time::timeout(LEAVE, service.cancel()).await;
            }
            if tokio::time::timeout(LEAVE, child.wait()).await.is_err() {
                let _ = child.kill().await;
            }
        });
    }
}

/// The program to run as the server, and its arguments.
fn program(app: &App) -> Result<(PathBuf, &'static [&'static str]), Failure> {
    if let Some(path) = app.environment.get("PERFXPERT_MCP_BIN") {
        let path = PathBuf::from(path);
        if !path.is_absolute() {
            return Err(Failure::usage(
                "PERFXPERT_MCP_BIN",
                format!("PERFXPERT_MCP_BIN: '{}' is not an absolute path.", path.display()),
                "Set it to the full path of perfxpert-mcp.",
            ));
        }
        return Ok((path, &[]));
    }
    let own = std::env::current_exe().map_err(|error| not_started().cause(error))?;
    Ok((own, &["mcp"]))
}

fn not_started() -> Failure {
    Failure::internal("the analysis server did not start.", "Run perfxpert doctor.")
}

fn cancelled() -> Failure {
    cancelled_by(signals::current().unwrap_or(Signal::Interrupt))
}

fn cancelled_by(signal: Signal) -> Failure {
    Failure::new(ErrorKind::Cancelled, "Cancelled.", "Run the command again.").exits(signal.exit_code())
}

fn timeout(limit: Duration) -> Failure {
    Failure::new(
        ErrorKind::Timeout,
        format!("Stopped after {} s.", limit.as_secs_f64()),
        "Give --timeout a larger number.",
    )
}

fn tool_error(structured: &Value, text: &str) -> Failure {
    let error = structured.get("error").cloned();
    error.and_then(|error| serde_json::from_value::<ErrorObject>(error).ok()).map_or_else(
        || Failure::internal("The tool failed.", "Run perfxpert doctor.").cause(text::escape_line(text)),
        Failure::from,
    )
}
