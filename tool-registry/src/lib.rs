//! The perfxpert tools, one file a namespace, and their registry.
