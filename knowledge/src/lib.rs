//! Hardware facts, thresholds and patterns with a source each.
