//! Limits of a run and of a session.

use std::time::Duration;

/// Tool calls answered in one turn.
pub(crate) const TOOL_CALLS_PER_TURN: usize = 4;
/// Tool calls answered in one run.
pub(crate) const TOOL_CALLS_PER_RUN: usize = 20;
/// Tool calls listed in the run object.
pub(crate) const TOOL_CALLS_LISTED: usize = 50;
/// Corrections asked of a model before its answer counts as malformed.
pub(crate) const REPAIRS: u32 = 2;
/// Calls of tools off the allowlist that end a run.
pub(crate) const TOOL_VIOLATIONS: u32 = 3;
/// Longest evidence pack, in characters.
pub(crate) const PACK_CHARACTERS: usize = 24_000;
/// Evidence pack for a model whose context is short, in characters.
pub(crate) const SMALL_PACK_CHARACTERS: usize = 12_000;
/// Longest tool result shown to the model, in characters.
pub(crate) const TOOL_RESULT_CHARACTERS: usize = 8_000;
/// Longest request body, in bytes.
pub(crate) const REQUEST_BYTES: usize = 512 * 1024;
/// Longest reply body, in bytes.
pub(crate) const REPLY_BYTES: usize = 4 * 1024 * 1024;
/// Highest output limit after a reply was cut off.
pub(crate) const DOUBLED_OUTPUT_TOKENS: u32 = 8192;
/// Lowest output limit a caller can set.
pub(crate) const LEAST_OUTPUT_TOKENS: u32 = 256;
/// Characters a token stands for when a reply has no count, in tenths.
pub(crate) const TENTHS_OF_CHARACTER_PER_TOKEN: u64 = 35;

/// Limits a caller's environment may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets {
    /// Model turns per agent run.
    pub turns_per_run: u32,
    /// Model turns per session.
    pub turns_per_session: u32,
    /// Tokens per session, in and out.
    pub tokens_per_session: u64,
    /// Wall time of the model part of a run, when set by the environment.
    pub run_time: Option<Duration>,
    /// Limit of one attempt, when set by the environment.
    pub attempt_time: Option<Duration>,
    /// Limit of connecting.
    pub connect_time: Duration,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            turns_per_run: 10,
            turns_per_session: 100,
            tokens_per_session: 400_000,
            run_time: None,
            attempt_time: None,
            connect_time: Duration::from_secs(10),
        }
    }
}

impl Budgets {
    /// Wall time of the model part. Clients without progress give up at 60 s and would lose the finished answer.
    pub fn model_time(&self, with_progress: bool) -> Duration {
        self.run_time.unwrap_or(Duration::from_secs(if with_progress { 300 } else { 45 }))
    }

    /// Limit of one HTTP attempt.
    pub fn http_attempt(&self) -> Duration {
        self.attempt_time.unwrap_or(Duration::from_secs(120))
    }

    /// Limit of one run of the opencode program.
    pub fn child_attempt(&self) -> Duration {
        self.attempt_time.unwrap_or(Duration::from_secs(180))
    }
}

/// Tokens estimated from characters, rounded up.
pub(crate) fn estimate_tokens(characters: usize) -> u64 {
    u64::try_from(characters).unwrap_or(u64::MAX).saturating_mul(10).div_ceil(TENTHS_OF_CHARACTER_PER_TOKEN)
}
