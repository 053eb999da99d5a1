//! Serves one client over a pair of streams until its input ends.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use perfxpert_tool_registry::{Registry, Services};
use rmcp::service::{ServerInitializeError, serve_server_with_ct};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::call::{Calls, RUNNING};
use crate::handler::Handler;
use crate::transport::Lines;

/// What calls in flight get after the input ended. Together with the exit it must stay under the promised second;
/// it lets `printf … | perfxpert-mcp` see its answers.
const FAREWELL: Duration = Duration::from_millis(700);

/// Why a session could not be held.
#[derive(Debug)]
pub enum ServeError {
    /// The handshake failed for a reason other than a client that left.
    Handshake(String),
}

impl std::fmt::Display for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Handshake(why) => write!(f, "the MCP handshake failed: {why}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves `registry` to the client behind the two streams; returns within a second of the end of its input, cancelling
/// whatever still runs.
///
/// # Errors
/// [`ServeError::Handshake`]; a client that closes early is no error.
pub async fn serve<R, W>(
    registry: Registry,
    services: Arc<Services>,
    options: Options,
    read: R,
    write: W,
) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let closed = CancellationToken::new();
    let stop = CancellationToken::new();
    let calls =
        Calls { services, permits: Arc::new(Semaphore::new(RUNNING)), options, closed: closed.clone() };
    let handler = Handler { registry, calls, page: OnceLock::new() };
    let transport = Lines::new(read, write, closed.clone());
    let running = match serve_server_with_ct(handler, transport, stop.clone()).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(_) if closed.is_cancelled() => return Ok(()),
        Err(error) => return Err(ServeError::Handshake(error.to_string())),
    };
    let farewell = async {
        closed.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        _ = running.waiting() => {}
        () = farewell => tracing::info!("calls in flight are cancelled: the client is gone"),
    }
    stop.cancel();
    Ok(())
}
