//! One tool call: a permit, a blocking thread, a limit, cancellation and progress.

use std::sync::Arc;
use std::time::Duration;

use perfxpert_schemas::{ErrorKind, ErrorObject};
use perfxpert_tool_registry::{Class, Context, Phase, Services, Tool, answer};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::progress::Reporter;

/// Calls that run at the same time; more wait their turn. Enough for a few slow model calls beside quick ones, few
/// enough that a burst of trace readings does not multiply the memory.
pub(crate) const RUNNING: usize = 8;
/// Time a tool has to notice its limit before it is answered for.
const NOTICE: Duration = Duration::from_secs(1);
/// Model part of an agent's call when the client shows progress, and when it will give up at a minute.
const MODEL_LIMIT: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(45));

/// What all calls of a server share.
pub(crate) struct Calls {
    pub(crate) services: Arc<Services>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) options: Options,
    /// Fires when the client is gone.
    pub(crate) closed: CancellationToken,
}

impl Calls {
    /// Runs a tool and wraps its answer or error for the wire.
    pub(crate) async fn run(
        &self,
        tool: Arc<Tool>,
        arguments: Option<JsonObject>,
        request: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let token = request.meta.get_progress_token();
        let limit = self.limit(&tool, arguments.as_ref(), token.is_some());
        let cancel = request.ct.child_token();
        let mut context = Context::new(Arc::clone(&self.services), cancel.clone(), Some(limit));
        let mut reporter = token.map(|token| {
            let (reporter, sink) = Reporter::new(request.peer.clone(), token, self.closed.clone());
            context = context.clone().with_progress(sink);
            reporter
        });
        let stopped = context.clone();
        let permits = Arc::clone(&self.permits);
        let work = async move {
            let Ok(permit) = permits.acquire_owned().await else { return Err(ErrorObject::internal()) };
            let blocking = tokio::task::spawn_blocking(move || {
                let outcome = tool.call(&context, arguments);
                // A tool that ignores its cancellation keeps its place until it is really done.
                drop(permit);
                outcome
            });
            blocking.await.unwrap_or_else(|error| {
                tracing::error!(%error, "a tool's thread failed");
                Err(ErrorObject::internal())
            })
        };
        let limited = tokio::time::sleep(limit + NOTICE);
        tokio::pin!(work, limited);
        let outcome = loop {
            let told = tokio::select! {
                outcome = &mut work => break outcome,
                () = request.ct.cancelled() => break Err(stopped.stopped()),
                () = &mut limited => break Err(stopped.stopped()),
                told = next(&mut reporter) => told,
            };
            if let Some(reporter) = &mut reporter {
                reporter.tell(told).await;
            }
        };
        cancel.cancel();
        if let Some(reporter) = &mut reporter {
            reporter.finish().await;
        }
        wrap(outcome)
    }

    fn limit(&self, tool: &Tool, arguments: Option<&JsonObject>, with_progress: bool) -> Duration {
        let asks_model = tool.class == Class::Agent
            && arguments.and_then(|map| map.get("provider")).is_some_and(Value::is_string);
        let (patient, brief) = MODEL_LIMIT;
        let model = match (asks_model, self.options.model_limit) {
            (false, _) => Duration::ZERO,
            (true, Some(limit)) => limit,
            (true, None) => {
                if with_progress {
                    patient
                } else {
                    brief
                }
            }
        };
        self.options.tool_limit + model
    }
}

/// What there is to tell; waits for ever without a reporter.
async fn next(reporter: &mut Option<Reporter>) -> Option<Phase> {
    match reporter {
        Some(reporter) => reporter.next().await,
        None => std::future::pending().await,
    }
}

/// Structured and text form, each complete: some clients show a model only the one, some only the other.
fn wrap(outcome: Result<Value, ErrorObject>) -> CallToolResult {
    let (value, text, failed) = match outcome {
        Ok(value) => {
            let text = answer::text(&value);
            (value, text, false)
        }
        Err(error) => {
            if error.kind == ErrorKind::Internal {
                tracing::error!(message = error.message, "internal error answered");
            }
            (error.envelope(), answer::error_text(&error), true)
        }
    };
    let content = vec![ContentBlock::text(text)];
    let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(value);
    result
}
