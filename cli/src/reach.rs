//! Whether something answers at a service's address: a TCP connection, nothing sent, five seconds at most.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use perfxpert_agent::ProviderStatus;

use crate::environment::Environment;

const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the service's host accepts a connection; opencode is a program, not an address, and counts when it is there.
pub fn answers(environment: &Environment, status: &ProviderStatus) -> bool {
    let Some(host) = &status.host else { return status.name.as_str() == "opencode" };
    let plain =
        ["PERFXPERT_LLM_LOCAL_URL", "OLLAMA_HOST", "PERFXPERT_LLM_PRIVATE_URL", "PRIVATE_LLM_ENDPOINT"]
            .iter()
            .filter_map(|name| environment.get(name))
            .any(|url| url.trim().starts_with("http://") && url.contains(host.as_str()));
    let address = match host.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.clone(),
        _ => format!("{host}:{}", if plain { 80 } else { 443 }),
    };
    // Name resolution has no limit of its own, so the whole attempt runs beside us.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut addresses = address.to_socket_addrs().into_iter().flatten();
        let connected = addresses.any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok());
        // The other side may have given up already.
        let _ = sender.send(connected);
    });
    receiver.recv_timeout(PATIENCE).unwrap_or(false)
}
