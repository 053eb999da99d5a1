//! Ctrl-C and SIGTERM: the first asks the running call to stop, a second one or a second's delay ends the process.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::watch;

/// Which signal arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Signal {
    /// 130 and 143, as shells report them.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// How long the orderly way out may take before the process is ended.
const PATIENCE: Duration = Duration::from_millis(1200);

static RAISED: AtomicU8 = AtomicU8::new(0);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static CHANNEL: Mutex<Option<watch::Receiver<bool>>> = Mutex::new(None);

/// The signal that has arrived, if any.
pub fn current() -> Option<Signal> {
    match RAISED.load(Ordering::SeqCst) {
        130 => Some(Signal::Interrupt),
        143 => Some(Signal::Terminate),
        _ => None,
    }
}

/// Completes when a signal arrives; at once when one has.
pub async fn raised() {
    let receiver = CHANNEL.lock().ok().and_then(|channel| channel.clone());
    match receiver {
        Some(mut receiver) => {
            if receiver.wait_for(|raised| *raised).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        None => std::future::pending().await,
    }
}

/// A file to remove when a signal ends the process.
pub fn unfinished(path: PathBuf) {
    if let Ok(mut paths) = UNFINISHED.lock() {
        paths.push(path);
    }
}

/// The file is finished or gone.
pub fn finished(path: &std::path::Path) {
    if let Ok(mut paths) = UNFINISHED.lock() {
        paths.retain(|kept| kept != path);
    }
}

/// Starts listening. Without it (on failure) the system's own handling stays.
pub fn install() {
    let (sender, receiver) = watch::channel(false);
    if let Ok(mut channel) = CHANNEL.lock() {
        *channel = Some(receiver);
    }
    let ready = std::sync::Arc::new(std::sync::Barrier::new(2));
    let listening = std::sync::Arc::clone(&ready);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else {
            listening.wait();
            return;
        };
        runtime.block_on(async move {
            let mut arrivals = Arrivals::new();
            listening.wait();
            let signal = arrivals.next().await;
            RAISED.store(signal.exit_code(), Ordering::SeqCst);
            let _ = sender.send(true);
            let second = tokio::time::timeout(PATIENCE, arrivals.next()).await.unwrap_or(signal);
            end_now(second);
        });
    });
    ready.wait();
}

/// Streams of both signals.
struct Arrivals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Arrivals {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Signal {
        let interrupt = async {
            match &mut self.interrupt {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        };
        let terminate = async {
            match &mut self.terminate {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = interrupt => Signal::Interrupt,
            () = terminate => Signal::Terminate,
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Signal {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    }
}

/// Removes what must not stay and leaves.
fn end_now(signal: Signal) -> ! {
    let paths = UNFINISHED.lock().map(|paths| paths.clone()).unwrap_or_default();
    for path in paths {
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
    // The server sees the end of its input and leaves by itself.
    eprintln!("perfxpert: cancelled");
    std::process::exit(i32::from(signal.exit_code()))
}
