//! Listens to progress in the order of the wire; the SDK hands each notification to a task of its own.

use std::sync::{Arc, Mutex};

use rmcp::model::{JsonRpcMessage, ServerNotification};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// What the server said it is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its words.
    pub message: String,
    /// Share done, a percentage, when the server knows.
    pub percent: Option<f64>,
}

type Hear = Box<dyn Fn(&Phase) + Send + Sync>;

/// Who is told of the phases of the current call.
#[derive(Clone, Default)]
pub(super) struct Listener {
    hear: Arc<Mutex<Option<Hear>>>,
}

impl Listener {
    /// Tells this one from now on.
    pub(super) fn listen(&self, hear: Hear) {
        if let Ok(mut place) = self.hear.lock() {
            *place = Some(hear);
        }
    }

    /// Tells nobody any more.
    pub(super) fn mute(&self) {
        if let Ok(mut place) = self.hear.lock() {
            *place = None;
        }
    }

    fn tell(&self, phase: &Phase) {
        if let Ok(place) = self.hear.lock()
            && let Some(hear) = place.as_ref()
        {
            hear(phase);
        }
    }
}

/// A transport that tells a listener of every progress notification before passing it on.
pub(super) struct Tap<T> {
    inner: T,
    listener: Listener,
}

impl<T> Tap<T> {
    /// Listens on this transport.
    pub(super) fn new(inner: T, listener: Listener) -> Self {
        Self { inner, listener }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await?;
        if let JsonRpcMessage::Notification(note) = &message
            && let ServerNotification::ProgressNotification(progress) = &note.notification
            && let Some(words) = &progress.params.message
        {
            let share = |total: f64| 100.0 * progress.params.progress / total;
            let percent = progress.params.total.filter(|total| *total > 0.0).map(share);
            self.listener.tell(&Phase { message: words.clone(), percent });
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
