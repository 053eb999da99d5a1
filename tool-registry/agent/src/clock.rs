//! Time as the runtime sees it, injected so that waiting costs tests nothing.

use std::time::{Duration, Instant, SystemTime};

use crate::provider::BoxFuture;

/// The clock, the sleep and the jitter of the retry waits.
pub trait Clock: Send + Sync {
    /// Monotonic time.
    fn now(&self) -> Instant;
    /// Wall-clock time, to read an HTTP date.
    fn wall(&self) -> SystemTime;
    /// Waits for the given time.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
    /// A number in 0..1 that spreads the waits of several clients.
    fn jitter(&self) -> f64;
}

/// The machine's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn jitter(&self) -> f64 {
        // The low digits of the clock are random enough to keep clients from retrying in step.
        let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
        f64::from(nanos % 1000) / 1000.0
    }
}
