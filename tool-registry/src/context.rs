//! What a running tool may use besides its arguments: cancellation, progress and the server's shared services.

use std::sync::Arc;
use std::time::{Duration, Instant};

use perfxpert_schemas::{ErrorKind, ErrorObject};
use tokio_util::sync::CancellationToken;

use crate::models::Models;
use crate::traces::Traces;

/// Raised inside a tool when the caller cancelled or the time limit passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// A step of a call that the caller is told about.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Words shown to a person, such as `read`.
    pub message: String,
    /// Steps done so far; grows within a call.
    pub done: f64,
    /// Steps in all, when known.
    pub total: Option<f64>,
}

/// Receives the phases of one call; must not block.
pub type ProgressSink = Arc<dyn Fn(Phase) + Send + Sync>;

/// What lives as long as the server: caches and settings shared by all calls.
#[derive(Default)]
pub struct Services {
    /// Opened traces.
    pub traces: Traces,
    /// Model services.
    pub models: Models,
}

/// The surroundings of one call.
#[derive(Clone)]
pub struct Context {
    /// Caches and settings shared by all calls.
    pub services: Arc<Services>,
    cancel: CancellationToken,
    started: Instant,
    limit: Option<Duration>,
    progress: Option<ProgressSink>,
}

impl Context {
    /// Surroundings for one call. `limit` is the wall time a call may take.
    pub fn new(services: Arc<Services>, cancel: CancellationToken, limit: Option<Duration>) -> Self {
        Self { services, cancel, started: Instant::now(), limit, progress: None }
    }

    /// A context without limit, progress or a way to cancel, for in-process callers and tests.
    pub fn detached() -> Self {
        Self::new(Arc::default(), CancellationToken::new(), None)
    }

    /// Adds a receiver for phases.
    #[must_use]
    pub fn with_progress(mut self, sink: ProgressSink) -> Self {
        self.progress = Some(sink);
        self
    }

    /// The same call without its receiver of phases: for steps of a larger whole that tells its own.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { progress: None, ..self.clone() }
    }

    /// The token that fires when the caller cancels or the limit passes.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Whether the work should stop now.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.limit.is_some_and(|limit| self.started.elapsed() > limit)
    }

    /// Stops a long loop: `context.check()?` every few thousand rows.
    ///
    /// # Errors
    /// `timeout` when the limit passed, `cancelled` when the caller cancelled.
    pub fn check(&self) -> Result<(), ErrorObject> {
        if self.is_cancelled() { Err(self.stopped()) } else { Ok(()) }
    }

    /// The error for a call that was stopped.
    pub fn stopped(&self) -> ErrorObject {
        let elapsed = self.started.elapsed();
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        match self.limit {
            Some(limit) if elapsed > limit => ErrorObject::new(
                ErrorKind::Timeout,
                format!("Stopped after {} s.", limit.as_secs()),
                "Ask for fewer rows or one file of the folder.",
            )
            .with("elapsed_ms", milliseconds),
            _ => {
                ErrorObject::new(ErrorKind::Cancelled, "Cancelled by the client.", "Call again when needed.")
                    .with("elapsed_ms", milliseconds)
            }
        }
    }

    /// Whether the caller is told about phases.
    pub fn shows_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Tells the caller which step has begun.
    pub fn phase(&self, message: &str, done: f64, total: Option<f64>) {
        if let Some(sink) = &self.progress {
            sink(Phase { message: message.to_owned(), done, total });
        }
    }
}
