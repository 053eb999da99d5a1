//! Progress of one call: every phase in order, and a sign of life while nothing changes.

use std::sync::Arc;
use std::time::Duration;

use perfxpert_tool_registry::Phase;
use perfxpert_tool_registry::context::ProgressSink;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio_util::sync::CancellationToken;

/// Between two signs of life. Clients are promised one within 2 s and every 2 s after that.
pub(crate) const HEARTBEAT: Duration = Duration::from_millis(1800);
/// Longest wait for a client that does not read; its call goes on without this notification.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends the notifications of one call, numbered 1, 2, 3 and so on.
pub(crate) struct Reporter {
    peer: Peer<RoleServer>,
    token: ProgressToken,
    phases: UnboundedReceiver<Phase>,
    sent: u32,
    last: Option<String>,
    closed: CancellationToken,
}

impl Reporter {
    /// The reporter and the receiver of phases that a tool gets.
    pub(crate) fn new(
        peer: Peer<RoleServer>,
        token: ProgressToken,
        closed: CancellationToken,
    ) -> (Self, ProgressSink) {
        let (sender, phases) = mpsc::unbounded_channel();
        let sink: ProgressSink = Arc::new(move |phase| {
            // The reporter is gone when the call was cancelled; nobody is left to tell.
            let _ = sender.send(phase);
        });
        (Self { peer, token, phases, sent: 0, last: None, closed }, sink)
    }

    /// The next thing to tell: a phase, or `None` when the current one has lasted a heartbeat. Losing the future loses
    /// nothing; sending is a step of its own because a notification cut off half-way could be overtaken.
    pub(crate) async fn next(&mut self) -> Option<Phase> {
        match tokio::time::timeout(HEARTBEAT, self.phases.recv()).await {
            Ok(Some(phase)) => Some(phase),
            Ok(None) => std::future::pending().await,
            Err(_) => None,
        }
    }

    /// Sends what [`Self::next`] found.
    pub(crate) async fn tell(&mut self, phase: Option<Phase>) {
        match phase {
            Some(phase) => self.enter(phase).await,
            None => self.send().await,
        }
    }

    /// Sends the phases that a finished tool left behind, so that they precede the answer.
    pub(crate) async fn finish(&mut self) {
        while let Ok(phase) = self.phases.try_recv() {
            self.enter(phase).await;
        }
    }

    async fn enter(&mut self, phase: Phase) {
        if self.last.as_ref() != Some(&phase.message) {
            self.last = Some(phase.message);
            self.send().await;
        }
    }

    async fn send(&mut self) {
        self.sent += 1;
        let mut note = ProgressNotificationParam::new(self.token.clone(), f64::from(self.sent));
        note.message.clone_from(&self.last);
        // Once the input has ended nobody drains notifications any more, and waiting would delay the exit.
        tokio::select! {
            biased;
            () = self.closed.cancelled() => {}
            _ = self.peer.notify_progress(note) => {}
            () = tokio::time::sleep(PATIENCE) => {}
        }
    }
}
