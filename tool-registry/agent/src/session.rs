//! Counters that calls with one session id share, in memory only.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Sessions held at once.
const MOST: usize = 64;
/// Time after which an idle session is dropped.
const IDLE: Duration = Duration::from_secs(3600);

/// Turns and tokens used under one id.
#[derive(Debug, Default)]
pub(crate) struct Session {
    turns: AtomicU32,
    tokens: AtomicU64,
}

impl Session {
    /// Takes one turn if the limit allows it.
    pub(crate) fn take_turn(&self, limit: u32) -> bool {
        self.turns
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| (used < limit).then_some(used + 1))
            .is_ok()
    }

    /// Counts tokens.
    pub(crate) fn add_tokens(&self, tokens: u64) {
        // The closure always gives a value, so the update cannot fail.
        let _ = self
            .tokens
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| Some(used.saturating_add(tokens)));
    }

    /// Tokens used so far.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Acquire)
    }

    /// Turns used so far.
    pub(crate) fn turns(&self) -> u32 {
        self.turns.load(Ordering::Acquire)
    }
}

/// All sessions of the process.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, (Arc<Session>, Instant)>>);

impl Sessions {
    /// The session of an id; without one, a session of its own.
    pub(crate) fn open(&self, id: Option<&str>, now: Instant) -> Arc<Session> {
        let Some(id) = id else { return Arc::default() };
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, (_, seen)| now.saturating_duration_since(*seen) < IDLE);
        if sessions.len() >= MOST && !sessions.contains_key(id) {
            // Ties fall to the smaller id, so the choice does not depend on the map's order.
            let oldest = sessions
                .iter()
                .min_by_key(|(id, (_, seen))| (*seen, (*id).clone()))
                .map(|(id, _)| id.clone());
            if let Some(oldest) = oldest {
                sessions.remove(&oldest);
            }
        }
        let entry = sessions.entry(id.to_owned()).or_insert_with(|| (Arc::default(), now));
        entry.1 = now;
        Arc::clone(&entry.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_one_id_share_their_counts_and_others_do_not() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        assert!(sessions.open(Some("a"), now).take_turn(1));
        assert!(!sessions.open(Some("a"), now).take_turn(1), "the one turn is used");
        assert!(sessions.open(Some("b"), now).take_turn(1));
        assert!(sessions.open(None, now).take_turn(1));
        assert!(sessions.open(None, now).take_turn(1), "no id, a budget of its own");
    }

    #[test]
    fn idle_sessions_are_dropped_after_an_hour_and_the_oldest_beyond_64() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        sessions.open(Some("old"), start).take_turn(9);
        assert_eq!(sessions.open(Some("old"), start + Duration::from_secs(3599)).turns(), 1);
        assert_eq!(sessions.open(Some("old"), start + Duration::from_secs(2 * 3600 + 3599)).turns(), 0);
        let later = start + Duration::from_secs(20_000);
        sessions.open(Some("first"), later).take_turn(9);
        for n in 0..64u64 {
            sessions.open(Some(&format!("s{n}")), later + Duration::from_secs(1 + n));
        }
        assert_eq!(sessions.open(Some("first"), later + Duration::from_secs(70)).turns(), 0);
    }
}
