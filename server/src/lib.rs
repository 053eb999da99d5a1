//! The MCP server over the perfxpert tools.
