//! Reads rocpd databases into a trace.
