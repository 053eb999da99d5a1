//! Tells a GPU developer on AMD ROCm why a program is slow and what to do about it.

pub mod render;
