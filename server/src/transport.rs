//! One JSON-RPC message a line, with the faults of a line answered instead of ending the session.
//!
//! The SDK's own line transport drops what it cannot parse, ends when the first message is not a request, and loses a
//! last line without a newline; clients have been seen to do all three.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Longest request line in bytes. A longer one is answered with an error and skipped, not kept.
pub(crate) const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// Buffers that grew beyond this for one long line are given back.
const KEPT_BUFFER: usize = 1024 * 1024;

/// Lines in, lines out; fires `closed` when the client is gone in either direction.
pub(crate) struct Lines<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The rest of an overlong line is being skipped.
    skipping: bool,
    /// A request has been seen, so notifications have a session to belong to.
    opened: bool,
    answer: Option<TxJsonRpcMessage<RoleServer>>,
    write: Arc<Mutex<W>>,
    closed: CancellationToken,
}

enum Read {
    Line,
    Overlong,
    End,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(read: R, write: W, closed: CancellationToken) -> Self {
        Self {
            read: BufReader::with_capacity(64 * 1024, read),
            line: Vec::new(),
            skipping: false,
            opened: false,
            answer: None,
            write: Arc::new(Mutex::new(write)),
            closed,
        }
    }

    /// Reads up to the next newline. Nothing is lost when the future is dropped: what was read stays in `line`.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.read.fill_buf().await {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    return Read::End;
                }
            };
            if available.is_empty() {
                let rest = !self.line.is_empty() && !self.skipping;
                return if rest { Read::Line } else { Read::End };
            }
            let (taken, ended) = match available.iter().position(|byte| *byte == b'\n') {
                Some(place) => (place + 1, true),
                None => (available.len(), false),
            };
            let fits = self.line.len() + taken <= LONGEST_LINE;
            if !self.skipping && fits {
                self.line.extend(available.iter().take(taken));
            }
            self.read.consume(taken);
            if self.skipping {
                self.skipping = !ended;
            } else if !fits {
                self.line = Vec::new();
                self.skipping = !ended;
                return Read::Overlong;
            } else if ended {
                return Read::Line;
            }
        }
    }

    /// Takes the finished line. `None` when it holds nothing for the service; an answer may then be due.
    fn parse(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let text = self.line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.line).trim_ascii();
        let message = if text.is_empty() {
            None
        } else {
            match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(text) {
                Ok(message) => Some(message),
                Err(_) => {
                    self.answer = fault(text);
                    None
                }
            }
        };
        self.line.clear();
        self.line.shrink_to(KEPT_BUFFER);
        if let Some(JsonRpcMessage::Request(_)) = message {
            self.opened = true;
        }
        message.filter(|_| self.opened)
    }
}

/// The answer to a line that is no message; none to a notification, which is never answered.
fn fault(text: &[u8]) -> Option<TxJsonRpcMessage<RoleServer>> {
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        let error = ErrorData::parse_error("The line is not JSON.", None);
        return Some(TxJsonRpcMessage::<RoleServer>::error(error, None));
    };
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if value.get("method").is_some() && value.get("id").is_none() {
        return None;
    }
    let error = ErrorData::invalid_request("The line is not a JSON-RPC 2.0 request.", None);
    Some(TxJsonRpcMessage::<RoleServer>::error(error, id))
}

async fn write_line<W: AsyncWrite + Unpin>(
    write: Arc<Mutex<W>>,
    message: TxJsonRpcMessage<RoleServer>,
    closed: CancellationToken,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    let written = async {
        write.write_all(&line).await?;
        write.flush().await
    };
    let outcome = written.await;
    if outcome.is_err() {
        closed.cancel();
    }
    outcome
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        write_line(self.write.clone(), item, self.closed.clone())
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = self.answer.clone() {
                if write_line(self.write.clone(), answer, self.closed.clone()).await.is_err() {
                    return None;
                }
                self.answer = None;
            }
            match self.read_line().await {
                Read::Line => {
                    if let Some(message) = self.parse() {
                        return Some(message);
                    }
                }
                Read::Overlong => {
                    let error = ErrorData::invalid_request(
                        format!("The line is longer than {LONGEST_LINE} bytes."),
                        None,
                    );
                    self.answer = Some(TxJsonRpcMessage::<RoleServer>::error(error, None));
                }
                Read::End => {
                    self.closed.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.lock().await.flush().await
    }
}
