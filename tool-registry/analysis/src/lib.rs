//! Turns a trace and facts into metrics, findings, verdicts and recommendations.
