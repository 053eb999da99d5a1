//! Tests of the sweep.
