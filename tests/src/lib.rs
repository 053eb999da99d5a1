//! The workspace suite: contract, layering, oracle, CLI, MCP session, documents.
