//! The one interface every model service is reached through.

use std::future::Future;
use std::pin::Pin;

use perfxpert_schemas::tools::agent::run::{Notice, ProviderName};
use serde_json::Value;

use crate::adapt::WireShape;
use crate::error::ProviderError;
use crate::message::ChatReply;
use crate::redact::Outbound;
use crate::toolbox::CallCx;

/// A boxed future that may be sent between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One model service with its address and credential. A call is one attempt: no retry, no adaptation.
pub trait Provider: Send + Sync {
    /// Which service this is.
    fn name(&self) -> ProviderName;

    /// Base address, under which learned adaptations are remembered.
    fn endpoint(&self) -> &str;

    /// The wire form to start with, before anything was learned.
    fn initial_shape(&self, model: Option<&str>) -> WireShape;

    /// Asks once. The request was redacted by the only maker of an [`Outbound`].
    fn complete<'a>(
        &'a self,
        ask: &'a Outbound,
        shape: &'a WireShape,
        cx: &'a CallCx,
    ) -> BoxFuture<'a, Result<ChatReply, ProviderError>>;

    /// The request as it would be sent, without its credential, and without any connection.
    fn preview(&self, ask: &Outbound, shape: &WireShape) -> Value;

    /// What the caller should know about this service, such as a credential that travels in clear.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// Longest text of one conversation the service can hold, in characters; `None` when not known.
    fn context_characters(&self, _max_output_tokens: u32) -> Option<usize> {
        None
    }
}
