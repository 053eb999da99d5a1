//! One HTTP request to a model service: limits, certificates, proxies, and what a broken connection means.

use std::error::Error as StdError;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, NoProxy, Proxy, Url};
use serde_json::Value;

use crate::budget::{REPLY_BYTES, REQUEST_BYTES};
use crate::error::{FailureKind, FatalCode, TransientKind};
use crate::settings::Proxies;

/// How connections are made.
#[derive(Clone, Debug)]
pub(crate) struct HttpSettings {
    pub(crate) proxies: Proxies,
    /// Further CA certificates.
    pub(crate) extra_roots: Vec<Certificate>,
    /// Whether certificates are checked.
    pub(crate) verify: bool,
    pub(crate) connect_time: Duration,
    pub(crate) attempt_time: Duration,
}

/// A client that is made on first use and keeps its connections for a run.
#[derive(Debug)]
pub(crate) struct Http {
    settings: HttpSettings,
    client: OnceLock<Client>,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// No answer, or none that could be read to its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NoAnswer {
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
    pub(crate) status: Option<u16>,
}

impl NoAnswer {
    fn new(kind: FailureKind, message: &str) -> Self {
        Self { kind, message: message.to_owned(), status: None }
    }
}

impl Http {
    pub(crate) fn new(settings: HttpSettings) -> Self {
        Self { settings, client: OnceLock::new() }
    }

    fn client(&self, url: &Url) -> Result<&Client, NoAnswer> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = build(&self.settings, url).map_err(|_| {
            NoAnswer::new(FailureKind::Fatal(FatalCode::Setting), "the HTTP client could not be set up")
        })?;
        Ok(self.client.get_or_init(|| made))
    }

    /// Sends one request and reads the whole answer within the attempt limit. `None` as body is a GET.
    pub(crate) async fn send(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> Result<RawAnswer, NoAnswer> {
        let limit = self.settings.attempt_time;
        match tokio::time::timeout(limit, self.exchange(url, headers, body)).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(NoAnswer::new(FailureKind::Timeout { seconds: ceil_seconds(limit) }, "no whole answer"))
            }
        }
    }

    async fn exchange(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> Result<RawAnswer, NoAnswer> {
        let client = self.client(url)?;
        let request = match body {
            Some(body) => {
                let bytes = body.to_string().into_bytes();
                if bytes.len() > REQUEST_BYTES {
                    return Err(NoAnswer::new(
                        FailureKind::Fatal(FatalCode::TooLarge),
                        "the request would pass 512 KiB",
                    ));
                }
                client.post(url.clone()).body(bytes)
            }
            None => client.get(url.clone()),
        };
        let mut answer =
            request.headers(headers).send().await.map_err(|error| self.read_error(&error, None))?;
        let status = answer.status().as_u16();
        let headers = answer.headers().clone();
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|error| self.read_error(&error, Some(status)))? {
            if body.len() + chunk.len() > REPLY_BYTES {
                let mut failure =
                    NoAnswer::new(FailureKind::Fatal(FatalCode::NotJson), "the answer passes 4 MiB");
                failure.status = Some(status);
                return Err(failure);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(RawAnswer { status, headers, body })
    }

    /// What a failed exchange means. The library's own text is left out: it repeats the address.
    fn read_error(&self, error: &reqwest::Error, status: Option<u16>) -> NoAnswer {
        let mut failure = match cause(error) {
            Some(Cause::Lookup) => {
                NoAnswer::new(FailureKind::Transient(TransientKind::Dns), "the host name was not found")
            }
            Some(Cause::Certificate) => {
                NoAnswer::new(FailureKind::Fatal(FatalCode::Tls), "the server's certificate is not accepted")
            }
            _ if error.is_timeout() => NoAnswer::new(
                FailureKind::Timeout { seconds: ceil_seconds(self.settings.connect_time) },
                "no connection in time",
            ),
            _ if status.is_some() => NoAnswer::new(
                FailureKind::Transient(TransientKind::Truncated),
                "the connection closed inside the answer",
            ),
            Some(Cause::Reset) => {
                NoAnswer::new(FailureKind::Transient(TransientKind::Reset), "the connection was reset")
            }
            _ if error.is_connect() => NoAnswer::new(
                FailureKind::Transient(TransientKind::Connect),
                "nothing accepted the connection",
            ),
            _ => NoAnswer::new(
                FailureKind::Transient(TransientKind::Reset),
                "the connection closed before an answer",
            ),
        };
        failure.status = status;
        failure
    }
}

fn ceil_seconds(limit: Duration) -> u64 {
    crate::error::whole_seconds(limit)
}

enum Cause {
    Lookup,
    Certificate,
    Reset,
}

/// The cause at the bottom of an error, told by types, not by words. An I/O error may wrap another one, which its
/// own `source` passes over.
fn cause(error: &(dyn StdError + 'static)) -> Option<Cause> {
    use std::io::ErrorKind;
    if error.is::<LookupFailed>() {
        return Some(Cause::Lookup);
    }
    if is_certificate(error) {
        return Some(Cause::Certificate);
    }
    if let Some(io) = error.downcast_ref::<std::io::Error>() {
        let broken = [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::BrokenPipe];
        if broken.contains(&io.kind()) {
            return Some(Cause::Reset);
        }
        if let Some(found) = io.get_ref().and_then(|inner| cause(inner)) {
            return Some(found);
        }
    }
    error.source().and_then(cause)
}

fn is_certificate(error: &(dyn StdError + 'static)) -> bool {
    matches!(
        error.downcast_ref::<rustls::Error>(),
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
    )
}

fn build(settings: &HttpSettings, url: &Url) -> reqwest::Result<Client> {
    let mut builder = Client::builder()
        .user_agent(concat!("perfxpert/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(settings.connect_time)
        .dns_resolver(std::sync::Arc::new(SystemLookup))
        .no_proxy();
    // Loopback is never proxied: a local model server is not reachable from a proxy.
    if !is_loopback(url) {
        let except = settings.proxies.except.as_deref().and_then(NoProxy::from_string);
        if let Some(proxy) = &settings.proxies.https {
            builder = builder.proxy(Proxy::https(proxy.expose())?.no_proxy(except.clone()));
        }
        if let Some(proxy) = &settings.proxies.http {
            builder = builder.proxy(Proxy::http(proxy.expose())?.no_proxy(except));
        }
    }
    if url.scheme() == "https" {
        // The bundled roots stand beside the system's, for machines that have none.
        let bundled =
            webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| Certificate::from_der(der).ok());
        builder = builder
            .tls_certs_merge(bundled.chain(settings.extra_roots.iter().cloned()))
            .tls_danger_accept_invalid_certs(!settings.verify);
    }
    builder.build()
}

/// Whether an address is this machine's own.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.eq_ignore_ascii_case("localhost")
                || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Reads CA certificates from a PEM file.
pub(crate) fn read_roots(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| error.kind().to_string())?;
    let roots = Certificate::from_pem_bundle(&pem).map_err(|_| "it holds no PEM certificates".to_owned())?;
    if roots.is_empty() { Err("it holds no PEM certificates".to_owned()) } else { Ok(roots) }
}

/// A header whose value is never shown by `Debug`.
pub(crate) fn sensitive(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), FatalCode> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| FatalCode::Setting)?;
    let mut value = HeaderValue::from_str(value).map_err(|_| FatalCode::Setting)?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The system's lookup, with an error that can be told apart by its type.
struct SystemLookup;

#[derive(Debug, thiserror::Error)]
#[error("the host name was not found")]
struct LookupFailed;

impl reqwest::dns::Resolve for SystemLookup {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        Box::pin(async move {
            match tokio::net::lookup_host((name.as_str(), 0)).await {
                Ok(found) => Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as reqwest::dns::Addrs),
                Err(_) => Err(Box::new(LookupFailed) as Box<dyn StdError + Send + Sync>),
            }
        })
    }
}
