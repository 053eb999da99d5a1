//! opencode as a child process that can neither edit, run nor share anything.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use perfxpert_schemas::tools::agent::run::{Notice, ProviderName};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::adapt::{TokenKey, WireShape};
use crate::budget::REPLY_BYTES;
use crate::classify::{Answer, Asked, classify};
use crate::error::{FailureKind, FatalCode, ProviderError, TransientKind, first_line, whole_seconds};
use crate::message::{ChatReply, ChatRequest, Message, Part, Role, Stop, Usage};
use crate::provider::{BoxFuture, Provider};
use crate::redact::{Outbound, Scrubber};
use crate::settings::{ChildEnvironment, LlmFacts};
use crate::toolbox::CallCx;

/// Longest prompt on the program's standard input, in bytes.
const PROMPT_BYTES: usize = 200 * 1024;

/// The opencode program.
pub(crate) struct OpenCode {
    pub(crate) program: PathBuf,
    pub(crate) environment: ChildEnvironment,
    pub(crate) attempt_time: Duration,
    pub(crate) scrubber: Arc<Scrubber>,
    pub(crate) facts: LlmFacts,
    pub(crate) model_source: String,
}

impl OpenCode {
    fn arguments(model: Option<&str>) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["run", "--format", "json", "--title", "perfxpert"].map(str::to_owned).to_vec();
        if let Some(model) = model {
            arguments.extend(["--model".to_owned(), model.to_owned()]);
        }
        arguments
    }

    fn failure(&self, kind: FailureKind, model: Option<&str>, message: &str) -> ProviderError {
        ProviderError::new(kind, ProviderName::OpenCode, model, self.scrubber.scrub(message))
    }

    async fn ask(&self, ask: &Outbound, shape: &WireShape) -> Result<ChatReply, ProviderError> {
        let request = shape.apply(ask.request());
        let model = request.model.as_deref();
        let prompt = prompt(&request);
        if prompt.len() > PROMPT_BYTES {
            let kind = FailureKind::Fatal(FatalCode::TooLarge);
            return Err(self.failure(kind, model, "the prompt would pass 200 KiB"));
        }
        let folder = tempfile::tempdir().map_err(|error| {
            self.failure(
                FailureKind::Fatal(FatalCode::Opencode),
                model,
                &format!("no temporary folder: {error}"),
            )
        })?;
        let child = self.start(model, folder.path()).map_err(|error| {
            let message = format!("the opencode program cannot be started: {}", error.kind());
            self.failure(FailureKind::Fatal(FatalCode::Opencode), model, &message)
        })?;
        let mut group = Group::new(child);
        let finished = tokio::time::timeout(self.attempt_time, converse(&mut group.child, &prompt)).await;
        drop(group);
        let seconds = whole_seconds(self.attempt_time);
        let output = finished
            .map_err(|_| self.failure(FailureKind::Timeout { seconds }, model, "no answer in time"))?
            .map_err(|error| {
                let message = format!("the opencode program broke off: {}", error.kind());
                self.failure(FailureKind::Fatal(FatalCode::Opencode), model, &message)
            })?;
        self.read(&output, model)
    }

    fn start(&self, model: Option<&str>, folder: &std::path::Path) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(Self::arguments(model))
            .current_dir(folder)
            .env_clear()
            .envs(&self.environment.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command.spawn()
    }

    /// Reads the JSON lines; lines that are not JSON are noise.
    fn read(&self, output: &Output, model: Option<&str>) -> Result<ChatReply, ProviderError> {
        let mut texts = Vec::new();
        let mut usage = Usage::default();
        let mut stop = Stop::End;
        for event in output.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let part = event.get("part");
            match event.get("type").and_then(Value::as_str) {
                Some("text") => {
                    let text = part.and_then(|part| part.get("text")).and_then(Value::as_str);
                    texts.extend(text.map(|text| self.scrubber.scrub(text)));
                }
                Some("step_finish") => {
                    let tokens = part.and_then(|part| part.get("tokens"));
                    let count = |key: &str| tokens.and_then(|tokens| tokens.get(key)).and_then(Value::as_u64);
                    usage.input = add(usage.input, count("input"));
                    usage.output = add(usage.output, count("output"));
                }
                Some("error") => {
                    let error = event.get("error").or_else(|| part.and_then(|part| part.get("error")));
                    match self.error_event(error.unwrap_or(&Value::Null), model) {
                        Some(failure) => return Err(failure),
                        None => stop = Stop::Length,
                    }
                }
                _ => {}
            }
        }
        if !output.success {
            let line = first_line(&output.stderr);
            let message = if line.is_empty() { "the opencode program failed".to_owned() } else { line };
            return Err(self.failure(FailureKind::Fatal(FatalCode::Opencode), model, &message));
        }
        if texts.is_empty() && stop == Stop::End {
            let kind = FailureKind::Transient(TransientKind::BadBody);
            return Err(self.failure(kind, model, "the opencode program gave no text"));
        }
        Ok(ChatReply {
            parts: vec![Part::Text(texts.join("\n"))],
            stop,
            usage,
            model: model.map(str::to_owned),
            request_id: None,
            status: None,
        })
    }

    /// What an error event means; `None` is a reply cut at its length.
    fn error_event(&self, error: &Value, model: Option<&str>) -> Option<ProviderError> {
        let data = error.get("data");
        let said = data
            .and_then(|data| data.get("message"))
            .or_else(|| error.get("message"))
            .and_then(Value::as_str)
            .unwrap_or("opencode reported an error");
        match error.get("name").and_then(Value::as_str) {
            Some("ProviderAuthError") => Some(self.failure(FailureKind::Auth, model, said)),
            Some("MessageOutputLengthError") => None,
            Some("APIError") => {
                let status = data.and_then(|data| data.get("statusCode")).and_then(Value::as_u64);
                match status.and_then(|status| u16::try_from(status).ok()) {
                    Some(status) => {
                        let body = json!({"error": {"message": self.scrubber.scrub(said)}}).to_string();
                        let asked = Asked {
                            provider: ProviderName::OpenCode,
                            model,
                            model_source: &self.model_source,
                            quota_messages: &self.facts.quota_messages,
                        };
                        Some(classify(&Answer { status, body, ..Answer::default() }, &asked))
                    }
                    None => Some(self.failure(FailureKind::Fatal(FatalCode::Opencode), model, said)),
                }
            }
            _ => Some(self.failure(FailureKind::Fatal(FatalCode::Opencode), model, said)),
        }
    }
}

impl Provider for OpenCode {
    fn name(&self) -> ProviderName {
        ProviderName::OpenCode
    }

    fn endpoint(&self) -> &str {
        "opencode"
    }

    fn initial_shape(&self, _model: Option<&str>) -> WireShape {
        WireShape { text_mode: true, ..WireShape::full(TokenKey::MaxTokens) }
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Outbound,
        shape: &'a WireShape,
        _cx: &'a CallCx,
    ) -> BoxFuture<'a, Result<ChatReply, ProviderError>> {
        Box::pin(self.ask(ask, shape))
    }

    fn preview(&self, ask: &Outbound, shape: &WireShape) -> Value {
        let request = shape.apply(ask.request());
        json!({
            "provider": "opencode",
            "arguments": Self::arguments(request.model.as_deref()),
            "stdin": prompt(&request),
        })
    }

    fn notices(&self) -> Vec<Notice> {
        vec![Notice {
            code: "no_token_limit".to_owned(),
            message: "opencode takes no token limit; max_output_tokens has no effect.".to_owned(),
        }]
    }
}

fn add(sum: Option<u64>, more: Option<u64>) -> Option<u64> {
    match (sum, more) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// The whole conversation as blocks.
fn prompt(request: &ChatRequest) -> String {
    let mut blocks = vec![format!("[system]\n{}", request.system)];
    for message in &request.messages {
        let name = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        blocks.push(format!("[{name}]\n{}", text_of(message)));
    }
    blocks.join("\n\n")
}

fn text_of(message: &Message) -> String {
    super::openai::joined_text(message)
}

struct Output {
    stdout: String,
    stderr: String,
    success: bool,
}

/// Feeds the prompt while reading both outputs, so that no full pipe can block either side.
async fn converse(child: &mut Child, prompt: &str) -> std::io::Result<Output> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that answers without reading closes the pipe early; its answer still counts.
            let _ = stdin.write_all(prompt.as_bytes()).await;
            let _ = stdin.shutdown().await;
        }
    };
    let ((), stdout, stderr) = tokio::join!(write, read_bounded(stdout), read_bounded(stderr));
    let status = child.wait().await?;
    Ok(Output { stdout: stdout?, stderr: stderr?, success: status.success() })
}

async fn read_bounded(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let most = u64::try_from(REPLY_BYTES).unwrap_or(u64::MAX);
        stream.take(most).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The child with its process group, which dies with it.
struct Group {
    child: Child,
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    fn new(child: Child) -> Self {
        #[cfg(unix)]
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self {
            child,
            #[cfg(unix)]
            id,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Grandchildren share the group; killing only the child would leave them behind. The group may be gone.
        #[cfg(unix)]
        if let Some(id) = self.id {
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
    }
}
