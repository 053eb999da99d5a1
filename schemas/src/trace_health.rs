//! State of the trace behind an answer: the last key of every answer that rests on one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of a trace and its worst problems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHealth {
    /// `ok`, `degraded` or `unusable`.
    pub status: String,
    /// Problems, all.
    pub items_total: usize,
    /// The worst problems first.
    pub items: Vec<TraceHealthItem>,
}

/// One problem of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceHealthItem {
    /// Stable name.
    pub id: String,
    /// `info`, `warning` or `data_loss`.
    pub severity: String,
    /// How often.
    pub count: u64,
    /// What it means.
    pub message: String,
}
