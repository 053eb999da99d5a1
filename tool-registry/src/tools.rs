//! The list of namespaces; a test walks the folder and fails when a file is not on it.

use crate::Tool;

/// Every tool of every namespace, in no particular order.
pub(crate) fn all() -> Vec<Tool> {
    Vec::new()
}
