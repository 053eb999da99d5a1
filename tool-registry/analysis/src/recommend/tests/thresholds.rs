//! Each rule at its threshold.
