//! One module per tool namespace; each tool's name, input and output stand there and nowhere else.

pub mod agent;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

/// The contract of one tool.
pub trait Contract: 'static {
    /// `namespace.function`.
    const NAME: &'static str;
    /// The argument object: a closed object with defaults.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    /// The answer: an object whose fields stand in wire order.
    type Output: Serialize + JsonSchema + Send + 'static;
}
