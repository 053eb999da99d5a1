//! Language-model providers, agent loop, claim gate and redaction.
