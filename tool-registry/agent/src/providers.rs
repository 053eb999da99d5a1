//! The model services: three HTTP dialects behind one sender, and a child process.

pub(crate) mod anthropic;
mod http_provider;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod opencode;

pub(crate) use http_provider::{Dialect, HttpProvider, HttpProviderSettings};
pub(crate) use opencode::OpenCode;
