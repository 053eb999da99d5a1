//! Scans a source tree for GPU kernels, launches and code patterns.
